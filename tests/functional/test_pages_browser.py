"""The pages that people read, in a browser: what holds of each of them, whatever it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judge_data import judged, panel, write

from tests.functional import browsing

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytestmark = [pytest.mark.slow, browsing.NEEDS_CHROMIUM]

COUNTRIES = ("US", "Bosnia and Herzegovina, Republika Srpska", "PK", "一个名字")


def make_report(folder: Path) -> Path:
    """A report of one paper of the registry, without its released files, and with the predictions."""
    from countback.audit.report import build, gather, now, write
    from countback.audit.sources import Sources

    nothing = Sources(offline=True, cache=folder / "cache")
    write(build(gather(("cubes",), None, nothing, folder / "ledger.jsonl"), now()), folder / "out")
    return folder / "out" / "report.html"


def make_audit(folder: Path) -> Path:
    """An audit of made-up labels: crossed, two scales, long names, a judge that is good and one that is not."""
    from countback.audit.judge import audit_labels
    from countback.audit.judge.html import write_html
    from countback.audit.judge.settings import read_settings

    rng = np.random.default_rng(1)
    header = ("item", "annotator", "country", "question", "label")
    rows: list[tuple[str, ...]] = []
    said: list[tuple[str, ...]] = []
    for question, labels in (("tone of the answer towards its reader", "12345"), ("harm", "123")):
        given, truth = panel(rng, countries=COUNTRIES, items=40, shared=True, people=4, labels=labels)
        rows += [(item, who, country, question, label) for item, who, country, label in given]
        for name, right in (("model-with-a-name-of-some-length-2026-11-29", 0.9), ("m", 0.4)):
            answers = judged(rng, truth, right, labels, name)
            said += [(item, who, country, question, label) for item, who, country, label in answers]
    labels_file = write(folder / "labels.csv", rows, header)
    judges_file = write(folder / "judges.csv", said, ("item", "judge", *header[2:]))
    settings = read_settings(labels_file, judges_file)
    write_html(audit_labels(labels_file, judges_file, settings, draws=200), folder / "audit.html")
    return folder / "audit.html"


def make_plan(folder: Path) -> Path:
    """A plan of three countries, with a simulation of a few data sets."""
    command("plan", "--countries", "3", "--draws", "20", "--html", folder / "plan.html")
    return folder / "plan.html"


def make_fit(folder: Path) -> Path:
    """The page of an approximate fit of made-up labels."""
    rows, _ = panel(np.random.default_rng(1), countries=COUNTRIES, items=15, shared=True, people=3)
    labels = write(folder / "labels.csv", rows)
    command("fit", labels, "--engine", "approximate", "--no-sweep", "--draws", "200", "--out", folder / "out")
    return folder / "out" / "index.html"


def command(*words: object) -> None:
    from countback.audit.cli import main

    with pytest.raises(SystemExit):
        main([*map(str, words), "--quiet"])


MAKERS = {"report": make_report, "judge": make_audit, "plan": make_plan, "fit": make_fit}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: make(tmp_path_factory.mktemp(name)).as_uri() for name, make in MAKERS.items()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 768, 1600])
@pytest.mark.parametrize("name", MAKERS)
def test_it_opens_without_a_word_fits_and_is_light_or_dark(open_page, addresses, name, width, scheme):
    page = open_page(addresses[name], viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.said == []
    assert browsing.sideways(page) == 0
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, shade.removeprefix("rgb(").removesuffix(")").split(",")))
    assert (lightness < 150) if scheme == "dark" else (lightness > 650)
    browsing.keep(page, f"{name}-{width}-{scheme}")


@pytest.mark.parametrize("width", [320, 1280])
def test_words_in_the_picture_of_a_judge_stand_beside_each_other(open_page, addresses, width):
    page = open_page(addresses["judge"], viewport={"width": width, "height": 900})
    for picture in page.locator("svg").all():
        boxes = [text.bounding_box() for text in picture.locator("text").all()]
        around = picture.bounding_box()
        assert len(boxes) > 8
        for one in boxes:
            assert around["x"] <= one["x"]
            assert one["x"] + one["width"] <= around["x"] + around["width"] + 1
            beside = [b for b in boxes if b is not one and abs(b["y"] - one["y"]) < one["height"] / 2]
            assert all(b["x"] >= one["x"] + one["width"] or b["x"] + b["width"] <= one["x"] for b in beside)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MAKERS)
def test_axe_finds_nothing_serious(open_page, addresses, name, scheme):
    page = open_page(addresses[name], color_scheme=scheme)
    assert browsing.violations(page) == []


def test_axe_would_find_it(open_page, addresses):
    """What the test above relies on: faults that are put into a page are found."""
    page = open_page(addresses["judge"])
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: #bbb; background: #fff\">pale</p>"
        '<img src="data:,"><select></select>\')'
    )
    found = browsing.violations(page)
    assert {line.partition(":")[0] for line in found} >= {"color-contrast", "image-alt", "select-name"}


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("name", MAKERS)
def test_the_keyboard_reaches_every_control_in_order_and_shows_where_it_is(open_page, addresses, name, width):
    page = open_page(addresses[name], viewport={"width": width, "height": 900})
    number, reached = browsing.tab_through(page)
    assert number > 0
    assert [focused["nth"] for focused in reached] == list(range(number))
    assert [focused["html"] for focused in reached if not (focused["ringed"] and focused["seen"])] == []


@pytest.mark.parametrize("name", MAKERS)
def test_a_focused_control_looks_otherwise(open_page, addresses, name):
    """The ring is seen in the pixels, not only in the style: one control of each kind."""
    page = open_page(addresses[name])
    browsing.lay_out(page)
    for kind in ("a[href]", "button", "input", "select", "summary", "[tabindex='0']"):
        control = page.locator(f"main {kind}:visible").first
        if not control.count():
            continue
        page.keyboard.press("Tab")  # focus that comes by keyboard is what is to be seen
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        around = {"x": max(box["x"] - 6, 0), "y": max(box["y"] - 6, 0), "width": 60, "height": 40}
        page.evaluate("document.activeElement.blur()")
        before = page.screenshot(clip=around)
        control.evaluate("control => control.focus({ focusVisible: true, preventScroll: true })")
        assert page.screenshot(clip=around) != before, kind


@pytest.mark.parametrize("name", MAKERS)
def test_without_scripts_nothing_is_missing(open_page, addresses, name):
    """The text that is visible is the same, but for the controls of the filter."""
    texts = []
    for scripts in (True, False):
        page = open_page(addresses[name], java_script_enabled=scripts)
        filters = page.locator("form.filter").all_inner_texts() if scripts else []
        text = page.locator("main").inner_text()
        for one in filters:
            text = text.replace(one, "")
        texts.append([line.strip() for line in text.splitlines() if line.strip()])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", MAKERS)
def test_it_prints_whole(open_page, addresses, name, tmp_path: Path):
    pdfplumber = pytest.importorskip("pdfplumber")
    page = open_page(addresses[name])
    heading = page.locator("h1").inner_text()
    headings = page.locator("main h2").all_inner_texts()
    last = page.locator("body").inner_text().strip().splitlines()[-1]
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    with pdfplumber.open(tmp_path / "page.pdf") as pdf:
        pages = [" ".join((sheet.extract_text() or "").split()) for sheet in pdf.pages]
        outside = [
            char["text"] for sheet in pdf.pages for char in sheet.chars
            if char["text"].strip() and not (char["x0"] >= 0 and char["x1"] <= sheet.width + 1)
        ]  # fmt: skip
    squeezed = "".join("".join(pages).split())
    assert "".join(heading.split()) in "".join(pages[0].split())
    assert [each for each in headings if "".join(each.split()) not in squeezed] == []
    assert "".join(last.split()) in squeezed
    assert outside == []


@pytest.mark.parametrize("name", MAKERS)
def test_every_link_inside_the_page_leads_somewhere(open_page, addresses, name):
    page = open_page(addresses[name])
    dead = page.evaluate(
        "() => [...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href'))"
        ".filter(name => !document.getElementById(decodeURIComponent(name.slice(1))))"
    )
    assert dead == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]:not(svg [id])')].map(e => e.id)")
    assert len(ids) == len(set(ids))
