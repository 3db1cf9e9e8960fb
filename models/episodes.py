"""Episode scores: means with bootstrap intervals, slices and their ranges, paired and unpaired differences.

Values are scores per episode (1 to 5, or 0 / 1 for a rate), NaN where missing. What is resampled is the episode
unless `cluster` says otherwise (episodes that share a seed, say). Source: methods, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from countback.fetch.errors import UserError
from countback.models.dispersion import Dispersion
from countback.models.estimate import Estimate, Resampled, cluster_strata, cluster_totals, ratio, resample
from countback.models.resampling import Floats, Ints
from numpy.typing import NDArray


@dataclass(frozen=True)
class Slices:
    """Means by group, and how far the groups lie apart.

    `spread` is max - min over groups, biased upward by noise; `noise_range` is the mean and the upper 5% point of the
    range that noise alone gives; `corrected` is the standard deviation of the groups' true means.
    """

    means: Resampled
    spread: Estimate
    noise_range: tuple[float, float]
    corrected: Dispersion


def episode_means(
    values: Floats,
    *,
    draws: int = 1000,
    rng: np.random.Generator,
    cluster: Ints | None = None,
    strata: Ints | None = None,
    level: float = 0.95,
) -> Resampled:
    """Means over episodes of `values` (..., episodes), shape (...), all from the same resamples of episodes.

    Models that ran the same episodes can therefore be compared by `Resampled.difference`. A missing value leaves its
    own mean's n and nothing else; `dropped` counts them all.
    """
    flat = values.reshape(-1, values.shape[-1])
    known = np.isfinite(flat)
    n = known.sum(axis=1).reshape(values.shape[:-1])
    dropped = {"value missing": int(known.size - known.sum())}
    filled = np.where(known, flat, 0.0).T
    # Without gaps every mean has the same denominator, which need not be resampled once per mean.
    below = known.T.astype(np.float64) if dropped["value missing"] else np.ones((len(filled), 1))
    table = np.concatenate([filled, below], axis=1)

    def mean(totals: Floats) -> Floats:
        above, under = totals[:, : filled.shape[1]], totals[:, filled.shape[1] :]
        divided = np.divide(above, under, out=np.full(above.shape, np.nan), where=under != 0)
        return np.asarray(divided.reshape(-1, *values.shape[:-1]))

    return resample(
        table if cluster is None else cluster_totals(table, cluster),
        mean,
        n=n,
        unit="episodes",
        draws=draws,
        rng=rng,
        strata=strata if cluster is None else cluster_strata(strata, cluster),
        level=level,
        dropped=dropped,
    )


def composite(values: Floats, members: Sequence[int]) -> Floats:
    """Episode-level average of some metrics of `values` (..., metrics, episodes), missing where any of them is."""
    return np.asarray(values[..., list(members), :].mean(axis=-2))


def slice_means(
    values: Floats,
    group: Ints,
    groups: int,
    *,
    draws: int = 1000,
    rng: np.random.Generator,
    cluster: Ints | None = None,
    strata: Ints | None = None,
    level: float = 0.95,
) -> Slices:
    """Means of `values` (episodes,) by `group` (episodes,), -1 for none, and their range.

    By default episodes are resampled within their group, so no group changes size; with `cluster` and no `strata`,
    clusters are resampled whole from all.
    """
    known = np.isfinite(values) & (group >= 0)
    dropped = {"value missing": int((~np.isfinite(values)).sum())}
    dropped["no group"] = int((~known).sum()) - dropped["value missing"]
    member = (group[known][:, None] == np.arange(groups)).astype(np.float64)
    table = np.concatenate([member * values[known][:, None], member], axis=1)
    if cluster is None and strata is None:
        strata = group
    of_row = np.arange(len(table)) if cluster is None else cluster[known]
    means = resample(
        cluster_totals(table, of_row),
        ratio,
        n=member.sum(axis=0).astype(np.int64),
        unit="episodes",
        draws=draws,
        rng=rng,
        strata=cluster_strata(None if strata is None else strata[known], of_row),
        level=level,
        dropped=dropped,
    )
    noise = means.noise_of_spread()
    return Slices(
        means=means,
        spread=means.spread(),
        noise_range=(float(noise.mean()), float(np.quantile(noise, 0.95))) if len(noise) else (np.nan, np.nan),
        corrected=means.dispersion(),
    )


def paired_difference(
    values: Floats,
    seed: Ints,
    other: Floats,
    other_seed: Ints,
    *,
    draws: int = 1000,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Estimate:
    """Mean over seeds of (mean of `values` at the seed) - (mean of `other` at the seed): native minus English, say.

    Seeds with a value on one side only are counted as dropped, as are missing values. Raises UserError when no
    seed has both.
    """
    left, right = np.isfinite(values), np.isfinite(other)
    seeds, code = np.unique(np.concatenate([seed, other_seed]), return_inverse=True)
    mine, theirs = code[: len(seed)][left], code[len(seed) :][right]
    n_mine, n_theirs = (np.bincount(codes, minlength=len(seeds)) for codes in (mine, theirs))
    both = (n_mine > 0) & (n_theirs > 0)
    if not both.any():
        raise UserError(
            f"None of {len(seeds)} seeds has a value on both sides. One pair or more was expected. "
            "Check that both sides name their seeds alike."
        )
    difference = (
        np.bincount(mine, values[left], len(seeds))[both] / n_mine[both]
        - np.bincount(theirs, other[right], len(seeds))[both] / n_theirs[both]
    )
    result = resample(
        np.column_stack([difference, np.ones(len(difference))]),
        ratio,
        n=len(difference),
        unit="seeds",
        draws=draws,
        rng=rng,
        level=level,
        dropped={
            "value missing": int((~left).sum() + (~right).sum()),
            "seed without a value on the other side": int(((n_mine > 0) ^ (n_theirs > 0)).sum()),
        },
    )
    return result.estimate(0)


def group_difference(
    values: Floats,
    inside: NDArray[np.bool_],
    *,
    draws: int = 1000,
    rng: np.random.Generator,
    cluster: Ints | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of the episodes `inside` minus the mean of the others (trap minus standard, say), unpaired."""
    slices = slice_means(values, inside.astype(np.int64), 2, draws=draws, rng=rng, cluster=cluster, level=level)
    return slices.means.difference(1, 0)
