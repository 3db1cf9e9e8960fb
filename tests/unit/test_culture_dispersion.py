"""The noise-corrected spread: hand arithmetic, correlated errors, and recovery of a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from countback.models.dispersion import noise_corrected
from scipy.stats import chi2


def test_moments_by_hand() -> None:
    # var(1, 2, 6) = 7; mean error variance (1 + 2 + 3) / 3 = 2; 7 - 2 = 5
    result = noise_corrected(np.array([1.0, 2.0, 6.0]), np.diag([1.0, 2.0, 3.0]))
    assert (result.observed, result.noise, result.variance) == pytest.approx((7.0, 2.0, 5.0))
    assert result.sd == pytest.approx(5**0.5)
    assert result.df == 2


def test_equal_error_variances_have_a_closed_interval() -> None:
    # Q(tau^2) = 2 s^2 / (tau^2 + v) with s^2 = 7, v = 1
    result = noise_corrected(np.array([1.0, 2.0, 6.0]), np.eye(3))
    assert result.ci_low**2 == pytest.approx(14 / chi2.ppf(0.975, 2) - 1)
    assert result.ci_high**2 == pytest.approx(14 / chi2.ppf(0.025, 2) - 1)
    assert result.p == pytest.approx(chi2.sf(14, 2))


def test_noise_below_its_expectation_gives_a_negative_variance_and_sd_nought() -> None:
    result = noise_corrected(np.array([1.0, 1.1, 0.9]), np.eye(3))
    assert result.variance == pytest.approx(0.01 - 1)
    assert result.sd == 0.0
    assert result.ci_low == 0.0


def test_an_error_that_all_share_is_no_noise_in_the_spread() -> None:
    # Crossed items move all countries together: covariance 5 everywhere adds nothing to the contrasts.
    y = np.array([1.0, 2.0, 6.0, 3.0])
    alone = noise_corrected(y, np.diag([1.0, 2.0, 3.0, 2.0]))
    shared = noise_corrected(y, np.diag([1.0, 2.0, 3.0, 2.0]) + 5.0)
    assert (shared.variance, shared.ci_low, shared.ci_high) == pytest.approx(
        (alone.variance, alone.ci_low, alone.ci_high)
    )


def test_q_with_unequal_errors_is_the_weighted_sum_of_squares() -> None:
    y, v = np.array([1.0, 2.0, 6.0, 3.0]), np.array([1.0, 2.0, 3.0, 0.5])
    result = noise_corrected(y, np.diag(v))
    for tau, quantile in ((0.0, result.q), (result.ci_high**2, chi2.ppf(0.025, 3))):
        w = 1 / (v + tau)
        assert (w * (y - (w * y).sum() / w.sum()) ** 2).sum() == pytest.approx(quantile)


@pytest.mark.parametrize(
    ("values", "covariance", "note"),
    [
        ([1.0], [[1.0]], "needs two values or more"),
        ([1.0, np.nan], [[1.0, np.nan], [np.nan, np.nan]], "needs two values or more"),
        ([1.0, 2.0], [[np.nan] * 2] * 2, "the covariance of the errors is not known"),
    ],
)
def test_what_cannot_be_said_is_said(values: list[float], covariance: list[list[float]], note: str) -> None:
    result = noise_corrected(np.array(values), np.array(covariance))
    assert np.isnan(result.sd)
    assert result.note == note


def test_missing_values_are_left_out() -> None:
    with_gap = noise_corrected(np.array([1.0, np.nan, 2.0, 6.0]), np.diag([1.0, np.nan, 2.0, 3.0]))
    without = noise_corrected(np.array([1.0, 2.0, 6.0]), np.diag([1.0, 2.0, 3.0]))
    assert with_gap == without


def test_an_estimated_covariance_with_equal_errors_and_many_clusters_is_as_good_as_known() -> None:
    y, v = np.array([1.0, 2.0, 6.0, 3.0]), 0.7 * np.eye(4) + 0.2
    known, estimated = noise_corrected(y, v), noise_corrected(y, v, cluster_df=10**9)
    for field in ("variance", "noise", "q", "df", "p", "ci_low", "ci_high"):
        assert getattr(estimated, field) == pytest.approx(getattr(known, field), rel=1e-6), field


def test_satterthwaites_degrees_of_freedom_by_hand() -> None:
    # Contrasts of independent errors 1 and 3: one eigenvalue, (1 + 3) / 2 = 2, and df 1. With y = 0, 4: z^2 = 8.
    result = noise_corrected(np.array([0.0, 4.0]), np.diag([1.0, 3.0]), cluster_df=50)
    assert (result.q, result.df) == pytest.approx((8 / 2, 1.0))
    # Three values whose errors have contrast eigenvalues 3 and 1 (an equal third direction does not matter): K S K' =
    # diag(3, 1) gives df (3 + 1)^2 / (9 + 1) = 1.6 and q = 1.6 x sum z^2 / 4; many clusters leave no correction.
    u, w = np.array([1.0, -1.0, 0.0]) / 2**0.5, np.array([1.0, 1.0, -2.0]) / 6**0.5
    covariance = 3 * np.outer(u, u) + np.outer(w, w)
    result = noise_corrected(2 * u + w, covariance, cluster_df=10**9)
    assert (result.df, result.q) == pytest.approx((1.6, 1.6 * 5 / 4), rel=1e-6)
    assert result.variance == pytest.approx(5 / 2 - 2)


def test_eigenvalues_of_an_estimate_are_pulled_together() -> None:
    # True contrast eigenvalues 10, 2, 1: their squares sum to 105. Those of an estimate sum to far more.
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(np.column_stack([np.ones(4), rng.normal(size=(4, 3))]))[0][:, 1:]
    root = basis * np.sqrt([10.0, 2.0, 1.0])
    squares, naive = [], []
    for _ in range(2000):
        covariance = np.cov(rng.standard_normal((12, 3)) @ root.T, rowvar=False)
        result = noise_corrected(np.arange(4.0), covariance, cluster_df=11)
        squares.append((3 * result.noise) ** 2 / result.df)
        naive.append((covariance**2).sum())
    error = np.std(squares) / 2000**0.5
    assert np.mean(squares) == pytest.approx(105, abs=4 * error + 1)
    assert np.mean(naive) > 105 + 6 * error


def test_a_covariance_from_few_clusters_still_gives_an_honest_interval() -> None:
    # Twelve values of correlated error and no true difference; their covariance estimated from 40 clusters. Weights by
    # the estimate reject far too often, the plain sum does not.
    rng = np.random.default_rng(4)
    root = np.linalg.cholesky(np.diag(rng.uniform(0.5, 1.5, 12)) + 0.5)
    covered = {"plain": 0, "weighted": 0}
    for _ in range(500):
        sample = rng.standard_normal((40, 12)) @ root.T
        values, covariance = sample.mean(axis=0), np.cov(sample, rowvar=False) / 40
        covered["plain"] += noise_corrected(values, covariance, cluster_df=39).ci_low == 0
        covered["weighted"] += noise_corrected(values, covariance).ci_low == 0
    assert covered["plain"] / 500 == pytest.approx(0.975, abs=4 * (0.025 * 0.975 / 500) ** 0.5)
    assert covered["weighted"] / 500 < 0.85


@pytest.mark.parametrize("tau", [0.0, 0.1, 0.3])
def test_recovery_of_a_known_truth(tau: float) -> None:
    # Twelve countries, correlated errors of unequal size: the variance estimate is unbiased, the interval covers 95%.
    rng = np.random.default_rng(20)
    root = np.diag(rng.uniform(0.05, 0.15, 12)) + 0.02
    covariance = root @ root.T
    results = [
        noise_corrected(rng.normal(0.4, tau, 12) + root @ rng.standard_normal(12), covariance) for _ in range(1000)
    ]
    variance = np.array([r.variance for r in results])
    assert abs(variance.mean() - tau**2) < 4 * variance.std() / 1000**0.5
    covered = np.mean([r.ci_low <= tau <= r.ci_high for r in results])
    # At the border tau = 0 only the upper end can miss, so the interval covers 97.5%.
    assert abs(covered - (0.975 if tau == 0 else 0.95)) < 4 * (0.05 * 0.95 / 1000) ** 0.5
