"""How long the diagnosis of a design takes, beside the dense linear algebra that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from countback.models.identifiability import diagnose


def timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def table(rng: np.random.Generator, labels: int) -> tuple[Any, Any, Any]:
    """A hybrid design of twelve countries: twenty items for all, 100 annotators a country, items of one label each."""
    country = rng.integers(0, 12, labels)
    own = 20 + country * labels + rng.integers(0, labels // 10, labels)
    item = np.where(rng.random(labels) < 0.1, rng.integers(0, 20, labels), own)
    return item, country, country * 100 + rng.integers(0, 100, labels)


@pytest.mark.bench
def test_design_of_2_000_and_of_600_000_labels(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    small, large = table(rng, 2_000), table(rng, 600_000)
    few, many = timed(lambda: diagnose(*small)), timed(lambda: diagnose(*large))
    items = np.unique(small[0], return_inverse=True)[1]
    both = np.hstack([np.eye(items.max() + 1)[items], np.eye(12)[small[1]]])
    peer = timed(lambda: np.linalg.matrix_rank(both))
    with capsys.disabled():
        print(f"\ndesign of 2,000 labels {few:.2f} s, of 600,000 {many:.2f} s")
        print(f"numpy.linalg.matrix_rank alone on 2,000 labels {peer:.2f} s: {peer / few:.0f} times as long")
