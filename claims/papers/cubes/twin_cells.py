"""Building blocks of the synthetic twin: vote patterns of one item, and cells of two or three of them.

Everything here is a count or an exact consequence of counts, by the definitions that the article states.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement, product

Pattern = tuple[int, int, int]  # how many of an item's valid labels are A, B, C
SCORES = (Fraction(1), Fraction(1, 2), Fraction(0))
BLANK: Pattern = (0, 0, 0)
STABLE = Fraction(4, 5)  # a cell is stable when at least this share of resamples keeps its letter


def patterns(labels: int) -> list[Pattern]:
    """All ways in which `labels` valid labels split into A, B, C."""
    return [(a, b, labels - a - b) for a in range(labels + 1) for b in range(labels - a + 1)]


def leaders(counts: Pattern) -> tuple[int, ...]:
    """The most voted labels, strictest first; none of no votes."""
    return tuple(i for i, n in enumerate(counts) if n == max(counts) and n)


@cache
def references(pattern: Pattern) -> tuple[tuple[int, int, int], ...]:
    """(annotator's label, reference, how many such annotators) for each held-out label that has a reference."""
    found = []
    for own in range(3):
        if pattern[own]:
            rest = leaders(tuple(n - (i == own) for i, n in enumerate(pattern)))  # type: ignore[arg-type]
            if len(rest) == 1:
                found.append((own, rest[0], pattern[own]))
    return tuple(found)


@cache
def comparisons(pattern: Pattern) -> int:
    return sum(n for _, _, n in references(pattern))


@cache
def human_hits(pattern: Pattern) -> int:
    return sum(n for own, reference, n in references(pattern) if own == reference)


@cache
def judge_hits(pattern: Pattern, label: int) -> int:
    return sum(n for _, reference, n in references(pattern) if reference == label)


@cache
def tied_score(pattern: Pattern) -> Fraction:
    """Score of the item's majority, tied labels averaged."""
    top = leaders(pattern)
    return sum((SCORES[i] for i in top), Fraction(0)) / len(top) if top else Fraction(0)


def is_tied(pattern: Pattern) -> bool:
    return len(leaders(pattern)) > 1


@dataclass(frozen=True)
class Cell:
    """One question in one country: the patterns of its items, in no order."""

    items: tuple[Pattern, ...]

    @property
    def counts(self) -> Pattern:
        a, b, c = (sum(item[i] for item in self.items) for i in range(3))
        return a, b, c

    @cached_property
    def letter(self) -> int:
        """Mode of the items' pluralities, every tie to the stricter: the rule that reproduces the published figure."""
        return _mode([leaders(item)[0] for item in self.items if item != BLANK], first=True)

    @property
    def decided_by_tie(self) -> bool:
        """Whether breaking every tie to the more lenient instead would print another letter."""
        return self.letter != _mode([leaders(item)[-1] for item in self.items if item != BLANK], first=False)

    @property
    def tied_without_tied_items(self) -> bool:
        """Whether the mode is tied once items without a single majority are left out."""
        votes = Counter(leaders(item)[0] for item in self.items if len(leaders(item)) == 1)
        return len(votes) == 0 or sum(n == max(votes.values()) for n in votes.values()) > 1

    @property
    def pooled_letter(self) -> int:
        """The plainest rule: the most frequent of all labels, ties to the stricter."""
        return leaders(self.counts)[0]

    @property
    def mean(self) -> Fraction:
        """Mean score of all labels."""
        return sum((n * s for n, s in zip(self.counts, SCORES, strict=True)), Fraction(0)) / sum(self.counts)

    @cached_property
    def stable(self) -> bool:
        """Whether resampling the items keeps the letter often enough; all resamples are enumerated."""
        items = [item for item in self.items if item != BLANK]
        draws = list(product(items, repeat=len(items)))
        return Fraction(sum(Cell(draw).letter == self.letter for draw in draws), len(draws)) >= STABLE


def _mode(votes: list[int], *, first: bool) -> int:
    counts = Counter(votes)
    top = [label for label, n in counts.items() if n == max(counts.values())]
    return min(top) if first else max(top)


@cache
def all_cells(size: int, labels: tuple[int, ...], blanks: int) -> tuple[Cell, ...]:
    """Cells of `size` items whose numbers of valid labels are among `labels`, with `blanks` items without any."""
    pool = [pattern for n in labels for pattern in patterns(n)]
    rest = combinations_with_replacement(pool, size - blanks)
    return tuple(Cell((BLANK,) * blanks + items) for items in rest)
