"""Pictures of every kind in a browser: narrow, dark and printed; skipped where playwright or Chromium is absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from countback.audit.report import build, gather, now, write
from countback.audit.sources import Sources
from countback.claims.pictures import PRINTED, SYNTHETIC, as_json

from tests.functional import browsing
from tests.functional.test_report_pictures import LINE, pictures

pytestmark = [pytest.mark.slow, browsing.NEEDS_CHROMIUM]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with each kind twice: long names from a stand-in, and printed numbers."""
    folder = tmp_path_factory.mktemp("pictures")
    drawn = [*pictures(SYNTHETIC, name="a-judge-with-a-very-long-name-" * 3), *pictures(PRINTED)]
    told = {"schema": "countback.verdicts/1", "kit": {}, "inputs": [], "summary": {}, "verdicts": [LINE]}
    (folder / "v.json").write_text(json.dumps(told | {"pictures": [as_json(each) for each in drawn]}))
    nothing = Sources(offline=True, cache=folder / "cache")
    write(build(gather((), folder / "v.json", nothing, folder / "ledger.jsonl"), now()), folder / "out")
    return (folder / "out" / "report.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_they_fit_and_are_legible(open_page, address, width, scheme):
    page = open_page(address, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.said == []
    assert browsing.sideways(page) == 0
    page.evaluate("for (const d of document.querySelectorAll('.picture details')) d.open = true")
    assert browsing.sideways(page) == 0
    drawings = page.locator(".drawings svg")
    assert drawings.count() == 14
    ink = page.evaluate("getComputedStyle(document.body).color")
    for number in range(drawings.count()):
        box = drawings.nth(number).bounding_box()
        assert 200 < box["width"] <= width
        text = drawings.nth(number).locator("text").first
        assert text.evaluate("e => getComputedStyle(e).fill") == ink
        size = text.evaluate("e => parseFloat(getComputedStyle(e).fontSize) * e.getCTM().a")
        assert size > 7  # pixels


def test_the_tables_print_and_the_stand_in_is_named_on_paper(open_page, address, tmp_path: Path):
    pdfplumber = pytest.importorskip("pdfplumber")
    page = open_page(address)
    page.pdf(path=tmp_path / "p.pdf", format="A4")
    with pdfplumber.open(tmp_path / "p.pdf") as pdf:
        words = " ".join(" ".join((sheet.extract_text() or "").split()) for sheet in pdf.pages)
    assert words.count("SYNTHETIC stand-in: proves nothing") == 7
    assert words.count("as printed by the paper, not recounted") == 7
    assert "0: 4,321; 1: 679" in words  # from a table that is folded on the screen


def test_axe_finds_nothing_serious(open_page, address):
    assert browsing.violations(open_page(address)) == []
