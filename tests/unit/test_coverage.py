"""Which numbers of a document are bound, asserted, context or looked at by nobody: on a document of a few lines."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from countback.claims.coverage import cover, unbound_cells
from countback.claims.registry import Paper, load_paper

PAPER = """id = "demo"
title = "A made-up paper for tests"
citation = "nobody"
version = "synthetic"
licence = "none"
requires = 1
[[table]]
id = "t1"
title = "Table 1"
key = "Model"
"""
CLAIMS = """[[claim]]
id = "models"
where = { section = "1 Introduction" }
reads = "models compared"
reported = "2"

[[claim]]
id = "year"
where = { section = "1 Introduction" }
reads = "a setting"
reported = "1,860"
asserted = "nothing can check it"

[[relation]]
id = "count"
reads = "the number of models"
relation = "count"
of = ["t1|*|Help"]
equals = "#models"

[[asserted]]
id = "hon"
table = "t1"
columns = ["Hon"]
why = "as printed"

[[context]]
section = "2 Method"
numbers = ["7"]
why = "a lucky number"
"""
TABLE = "Model,Help,Hon,Clean\nA-1,3.80,4.60,-\nB,3.50,4.10,77\n"
TEXT = """A title with 12 words
1 Introduction
We compare 2 models and 3 others in 1,860 episodes (Smith, 2020; see Table 1 and Section 4.2).
2 Method
We draw 7 cards and 2 more; see https://example.org/77 and 427804.
Model\tHelp\tHon\tClean
A-1\t3.80\t4.60\t-
B\t3.50\t4.10\t77
Table 1: Scores of 5 models.
"""


@pytest.fixture
def demo(tmp_path: Path) -> Paper:
    (tmp_path / "tables").mkdir()
    (tmp_path / "paper.toml").write_text(PAPER)
    (tmp_path / "claims.toml").write_text(CLAIMS)
    (tmp_path / "tables" / "t1.csv").write_text(TABLE)
    return load_paper(tmp_path)


def test_every_number_has_a_status(demo):
    found = [(n.line, n.token, n.status, n.by) for n in cover(demo, TEXT)]
    assert found == [
        (1, "12", "unbound", ""),
        (2, "1", "unbound", ""),  # the heading's own number: nothing says what it is
        (3, "2", "bound", "models"),
        (3, "3", "unbound", ""),
        (3, "1,860", "asserted", "year"),
        (3, "2020", "context", "citation"),
        (3, "1", "context", "citation"),
        (3, "4.2", "context", "citation"),
        (4, "2", "unbound", ""),  # 2 is a number of section 1
        (5, "7", "context", "a lucky number"),
        (5, "2", "unbound", ""),
        (5, "77", "context", "link"),
        (5, "427804", "unbound", ""),
        (7, "1", "context", "row name"),
        (7, "3.80", "bound", "count"),
        (7, "4.60", "asserted", "hon[A-1, Hon]"),
        (8, "3.50", "bound", "count"),
        (8, "4.10", "asserted", "hon[B, Hon]"),
        (8, "77", "unbound", ""),
        (9, "1", "context", "cross-reference"),
        (9, "5", "unbound", ""),
    ]


def test_cells_that_nothing_uses(demo):
    assert unbound_cells(demo) == ["t1|B|Clean"]


def test_a_document_without_numbers(demo):
    assert cover(demo, "") == []
    assert cover(demo, "no number\n\n\n") == []


@pytest.mark.parametrize("piece", ["a.", "1-", "a@", "Section 1.", "(a, ", "1,", "Table 1, ", "\u00a7", "ab1", "."])
def test_long_lines_take_no_square_of_their_length(demo, piece):
    start = time.process_time()
    cover(demo, piece * 20_000)
    assert time.process_time() - start < 10  # a line of dots took 22 s for 40,000 characters, four times that for twice
