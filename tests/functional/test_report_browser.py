"""The report of all papers in a browser: its filter, search and links. test_pages_browser has what every page does."""

from __future__ import annotations

from functools import partial

import pytest

from tests.functional import browsing

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytestmark = [pytest.mark.slow, browsing.NEEDS_CHROMIUM]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    from countback.audit.report import build, gather, now, write
    from countback.audit.sources import Sources

    folder = tmp_path_factory.mktemp("report")
    nothing = Sources(offline=True, cache=folder / "cache")
    write(build(gather((), None, nothing, folder / "ledger.jsonl"), now()), folder / "out")
    return (folder / "out" / "report.html").as_uri()


@pytest.fixture
def open_page(open_page: browsing.Open, address: str) -> browsing.Open:
    return partial(open_page, address)


def test_filter_search_and_a_link_to_what_they_hide(open_page):
    page = open_page()
    form = page.locator("form.filter[aria-label='Claims of culture-converse']")
    rows = f"#{form.get_attribute('data-of')} tr[id]"
    every = page.locator(rows).count()
    form.locator("select").select_option("inconsistent")
    page.wait_for_function("f => f.querySelector('output').value.includes(' of ')", arg=form.element_handle())
    shown = page.locator(f"{rows}:not([hidden])")
    assert 0 < shown.count() < every
    assert set(shown.evaluate_all("rows => rows.map(row => row.className)")) == {"inconsistent"}
    form.locator("input").fill("t4-average hon")
    page.wait_for_function("f => f.querySelector('output').value.startsWith('1 of ')", arg=form.element_handle())
    hidden = page.locator(f"{rows}[hidden]").first.get_attribute("id")
    page.evaluate("name => { location.hash = name }", hidden)
    page.wait_for_function("f => f.querySelector('output').value.startsWith('all ')", arg=form.element_handle())
    assert page.locator(f'[id="{hidden}"]').is_visible()
    assert page.said == []


def test_the_keyboard_reaches_the_skip_link_then_the_contents(open_page):
    page = open_page()
    reached = []
    for _ in range(4):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
    assert reached == ["Skip to the findings", "Findings", "Counts", "Not checked"]
    page.evaluate("document.activeElement.blur()")
    page.locator("a.skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#findings"


def test_without_scripts_every_claim_is_shown_and_no_filter(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator("form.filter").first.is_hidden()
    assert page.locator("tr[id]").count() == page.locator("tr[id]:not([hidden])").count() > 1000


def test_a_link_to_a_claim_shows_it(open_page, address):
    page = open_page()
    claim = page.locator("tr[id]").nth(2500).get_attribute("id")
    page.goto(f"{address}#{claim}")
    page.wait_for_function("name => document.getElementById(name).matches(':target')", arg=claim)
    box = page.locator(f'[id="{claim}"]').bounding_box()
    assert 0 <= box["y"] < 800
    assert page.locator(f'[id="{claim}"] a').first.get_attribute("href") == f"#{claim}"
