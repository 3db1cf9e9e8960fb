"""What must hold of every resample and interval."""

from __future__ import annotations

import numpy as np
import pytest
from countback.models.resampling import (
    bca_interval,
    bootstrap_intervals,
    bootstrap_totals,
    cluster_weights,
    jackknife_totals,
    percentile_interval,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

strata_codes = arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 3))
seeds = st.integers(0, 2**32 - 1)


@given(strata_codes, seeds)
def test_strata_keep_their_sizes(strata: NDArray[np.int64], seed: int) -> None:
    weights = cluster_weights(len(strata), strata, 7, np.random.default_rng(seed))
    for code in np.unique(strata):
        assert (weights[:, strata == code].sum(axis=1) == (strata == code).sum()).all()
    # The totals of stratum sizes are therefore the same on every draw, by either way of drawing.
    table = np.eye(4)[strata]
    totals = bootstrap_totals(table, 7, np.random.default_rng(seed), strata=strata)
    assert (totals == table.sum(axis=0)).all()
    assert np.allclose(jackknife_totals(table, strata=strata), table.sum(axis=0))


@given(arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e3, 1e3)), st.floats(0.5, 0.99))
def test_percentile_intervals_are_ordered_and_within_the_draws(draws: NDArray[np.float64], level: float) -> None:
    interval = percentile_interval(draws, level=level)
    assert draws.min() <= interval.low <= interval.high <= draws.max()
    wider = percentile_interval(draws, level=(1 + level) / 2)
    assert wider.low <= interval.low
    assert wider.high >= interval.high


@given(arrays(np.float64, st.integers(3, 25), elements=st.floats(-100, 100, width=16)), seeds)
def test_shifting_and_scaling_the_data_does_so_to_the_interval(sample: NDArray[np.float64], seed: int) -> None:
    def mean(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return totals[:, :1] / totals[:, 1:]

    plain = np.column_stack([sample, np.ones(len(sample))])
    moved = np.column_stack([5 * sample + 7, np.ones(len(sample))])
    _, [one], _ = bootstrap_intervals(plain, mean, 60, np.random.default_rng(seed))
    _, [other], _ = bootstrap_intervals(moved, mean, 60, np.random.default_rng(seed))
    assert (other.low, other.high) == pytest.approx((5 * one.low + 7, 5 * one.high + 7), abs=1e-6)


@given(arrays(np.float64, st.integers(5, 80), elements=st.floats(-10, 10)), st.floats(-10, 10))
def test_bca_is_an_interval_or_says_why_not(draws: NDArray[np.float64], point: float) -> None:
    interval = bca_interval(draws, point, draws[:5])
    if interval.note:
        assert np.isnan(interval.low)
        assert (draws < point).all() or (draws > point).all()
    else:
        assert draws.min() <= interval.low <= interval.high <= draws.max()
