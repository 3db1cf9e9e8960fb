"""p2 from a crossed label table: simulated with a known answer, and real labels of the same items in five countries."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.functional.inprocess import runner

WHEN = ("--released", "2026-11-15T00:00:00Z", "--source", "a simulation")


@pytest.fixture
def run(tmp_path, monkeypatch):
    return runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)


def simulated(path: Path, country_sd: float, *, nested: bool = False) -> Path:
    """Labels of 60 items by 4 people in each of 10 countries, whose effects have exactly this standard deviation."""
    rng = np.random.default_rng(3)
    effects = np.linspace(-1, 1, 10)
    effects *= country_sd / effects.std(ddof=1)
    items = rng.normal(0, 1, (60, 1, 1))
    people = rng.normal(0, 0.3, (1, 10, 4))
    y = items + effects[None, :, None] + people + rng.normal(0, 1, (60, 10, 4))
    label = np.digitize(y, [-0.7, 0.7])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "country", "label"])
        for (i, c, a), code in np.ndenumerate(label):
            writer.writerow([f"i{i}-{c}" if nested else f"i{i}", f"a{c}-{a}", f"c{c}", "ABC"[code]])
    return path


def resolve(run, path: Path, *more: object):
    return run("predict", "resolve", "cubes/p2", "--data", path, *WHEN, *more)


@pytest.mark.parametrize(("sd", "outcome"), [(1.5, "confirmed"), (0.0, "broken")])
def test_a_simulated_crossed_study(sd, outcome, run, tmp_path):
    """Country variance 2.25 beside 1 + 0.09 + 1 is half of all; none is none."""
    done = resolve(run, simulated(tmp_path / "labels.csv", sd), "--labels", "A,B,C")
    assert f"cubes/p2: {outcome}" in done.stdout, done.stderr
    (status,) = json.loads(run("predict", "cubes/p2", "--json", "-").stdout)["predictions"]
    assert status["state"] == outcome
    (row,) = status["resolutions"][0]["data"]["rows"]
    assert (row["countries"], row["items"], row["labels"]) == (10, 60, 2400)
    assert row["low"] <= row["share"] <= row["high"]
    assert len(row["without_country_by_item"]) == 3
    assert "random" in row["method"]


def test_items_that_were_not_crossed_decide_nothing(run, tmp_path):
    done = resolve(run, simulated(tmp_path / "labels.csv", 1.5, nested=True), "--labels", "A,B,C")
    assert (done.returncode, done.stdout) == (2, "")
    assert "confounded" in done.stderr
    assert not (tmp_path / "ledger.jsonl").exists()


def test_the_order_of_the_labels_is_needed(run, tmp_path):
    path = simulated(tmp_path / "labels.csv", 1.5)
    done = resolve(run, path)
    assert done.returncode == 2
    assert "--labels is missing" in done.stderr
    done = resolve(run, path, "--labels", "X,Y")
    assert done.returncode == 2
    assert "human labels are '" in done.stderr


def spoilt(path: Path, every: int, text: str) -> Path:
    """The same file with another text for every so many labels."""
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    rows = [row[:-1] + text if place % every == 0 else row for place, row in enumerate(rows)]
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_label_that_was_forgotten_stops_it(run, tmp_path):
    """Without the third label a country that is far off looks much like the others."""
    path = simulated(tmp_path / "labels.csv", 1.5)
    done = resolve(run, path, "--labels", "A,B")
    assert (done.returncode, done.stdout) == (2, "")
    assert "of 2400 human labels are 'C', which is none of A, B; expected every label" in done.stderr
    spoilt(path, 100, "no answer")  # 24 of 2400 are one in a hundred
    assert "24 of 2400 human labels are 'no answer'" in resolve(run, path, "--labels", "A,B,C").stderr
    assert not (tmp_path / "ledger.jsonl").exists()


@pytest.mark.parametrize(("every", "text", "missing"), [(120, "no answer", 20), (4, "", 600)])
def test_labels_that_are_none_are_left_out_and_counted(every, text, missing, run, tmp_path):
    path = spoilt(simulated(tmp_path / "labels.csv", 1.5), every, text)
    done = resolve(run, path, "--labels", "A,B,C")
    assert done.returncode == 0, done.stderr
    assert f"  {missing} labels are missing or not valid and were left out\n" in done.stdout


def test_a_folder_is_no_label_table(run, tmp_path):
    done = resolve(run, tmp_path, "--labels", "A,B,C")
    assert done.returncode == 2
    assert "--data is no file" in done.stderr


def test_five_real_countries(run, shared, tmp_path):
    """300 memes; the outcome is what the rule makes of the interval that is on record."""
    done = resolve(run, shared / "data" / "multi3hate" / "labels.csv", "--labels", "0,1")
    assert done.returncode == 0, done.stderr
    (status,) = json.loads(run("predict", "cubes/p2", "--json", "-").stdout)["predictions"]
    (row,) = status["resolutions"][0]["data"]["rows"]
    assert (row["countries"], row["items"], row["annotators"], row["labels"]) == (5, 300, 445, 7083)  # SOURCE.md
    assert row["low"] < row["share"] < row["high"]
    expected = "confirmed" if row["low"] >= 0.05 else "broken" if row["high"] < 0.05 else "neither"
    assert f"cubes/p2: {expected}" in done.stdout
