"""Coverage of the documents themselves: the texts of two papers to the last number, and a PDF with its tables."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from countback.audit.cli import main
from countback.audit.run import find_papers
from countback.claims.coverage import BOUND, CONTEXT, UNBOUND, cover, read_document
from countback.claims.document import headings, references
from countback.claims.registry import load_paper

NUMBERS = {  # rows times numbers in a row, of which an interval has two, and a count out of a total
    "Table 4": 5 * 4,
    "Table 5": 5 * 6,
    "Table 6": 5 * 6,
    "Table 7": 9 * 5,
    "Table 8": 10 * 6,
    "Table 9": 6 * 5 + 1,  # the row called 20%: 20 is a number of the table as well
    "Table 13": 30 * 5,
}
HEADINGS = "1 1.1 2 2.1 2.2 2.3 3 3.1 3.2 3.3 3.4 3.5 3.6 4 4.1 4.2 4.3 5 5.1 5.2 5.3 5.4 5.5 5.6 5.7 6 7 8 9 10"
TEXTS = {"cubes": "000_3c9b7e6b587c4816.txt", "culture-converse": "002_3474b2e9fc3399ad.txt"}


@pytest.mark.parametrize("paper", TEXTS)
def test_every_number_of_a_paper_is_explained(paper, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["coverage", paper, str(shared / "seeds" / TEXTS[paper])])
    out = capsys.readouterr().out
    assert end.value.code == 0
    assert re.search(r"^ +0 +0\.0%  unbound$", out, re.MULTILINE)
    assert ": unbound" not in out


@pytest.mark.slow
def test_a_pdf_by_its_pages_and_tables(shared: Path) -> None:
    """Each number of the tables that are transcribed is bound or names a row, and nothing cited or dated is left."""
    pytest.importorskip("pdfplumber")
    paper = load_paper(find_papers(("llm-judge-stress-test",))[0])
    lines = read_document(shared / "data" / "llm_judge_stress_test" / "paper.pdf")
    found = cover(paper, lines)
    inside = [(lines[number.line - 1].table, number) for number in found]
    inside = [(table, number) for table, number in inside if table in NUMBERS]
    assert {number.status for _, number in inside} == {BOUND, CONTEXT}
    assert Counter(table for table, number in inside if number.status == BOUND) == NUMBERS
    assert list(headings(lines).values()) == HEADINGS.split()
    places, entries = references(lines)
    assert lines[min(places)].text == "References"
    assert lines[max(places) + 1].text == "A Prompt Template"
    assert entries == set(range(1, 24))
    assert [number for number in found if number.status == UNBOUND and number.line - 1 in places] == []
    why = Counter(number.by for number in found if number.status == CONTEXT)
    assert why["page number"] == max(line.page for line in lines) == 18
    assert why["date"] >= 3  # of the title, and of the calls to the models
