"""What a judge is worth in humans: agreement with humans beside agreement among them, and equivalent raters.

Both compare a judge with the humans on the same items and the same labels, without naming one answer correct.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from countback.models.agreement import Level, alpha_of, coincidences
from countback.models.estimate import cluster_strata, cluster_totals, seed_of
from countback.models.resampling import Interval, bootstrap_intervals
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class AlphaDifference:
    """Judge-human alpha less human-human alpha over `n_items` items in `clusters`; `dropped` items did not count.

    A value that does not exist is NaN beside a `note`.
    """

    judge_human: float
    human_human: float
    difference: float
    n_items: int
    n_labels: int
    dropped: int
    clusters: int
    percentile: Interval
    bca: Interval
    seed: int | None
    note: str = ""


@dataclass(frozen=True)
class Equivalence:
    """How many human raters, combined by plurality, predict another human as well as the judge does.

    `curve[k]` is the score of k raters (k = 0: a label drawn evenly from those in use) and `score` the judge's, over
    `n_items` items with at least `raters` labels; `dropped` items had fewer. `value` is the number of raters, and
    `capped` says that it means "at least": the judge beats every panel the data can form. NaN beside a `note`.
    """

    value: float
    capped: bool
    score: float
    curve: Floats
    raters: int
    n_items: int
    dropped: int
    missing: int
    note: str = ""


def alpha_difference(
    counts: Ints,
    judge: Ints,
    level: Level,
    draws: int,
    rng: np.random.Generator,
    *,
    values: Floats | None = None,
    country: Ints | None = None,
    cluster: Ints | None = None,
    confidence: float = 0.95,
) -> AlphaDifference:
    """Krippendorff's alpha of judge-human pairs less that among the humans, from the same human labels.

    `counts` (items, labels) are the human labels, `judge` (items,) the judge's, -1 where missing. Items with a judge
    label and two human labels count. Judge-human alpha takes each human label and the judge's label on its item as one
    unit of two; intervals resample clusters within countries (both per item; default: each item, one stratum).
    """
    kept = (judge >= 0) & (counts.sum(axis=1) >= 2)
    dropped = int((counts.sum(axis=1) > 0).sum() - kept.sum())
    counts, judge = counts[kept], judge[kept]
    items, labels = counts.shape
    crossed = np.zeros((items, labels, labels))
    crossed[np.arange(items), :, judge] = counts
    crossed += crossed.transpose(0, 2, 1).copy()
    table = np.stack([crossed, coincidences(counts)], axis=1).reshape(items, 2 * labels * labels)
    strata = None if country is None else np.asarray(country)[kept]
    if cluster is not None:
        code = np.asarray(cluster)[kept]
        table, strata = cluster_totals(table, code), cluster_strata(strata, code)

    def statistic(totals: Floats) -> Floats:
        alphas = alpha_of(totals.reshape(len(totals), 2, labels, labels), level, values)
        return np.column_stack([alphas[:, 0] - alphas[:, 1], alphas])

    points, percentile, bca = bootstrap_intervals(table, statistic, draws, rng, strata=strata, level=confidence)
    difference, judge_human, human_human = (float(point) for point in points)
    note = "" if np.isfinite(difference) else "the labels that count are all one and the same, or there are none"
    return AlphaDifference(
        judge_human,
        human_human,
        difference,
        items,
        int(counts.sum()),
        dropped,
        len(table),
        percentile[0],
        bca[0],
        seed_of(rng),
        note,
    )


def equivalent_raters(counts: Ints, judge: Ints, *, raters: int | None = None) -> Equivalence:
    """Survey equivalence of a judge (Resnick et al. 2021) with plurality vote and agreement as the score.

    `counts` (items, labels) are the human labels, `judge` (items,) the judge's, -1 where missing (it scores nothing).
    Items with at least `raters` labels count; the default is the commonest number of labels on an item, the larger
    if there are two. The score of k raters is exact: the mean over items, over k-subsets S of an item's labels and
    over the labels not in S, of the chance that a label is the plurality of S with ties broken evenly.
    """
    size = counts.sum(axis=1)
    if raters is None:
        sizes, often = np.unique(size[size > 1], return_counts=True)
        raters = int(sizes[often == often.max()].max()) if len(sizes) else 2
    kept = size >= max(raters, 2)
    counts, judge, dropped = counts[kept], judge[kept], int((size > 0).sum() - kept.sum())
    missing = int((judge < 0).sum())
    if not len(counts):
        note = "no item has the labels of two raters"
        return Equivalence(np.nan, False, np.nan, np.empty(0), raters, 0, dropped, missing, note)
    curve = power_curve(counts, raters)
    right = np.where(judge >= 0, counts[np.arange(len(counts)), judge], 0)
    score = float((right / counts.sum(axis=1)).mean())
    value, capped = _crossing(curve, score)
    return Equivalence(value, capped, score, curve, raters, len(counts), dropped, missing)


def power_curve(counts: Ints, raters: int) -> Floats:
    """Scores of 0, 1 ... raters - 1 combined raters, shape (raters,); every item has at least `raters` labels."""
    # Which label is which does not matter, only how many there are of each.
    kinds, frequency = np.unique(np.sort(counts, axis=1), axis=0, return_counts=True)
    curve = np.zeros(raters)
    curve[0] = 1 / max(1, int((counts.sum(axis=0) > 0).sum()))
    for kind, times in zip(kinds.tolist(), frequency, strict=True):
        curve[1:] += times * _kind_curve([count for count in kind if count], raters)
    curve[1:] /= len(counts)
    return curve


def _kind_curve(kind: list[int], raters: int) -> Floats:
    """Scores of 1 ... raters - 1 raters on an item with label counts `kind`.

    For each height t that the plurality can have, labels join one by one with s <= t of their votes in the subset.
    `ways[k, j]` counts the subsets of size k so far with j labels at height t, and `left[k, j]` adds up, over these
    subsets, the votes for those j labels that are not in the subset.
    """
    total = sum(kind)
    gained = np.zeros(total + 1)
    for height in range(1, max(kind) + 1):
        ways, left = np.zeros((2, total + 1, len(kind) + 1))
        ways[0, 0] = 1
        for count in kind:
            old_ways, old_left = ways, left
            ways, left = np.zeros((2, total + 1, len(kind) + 1))
            for votes in range(min(count, height) + 1):
                to, tied = slice(votes, None), int(votes == height)
                source = slice(0, total + 1 - votes), slice(0, len(kind) + 1 - tied)
                here = old_ways[source] * comb(count, votes)
                ways[to, tied:] += here
                left[to, tied:] += old_left[source] * comb(count, votes) + tied * (count - votes) * here
        gained += left[:, 1:] @ (1 / np.arange(1, len(kind) + 1))
    k = np.arange(1, raters)
    subsets = np.array([comb(total, int(size)) for size in k], np.float64)
    return gained[1:raters] / subsets / (total - k)


def _crossing(curve: Floats, score: float) -> tuple[float, bool]:
    """The first place where the curve, read linearly between its points, reaches the score; capped at its end."""
    # Equal scores may differ in their last bits, being sums in another order.
    reached = np.flatnonzero(curve >= score - 1e-12)
    if not len(reached):
        return float(len(curve) - 1), True
    k = int(reached[0])
    if k == 0:
        return 0.0, False
    return float(k - 1 + min(1.0, (score - curve[k - 1]) / (curve[k] - curve[k - 1]))), False
