"""Stored fits are read as the programs that write them write them; their numbers are known by arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.audit.fit import run
from countback.audit.fit.options import Options
from countback.audit.fit.run import fit_labels
from countback.audit.fit.tree import as_json
from countback.claims.pictures import STORED, Picture, SharesPicture
from countback.claims.stored import stored
from countback.models import fits
from countback.models.ordinal import R2D2, RESIDUAL, Gates, HalfNormal, Posterior, ordinal_data
from fit_data import Engine, grid

# Of variances in units of the residual's, 1/9 of it is a share of 1/10, and 1/99 one of 1/100.
TENTH, HUNDREDTH = 1 / 9, 1 / 99


def read(tmp_path: Path, content: dict[str, Any]) -> SharesPicture:
    (tmp_path / "fits").mkdir()
    (tmp_path / "fits" / "one.json").write_text(json.dumps(content, allow_nan=False))
    (picture,) = stored(tmp_path, "demo")
    return shares(picture)


def shares(picture: Picture) -> SharesPicture:
    assert isinstance(picture, SharesPicture)
    assert picture.rests_on.what == STORED
    assert (picture.rests_on.files[0].file, picture.paper) == ("fits/one.json", "demo")
    return picture


@pytest.mark.parametrize("apart", [True, False])
def test_what_countback_fit_writes(monkeypatch, tmp_path, apart):
    monkeypatch.setattr(run, "_posteriors", Engine([HUNDREDTH] * 80 + [TENTH] * 20, [TENTH] * 100, failed=[2]))
    told = as_json(fit_labels(grid(shared=apart), Options(engine="nuts")))
    picture = read(tmp_path, told)
    assert len(picture.priors) == len(told["fits"]) == 5
    first, second, third = picture.priors[:3]
    assert first.median == pytest.approx(0.01)
    assert (second.median, second.low, second.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (first.below, second.below) == ((0.8, 0.0) if apart else (None, None))
    assert first.note == ("" if apart else "confounded")
    assert (third.median, third.below, third.note) == (None, None, "unchecked: model fit failed")
    assert bool(picture.missing) != apart
    assert picture.threshold == 0.05
    assert picture.n == told["input"]["labels"] > 0


def test_what_a_summary_holds(tmp_path):
    gates = Gates(1.002, 900.0, 640.0, 0.0, False, True)
    broken = Gates(1.4, 20.0, 10.0, 0.1, True, False, "r-hat 1.4 is above 1.01")

    def posterior(prior: Any, country: list[float], held: Gates) -> Posterior:
        sd = np.sqrt(np.column_stack([country, np.zeros(len(country))]) * RESIDUAL)
        effects = np.tile([-1.0, 0.0, 1.0], (len(country), 1))
        return Posterior("made up", prior, ("country", "item"), ("X", "Y", "Z"), sd, effects,
                         np.tile([-1.0, 1.0], (len(country), 1)), held, 1)  # fmt: skip

    rng = np.random.default_rng(0)
    country, item = rng.integers(0, 3, 90), rng.integers(0, 10, 90)
    data = ordinal_data(
        rng.integers(0, 3, 90), item, country, np.zeros(90, int), categories=3, countries=["X", "Y", "Z"]
    )
    found = [posterior(R2D2(), [HUNDREDTH] * 80 + [TENTH] * 20, gates), posterior(HalfNormal(1), [TENTH] * 100, broken)]
    told = fits.as_json(
        "human", data, found, files={"labels.csv": "00ff"}, versions={}, seed=1, design="crossed", how={}
    )
    picture = read(tmp_path, told)
    first, second = picture.priors
    assert (first.median, first.below) == pytest.approx((0.01, 0.8))
    assert first.prior_below == told["priors"][0]["prior_below"]
    assert (second.median, second.below, second.note) == (None, None, "model fit failed")
    assert (picture.n, picture.missing) == (90, ())
