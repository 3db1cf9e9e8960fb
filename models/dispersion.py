"""How far true values lie apart, once the noise of their estimates is taken out.

A range or standard deviation of noisy estimates is biased upward: with no true difference at all it is still
positive. Here values y_c = theta_c + e_c, with theta_c of standard deviation tau. On C - 1 orthonormal contrasts z of
y, var(z) = tau^2 I + K S K', with S the covariance of e: this holds for independent countries and for crossed
designs, where the errors of two countries go together.

Point estimate: the method of moments, var(y) - trace(K S K') / (C - 1), unbiased before it is cut at 0 (Hedges and
Olkin 1985). Interval: the tau at which a sum of squares of z meets its 2.5% and 97.5% points.
- S known: Q(tau) = sum z_i^2 / (tau^2 + lambda_i) is chi-square (Q-profile, Viechtbauer 2007), exact for normal
  effects.
- S estimated from clusters: weights 1 / (tau^2 + lambda_i) would inherit its errors, badly so with few clusters per
  country (12 countries and 40 crossed items: a 95% interval that covers 78%). The plain sum of z_i^2 is taken instead
  (Jackson 2013, with equal weights), its degrees of freedom by Satterthwaite, as Box (1954) does for repeated
  measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from countback.models.resampling import Floats
from scipy.special import chdtr, chdtrc

Method = Literal["moments", "paule-mandel"]


@dataclass(frozen=True)
class Dispersion:
    """Standard deviation of true values with its interval, and the test that they are all equal.

    `variance` is the estimate before it is cut at 0 (it can be negative); `observed` is the variance of the values and
    `noise` the part of it that error alone explains. `q` on `df` degrees of freedom tests tau = 0 with p-value
    `p`. `note` says why when the numbers are NaN.
    """

    sd: float
    variance: float
    observed: float
    noise: float
    ci_low: float
    ci_high: float
    level: float
    q: float
    df: float
    p: float
    method: str
    note: str = ""


def noise_corrected(
    values: Floats,
    covariance: Floats,
    *,
    cluster_df: int | None = None,
    method: Method = "moments",
    level: float = 0.95,
) -> Dispersion:
    """Standard deviation of the true values behind `values` (C,), whose errors have `covariance` (C, C).

    `cluster_df` is the degrees of freedom of an estimated covariance (clusters less strata), None for a known one.
    "moments" is the default; "paule-mandel" takes the tau at which the known-covariance Q equals its degrees of
    freedom. Values that are NaN are left out. Fewer than two values, or a covariance that is NaN, give NaN and a note.
    """
    known = np.isfinite(values)
    y, noise = values[known], covariance[np.ix_(known, known)]
    size = len(y) - 1
    if size < 1 or not np.isfinite(noise).all():
        note = "needs two values or more" if size < 1 else "the covariance of the errors is not known"
        nan = float("nan")
        return Dispersion(nan, nan, nan, nan, nan, nan, level, nan, max(size, 0), nan, method, note)
    z2, lambdas = _contrasts(y, noise)
    statistic = _weighted(z2, lambdas) if cluster_df is None else _plain(z2, lambdas, cluster_df)

    def share_below(variance: float) -> float:
        df, q = statistic(variance)
        return float(chdtr(df, q))

    error, scale = float(lambdas.sum() / size), float(z2.sum())
    variance = scale / size - error
    if method == "paule-mandel":
        variance = _root(lambda v: _weighted(z2, lambdas)(v)[1], size, scale)
    df, q = statistic(0.0)
    return Dispersion(
        sd=max(variance, 0.0) ** 0.5,
        variance=variance,
        observed=scale / size,
        noise=error,
        ci_low=_root(share_below, (1 + level) / 2, scale) ** 0.5,
        ci_high=_root(share_below, (1 - level) / 2, scale) ** 0.5,
        level=level,
        q=q,
        df=df,
        p=float(chdtrc(df, q)),
        method=f"{method}, {'Q-profile' if cluster_df is None else 'Satterthwaite'} interval",
    )


def _weighted(z2: Floats, lambdas: Floats) -> Callable[[float], tuple[float, float]]:
    """Degrees of freedom and value of the sum of z^2 over their variances, as a function of tau^2."""

    def statistic(variance: float) -> tuple[float, float]:
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(z2 == 0, 0.0, z2 / (variance + lambdas))
        return float(len(z2)), float(terms.sum())

    return statistic


def _plain(z2: Floats, lambdas: Floats, cluster_df: int) -> Callable[[float], tuple[float, float]]:
    """Degrees of freedom and value of the plain sum of z^2 over its expectation, as a function of tau^2."""
    size, total = len(z2), float(lambdas.sum())
    squares = float((lambdas**2).sum())
    if cluster_df > 2:
        # Eigenvalues of an estimate lie further apart than the true ones; this undoes it on average.
        squares = (squares - total**2 / cluster_df) * cluster_df**2 / ((cluster_df - 1) * (cluster_df + 2))
    squares = min(max(squares, total**2 / size), total**2)

    def statistic(variance: float) -> tuple[float, float]:
        expected = size * variance + total
        if expected == 0:
            return float(size), np.inf if z2.any() else 0.0
        df = expected**2 / (size * variance**2 + 2 * variance * total + squares)
        return df, df * float(z2.sum()) / expected

    return statistic


def _contrasts(y: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Squared contrasts of `y` along the eigenvectors of the centred covariance, and its eigenvalues."""
    size = len(y)
    centred = y - y.mean()
    # Equal values that differ in their last bits are equal; without noise they would test as different.
    centred[np.abs(centred) < 1e-12 * np.abs(y).max()] = 0.0
    # Columns beyond the first of this orthogonal basis span everything but the mean.
    basis = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, : size - 1]]))[0][:, 1:]
    lambdas, vectors = np.linalg.eigh(basis.T @ covariance @ basis)
    return (vectors.T @ (basis.T @ centred)) ** 2, np.maximum(lambdas, 0.0)


def _root(falling: Callable[[float], float], target: float, scale: float) -> float:
    """Where a falling function of a variance meets `target`; 0 where it is no higher from the start."""
    if falling(0.0) <= target:
        return 0.0
    low, high = 0.0, scale
    while falling(high) > target:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > target else (low, middle)
        if high - low <= 1e-12 * high:
            break
    return high
