"""Point estimates that carry what is needed to judge them: n, what was dropped, interval, method, seed.

`resample` is the one route from rows to an estimate with a cluster-bootstrap interval: the rows of a table
are added up within clusters, a statistic maps totals to values, and the same statistic of resampled totals
gives the draws. Differences, ranges and ratios of values come from the same draws, so that their
intervals respect the pairing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from countback.models.dispersion import Dispersion, noise_corrected
from countback.models.resampling import (
    Floats,
    Interval,
    Ints,
    bootstrap_totals,
    mc_error_quantile,
    percentile_interval,
)
from numpy.typing import NDArray
from scipy.special import ndtri

Statistic = Callable[[Floats], Floats]
SpreadInterval = Literal["simultaneous", "percentile"]


@dataclass(frozen=True)
class Estimate:
    """One number, `n` of what `unit` names behind it, and the rows left out as (reason, count) pairs.

    `value` is NaN where the statistic does not exist, and `note` then says why. `seed` is the entropy the
    generator was started from (None when it cannot be read off the generator).
    """

    value: float
    n: int
    unit: str
    dropped: tuple[tuple[str, int], ...] = ()
    interval: Interval | None = None
    seed: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Resampled:
    """Values of any shape S with their cluster-bootstrap draws, shape (draws, *S); `n` has shape S.

    `clusters` and `strata` say how many clusters were resampled within how many strata.
    """

    values: Floats
    samples: Floats = field(repr=False)
    n: Ints
    unit: str
    clusters: int
    strata: int
    level: float
    seed: int | None
    dropped: tuple[tuple[str, int], ...] = ()

    def estimate(self, *index: int) -> Estimate:
        """The value at `index` with its percentile interval."""
        at: Any = (slice(None), *index)
        return self.wrap(float(self.values[index]), self.samples[at], int(self.n[index]))

    def estimates(self) -> tuple[Estimate, ...]:
        """Every value in turn, in C order."""
        return tuple(self.estimate(*index) for index in np.ndindex(self.values.shape))

    def difference(self, a: int | tuple[int, ...], b: int | tuple[int, ...]) -> Estimate:
        """Value at `a` minus value at `b`, drawn jointly; n is the smaller of the two."""
        one, other = self.part(a), self.part(b)
        n = int(min(one.n, other.n))
        return self.wrap(float(one.values) - float(other.values), one.samples - other.samples, n)

    def part(self, index: Any) -> Resampled:
        """The values at `index` (any NumPy index into S), with their draws."""
        at: Any = (slice(None), *(index if isinstance(index, tuple) else (index,)))
        return replace(
            self, values=np.asarray(self.values[index]), samples=self.samples[at], n=np.asarray(self.n[index])
        )

    def spread(self, interval: SpreadInterval = "simultaneous") -> Estimate:
        """Largest minus smallest of one-dimensional values, NaN ones left out; biased upward by noise.

        A percentile interval of a range carries that bias twice and can even lie above the value. "simultaneous"
        holds at least its level: the true range is no smaller than the observed one less the range that noise alone
        reaches (all pairs at once), and no larger than it plus the error of the one pair that is truly extreme. That
        is where each value rests on ten clusters or more of its own: the draws of fewer understate their noise.
        """
        known = np.isfinite(self.values)
        if known.sum() < 2:
            return self.wrap(np.nan, self.samples[:, 0], int(self.n.sum()), "a range needs two values or more")
        value, ranges = float(np.ptp(self.values[known])), np.ptp(self.samples[:, known], axis=1)
        plain = self.wrap(value, ranges, int(self.n[known].sum()))
        if interval == "percentile" or plain.interval is None:
            return plain
        noise, covariance = self.noise_of_spread(), self.covariance()[np.ix_(known, known)]
        if not len(noise) or not np.isfinite(covariance).all():
            return plain
        upper = (1 + self.level) / 2
        variance = np.diag(covariance)
        pairs = variance[:, None] + variance - 2 * covariance
        reach = float(ndtri(upper) * np.sqrt(np.maximum(pairs, 0.0).max()))
        low = float(np.quantile(noise, upper))
        error = float(mc_error_quantile(noise, np.asarray(upper)))
        ends = replace(
            plain.interval, low=max(value - low, 0.0), high=value + reach, method="simultaneous", mc_error=(error, 0.0)
        )
        return replace(plain, interval=ends)

    def noise_of_spread(self) -> Floats:
        """Ranges that noise alone gives, one per draw: each value's draws are centred on the value first."""
        known = np.isfinite(self.values)
        if not known.any():
            return np.zeros(0)
        centred = (self.samples - self.values)[:, known]
        return np.asarray(np.ptp(centred[np.isfinite(centred).all(axis=1)], axis=1))

    def dispersion(self) -> Dispersion:
        """Standard deviation of the true values behind one-dimensional values, their noise taken out."""
        df = self.clusters - self.strata
        return noise_corrected(self.values, self.covariance(), cluster_df=df, level=self.level)

    def wrap(self, value: float, samples: Floats, n: int, note: str = "") -> Estimate:
        """An estimate from a number computed from all values and the same number of each draw."""
        if not np.isfinite(value):
            return Estimate(value, n, self.unit, self.dropped, None, self.seed, note or "undefined on these data")
        interval = percentile_interval(samples, level=self.level)
        return Estimate(value, n, self.unit, self.dropped, interval, self.seed, note)

    def bounds(self) -> Floats:
        """Lower and upper percentile ends of every value at once, shape (2, *S); NaN draws make NaN ends."""
        return np.asarray(np.quantile(self.samples, [(1 - self.level) / 2, (1 + self.level) / 2], axis=0))

    def covariance(self) -> Floats:
        """Sampling covariance of one-dimensional values, shape (S, S); NaN for values that do not exist.

        Draws on which a value is undefined are left out. The bootstrap variance of a mean of m clusters is
        too small by (m - 1) / m in each stratum; it is scaled back by clusters / (clusters - strata), exact
        for strata of one size.
        """
        known = np.isfinite(self.values)
        drawn = self.samples[:, known]
        drawn = drawn[np.isfinite(drawn).all(axis=1)]
        result = np.full((self.values.size, self.values.size), np.nan)
        if len(drawn) > 1 and self.clusters > self.strata:
            scale = self.clusters / (self.clusters - self.strata)
            result[np.ix_(known, known)] = np.atleast_2d(np.cov(drawn, rowvar=False)) * scale
        return result


def resample(
    totals: Floats,
    statistic: Statistic,
    *,
    n: Ints | int,
    unit: str,
    draws: int,
    rng: np.random.Generator,
    strata: Ints | None = None,
    level: float = 0.95,
    dropped: Mapping[str, int] | None = None,
) -> Resampled:
    """Cluster bootstrap of `statistic` of column totals.

    `totals` (clusters, m) has one row per cluster (see `cluster_totals`), `strata` (clusters,) the stratum of
    each; strata keep their number of clusters. `statistic` maps totals (b, m) to values (b, *S). `n` has
    shape S or is one count for all. A value that rests on nothing but the only clusters of their strata, which cannot
    vary in a draw, has NaN for its draws: that it does not vary must not look like certainty.
    """
    values = np.asarray(statistic(totals.sum(axis=0, keepdims=True))[0])
    samples = statistic(bootstrap_totals(totals, draws, rng, strata=strata))
    alone = _alone(len(totals), strata)
    if alone.any():
        rest = statistic(totals[~alone].sum(axis=0, keepdims=True))[0]
        samples[:, np.isfinite(values) & ~np.isfinite(rest)] = np.nan
    return Resampled(
        values=values,
        samples=samples,
        n=np.broadcast_to(np.asarray(n), np.shape(values)),
        unit=unit,
        clusters=len(totals),
        strata=1 if strata is None else len(np.unique(strata)),
        level=level,
        seed=seed_of(rng),
        dropped=tuple((reason, count) for reason, count in (dropped or {}).items() if count),
    )


def cluster_totals(table: Floats, cluster: Ints) -> Floats:
    """Rows of `table` (rows, m) added up by cluster code, in order of code: (clusters, m)."""
    if not len(table):
        return np.zeros((0, table.shape[1]))
    order = np.argsort(cluster, kind="stable")
    return np.asarray(np.add.reduceat(table[order], _starts(np.asarray(cluster)[order]), axis=0))


def cluster_strata(strata: Ints | None, cluster: Ints) -> Ints | None:
    """The stratum of each cluster, in order of cluster code, from that of each row.

    Raises ValueError where a cluster lies in two strata.
    """
    if strata is None or not len(cluster):
        return None
    order = np.argsort(cluster, kind="stable")
    starts = _starts(np.asarray(cluster)[order])
    in_order = np.asarray(strata)[order]
    if not np.array_equal(np.repeat(in_order[starts], np.diff(starts, append=len(order))), in_order):
        raise ValueError("a cluster lies in two strata: resample whole clusters, or give strata that hold them")
    return np.asarray(in_order[starts])


def ratio(totals: Floats) -> Floats:
    """First half of the columns over the second half; NaN where the second is 0. Maps (b, 2m) to (b, m)."""
    above, below = np.split(totals, 2, axis=-1)
    return quotient(above, below)


def quotient(above: Floats, below: Floats) -> Floats:
    """`above` over `below`, element by element; NaN where `below` is 0."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0))


def seed_of(rng: np.random.Generator) -> int | None:
    """The integer `numpy.random.default_rng` was given, if any; a spawned or advanced generator says more than this."""
    entropy = getattr(getattr(rng.bit_generator, "seed_seq", None), "entropy", None)
    return entropy if isinstance(entropy, int) else None


def _alone(clusters: int, strata: Ints | None) -> NDArray[np.bool_]:
    """Which clusters are the only ones of their stratum."""
    if strata is None:
        return np.full(clusters, clusters == 1)
    _, where, size = np.unique(np.asarray(strata), return_inverse=True, return_counts=True)
    return np.asarray(size[where] == 1)


def _starts(ordered: Ints) -> Ints:
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
