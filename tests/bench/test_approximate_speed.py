"""CPU time of the fast engine: in seconds for the release's shape, and how it grows with ten times the data."""

from __future__ import annotations

import time

import numpy as np
import pytest
from countback.models import simulate
from countback.models.approximate import fit_approximate
from countback.models.ordinal import R2D2, OrdinalData, ordinal_data

SDS = {"country": 0.4, "question": 0.5, "country:question": 0.4, "item": 0.8, "annotator": 0.6}


def synthetic(layout: simulate.Layout) -> OrdinalData:
    made = simulate.simulate(layout, simulate.Truth(SDS, (-0.8, 0.8)), np.random.default_rng(0))
    return ordinal_data(
        made.label,
        made.item,
        made.country,
        made.annotator,
        question=made.question,
        categories=3,
        countries=["a", "b", "c", "d"],
    )


def spent(data: OrdinalData) -> float:
    started = time.process_time()
    assert fit_approximate(data, R2D2(), seed=1).gates.passed
    return time.process_time() - started


@pytest.mark.bench
def test_ten_times_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    small = synthetic(simulate.released_layout())
    large = synthetic(simulate.nested(4, 11, 28, pool=(110, 60, 80, 90), labels=5))
    one, ten = spent(small), spent(large)
    rows = len(large.label) / len(small.label)
    with capsys.disabled():
        print(f"\n{len(small.label)} labels: {one:.1f} CPU-s; {rows:.1f} times the data: {ten / one:.1f} times")
