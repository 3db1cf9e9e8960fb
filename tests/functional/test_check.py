"""`countback check` end to end: verdicts, JSON, exit codes, and one clear sentence for each mistake."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_all_agrees(countback, paper):
    done = countback("check", paper, "--offline")
    assert done.returncode == 0, done.stderr
    assert "consistent" in done.stdout
    assert "UNEXPECTED" not in done.stdout


def test_json_is_the_only_thing_on_stdout_and_has_the_contract_keys(countback, paper):
    done = countback("check", paper, "--offline", "--json", "-")
    result = json.loads(done.stdout)
    assert result["schema"] == "countback.verdicts/1"
    assert set(result) == {"schema", "kit", "inputs", "summary", "verdicts", "pictures"}
    # rows A and B + the Average row is left out of "*" + three columns + one count
    assert [v["id"] for v in result["verdicts"]] == [
        "demo/row-mean[A]",
        "demo/row-mean[B]",
        "demo/average[Help]",
        "demo/average[Hon]",
        "demo/average[All]",
        "demo/count",
    ]
    first = result["verdicts"][0]
    assert first["where"] == {"table": "Table 1", "row": "A", "column": "All"}
    assert first["reported"] == "4.20"
    assert first["reported_interval"] == ["4.195", "4.205"]
    assert first["recounted"] == "4.2"  # (3.80 + 4.60) / 2
    assert first["recounted_interval"] == ["4.195", "4.205"]
    assert first["agrees"] is True
    assert result["summary"]["consistent"] == 6


def test_a_changed_digit_turns_the_right_claims_red(countback, paper):
    edit(paper / "tables" / "t1.csv", "3.80,4.60,4.20", "3.80,4.60,4.30")
    done = countback("check", paper, "--offline", "--json", "-")
    assert done.returncode == 1
    verdicts = {v["id"]: v for v in json.loads(done.stdout)["verdicts"]}
    assert verdicts["demo/row-mean[A]"]["verdict"] == "inconsistent"
    assert verdicts["demo/row-mean[A]"]["gap"] == "-0.09"  # 4.205 against at least 4.295
    assert verdicts["demo/average[All]"]["verdict"] == "inconsistent"  # (4.30 + 3.80) / 2 = 4.05, printed 4.00
    assert verdicts["demo/row-mean[B]"]["verdict"] == "consistent"


def test_a_known_finding_exits_0_and_one_that_no_longer_holds_exits_1(countback, paper):
    known = '\n[[known]]\nclaims = ["row-mean[A]", "average[All]"]\nverdict = "inconsistent"\n'
    known += 'since = 2026-11-29\nwhy = "slip"\n'
    with (paper / "claims.toml").open("a", encoding="utf-8") as claims:
        claims.write(known)
    done = countback("check", paper, "--offline")
    assert done.returncode == 1
    assert "no longer is" in done.stdout
    edit(paper / "tables" / "t1.csv", "4.20", "4.30")
    done = countback("check", paper, "--offline")
    assert done.returncode == 0, done.stdout
    assert "slip" in done.stdout


def test_under_selected_registry_is_incomplete(countback, paper):
    edit(paper / "paper.toml", "requires = 3", "requires = 7")
    done = countback("check", paper, "--offline")
    assert done.returncode == 3
    assert "6 claims, paper.toml requires 7" in done.stdout


def test_strict_fails_on_anything_unchecked(countback):
    assert countback("check", "alt-test", "--offline").returncode == 0
    done = countback("check", "alt-test", "--offline", "--strict")
    assert done.returncode == 3
    assert "countback fetch alt-test" in done.stdout


def test_kind_selects(countback, paper):
    done = countback("check", paper, "--kind", "metadata", "--offline", "--json", "-")
    assert json.loads(done.stdout)["verdicts"] == []


def test_json_file_is_written_whole(countback, paper, tmp_path):
    target = tmp_path / "out.json"
    done = countback("check", paper, "--offline", "--json", target)
    assert done.returncode == 0
    assert json.loads(target.read_text())["summary"]["consistent"] == 6
    assert not list(tmp_path.glob("*.part"))


MISTAKES = {
    "malformed TOML": ("claims.toml", 'id = "models"', 'id = "models', "claims.toml: not valid TOML"),
    "unknown key": ("claims.toml", 'reads = "two', 'raeds = "two', "claims.toml:4: unknown key 'raeds'"),
    "number not a string": ("claims.toml", 'reported = "2"', "reported = 2", "claims.toml:5: claim.0.reported:"),
    "unreadable number": ("claims.toml", 'reported = "2"', 'reported = "4,052,9540.71"', "cannot read"),
    "NaN as a number": ("claims.toml", 'reported = "2"', 'reported = "nan"', "cannot read"),
    "duplicate id": ("claims.toml", 'id = "average"', 'id = "row-mean"', 'the id "row-mean" stands twice'),
    "no such relation": ("claims.toml", 'relation = "count"', 'relation = "tally"', 'no relation "tally"'),
    "no such column": ("claims.toml", 'of = ["Help", "Hon"]', 'of = ["Help", "Honesty"]', 'no column "Honesty"'),
    "no such table": ("claims.toml", "t1|*|Help", "t9|*|Help", 'no table "t9"'),
    "no such recipe": ("claims.toml", 'reported = "2"', 'reported = "2"\nrecipe = "tally"', 'no recipe "tally"'),
    "claim bound by nothing": ("claims.toml", '"#models"', "2", '"models" is bound by nothing'),
    "missing table file": ("paper.toml", 'id = "t1"', 'id = "t2"', "t2.csv: no such file"),
    "NaN in a table": ("tables/t1.csv", "4.60", "NaN", 't1.csv:2: found "NaN"'),
    "ragged row": ("tables/t1.csv", "4.60", "4.60,1", "t1.csv:2: expected 4 cells, found 5"),
    "doubled row": ("tables/t1.csv", "B,", "A,", 't1.csv:3: a second row "A"'),
    "no such key column": ("paper.toml", 'key = "Model"', 'key = "Judge"', 'no column "Judge"'),
    "bad count": ("paper.toml", "requires = 3", "requires = 0", "paper.toml:6: requires: expected"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_registry_is_one_sentence(countback, paper, mistake):
    file, old, new, sentence = MISTAKES[mistake]
    edit(paper / file, old, new)
    done = countback("check", paper, "--offline")
    assert done.returncode == 2, done.stdout
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


def test_wrong_usage(countback, tmp_path):
    assert countback("check", "no-such-paper").returncode == 2
    assert countback("check", "--kind", "poetry").returncode == 2
    assert countback("check", "--data", tmp_path / "nowhere").returncode == 2
    assert countback("check", "--unverified").returncode == 2
    assert countback("chekc").returncode == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everywhere")
def test_folder_without_permission(countback, paper, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0)
    try:
        done = countback("check", paper, "--json", locked / "out.json")
        assert done.returncode == 2
        assert "cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
    finally:
        locked.chmod(stat.S_IRWXU)


@pytest.mark.parametrize("target", ["nowhere/out.json", ".", "/"])
def test_json_where_no_file_can_be(countback, paper, target):
    done = countback("check", paper, "--offline", "--json", target)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{target}: cannot be written" in done.stderr


class TestReleasedFiles:
    """The alt-test paper, whose files all lie in the shared folder under other names."""

    def test_found_by_hash(self, countback, shared):
        done = countback("check", "alt-test", "--data", shared / "data" / "alttest" / "raw", "--json", "-")
        result = json.loads(done.stdout)
        assert done.returncode == 0
        assert result["summary"]["reproduced"] == len(result["verdicts"]) == 156  # 52 rows, three numbers each
        assert {i["status"] for i in result["inputs"]} == {"verified"}
        evidence = result["verdicts"][0]["evidence"]
        assert {len(file["sha256"]) for file in evidence["files"]} == {64}

    def test_a_changed_file_stops_the_run(self, countback, shared, tmp_path):
        folder = tmp_path / "data" / "wax"
        folder.mkdir(parents=True)
        raw = (shared / "data" / "alttest" / "raw" / "wax_human_annotations.json").read_bytes()
        (folder / "human_annotations.json").write_bytes(raw.replace(b"1", b"2", 1))
        done = countback("check", "alt-test", "--data", tmp_path / "data")
        assert done.returncode == 4
        assert "expected sha256" in done.stderr
        assert "Traceback" not in done.stderr

    def test_unverified_never_reproduces(self, countback, shared, tmp_path):
        folder = tmp_path / "data" / "wax"
        folder.mkdir(parents=True)
        for kind in ("human", "llm"):
            raw = (shared / "data" / "alttest" / "raw" / f"wax_{kind}_annotations.json").read_bytes()
            (folder / f"{kind}_annotations.json").write_bytes(raw + b"\n")  # the same labels, other bytes
        done = countback("check", "alt-test", "--data", tmp_path / "data", "--unverified", "--json", "-")
        result = json.loads(done.stdout)
        assert result["summary"]["reproduced"] == 0
        wax = [v for v in result["verdicts"] if v["reason"] == "unverified data"]
        assert len(wax) == 18  # six judges, three numbers each
        assert {v["agrees"] for v in wax} == {True}
        assert {v["verdict"] for v in wax} == {"unchecked"}
        assert "proves nothing" in countback("check", "alt-test", "--data", tmp_path / "data", "--unverified").stdout
