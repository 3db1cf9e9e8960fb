"""Episode means, slices, and differences: hand arithmetic, plain resampling, simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.episodes import composite, episode_means, group_difference, paired_difference, slice_means

NAN = float("nan")


def test_means_with_gaps_by_hand() -> None:
    values = np.array([[[1.0, 2.0, NAN], [5.0, 5.0, 2.0]], [[NAN, NAN, NAN], [1.0, 0.0, 1.0]]])
    result = episode_means(values, draws=100, rng=np.random.default_rng(1))
    np.testing.assert_allclose(result.values, [[1.5, 4.0], [NAN, 2 / 3]])
    assert result.n.tolist() == [[2, 3], [0, 3]]
    assert dict(result.dropped) == {"value missing": 4}
    nothing = result.estimate(1, 0)
    assert nothing.interval is None
    assert nothing.note
    # The first mean does not exist in resamples that hold only the third episode: 1/27 of them.
    gap = result.estimate(0, 0)
    assert gap.interval is not None
    assert gap.interval.undefined == np.isnan(result.samples[:, 0, 0]).sum() > 0


def test_intervals_against_copied_episodes() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(1, 6, (2, 400)).astype(float)
    result = episode_means(values, draws=4000, rng=np.random.default_rng(6))
    picked = np.random.default_rng(7).integers(0, 400, (4000, 400))
    copies = values[:, picked].mean(axis=2).T
    np.testing.assert_allclose(result.bounds(), np.quantile(copies, [0.025, 0.975], axis=0), atol=0.012)
    difference = result.difference(0, 1)
    paired = copies[:, 0] - copies[:, 1]
    assert difference.interval is not None
    assert (difference.interval.low, difference.interval.high) == pytest.approx(
        tuple(np.quantile(paired, [0.025, 0.975])), abs=0.02
    )


def test_models_are_compared_on_the_same_resamples() -> None:
    base = np.random.default_rng(1).normal(size=50)
    result = episode_means(np.stack([base, base + 0.25]), draws=100, rng=np.random.default_rng(2))
    shift = result.difference(1, 0)
    assert shift.value == pytest.approx(0.25)
    assert shift.interval is not None
    assert (shift.interval.low, shift.interval.high) == pytest.approx((0.25, 0.25))


def test_clusters_are_resampled_whole() -> None:
    values, cluster = np.array([0.0, 0.0, 1.0, 1.0]), np.array([7, 7, 3, 3])
    samples = episode_means(values, cluster=cluster, draws=400, rng=np.random.default_rng(2)).samples
    assert set(np.unique(samples)) == {0.0, 0.5, 1.0}


def test_composite_is_missing_where_a_member_is() -> None:
    values = np.array([[1.0, 2.0], [3.0, NAN], [5.0, 5.0]])
    np.testing.assert_array_equal(composite(values, [0, 1]), [2.0, NAN])
    np.testing.assert_array_equal(composite(values, [0, 2]), [3.0, 3.5])


def test_slices_by_hand() -> None:
    values = np.array([1.0, 2.0, 3.0, 5.0, NAN, 4.0])
    group = np.array([0, 0, 1, 1, 1, -1])
    result = slice_means(values, group, 3, draws=50, rng=np.random.default_rng(1))
    np.testing.assert_allclose(result.means.values, [1.5, 4.0, NAN])
    assert result.means.n.tolist() == [2, 2, 0]
    assert dict(result.means.dropped) == {"value missing": 1, "no group": 1}
    assert result.spread.value == 2.5
    # variances of the means: 0.5 / 2 and 2 / 2 = 0.625 on average; observed variance of 1.5 and 4: 3.125
    assert result.corrected.observed == pytest.approx(3.125)
    exact = slice_means(values, group, 3, draws=40_000, rng=np.random.default_rng(1)).corrected
    assert exact.noise == pytest.approx(0.625, rel=0.03)
    assert exact.variance == pytest.approx(3.125 - exact.noise)


def test_a_range_without_true_differences_is_read_as_noise() -> None:
    rng = np.random.default_rng(3)
    values, group = rng.normal(4, 1, 6000), np.arange(6000) % 30
    result = slice_means(values, group, 30, draws=500, rng=rng)
    # E range of 30 normals with sd 1 / sqrt(200) is 4.085 x 0.0707 = 0.289
    assert result.noise_range[0] == pytest.approx(0.289, abs=0.03)
    assert result.spread.value < result.noise_range[1] * 1.2
    assert result.spread.interval is not None
    assert result.spread.interval.low == 0.0
    assert result.corrected.sd < 0.03


def test_paired_differences_by_hand() -> None:
    # Seed 1: mean(4, 2) - 1 = 2; seed 2: 5 - 3 = 2; seed 3: 1 - 5 = -4. Seeds 4 and 5 have one side only.
    native, seed = np.array([4.0, 2.0, 5.0, 1.0, 3.0, NAN]), np.array([1, 1, 2, 3, 4, 2])
    english, other = np.array([1.0, 3.0, 5.0, 2.0, NAN, NAN]), np.array([1, 2, 3, 5, 1, 3])
    result = paired_difference(native, seed, english, other, draws=200, rng=np.random.default_rng(1))
    assert result.value == pytest.approx((2 + 2 - 4) / 3)
    assert (result.n, result.unit) == (3, "seeds")
    assert dict(result.dropped) == {"value missing": 1 + 2, "seed without a value on the other side": 2}
    with pytest.raises(UserError, match="None of 2 seeds"):
        paired_difference(native[:1], seed[:1], english[1:2], other[1:2], draws=5, rng=np.random.default_rng(1))


def test_trap_delta_by_hand() -> None:
    values, trap = np.array([4.0, 4.0, 5.0, 3.0, 3.5]), np.array([False, False, False, True, True])
    result = group_difference(values, trap, draws=200, rng=np.random.default_rng(1))
    assert result.value == pytest.approx(3.25 - 13 / 3)
    assert result.interval is not None
    assert result.interval.low <= result.value <= result.interval.high
