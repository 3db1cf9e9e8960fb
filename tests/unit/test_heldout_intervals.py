"""Intervals of judge less human: what is resampled, what is recounted, and what is said when nothing can be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from countback.models.agreement import disagreement_weights, table_kappa
from countback.models.heldout import HeldOut, held_out, judge_differences, kappa_difference, reference_tables
from countback.models.resampling import mc_error_quantile

from .test_heldout_counts import untidy


def counts(n: list[int], human: list[int], judge: list[int], labels: list[int] | None = None) -> HeldOut:
    zero = np.zeros(len(n))
    parts = (np.array(part, np.float64) for part in (n, human))
    shown = np.array(labels if labels else np.maximum(n, 1), np.float64)
    return HeldOut("skip", shown, zero, zero, *parts, np.array(judge, np.float64)[:, None], zero[:, None])


def test_n_is_recounted_in_each_resample() -> None:
    """Three items with n 1, 4, 5: the 27 resamples' differences, ratio by ratio, give the interval's ends."""
    n, human, judge = [1, 4, 5], [1, 1, 3], [0, 3, 5]
    [found] = judge_differences(counts(n, human, judge), 200_000, np.random.default_rng(1))
    assert (found.value, found.n, found.clusters, found.seed) == (pytest.approx(3 / 10), 10, 3, 1)
    picks = [list(pick) for pick in itertools.product(range(3), repeat=3)]
    gain = np.array(judge) - np.array(human)
    every = sorted(gain[pick].sum() / np.array(n)[pick].sum() for pick in picks)
    # 1/27 = 0.037 > 0.025: the ends are the most extreme resamples.
    assert (found.percentile.low, found.percentile.high) == pytest.approx((every[0], every[-1]))
    assert every[0] == -1


def test_strata_and_clusters() -> None:
    # Two countries with items all alike: resampling within a country changes nothing, across them it does.
    result = counts([5] * 6, [5, 5, 5, 0, 0, 0], [5, 5, 5, 5, 5, 5])
    country = np.array([0, 0, 0, 1, 1, 1])
    [within] = judge_differences(result, 300, np.random.default_rng(2), country=country)
    assert (within.percentile.low, within.percentile.high) == pytest.approx((0.5, 0.5))
    [across] = judge_differences(result, 300, np.random.default_rng(2))
    assert across.percentile.low < 0.5 < across.percentile.high
    [clustered] = judge_differences(result, 300, np.random.default_rng(2), country=country, cluster=country)
    assert (clustered.value, clustered.clusters) == (0.5, 2)
    for ends in (clustered.percentile, clustered.bca):  # one cluster a country: no resample differs from the data
        assert np.isnan([ends.low, ends.high]).all()
        assert ends.note == "a single cluster says nothing about its own variation"
    with pytest.raises(ValueError, match="cluster lies in two strata"):
        judge_differences(result, 10, np.random.default_rng(3), country=country, cluster=np.arange(6) % 2)


def test_items_without_labels_are_no_part_of_the_sample() -> None:
    plain = counts([5, 3], [4, 1], [5, 3])
    padded = counts([5, 0, 3, 0], [4, 0, 1, 0], [5, 0, 3, 0], labels=[5, 0, 3, 0])
    for one, other in zip(
        judge_differences(plain, 500, np.random.default_rng(4)),
        judge_differences(padded, 500, np.random.default_rng(4)),
        strict=True,
    ):
        assert one == other


def test_an_undefined_difference_is_nan_with_a_note() -> None:
    [found] = judge_differences(counts([0, 0], [0, 0], [0, 0]), 50, np.random.default_rng(5))
    assert np.isnan(found.value)
    assert found.percentile.note == "the statistic is undefined on every draw"
    assert found.bca.note
    assert found.robust is not None
    assert found.robust.note == "no comparison at all"
    nothing = judge_differences(counts([], [], []), 50, np.random.default_rng(6))
    assert np.isnan(nothing[0].value)


def test_the_same_generator_gives_the_same_interval() -> None:
    item, annotator, label, judges = untidy(7)
    result = held_out(item, annotator, label, judges, labels=4)
    first = judge_differences(result, 400, np.random.default_rng(8))
    again = judge_differences(result, 400, np.random.default_rng(8))
    other = judge_differences(result, 400, np.random.default_rng(9))
    assert first == again
    assert first[0].percentile != other[0].percentile


def test_kappa_difference_resamples_items() -> None:
    """Against resampling by copying rows: each draw's items taken one by one and their tables added up."""
    item, annotator, label, judges = untidy(10)
    tables = reference_tables(item, annotator, label, judges[0], labels=4)
    weights = disagreement_weights(4)
    found = kappa_difference(tables, weights, 40_000, np.random.default_rng(11))
    human, judge = table_kappa(tables.sum(axis=0), weights)[0]
    assert found.value == pytest.approx(judge - human)
    used = tables[tables.sum(axis=(1, 2, 3)) > 0]
    rng = np.random.default_rng(12)
    copied = []
    for _ in range(10_000):
        human, judge = table_kappa(used[rng.integers(0, len(used), len(used))].sum(axis=0), weights)[0]
        copied.append(judge - human)
    shares = np.array([0.025, 0.975])
    low, high = np.quantile(copied, shares)
    error = np.hypot(mc_error_quantile(np.array(copied), shares), found.percentile.mc_error)
    assert found.percentile.low == pytest.approx(low, abs=4 * error[0])
    assert found.percentile.high == pytest.approx(high, abs=4 * error[1])
    assert found.robust is None
    assert found.clusters == len(used)
