"""`countback fit` with its sampler, on synthetic labels whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from countback.models.ordinal import RESIDUAL
from countback.models.simulate import Truth, crossed, simulate
from judge_data import write

from tests.functional.inprocess import runner

pytestmark = [pytest.mark.slow, pytest.mark.nuts]
SDS = {"country": 1.0, "item": 1.0, "annotator": 0.5}


def test_known_truth_is_found_and_a_second_run_repeats_the_first(tmp_path, monkeypatch):
    run = runner(tmp_path, tmp_path / "ledger", monkeypatch)
    made = simulate(crossed(6, 1, 30, pool=5, labels=4), Truth(SDS, (-1.0, 1.0)), np.random.default_rng(11))
    layout = made.layout
    rows = zip(layout.item, layout.annotator, layout.country, made.label, strict=True)
    path = write(tmp_path / "labels.csv", [(f"i{i}", f"p{a}", f"c{c}", y) for i, a, c, y in rows])
    arguments = ("fit", path, "--engine", "nuts", "--no-sweep", "--jobs", 1, "--seed", 3)
    done = run(*arguments, "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    tree = json.loads(Path("out/fit.json").read_text())
    fit = tree["fits"][0]
    assert fit["gates"]["passed"] is True
    assert fit["gates"]["rhat"] <= 1.01
    assert tree["model"]["engine"].startswith("nuts")
    assert "approximate" not in done.stdout
    assert {"pymc", "arviz", "numba"} <= set(tree["kit"])

    effects = made.effects["country"]
    covered = [
        fit["countries"][f"c{c}"]["low"] <= effect - effects.mean() <= fit["countries"][f"c{c}"]["high"]
        for c, effect in enumerate(effects)
    ]
    assert sum(covered) >= 5
    medians = [fit["countries"][f"c{c}"]["median"] for c in range(6)]
    assert np.corrcoef(medians, effects)[0, 1] > 0.9
    for name, sd in SDS.items():
        assert fit["parts"][name]["sd"]["low"] <= sd <= fit["parts"][name]["sd"]["high"]
    rest = sum(SDS[name] ** 2 for name in ("item", "annotator")) + RESIDUAL
    here = effects.var(ddof=1) / (effects.var(ddof=1) + rest)
    assert fit["country share"]["finite"]["low"] <= here <= fit["country share"]["finite"]["high"]

    assert run(*arguments, "--json", "again.json", "-q").returncode == 0
    assert json.loads(Path("again.json").read_text()) == tree
