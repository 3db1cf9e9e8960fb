"""`countback fit` with its sampler, on synthetic labels whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from countback.models.ordinal import RESIDUAL
from countback.models.simulate import JudgeTruth, Truth, crossed, simulate
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


def test_a_judge_that_flattens_is_told_from_one_that_does_not(tmp_path, monkeypatch):
    run = runner(tmp_path, tmp_path / "ledger", monkeypatch)
    judges = (JudgeTruth(follows=0.0), JudgeTruth(follows=1.0, missing=0.2))
    truth = Truth({"country": 1.2, "item": 1.0, "annotator": 0.5}, (-1.0, 1.0), judges)
    made = simulate(crossed(6, 1, 25, pool=5, labels=4), truth, np.random.default_rng(5))
    layout, names = made.layout, ("flat", "faithful")
    humans = zip(layout.item, layout.annotator, layout.country, made.label, strict=True)
    given = zip(made.judge_item, made.judge, made.judge_country, made.judge_label, strict=True)
    labels = write(tmp_path / "labels.csv", [(f"i{i}", f"p{a}", f"c{c}", y) for i, a, c, y in humans])
    answers = write(tmp_path / "judges.csv", [(f"i{i}", names[j], f"c{c}", "" if y < 0 else y) for i, j, c, y in given])
    done = run(
        "fit", labels, "--judges", answers, "--model", "joint", "--no-sweep", "--jobs", 1, "--seed", 3, "--out", "out"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {judge["judge"]: judge for judge in json.loads(Path("out/fit.json").read_text())["flattening"]["judges"]}
    assert found["faithful"]["missing"] == int((made.judge_label[made.judge == 1] < 0).sum()) > 0
    severity = [made.effects["annotator"][layout.annotator[layout.country == c]].mean() for c in range(6)]
    panel = made.effects["country"] + severity
    for name, own in (("flat", np.zeros(6)), ("faithful", made.effects["country"])):
        assert found[name]["latent"]["low"] <= own.std() / panel.std() + 0.1  # no spread at all is an end
        assert found[name]["latent"]["high"] >= own.std() / panel.std()
    assert found["flat"]["flatter"] > 0.95
    assert found["flat"]["latent"]["high"] < found["faithful"]["latent"]["low"]
    assert "flattening.svg" in {path.name for path in Path("out").iterdir()}
