"""Judges, and ensembles of judges, against a panel of human raters on a rating scale.

One row is one rated thing: an item (a dialogue, say) under one metric. Three measures of closeness, each of one
rating against another or against a mean: the share within one point, the mean absolute error, and the signed
bias (first minus second). A judge compared with the mean of R raters has a steadier target than a rater
compared with another one; the like-for-like figures give both the same target. Source: methods, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from countback.models.estimate import Estimate, Resampled, cluster_strata, cluster_totals, quotient, resample
from countback.models.resampling import Floats, Ints
from numpy.typing import NDArray

MEASURES = ("within one", "mae", "bias")
# Means of small integers are thirds: a distance of exactly one can come out a few last bits above it.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Panel:
    """Ratings of the same rows by humans and judges; NaN where missing.

    human: (rows, raters), the columns being rating passes, not persons. judges: (judges, rows), named by `names`.
    item: (rows,) codes of what is resampled (all metrics of one dialogue together). strata: (rows,) or None,
    constant within an item, say the region. `dropped` counts rows taken out, by reason.
    """

    human: Floats
    judges: Floats
    names: tuple[str, ...]
    item: Ints
    strata: Ints | None = None
    dropped: tuple[tuple[str, int], ...] = ()

    def rows(self, mask: NDArray[np.bool_]) -> Panel:
        """The rows where `mask` holds: one metric, or one region."""
        strata = None if self.strata is None else self.strata[mask]
        return replace(self, human=self.human[mask], judges=self.judges[:, mask], item=self.item[mask], strata=strata)

    def only(self, names: Sequence[str]) -> Panel:
        """Some of the judges, in the order named; unknown names raise UserError."""
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise UserError(
                f"No judge is called {unknown[0]!r}. The judges are {', '.join(self.names)}. Name one of those."
            )
        return replace(self, judges=self.judges[[self.names.index(name) for name in names]], names=tuple(names))


@dataclass(frozen=True)
class Closeness:
    """Three measures (`MEASURES`) of each named comparison; `result` has shape (comparisons, 3)."""

    names: tuple[str, ...]
    result: Resampled

    def estimate(self, name: str, measure: str) -> Estimate:
        """One measure of one comparison with its interval."""
        return self.result.estimate(self.names.index(name), MEASURES.index(measure))

    def difference(self, name: str, other: str, measure: str) -> Estimate:
        """`name` minus `other`, from the same resamples of the same rows."""
        at = MEASURES.index(measure)
        return self.result.difference((self.names.index(name), at), (self.names.index(other), at))


@dataclass(frozen=True)
class Ensembles:
    """Every ensemble of judges (mean of its members) against the human mean, ranked by mean absolute error.

    `members` (ensembles, size) are positions in `judges`; `singles` holds the judges alone. `lead` is each
    ensemble minus the reference judge, shape (ensembles, 3), with `lead_bounds` (2, ensembles, 3) its interval ends.
    `first` is the share of resamples in which each ensemble has the smallest error of all: the best of many
    is chosen on the same rows, so its own interval flatters it.
    """

    judges: tuple[str, ...]
    reference: str
    members: NDArray[np.int64]
    order: NDArray[np.int64]
    ensembles: Resampled = field(repr=False)
    singles: Resampled = field(repr=False)
    lead: Floats = field(repr=False)
    lead_bounds: Floats = field(repr=False)
    first: Floats = field(repr=False)

    def name(self, ensemble: int) -> str:
        """Its members' names joined by " + "."""
        return " + ".join(self.judges[judge] for judge in self.members[ensemble])


def panel_of(table: LabelTable, values: Sequence[float] | None = None) -> tuple[Panel, Ints]:
    """The panel of a label table, one row per item, question and country, and the question code of each row.

    Items are what is resampled; countries are the strata where no item is in two of them.

    `values` gives each label's number, by default the label read as one. Human columns are passes: a row's raters in
    order of their code. Raises UserError for a label that is no number, or without humans or judges.
    """
    numbers = np.array(_numbers(table.labels) if values is None else values, np.float64)
    unit = (table.country.astype(np.int64) * len(table.questions) + table.question) * len(table.items) + table.item
    keys, row = np.unique(unit, return_inverse=True)
    valid = table.label >= 0
    humans = np.flatnonzero(valid & (table.kind == HUMAN))
    judging = np.flatnonzero(valid & (table.kind == JUDGE))
    if not len(humans) or not len(judging):
        raise UserError(
            f"These labels hold {len(humans)} valid human and {len(judging)} valid judge ratings. "
            "Both are needed to compare."
        )
    order = humans[np.lexsort((table.annotator[humans], row[humans]))]
    starts = np.searchsorted(row[order], row[order])
    place = np.arange(len(order)) - starts
    human = np.full((len(keys), int(place.max()) + 1), np.nan)
    human[row[order], place] = numbers[table.label[order]]
    codes, judge = np.unique(table.annotator[judging], return_inverse=True)
    judges = np.full((len(codes), len(keys)), np.nan)
    judges[judge, row[judging]] = numbers[table.label[judging]]
    names = tuple(table.annotators[code] for code in codes)
    cell, item = np.divmod(keys, len(table.items))
    country, question = np.divmod(cell, len(table.questions))
    nested = len(np.unique(item * len(table.countries) + country)) == len(np.unique(item))
    return Panel(human, judges, names, item, country if nested else None), question


def _numbers(labels: Sequence[str]) -> list[float]:
    try:
        return [float(label) for label in labels]
    except ValueError as error:
        raise UserError(
            f"The labels {', '.join(labels)} are not all numbers. Ratings need numbers; give each label's value."
        ) from error


def complete(panel: Panel) -> Panel:
    """The rows that every rater and every judge of the panel rated; what is left out is counted by reason.

    Raises UserError when no row is left.
    """
    human = np.asarray(np.isfinite(panel.human).all(axis=1))
    judges = np.asarray(np.isfinite(panel.judges).all(axis=0))
    reasons = (
        ("a human rating is missing", int((~human).sum())),
        ("a judge's rating is missing", int((human & ~judges).sum())),
    )
    if not (human & judges).any():
        raise UserError(
            f"None of {len(human)} rows is rated by all {panel.human.shape[1]} humans and all {len(panel.names)} "
            "judges. One complete row or more was expected. Leave out the judges with gaps (Panel.only)."
        )
    kept = panel.rows(human & judges)
    return replace(kept, dropped=panel.dropped + tuple((reason, count) for reason, count in reasons if count))


def groups(panel: Panel, codes: Ints, names: Sequence[str]) -> dict[str, Panel]:
    """The panel cut by metric, region or any other code of the rows; groups without rows are left out."""
    return {name: panel.rows(codes == code) for code, name in enumerate(names) if (codes == code).any()}


def compare(panel: Panel, *, draws: int = 1000, rng: np.random.Generator, level: float = 0.95) -> Closeness:
    """Humans among themselves and every judge, against each of the targets, on the complete rows.

    Comparisons: "human | one rater" (mean over rater pairs) and "human | mean of the others"; for each judge
    "<name> | mean of all" (the paper's), "<name> | one rater" (mean over raters) and "<name> | mean of the others"
    (mean over the leave-one-out means). Equal targets are like for like. The bias of humans is 0 by symmetry
    against the others and, against one rater, the earlier pass minus the later one.
    """
    panel = complete(panel)
    raters = panel.human.shape[1]
    if raters < 2:
        raise UserError(f"The panel has {raters} rater, and two or more are needed. Give every rating pass a column.")
    others = (panel.human.sum(axis=1, keepdims=True) - panel.human) / (raters - 1)
    first, second = (np.array(side) for side in zip(*combinations(range(raters), 2), strict=True))
    columns = {
        "human | one rater": _closeness(panel.human[:, first] - panel.human[:, second]),
        "human | mean of the others": _closeness(panel.human - others),
    }
    mean = panel.human.mean(axis=1, keepdims=True)
    for name, judge in zip(panel.names, panel.judges, strict=True):
        columns[f"{name} | mean of all"] = _closeness(judge[:, None] - mean)
        columns[f"{name} | one rater"] = _closeness(judge[:, None] - panel.human)
        columns[f"{name} | mean of the others"] = _closeness(judge[:, None] - others)
    table = np.stack(list(columns.values()), axis=1)
    return Closeness(tuple(columns), _resampled(panel, table, draws, rng, level))


def ensembles(
    panel: Panel,
    *,
    size: int = 3,
    reference: str | None = None,
    draws: int = 1000,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Ensembles:
    """All ensembles of `size` judges against the human mean, and each one's lead over a single judge.

    The reference judge is the one with the smallest mean absolute error unless named.
    """
    panel = complete(panel)
    members = np.array(list(combinations(range(len(panel.names)), size)), np.int64).reshape(-1, size)
    if not len(members):
        raise UserError(f"{len(panel.names)} judges make no ensemble of {size}. Give more judges or a smaller size.")
    mean = panel.human.mean(axis=1)
    single = panel.judges - mean
    table = np.concatenate([_measures(panel.judges[members].mean(axis=1) - mean), _measures(single)], axis=1)
    result = _resampled(panel, table, draws, rng, level)
    together, alone = result.part(slice(None, len(members))), result.part(slice(len(members), None))
    at = int(np.argmin(alone.values[:, 1]))
    if reference is not None:
        at = panel.names.index(panel.only([reference]).names[0])
    lead = replace(
        together, values=together.values - alone.values[at], samples=together.samples - alone.samples[:, None, at]
    )
    best = np.argmin(together.samples[:, :, 1], axis=1)
    return Ensembles(
        judges=panel.names,
        reference=panel.names[at],
        members=members,
        order=np.argsort(together.values[:, 1].round(12), kind="stable"),
        ensembles=together,
        singles=alone,
        lead=lead.values,
        lead_bounds=lead.bounds(),
        first=np.bincount(best, minlength=len(members)) / draws,
    )


def _closeness(difference: Floats) -> Floats:
    """Measures of differences (rows, comparisons), averaged over the comparisons: (rows, 3)."""
    return np.asarray(_measures(difference.T).mean(axis=1))


def _measures(difference: Floats) -> Floats:
    """Measures of each difference (comparisons, rows), as (rows, comparisons, 3)."""
    distance = np.abs(difference)
    return np.stack([(distance <= 1 + TOLERANCE).astype(np.float64), distance, difference], axis=-1).swapaxes(0, 1)


def _resampled(panel: Panel, table: Floats, draws: int, rng: np.random.Generator, level: float) -> Resampled:
    """Means over rows of `table` (rows, comparisons, 3) under resampling of items."""
    rows, shape = len(table), table.shape[1:]
    flat = np.column_stack([np.ones(rows), table.reshape(rows, -1)])

    def mean(totals: Floats) -> Floats:
        return quotient(totals[:, 1:], np.broadcast_to(totals[:, :1], totals[:, 1:].shape)).reshape(-1, *shape)

    return resample(
        cluster_totals(flat, panel.item),
        mean,
        n=rows,
        unit="ratings",
        draws=draws,
        rng=rng,
        strata=cluster_strata(panel.strata, panel.item),
        level=level,
        dropped=dict(panel.dropped),
    )
