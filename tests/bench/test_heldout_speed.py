"""Held-out humans and judges at 100,000 items x 5 labels, each beside a named peer in the same run."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from countback.models.heldout import held_out, judge_differences
from numpy.typing import NDArray

pytestmark = pytest.mark.bench

LABELS, JUDGES = 5, 4
Codes = NDArray[np.int32]


def synthetic(items: int, per_item: int = 5, seed: int = 0) -> tuple[Codes, Codes, Codes, Codes]:
    """Synthetic labels: humans right in three of five cases, judges in seven of ten."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, LABELS, items, dtype=np.int32)
    shape = (items, per_item)
    table = np.where(rng.random(shape) < 0.6, truth[:, None], rng.integers(0, LABELS, shape, dtype=np.int32))
    noise = rng.integers(0, LABELS, (JUDGES, items), dtype=np.int32)
    judges = np.where(rng.random((JUDGES, items)) < 0.7, truth, noise)
    item = np.repeat(np.arange(items, dtype=np.int32), per_item)
    annotator = np.tile(np.arange(per_item, dtype=np.int32), items)
    return item, annotator, table.ravel(), judges


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """The fastest of three rounds."""
    best = float("inf")
    for _ in range(3):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def pandas_loop(frame: Any, judges: Codes) -> tuple[int, int, list[int]]:
    """Leave one out, skipping ties, the way it is written first: groups, rows, value_counts."""
    n, human, hits = 0, 0, [0] * len(judges)
    for item, group in frame.groupby("item"):
        for _, row in group.iterrows():
            votes = group.loc[group["annotator"] != row["annotator"], "label"].value_counts()
            if votes.empty or (len(votes) > 1 and votes.iloc[0] == votes.iloc[1]):
                continue
            reference = votes.index[0]
            n += 1
            human += row["label"] == reference
            for number, judge in enumerate(judges):
                hits[number] += judge[item] == reference
    return n, int(human), [int(hit) for hit in hits]


def test_leave_one_out_against_a_pandas_loop(capsys: pytest.CaptureFixture[str]) -> None:
    """The loop is timed on 1,000 of the 100,000 items and its time multiplied by 100: its cost is per item."""
    pd = pytest.importorskip("pandas", reason="needs pandas (extra: bench)")
    item, annotator, label, judges = synthetic(100_000)
    part = item < 1000
    frame = pd.DataFrame({"item": item[part], "annotator": annotator[part], "label": label[part]})
    start = time.perf_counter()
    n, human, hits = pandas_loop(frame, judges)
    loop = 100 * (time.perf_counter() - start)
    ours = seconds(lambda: held_out(item, annotator, label, judges, labels=LABELS))
    few = held_out(item, annotator, label, judges, labels=LABELS).select(np.arange(1000))
    assert (few.comparisons, few.human.sum(), few.judges.sum(axis=0).tolist()) == (n, human, hits)
    with capsys.disabled():
        print(f"\nleave-one-out, 500,000 labels, 4 judges: {ours:.3f} s; pandas loop {loop:.0f} s (1,000 items x 100):")
        print(f"  {loop / ours:.0f} times faster")


def test_bootstrap_of_the_difference_against_copied_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """1,000 resamples of 100,000 items: 4 judges, percentile, BCa and robust t. The peer copies each resample's rows
    of the per-item table; 20 of its draws are timed and the time multiplied by 50."""
    result = held_out(*synthetic(100_000), labels=LABELS)
    table = np.column_stack([result.n, result.human, result.judges])
    rng = np.random.default_rng(1)

    def copied() -> None:
        for _ in range(20):
            totals = table[rng.integers(0, len(table), len(table))].sum(axis=0)
            _ = (totals[2:] - totals[1]) / totals[0]

    peer = 50 * seconds(copied)
    ours = seconds(lambda: judge_differences(result, 1000, rng))
    tracemalloc.start()
    judge_differences(result, 1000, rng)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    with capsys.disabled():
        print(f"\n1,000 cluster bootstraps, 100,000 items, 4 judges: {ours:.2f} s, peak {peak:.0f} MB;")
        print(f"  copying rows {peer:.1f} s (20 draws x 50): {peer / ours:.0f} times faster")
    assert peak < 300


def test_cost_grows_with_the_number_of_labels(capsys: pytest.CaptureFixture[str]) -> None:
    """Ten thousand to ten million labels, in processor time, beside one numpy.bincount over the same rows."""
    cpu = time.process_time
    with capsys.disabled():
        print("\nlabels        leave-one-out   per label   over one bincount   1,000 bootstraps")
        for items in (2_000, 20_000, 200_000, 2_000_000):
            data = synthetic(items)
            ours = seconds(lambda: held_out(*data, labels=LABELS), cpu)  # noqa: B023
            floor = seconds(lambda: np.bincount(data[0] * np.int32(LABELS) + data[2]), cpu)  # noqa: B023
            result = held_out(*data, labels=LABELS)
            boot = seconds(lambda: judge_differences(result, 1000, np.random.default_rng(0)), cpu)  # noqa: B023
            each = ours / (5 * items) * 1e9
            print(f"{5 * items:>10,}   {ours:>11.3f} s   {each:>6.0f} ns   {ours / floor:>17.0f}   {boot:>14.2f} s")
