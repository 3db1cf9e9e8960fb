"""What must hold of kappa and alpha whatever the labels are; brute force on small tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from countback.models.agreement import (
    Level,
    alpha_of,
    coincidences,
    krippendorff_alpha,
    label_counts,
    pairwise_kappa,
    percent_agreement,
    pool_kappa,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

LABELS = 4
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
tables = arrays(np.int64, st.tuples(st.integers(1, 9), st.integers(2, 5)), elements=st.integers(-1, LABELS - 1))


def long(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    item, annotator = np.divmod(np.arange(table.size), table.shape[1])
    return item, annotator, table.ravel()


def counts_of(table: NDArray[np.int64]) -> NDArray[np.int64]:
    item, _, label = long(table)
    return label_counts(item, label, len(table), LABELS)


@given(tables, st.integers(0, 2**32 - 1))
def test_names_of_items_and_annotators_do_not_matter(table: NDArray[np.int64], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = table[rng.permutation(len(table))][:, rng.permutation(table.shape[1])]
    for level in LEVELS:
        one, other = (krippendorff_alpha(counts_of(t), level) for t in (table, shuffled))
        assert one.value == pytest.approx(other.value, nan_ok=True)
        assert (one.n_items, one.n_labels, one.note) == (other.n_items, other.n_labels, other.note)
    mine, theirs = (pool_kappa(pairwise_kappa(*long(t), LABELS)) for t in (table, shuffled))
    for name in ("mean", "weighted", "median", "ratio", "table", "agreement"):
        assert getattr(mine, name) == pytest.approx(getattr(theirs, name), nan_ok=True)


@given(tables, st.permutations(range(LABELS)))
def test_nominal_statistics_ignore_the_names_of_labels(table: NDArray[np.int64], order: list[int]) -> None:
    renamed = np.array([*order, -1])[table]
    one, other = (krippendorff_alpha(counts_of(t), "nominal").value for t in (table, renamed))
    assert one == pytest.approx(other, nan_ok=True)
    kappas = [pairwise_kappa(*long(t), LABELS, weights="none").kappa.tolist() for t in (table, renamed)]
    assert kappas[0] == pytest.approx(kappas[1], nan_ok=True)


@given(tables)
def test_turning_the_scale_round_changes_no_ordered_statistic(table: NDArray[np.int64]) -> None:
    turned = np.where(table < 0, -1, LABELS - 1 - table)
    for level in LEVELS:
        one, other = (krippendorff_alpha(counts_of(t), level).value for t in (table, turned))
        assert one == pytest.approx(other, nan_ok=True)


@given(arrays(np.int64, st.integers(2, 12), elements=st.integers(0, LABELS - 1)), st.integers(2, 5))
def test_identical_raters_agree_perfectly(labels: NDArray[np.int64], raters: int) -> None:
    table = np.tile(labels[:, None], raters)
    pooled = pool_kappa(pairwise_kappa(*long(table), LABELS))
    for level in LEVELS:
        alpha = krippendorff_alpha(counts_of(table), level)
        assert alpha.agreement == pytest.approx(1)
        if len(set(labels.tolist())) > 1:
            assert alpha.value == pytest.approx(1)
            assert pooled.mean == pytest.approx(1)
        else:
            assert np.isnan([alpha.value, pooled.mean]).all()
            assert alpha.note
            assert pooled.note
    assert percent_agreement(counts_of(table)).value == pytest.approx(1)


@given(tables)
def test_alpha_equals_its_definition(table: NDArray[np.int64]) -> None:
    """1 - Do / De over all ordered pairs of pairable labels, the ordinal distance summed label by label."""
    units = [[int(x) for x in row if x >= 0] for row in table]
    units = [unit for unit in units if len(unit) > 1]
    pool = list(itertools.chain(*units))
    n = [pool.count(label) for label in range(LABELS)]

    def distance(a: int, b: int, level: Level) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        return (sum(n[low : high + 1]) - (n[low] + n[high]) / 2) ** 2

    for level in LEVELS:
        found = krippendorff_alpha(counts_of(table), level)
        within = sum(
            distance(a, b, level) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)
        )
        overall = sum(distance(a, b, level) for a, b in itertools.permutations(pool, 2))
        if overall:
            expected = 1 - (within / len(pool)) / (overall / (len(pool) * (len(pool) - 1)))
            assert found.value == pytest.approx(expected)
            assert alpha_of(coincidences(counts_of(table)).sum(axis=0), level) == pytest.approx(expected)
        else:
            assert np.isnan(found.value)
            assert found.note


@given(tables)
def test_kappa_equals_its_definition(table: NDArray[np.int64]) -> None:
    """One minus the mean squared difference over its mean under shuffling one annotator's labels, pair by pair."""
    pairs = pairwise_kappa(*long(table), LABELS)
    found = dict(zip(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True), pairs.kappa, strict=True))
    for a, b in itertools.combinations(range(table.shape[1]), 2):
        shared = table[(table[:, a] >= 0) & (table[:, b] >= 0)]
        if not len(shared):
            assert (a, b) not in found
            continue
        observed = float(((shared[:, a] - shared[:, b]) ** 2).mean())
        expected = float((np.subtract.outer(shared[:, a], shared[:, b]) ** 2).mean())
        assert found[a, b] == pytest.approx(1 - observed / expected if expected else np.nan, nan_ok=True)


@given(tables, st.floats(-3, 3), st.floats(0.1, 5))
def test_interval_alpha_ignores_origin_and_unit(table: NDArray[np.int64], origin: float, unit: float) -> None:
    values = origin + unit * np.arange(LABELS)
    one = krippendorff_alpha(counts_of(table), "interval").value
    other = krippendorff_alpha(counts_of(table), "interval", values=values).value
    assert one == pytest.approx(other, rel=1e-6, abs=1e-9, nan_ok=True)
