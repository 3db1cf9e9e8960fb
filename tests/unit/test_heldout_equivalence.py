"""Alpha difference and equivalent raters: definitions in loops, hand arithmetic, undefined cases."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from countback.models.agreement import krippendorff_alpha
from countback.models.equivalence import alpha_difference, equivalent_raters, power_curve


def curve_by_subsets(items: list[list[int]], raters: int) -> list[float]:
    """v(k) from every k-subset of raters and every rater outside it, ties sharing one point evenly."""
    curve = []
    for k in range(1, raters):
        means = []
        for labels in items:
            scores = []
            for chosen in itertools.combinations(range(len(labels)), k):
                votes = Counter(labels[i] for i in chosen)
                top = [label for label, count in votes.items() if count == max(votes.values())]
                scores += [(labels[r] in top) / len(top) for r in range(len(labels)) if r not in chosen]
            means.append(np.mean(scores))
        curve.append(float(np.mean(means)))
    return curve


def test_curve_equals_enumeration_of_subsets() -> None:
    rng = np.random.default_rng(1)
    items = [rng.integers(0, 4, rng.integers(5, 8)).tolist() for _ in range(25)]
    counts = np.array([[labels.count(k) for k in range(4)] for labels in items])
    found = power_curve(counts, 5)
    assert found[0] == 1 / 4
    assert found[1:].tolist() == pytest.approx(curve_by_subsets(items, 5))


def test_many_raters_and_labels_stay_exact() -> None:
    # 60 raters split 30-30: one rater predicts another with 29/59 + ... = (30 * 29 * 2) / (60 * 59).
    curve = power_curve(np.array([[30, 30]]), 60)
    assert curve[1] == pytest.approx(29 / 59)
    # 59 raters with one left: the left one belongs to the smaller side of 30-29, so the plurality always misses.
    assert curve[59] == pytest.approx(0)
    # 40 raters all different: no label outside a subset equals one inside it.
    assert power_curve(np.ones((1, 40), np.int64), 40)[1:].tolist() == [0] * 39


def test_equivalence_by_hand() -> None:
    """Items AAB and AAA. v(1): AAB 1/3 of ordered pairs equal, AAA 1: 2/3. v(2): AAB: AA predicts B (0), AB twice
    predicts A by half: 1/3; AAA 1: 2/3. v(0) = 1/2. A judge with A on both scores (2/3 + 1)/2 = 5/6: capped at 2.
    """
    counts = np.array([[2, 1], [3, 0]])
    capped = equivalent_raters(counts, np.array([0, 0]))
    assert capped.curve.tolist() == pytest.approx([1 / 2, 2 / 3, 2 / 3])
    assert (capped.score, capped.value, capped.capped) == (pytest.approx(5 / 6), 2, True)
    # With B on the first and A on the second it scores (1/3 + 1)/2 = 2/3: exactly one rater.
    one = equivalent_raters(counts, np.array([1, 0]))
    assert (one.value, one.capped) == (pytest.approx(1), False)
    # No label on the first scores nothing there: (0 + 1)/2 = 1/2, as good as a label drawn evenly.
    none = equivalent_raters(counts, np.array([-1, 0]))
    assert (none.value, none.missing) == (0, 1)


def test_halfway_between_two_points_of_the_curve() -> None:
    # v(0) = 1/2 and v(1) = 1 (all agree); the judge hits on 3 of 4 items.
    counts = np.array([[2, 0], [2, 0], [0, 2], [0, 2]])
    found = equivalent_raters(counts, np.array([0, 0, 1, 0]))
    assert (found.score, found.value) == (0.75, pytest.approx(0.5))


def test_items_with_fewer_raters_are_dropped_and_counted() -> None:
    counts = np.array([[3, 0], [2, 1], [2, 0], [1, 0], [0, 0]])
    found = equivalent_raters(counts, np.zeros(5, np.int64))
    assert (found.raters, found.n_items, found.dropped) == (3, 2, 2)
    assert equivalent_raters(counts, np.zeros(5, np.int64), raters=2).n_items == 3
    nothing = equivalent_raters(np.array([[1, 0]]), np.array([0]))
    assert np.isnan(nothing.value)
    assert nothing.note == "no item has the labels of two raters"


def test_alpha_difference_takes_each_human_label_with_the_judges() -> None:
    """Judge-human alpha is that of a table with one row of two labels per human label."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, (40, 4))
    judge = rng.integers(0, 3, 40)
    judge[:5] = -1
    counts = np.stack([(labels == k).sum(axis=1) for k in range(3)], axis=1)
    units = [(y, judge[i]) for i in range(5, 40) for y in labels[i]]
    pairs = np.array([[[y, j].count(k) for k in range(3)] for y, j in units])
    for level in ("nominal", "ordinal", "interval"):
        found = alpha_difference(counts, judge, level, 50, np.random.default_rng(3))  # type: ignore[arg-type]
        assert found.judge_human == pytest.approx(krippendorff_alpha(pairs, level).value)  # type: ignore[arg-type]
        assert found.human_human == pytest.approx(krippendorff_alpha(counts[5:], level).value)  # type: ignore[arg-type]
        assert found.difference == pytest.approx(found.judge_human - found.human_human)
        assert (found.n_items, found.n_labels, found.dropped, found.clusters) == (35, 140, 5, 35)
        assert found.percentile.low < found.difference < found.percentile.high


def test_alpha_difference_that_does_not_exist_says_so() -> None:
    same = alpha_difference(np.array([[2, 0], [3, 0]]), np.array([0, 0]), "nominal", 20, np.random.default_rng(4))
    assert np.isnan(same.difference)
    assert "one and the same" in same.note
    nothing = alpha_difference(np.array([[1, 0]]), np.array([0]), "nominal", 20, np.random.default_rng(5))
    assert np.isnan(nothing.difference)
    assert (nothing.n_items, nothing.dropped) == (0, 1)
