"""Cells marked "?": whatever rests on one is unchecked, by any route, until the mark is deleted."""

from __future__ import annotations

import json

import pytest
from countback.claims.registry import load_table
from countback.claims.spec import TableSpec

RECIPES = """from __future__ import annotations

from dataclasses import dataclass

from countback.claims.verdict import Recount


@dataclass(frozen=True)
class Cell:
    row: str
    column: str


def cell(data, *, row, column):
    data.path("made-up.csv")
    return Recount({"A": 3.80, "B": 3.50}[Cell(row, column).row])
"""
RELEASES = """[[release]]
id = "made-up"
title = "made up for tests"
version = "1"
licence = "none"
retrieved = ""
landing = "https://example.org/"
note = "made up"

[[release.file]]
name = "made-up.csv"
sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
size = 0
"""
MORE = """
[[recount]]
id = "cell"
reads = "made up"
table = "t1"
columns = ["Help"]
recipe = "cell"
needs = ["made-up"]

[[asserted]]
id = "list"
table = "t1"
columns = ["Hon"]
why = "made up"
"""


@pytest.fixture
def verdicts(countback, paper, tmp_path):
    """The verdicts by id after an edit of the table's first row."""
    (paper / "recipes.py").write_text(RECIPES, encoding="utf-8")
    (paper / "releases.toml").write_text(RELEASES, encoding="utf-8")
    with (paper / "claims.toml").open("a", encoding="utf-8") as claims:
        claims.write(MORE)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "any.csv").touch()
    table = paper / "tables" / "t1.csv"
    whole = table.read_text(encoding="utf-8")

    def run(row: str) -> dict[str, dict]:
        table.write_text(whole.replace("A,3.80,4.60,4.20", row), encoding="utf-8")
        done = countback("check", paper, "--data", tmp_path / "data", "--json", "-")
        assert done.returncode == 0, done.stderr
        return {v["id"].removeprefix("demo/"): v for v in json.loads(done.stdout)["verdicts"]}

    return run


def unchecked(found):
    return {name: v["reason"] for name, v in found.items() if v["verdict"] == "unchecked"}


def test_only_what_rests_on_the_marked_cell_is_unchecked(verdicts):
    rest = {f"list[{row}, Hon]": "asserted only: made up" for row in ("A", "B", "Average")}
    assert unchecked(verdicts("A,3.80,4.60,4.20")) == rest
    found = verdicts("A,?3.80,4.60,4.20")
    where = "unconfirmed transcription: t1|A|Help"
    assert unchecked(found) == rest | dict.fromkeys(["row-mean[A]", "average[Help]", "cell[A, Help]", "count"], where)
    assert found["row-mean[A]"]["agrees"] is True
    assert found["row-mean[A]"]["reported"] == "4.20"
    assert found["cell[B, Help]"]["verdict"] == "reproduced"


def test_several_marks_and_a_cell_that_is_only_listed(verdicts):
    found = verdicts("A,?3.80,?4.60,?4.20")
    assert found["row-mean[A]"]["reason"] == "unconfirmed transcription: t1|A|All and 2 more"
    assert found["list[A, Hon]"]["reason"] == "unconfirmed transcription: t1|A|Hon"


def test_a_wrong_draft_is_no_finding(verdicts):
    """A misread digit contradicts the rest of the table: seen in the data, and no reason to turn red."""
    found = verdicts("A,3.80,4.60,?9.20")
    assert found["row-mean[A]"]["verdict"] == "unchecked"
    assert found["row-mean[A]"]["agrees"] is False


def test_the_words_say_what_to_do(countback, paper):
    table = paper / "tables" / "t1.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("A,3.80", "A,?3.80"), encoding="utf-8")
    done = countback("check", paper)
    said = " ".join(done.stdout.split())
    assert "demo: 3 unconfirmed transcription (3 of the 3 that were compared agree); compare each" in said


def test_a_question_mark_alone_is_what_the_paper_prints(paper):
    table = paper / "tables" / "t1.csv"
    table.write_text("Model,Help,Hon,All\nA,?,??,?1\n", encoding="utf-8")
    read = load_table(table, TableSpec(id="t1", title="Table 1", key="Model"))
    assert read.rows["A"] == {"Model": "A", "Help": "?", "Hon": "?", "All": "1"}
    assert read.drafts == {"t1|A|Hon", "t1|A|All"}
