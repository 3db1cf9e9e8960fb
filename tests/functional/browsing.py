"""A page in Debian's Chromium: opened with everything it says kept, walked by keyboard, given to axe-core, kept as PNG.

Chromium is found on the PATH. axe-core is found in `node_modules` of the checkout, or in the folder that COUNTBACK_AXE
names (`npm install axe-core` makes either). COUNTBACK_SCREENSHOTS names a folder to keep pictures of the pages in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")
Open = Callable[..., Any]

_AXE = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.filter(v => ["serious", "critical"].includes(v.impact))
    .map(v => `${v.id}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 200)}: ${v.nodes[0].failureSummary}`);
}"""
_ALL_LAID_OUT = "for (const part of document.querySelectorAll('.group')) part.style.contentVisibility = 'visible'"
_FOCUSABLE = """() => {
  const open = e => { const d = e.closest("details:not([open])"); return !d || e === d.querySelector("summary"); };
  const all = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")];
  return all.filter(e => e.checkVisibility() && open(e)).map((e, n) => { e.dataset.nth = n; return n; }).length;
}"""
_FOCUSED = """() => {
  const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
  if (e === document.body) return null;
  const seen = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
  const ringed = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1;
  return { nth: Number(e.dataset.nth ?? -1), html: e.outerHTML.slice(0, 120), ringed, seen };
}"""


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@contextmanager
def opener(chromium: Any) -> Iterator[Open]:
    """`opened(address, **settings)` gives a page; `page.said` is what it logged, threw, or asked of anywhere else."""
    contexts = []

    def opened(address: str, **settings: Any) -> Any:
        contexts.append(chromium.new_context(**settings))
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


def lay_out(page: Any) -> None:
    """Also the parts that a browser leaves out until they are scrolled to."""
    page.evaluate(_ALL_LAID_OUT)


def violations(page: Any) -> list[str]:
    """What axe-core finds serious or critical; skips the test where there is none of it."""
    lay_out(page)
    page.set_default_timeout(300_000)
    page.evaluate(axe())
    found: list[str] = page.evaluate(_AXE)
    return found


def axe() -> str:
    """The script of axe-core, or a skip."""
    checkout = Path(__file__).resolve().parents[2]
    for folder in (os.environ.get("COUNTBACK_AXE"), checkout / "node_modules"):
        for script in Path(folder).rglob("axe.min.js") if folder else ():
            return script.read_text(encoding="utf-8")
    pytest.skip("needs axe-core: npm install axe-core, here or where COUNTBACK_AXE points")


def tab_through(page: Any) -> tuple[int, list[dict[str, Any]]]:
    """How many controls there are, numbered in the order of the page, and each that the Tab key reaches in turn."""
    lay_out(page)
    number = page.evaluate(_FOCUSABLE)
    reached = []
    for _ in range(number + 1):
        page.keyboard.press("Tab")
        focused = page.evaluate(_FOCUSED)
        if focused is None:
            break
        reached.append(focused)
    return number, reached


def sideways(page: Any) -> int:
    """Pixels by which the page is wider than its window."""
    lay_out(page)
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def keep(page: Any, name: str) -> None:
    """A picture of the whole page, where somebody asked for pictures."""
    if folder := os.environ.get("COUNTBACK_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
