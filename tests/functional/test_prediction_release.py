"""Resolving from a release: only files that a full pin proves, only from the folder given, never a stand-in."""

from __future__ import annotations

import hashlib
import json
from datetime import date
from pathlib import Path

import pytest
from countback.claims.prediction import load_predictions, registration_line

from tests.functional.inprocess import runner

PREDICTION = """[[prediction]]
id = "lead"
statement = "the judge leads"
where = { section = "5" }
made = 2026-01-05
trigger = "labels"
settles = "counts"
resolver = "lead"
with = { judge = "j", countries = 2, at_least = 1, margin = 5, trailing = ["France"], trail = -10 }
outcomes = [
  { outcome = "confirmed", when = "k1 and k2, not b2" },
  { outcome = "broken", when = "b1, or b2 without both" },
  { outcome = "both", when = "k1, k2 and b2" },
  { outcome = "neither", when = "else" },
  { outcome = "void", when = "too late" },
]
"""
SETTLE = """import json
from countback.claims.resolve_lead import Lead
from countback.claims.settling import Counted

def lead(data, judge):
    told = json.loads(data.path("demo/counts.json").read_text())
    leads = tuple(Lead((name,), n, gap, gap) for name, n, gap in told["leads"])
    return Counted(leads, {"D": (-1.0, 21.0)}, told["synthetic"])
"""
RELEASES = """[[release]]
id = "counts"
title = "made-up counts"
version = "1"
licence = "none"
retrieved = ""
landing = "https://example.org"

[[release.file]]
name = "demo/counts.json"
size = SIZE
"""
WHEN = ("--released", "2026-03-01T00:00:00Z", "--source", "here")


def content(*, synthetic: bool = False, countries: int = 2) -> bytes:
    leads = [["France", 100, 10], ["Spain", 100, 10], ["Peru", 100, 10]][:countries]
    return json.dumps({"leads": leads, "synthetic": synthetic}).encode()


@pytest.fixture
def demo(paper: Path, tmp_path: Path):
    """Writes the released file into a folder and its pin ("full", "partial" or of other bytes) into the paper."""
    file = paper / "predictions.toml"
    file.write_text(PREDICTION)
    (prediction,) = load_predictions(paper, "demo")[0]
    file.write_text(PREDICTION + registration_line(prediction, date(2026, 1, 6)) + "\n")
    (paper / "settle.py").write_text(SETTLE)

    def make(data: bytes, pin: str = "full", name: str = "counts.json") -> Path:
        digest = hashlib.sha256(data).hexdigest()
        line = {
            "full": f'sha256 = "{digest}"',
            "partial": f'sha256_prefix = "{digest[:8]}"',
            "other": f'sha256 = "{"0" * 64}"',
        }[pin]
        (paper / "releases.toml").write_text(RELEASES.replace("SIZE", str(len(data))) + line + "\n")
        folder = tmp_path / "released" / "demo"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(data)
        return folder

    return make


@pytest.fixture
def run(tmp_path, monkeypatch):
    return runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)


def resolve(run, paper, *arguments):
    return run("predict", "resolve", f"{paper}/lead", *WHEN, *arguments)


@pytest.mark.parametrize("name", ["counts.json", "another name"])
def test_a_verified_release_decides(name, demo, paper, run):
    """20 of 200: ten points over all, both countries at or above."""
    data = content()
    folder = demo(data, name=name)
    done = resolve(run, paper, "--data", folder)
    assert done.stdout == "demo/lead: confirmed (ledger entry 2)\n", done.stderr
    (status,) = json.loads(run("predict", paper, "--json", "-").stdout)["predictions"]
    digest = hashlib.sha256(data).hexdigest()
    assert status["resolutions"][0]["data"] == {
        "files": [{"file": "demo/counts.json", "sha256": digest, "status": "verified"}]
    }


def test_a_single_file_that_a_pin_proves(demo, paper, run):
    folder = demo(content(), name="counts.bin")
    assert "confirmed" in resolve(run, paper, "--data", folder / "counts.bin").stdout


def test_what_is_at_hand_is_shown_with_its_interval(demo, paper, run):
    folder = demo(content(countries=1))
    text = " ".join(run("predict", paper, "--data", folder).stdout.split())
    assert "now: on the released files at hand" in text
    assert "k2 undecided: D +10 points [-1.0, +21.0] on 100 comparisons; +5 or more needed" in text
    assert "b2 does not hold: France +10 points on 100 comparisons" in text


def test_part_of_the_countries_is_not_enough(demo, paper, run):
    done = resolve(run, paper, "--data", demo(content(countries=1)))
    assert done.returncode == 3
    assert "leaves k2, b1 open" in done.stderr


@pytest.mark.parametrize(
    ("pin", "name", "code", "sentence"),
    [
        ("partial", "counts.json", 4, "expected sha256"),
        ("other", "counts.json", 4, "demo/counts.json"),
        ("other", "another name", 2, "no released file is here"),
    ],
)
def test_a_file_that_no_full_pin_proves(pin, name, code, sentence, demo, paper, run, tmp_path):
    done = resolve(run, paper, "--data", demo(content(), pin, name))
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert not (tmp_path / "ledger.jsonl").exists()


def test_a_partial_pin_is_said_to_decide_nothing(demo, paper, run):
    folder = demo(content(), "partial")
    assert "on files that no full pin proves, which decides nothing" in run("predict", paper, "--data", folder).stdout


def test_a_folder_without_it_is_not_helped_by_the_cache(demo, paper, run, tmp_path):
    cached = tmp_path / "cache" / "demo"
    cached.mkdir(parents=True)
    folder = demo(content())
    (folder / "counts.json").rename(cached / "counts.json")
    done = resolve(run, paper, "--data", folder)
    assert done.returncode == 4
    assert "holds no such file" in done.stderr
    assert "confirmed" in resolve(run, paper).stdout  # without --data the cache is what is meant


def test_a_stand_in_shows_values_and_decides_nothing(demo, paper, run):
    folder = demo(content(synthetic=True))
    assert "on a SYNTHETIC stand-in, which proves nothing" in run("predict", paper, "--data", folder).stdout
    done = resolve(run, paper, "--data", folder)
    assert done.returncode == 2
    assert "synthetic stand-in; it never decides" in done.stderr


def test_more_countries_than_the_rule_has(demo, paper, run):
    done = resolve(run, paper, "--data", demo(content(countries=3)))
    assert done.returncode == 2
    assert "3 countries; the rule has 2" in done.stderr
