"""Seconds per label, whether fast labels agree less, and the gap between a baseline and the mean over cultures.

Source: methods, section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from countback.fetch.errors import UserError
from countback.models.estimate import Estimate, Resampled, cluster_strata, cluster_totals, ratio, resample, seed_of
from countback.models.resampling import Floats, Interval, Ints, weight_batches
from countback.models.votes import tally
from numpy.typing import NDArray
from scipy.special import stdtrit

Agreement = Literal["majority", "peers"]


@dataclass(frozen=True)
class FastSlow:
    """Agreement of fast and of slow labels with the other annotators of the same item.

    `low` and `high` (groups,) are the seconds at the two cuts of each group; labels strictly between them are in
    neither part. `difference` is fast minus slow, from the same resamples of items.
    """

    fast: Estimate
    slow: Estimate
    difference: Estimate
    low: Floats
    high: Floats
    cut: tuple[float, float]
    agreement: str


def median_seconds(
    seconds: Floats,
    group: Ints,
    groups: int,
    *,
    item: Ints,
    draws: int = 1000,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Resampled:
    """Median seconds per label by `group` (labels,), with an interval over resampled items.

    `seconds` is NaN where unknown; such labels are counted as dropped. Items are resampled from all groups
    together when one is in several, else within their group.
    """
    known = np.isfinite(seconds)
    order = np.argsort(seconds[known], kind="stable")
    sorted_seconds, of_group = seconds[known][order], group[known][order]
    items, of_item = np.unique(item[known][order], return_inverse=True)
    pairs = np.unique(of_item * groups + of_group) // groups
    strata = cluster_strata(of_group, of_item) if len(pairs) == len(items) else None
    members = [np.flatnonzero(of_group == g) for g in range(groups)]

    def medians(weights: Floats) -> Floats:
        columns = [_weighted_median(sorted_seconds[rows], weights[:, of_item[rows]]) for rows in members]
        return np.stack(columns, axis=1)

    batches = weight_batches(len(items), strata, draws, rng)
    return Resampled(
        values=medians(np.ones((1, len(items))))[0],
        samples=np.concatenate([medians(weights) for weights in batches]),
        n=np.bincount(of_group, minlength=groups),
        unit="labels",
        clusters=len(items),
        strata=1 if strata is None else groups,
        level=level,
        seed=seed_of(rng),
        dropped=(("seconds unknown", int((~known).sum())),),
    )


def fast_slow(
    item: Ints,
    annotator: Ints,
    label: Ints,
    seconds: Floats,
    n_labels: int,
    *,
    cut: tuple[float, float] = (0.5, 0.5),
    within: Ints | None = None,
    agreement: Agreement = "majority",
    draws: int = 1000,
    rng: np.random.Generator,
    level: float = 0.95,
) -> FastSlow:
    """Do labels given quickly agree with the others on their item as often as slow ones?

    All arrays (labels,). `cut` holds two quantiles of seconds: fast is at or below the first, slow above the second,
    so (0.5, 0.5) halves and (1/3, 2/3) takes the outer thirds; quantiles are taken `within` groups (countries,
    annotators) where given. `agreement`: "majority" scores a label 1 if it is the majority of the other
    annotators' labels, ties skipped; "peers" takes the share of their labels that equal it.
    """
    group = np.zeros(len(item), np.int64) if within is None else np.asarray(within)
    score, reason = _agreement(item, annotator, label, n_labels, agreement)
    timed = np.isfinite(seconds)
    usable = timed & np.isfinite(score)
    low, high = _cuts(seconds, group, timed, cut)
    parts = np.column_stack([seconds <= low[group], seconds > high[group]])[usable].astype(np.float64)
    table = np.concatenate([parts * score[usable, None], parts], axis=1)
    result = resample(
        cluster_totals(table, item[usable]),
        ratio,
        n=parts.sum(axis=0).astype(np.int64),
        unit="labels",
        draws=draws,
        rng=rng,
        level=level,
        dropped={
            **{name: int(rows.sum()) for name, rows in reason.items()},
            "seconds unknown": int((np.isfinite(score) & ~timed).sum()),
            "between the cuts": int((parts.sum(axis=1) == 0).sum()),
        },
    )
    return FastSlow(
        result.estimate(0), result.estimate(1), result.difference(0, 1), low, high, cut, agreement
    )


def rollout_gap(
    score: Floats,
    culture: Ints,
    baseline: int,
    *,
    cluster: Ints | None = None,
    draws: int = 1000,
    rng: np.random.Generator,
    level: float = 0.95,
) -> tuple[Estimate, Interval]:
    """Mean score at the baseline minus the mean over cultures of their mean scores, with two intervals.

    `score`, `culture` (rollouts,); `baseline` is its code in `culture`. The estimate's interval resamples rollouts
    (or `cluster`, say the scenario variation) within each culture; the second is Welch's t with the same
    weights, treating rollouts as independent. Raises UserError without a baseline or without any culture.
    """
    known = np.isfinite(score)
    codes, where = np.unique(culture[known], return_inverse=True)
    is_baseline = codes == baseline
    if not is_baseline.any() or is_baseline.all():
        missing = "baseline" if not is_baseline.any() else "culture"
        raise UserError(f"There is no scored rollout of any {missing}. A gap needs a baseline and one culture or more.")
    member = (where[:, None] == np.arange(len(codes))).astype(np.float64)
    share = np.where(is_baseline, 1.0, -1.0 / (~is_baseline).sum())
    table = np.concatenate([member * score[known][:, None], member], axis=1)
    of_row = np.arange(len(table)) if cluster is None else cluster[known] * len(codes) + where

    def gap(totals: Floats) -> Floats:
        return np.asarray(ratio(totals) @ share)

    result = resample(
        cluster_totals(table, of_row),
        gap,
        n=len(table),
        unit="rollouts",
        draws=draws,
        rng=rng,
        strata=cluster_strata(where, of_row),
        level=level,
        dropped={"score missing": int((~known).sum())},
    )
    return result.estimate(), _welch(score[known], where, share, level)


def _weighted_median(ordered: Floats, weights: Floats) -> Floats:
    """Median of `ordered` (n,) with whole-number `weights` (b, n); the mean of the two middle ones where n is even."""
    if not len(ordered):
        return np.full(len(weights), np.nan)
    running = np.cumsum(weights, axis=1)
    total = running[:, -1:]
    lower = np.argmax(running >= total / 2, axis=1)
    upper = np.argmax(running > total / 2, axis=1)
    return np.where(total[:, 0] > 0, (ordered[lower] + ordered[upper]) / 2, np.nan)


def _agreement(
    item: Ints, annotator: Ints, label: Ints, n_labels: int, agreement: Agreement
) -> tuple[Floats, dict[str, NDArray[np.bool_]]]:
    """Each label's agreement with the other annotators' labels on its item, NaN where there is none, and why."""
    votes = tally(item, np.zeros(len(item), np.int64), label, n_labels)
    own = tally(item, annotator, label, n_labels)
    unit = np.searchsorted(votes.item, item)
    # Everything the same annotator said about the item is taken out, not this one label alone.
    span = int(np.max(item, initial=0)) + 1
    mine = np.searchsorted(own.country * span + own.item, annotator * span + item)
    others = votes.counts[unit] - own.counts[mine]
    valid = label >= 0
    top = others.max(axis=1, keepdims=True)
    leaders = (others == top) & (top > 0)
    here = np.where(valid, label, 0)[:, None]
    alone = valid & (top[:, 0] == 0)
    tie = valid & (leaders.sum(axis=1) > 1) & (agreement == "majority")
    if agreement == "majority":
        score = np.take_along_axis(leaders, here, axis=1)[:, 0].astype(np.float64)
    else:
        score = np.take_along_axis(others, here, axis=1)[:, 0] / np.maximum(others.sum(axis=1), 1)
    score[~valid | alone | tie] = np.nan
    return score, {"invalid label": ~valid, "no other label": alone, "others tied": tie}


def _cuts(seconds: Floats, group: Ints, timed: NDArray[np.bool_], cut: tuple[float, float]) -> tuple[Floats, Floats]:
    """The two cuts of each group, NaN (so that nothing is fast or slow) where no time is known."""
    groups = int(group.max(initial=0)) + 1
    ends = np.full((groups, 2), np.nan)
    for g in np.unique(group[timed]):
        ends[g] = np.quantile(seconds[timed & (group == g)], cut)
    return ends[:, 0], ends[:, 1]


def _welch(score: Floats, where: Ints, share: Floats, level: float) -> Interval:
    n = np.bincount(where, minlength=len(share))
    mean = np.bincount(where, score, len(share)) / n
    if (n < 2).any():
        note = "a culture with a single rollout says nothing about its own variation"
        return Interval(np.nan, np.nan, level, "Welch t", 0, note=note)
    squares = np.bincount(where, (score - mean[where]) ** 2, len(share)) / (n - 1)
    parts = share**2 * squares / n
    variance = float(parts.sum())
    value = float(mean @ share)
    df = variance**2 / float((parts**2 / (n - 1)).sum()) if variance > 0 else np.inf
    reach = float(stdtrit(df, (1 + level) / 2)) * variance**0.5 if variance > 0 else 0.0
    return Interval(value - reach, value + reach, level, "Welch t", 0)
