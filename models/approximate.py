"""A fast approximate engine for the ordinal model, for simulation studies and sweeps of priors. It is not MCMC.

In the manner of INLA (Rue, Martino and Chopin 2009), with its two weak points mended for few labels per level:

1. Given the standard deviations (sds), effects and cutpoints are taken as normal about their mode (`laplace`). What
   that misses of the marginal likelihood is -1/8 sum f'''' s^2 and so on: seldom small where an item has five labels,
   and it grows with the item's sd, so that without it the sds come out too small. Its first two cumulants, the mean and
   half the variance of log(true / normal) over draws, are estimated at each point and smoothed over the points.
2. The sds' posterior is skew, and wide with four countries. No mode or grid: points are drawn from a mixture that is
   fitted again and again to what was found, and weighted by posterior over proposal. A fit says whether the weights may
   be relied on (their effective number, and the Pareto k of Vehtari et al. 2024).

The mode of effects and cutpoints is nearer to 0 than their mean, because items with few labels are skew; without a
correction the finite share comes out too small. How far the mean lies from the mode is estimated and smoothed likewise.
One exploration serves several priors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from countback.models import laplace
from countback.models.ordinal import SWEEP, Floats, Gates, Ints, OrdinalData, Posterior, Prior
from scipy.special import gammaln, logsumexp

ENGINE = "approximate (Laplace, importance weights)"
ROUND = 128  # points
FEWEST, MOST = 256, 2048  # points in all
TOGETHER = 32_000  # labels, over points, whose modes are sought together: more would not stay in a processor's cache
PAIRS = 8  # opposite pairs of draws at a point
ENOUGH = 400.0  # effective number of points, for means and for tails, of each sd
LARGEST_K = 0.7
LARGEST_SD = 10.0  # logits. Larger ones have no likelihood here: labels are all but certain, and Laplace's is no guide
KERNEL_FREEDOM = 5.0
NEAR = -6.0  # log density below the highest, within which what Laplace misses is learnt
TOWARDS_ZERO = 4  # each fourth kernel


@dataclass(frozen=True)
class Points:
    """Where the likelihood of the sds was computed.

    `log_sd` (points, effects); `laplace` (points,) the Laplace approximation of the log likelihood and `more` (points,)
    a noisy estimate of what it misses. Draws at each point: `country` (points, draws, countries), in logits,
    `cutpoints` (points, draws, K - 1), and a noisy estimate of how far the means of countries and of all cutpoints lie
    from the normal ones, `shift` (points, countries + 1). `spread` (points,) is the variance of the log of true over
    normal density.
    """

    log_sd: Floats
    laplace: Floats
    more: Floats
    country: Floats
    cutpoints: Floats
    shift: Floats
    spread: Floats

    def __add__(self, other: Points) -> Points:
        return Points(*map(np.concatenate, zip(vars(self).values(), vars(other).values(), strict=True)))


@dataclass(frozen=True)
class Kernels:
    """A mixture of multivariate t's in equal shares: `centre` (kernels, effects), `root` the Cholesky factor of all."""

    centre: Floats
    root: Floats

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal((count, len(self.root))) @ self.root.T
        wide = np.sqrt(KERNEL_FREEDOM / rng.chisquare(KERNEL_FREEDOM, (count, 1)))
        return np.asarray(self.centre[rng.integers(len(self.centre), size=count)] + noise * wide)

    def log_density(self, at: Floats) -> Floats:
        size, free = len(self.root), KERNEL_FREEDOM
        inverse = np.linalg.inv(self.root).T
        centre, at = self.centre @ inverse, at @ inverse
        square = (at**2).sum(1)[:, None] + (centre**2).sum(1) - 2 * at @ centre.T
        constant = gammaln((free + size) / 2) - gammaln(free / 2) - size * np.log(free * np.pi) / 2
        constant -= np.log(np.diag(self.root)).sum() + np.log(len(centre))
        return np.asarray(logsumexp(-(free + size) / 2 * np.log1p(np.maximum(square, 0) / free), axis=1) + constant)


def fit_approximate(
    data: OrdinalData, prior: Prior, *, seed: int, draws: int = 2000, enough: float = ENOUGH
) -> Posterior:
    """Approximate posterior under one prior; the same seed gives the same draws.

    `enough` is the effective number of points below which the gates do not pass; simulation studies need fewer.
    """
    return sweep_approximate(data, (prior,), seed=seed, draws=draws, enough=enough)[0]


def sweep_approximate(
    data: OrdinalData, priors: Sequence[Prior] = SWEEP, *, seed: int, draws: int = 2000, enough: float = ENOUGH
) -> tuple[Posterior, ...]:
    """Approximate posteriors under each prior, from one exploration."""
    rng = np.random.default_rng(seed)
    points, proposal = explore(data, priors, rng, enough=enough)
    likelihood, shift = smoothed(points, priors)
    found = []
    for prior in priors:
        weight = weigh(points, likelihood, proposal, prior)
        log_sd, country, cutpoints = _resampled(points, shift, weight, draws, rng)
        gates = _gates(points, weight, enough)
        found.append(
            Posterior(ENGINE, prior, data.names, data.countries, np.exp(log_sd), country, cutpoints, gates, seed)
        )
    return tuple(found)


def _gates(points: Points, weight: Floats, enough: float) -> Gates:
    mean, *tails = _effective(points, weight)
    bulk, tail, heavy = float(mean.min()), float(np.min(tails)), pareto_k(weight)
    why = ""
    if min(bulk, tail) < enough:
        why = f"effective number of points {min(bulk, tail):.0f}; expected {enough:.0f} or more"
    elif heavy > LARGEST_K:
        why = f"Pareto k of the weights {heavy:.2f}; expected {LARGEST_K} or less"
    return Gates(float("nan"), bulk, tail, float("nan"), False, not why, why)


def _resampled(
    points: Points, shift: Floats, weight: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Log sds, country effects and cutpoints (draws, ...) in equal shares; a point's draws are taken in turn."""
    at = _systematic(weight, draws, rng)
    again = np.arange(draws) - np.searchsorted(at, at)  # at is sorted: how many draws this point has given already
    mixed = rng.permutation(draws)
    at, which = at[mixed], (again[mixed] + rng.integers(2 * PAIRS, size=len(weight))[at[mixed]]) % (2 * PAIRS)
    country = points.country[at, which] + shift[at, :-1]
    return points.log_sd[at], country, points.cutpoints[at, which] + shift[at, -1:]


def explore(
    data: OrdinalData, priors: Sequence[Prior], rng: np.random.Generator, *, enough: float = ENOUGH
) -> tuple[Points, Floats]:
    """Points enough for every prior, and the log density (points,) that they were drawn from, all rounds together.

    Each round's mixture is fitted to the posterior that has least so far. It stops at `MOST` points, enough or not.
    """
    of = laplace.block(data)
    kernels, line = _first(of, priors)
    mixtures, density = [kernels], np.zeros(0)
    points = None
    while True:
        more, line = _compute(of, data, mixtures[-1].draw(ROUND, rng), line, rng)
        fresh = logsumexp([each.log_density(more.log_sd) for each in mixtures], axis=0)
        if points is not None:
            density = np.logaddexp(density, mixtures[-1].log_density(points.log_sd))
        points = more if points is None else points + more
        density = np.concatenate([density, fresh])
        proposal = density - np.log(len(mixtures))
        likelihood, _ = smoothed(points, priors)
        weights = np.array([weigh(points, likelihood, proposal, prior) for prior in priors])
        effective = np.array([_effective(points, each).min() for each in weights])
        if len(density) >= MOST or (len(density) >= FEWEST and effective.min() >= enough):
            return points, proposal
        mixtures.append(_fitted(points, weights[np.argmin(effective)], kernels, rng))


def _first(of: laplace.Block, priors: Sequence[Prior]) -> tuple[Kernels, Floats]:
    """A t about the mode of the sds under the priors together, and the block's modes as a line in the log sds."""
    effects = int(of.owner[-1]) + 1
    peaks: list[laplace.Peak] = []

    def height(log_sd: Floats) -> float:
        peaks.extend(laplace.peaks(of, log_sd[None], (peaks[-1].mode if peaks else of.start)[:, None]))
        return float(peaks[-1].marginal + logsumexp([prior.log_density(log_sd) for prior in priors]))

    centre, wide = np.full(effects, np.log(0.5)), np.eye(effects) * 0.4
    for _ in range(12):
        top = height(centre)
        ahead = np.array([height(centre + step) for step in wide])
        behind = np.array([height(centre - step) for step in wide])
        slope = (ahead - behind) / (2 * np.diag(wide))
        bend = np.maximum((2 * top - ahead - behind) / np.diag(wide) ** 2, 1.0)
        move = np.clip(slope / bend, -1, 1)
        centre = centre + move
        if np.abs(move * np.sqrt(bend)).max() < 0.3:
            break
    kernels = Kernels(centre[None], np.diag(1.2 / np.sqrt(bend)))
    near = peaks[-4 * effects :]
    return kernels, _line([peak.log_sd for peak in near], [peak.mode for peak in near])


def _line(log_sd: Sequence[Floats] | Floats, modes: Sequence[Floats]) -> Floats:
    """Modes of the block (effects + 1, size) as a line in the log sds, to start from."""
    return np.asarray(np.linalg.lstsq(np.column_stack([np.ones(len(log_sd)), log_sd]), np.array(modes))[0])


def _fitted(points: Points, weight: Floats, first: Kernels, rng: np.random.Generator) -> Kernels:
    """Kernels on the points by their weight, of their covariance made narrower as for a density estimate.

    Some are moved towards an sd of 0, where the posterior's tail is an exponential's in the log sd: a fit to points
    found would not go where none happened to be, and tails would come out too short.
    """
    effective, size = 1 / (weight**2).sum(), points.log_sd.shape[1]
    away = points.log_sd - weight @ points.log_sd
    covariance = (away.T * weight) @ away
    if effective < 4 * size:  # too few to know how they vary together
        covariance = np.diag(np.maximum(np.diag(covariance), np.diag(first.root) ** 2))
    narrow = (4 / (size + 2) / effective) ** (1 / (size + 4))
    centre = points.log_sd[_systematic(weight, ROUND, rng)]
    low = np.arange(0, ROUND, TOWARDS_ZERO)
    centre[low, rng.integers(size, size=len(low))] -= rng.exponential(size=len(low))
    return Kernels(centre, np.linalg.cholesky(covariance) * narrow)


def _systematic(weight: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Which points (count,) stand for all in equal shares."""
    at = np.searchsorted(np.cumsum(weight), (np.arange(count) + rng.random()) / count)
    return np.minimum(at, len(weight) - 1)


def _compute(
    of: laplace.Block, data: OrdinalData, log_sd: Floats, line: Floats, rng: np.random.Generator
) -> tuple[Points, Floats]:
    country = data.names.index("country")
    own = np.flatnonzero(of.owner == country)
    near = log_sd[log_sd.max(1) <= np.log(LARGEST_SD)]
    size = max(1, TOGETHER // len(of.terms.cut))
    parts = np.split(near, range(size, len(near), size))
    peaks = (peak for part in parts for peak in laplace.peaks(of, part, (line[0] + part @ line[1:]).T))
    each, modes = [], []
    for at in log_sd:
        if at.max() > np.log(LARGEST_SD):
            shape = 2 * PAIRS, len(own)
            far = np.zeros((shape[0], of.gaps + 1)), np.zeros(shape[1] + 1)
            each.append((at, -np.inf, 0.0, np.zeros(shape), *far, 0.0))
            continue
        peak = next(peaks)
        modes.append(peak.mode)
        unknown, lean, part = laplace.wobble(of, peak, 2 * PAIRS, rng)
        cutpoints = laplace.cutpoints(unknown[of.effects + 1 :]) + unknown[of.effects]
        effects = unknown[own] * np.exp(at[country])
        more, tilt = laplace.missed(part)
        shift = np.vstack([effects, cutpoints.mean(0)]) @ tilt / len(tilt)
        each.append((at, peak.marginal, more, effects.T, cutpoints.T, shift, lean.var()))
    line = _line(near, modes) if len(near) > log_sd.shape[1] else line
    return Points(*(np.array(column) for column in zip(*each, strict=True))), line


def smoothed(points: Points, priors: Sequence[Prior]) -> tuple[Floats, Floats]:
    """Log likelihood of the sds (points,) and shift of the means: quadratics through the noisy estimates, see `Points`.

    The quadratics are level beyond where the posteriors are, and below sds of a tenth: effects so small miss nothing.
    Where the sds are huge, draws are far from the truth and estimates noisy: they are trusted less. How much less is
    itself smoothed, for estimates that happen to be low are also the ones that look sure of themselves.
    """
    height = points.laplace + logsumexp([prior.log_density(points.log_sd) for prior in priors], axis=0)
    height = height - height.max()
    trust = np.exp(height / 4)
    place = np.log(0.1**2 + np.exp(2 * points.log_sd)) / 2
    share = trust**2 / (trust**2).sum()
    centre = share @ place
    place = np.clip((place - centre) / np.sqrt(share @ (place - centre) ** 2 + 1e-12), -2.5, 2.5)
    one, other = np.triu_indices(place.shape[1])
    basis = np.column_stack([np.ones(len(place)), place, place[:, one] * place[:, other]])

    def fitted(to: Floats, trust: Floats) -> Floats:
        solution = np.linalg.lstsq(basis * trust[:, None], (to.T * trust).T, rcond=None)[0]
        found = basis @ solution
        return np.asarray(np.clip(found, found[height > NEAR].min(0), found[height > NEAR].max(0)))

    spread = fitted(np.log(points.spread + 1e-12), trust)
    trust = trust / (1 + np.exp(2 * (spread - share @ spread)) / 10)
    return points.laplace + fitted(points.more, trust), fitted(points.shift, trust)


def weigh(points: Points, likelihood: Floats, proposal: Floats, prior: Prior) -> Floats:
    """Importance weights (points,), of sum 1."""
    log_weight = likelihood + prior.log_density(points.log_sd) - proposal
    return np.asarray(np.exp(log_weight - logsumexp(log_weight)))


def _effective(points: Points, weight: Floats) -> Floats:
    """Effective number of points for each sd's mean, 5% and 95% points: (3, effects)."""
    value = points.log_sd
    order = np.argsort(value, axis=0)
    level = np.cumsum(weight[order], axis=0)
    rows = []
    for share in (None, 0.05, 0.95):
        if share is None:
            goal = value
        else:
            edge = np.take_along_axis(value, order, 0)[(level < share).sum(0), np.arange(value.shape[1])]
            goal = (value <= edge).astype(float)
        away = goal - weight @ goal
        rows.append((weight @ away**2) / np.maximum(weight**2 @ away**2, 1e-300))
    return np.array(rows)


def pareto_k(weight: Floats) -> float:
    """Shape of the generalised Pareto tail of importance weights (Vehtari et al. 2024; fit of Zhang and Stephens 2009).

    Above 0.7 the weights have too heavy a tail to be relied on. Weights that are all alike have none: minus infinity.
    """
    size = len(weight)
    tail = int(min(size / 5, 3 * np.sqrt(size)))
    ordered = np.sort(weight)
    beyond = ordered[-tail:] - ordered[-tail - 1]
    if beyond[-1] <= 0 or beyond[tail // 4] <= 0:
        return float("-inf")
    count = 30 + int(np.sqrt(tail))
    rate = 1 - np.sqrt(count / (np.arange(1, count + 1) - 0.5))
    rate = rate / (3 * beyond[int(tail / 4 + 0.5) - 1]) + 1 / beyond[-1]
    shape = np.log1p(-rate[:, None] * beyond).mean(1)
    fit = tail * (np.log(-rate / shape) - shape - 1)
    mean_rate = float(np.exp(fit - logsumexp(fit)) @ rate)
    return (tail * float(np.log1p(-mean_rate * beyond).mean()) + 5) / (tail + 10)  # towards 0.5 where the tail is short
