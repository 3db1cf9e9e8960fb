"""Krippendorff's alpha beside the package of that name, 100,000 items x 5 labels."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from countback.models.agreement import krippendorff_alpha, label_counts

pytestmark = pytest.mark.bench


def in_turn(*works: Callable[[], object], rounds: int = 7) -> list[float]:
    """The fastest of some rounds of each, taken in turn so that a busy machine slows all of them alike."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for number, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[number] = min(best[number], time.perf_counter() - start)
    return best


def test_ordinal_alpha_against_krippendorff(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours from rows of codes, theirs from the matrix of raters by units, and both from the table of counts."""
    krippendorff = pytest.importorskip("krippendorff", reason="needs the package krippendorff (extra: bench)")
    rng = np.random.default_rng(0)
    items, labels = 100_000, 5
    truth = rng.integers(0, labels, items)
    table = np.clip(truth[:, None] + rng.integers(-1, 2, (items, 5)), 0, labels - 1)
    item, label = np.repeat(np.arange(items), 5), table.ravel()
    matrix, counts = table.T.astype(np.float64), label_counts(item, label, items, labels)
    theirs = krippendorff.alpha(matrix, level_of_measurement="ordinal")
    assert krippendorff_alpha(counts, "ordinal").value == pytest.approx(theirs, abs=1e-12)
    rows, peer, ours_counts, peer_counts = in_turn(
        lambda: krippendorff_alpha(label_counts(item, label, items, labels), "ordinal"),
        lambda: krippendorff.alpha(matrix, level_of_measurement="ordinal"),
        lambda: krippendorff_alpha(counts, "ordinal"),
        lambda: krippendorff.alpha(value_counts=counts, level_of_measurement="ordinal"),
    )
    with capsys.disabled():
        print("\nordinal alpha, 500,000 labels, milliseconds: ours, krippendorff, times faster")
        print(f"  from labels  {rows * 1e3:6.1f} {peer * 1e3:6.1f} {peer / rows:6.1f}")
        print(f"  from counts  {ours_counts * 1e3:6.1f} {peer_counts * 1e3:6.1f} {peer_counts / ours_counts:6.1f}")
