"""A held-out human and the judges, measured against the same reference.

For each item and each valid label (a, y) on it, the reference is the majority of the labels by annotators other than
a. The human hits if y equals it, a judge hits if its label does. All share one count of comparisons n: a label without
a reference gives none, and a judge that did not label the item misses. What happens when the reference is tied is a
policy, and the three of them are meant to be read side by side:

    skip        no comparison (not neutral: the items that humans find hard are dropped; `tied` counts them)
    fractional  each of k tied labels pays 1/k
    strictest   the first of the tied labels in label order

Results are kept per item, so any part of the items adds up to its own result, and resampling items recounts n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from countback.models.agreement import label_counts, table_kappa
from countback.models.estimate import cluster_strata, cluster_totals, quotient, seed_of
from countback.models.resampling import Interval, bootstrap_intervals, cluster_robust_interval
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Policy = Literal["skip", "fractional", "strictest"]
POLICIES: tuple[Policy, ...] = ("skip", "fractional", "strictest")

CHUNK_ROWS = 65_536  # small enough for a chunk's arrays to stay in the processor's cache


@dataclass(frozen=True)
class HeldOut:
    """Held-out counts per item, arrays (items,) and, for the judges, (items, judges).

    Of `labels` valid human labels, `alone` had too few other labels for a reference, `tied` a tied one (dropped by
    "skip", kept by the others), and n were compared. `human` and `judges` are hits, `missing` the comparisons a judge
    missed because it had no label there. Means over the items are the properties.
    """

    policy: Policy
    labels: Floats
    alone: Floats
    tied: Floats
    n: Floats
    human: Floats
    judges: Floats
    missing: Floats

    @property
    def comparisons(self) -> int:
        """n over all items."""
        return int(self.n.sum())

    @property
    def human_rate(self) -> float:
        """Share of comparisons in which the held-out human hits; NaN when there are none."""
        return float(self.human.sum() / self.n.sum()) if self.n.any() else np.nan

    @property
    def judge_rates(self) -> Floats:
        """Share of comparisons in which each judge hits, shape (judges,); NaN when there are none."""
        hits: Floats = self.judges.sum(axis=0)
        return hits / self.n.sum() if self.n.any() else np.full(hits.shape, np.nan)

    def select(self, items: NDArray[Any]) -> HeldOut:
        """The same for some of the items, given by number or by a mask: those of one country, say."""
        parts = (self.labels, self.alone, self.tied, self.n, self.human, self.judges, self.missing)
        return HeldOut(self.policy, *(part[items] for part in parts))


@dataclass(frozen=True)
class Difference:
    """Judge's rate (or kappa) less the held-out human's, over `n` comparisons in `clusters`, with its intervals.

    `robust` is None for a kappa, which is no mean of comparisons; `seed` is the generator's, if it was given one.
    """

    value: float
    n: int
    clusters: int
    percentile: Interval
    bca: Interval
    robust: Interval | None
    seed: int | None


def held_out(
    item: Ints,
    annotator: Ints,
    label: Ints,
    judges: Ints,
    *,
    labels: int,
    policy: Policy = "skip",
    min_others: int = 1,
    by: Literal["item", "annotator"] = "item",
) -> HeldOut:
    """Compare a held-out human and the judges with the leave-one-out reference.

    `item`, `annotator`, `label` (rows,) are codes, label -1 where missing; an annotator who labelled an item twice is
    held out with both labels. `judges` (judges, items) are label codes, -1 where missing. `labels` is the number of
    label codes, those that only judges gave included, strictest first; `min_others` is the number of labels by others
    that a reference needs. The result is kept per item, or per annotator held out (arrays by `annotator` code), for
    the mean over humans.
    """
    items = judges.shape[1]
    size = items if by == "item" else int(annotator.max(initial=-1)) + 1
    totals = np.zeros((5 + 2 * len(judges), size))
    for part, who, own, top in _references(item, annotator, label, items, labels, min_others):
        where = part if by == "item" else who
        ties = top.sum(axis=0, dtype=np.int16)
        used = ties == 1 if policy == "skip" else ties > 0
        _add(totals[0], where)
        _add(totals[1], where[ties == 0])
        _add(totals[2], where[ties > 1])
        part, where, own = part[used], where[used], own[used]
        pay = _payment(top[:, used], ties[used], policy)
        _add(totals[3], where)
        rows = np.arange(len(where))
        _add(totals[4], where, pay[own, rows])
        for number, judge in enumerate(judges):
            answer = judge[part]
            given = answer >= 0
            _add(totals[5 + 2 * number], where, pay[answer, rows] * given)
            _add(totals[6 + 2 * number], where[~given])
    given, alone, tied, n, human = totals[:5]
    return HeldOut(policy, given, alone, tied, n, human, totals[5::2].T, totals[6::2].T)


def reference_tables(
    item: Ints,
    annotator: Ints,
    label: Ints,
    judge: Ints,
    *,
    labels: int,
    policy: Policy = "skip",
    min_others: int = 1,
) -> Floats:
    """Tables of reference against answer on the pairs that `held_out` compares, shape (items, 2, labels, labels).

    First the human's, then the judge's, with -1 in `judge` (items,) leaving its pair out. A tied reference enters once
    for each tied label with weight 1/k under "fractional". `agreement.table_kappa` of sums over items gives the kappas.
    """
    items = len(judge)
    tables = np.zeros(items * 2 * labels * labels)
    for part, _, own, top in _references(item, annotator, label, items, labels, min_others):
        ties = top.sum(axis=0, dtype=np.int16)
        used = ties == 1 if policy == "skip" else ties > 0
        part, own = part[used], own[used]
        weight = np.asarray(_payment(top[:, used], ties[used], policy), np.float64)
        reference, row = np.nonzero(weight)
        for second, answer in enumerate((own, judge[part])):
            given = answer[row] >= 0
            cell = ((part[row].astype(np.int64) * 2 + second) * labels + reference) * labels + answer[row]
            _add(tables, cell[given], weight[reference, row][given])
    return tables.reshape(items, 2, labels, labels)


def judge_differences(
    result: HeldOut,
    draws: int,
    rng: np.random.Generator,
    *,
    country: Ints | None = None,
    cluster: Ints | None = None,
    level: float = 0.95,
) -> list[Difference]:
    """Judge less held-out human for each judge, with intervals from the same resamples of clusters.

    `cluster` (items,) groups items that depend on each other (default: each item its own); `country` (items,) is the
    stratum, one per cluster. Items without a valid human label are no part of the sample. n is recounted in each
    resample; one that leaves no comparison is counted as undefined.
    """
    table = np.column_stack([result.n, result.human, result.judges])
    table, strata = _sampled(table, result.labels > 0, country, cluster)
    points, percentile, bca = bootstrap_intervals(table, _rate_differences, draws, rng, strata=strata, level=level)
    gains = (table[:, 2:] - table[:, 1:2]).T
    robust = [cluster_robust_interval(gain, table[:, 0], strata=strata, level=level) for gain in gains]
    n, clusters, seed = int(table[:, 0].sum()), len(table), seed_of(rng)
    return [
        Difference(float(point), n, clusters, first, second, third, seed)
        for point, first, second, third in zip(points, percentile, bca, robust, strict=True)
    ]


def kappa_difference(
    tables: Floats,
    weights: Floats,
    draws: int,
    rng: np.random.Generator,
    *,
    country: Ints | None = None,
    cluster: Ints | None = None,
    level: float = 0.95,
) -> Difference:
    """Judge's weighted kappa with the reference less the held-out human's, on the pairs of `reference_tables`.

    `weights` (labels, labels) come from `agreement.disagreement_weights`; clusters and strata are as in
    `judge_differences`, but of items with a pair.
    """
    labels = tables.shape[-1]
    flat = tables.reshape(len(tables), -1)
    table, strata = _sampled(flat, flat.sum(axis=1) > 0, country, cluster)

    def statistic(totals: Floats) -> Floats:
        kappa = table_kappa(totals.reshape(-1, 2, labels, labels), weights)[0]
        return np.asarray(kappa[:, 1:] - kappa[:, :1])

    points, percentile, bca = bootstrap_intervals(table, statistic, draws, rng, strata=strata, level=level)
    n = round(float(tables[:, 0].sum()))
    return Difference(float(points[0]), n, len(table), percentile[0], bca[0], None, seed_of(rng))


def _references(
    item: Ints, annotator: Ints, label: Ints, items: int, labels: int, min_others: int
) -> Iterator[tuple[Ints, Ints, Ints, NDArray[np.bool_]]]:
    """Chunks of valid rows: items, annotators, labels, and which labels the others gave most often (labels, rows).

    A column of the last is all False where there is no reference. Labels come first because NumPy reduces a short last
    axis slowly. Rows come in order of item, so that a chunk touches few items.
    """
    valid = label >= 0
    if not valid.all():
        item, annotator, label = item[valid], annotator[valid], label[valid]
    if (item[1:] < item[:-1]).any():
        order = np.argsort(item, kind="stable")
        item, annotator, label = item[order], annotator[order], label[order]
    counts = np.ascontiguousarray(label_counts(item, label, items, labels).T, np.int32)
    repeated = _repeated_labels(item, annotator, label, labels)
    for start in range(0, len(item), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        others: NDArray[np.int32] = counts[:, item[part]]
        if repeated is None:
            others[label[part], np.arange(others.shape[1])] -= 1
        else:
            others -= repeated[0][repeated[1][part]].T.astype(np.int32)
        most = others.max(axis=0)
        top = (others == most) & (others.sum(axis=0) >= max(min_others, 1))
        yield item[part], annotator[part], label[part], top


def _repeated_labels(item: Ints, annotator: Ints, label: Ints, labels: int) -> tuple[Ints, Ints] | None:
    """Label counts of each (item, annotator) and the place of each row among these; None if every pair is single."""
    width = int(annotator.max(initial=0)) + 1
    pair = item.astype(np.int64) * width + annotator
    few = (int(item.max(initial=0)) + 1) * width <= 4 * len(pair)
    most = np.bincount(pair).max(initial=0) if few else 1 + len(pair) - len(np.unique(pair))
    if most <= 1:
        return None
    distinct, place = np.unique(pair, return_inverse=True)
    return label_counts(place, label, len(distinct), labels), place


def _add(totals: Floats, place: Ints, amount: NDArray[Any] | None = None) -> None:
    """Add `amount` (1 without it) to `totals` at each `place`, touching only the stretch that the places span."""
    if len(place):
        first = int(place.min())
        sums = np.bincount(place - first, amount)
        totals[first : first + len(sums)] += sums


def _payment(top: NDArray[np.bool_], ties: Ints, policy: Policy) -> NDArray[Any]:
    """What each answer earns against each row's reference, shape (labels, rows)."""
    if policy == "fractional":
        return np.asarray(top / ties)
    if policy == "strictest":
        return np.asarray(top & (np.cumsum(top, axis=0, dtype=np.int16) == 1))
    return top


def _sampled(
    table: Floats, present: NDArray[np.bool_], country: Ints | None, cluster: Ints | None
) -> tuple[Floats, Ints | None]:
    """The rows of the items that are part of the sample, added up by cluster, and the clusters' strata."""
    strata = None if country is None else np.asarray(country)[present]
    if cluster is None:
        return table[present], strata
    code = np.asarray(cluster)[present]
    return cluster_totals(table[present], code), cluster_strata(strata, code)


def _rate_differences(totals: Floats) -> Floats:
    """(judge hits - human hits) / n of totals (draws, 2 + judges); NaN where n is zero."""
    gains: Floats = totals[:, 2:] - totals[:, 1:2]
    return quotient(gains, np.broadcast_to(totals[:, :1], gains.shape))
