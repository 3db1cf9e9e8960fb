"""Ensembles of judges and episode means at the size of CultureConverse, beside `scipy.stats.bootstrap`.

The scores are synthetic.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from countback.models.episodes import episode_means
from countback.models.panels import Panel, ensembles, groups
from scipy.stats import bootstrap

pytestmark = pytest.mark.bench
DRAWS = 1000


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(work: Callable[[], object]) -> float:
    """Megabytes at the highest point of memory."""
    tracemalloc.start()
    work()
    high = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return high / 1e6


def panel() -> tuple[Panel, np.ndarray, np.ndarray]:
    """1,250 dialogues of six metrics, three raters, eleven judges, ten regions."""
    rng = np.random.default_rng(0)
    item, metric = np.repeat(np.arange(1250), 6), np.tile(np.arange(6), 1250)
    region = np.repeat(rng.integers(0, 10, 1250), 6)
    truth = rng.normal(3.8, 0.7, 7500)

    def scores(noise: float) -> np.ndarray:
        return np.clip(np.round(truth + rng.normal(0, noise, 7500)), 1, 5)

    human = np.stack([scores(0.8) for _ in range(3)], axis=1)
    judges = np.stack([scores(0.5 + judge / 10) for judge in range(11)])
    return Panel(human, judges, tuple(f"judge {i}" for i in range(11)), item, region), metric, region


def test_all_ensembles(capsys: pytest.CaptureFixture[str]) -> None:
    whole, metric, region = panel()
    names = [str(i) for i in range(10)]

    def everything() -> None:
        for part in (whole, *groups(whole, metric, names).values(), *groups(whole, region, names).values()):
            ensembles(part, draws=DRAWS, rng=np.random.default_rng(1))

    def scipys() -> tuple[float, float]:
        """One ensemble's mean absolute error, dialogues resampled."""
        error = np.abs(whole.judges[:3].mean(axis=0) - whole.human.mean(axis=1)).reshape(1250, 6).mean(axis=1)
        ends = bootstrap((error,), np.mean, n_resamples=DRAWS, method="percentile", vectorized=True, rng=1)
        return ends.confidence_interval.low, ends.confidence_interval.high

    result = ensembles(whole, draws=DRAWS, rng=np.random.default_rng(1))
    ours = result.ensembles.bounds()[:, 0, 1]
    # Ours keeps the number of dialogues of each region, which narrows the interval a little.
    assert ours == pytest.approx(scipys(), abs=0.15 * np.ptp(ours) + 0.002)
    one, full = timed(lambda: ensembles(whole, draws=DRAWS, rng=np.random.default_rng(1))), timed(everything)
    peer = timed(scipys) * 165
    with capsys.disabled():
        print(f"\n165 ensembles x 7,500 ratings x {DRAWS} bootstraps, three measures and their lead: {one:.2f} s")
        print(f"  with all 6 metrics and 10 regions too: {full:.2f} s, peak {peak(everything):.0f} MB")
        print(f"  scipy.stats.bootstrap, one measure of one ensemble x 165: {peer:.2f} s ({peer / one:.0f} times)")


def test_episode_means(capsys: pytest.CaptureFixture[str]) -> None:
    values = np.clip(np.round(np.random.default_rng(0).normal(3.8, 0.7, (18, 8, 14_610))), 1, 5)

    def ours() -> np.ndarray:
        return episode_means(values, draws=DRAWS, rng=np.random.default_rng(1)).bounds()

    def scipys() -> tuple[float, float]:
        ends = bootstrap((values[0, 0],), np.mean, n_resamples=DRAWS, method="percentile", vectorized=True, rng=1)
        return ends.confidence_interval.low, ends.confidence_interval.high

    ends = ours()[:, 0, 0]
    assert ends == pytest.approx(scipys(), abs=0.15 * np.ptp(ends))
    one, peer = timed(ours), timed(scipys) * 144
    with capsys.disabled():
        print(f"\n18 models x 8 metrics x 14,610 episodes x {DRAWS} bootstraps: {one:.2f} s, peak {peak(ours):.0f} MB")
        print(f"  scipy.stats.bootstrap, one mean x 144: {peer:.1f} s ({peer / one:.0f} times)")
