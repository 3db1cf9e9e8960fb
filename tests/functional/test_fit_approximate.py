"""`countback fit --engine approximate` from file to numbers, on synthetic labels whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from countback.models.ordinal import RESIDUAL
from countback.models.simulate import Truth, crossed, hybrid, simulate
from judge_data import write

from tests.functional.inprocess import runner

SDS = {"country": 1.0, "item": 1.0, "annotator": 0.5}


@pytest.mark.slow
def test_known_truth_is_found_and_called_approximate(tmp_path, monkeypatch):
    run = runner(tmp_path, tmp_path / "ledger", monkeypatch)
    made = simulate(crossed(6, 1, 30, pool=5, labels=2), Truth(SDS, (-1.0, 1.0)), np.random.default_rng(11))
    layout = made.layout
    rows = zip(layout.item, layout.annotator, layout.country, made.label, strict=True)
    path = write(tmp_path / "labels.csv", [(f"i{i}", f"p{a}", f"c{c}", y) for i, a, c, y in rows])
    done = run("fit", path, "--engine", "approximate", "--no-sweep", "--leave-out", "item:country", "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("APPROXIMATE")
    tree = json.loads(Path("out/fit.json").read_text())
    fit = tree["fits"][0]
    assert tree["model"]["approximate"] is True
    assert tree["model"]["engine"].startswith("approximate")
    assert tree["model"]["chains"] is None
    assert fit["gates"]["rhat"] is None
    assert "pymc" not in tree["kit"]
    assert {path.name for path in Path("out").iterdir()} == {
        "fit.json", "parts.svg", "countries.svg", "sweep.svg", "below.svg", "index.html"
    }  # fmt: skip
    for picture in Path("out").glob("*.svg"):
        assert "(approximate)" in picture.read_text()
    for name, sd in SDS.items():
        assert fit["parts"][name]["sd"]["low"] <= sd <= fit["parts"][name]["sd"]["high"]
    effects = made.effects["country"]
    rest = sum(SDS[name] ** 2 for name in ("item", "annotator")) + RESIDUAL
    here = effects.var(ddof=1) / (effects.var(ddof=1) + rest)
    assert fit["country share"]["finite"]["low"] <= here <= fit["country share"]["finite"]["high"]


@pytest.mark.slow
def test_what_a_countrys_own_items_hold_is_not_the_countrys(tmp_path, monkeypatch):
    """No country differs; the items that each has to itself do, beside as many that all have labelled."""
    run = runner(tmp_path, tmp_path / "ledger", monkeypatch)
    truth = Truth({"item": 1.0, "annotator": 0.3, "origin": 2.0}, (-1.0, 1.0))
    made = simulate(hybrid(4, 1, 15, 15, pool=5, labels=3), truth, np.random.default_rng(4))
    layout = made.layout
    rows = zip(layout.item, layout.annotator, layout.country, made.label, strict=True)
    path = write(tmp_path / "labels.csv", [(f"i{i}", f"p{a}", f"c{c}", y) for i, a, c, y in rows])
    share = {}
    for option in ((), ("--own-items",)):
        arguments = ("--engine", "approximate", "--no-sweep", "--leave-out", "item:country", "--json", "-")
        done = run("fit", path, *arguments, *option)
        assert done.returncode == 0, done.stdout + done.stderr
        tree = json.loads(done.stdout)
        share[option] = tree["fits"][0]["country share"]["finite"]["median"]
        assert tree["input"]["labels"] == (360 if option else 180)  # 4 x 15 x 3 of each kind
    assert share[()] < 0.02
    assert share["--own-items",] > 3 * share[()]
