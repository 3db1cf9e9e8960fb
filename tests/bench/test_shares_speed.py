"""Speed of the country's share on RTP-LX, all 623,376 labels, against the sums of squares alone by pandas."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from countback.models.shares import country_share


def by_pandas(labels) -> None:
    """The group means that any estimate by moments needs, and nothing else."""
    frame = pd.DataFrame(dict(zip(("item", "country", "annotator", "label"), labels, strict=True)))
    for factor in (["item"], ["country"], ["annotator"], ["item", "country"], ["item", "annotator"]):
        frame.groupby(factor)["label"].agg(["sum", "count"])


@pytest.mark.bench
def test_all_of_rtp_lx(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "golden"))
    questions = importlib.import_module("share_cases").rtp_lx(shared)
    taken = []
    for work in (lambda q: country_share(*q), by_pandas):
        start = time.process_time()
        for labels in questions.values():
            work(labels)
        taken.append(time.process_time() - start)
    total = sum(len(labels[3]) for labels in questions.values())
    assert total == 623_376
    sys.stdout.write(
        f"\n{total} labels, eight questions: shares with both intervals {taken[0]:.2f} s of processor time, pandas' "
        f"sums by group alone {taken[1]:.2f} s: the ratio is {taken[0] / taken[1]:.1f}\n"
    )
