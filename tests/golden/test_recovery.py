"""Recovery of the country's share by design: the stored table, how it is added up, and one data set again."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "recovery.json").read_text(encoding="utf-8"))["designs"]


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("recovery_cases")


def test_nested_takes_content_for_country_and_crossing_does_not() -> None:
    """Of 24 intervals at 90%, 18 or fewer hold the truth once in 50 tables where coverage is right."""
    assert all(kept["simulations"] >= 24 and kept["gates failed"] == 0 for kept in KEPT.values())
    nested = KEPT["nested, content shift"]
    assert nested["population"]["covered"] <= 12
    assert nested["population"]["bias"] > 0.05
    for design in ("crossed, 10 x 4", "crossed, 10 x 12", "hybrid, content shift, shared items"):
        assert KEPT[design]["population"]["covered"] > 18
        assert KEPT[design]["finite"]["covered"] > 18
        assert abs(KEPT[design]["finite"]["bias"]) < 0.02
    few, many = (KEPT[f"crossed, 10 x {count}"]["population"] for count in (4, 12))
    assert many["width"] < 0.6 * few["width"]
    assert abs(many["bias"]) < abs(few["bias"])
    own, shared = (KEPT[f"hybrid, content shift, {items} items"]["finite"] for items in ("all", "shared"))
    assert abs(shared["bias"]) < abs(own["bias"])


def test_the_page_says_what_the_table_does() -> None:
    page = (HERE / "recovery.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")][2:]
    for line, kept in zip(rows, KEPT.values(), strict=True):
        cells = [cell.strip().removesuffix(" of 24") for cell in line.strip("|").split("|")][1:]
        for at, name in ((0, "population"), (3, "finite")):
            told = kept[name]
            assert cells[at : at + 3] == [f"{told['bias']:+.3f}", str(told["covered"]), f"{told['width']:.2f}"]


def test_how_a_table_is_added_up(cases: Any) -> None:
    def row(mean: float, low: float, high: float, passed: bool = True) -> dict[str, Any]:
        told = {"true": 0.1, "mean": mean, "median": mean, "low": low, "high": high}
        return {"passed": passed, "population": told, "finite": told}

    found = cases.table([row(0.2, 0.1, 0.3), row(0.3, 0.2, 0.5), row(9.0, 8.0, 10.0, passed=False)])
    assert (found["simulations"], found["gates failed"]) == (3, 1)
    assert found["population"] == {"bias": 0.15, "covered": 1, "width": 0.25}


@pytest.mark.slow
def test_the_truth_of_a_data_set(cases: Any) -> None:
    """0.4^2 over all variances: 0.5^2, 0.4^2, 0.8^2, 0.6^2 and the logistic's."""
    found = cases.recovered(3, cases.SHARED_ONLY)
    rest = 0.5**2 + 0.4**2 + 0.8**2 + 0.6**2 + np.pi**2 / 3
    assert found["population"]["true"] == pytest.approx(0.4**2 / (0.4**2 + rest))
    assert found["passed"]
    assert found["population"]["low"] < found["population"]["median"] < found["population"]["high"]
