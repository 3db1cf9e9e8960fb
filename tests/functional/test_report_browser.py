"""The report in a browser: opens, filters, links, prints and fits; skipped where playwright or Chromium is absent."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    from countback.audit.report import build, gather, now, write
    from countback.audit.sources import Sources

    folder = tmp_path_factory.mktemp("report")
    nothing = Sources(offline=True, cache=folder / "cache")
    write(build(gather((), None, nothing, folder / "ledger.jsonl"), now()), folder / "out")
    return (folder / "out" / "report.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Any]:
    contexts = []

    def opened(**settings: Any) -> Any:
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.said.append(request.url) if request.url != address else None)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 800, 1600])
def test_it_opens_without_a_word_and_without_sideways_scroll(open_page, width, scheme):
    page = open_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.said == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.evaluate("for (const part of document.querySelectorAll('.group')) part.style.contentVisibility = 'visible'")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 22, 22)"
    assert dark == (scheme == "dark")


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


def test_it_prints(open_page, tmp_path: Path):
    page = open_page()
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
