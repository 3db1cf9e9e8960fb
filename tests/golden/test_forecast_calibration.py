"""Forecasts as often right as they say, on simulated studies: some batches again, and the kept table's own sums.

What the table shows is in forecast_calibration.md.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "forecast_calibration.json").read_text(encoding="utf-8"))


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("forecast_cases")


def test_the_kept_table_is_of_the_model_that_is_used(cases: Any) -> None:
    assert KEPT["model"] == asdict(cases.Model())
    assert KEPT["seed"] == cases.SEED


@pytest.mark.parametrize("batch", [100, 150, 199])
def test_a_batch_again(batch: int, cases: Any) -> None:
    found, kept = cases.by_batch(batch), KEPT["batches"][str(batch)]
    assert found["confirmed"] == kept["confirmed"]
    assert found["expected"] == pytest.approx(kept["expected"], abs=0.3)  # of 40; Monte Carlo error is about 0.05
    assert found["squares"] == pytest.approx(kept["squares"], abs=0.15)


def test_the_batches_add_up_to_the_table() -> None:
    batches, table = KEPT["batches"].values(), KEPT["checking"]
    studies = 40 * len(batches)
    assert studies == table["studies"] == sum(table["outcomes"])
    assert sum(batch["confirmed"] for batch in batches) == table["outcomes"][0]
    assert sum(batch["squares"] for batch in batches) / studies == pytest.approx(table["default"]["brier"], abs=0.001)
    came = sum(each["studies"] * each["came"] for each in table["default"]["bins"])
    assert came == pytest.approx(table["outcomes"][0], abs=0.5)


def test_what_was_forecast_came_as_often() -> None:
    for name in ("default", "default, from counts alone"):
        for each in KEPT["checking"][name]["bins"]:
            error = (each["forecast"] * (1 - each["forecast"]) / each["studies"]) ** 0.5
            assert each["came"] == pytest.approx(each["forecast"], abs=0.02 + 2 * error)
    sure = KEPT["checking"]["default"]["any outcome above 0.9"]
    assert sure["came"] >= sure["forecast"] - 0.01


def test_the_prototype_was_too_sure_and_the_default_is_better() -> None:
    plain, default = KEPT["checking"]["plain"], KEPT["checking"]["default"]
    assert plain["any outcome above 0.9"]["forecast"] - plain["any outcome above 0.9"]["came"] > 0.05
    assert default["brier"] < plain["brier"]
    tuning = KEPT["tuning"]
    assert tuning["tau 0.06"]["brier"] < tuning["no spread between countries"]["brier"]
    assert tuning["tau 0.06"]["brier"] < tuning["two beta-binomials"]["brier"]


def test_simulated_counts_are_counts(cases: Any) -> None:
    study = cases.simulate(3, chosen=True)
    assert study.n.shape == (cases.BATCH, 12)
    assert (study.n <= 155).all()
    assert (study.human <= study.n).all()
    assert (study.judge <= study.n).all()
    agreement = study.human / study.n
    assert (
        agreement[:, :8].min(axis=1) >= agreement[:, 8:].max(axis=1)
    ).all()  # the known four come from the first eight
    assert (np.diff(agreement[:, -2:], axis=1) <= 0).all()


def test_standard_errors_by_drawing_items_again(cases: Any) -> None:
    """The clustered error of a study's lead against a bootstrap of its items, in one made-up country."""
    rng = np.random.default_rng(5)
    n = rng.integers(2, 6, 31)
    human = rng.binomial(n, 0.6)
    hits = n * (rng.random(31) < 0.8)
    study = cases._study(*(part[None, None].astype(float) for part in (n, human, hits)))
    picked = rng.integers(0, 31, (20_000, 31))
    again = (hits - human)[picked].sum(axis=1) / n[picked].sum(axis=1)
    assert study.se[0, 0] == pytest.approx(again.std(), rel=0.05)


@pytest.mark.parametrize(
    ("changed", "confirmed"),
    [({}, 0.82), ({"mu_sd": 0.06}, 0.69), ({"mu_sd": 0.25}, 0.87), ({"tau_scale": 0.06}, 0.90)],
)
def test_what_is_said_of_the_printed_counts(changed: dict[str, float], confirmed: float, cases: Any) -> None:
    """The numbers of the last section of forecast_calibration.md."""
    counts = [
        (("Pakistan",), 118, 70, 106),
        (("United States",), 127, 92, 102),
        (("Nigeria", "Philippines"), 246, 162, 190),
    ]
    known = [
        cases.KnownLead(names, n, judge - human, cases.printed_se(n, judge, n / (31 * len(names))))
        for names, n, human, judge in counts
    ]
    missing = ("France", "India", *(f"another {number}" for number in range(6)))
    model = cases.Model(**changed)
    drawn = cases.draw_leads(known, missing, 50_000, np.random.default_rng(1), model)
    assert cases.forecast(drawn, cases.RULE, model).probability[0] == pytest.approx(confirmed, abs=0.011)
