"""`countback check --record` and `countback diff` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.functional.inprocess import runner


@pytest.fixture
def run(tmp_path, monkeypatch):
    return runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_two_recorded_runs(run, paper):
    assert run("check", paper, "--offline", "--record").returncode == 0
    assert run("check", paper, "--offline", "--record", "--quiet").stdout == ""
    done = run("diff", "@-2", "@-1")
    assert (done.returncode, done.stdout) == (0, "no claim and no input differs\n")
    edit(paper / "tables" / "t1.csv", "3.80,4.60,4.20", "3.80,4.60,4.30")
    assert run("check", paper, "--offline", "--record").returncode == 1
    done = run("diff", "@-2", "@-1", "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    moved = {one["id"]: (one["was"], one["now"]) for one in told["verdict"]}
    assert moved == {
        "demo/row-mean[A]": ("consistent", "inconsistent"),  # (3.80 + 4.60) / 2 = 4.20
        "demo/average[All]": ("consistent", "inconsistent"),  # (4.30 + 3.80) / 2 = 4.05
    }
    assert (told["new"], told["gone"], told["value"], told["not_run"]) == ([], [], [], [])
    assert run("diff", "@1", "@2").returncode == 0
    assert run("ledger", "verify").stdout.count("3 entries") == 1


def test_an_entry_and_a_file_say_the_same(run, paper, tmp_path):
    file = tmp_path / "run.json"
    assert run("check", paper, "--offline", "--record", "--json", file).returncode == 0
    assert run("diff", "@-1", file).returncode == 0
    assert run("diff", file, "@-1").returncode == 0


def test_a_claim_that_is_new_one_that_is_gone_one_valued_otherwise(run, paper, tmp_path):
    run("check", paper, "--offline", "--json", "one.json")
    edit(paper / "claims.toml", 'id = "count"', 'id = "models-count"')
    edit(paper / "tables" / "t1.csv", "3.80,4.60,4.20", "3.81,4.60,4.20")  # the mean is 4.205: still prints 4.20
    done = run("diff", "one.json", "two.json")
    assert done.returncode == 2
    assert done.stderr.startswith("countback: the second run, two.json: no such file; expected what countback check")
    run("check", paper, "--offline", "--json", "two.json")
    text = run("diff", "one.json", "two.json").stdout
    assert "NEW (1)\n  demo/models-count" in text
    assert "GONE (1)\n  demo/count" in text
    assert "VALUE CHANGED, VERDICT THE SAME" in text
    assert "demo/row-mean[A]: recounted 4.2, " in text


def test_a_released_file_that_is_no_longer_there(run, shared, tmp_path):
    """The alt-test paper with its files, and without them."""
    run("check", "alt-test", "--data", shared / "data" / "alttest" / "raw", "--record", "-q")
    run("check", "alt-test", "--offline", "--record", "-q")
    done = run("diff", "@-2", "@-1", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert len(told["not_run"]) == 156
    assert {one["was"] for one in told["not_run"]} == {"reproduced"}
    assert all(one["now"].startswith("archive absent") for one in told["not_run"])
    assert {one["now"] for one in told["inputs"]} == {"absent"}


def test_what_is_recorded_is_small_and_holds_no_words_of_the_paper(run, paper, tmp_path):
    run("check", paper, "--offline", "--record")
    (line,) = (tmp_path / "ledger.jsonl").read_text().splitlines()
    body = json.loads(line)["body"]
    assert set(body) == {"schema", "kit", "inputs", "summary", "verdicts"}
    assert "reads" not in body["verdicts"][0]
    assert "evidence" not in body["verdicts"][0]
    assert body["summary"]["consistent"] == 6


def test_an_entry_that_is_no_run(run, tmp_path):
    run("check", "cubes", "--kind", "metadata", "--offline", "--record", "-q")  # registers its predictions first
    done = run("diff", "@1", "@-1")
    assert done.returncode == 2
    assert "@1: this is an entry of kind registration; expected a run" in done.stderr
    assert run("diff", "@-1", "@99").returncode == 2
    few = run("diff", "@-1", "@-2")
    assert few.returncode == 2
    assert "the second run, @-2" in few.stderr
    assert "run countback check --record" in few.stderr
    assert run("diff", "@-1").returncode == 2


@pytest.mark.parametrize("where", ["nowhere/l.jsonl", "a-file/l.jsonl"])
def test_a_place_that_cannot_be_a_ledger(where, run, paper, tmp_path):
    (tmp_path / "here" / "a-file").write_text("x")
    done = run("check", paper, "--offline", "--record", "-q", "--ledger", where)
    if where.startswith("nowhere"):  # the folder is made
        assert done.returncode == 0
        assert (tmp_path / "here" / where).exists()
    else:
        assert done.returncode == 2
        assert "cannot be" in done.stderr
