"""[[recount]]: one claim per cell of a table, each recounted from a release by its own row and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from countback.claims.coverage import unbound_cells
from countback.claims.registry import load_paper
from countback.fetch.errors import UserError

RECOUNT = """
[[recount]]
id      = "cells"
reads   = "mean score of a model"
table   = "t1"
columns = ["Help", "Hon"]
recipe  = "mean_score"
with    = { scale = 100 }
needs   = ["scores"]
"""
RELEASES = """[[release]]
id        = "scores"
title     = "Made-up scores"
version   = ""
licence   = ""
retrieved = ""
landing   = ""

[[release.file]]
name = "demo/scores.json"
"""
RECIPES = """import json
from fractions import Fraction

from countback.claims.verdict import Recount


def mean_score(data, *, row, column, scale):
    scores = json.loads(data.path("demo/scores.json").read_text())[row][column]
    return Recount(Fraction(sum(scores), scale * len(scores)), n=len(scores))


def _hidden(data, *, row, column):
    raise AssertionError
"""
# Hundredths. A has Help (370 + 390) / 200 = 3.80 and Hon (459 + 461) / 200 = 4.60; B has 3.50 and 822 / 200 = 4.11.
SCORES = {"A": {"Help": [370, 390], "Hon": [459, 461]}, "B": {"Help": [350], "Hon": [410, 412]}}


@pytest.fixture
def recounted(paper: Path, tmp_path: Path) -> Path:
    """The small paper with a release of its own, and a folder `data` with the scores."""
    with (paper / "claims.toml").open("a", encoding="utf-8") as claims:
        claims.write(RECOUNT)
    (paper / "releases.toml").write_text(RELEASES, encoding="utf-8")
    (paper / "recipes.py").write_text(RECIPES, encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "scores.json").write_text(json.dumps(SCORES), encoding="utf-8")
    return paper


def edit(paper: Path, old: str, new: str) -> None:
    path = paper / "claims.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_one_claim_per_cell_with_its_row_and_column(recounted: Path) -> None:
    claims = {claim.id: claim for claim in load_paper(recounted).claims if claim.recipe}
    assert list(claims) == ["cells[A, Help]", "cells[A, Hon]", "cells[B, Help]", "cells[B, Hon]"]
    claim = claims["cells[B, Hon]"]
    assert claim.where == {"table": "Table 1", "row": "B", "column": "Hon"}
    assert (claim.kind, claim.reported, claim.needs) == ("recount", "4.10", ("scores",))
    assert dict(claim.arguments) == {"row": "B", "column": "Hon", "scale": 100}


def test_rows_columns_and_except_choose_and_a_blank_cell_is_no_claim(recounted: Path) -> None:
    edit(
        recounted,
        'columns = ["Help", "Hon"]\nrecipe',
        'rows = ["A", "B", "Average"]\nexcept = ["A|All", "Hon"]\nrecipe',
    )
    table = recounted / "tables" / "t1.csv"
    table.write_text(table.read_text().replace("B,3.50", "B,–"), encoding="utf-8")
    edit(
        recounted,
        'of = ["Help", "Hon"]\nrelation = "mean"\nequals = "All"',
        'of = ["Hon"]\nrelation = "mean"\nequals = "All"',
    )
    edit(recounted, 'each = "column"\nof = ["*"]', 'each = "column"\ncolumns = ["Hon"]\nof = ["*"]')
    edit(recounted, 'of = ["t1|*|Help"]', 'of = ["t1|*|Hon"]')
    claims = [claim.id for claim in load_paper(recounted).claims if claim.recipe]
    assert claims == ["cells[A, Help]", "cells[B, All]", "cells[Average, Help]", "cells[Average, All]"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'recipe  = "mean_score"',
            'recipe  = "median_score"',
            'recount "cells": no recipe "median_score".*it has: mean_score$',
        ),
        ('needs   = ["scores"]', 'needs   = ["labels"]', r'recount "cells" needs "labels"; releases.toml has .*scores'),
        ('needs   = ["scores"]', "needs = []", "needs: expected"),
        ('table   = "t1"', 'table   = "t2"', 'recount "cells": no table "t2"; paper.toml has t1'),
        (
            '"Help", "Hon"]\nrecipe',
            '"Help", "Honesty"]\nrecipe',
            'recount "cells": t1 has no column "Honesty"; columns: Model, ',
        ),
        ('table   = "t1"', 'table   = "t1"\nrows = ["C"]', 'recount "cells": t1 has no row "C"; rows: A, B, Average'),
        ("{ scale = 100 }", '{ scale = 100, row = "A" }', 'recount "cells": `with` has row or column'),
        (
            '"Help", "Hon"]\nrecipe',
            '"Model"]\nrecipe',
            r'recount "cells"\[A, Model\]: cannot read "A" as a printed number',
        ),
        ('id      = "cells"', 'id      = "models"', 'the id "models" stands twice'),
        (
            'reads   = "mean score',
            'read   = "mean score',
            "unknown key 'read'; expected one of id, reads, table, columns",
        ),
    ],
)
def test_a_mistake_is_one_sentence(recounted: Path, old: str, new: str, message: str) -> None:
    edit(recounted, old, new)
    with pytest.raises(UserError, match=message):
        load_paper(recounted)


def test_a_recounted_cell_is_bound(recounted: Path) -> None:
    edit(recounted, 'each = "column"\nof = ["*"]', 'each = "column"\ncolumns = ["All"]\nof = ["*"]')
    assert unbound_cells(load_paper(recounted)) == ["t1|Average|Help", "t1|Average|Hon"]
    edit(recounted, 'columns = ["Help", "Hon"]\nrecipe', 'columns = ["Help", "Hon"]\nrows = ["Average"]\nrecipe')
    assert unbound_cells(load_paper(recounted)) == []


def test_each_cell_gets_its_verdict(countback, recounted: Path, tmp_path: Path) -> None:
    done = countback("check", recounted, "--kind", "recount", "--data", tmp_path / "data", "--json", "-")
    verdicts = {v["where"]["row"] + " " + v["where"]["column"]: v for v in json.loads(done.stdout)["verdicts"]}
    assert {name: v["recounted"] for name, v in verdicts.items()} == {
        "A Help": "3.8", "A Hon": "4.6", "B Help": "3.5", "B Hon": "4.11",
    }  # fmt: skip
    assert [name for name, v in verdicts.items() if not v["agrees"]] == ["B Hon"]
    assert {v["reason"] for v in verdicts.values()} == {"unverified data"}  # the pin has no digest
    assert verdicts["A Help"]["evidence"]["with"] == {"row": "A", "column": "Help", "scale": 100}
