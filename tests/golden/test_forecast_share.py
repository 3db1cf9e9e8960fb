"""Forecasts of cubes/p2: what was kept of synthetic crossed studies is found again, and outcomes come as forecast."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.claims import crossed
from countback.claims.registry import PAPERS
from countback.models.forecast import SHARE_GRID

HERE = Path(__file__).parent
PATH = PAPERS / "cubes" / "studies" / "crossed.json"
STORED = json.loads(PATH.read_text(encoding="utf-8"))
KEPT = json.loads((HERE / "forecast_share.json").read_text(encoding="utf-8"))
TABLES = crossed.read(PATH)


def same_rates(found: Any, kept: Any) -> None:
    """Two sets of counts have one set of rates, within 4.5 standard errors by the rates of both together."""
    rates = (found + kept) / (found.sum() + kept.sum())
    error = np.sqrt(rates * (1 - rates) * (1 / found.sum() + 1 / kept.sum()))
    assert (np.abs(found / found.sum() - kept / kept.sum()) <= 4.5 * error).all(), (found, kept)


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("forecast_share_cases")


def test_the_stored_study_is_the_codes() -> None:
    fresh = json.loads(json.dumps(crossed.study(TABLES)))
    for key in set(fresh) - {"versions"}:
        assert STORED[key] == fresh[key], key
    assert [sum(row) for table in STORED["came"].values() for row in table] == [
        crossed.STUDIES * crossed.BATCHES
    ] * len(crossed.CELLS)


def test_rows_are_integrals_over_the_prior_with_the_doubt_they_tell_of() -> None:
    """The largest design, by a fine sum over the normal logit of the true share."""
    settings = STORED["settings"]
    z = np.linspace(-8, 8, 40_001)
    logits = np.log(settings["prior"]["median"] / (1 - settings["prior"]["median"])) + settings["prior"]["spread"] * z
    at = np.array(settings["true shares"])
    density = np.exp(-(z**2) / 2)
    doubt, design = settings["doubt"], "100 items x 12 countries x 5 labels"
    assert f"{doubt:.0%} doubt" in STORED["reading"]
    rows = {row["name"]: row["value"] for row in STORED["rows"]}
    for place, name in enumerate(crossed.OUTCOMES):
        rates = np.array(STORED["came"][design])[:, place] / 400
        drawn = density @ np.interp(logits, np.log(at / (1 - at)), rates) / density.sum()
        assert rows[f"{design}: {name}"] == pytest.approx((1 - doubt) * drawn + doubt / 3, abs=2e-4)


@pytest.mark.parametrize(("design", "share"), [(0, 0.05), (1, 0.3), (3, 0.01), (5, 0.08)])
def test_a_part_is_found_again_with_other_draws(design: int, share: float) -> None:
    """A hundred studies by another seed, within 4.5 standard errors of the difference."""
    number = crossed.CELLS.index((design, SHARE_GRID.index(share)))
    found = np.array(crossed.came(number, 100, seed=7)["came"])
    same_rates(found, TABLES[str(crossed.DESIGNS[design])][SHARE_GRID.index(share)])


def test_more_countries_decide_more_and_a_larger_share_is_confirmed_more_often() -> None:
    for items in (10, 31, 100):
        few, many = (TABLES[str(crossed.CrossedDesign(items, count))] for count in (4, 12))
        assert many[:, 2].sum() < few[:, 2].sum()
        assert many[-1, 0] > many[SHARE_GRID.index(0.05), 0]
    wrong = [table[SHARE_GRID.index(0.04), 0] / table[0].sum() for table in TABLES.values()]
    assert max(wrong) < 0.08  # a share below the threshold is called above it at most this often


def test_forecasts_are_those_of_the_kept_calibration() -> None:
    forecast = crossed.forecasts(TABLES, crossed.PRIOR)
    for design, kept in KEPT["forecast"].items():
        assert forecast[design].drawn == pytest.approx(kept, abs=1e-4)


def test_outcomes_come_as_forecast_where_shares_are_as_believed() -> None:
    """By studies of another kind; the tolerance is theirs, 0.05, and 3 standard errors of 500."""
    for design, kept in KEPT["came"]["as the forecast believes"].items():
        came = np.array(kept) / KEPT["studies"]
        assert np.abs(came - KEPT["forecast"][design]).max() < 0.05 + 3 * 0.5 / KEPT["studies"] ** 0.5, design


def test_kept_calibration_is_found_again(cases: Any) -> None:
    """Sixty studies of two designs by another seed."""
    for design in (crossed.DESIGNS[0], crossed.DESIGNS[3]):
        found = np.array(cases.came(design, crossed.PRIOR, 60, np.random.default_rng(8)))
        same_rates(found, np.array(KEPT["came"]["as the forecast believes"][str(design)]))


def test_the_other_route_to_the_true_share_by_brute_force(cases: Any) -> None:
    rng = np.random.default_rng(9)
    cuts, others, careless = np.array([-0.6, 0.9]), 1.6, 0.1
    eta = rng.normal(0, 0.7, (3000, 1)) + rng.normal(0, others, (3000, 400))
    label = np.searchsorted(cuts, eta.ravel()).reshape(eta.shape)
    label = np.where(rng.random(eta.shape) < careless, rng.integers(0, 3, eta.shape), label)
    within = label.var(axis=1, ddof=1).mean()
    between = label.mean(axis=1).var(ddof=1) - within / 400
    expected = cases.linear_share(0.7, others, cuts, careless)
    assert between / (between + within) == pytest.approx(expected, rel=4.5 * (2 / 3000) ** 0.5)
