"""The kept study of flattening: what it says, and that one of its data sets comes out again."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "flattening_coverage.json").read_text(encoding="utf-8"))
QUANTITIES = ("latent", "ratio", "slope", "gap")


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("flattening_cases")


def test_it_is_called_synthetic() -> None:
    assert KEPT["synthetic"] is True


@pytest.mark.parametrize("design", ["nested", "crossed"])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_ninety_percent_intervals_hold_the_truth_in_85_to_95(quantity: str, design: str) -> None:
    """The study's own error is beside it."""
    assert KEPT[design]["data sets"] >= 100
    found = KEPT[design][quantity]
    assert 0.85 <= found["covered"] <= 0.95
    assert found["Monte Carlo error"] < 0.03


def test_where_content_is_shifted_the_latent_ratio_is_of_content_too_and_leans_stand() -> None:
    """Of 100 data sets with a judge that follows by 0.3 a right interval misses a quarter once in 10^5 studies."""
    found = KEPT["nested, content shifted"]
    for name in (*QUANTITIES[1:], "latent, content counted"):
        assert 0.85 <= found[name]["covered"] <= 0.95
    assert found["latent"]["covered"] < 0.8
    assert found["latent"]["covered by judge"][1] < 0.75
    assert found["latent"]["median estimate by judge"][1] > 2 * found["latent"]["median truth by judge"][1]
    assert found["latent"]["truth below"] > 3 * (1 - found["latent"]["covered"] - found["latent"]["truth below"])


@pytest.mark.parametrize("design", ["nested", "crossed", "nested, content shifted"])
def test_a_judge_is_seldom_called_flatter_and_hardly_ever_wrongly(design: str) -> None:
    found = KEPT[design]["sure of a smaller spread"]
    assert found["and wrong"] <= 0.05
    assert found["rate"] < 0.1 < 0.5 < found["true"]


def test_the_page_says_what_the_study_does() -> None:
    page = (HERE / "flattening_coverage.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")]
    told = {tuple(cell.strip() for cell in row[:2]): [cell.strip() for cell in row[2:]] for row in rows}
    assert len(told) == 14  # 13 and the heading
    words = {"latent": "ratio of spreads, logits", "ratio": "ratio of spreads of leans", "slope": "slope of leans"}
    words |= {"gap": "gap in one country", "latent, content counted": "the first, content counted"}
    for design in ("nested", "crossed", "nested, content shifted"):
        for name, word in words.items():
            if name in KEPT[design]:
                found = KEPT[design][name]
                expected = [f"{found[part]:.3f}" for part in ("covered", "Monte Carlo error")]
                expected += [f"{found['median width']:.2f}", f"{found['median error']:+.3f}"]
                assert told[design, word] == expected


def test_summary_counts_by_hand(cases: Any) -> None:
    """Six data sets of one judge: its interval [0, 2] holds three truths, one is below and two above it."""
    row = {"rhat": 1.0, "ess": 100.0, "divergent": 0.0}
    truths = (0.5, 1.5, 1.8, 3.0, 3.5, -1.0)
    judges = [{name: [true, 1.0, 0.0, 2.0] for name in QUANTITIES} | {"flatter": 0.99} for true in truths]
    found = cases.summary([row | {"judges": [judge]} for judge in judges])
    assert found["latent"]["covered"] == 0.5
    assert found["latent"]["truth below"] == pytest.approx(1 / 6)
    assert found["latent"]["Monte Carlo error"] == pytest.approx(1 / 20**0.5)
    assert found["latent"]["median width"] == 2.0
    assert found["latent"]["median truth by judge"] == [pytest.approx(1.65)]
    assert found["latent"]["median estimate by judge"] == [1.0]
    assert found["sure of a smaller spread"] == pytest.approx({"rate": 1, "and wrong": 4 / 6, "true": 2 / 6})


def test_truth_of_a_judge_that_is_the_panel(cases: Any) -> None:
    """Only countries differ, and the judge follows them fully: ratios and slope 1, gap 0; not at all: 0."""
    simulate = importlib.import_module("countback.models.simulate")
    judges = (simulate.JudgeTruth(), simulate.JudgeTruth(follows=0.0))
    truth = simulate.Truth({"country": 0.5}, (-0.6, 0.6), judges)
    made = simulate.simulate(simulate.crossed(4, 1, 10, pool=3, labels=3), truth, np.random.default_rng(2))
    same, nothing = cases.truth(made)
    assert [same[name] for name in QUANTITIES] == pytest.approx([1, 1, 1, 0])
    assert [nothing[name] for name in ("latent", "ratio", "slope")] == pytest.approx([0, 0, 0], abs=1e-12)
    assert cases.SHIFTED not in same


def test_truth_where_content_is_shifted_by_country(cases: Any) -> None:
    """What items hold spreads both: with it counted a judge without country effects has a spread, without it none."""
    simulate = importlib.import_module("countback.models.simulate")
    judges = (simulate.JudgeTruth(), simulate.JudgeTruth(follows=0.0))
    truth = simulate.Truth({"country": 0.5, "origin": 1.0}, (-0.6, 0.6), judges)
    made = simulate.simulate(simulate.nested(4, 1, 10, pool=3, labels=3), truth, np.random.default_rng(2))
    same, nothing = cases.truth(made)
    assert [same[name] for name in (*QUANTITIES, cases.SHIFTED)] == pytest.approx([1, 1, 1, 0, 1])
    assert nothing["latent"] == pytest.approx(0, abs=1e-12)
    both = made.effects["origin"] + made.effects["country"]
    assert nothing[cases.SHIFTED] == pytest.approx(made.effects["origin"].std() / both.std())
    assert nothing["ratio"] > 0.1


@pytest.mark.slow
@pytest.mark.nuts
def test_one_data_set_again(cases: Any) -> None:
    """A longer fit of one data set gives intervals that overlap those of the study's short one for the most part."""
    pytest.importorskip("nutpie")
    short = cases.study(3, design="nested")
    cases.SHORT |= {"draws": 1500}
    longer = cases.study(3, design="nested")
    for one, other in zip(short["judges"], longer["judges"], strict=True):
        for name in QUANTITIES:
            assert one[name][0] == other[name][0]
            width = other[name][3] - other[name][2]
            assert one[name][1] == pytest.approx(other[name][1], abs=0.2 * width)
