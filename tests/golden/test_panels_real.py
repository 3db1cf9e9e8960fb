"""SummEval (1,600 summaries, four metrics, three experts, six judges) by the package and by a plain pandas route."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from countback.fetch.labels import LabelTable
from countback.models.panels import compare, ensembles, groups, panel_of


@pytest.fixture(scope="module")
def frame(shared: Path) -> pd.DataFrame:
    """Rows (summary, metric); columns the three experts and the six judges."""
    columns: dict[str, Any] = {}
    for kind in ("human", "llm"):
        path = shared / "data" / "alttest" / "raw" / f"summeval_{kind}_annotations.json"
        columns |= json.loads(path.read_text(encoding="utf-8"))
    table = pd.DataFrame(columns)
    keys = [tuple(key.rsplit("__", 1)) for key in table.index]
    table.index = pd.MultiIndex.from_tuples(keys, names=["item", "metric"])
    return table


@pytest.fixture(scope="module")
def labels(frame: pd.DataFrame) -> LabelTable:
    long = frame.stack().reset_index(name="label").rename(columns={"level_2": "annotator"})
    return LabelTable.from_arrays(
        item=long["item"],
        question=long["metric"],
        annotator=long["annotator"],
        label=[str(int(x)) for x in long["label"]],
        kind=[0 if name in ("e0", "e1", "e2") else 1 for name in long["annotator"]],
        codebook=["0", "1", "2", "3", "4", "5"],
    )


def plain(frame: pd.DataFrame, judges: list[str]) -> dict[str, tuple[float, float, float]]:
    """Within one, mean absolute error and bias of every comparison, in pandas."""
    rows = frame.dropna()
    experts = rows[["e0", "e1", "e2"]]

    def closeness(parts: list[pd.Series]) -> tuple[float, float, float]:
        stacked = pd.concat(parts)
        return float((stacked.abs().round(6) <= 1).mean()), float(stacked.abs().mean()), float(stacked.mean())

    rest = {e: experts.drop(columns=e).mean(axis=1) for e in experts}
    out = {
        "human | one rater": closeness([experts[a] - experts[b] for a, b in combinations(experts, 2)]),
        "human | mean of the others": closeness([experts[e] - rest[e] for e in experts]),
    }
    for judge in judges:
        out[f"{judge} | mean of all"] = closeness([rows[judge] - experts.mean(axis=1)])
        out[f"{judge} | one rater"] = closeness([rows[judge] - experts[e] for e in experts])
        out[f"{judge} | mean of the others"] = closeness([rows[judge] - rest[e] for e in experts])
    return out


def test_every_comparison_overall_and_by_metric(frame: pd.DataFrame, labels: LabelTable) -> None:
    panel, metric = panel_of(labels)
    parts = {"all": panel, **groups(panel, metric, labels.questions)}
    for name, part in parts.items():
        rows = frame if name == "all" else frame.xs(name, level="metric")
        result = compare(part, draws=20, rng=np.random.default_rng(1))
        for comparison, expected in plain(rows, list(panel.names)).items():
            at = result.names.index(comparison)
            np.testing.assert_allclose(result.result.values[at], expected, atol=1e-9)
            assert result.result.n[at, 0] == len(rows.dropna())


def test_intervals_without_draws(frame: pd.DataFrame, labels: LabelTable) -> None:
    """The bootstrap interval of a difference against the normal one from summaries' own totals."""
    panel, _ = panel_of(labels)
    result = compare(panel, draws=2000, rng=np.random.default_rng(1))
    rows = frame.dropna()
    mean = rows[["e0", "e1", "e2"]].mean(axis=1)
    gain = (rows["gpt-4o"] - mean).abs() - (rows["mistral-v03"] - mean).abs()
    per_item = gain.groupby("item").agg(["sum", "size"])
    value = per_item["sum"].sum() / per_item["size"].sum()
    residual = per_item["sum"] - value * per_item["size"]
    reach = 1.96 * (len(residual) * residual.var()) ** 0.5 / len(gain)
    found = result.difference("gpt-4o | mean of all", "mistral-v03 | mean of all", "mae")
    assert found.interval is not None
    assert found.value == pytest.approx(value)
    assert (found.interval.low, found.interval.high) == pytest.approx((value - reach, value + reach), abs=0.12 * reach)


def test_all_twenty_ensembles(frame: pd.DataFrame, labels: LabelTable) -> None:
    panel, _ = panel_of(labels)
    result = ensembles(panel, draws=200, rng=np.random.default_rng(1))
    rows = frame.dropna()
    mean = rows[["e0", "e1", "e2"]].mean(axis=1)
    assert len(result.members) == 20
    for ensemble in range(20):
        names = result.name(ensemble).split(" + ")
        error = rows[names].mean(axis=1) - mean
        expected = [(error.abs().round(6) <= 1).mean(), error.abs().mean(), error.mean()]
        np.testing.assert_allclose(result.ensembles.values[ensemble], expected, atol=1e-9)
    singles = {name: (rows[name] - mean).abs().mean() for name in panel.names}
    assert result.reference == min(singles, key=singles.__getitem__)
