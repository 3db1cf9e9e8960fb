"""Cluster bootstrap, intervals and Monte Carlo error on cases whose answer is known without running the code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from countback.models.resampling import (
    bca_interval,
    bootstrap_intervals,
    bootstrap_totals,
    cluster_robust_interval,
    cluster_weights,
    jackknife_totals,
    mc_error_mean,
    mc_error_share,
    percentile_interval,
    weight_batches,
)


def test_weights_keep_each_stratum_at_its_size() -> None:
    strata = np.array([5, 2, 5, 2, 2, 9])
    weights = cluster_weights(6, strata, 200, np.random.default_rng(1))
    assert weights.shape == (200, 6)
    assert (weights[:, [1, 3, 4]].sum(axis=1) == 3).all()
    assert (weights[:, [0, 2]].sum(axis=1) == 2).all()
    assert (weights[:, 5] == 1).all()  # the only cluster of its stratum is always drawn once


def test_weights_are_multinomial() -> None:
    # Of n = 4 clusters each count is Binomial(4, 1/4): mean 1, variance 3/4; two counts have covariance -1/4.
    weights = cluster_weights(4, None, 200_000, np.random.default_rng(2))
    assert np.allclose(weights.mean(axis=0), 1, atol=4 * np.sqrt(0.75 / 200_000))
    expected = np.full((4, 4), -0.25) + np.eye(4)
    assert np.allclose(np.cov(weights, rowvar=False), expected, atol=0.02)


def test_batches_add_up_to_the_draws() -> None:
    batches = list(weight_batches(200_000, None, 100, np.random.default_rng(3)))
    assert len(batches) > 1
    assert max(batch.nbytes for batch in batches) <= 64_000_000
    assert sum(len(batch) for batch in batches) == 100
    assert all((batch.sum(axis=1) == 200_000).all() for batch in batches)


def test_totals_have_the_exact_distribution() -> None:
    """Three different clusters give 27 equally likely resamples; each total's share is counted by enumeration."""
    values = [0.0, 1.0, 5.0]
    sums = [sum(pick) for pick in itertools.product(values, repeat=3)]
    drawn = bootstrap_totals(np.array(values)[:, None], 100_000, np.random.default_rng(4))[:, 0]
    assert set(drawn) == set(sums)
    for total in set(sums):
        share = sums.count(total) / 27
        assert (drawn == total).mean() == pytest.approx(share, abs=4 * np.sqrt(share / 100_000))


def test_totals_of_equal_rows_have_the_exact_distribution() -> None:
    """Of 60 clusters 20 hold a 5 and 40 a 0, so the total is 5 times a Binomial(60, 1/3); equal rows are pooled."""
    from scipy.stats import binom

    table = np.repeat([0.0, 5.0, 0.0], 20)[:, None]
    drawn = bootstrap_totals(table, 100_000, np.random.default_rng(4))[:, 0] / 5
    for fives in range(10, 31):
        share = binom.pmf(fives, 60, 1 / 3)
        assert (drawn == fives).mean() == pytest.approx(share, abs=4.5 * np.sqrt(share / 100_000))


def test_totals_of_strata_are_drawn_within_them() -> None:
    # One stratum is all ones, the other all tens: no resample can change the total.
    table = np.array([[1.0], [10.0], [1.0], [10.0], [1.0]])
    drawn = bootstrap_totals(table, 50, np.random.default_rng(5), strata=np.array([0, 1, 0, 1, 0]))
    assert (drawn == 23).all()


def test_totals_do_not_depend_on_the_batch() -> None:
    table = np.random.default_rng(6).random((300, 2))
    once = bootstrap_totals(table, 64, np.random.default_rng(7))
    weights = cluster_weights(300, None, 64, np.random.default_rng(7))
    assert np.allclose(once, weights @ table)


def test_jackknife_scales_the_rest_of_the_stratum_up() -> None:
    # Stratum 0 holds 1, 2, 6 (total 9), stratum 1 holds 10, 30 (total 40), stratum 2 only 7.
    table = np.array([[1.0], [2.0], [6.0], [10.0], [30.0], [7.0]])
    left_out = jackknife_totals(table, strata=np.array([0, 0, 0, 1, 1, 2]))[:, 0]
    # Without the 1: (2 + 6) * 3/2 + 40 + 7; without the 10: 9 + 30 * 2 + 7; the 7 cannot vary.
    assert left_out.tolist() == pytest.approx([12 + 47, 10.5 + 47, 4.5 + 47, 9 + 60 + 7, 9 + 20 + 7, 56])


def test_percentile_is_the_quantile_and_counts_undefined_draws() -> None:
    draws = np.append(np.arange(101.0), [np.nan, np.inf])
    interval = percentile_interval(draws, level=0.9)
    assert (interval.low, interval.high) == pytest.approx((5.0, 95.0))
    assert (interval.draws, interval.undefined, interval.method) == (103, 2, "percentile")
    nothing = percentile_interval(np.full(10, np.nan))
    assert np.isnan(nothing.low)
    assert nothing.note == "the statistic is undefined on every draw"


def test_bca_without_bias_or_skew_is_the_percentile_interval() -> None:
    draws = np.arange(-500.0, 501.0)
    symmetric = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    bca = bca_interval(draws, 0.0, symmetric)
    plain = percentile_interval(draws)
    assert (bca.low, bca.high) == pytest.approx((plain.low, plain.high))


def test_bca_agrees_with_scipy() -> None:
    from scipy.stats import bootstrap

    sample = np.random.default_rng(8).exponential(size=40)
    theirs = bootstrap((sample,), np.mean, n_resamples=100_000, method="BCa", rng=9).confidence_interval
    table = np.column_stack([sample, np.ones(40)])
    _, _, ours = bootstrap_intervals(table, lambda t: t[:, :1] / t[:, 1:], 100_000, np.random.default_rng(10))
    # Both are Monte Carlo: the ends agree within five of their joint standard errors.
    assert ours[0].low == pytest.approx(theirs.low, abs=5 * 2**0.5 * ours[0].mc_error[0])
    assert ours[0].high == pytest.approx(theirs.high, abs=5 * 2**0.5 * ours[0].mc_error[1])


def test_bca_acceleration_with_strata_by_hand() -> None:
    """Davison and Hinkley (1997) eq. 5.23: a = sum l**3 / (6 (sum l**2)**1.5), l the influence over the stratum's size.

    For a total the influence of a cluster is n (x - mean of its stratum), so l is x - mean.
    """
    x = [np.array([0.0, 0.0, 3.0]), np.array([1.0, 5.0])]
    table = np.concatenate(x)[:, None]
    strata = np.array([0, 0, 0, 1, 1])
    jackknife = jackknife_totals(table, strata=strata)[:, 0]
    influence = np.concatenate([x[0] - 1, x[1] - 3])
    a = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    assert a == pytest.approx(6 / (6 * 14**1.5))  # cubes -1 -1 +8 -8 +8 = 6, squares 1 + 1 + 4 + 4 + 4 = 14
    draws = np.linspace(-10, 30, 40_001)
    from scipy.special import ndtr, ndtri

    z = ndtri(np.array([0.025, 0.975]))  # the point is the median of the draws, so z0 = 0
    expected = np.quantile(draws, ndtr(z / (1 - a * z)))
    bca = bca_interval(draws, 10.0, jackknife, strata=strata)
    assert (bca.low, bca.high) == pytest.approx(tuple(expected), abs=1e-3)


def test_bca_says_when_it_does_not_exist() -> None:
    one_sided = bca_interval(np.array([1.0, 2.0, 3.0]), 5.0, np.array([1.0, 2.0]))
    assert np.isnan(one_sided.low)
    assert "one side" in one_sided.note
    # Influences of 999 once and -1 999 times give a = 0.1664; with z0 = 0 no end exists at a z of 1/a = 6.01 and more.
    skewed = bca_interval(np.linspace(-1, 1, 11), 0.0, np.append(np.zeros(999), -1000.0), level=1 - 1e-10)
    assert np.isnan(skewed.high)
    assert "too skewed" in skewed.note
    constant = bca_interval(np.full(50, 2.0), 2.0, np.full(4, 2.0))
    assert (constant.low, constant.high, constant.note) == (2.0, 2.0, "")


def test_monte_carlo_errors_by_formula_and_by_repetition() -> None:
    draws = np.random.default_rng(11).normal(size=4000)
    assert mc_error_mean(draws) == pytest.approx(draws.std(ddof=1) / 4000**0.5)
    assert mc_error_share(0.2, 400) == pytest.approx(0.02)  # sqrt(0.2 * 0.8 / 400)


def test_monte_carlo_error_of_ends_is_what_repetition_shows() -> None:
    """300 repetitions of a bootstrap of 500 draws: the spread of each end against the error each claims (rms)."""
    sample = np.random.default_rng(5).exponential(size=40)
    table = np.column_stack([sample, np.ones(40)])
    ends, claims = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        _, [percentile], [bca] = bootstrap_intervals(table, lambda t: t[:, :1] / t[:, 1:], 500, rng)
        ends.append([percentile.low, percentile.high, bca.low, bca.high])
        claims.append([*percentile.mc_error, *bca.mc_error])
    ratio = np.sqrt(np.mean(np.square(claims), axis=0)) / np.std(ends, axis=0)
    # The spread of 300 values is known to 4 %; the claims run up to a fifth high in the tails of so few draws.
    assert ((ratio > 0.85) & (ratio < 1.3)).all(), ratio


def test_cluster_robust_interval_of_single_rows_is_students() -> None:
    from scipy.stats import t

    d = np.array([1.0, 0.0, -1.0, 1.0, 1.0, 0.0])
    interval = cluster_robust_interval(d, np.ones(6))
    reach = t.ppf(0.975, 5) * d.std(ddof=1) / 6**0.5
    assert (interval.low, interval.high) == pytest.approx((d.mean() - reach, d.mean() + reach))


def test_cluster_robust_interval_by_hand_with_strata() -> None:
    # Ratio (1 + 3 + 0 + 4) / (2 + 2 + 1 + 3) = 1; residuals -1, 1 | -1, 1; variance 2 * 2 + 2 * 2 = 8, over 8**2.
    interval = cluster_robust_interval(
        np.array([1.0, 3.0, 0.0, 4.0]), np.array([2.0, 2.0, 1.0, 3.0]), strata=np.array([0, 0, 1, 1])
    )
    reach = 4.302652729911275 * 8**0.5 / 8  # t quantile 0.975 at 4 clusters - 2 strata = 2 degrees of freedom
    assert (interval.low, interval.high) == pytest.approx((1 - reach, 1 + reach))


def test_cluster_robust_interval_says_what_it_lacks() -> None:
    assert "single cluster" in cluster_robust_interval(np.ones(1), np.ones(1)).note
    assert "no comparison" in cluster_robust_interval(np.zeros(3), np.zeros(3)).note


def test_strata_must_name_every_cluster() -> None:
    with pytest.raises(ValueError, match="got 2 strata for 3 clusters"):
        cluster_weights(3, np.array([0, 1]), 1, np.random.default_rng(0))
