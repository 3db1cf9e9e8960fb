"""Drawings as SVG text by matplotlib, without a display: dots with intervals, histograms, a grid of letters.

For pages of any kind: colours are the page's own (currentColor, CSS variables), so that one drawing serves light, dark
and paper; nothing is told by colour alone; each has a title and a description for whoever cannot see it. Drawings are
narrow and tall, so that they are legible on a telephone. matplotlib comes with the extra `report`.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from countback.audit.words import visible
from countback.fetch.errors import UserError

INK = "#010203"  # stands for the page's text colour until the drawing is text
WIDTH = 4.5  # inches, as are all heights
LINE, BAR, HEADING, AXIS = 0.155, 0.15, 0.27, 0.2
SIZE = 8.5  # of text, in points
EDGE = 0.015  # of the width, left free at both sides
ROOM = 72  # letters of a line
MARKS = "Dos^vPXph*<>d"  # the first is filled, the others are hollow


@dataclass(frozen=True)
class Dot:
    """A value with its interval, each of which may be absent; `words` state the numbers, `mark` counts into MARKS."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    words: str
    mark: int = 0

    @property
    def name_lines(self) -> list[str]:
        return textwrap.wrap(one_line(self.name), ROOM) or [""]

    @property
    def lines(self) -> int:
        """Of text: the name, and the words at the end of its last line, or below it where both are long."""
        return len(self.name_lines) + (len(self.name_lines[-1]) + len(self.words) >= ROOM)

    @property
    def ends(self) -> list[float]:
        return [x for x in (self.value, self.low, self.high) if x is not None]


@dataclass(frozen=True)
class Bins:
    """A histogram, or only the mean and range of one (`dot`), and what was observed; `words` state the numbers."""

    name: str
    words: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    dot: Dot | None
    observed: float | None


@dataclass(frozen=True)
class Square:
    """One cell of a grid: a letter, a word or two below it, how dark (0 to 1), and the line of its frame: "" thin, "-"
    thick, "--" thick and dashed."""

    letter: str
    word: str
    shade: float
    frame: str


def figure(width: float, height: float) -> Any:
    """Raises UserError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError(
            "The pictures of a page need matplotlib, which is not installed: pip install 'countback[report]'"
        ) from None
    return Figure(figsize=(width, height))


def svg(drawn: Any, salt: str, title: str, description: str, shades: Mapping[str, str] | None = None) -> str:
    """The drawing as an <svg> element: colours of the page, no ids that two drawings could share, no metadata.

    `salt` is an id of plain letters, one for each drawing of a page; `shades` maps colours to CSS variables.
    """
    import matplotlib
    from markupsafe import escape

    out = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": salt, "font.family": "sans-serif"}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's fonts draw the text, not ours
        drawn.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    drawing = out.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r' id="[A-Za-z_0-9.]+"(?=>|/)', lambda m: "" if re.search(r"_\d+\"", m[0]) else m[0], drawing)
    drawing = drawing.replace(INK, "currentColor")
    for shade, name in (shades or {}).items():
        drawing = drawing.replace(shade, f"var(--{name})")
    drawing = re.sub(r'font: ((?:\w+ )?[0-9.]+px) [^;"]*', r"font: \1 system-ui, sans-serif", drawing)
    head = f'<svg role="img" aria-labelledby="{salt}-title {salt}-text" '
    words = f'<title id="{salt}-title">{escape(title)}</title><desc id="{salt}-text">{escape(description)}</desc>'
    start = drawing.index(">") + 1
    opening = re.sub(r'(width|height)="[^"]*pt" ', "", drawing[:start]).replace("<svg ", head, 1)
    return opening + words + drawing[start:]


@dataclass
class _Sheet:
    """Lines from the top of a narrow drawing; x runs from 0 to 1, y in inches downwards."""

    axes: Any
    top: float = 0.0

    def text(self, x: float, words: str, *, y: float | None = None, **more: Any) -> None:
        self.at(x, self.top if y is None else y, words, **({"ha": "left"} | more))

    def at(self, x: float, y: float, words: str, **more: Any) -> None:
        settings: Any = {"color": INK, "fontsize": SIZE, "ha": "center", "va": "center", "parse_math": False} | more
        self.axes.text(x, y, one_line(words), **settings)

    def line(self, x: Sequence[float], y: Sequence[float], **more: Any) -> None:
        self.axes.plot(x, y, color=INK, **({"linewidth": 1.2, "solid_capstyle": "butt"} | more))


def _sheet(height: float, stamp: str) -> tuple[Any, _Sheet]:
    """A drawing of this height below its stamp, which says what it rests on in the drawing itself."""
    room = 0.3 if stamp else 0.05
    drawn = figure(WIDTH, height + room)
    axes = drawn.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(height + room, 0)
    sheet = _Sheet(axes, 0.15)
    if stamp:
        box = {"boxstyle": "square,pad=0.25", "facecolor": "none", "edgecolor": INK, "linewidth": 1.2}
        sheet.text(EDGE + 0.01, stamp, fontweight="bold", bbox=box)
    sheet.top = room
    return drawn, sheet


def one_line(words: str, most: int = 110) -> str:
    """Any text as one line in which nothing is hidden, cut to a length that a drawing holds."""
    plain = " ".join(visible(words).split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


# --- Dots with intervals -------------------------------------------------------------------------------------------


def forest(
    groups: Sequence[tuple[str, Sequence[Dot]]],
    *,
    salt: str,
    title: str,
    description: str,
    stamp: str = "",
    zero: float | None = None,
    zero_words: str = "",
    reference: bool = False,
) -> str:
    """Rows of dots on one scale, under the name of their group. `zero` marks a place in every row; `reference` that of
    each group's first dot."""
    ends = [x for _, dots in groups for dot in dots for x in dot.ends] + ([] if zero is None else [zero])
    scale = _Scale.around(ends)
    rows = sum(dot.lines * LINE + BAR for _, dots in groups for dot in dots)
    named = sum(bool(name) for name, _ in groups)
    drawn, sheet = _sheet(rows + named * HEADING + 2 * AXIS, stamp)
    for tick in scale.ticks:
        sheet.at(scale.place(tick), sheet.top + AXIS / 2, _number(tick), fontsize=SIZE - 1)
    sheet.top += AXIS
    strips: list[_Strip] = []
    for name, dots in groups:
        if name:
            sheet.text(EDGE, name, y=sheet.top + HEADING / 2 + 0.02, fontweight="bold", fontsize=SIZE + 0.5)
            sheet.top += HEADING
        strips += [_row(sheet, dot, dots[0].value if reference else None) for dot in dots]
    _ruled(sheet, scale, strips, zero)
    _marked(sheet, scale, [(strip.dot, strip.middle) for strip in strips])
    if zero is not None:
        at = scale.place(zero)
        side = "left" if at < 0.15 else "right" if at > 0.85 else "center"
        sheet.at(at, sheet.top + 0.4 * AXIS, zero_words, fontsize=SIZE - 1, ha=side)
    return svg(drawn, salt, title, description)


@dataclass(frozen=True)
class _Strip:
    """Where a row's dot lies, and the value that its group is compared with."""

    dot: Dot
    top: float
    bottom: float
    reference: float | None

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def _row(sheet: _Sheet, dot: Dot, reference: float | None) -> _Strip:
    """The name and the numbers in words, and room below them for the dot."""
    for number, part in enumerate(dot.name_lines):
        sheet.text(EDGE, part, y=sheet.top + (number + 0.5) * LINE)
    sheet.top += dot.lines * LINE
    sheet.text(1 - EDGE, one_line(dot.words, ROOM), y=sheet.top - LINE / 2, ha="right")
    strip = _Strip(dot, sheet.top + 0.005, sheet.top + BAR - 0.03, reference)
    sheet.top += BAR
    return strip


def _ruled(sheet: _Sheet, scale: _Scale, strips: Sequence[_Strip], zero: float | None) -> None:
    """Short lines at round numbers, at zero and at the reference; all of a kind in one piece, which is faster."""
    for strength, style, lines in (
        ({"linewidth": 0.7, "alpha": 0.3}, "-", [(tick, s) for s in strips for tick in scale.ticks]),
        ({"linewidth": 1.5}, "-", [(zero, s) for s in strips if zero is not None]),
        ({"linewidth": 1.5}, ":", [(s.reference, s) for s in strips if s.reference is not None]),
    ):
        if lines:
            places, found = [scale.place(value) for value, _ in lines], [strip for _, strip in lines]
            tops, bottoms = [s.top - 0.01 for s in found], [s.bottom + 0.01 for s in found]
            sheet.axes.vlines(places, tops, bottoms, color=INK, linestyle=style, **strength)


def _marked(sheet: _Sheet, scale: _Scale, dots: Sequence[tuple[Dot, float]]) -> None:
    """Intervals as lines between two ends, then the values, a mark of each kind at a time."""
    spans = [(scale.place(d.low), scale.place(d.high), y) for d, y in dots if d.low is not None and d.high is not None]
    if spans:
        lows, highs, ys = zip(*spans, strict=True)
        sheet.axes.hlines(ys, lows, highs, color=INK, linewidth=1.4)
        sheet.line([x for low, high, _ in spans for x in (low, high)], [y for y in ys for _ in range(2)], marker="|",
                   markersize=6, linewidth=0)  # fmt: skip
    for mark in dict.fromkeys(d.mark for d, _ in dots):
        found = [(scale.place(d.value), y) for d, y in dots if d.mark == mark and d.value is not None]
        if found:
            face = INK if mark == 0 else "none"
            sheet.line(*zip(*found, strict=True), marker=MARKS[mark % len(MARKS)], markersize=5.5, markerfacecolor=face,
                       linewidth=0)  # fmt: skip


@dataclass(frozen=True)
class _Scale:
    """Values to places between 0 and 1; `ticks` are round numbers within."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, values: Sequence[float], *, exact: bool = False) -> _Scale:
        """From a round number below all values to one above; `exact`: from the least to the greatest."""
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if high - low < 1e-9 * max(abs(low), abs(high), 1e-6):
            low, high = low - 0.5 * max(abs(low), 1e-3), high + 0.5 * max(abs(high), 1e-3)
        size = 10.0 ** math.floor(math.log10(high - low))
        step = next(s * size for s in (0.1, 0.2, 0.5, 1.0, 2.0) if (high - low) / (s * size) <= 6)
        inward = 1e-9
        if exact:
            first, last = math.ceil(low / step - inward), math.floor(high / step + inward)
            return cls(low, high, tuple(k * step for k in range(first, last + 1)))
        first, last = math.floor(low / step + inward), math.ceil(high / step - inward)
        return cls(first * step, last * step, tuple(k * step for k in range(first, last + 1)))

    def place(self, value: float) -> float:
        margin = EDGE + 0.03
        return margin + (1 - 2 * margin) * (value - self.low) / (self.high - self.low)


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


# --- Histograms ------------------------------------------------------------------------------------------------------


def histograms(rows: Sequence[Bins], *, salt: str, title: str, description: str, stamp: str = "") -> str:
    """One below the other, each on a scale of its own, the observed value as a thick line with a triangle."""
    heights = [2 * LINE + (0.62 if row.counts else 0.3 if row.dot is not None else 0.05) for row in rows]
    drawn, sheet = _sheet(sum(heights), stamp)
    for row, height in zip(rows, heights, strict=True):
        below = sheet.top + height
        sheet.top += 0.6 * LINE
        sheet.text(EDGE, one_line(row.name, 60), fontweight="bold")
        sheet.top += LINE
        sheet.text(EDGE, one_line(row.words, 84))
        sheet.top += 0.6 * LINE
        _bins(sheet, row, sheet.top + 0.05, below - 0.2)
        sheet.top = below
    return svg(drawn, salt, title, description)


def _bins(sheet: _Sheet, row: Bins, top: float, floor: float) -> None:
    ends = [*row.edges, *(row.dot.ends if row.dot is not None else [])]
    if not ends:
        return
    scale = _Scale.around([*ends, *([row.observed] if row.observed is not None else [])], exact=bool(row.counts))
    if row.counts:
        tallest = max(*row.counts, 1)
        tops = [floor - (floor - top) * count / tallest for count in row.counts]
        places = [scale.place(edge) for edge in row.edges]
        sheet.axes.stairs(tops, places, baseline=floor, fill=True, facecolor=INK, alpha=0.3, linewidth=0)
        sheet.axes.stairs(tops, places, baseline=floor, color=INK, linewidth=0.8)
    elif row.dot is not None:
        _marked(sheet, scale, [(row.dot, (top + floor) / 2)])
    sheet.line([scale.place(scale.low), scale.place(scale.high)], [floor, floor], linewidth=0.8)
    for tick in scale.ticks:
        sheet.at(scale.place(tick), floor + 0.08, _number(tick), fontsize=SIZE - 1.5)
    if row.observed is not None:
        at = scale.place(row.observed)
        sheet.line([at, at], [top, floor], linewidth=2.2)
        sheet.line([at], [top], marker="v", markersize=6, linewidth=0)


# --- A grid of letters -----------------------------------------------------------------------------------------------


def letters(
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Square]]],
    *,
    salt: str,
    title: str,
    description: str,
    stamp: str = "",
) -> str:
    """Squares under their columns; each row's name stands above its squares."""
    name, side = 0.17, 0.34
    turned = max((len(column) for column in columns), default=0) * len(columns) > 52
    head = 0.9 if turned else 0.22
    drawn, sheet = _sheet(head + len(rows) * (name + side), stamp)
    wide = (1 - 2 * EDGE) / max(len(columns), 1)
    sheet.top += head if turned else head / 2
    for number, column in enumerate(columns):
        middle = EDGE + (number + 0.5) * wide
        how: Any = {"rotation": 60, "ha": "left", "va": "bottom", "rotation_mode": "anchor"} if turned else {}
        sheet.at(middle, sheet.top, one_line(column, 20), fontweight="bold", **how)
    sheet.top += 0 if turned else head / 2
    for label, squares in rows:
        sheet.top += name / 2 + 0.01
        sheet.text(EDGE, one_line(label, 60))
        sheet.top += name / 2 - 0.01
        for number, square in enumerate(squares):
            _square(sheet, EDGE + number * wide, wide, side, square)
        sheet.top += side
    return svg(drawn, salt, title, description)


def _square(sheet: _Sheet, left: float, wide: float, side: float, square: Square) -> None:
    from matplotlib.patches import Rectangle

    corner, gap = (left + 0.004, sheet.top + 0.015), (wide - 0.008, side - 0.03)
    sheet.axes.add_patch(Rectangle(corner, *gap, facecolor=INK, alpha=square.shade, linewidth=0))
    thick = 2.2 if square.frame else 0.6
    line = square.frame or "-"
    sheet.axes.add_patch(Rectangle(corner, *gap, facecolor="none", edgecolor=INK, linewidth=thick, linestyle=line))
    middle = left + wide / 2
    top = sheet.top
    sheet.top = top + (0.12 if square.word else side / 2)
    sheet.text(middle, square.letter, ha="center", fontweight="bold", fontsize=SIZE + 1.5)
    sheet.top = top + 0.245
    if square.word:
        sheet.text(middle, one_line(square.word, 16), ha="center", fontsize=SIZE - 2)
    sheet.top = top
