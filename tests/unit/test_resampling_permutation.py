"""The permutation engine against full enumeration."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from countback.models.resampling import permutation_pvalue, permutation_test, permuted_rows
from numpy.typing import NDArray


def test_rows_are_shuffles_within_strata() -> None:
    codes = np.array([0, 1, 2, 10, 11])
    strata = np.array([0, 0, 0, 1, 1])
    rows = np.concatenate(list(permuted_rows(codes, 60_000, np.random.default_rng(1), strata=strata)))
    seen = Counter(map(tuple, rows.tolist()))
    possible = {(*a, *b) for a in itertools.permutations([0, 1, 2]) for b in itertools.permutations([10, 11])}
    assert set(seen) == possible
    # 12 equally likely rows, 5,000 of each expected, standard deviation 68.
    assert max(abs(count - 5000) for count in seen.values()) < 4 * 68


def test_p_value_counts_ties_and_the_observed_itself() -> None:
    assert permutation_pvalue(2.0, np.array([1.0, 2.0, 3.0, 0.0])) == 3 / 5
    # 0.1 + 0.2 is not 0.3 in binary; a permuted sum that differs only so is a tie.
    assert permutation_pvalue(0.1 + 0.2, np.array([0.3])) == 1.0
    assert permutation_pvalue(5.0, np.zeros(99)) == 1 / 100


def test_what_does_not_exist_has_no_small_p() -> None:
    """No draw compares with NaN, and none of 99 would else be p = 1/100."""
    assert np.isnan(permutation_pvalue(np.nan, np.zeros(99)))


def test_test_agrees_with_enumeration() -> None:
    """Difference of group means for groups of 3 and 4: of the 35 ways to choose 3 of 7, count those at least as far."""
    values = np.array([5.0, 4.0, 4.5, 1.0, 2.0, 3.0, 4.2])
    group = np.array([1, 1, 1, 0, 0, 0, 0])

    def difference(rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray((rows @ values) / 3 - ((1 - rows) @ values) / 4)

    every = [
        sum(values[list(chosen)]) / 3 - (values.sum() - sum(values[list(chosen)])) / 4
        for chosen in itertools.combinations(range(7), 3)
    ]
    observed = every[0]
    exact = sum(value >= observed - 1e-9 for value in every) / 35
    result = permutation_test(difference, group, 20_000, np.random.default_rng(2))
    assert result.observed == pytest.approx(observed)
    assert result.p == (result.at_least + 1) / 20_001
    assert result.p == pytest.approx(exact, abs=4 * result.mc_error)
    assert result.mc_error == pytest.approx((exact * (1 - exact) / 20_000) ** 0.5, rel=0.1)
