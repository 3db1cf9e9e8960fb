"""`countback fit --engine approximate` from file to numbers, on synthetic labels whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from countback.models.ordinal import RESIDUAL
from countback.models.simulate import Truth, crossed, simulate
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
