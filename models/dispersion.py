"""How far true values lie apart, once the noise of their estimates is taken out.

A range or standard deviation of noisy estimates is biased upward: with no true difference at all it is still
positive. Here values y_c = theta_c + e_c with known covariance of e, and theta_c of standard deviation tau.
On C - 1 orthonormal contrasts z of y, var(z) = tau^2 I + K S K', with S the covariance of e: this holds for
independent countries and for crossed designs, where the errors of two countries go together.

Moments estimate: var(y) - trace(K S K') / (C - 1), unbiased before it is cut at 0 (Hedges and Olkin 1985).
Interval: Q-profile, the tau for which Q(tau) = sum z_i^2 / (tau^2 + lambda_i) meets its chi-square
quantiles (Viechtbauer 2007), exact for normal effects and known S.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from countback.models.resampling import Floats
from scipy.special import chdtrc, chdtri

Method = Literal["moments", "paule-mandel"]


@dataclass(frozen=True)
class Dispersion:
    """Standard deviation of true values with its interval, and the test that they are all equal.

    `variance` is the estimate before it is cut at 0 (it can be negative); `noise` is the part of the observed
    variance that error alone explains; `q`, `df`, `p` test tau = 0. `note` says why when the numbers are NaN.
    """

    sd: float
    variance: float
    observed: float
    noise: float
    ci_low: float
    ci_high: float
    level: float
    q: float
    df: int
    p: float
    method: str
    note: str = ""


def noise_corrected(
    values: Floats, covariance: Floats, *, method: Method = "moments", level: float = 0.95
) -> Dispersion:
    """Standard deviation of the true values behind `values` (C,), whose errors have `covariance` (C, C).

    "moments" is the default; "paule-mandel" takes the tau at which Q equals its degrees of freedom. Values
    that are NaN are left out. Fewer than two values, or an unknown covariance, give NaN and a note.
    """
    known = np.isfinite(values)
    y, noise = values[known], covariance[np.ix_(known, known)]
    df = len(y) - 1
    if df < 1 or not np.isfinite(noise).all():
        note = "needs two values or more" if df < 1 else "the covariance of the errors is not known"
        nan = float("nan")
        return Dispersion(nan, nan, nan, nan, nan, nan, level, nan, max(df, 0), nan, method, note)
    z2, lambdas = _contrasts(y, noise)

    def q(variance: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(z2 == 0, 0.0, z2 / (variance + lambdas))
        return float(terms.sum())

    def meets(target: float) -> float:
        return _root(q, target, float(z2.sum()))

    error = float(lambdas.sum() / df)
    variance = float(z2.sum() / df) - error if method == "moments" else meets(float(df))
    return Dispersion(
        sd=max(variance, 0.0) ** 0.5,
        variance=variance,
        observed=float(z2.sum() / df),
        noise=error,
        ci_low=meets(float(chdtri(df, (1 - level) / 2))) ** 0.5,
        ci_high=meets(float(chdtri(df, (1 + level) / 2))) ** 0.5,
        level=level,
        q=q(0.0),
        df=df,
        p=float(chdtrc(df, q(0.0))),
        method=f"{method}, Q-profile interval",
    )


def _contrasts(y: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Squared contrasts of `y` along the eigenvectors of the centred covariance, and its eigenvalues."""
    size = len(y)
    centred = y - y.mean()
    # Equal values that differ in their last bits are equal; without noise they would test as different.
    centred[np.abs(centred) < 1e-12 * np.abs(y).max()] = 0.0
    # The right singular vectors of the centring matrix beyond the first span everything but the mean.
    basis = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, : size - 1]]))[0][:, 1:]
    lambdas, vectors = np.linalg.eigh(basis.T @ covariance @ basis)
    return (vectors.T @ (basis.T @ centred)) ** 2, np.maximum(lambdas, 0.0)


def _root(falling: Callable[[float], float], target: float, scale: float) -> float:
    """Where a falling function of a variance meets `target`; 0 where it is below the target from the start."""
    if falling(0.0) <= target:
        return 0.0
    high = scale
    while falling(high) > target:
        high *= 2
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > target else (low, middle)
        if high - low <= 1e-12 * high:
            break
    return high
