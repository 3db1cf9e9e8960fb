"""Drawings: a number lies where its scale says, nothing is lost from what is drawn, and any text is safe."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from countback.audit.drawing import Bins, Dot, Square, forest, histograms, letters

TOLD = {"salt": "s", "title": "A title", "description": "Its numbers"}
NUMBER = r"-?[0-9.]+"


def texts(drawing: str) -> dict[str, tuple[float, float]]:
    """Every text with the place of its anchor."""
    found = {}
    for element in ElementTree.fromstring(drawing).iter():
        if element.tag.endswith("}text") and element.text:
            x, y = element.get("x"), element.get("y")
            if x is None or y is None:
                place = re.search(rf"translate\(({NUMBER}) ({NUMBER})\)", element.get("transform", ""))
                assert place is not None
                x, y = place[1], place[2]
            found[element.text.strip()] = (float(x), float(y))
    return found


def marks(drawing: str) -> list[tuple[float, float]]:
    """The places of markers, in the order drawn."""
    uses = [e for e in ElementTree.fromstring(drawing).iter() if e.tag.endswith("}use")]
    return [(float(e.get("x", "nan")), float(e.get("y", "nan"))) for e in uses]


def paths(drawing: str) -> list[list[tuple[float, float]]]:
    """The corners of every path outside of definitions."""
    root = ElementTree.fromstring(drawing)
    defined = {id(e) for defs in root.iter() if defs.tag.endswith("}defs") for e in defs.iter()}
    found = [e.get("d", "") for e in root.iter() if e.tag.endswith("}path") and id(e) not in defined]
    return [[(float(x), float(y)) for x, y in re.findall(rf"[ML] ({NUMBER}) ({NUMBER})", d)] for d in found]


def scaled(drawing: str, low: str, high: str, value: float) -> float:
    """Where a value must lie between two labels of the scale."""
    places = texts(drawing)
    a, b = float(low.replace("−", "-")), float(high.replace("−", "-"))
    return places[low][0] + (places[high][0] - places[low][0]) * (value - a) / (b - a)


def uprights(drawing: str, x: float) -> list[float]:
    """The tops of vertical lines at x."""
    lines = [p for p in paths(drawing) if len(p) == 2 and p[0][0] == p[1][0]]
    return [min(p[0][1], p[1][1]) for p in lines if p[0][0] == pytest.approx(x, abs=0.01)]


def test_dots_and_ends_lie_where_the_scale_says():
    groups = [("Pakistan", [Dot("human", 59.3, 43.0, 72.3, "59.3"), Dot("judge", 89.8, None, None, "89.8", 1)])]
    drawing = forest(groups, **TOLD, zero=55.0, zero_words="zero")
    drawn = marks(drawing)
    wanted = [scaled(drawing, "40", "90", x) for x in (43.0, 72.3, 59.3, 89.8)]
    assert [x for x, _ in drawn] == pytest.approx(wanted, abs=0.01)
    heights = [y for _, y in drawn]
    assert heights[0] == heights[1] == heights[2] < heights[3]
    at = scaled(drawing, "40", "90", 55)
    assert len(uprights(drawing, at)) == 2  # in the strip of each row; no round number is there
    assert texts(drawing)["zero"][0] == pytest.approx(at, abs=0.01)


def test_the_reference_stands_in_its_own_group_only():
    groups = [
        (name, [Dot("human", value, None, None, ""), Dot("judge", 0.5, None, None, "", 1)])
        for name, value in (("first", 0.23), ("second", 0.87))
    ]
    drawing = forest(groups, **TOLD, reference=True)
    second = texts(drawing)["second"][1]
    above, below = (uprights(drawing, scaled(drawing, "0.2", "0.8", value)) for value in (0.23, 0.87))
    assert len(above) == len(below) == 2
    assert max(above) < second < min(below)
    assert drawing.count("stroke-dasharray") == 4


def test_bars_of_a_histogram_are_as_tall_as_their_counts():
    drawing = histograms([Bins("n", "words", (-0.5, 0.5, 1.5, 2.5), (10, 40, 20), None, 2.0)], **TOLD)
    bars = max(paths(drawing), key=len)
    floor = max(y for _, y in bars)
    tops = sorted({round(floor - y, 2) for _, y in bars} - {0.0})
    assert [top / tops[-1] for top in tops] == pytest.approx([0.25, 0.5, 1.0], abs=0.01)
    observed = marks(drawing)[0][0]
    assert observed == pytest.approx(scaled(drawing, "0", "2", 2.0), abs=0.01)
    left, right = min(x for x, _ in bars), max(x for x, _ in bars)
    assert (right - left) / (scaled(drawing, "0", "2", 1.0) - scaled(drawing, "0", "2", 0.0)) == pytest.approx(
        3, abs=0.01
    )


def test_letters_stand_under_their_countries_and_ties_are_framed():
    rows = [("q", [Square("A", "tie", 0.3, "-"), Square("B", "", 0.1, "--"), Square("C", "", 0.0, "")])]
    drawing = letters(["Nigeria", "Pakistan", "Kenya"], rows, **TOLD)
    places = texts(drawing)
    for country, letter in (("Nigeria", "A"), ("Pakistan", "B"), ("Kenya", "C")):
        assert places[country][0] == pytest.approx(places[letter][0])
        assert places[country][1] < places[letter][1]
    assert places["tie"][0] == pytest.approx(places["A"][0])
    widths = [float(w) for w in re.findall(r"stroke-width: ([0-9.]+)", drawing)]
    assert widths.count(2.2) == 2
    assert drawing.count("stroke-dasharray") == 1


def test_many_countries_still_stand_apart():
    names = [f"A country with a name {n}" for n in range(12)]
    drawing = letters(names, [("q", [Square("A", "", 0.3, "")] * 12)], **TOLD)
    shown = [place for text, place in texts(drawing).items() if text.startswith("A country")]
    assert len({round(x, 1) for x, _ in shown}) == len(shown)
    assert "rotate" in drawing


def test_a_long_name_takes_a_line_more_and_is_whole():
    name = "judges' mean spread at most a half of the human's, where the judges follow the difference"
    short, long = (forest([("", [Dot(text, 1.0, None, None, "words")])], **TOLD) for text in ("name", name))
    shown = [text for text in texts(long) if text in name]
    assert " ".join(shown) == name
    assert len(shown) == 2
    heights = [float(re.search(r'viewBox="0 0 324 ([0-9.]+)"', each)[1]) for each in (short, long)]  # type: ignore[index]
    assert heights[1] > heights[0]


def test_a_drawing_has_no_colour_of_its_own_and_words_for_everyone():
    drawing = forest([("", [Dot("x", 1.0, 0.0, 2.0, "1")])], **TOLD, stamp="SYNTHETIC stand-in")
    assert "#010203" not in drawing
    assert "currentColor" in drawing
    assert not re.search(r"(fill|stroke): #(?!ffffff)", drawing)
    assert drawing.startswith('<svg role="img" aria-labelledby="s-title s-text"')
    assert '<title id="s-title">A title</title><desc id="s-text">Its numbers</desc>' in drawing
    assert "SYNTHETIC stand-in" in texts(drawing)
    assert "<metadata" not in drawing


def test_the_same_numbers_give_the_same_bytes():
    groups = [("", [Dot("x", 1.0, 0.0, 2.0, "1")])]
    assert forest(groups, **TOLD) == forest(groups, **TOLD)
    assert forest(groups, **TOLD) != forest([("", [Dot("x", 1.1, 0.0, 2.0, "1")])], **TOLD)


@pytest.mark.parametrize("text", ["$x^{$", "<script>", "a\nb", "\x0b", "\u202e", "x" * 500, "\ud800", ""])
def test_any_text_is_drawn_as_it_is(text):
    drawing = forest([(text, [Dot(text, 1.0, None, None, text)])], salt="s", title=text, description=text, stamp=text)
    assert "<script" not in drawing
    assert drawing.endswith("</svg>\n")


@pytest.mark.parametrize(
    "values", [(0.0, 0.0), (1e-320, 1e-320), (-1e9, 1e9), (5.0, 5.0 + 1e-12), (-3.0, -3.0), (0.1, 0.30000001)]
)
def test_any_scale_has_round_numbers_in_order(values):
    low, high = values
    drawing = forest([("", [Dot("x", low, low, high, "")])], **TOLD)
    xs = [x for x, _ in marks(drawing)]
    assert all(0 <= x <= 324 for x in xs)
    assert xs[0] <= xs[1]
