"""Median seconds, fast against slow labels, rollout gaps: by hand, by plain resampling, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.timing import fast_slow, median_seconds, rollout_gap
from scipy.stats import ttest_ind

NAN = float("nan")


def test_medians_by_hand() -> None:
    seconds = np.array([10.0, 30.0, 20.0, NAN, 5.0, 7.0, 100.0, 8.0])
    group = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    result = median_seconds(seconds, group, 3, item=np.arange(8), draws=50, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(result.values, [20.0, 7.5, NAN])
    assert result.n.tolist() == [3, 4, 0]
    assert dict(result.dropped) == {"seconds unknown": 1}
    assert result.strata == 3


def test_median_draws_are_medians_of_copied_rows() -> None:
    # Two items of two labels: resamples 11, 12 or 21, 22 hold 10 10 20 20, 10 20 30 80, 30 30 80 80.
    seconds, item = np.array([10.0, 20.0, 30.0, 80.0]), np.array([0, 0, 1, 1])
    result = median_seconds(
        seconds, np.zeros(4, int), 1, item=item, draws=4000, rng=np.random.default_rng(1)
    )
    values, counts = np.unique(result.samples, return_counts=True)
    assert values.tolist() == [15.0, 25.0, 55.0]
    np.testing.assert_allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.03)


#            item 0: A A B      item 1: A B      item 2: C C C (the third invalid)
ITEM = np.array([0, 0, 0, 1, 1, 2, 2, 2])
ANNOTATOR = np.array([0, 1, 2, 0, 1, 0, 1, 2])
LABEL = np.array([0, 0, 1, 0, 1, 2, 2, -1])
SECONDS = np.array([1.0, 2.0, 9.0, 3.0, 8.0, NAN, 7.0, 4.0])


def test_fast_and_slow_by_hand() -> None:
    result = fast_slow(ITEM, ANNOTATOR, LABEL, SECONDS, 3, draws=100, rng=np.random.default_rng(1))
    # Others of item 0: {A B} tied, {A B} tied, {A A}: A against B, miss. Item 1: B against A, miss; miss. Item 2: C, C
    # hits, of which one has no time. Median of the seven times is 4: fast 3 (miss); slow 9 (miss), 8 (miss), 7 (hit).
    assert (result.fast.value, result.fast.n) == (0.0, 1)
    assert (result.slow.value, result.slow.n) == (pytest.approx(1 / 3), 3)
    assert result.difference.value == pytest.approx(-1 / 3)
    assert dict(result.fast.dropped) == {"invalid label": 1, "others tied": 2, "seconds unknown": 1}
    assert result.low.tolist() == result.high.tolist() == [4.0]


def test_agreement_with_peers_and_outer_thirds() -> None:
    result = fast_slow(
        ITEM, ANNOTATOR, LABEL, SECONDS, 3, agreement="peers", cut=(0.25, 0.75), draws=100, rng=np.random.default_rng(1)
    )
    # Times 1 2 3 4 7 8 9: quartiles 2.5 and 7.5. Fast 1, 2: each agrees with one of two peers; slow 8, 9: with none.
    assert (result.fast.value, result.slow.value) == (0.5, 0.0)
    assert dict(result.fast.dropped)["between the cuts"] == 2


def test_a_time_at_the_cut_is_fast_and_only_fast() -> None:
    # Two annotators agree on every item; times 1 2 2 3 have the median 2.
    item, annotator, label = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.zeros(4, int)
    result = fast_slow(item, annotator, label, np.array([1.0, 2, 2, 3]), 2, draws=5, rng=np.random.default_rng(1))
    assert (result.fast.n, result.slow.n) == (3, 1)


def test_cuts_within_groups() -> None:
    # Cut per annotator: 0 gave 1, 3 (and one unknown), 1 gave 2, 8, 7, 2 gave 9, 4
    result = fast_slow(
        ITEM, ANNOTATOR, LABEL, SECONDS, 3, within=ANNOTATOR, draws=20, rng=np.random.default_rng(1)
    )
    assert result.low.tolist() == [2.0, 7.0, 6.5]


def test_an_annotator_who_labelled_twice_is_left_out_whole() -> None:
    item, annotator, label = np.zeros(4, int), np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])
    result = fast_slow(item, annotator, label, np.array([1.0, 2, 3, 4]), 2, draws=5, rng=np.random.default_rng(1))
    # Annotator 0's two A's face B B (misses). Annotator 1 faces A A B, annotator 2 the same: misses.
    assert (result.fast.value, result.slow.value) == (0.0, 0.0)
    assert result.fast.n == result.slow.n == 2
    assert result.fast.dropped == ()


def test_gap_with_one_culture_is_welchs_t() -> None:
    rng = np.random.default_rng(1)
    base, other = rng.normal(8, 1, 9), rng.normal(3, 2, 12)
    score, culture = np.concatenate([base, other]), np.repeat([5, 2], [9, 12])
    estimate, welch = rollout_gap(score, culture, 5, draws=4000, rng=rng)
    expected = ttest_ind(base, other, equal_var=False).confidence_interval()
    assert estimate.value == pytest.approx(base.mean() - other.mean())
    assert (welch.low, welch.high) == pytest.approx((expected.low, expected.high))
    assert estimate.interval is not None
    assert welch.low < estimate.interval.low < estimate.value < estimate.interval.high < welch.high


def test_gap_weighs_cultures_equally() -> None:
    # Baseline 8; culture 1 has mean 2 over one rollout, culture 2 mean 4 over three: 8 - (2 + 4) / 2 = 5
    score, culture = np.array([8.0, 8.0, 2.0, 4.0, 3.0, 5.0, NAN]), np.array([0, 0, 1, 2, 2, 2, 2])
    estimate, welch = rollout_gap(score, culture, 0, draws=50, rng=np.random.default_rng(1))
    assert estimate.value == pytest.approx(5.0)
    assert (estimate.n, dict(estimate.dropped)) == (6, {"score missing": 1})
    assert np.isnan(welch.low)
    assert welch.note


def test_a_gap_needs_both_sides() -> None:
    with pytest.raises(UserError, match="any baseline"):
        rollout_gap(np.array([1.0]), np.array([1]), 0, draws=5, rng=np.random.default_rng(1))
    with pytest.raises(UserError, match="any culture"):
        rollout_gap(np.array([1.0]), np.array([0]), 0, draws=5, rng=np.random.default_rng(1))


def test_rollouts_of_one_variation_are_resampled_together() -> None:
    # Within each side two variations of twenty equal rollouts: the baseline's draws have mean 0, 1/2, 1/2 or 1. Forty
    # rollouts drawn one by one would have a mean within 0.16 of 1/2 in 95% of draws.
    score = np.repeat([1.0, 0.0, 5.0, 5.0], 20)
    culture, variation = np.repeat([0, 1], 40), np.repeat([0, 1, 0, 1], 20)
    estimate, _ = rollout_gap(score, culture, 0, cluster=variation, draws=300, rng=np.random.default_rng(1))
    assert estimate.interval is not None
    assert (estimate.interval.low, estimate.interval.high) == (-5.0, -4.0)
    # Each side keeps its two variations, so none ever comes out empty.
    assert estimate.interval.undefined == 0
