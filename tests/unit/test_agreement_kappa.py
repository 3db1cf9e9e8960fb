"""Kappa and percent agreement on tables whose arithmetic fits in a comment."""

from __future__ import annotations

import numpy as np
import pytest
from countback.models.agreement import (
    disagreement_weights,
    label_counts,
    pairwise_kappa,
    percent_agreement,
    pool_kappa,
    table_kappa,
)
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def long(rows: list[str]) -> tuple[Codes, Codes, Codes]:
    """One string per item, one character per annotator: a digit is a label, "." is missing."""
    cells = [(i, a, int(c)) for i, row in enumerate(rows) for a, c in enumerate(row) if c != "."]
    item, annotator, label = np.array(cells).T
    return item, annotator, label


def test_counts_leave_missing_labels_out() -> None:
    counts = label_counts(np.array([0, 0, 2, 2]), np.array([1, 1, -1, 0]), 3, 2)
    assert counts.tolist() == [[0, 2], [0, 0], [1, 0]]


def test_percent_agreement_weighs_items_three_ways() -> None:
    # Items: AAB (1 of 3 pairs), AA (1 of 1), AB (0 of 1), A (no pair).
    counts = np.array([[2, 1], [2, 0], [1, 1], [1, 0]])
    found = percent_agreement(counts)
    assert (found.value, found.n_items, found.n_pairs, found.note) == (pytest.approx(2 / 5), 3, 5, "")
    assert percent_agreement(counts, weight="items").value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert percent_agreement(counts, weight="labels").value == pytest.approx((3 * 1 / 3 + 2 * 1 + 0) / 7)
    nothing = percent_agreement(np.array([[1, 0]]))
    assert np.isnan(nothing.value)
    assert (nothing.n_items, nothing.n_pairs, nothing.note) == (0, 0, "no item has two labels")


def test_codes_beyond_the_stated_number_are_refused() -> None:
    with pytest.raises(ValueError, match="item 0 and label 2; expected less than 1 and 2"):
        label_counts(np.array([0]), np.array([2]), 1, 2)
    with pytest.raises(ValueError, match="label code 2; expected codes less than 2"):
        pairwise_kappa(np.array([0]), np.array([0]), np.array([2]), 2)


def test_weights_follow_values() -> None:
    assert disagreement_weights(3, "none").tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert disagreement_weights(3, "linear").tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    values = np.array([1.0, 2.0, 5.0])
    assert disagreement_weights(3, "quadratic", values).tolist() == [[0, 1, 16], [1, 0, 9], [16, 9, 0]]


def test_kappa_by_hand() -> None:
    # 10 items: 4 AA, 3 BB, 2 AB, 1 BA. Agreement 0.7; by chance 0.6 * 0.5 + 0.4 * 0.5 = 0.5; kappa 0.2 / 0.5.
    kappa, observed, expected = table_kappa(np.array([[4, 2], [1, 3]]), disagreement_weights(2, "none"))
    assert (kappa, observed, expected) == (pytest.approx(0.4), pytest.approx(0.3), pytest.approx(0.5))


def test_fixed_categories_follow_the_value_observed_ones_the_rank() -> None:
    """Labels 0, 1 and 4 on items 00 11 44 01 14, quadratic; as ranks 0, 1, 2 the last two differ by one step."""
    item, annotator, label = long(["00", "11", "44", "01", "14"])
    fixed = pairwise_kappa(item, annotator, label, 5)
    observed = pairwise_kappa(item, annotator, label, 5, categories="observed")
    # Rows 0 1 4 0 1, columns 0 1 4 1 4. By value: Do = (1 + 9)/5 = 2; De is the mean over rows against all columns:
    # from 0 (1 + 16 + 1 + 16)/5 = 34/5 twice, from 1 (1 + 9 + 9)/5 = 19/5 twice, from 4 (16 + 9 + 9)/5 = 34/5.
    assert fixed.kappa.tolist() == pytest.approx([1 - 2 / ((3 * 34 + 2 * 19) / 25)])
    # By rank: Do = 2/5; from 0 (1 + 4 + 1 + 4)/5 = 10/5 twice, from 1 (1 + 0 + 1 + 0 + 1)/5 = 3/5 twice, from 2
    # (4 + 1 + 0 + 1 + 0)/5 = 6/5.
    assert observed.kappa.tolist() == pytest.approx([1 - (2 / 5) / ((2 * 10 + 2 * 3 + 6) / 25)])


def test_pairs_and_their_poolings_by_hand() -> None:
    """Three annotators, nominal. Pair 01 on items 1-4: 00 11 01 11, pair 02 on items 1-2: 00 10, pair 12: 00 10.

    01: Do 1/4, De 1/2 (rows 0 1 0 1, columns 0 1 1 1: 1/2 * 3/4 + 1/2 * 1/4), kappa 1/2.
    02 and 12: Do 1/2, De 1/2 (rows 0 1, columns 0 0), kappa 0.
    """
    item, annotator, label = long(["000", "110", "01.", "11."])
    pairs = pairwise_kappa(item, annotator, label, 2, weights="none")
    assert list(zip(pairs.first, pairs.second, pairs.n, strict=True)) == [(0, 1, 4), (0, 2, 2), (1, 2, 2)]
    assert pairs.kappa.tolist() == pytest.approx([0.5, 0.0, 0.0])
    pooled = pool_kappa(pairs, weights="none")
    assert pooled.mean == pytest.approx(0.5 / 3)
    assert pooled.weighted == pytest.approx(0.5 * 4 / 8)
    assert pooled.median == 0
    assert pooled.ratio == pytest.approx(1 - (1 / 4 + 1 / 2 + 1 / 2) / (3 / 2))
    # The 8 pairs, both ways round: 00 11 01 11, 00 10, 00 10: label 0 nine times of 16, 1 seven times, 3 pairs unequal.
    assert pooled.table == pytest.approx(1 - (3 / 8) / (2 * 9 * 7 / 256))
    assert (pooled.pairs, pooled.undefined, pooled.n) == (3, 0, 8)
    assert pooled.agreement == pytest.approx(5 / 8)


def test_few_shared_items_leave_a_pair_out() -> None:
    item, annotator, label = long(["000", "110", "01.", "11."])
    pairs = pairwise_kappa(item, annotator, label, 2, min_shared=3)
    assert (pairs.first.tolist(), pairs.second.tolist(), pairs.too_few) == ([0], [1], 2)


def test_an_undefined_pair_says_so_and_contributes_what_is_asked() -> None:
    # Annotators 0 and 1 use one label only; 0-2 and 1-2 disagree now and then, with kappa 0.
    item, annotator, label = long(["000", "001", "000"])
    pairs = pairwise_kappa(item, annotator, label, 2)
    assert np.isnan(pairs.kappa).tolist() == [True, False, False]
    assert pairs.agreement.tolist() == pytest.approx([1, 2 / 3, 2 / 3])
    assert pool_kappa(pairs).mean == pytest.approx(0)
    assert pool_kappa(pairs).undefined == 1
    assert pool_kappa(pairs, undefined=1.0).mean == pytest.approx(1 / 3)
    assert pool_kappa(pairs, undefined=0.0).pairs == 3


def test_nothing_to_pool_is_a_note_not_a_number() -> None:
    constant = pool_kappa(pairwise_kappa(*long(["11", "11"]), 3))
    assert np.isnan([constant.mean, constant.weighted, constant.median, constant.ratio, constant.table]).all()
    assert (constant.note, constant.n, constant.agreement) == ("every pair used one and the same label", 2, 1.0)
    alone = pool_kappa(pairwise_kappa(*long(["1.", ".0"]), 2))
    assert alone.note == "no pair shares enough items"
    assert (alone.pairs, alone.n) == (0, 0)
    nobody = pool_kappa(pairwise_kappa(*(np.empty(0, np.int64),) * 3, 2))
    assert nobody.note == "no pair shares enough items"


def test_a_second_label_by_one_annotator_is_refused() -> None:
    with pytest.raises(ValueError, match="more than once"):
        pairwise_kappa(np.array([0, 0]), np.array([1, 1]), np.array([0, 1]), 2)
