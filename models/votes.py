"""Labels counted per unit, and the rules that turn counts into one label.

A *unit* is one item as one country's annotators labelled it under one question. Codes of labels run from the
strictest (0) to the most lenient (k - 1), so that a tie "to the stricter" is the smallest code. A judge is a
voter with one vote per unit, hence uses the same functions. Source of the rules: methods, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Literal

import numpy as np
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from countback.models.resampling import Floats, Ints
from numpy.typing import NDArray

Ties = Literal["strictest", "lenient", "drop", "average"]


@dataclass(frozen=True)
class Votes:
    """`counts` (units, k) of valid labels; `item`, `country`, `question` (units,) are codes.

    The same item code in two countries means the same item (a crossed design). `missing` counts the rows
    whose label was not valid. A unit all of whose labels were missing stays, with a row of zeros.
    """

    counts: NDArray[np.int64]
    item: NDArray[np.int64]
    country: NDArray[np.int64]
    question: NDArray[np.int64]
    n_countries: int
    n_questions: int
    missing: int = 0

    @property
    def crossed(self) -> bool:
        """Whether any item was labelled in more than one country."""
        pairs = np.unique(self.item * self.n_countries + self.country)
        return len(np.unique(pairs // self.n_countries)) < len(pairs)

    def keep(self, mask: NDArray[np.bool_]) -> Votes:
        """The units where `mask` (units,) holds; codes and vocabulary sizes stay."""
        return replace(
            self,
            counts=self.counts[mask],
            item=self.item[mask],
            country=self.country[mask],
            question=self.question[mask],
        )

    def keys(self) -> NDArray[np.int64]:
        """One integer per unit that names its item, country and question."""
        cell = self.country * self.n_questions + self.question
        return self.item * (self.n_countries * self.n_questions) + cell


def tally(
    item: Ints,
    country: Ints,
    label: Ints,
    n_labels: int,
    *,
    question: Ints | None = None,
    n_countries: int | None = None,
    n_questions: int | None = None,
) -> Votes:
    """Count labels per (country, question, item); all arrays (rows,), label -1 is missing.

    Without `question` all items belong to one question. Vocabulary sizes default to the largest code plus
    one; give them when several tallies are to be compared. Raises ValueError for a label outside
    -1 ... n_labels - 1.
    """
    item, country, label = (np.asarray(codes, np.int64) for codes in (item, country, label))
    question = np.zeros(len(item), np.int64) if question is None else np.asarray(question, np.int64)
    if len(label) and not (label.min() >= -1 and label.max() < n_labels):
        raise ValueError(f"label codes run from {label.min()} to {label.max()}, expected -1 to {n_labels - 1}")
    countries = int(country.max(initial=-1)) + 1 if n_countries is None else n_countries
    questions = int(question.max(initial=-1)) + 1 if n_questions is None else n_questions
    items = int(item.max(initial=0)) + 1
    keys, unit = np.unique((country * questions + question) * items + item, return_inverse=True)
    valid = label >= 0
    counts = np.bincount(unit[valid] * n_labels + label[valid], minlength=len(keys) * n_labels)
    return Votes(
        counts=counts.reshape(len(keys), n_labels).astype(np.int64),
        item=keys % items,
        country=keys // items // max(questions, 1),
        question=keys // items % max(questions, 1),
        n_countries=countries,
        n_questions=questions,
        missing=int((~valid).sum()),
    )


def votes_of(table: LabelTable, judge: str | None = None) -> Votes:
    """The human labels of a table counted per unit, or one judge's by its name among `table.annotators`.

    Every voter of a table is tallied over all its countries and questions. Raises UserError for an unknown judge.
    """
    rows = table.kind == HUMAN
    if judge is not None:
        judges = sorted({table.annotators[code] for code in np.unique(table.annotator[table.kind == JUDGE])})
        if judge not in judges:
            raise UserError(
                f"No judge is called {judge!r}. The judges of these labels are {', '.join(judges) or 'none'}. "
                "Name one of those."
            )
        rows = (table.kind == JUDGE) & (table.annotator == table.annotators.index(judge))
    return tally(
        table.item[rows],
        table.country[rows],
        table.label[rows],
        len(table.labels),
        question=table.question[rows],
        n_countries=len(table.countries),
        n_questions=len(table.questions),
    )


def tied(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where two or more labels share the largest count; shape (..., k) to (...). No labels is no tie."""
    top = counts.max(axis=-1, keepdims=True)
    return np.asarray(((counts == top) & (top > 0)).sum(axis=-1) > 1)


def plurality(counts: NDArray[np.int64], ties: Ties) -> NDArray[np.int64]:
    """Each row's vote for its plurality label, in integer shares of lcm(1..k); shape (..., k) kept.

    "strictest" and "lenient" give a tied row's whole vote to the first or last tied label, "average" splits
    it equally, "drop" casts none. A row without labels casts none. Integer shares keep later ties exact.
    """
    k = counts.shape[-1]
    whole = lcm(*range(1, k + 1))
    top = counts.max(axis=-1, keepdims=True)
    leaders = (counts == top) & (top > 0)
    if ties == "average":
        share = whole // np.maximum(leaders.sum(axis=-1, keepdims=True), 1)
        return np.asarray(leaders * share)
    if ties == "drop":
        return np.asarray(leaders * whole * (leaders.sum(axis=-1, keepdims=True) == 1))
    first = np.argmax(leaders, axis=-1) if ties == "strictest" else k - 1 - np.argmax(leaders[..., ::-1], axis=-1)
    one_hot = np.arange(k) == first[..., None]
    return np.asarray(one_hot & leaders) * whole


def letters(counts: NDArray[np.int64], ties: Ties = "strictest") -> NDArray[np.int64]:
    """The plurality label of each row, (..., k) to (...); -1 without labels or, with "drop", when tied.

    Raises ValueError for "average", which has no single label.
    """
    if ties == "average":
        raise ValueError('ties "average" give a score but no single label: choose strictest, lenient or drop')
    # One pass per label: NumPy reduces a short last axis slowly.
    most = counts[..., 0].copy()
    label = np.zeros(most.shape, np.int64)
    shared = np.zeros(most.shape, bool)
    for code in range(1, counts.shape[-1]):
        votes = counts[..., code]
        ahead = votes >= most if ties == "lenient" else votes > most
        if ties == "drop":
            shared = (shared & ~ahead) | (votes == most)
        label[ahead] = code
        most = np.maximum(most, votes)
    label[(most == 0) | shared] = -1
    return label


def default_scores(k: int) -> Floats:
    """Equally spaced scores, 1 for the strictest label down to 0 (A = 1, B = 0.5, C = 0)."""
    return np.linspace(1.0, 0.0, k)


def same_units(voters: Sequence[Votes], ties: Ties) -> tuple[tuple[Votes, ...], dict[str, int]]:
    """All voters cut to the units that each of them labels, in one order, and what was left out.

    With "drop" a unit that is tied for any voter is left out for all. Counts are of the first voter's units.
    Raises UserError when nothing is left.
    """
    first = voters[0]
    keep = np.ones(len(first.item), bool)
    rows = []
    dropped = {"no valid human label": 0, "tied": 0, "no valid judge label": 0}
    for position, voter in enumerate(voters):
        keys = voter.keys() if voter.n_countries == first.n_countries else None
        if keys is None or voter.n_questions != first.n_questions:
            raise ValueError("voters were tallied with different numbers of countries or questions")
        order = np.argsort(keys)
        place = np.searchsorted(keys, first.keys(), sorter=order)
        at = np.append(order, -1)[np.where(place < len(keys), place, -1)]
        found = np.append(keys, -1)[at] == first.keys()
        counts = np.where(found[:, None], np.append(voter.counts, 0 * first.counts[:1], axis=0)[at], 0)
        empty = keep & ~counts.any(axis=1)
        dropped["no valid human label" if position == 0 else "no valid judge label"] += int(empty.sum())
        keep &= ~empty
        if ties == "drop":
            split = keep & tied(counts)
            dropped["tied"] += int(split.sum())
            keep &= ~split
        rows.append(at)
    if not keep.any():
        raise UserError(
            f"No unit of {len(keep)} has a usable label from every voter. At least one shared unit was expected. "
            "Check that items, countries and questions are coded the same for humans and judges."
        )
    cut = [_take(voter, at[keep]) for voter, at in zip(voters, rows, strict=True)]
    return tuple(cut), {reason: count for reason, count in dropped.items() if count}


def balanced(votes: Votes) -> Votes:
    """The units of items that have a label in every country (that has any) of their question.

    Where items are crossed, countries that miss different items differ by their items too; this takes that away.
    """
    voted = np.asarray(votes.counts.any(axis=1))
    kept = votes.keep(voted)
    cells = np.unique(kept.question * votes.n_countries + kept.country)
    needed = np.bincount(cells // votes.n_countries, minlength=votes.n_questions)
    key = kept.item * votes.n_questions + kept.question
    _, unit, present = np.unique(key, return_inverse=True, return_counts=True)
    return kept.keep(present[unit] == needed[kept.question])


def fewest_items(votes: Votes) -> int:
    """Items with a label in the country that has the fewest of them, countries without any left out; 0 for no label.

    What a statistic of several countries rests on, however many items they have together.
    """
    voted = votes.keep(np.asarray(votes.counts.any(axis=1)))
    pairs = np.unique(np.stack([voted.country, voted.item]), axis=1)
    items = np.bincount(pairs[0])
    return int(items[items > 0].min(initial=len(pairs[0])))


def _take(votes: Votes, rows: NDArray[np.intp]) -> Votes:
    return replace(
        votes,
        counts=votes.counts[rows],
        item=votes.item[rows],
        country=votes.country[rows],
        question=votes.question[rows],
    )
