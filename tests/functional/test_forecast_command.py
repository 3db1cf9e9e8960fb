"""`countback predict --forecast`: what it says, what it rests on, and where it says nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from countback.claims.outlook import from_counted, from_printed
from countback.claims.prediction import load_predictions
from countback.claims.registry import PAPERS
from countback.claims.resolve_lead import Lead
from countback.claims.settling import Counted

from tests.functional.inprocess import runner

PREDICTIONS, PRINTED = load_predictions(PAPERS / "cubes", "cubes")
P1 = next(each for each in PREDICTIONS if each.spec.id == "p1")


@pytest.fixture
def run(tmp_path, monkeypatch):
    return runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)


def test_p1_from_printed_counts(run):
    done = run("predict", "cubes/p1", "--forecast", "--as-of", "2026-12-01")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    for words in (
        "forecast now: confirmed 0.8",
        "under other priors",
        "model: hierarchical normal on leads by country: tau_scale=0.1, mu_sd=0.1, tails=4, doubt=0.05; 100000 draws",
        "seed 20261129",
        "rests on: printed counts; standard errors approximated",
        "no labels at hand, so it is not from the release",
        "calibration: on simulated studies, tests/golden/forecast_calibration.md",
    ):
        assert words in text
    assert (Path(__file__).parents[1] / "golden" / "forecast_calibration.md").exists()


def test_as_data(run):
    done = run("predict", "cubes", "--forecast", "--json", "-")
    found = {each["id"]: each for each in json.loads(done.stdout)["predictions"]}
    p1 = found["cubes/p1"]["forecast_now"]
    assert list(p1["probability"]) == ["confirmed", "broken", "both", "neither"]
    assert sum(p1["probability"].values()) == pytest.approx(1)
    for name, chance in p1["probability"].items():
        low, high = p1["others"][name]
        assert low <= chance <= high
        assert p1["mc_error"][name] == pytest.approx((chance * (1 - chance) / p1["draws"]) ** 0.5, abs=0.0004)
    # What was registered from the same counts, with errors from a total of items, lies within a hundredth.
    (registered,) = found["cubes/p1"]["forecasts"]
    assert p1["probability"]["confirmed"] == pytest.approx(registered["probability"], abs=0.01)
    assert list(found["cubes/p1-k1"]["forecast_now"]["probability"]) == ["confirmed", "broken"]
    assert list(found["cubes/p2"]["forecast_now"]["probability"]) == ["confirmed", "broken", "neither"]
    # A whole prediction is no likelier than a part that it needs.
    parts = [found[f"cubes/p1-{part}"]["forecast_now"]["probability"]["confirmed"] for part in ("k1", "k2", "b2")]
    assert p1["probability"]["confirmed"] <= min(parts)


def test_it_is_made_when_asked_for(run):
    assert "forecast now" not in run("predict", "cubes/p1").stdout
    done = run("predict", "cubes/p1", "--json", "-")
    assert json.loads(done.stdout)["predictions"][0]["forecast_now"] is None


def test_nothing_is_forecast_from_counts_without_items(run, tmp_path):
    folder = tmp_path / "cubes"
    folder.mkdir()
    for file in ("paper.toml", "predictions.toml"):
        text = (PAPERS / "cubes" / file).read_text(encoding="utf-8")
        (folder / file).write_text("".join(x for x in text.splitlines(True) if not x.startswith("items ")), "utf-8")
    done = run("predict", f"{folder}/p1", "--forecast")
    assert done.returncode == 0, done.stderr
    assert "by the counts that the paper prints" in done.stdout
    assert "forecast now" not in done.stdout
    assert from_printed(load_predictions(folder, "cubes")[1], P1.rule) is None


def counted(gaps: dict[str, int], *, synthetic: bool = False) -> Counted:
    leads = tuple(Lead((name,), 120, gap, gap) for name, gap in gaps.items())
    width = 100 * 1.959964 * 0.06
    ends = {name: (100 * gap / 120 - width, 100 * gap / 120 + width) for name, gap in gaps.items()}
    return Counted(leads, ends, synthetic)


FOUR = {"Pakistan": 36, "United States": 10, "Nigeria": 14, "Philippines": 14}


def test_counted_labels_are_named_as_such_and_a_stand_in_too():
    found = from_counted(counted(FOUR), P1.rule)
    assert found is not None
    assert found.rests_on == "labels of the released files; standard errors by a bootstrap of items"
    stand_in = from_counted(counted(FOUR, synthetic=True), P1.rule)
    assert stand_in is not None
    assert "SYNTHETIC" in stand_in.rests_on
    # The same hits as printed, but two countries that were known as a sum are now both known to be above zero.
    by_print = from_printed(PRINTED, P1.rule)
    assert by_print is not None
    assert 0 < found.probability["confirmed"] - by_print.probability["confirmed"] < 0.1


def test_more_countries_move_it_the_way_they_point():
    chances = []
    for gap in (-15, 0, 15):
        found = from_counted(counted(FOUR | {f"more {k}": gap for k in range(5)}), P1.rule)
        assert found is not None
        chances.append(found.probability["confirmed"])
    assert chances[0] < 0.05 < chances[1] < chances[2]
    assert chances[2] > 0.9


def test_leads_that_are_no_single_counts_support_none():
    rate = Counted((Lead(("Pakistan",), 118, 35, 37),), {"Pakistan": (20.0, 40.0)}, False)
    assert from_counted(rate, P1.rule) is None
    assert from_counted(Counted((), {}, False), P1.rule) is None
