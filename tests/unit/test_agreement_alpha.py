"""Krippendorff's alpha: the textbook example, hand arithmetic, and what happens where it does not exist."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from countback.models.agreement import alpha_of, coincidences, krippendorff_alpha

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: 4 observers, 12 units, labels 1 to 5.
TEXTBOOK = ["1 1 . 1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4",
            "4 4 4 4", "1 1 2 1", "2 2 2 2", ". 5 5 5", ". . 1 1", ". . 3 ."]  # fmt: skip


def counts_of(rows: list[str], labels: int) -> np.ndarray:
    return np.array([[row.split().count(str(label + 1)) for label in range(labels)] for row in rows])


@pytest.mark.parametrize(("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_textbook_example(level: str, printed: float) -> None:
    alpha = krippendorff_alpha(counts_of(TEXTBOOK, 5), level)  # type: ignore[arg-type]
    assert round(alpha.value, 3) == printed
    assert (alpha.n_items, alpha.n_labels) == (11, 40)  # the last unit has one label and pairs with nothing


def test_interval_by_definition() -> None:
    """1 - (mean squared difference within items) / (within all), each item's pairs weighing 1/(m - 1)."""
    items = [[0, 2, 2], [1, 1], [5, 4, 5, 5], [3]]
    paired = [labels for labels in items if len(labels) > 1]
    pool = list(itertools.chain(*paired))
    within = sum(
        (a - b) ** 2 / (len(labels) - 1) for labels in paired for a, b in itertools.permutations(labels, 2)
    ) / len(pool)
    overall = sum((a - b) ** 2 for a, b in itertools.permutations(pool, 2)) / (len(pool) * (len(pool) - 1))
    counts = np.array([[labels.count(k) for k in range(6)] for labels in items])
    assert krippendorff_alpha(counts, "interval").value == pytest.approx(1 - within / overall)
    # Other values for the same labels change the interval alpha and only that.
    values = np.array([0.0, 1.0, 10.0, 11.0, 12.0, 20.0])
    assert krippendorff_alpha(counts, "interval", values=values).value != pytest.approx(1 - within / overall)
    nominal = krippendorff_alpha(counts, "nominal")
    assert krippendorff_alpha(counts, "nominal", values=values) == nominal


def test_nominal_by_hand() -> None:
    # AA, AB: coincidences AA 2, AB 1, BA 1. Do = 2/4; 3 A and 1 B: De = 2 * 3 * 1 / (4 * 3) = 1/2. Alpha 0.
    alpha = krippendorff_alpha(np.array([[2, 0], [1, 1]]), "nominal")
    assert alpha.value == pytest.approx(0)
    assert alpha.agreement == pytest.approx(1 / 2)


def test_coincidences_add_up_to_the_labels_that_can_be_paired() -> None:
    counts = np.array([[2, 1, 0], [0, 1, 0], [0, 0, 4], [0, 0, 0]])
    found = coincidences(counts)
    # AAB: AA twice 1/2, AB four ordered pairs 1/2 in all 2; CCCC: 12 ordered pairs 1/3.
    assert found[0].tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert found.sum(axis=(1, 2)).tolist() == [3, 0, 4, 0]
    assert found[2, 2, 2] == pytest.approx(4)
    assert alpha_of(found.sum(axis=0), "ordinal") == pytest.approx(krippendorff_alpha(counts, "ordinal").value)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_undefined_says_so_with_n_and_agreement(level: str) -> None:
    constant = krippendorff_alpha(np.array([[0, 3], [0, 2]]), level)  # type: ignore[arg-type]
    assert np.isnan(constant.value)
    assert "one and the same" in constant.note
    assert (constant.n_items, constant.n_labels, constant.agreement) == (2, 5, 1.0)
    single = krippendorff_alpha(np.array([[0, 1], [1, 0]]), level)  # type: ignore[arg-type]
    assert np.isnan(single.value)
    assert (single.note, single.n_items) == ("no item has two labels", 0)
    empty = krippendorff_alpha(np.zeros((0, 2), np.int64), level)  # type: ignore[arg-type]
    assert empty.note == "no item has two labels"
