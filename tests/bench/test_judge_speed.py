"""The whole audit of 623,376 labels and 278,039 judge answers, beside one number of it by a package of that name."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from countback.audit.judge import audit_labels
from countback.audit.judge.settings import read_settings


@pytest.mark.bench
def test_rtp_lx(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    labels, judges = (shared / "data" / "rtp_lx" / f"{name}_full.csv.gz" for name in ("labels", "judges"))
    start = perf_counter()
    found = audit_labels(labels, judges, read_settings(labels, judges))
    whole = perf_counter() - start

    start = perf_counter()
    with gzip.open(labels, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    alphas = {}
    for question in sorted({row["question"] for row in rows}):
        mine = [row for row in rows if row["question"] == question]
        unit = {key: n for n, key in enumerate(dict.fromkeys((row["item"], row["country"]) for row in mine))}
        data = np.full((3, len(unit)), np.nan)
        for row in mine:
            data[int(row["annotator"][-1]), unit[row["item"], row["country"]]] = int(row["label"])
        alphas[question] = krippendorff.alpha(data, level_of_measurement="ordinal")
    peer = perf_counter() - start
    ours = {row.part: row.alpha.value for row in found.agreement if not row.where}
    assert ours == pytest.approx(alphas)
    with capsys.disabled():
        print(f"\ncountback judge, all of it: {whole:.1f} s; csv and krippendorff, eight alphas without intervals: "
              f"{peer:.1f} s; ratio {whole / peer:.1f}")  # fmt: skip
