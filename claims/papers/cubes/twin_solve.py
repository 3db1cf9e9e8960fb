"""The integer program behind the synthetic twin: which cells each country gets and which labels each judge gives.

A feasibility problem over random candidates, so that a seed picks one of many solutions. Every target is a number that
the article prints, or a count that it forces (an integer behind a rounded share).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from countback.claims.papers.cubes.twin_cells import (
    BLANK,
    SCORES,
    Cell,
    Pattern,
    all_cells,
    comparisons,
    human_hits,
    is_tied,
    judge_hits,
    leaders,
    tied_score,
)
from countback.fetch.errors import UserError
from numpy.typing import NDArray

Row = NDArray[np.float64]
FAR = 10**6  # no bound

PK, PH, NG, US = COUNTRIES = ("Pakistan", "Philippines", "Nigeria", "United States")
SONNET, OPUS, GEMINI, GPT = JUDGES = ("claude-sonnet-4.5", "claude-opus-4.5", "gemini-3-flash-preview", "gpt-5.1")
NODES = 2000  # of the branch and bound tree; a try beyond them is given up
CANDIDATES = 80  # cells offered per country and size; enough for a solution, few enough for seconds

# Forced integers and printed values (article; methods sections 2 and 4).
THREES, TWOS = 9, 2  # questions with three and with two items: 9 x 3 + 2 x 2 = 31 items
LETTER_SUM = {PK: Fraction(13, 2), PH: Fraction(5), NG: Fraction(3), US: Fraction(5, 2)}
POOLED_SUM = {PK: Fraction(9, 2), PH: Fraction(9, 2)}
QUESTION_MEAN = {PK: "0.473", NG: "0.309", US: "0.305"}
COMPARISONS, HUMAN_HITS = 491, 324
OWN_COMPARISONS, OWN_HITS = {PK: 118, US: 127}, {PK: 70, US: 92}
TIED_CELLS, UNSTABLE_CELLS = 5, 15
SHORT_ITEMS = 14  # Nigerian items with four valid labels: 14 x 4 + 16 x 5 = 136 = 157 - 21
# Pakistan's shutdown, political balance and statistical stereotype: labels, and the letter that the figure shows.
NAMED_CELLS = {(4, 4, 7): 0, (2, 6, 7): 1, (3, 4, 3): 0}
JUDGE_HITS = {SONNET: 350, OPUS: 377, GEMINI: 398, GPT: 332}
JUDGE_OWN_HITS = {(PK, GEMINI): 106, (US, GEMINI): 102, (US, OPUS): 90}
# Sums of judge scores over 31 items (30 in Nigeria, the blank one left out) that print the article's spreads
# 0.055, 0.088, 0.145, 0.145 and its Pakistani leans 0.339 to 0.371: highest and lowest country of each judge.
JUDGE_SUMS = {
    SONNET: {PK: Fraction(21, 2), NG: Fraction(17, 2)},
    GEMINI: {PK: Fraction(23, 2), NG: Fraction(17, 2)},
    OPUS: {PK: Fraction(23, 2), US: Fraction(7)},
    GPT: {PK: Fraction(11), US: Fraction(13, 2)},
}
# Judge -> country (None: all four) and ends of the printed interval of its lead, in points.
INTERVALS = {OPUS: (None, 2.9, 18.7), GEMINI: (PK, 21.8, 40.7)}
UNTIED_RIGHT = ((106, 88), (112, 93))  # items without a tie, and how many gemini-3-flash must meet to print 83.0%


@dataclass
class Program:
    """Linear rows over non-negative integer variables: low <= row . x <= high."""

    size: int
    rows: list[NDArray[np.float64]] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, row: NDArray[np.float64], low: Fraction | float, high: Fraction | float | None = None) -> None:
        self.rows.append(row)
        self.lows.append(float(low) - 1e-9)
        self.highs.append(float(low if high is None else high) + 1e-9)

    def solve(self, least: Row, most: Row, cost: Row | None = None) -> Row | None:
        """A solution (size,) that makes `cost` small, or None where none is found; no clock decides."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        found = milp(
            np.zeros(self.size) if cost is None else cost,
            integrality=np.ones(self.size),
            bounds=Bounds(least, most),
            constraints=LinearConstraint(csr_array(np.array(self.rows)), self.lows, self.highs),
            options={"node_limit": NODES, "mip_rel_gap": 0.01},
        )
        return None if found.x is None else np.rint(found.x)


def printed(text: str) -> tuple[Fraction, Fraction]:
    """The open interval of values that print as `text`, shrunk a little so that every rounding rule agrees."""
    half = Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    return Fraction(text) - half * Fraction(99, 100), Fraction(text) + half * Fraction(99, 100)


@dataclass(frozen=True)
class Solution:
    """Eleven cells for each country, and (country, pattern, judge) -> the labels of such items, in random order."""

    cells: dict[str, list[Cell]]
    judged: dict[tuple[str, Pattern, str], list[int]]


class Unknowns:
    """The columns of the program: how often each country gets each cell, and each judge's labels by pattern."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.cells = [(country, cell) for country in COUNTRIES for cell in _candidates(country, rng)]
        kinds = dict.fromkeys((country, item) for country, cell in self.cells for item in cell.items)
        self.labels = [(c, p, judge, label) for c, p in kinds for judge in JUDGES for label in range(3)]
        self.kinds = list(kinds)

    def __len__(self) -> int:
        return len(self.cells) + len(self.labels)

    def by_cell(self, value: Callable[[Cell], Any], country: str | None = None) -> Row:
        """The row of the total over cells (of one country) of a number that each cell has."""
        row = np.zeros(len(self))
        row[: len(self.cells)] = [float(value(cell)) if country in (None, c) else 0.0 for c, cell in self.cells]
        return row

    def by_item(self, value: Callable[[Pattern], Any], country: str | None = None) -> Row:
        """The row of the total over items of a number that each pattern has."""
        return self.by_cell(lambda cell: sum(float(value(item)) for item in cell.items), country)

    def by_label(self, value: Callable[[Pattern, int], Any], judge: str, country: str | None = None) -> Row:
        """The row of the total over a judge's labels of a number that pattern and label have."""
        row = np.zeros(len(self))
        row[len(self.cells) :] = [
            float(value(p, label)) if j == judge and country in (None, c) else 0.0 for c, p, j, label in self.labels
        ]
        return row


def solve(rng: np.random.Generator, *, tries: int = 6) -> Solution:
    """Cells and judge labels that meet every target. Raises UserError where no try succeeds.

    Cells first, then each judge's labels of these cells: the second problem nearly always has a solution, and all
    together are much slower than one after the other.
    """
    for _ in range(tries):
        at = Unknowns(rng)
        program = Program(len(at))
        untied, right = UNTIED_RIGHT[rng.integers(len(UNTIED_RIGHT))]
        _human_rows(program, at, untied)
        most = np.array([2.0 - (len(cell.items) == 2) for _, cell in at.cells] + [0.0] * len(at.labels))
        cells = program.solve(np.zeros(len(at)), most)
        labels = None if cells is None else [_label(at, cells, judge, right) for judge in JUDGES]
        if cells is not None and labels is not None and not any(own is None for own in labels):
            return _solution(at, cells + sum(own for own in labels if own is not None), rng)
    raise UserError(f"No synthetic archive was found in {tries} tries; try another seed.")


def _label(at: Unknowns, cells: Row, judge: str, right: int) -> Row | None:
    """One judge's labels (as columns, the cells' left at zero), its printed interval as near as the counts allow."""
    program = Program(len(at))
    _judge_rows(program, at, judge, right)
    least = cells.copy()
    most = cells + np.array([0.0] * len(at.cells) + [33.0 * (j == judge) for _, _, j, _ in at.labels])
    found = program.solve(least, most)
    if found is not None and judge in INTERVALS:
        wanted, squares = _interval_row(program, at, cells, judge)
        now = float(squares @ found)
        program.add(squares, min(now, wanted), max(now, wanted))
        nearer = program.solve(least, most, squares if now > wanted else -squares)
        found = found if nearer is None else nearer
    return None if found is None else found - cells


def _solution(unknowns: Unknowns, chosen: Row, rng: np.random.Generator) -> Solution:
    cells: dict[str, list[Cell]] = {country: [] for country in COUNTRIES}
    judged: dict[tuple[str, Pattern, str], list[int]] = {}
    for (country, cell), n in zip(unknowns.cells, chosen, strict=False):
        cells[country] += [cell] * int(n)
    for (country, pattern, judge, label), n in zip(unknowns.labels, chosen[len(unknowns.cells) :], strict=True):
        judged.setdefault((country, pattern, judge), []).extend([label] * int(n))
    return Solution(cells, {key: rng.permutation(labels).tolist() for key, labels in judged.items()})


def _candidates(country: str, rng: np.random.Generator) -> list[Cell]:
    labels = (4, 5) if country == NG else (5,)
    pools = [all_cells(3, labels, 0), all_cells(2, labels, 0)]
    if country == NG:
        pools.append(all_cells(3, labels, 1))
    offered = [pool[i] for pool in pools for i in rng.choice(len(pool), min(CANDIDATES, len(pool)), replace=False)]
    # Cells whose items agree are rare among all multisets and common in any real country: offer more of them.
    agreeing = [cell for cell in pools[0] if len({leaders(item) for item in cell.items}) == 1]
    offered += [agreeing[i] for i in rng.choice(len(agreeing), min(CANDIDATES, len(agreeing)), replace=False)]
    if country == PK:
        offered += [cell for pool in pools for cell in pool if is_named(cell)]
    return list(dict.fromkeys(offered))


def is_named(cell: Cell) -> bool:
    return NAMED_CELLS.get(cell.counts) == cell.letter and cell.decided_by_tie and cell.tied_without_tied_items


def _human_rows(program: Program, at: Unknowns, untied: int) -> None:
    for country in COUNTRIES:
        program.add(at.by_cell(lambda cell: len(cell.items) == 3, country), THREES)
        program.add(at.by_cell(lambda cell: len(cell.items) == 2, country), TWOS)
        program.add(at.by_cell(lambda cell: SCORES[cell.letter], country), LETTER_SUM[country])
        program.add(at.by_item(lambda item: item == BLANK, country), int(country == NG))
        if country in POOLED_SUM:
            program.add(at.by_cell(lambda cell: SCORES[cell.pooled_letter], country), POOLED_SUM[country])
        if country in QUESTION_MEAN:
            low, high = printed(QUESTION_MEAN[country])
            program.add(at.by_cell(lambda cell: cell.mean, country), 11 * low, 11 * high)
        compared, hits = at.by_item(comparisons, country), at.by_item(human_hits, country)
        if country in OWN_HITS:
            program.add(compared, OWN_COMPARISONS[country])
            program.add(hits, OWN_HITS[country])
        else:  # Pakistan's humans agree least
            program.add(hits - 0.62 * compared, 0, FAR)
    program.add(at.by_item(comparisons), COMPARISONS)
    program.add(at.by_item(human_hits), HUMAN_HITS)
    program.add(at.by_item(lambda item: len(leaders(item)) == 1), untied)
    program.add(at.by_cell(lambda cell: cell.decided_by_tie), TIED_CELLS)
    program.add(at.by_cell(lambda cell: cell.tied_without_tied_items), TIED_CELLS)
    program.add(at.by_cell(lambda cell: not cell.stable), UNSTABLE_CELLS)
    program.add(at.by_item(lambda item: sum(item) == 4, NG), SHORT_ITEMS)
    for counts in NAMED_CELLS:
        program.add(at.by_cell(lambda cell, c=counts: cell.counts == c and is_named(cell), PK), 1)  # type: ignore[misc]
    _majority_leans(program, at)


def _majority_leans(program: Program, at: Unknowns) -> None:
    """0.444 in Pakistan: 13.75 / 31 with ties averaged and 12 / 27 with ties dropped; 0.250 in Nigeria by both."""
    averaged = {country: at.by_item(tied_score, country) for country in COUNTRIES}
    untied = {c: at.by_item(lambda item: 0 if is_tied(item) else tied_score(item), c) for c in COUNTRIES}
    tied = {country: at.by_item(is_tied, country) for country in COUNTRIES}
    program.add(averaged[PK], Fraction(55, 4))
    program.add(untied[PK], 12)
    program.add(tied[PK], 4)
    program.add(averaged[NG], Fraction(15, 2))
    program.add(4 * untied[NG] + tied[NG], 30)
    for country in (PH, US):  # between those two
        program.add(averaged[country], 8, 13)
        program.add(4 * untied[country] + tied[country], 32, FAR)
        program.add(9 * untied[country] + 4 * tied[country], 0, 4 * 31 - 4)


def _judge_rows(program: Program, at: Unknowns, judge: str, right: int) -> None:
    for country, pattern in at.kinds:  # each item of a pattern has one label of the judge
        items = at.by_item(lambda item, p=pattern: item == p, country)  # type: ignore[misc]
        program.add(at.by_label(lambda p, _, q=pattern: p == q, judge, country) - items, 0)  # type: ignore[misc]
    program.add(at.by_label(judge_hits, judge), JUDGE_HITS[judge])
    sums, size = JUDGE_SUMS[judge], {c: Fraction(30 if c == NG else 31) for c in COUNTRIES}
    ends = [sums[c] / size[c] for c in sums]
    for country in COUNTRIES:
        score = at.by_label(lambda p, label: 0 if p == BLANK else SCORES[label], judge, country)
        if country in sums:
            program.add(score, sums[country])
        else:
            program.add(score, min(ends) * size[country], max(ends) * size[country])
        hits, human = at.by_label(judge_hits, judge, country), at.by_item(human_hits, country)
        if (country, judge) in JUDGE_OWN_HITS:
            program.add(hits, JUDGE_OWN_HITS[country, judge])
        elif country == US:  # the one country where three of four judges score under the human, none of them far
            program.add(hits - human, -7, -1)
        else:
            program.add(hits - human, 0, FAR)
    if judge == GEMINI:
        program.add(at.by_label(lambda p, label: leaders(p) == (label,), judge), right)


def _interval_row(program: Program, at: Unknowns, cells: Row, judge: str) -> tuple[float, Row]:
    """What the printed width of a judge's bootstrap interval asks for, by the linearised variance of a ratio.

    With e = d - lead * n on each item (d hits more than the human, n comparisons), the variance of a lead whose items
    are resampled within countries is the sum over countries of sum e^2 - (sum e)^2 / items, over n^2. Returns the
    wanted sum of e^2, and its row.
    """
    country, low, high = INTERVALS[judge]
    compared = OWN_COMPARISONS[country] if country else COMPARISONS
    gained = JUDGE_OWN_HITS[country, judge] - OWN_HITS[country] if country else JUDGE_HITS[judge] - HUMAN_HITS
    lead = gained / compared
    wanted = ((high - low) / 2 / 1.96 / 100 * compared) ** 2
    if country is None:
        wanted += _fix_hits_by_country(program, at, cells, judge, lead)

    def squared(item: Pattern, label: int) -> float:
        return (judge_hits(item, label) - human_hits(item) - lead * comparisons(item)) ** 2

    return wanted, at.by_label(squared, judge, country)


def _fix_hits_by_country(program: Program, at: Unknowns, cells: Row, judge: str, lead: float) -> float:
    """Give the judge its share of hits in each country; return the sum over countries of (sum e)^2 / items."""
    human = {c: round(float(at.by_item(human_hits, c) @ cells)) for c in COUNTRIES}
    compared = {c: round(float(at.by_item(comparisons, c) @ cells)) for c in COUNTRIES}
    fixed = {c: JUDGE_OWN_HITS[c, judge] for c in COUNTRIES if (c, judge) in JUDGE_OWN_HITS}
    free = [c for c in COUNTRIES if c not in fixed]
    gain = JUDGE_HITS[judge] - sum(fixed.values()) - sum(human[c] for c in free)
    for country in free[:-1]:
        fixed[country] = human[country] + round(gain * compared[country] / sum(compared[c] for c in free))
        program.add(at.by_label(judge_hits, judge, country), fixed[country])
    fixed[free[-1]] = JUDGE_HITS[judge] - sum(fixed.values())
    return sum((fixed[c] - human[c] - lead * compared[c]) ** 2 / (30 if c == NG else 31) for c in COUNTRIES)
