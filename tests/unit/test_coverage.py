"""Which numbers of a document are bound, asserted, context or looked at by nobody: on a document of a few lines."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from countback.claims.coverage import cover, read_document, unbound_cells
from countback.claims.document import Line
from countback.claims.registry import Paper, load_paper
from handmade_pdf import Sheet, ruled_table, write_pdf

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
        (2, "1", "context", "number of a heading"),
        (3, "2", "bound", "models"),
        (3, "3", "unbound", ""),
        (3, "1,860", "asserted", "year"),
        (3, "2020", "context", "citation"),
        (3, "1", "context", "citation"),
        (3, "4.2", "context", "citation"),
        (4, "2", "context", "number of a heading"),
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


def statuses(demo: Paper, text: str | list[Line]) -> list[tuple[str, str]]:
    """Tokens with what they are: "unbound", or the reason why they are context."""
    return [(n.token, n.by if n.status == "context" else n.status) for n in cover(demo, text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Calls were made on June 25\u201326, 2026.", ["date"] * 3),
        ("On 7 October 2026, and by 2027-06-30, and in May 2025.", ["date"] * 6),
        ("We may 2025 times, and march 12 miles.", ["unbound"] * 2),  # a verb, and another
        ("GPT-5.4 on SemEval-2023 with top-3", ["part of a name"] * 3),
        ("(7)", ["number of an equation"]),
        ("as in (7) of them", ["unbound"]),
    ],
)
def test_what_is_no_claim_in_any_paper(demo, text, expected):
    assert [status for _, status in statuses(demo, text)] == expected


def test_headings_are_numbered_in_order(demo):
    text = "1 Introduction\n30 English examples were judged\n2 Method\n2.1 Data and scope\n2.3 Skipped one\n3 Results\n"
    found = statuses(demo, text)
    heading = "number of a heading"
    assert found == [("1", heading), ("30", "unbound"), ("2", heading), ("2.1", heading), ("2.3", "unbound"),
                     ("3", heading)]  # fmt: skip


REFERENCES = """As shown [1, 2], from [2-3]; the interval [3, 14] is none of them.
References
[1] A. Smith. Of judges. 12(3):45-67, 2020.
[2] B. Jones and C. Brown. A report of 99 pages.
[3] D. Miller. Arrivals, 1999.
A Further results
There are 17 of these [9].
"""


def test_a_numbered_list_of_references_says_what_a_citation_is(demo):
    found = statuses(demo, REFERENCES)
    assert found[:4] == [("1", "citation"), ("2", "citation"), ("2", "citation"), ("3", "citation")]
    assert found[4:6] == [("3", "unbound"), ("14", "unbound")]
    listed = [token for token, status in found if status == "list of references"]
    assert listed == ["1", "12", "3", "45", "67", "2020", "2", "99", "3", "1999"]
    assert found[-2:] == [("17", "unbound"), ("9", "unbound")]  # past the list, and cited by no entry


def test_without_a_list_brackets_are_no_citations(demo):
    assert statuses(demo, "between [1, 2]") == [("1", "unbound"), ("2", "unbound")]


def test_what_a_claim_binds_is_bound_whatever_it_looks_like(demo):
    found = cover(demo, "1 Introduction\nMay 2 came, and (2) went, in GPT-2.\n(2)\n")
    assert [n.status for n in found if n.token == "2"] == ["bound"] * 4


def test_pages_of_a_pdf(demo, tmp_path: Path):
    """Tables apart from the text and by their titles, and page numbers at the edge."""
    pytest.importorskip("pdfplumber")
    sheet = Sheet()
    sheet.text(72, 72, "1 Introduction", 12)
    sheet.text(72, 100, "We compare 2 models in 1,860 episodes, and 33 others.")
    sheet.text(72, 140, "Table 1: Scores of 5 models.")
    rows = [("Model", "Help", "Hon", "Clean"), ("A-1", "3.80", "4.60", "-"), ("B", "3.50", "4.10", "77")]
    ruled_table(sheet, 72, 160, rows, [200, 280, 360])
    sheet.text(300, 760, "12")
    file = tmp_path / "paper.pdf"
    write_pdf(file, [sheet])
    lines = read_document(file)
    assert {line.page for line in lines} == {1}
    assert [line.text.split("\t") for line in lines if line.table == "Table 1"][1:] == [
        ["A-1", "3.80", "4.60", "-"],
        ["B", "3.50", "4.10", "77"],
    ]
    assert statuses(demo, lines) == [
        ("1", "number of a heading"), ("2", "bound"), ("1,860", "asserted"), ("33", "unbound"),
        ("1", "cross-reference"), ("5", "unbound"), ("12", "page number"),
        ("1", "row name"), ("3.80", "bound"), ("4.60", "asserted"), ("3.50", "bound"), ("4.10", "asserted"),
        ("77", "unbound"),
    ]  # fmt: skip
    assert {n.page for n in cover(demo, lines)} == {1}


def test_columns_of_a_pdf_are_read_one_after_the_other(demo, tmp_path: Path):
    """Or the numbers of the right column would be those of the left one's section."""
    pytest.importorskip("pdfplumber")
    sheet = Sheet()
    running = ["A line of running text of this length", "and another one that is as long as it"] * 4
    left = ["1 Introduction", *running, "of which there are 2 models in all"]
    right = [*running, "2 Method", "where 7 of 9 cards are drawn by hand"]
    for x, lines in ((60, left), (330, right)):
        for row, text in enumerate(lines):
            sheet.text(x, 80 + 14 * row, text)
    file = tmp_path / "paper.pdf"
    write_pdf(file, [sheet])
    found = [(n.section, n.token, n.status) for n in cover(demo, read_document(file))]
    assert found == [
        ("1 Introduction", "1", "context"),
        ("1 Introduction", "2", "bound"),
        ("2 Method", "2", "context"),
        ("2 Method", "7", "context"),
        ("2 Method", "9", "unbound"),
    ]


PIECES = [
    "a.",
    "1-",
    "a@",
    "Section 1.",
    "(a, ",
    "1,",
    "Table 1, ",
    "\u00a7",
    "ab1",
    ".",
    "May 1 ",
    "GPT-",
    "[1, ",
    "(1)",
]


@pytest.mark.parametrize("piece", PIECES)
def test_long_lines_take_no_square_of_their_length(demo, piece):
    start = time.process_time()
    cover(demo, piece * 20_000)
    assert time.process_time() - start < 10  # a line of dots took 22 s for 40,000 characters, four times that for twice
