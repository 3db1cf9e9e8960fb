"""From the drawn objects of a PDF page to clean glyphs, text lines and rules.

Coordinates are points, x to the right, y downward (pdfplumber's "top"). Text that runs up or down the page is seen in a
`View` of its own whose axes are turned so that it reads left to right; `View.to_page` turns a box back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Any

from countback.fetch.pdf.grammar import DASHES, SUPERSCRIPTS

Box = tuple[float, float, float, float]  # x0, top, x1, bottom
_SPACE = 0.18  # em; TeX shrinks a word space to 0.22 em, a thin space is 0.17 em
_DIGIT_SPACE = 0.08  # em; digits of one number touch, so a smaller gap already parts two numbers
_THICKEST_RULE = 3.0  # points; a filled rectangle thinner than this is a rule


@dataclass(frozen=True, slots=True)
class Glyph:
    """One drawn character, or one whole word of turned text. `shift` is +1 raised, -1 lowered, 0 on the line."""

    text: str
    font: str
    size: float
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    shift: int = 0
    spaced: bool = False

    @property
    def box(self) -> Box:
        return (self.x0, self.y0, self.x1, self.y1)


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight horizontal line of a view, from x0 to x1 at height y."""

    x0: float
    x1: float
    y: float


@dataclass(frozen=True)
class View:
    """What one page shows to a reader who turns it by `angle` degrees (the direction in which the text runs)."""

    angle: int
    page_box: Box
    glyphs: list[Glyph]
    rules: list[Rule]
    posts: list[Rule]  # vertical rules: x0..x1 holds their extent in y, y their x
    turned: list[Glyph] = field(default_factory=list)

    def to_page(self, box: Box) -> Box:
        return _turn_back(box, self.angle, self.page_box)


@dataclass(frozen=True)
class PageContent:
    """The views of a page that hold text, and how many objects were left out, by reason."""

    views: tuple[View, ...]
    dropped: dict[str, int]


def _turn_box(box: Box, angle: int, frame: Box) -> Box:
    """A box in the axes of a page turned so that text running at `angle` (90: upward) reads left to right."""
    x0, y0, x1, y1 = box
    left, top, right, bottom = frame
    if angle == 90:
        return (bottom - y1, x0 - left, bottom - y0, x1 - left)
    if angle == 180:
        return (right - x1, bottom - y1, right - x0, bottom - y0)
    if angle == 270:
        return (y0 - top, right - x1, y1 - top, right - x0)
    return box


def _turn_back(box: Box, angle: int, frame: Box) -> Box:
    """The inverse of `_turn_box`."""
    if angle == 0:
        return box
    x0, y0, x1, y1 = _turn_box(box, 360 - angle, _turn_box(frame, angle, frame))
    return (x0 + frame[0], y0 + frame[1], x1 + frame[0], y1 + frame[1])


def _box4(values: Iterable[Any]) -> Box:
    x0, y0, x1, y1 = map(float, values)
    return (x0, y0, x1, y1)


def read_page(page: Any) -> PageContent:
    """Clean one pdfplumber page: hidden objects are dropped and counted, characters drawn twice count once."""
    dropped: Counter[str] = Counter()
    crop, bounds = _box4(page.cropbox), _box4(page.bbox)
    shades = [r for r in page.rects if r.get("fill") and not _is_white(r.get("non_stroking_color")) and r["height"] > 3]
    chars = []
    for char in page.chars:
        if why := _hidden_char(char, crop, shades):
            dropped[why] += bool(char["text"].strip())
        else:
            chars.append(char)
    glyphs = {angle: _draw_once(_glyphs(group, angle, bounds), dropped) for angle, group in _by_angle(chars).items()}
    words: dict[int, list[list[Glyph]]] = {}
    if len(glyphs) > 1:
        words = {angle: [w for line in lines_of(group) for w in split(line, 0.6)] for angle, group in glyphs.items()}
    lines = _straight_lines(page, crop, dropped)
    views = []
    for angle in sorted(glyphs):
        turned = [_turned_word(word, a, angle, bounds) for a in words if a != angle for word in words[a]]
        boxes = [_turn_box(line, angle, bounds) for line in lines]
        rules = _joined(Rule(x0, x1, (y0 + y1) / 2) for x0, y0, x1, y1 in boxes if x1 - x0 >= y1 - y0)
        posts = _joined(Rule(y0, y1, (x0 + x1) / 2) for x0, y0, x1, y1 in boxes if x1 - x0 < y1 - y0)
        views.append(View(angle, bounds, glyphs[angle], rules, posts, turned))
    return PageContent(tuple(views), dict(dropped))


def _is_white(colour: Any, space: str | None = None) -> bool:
    """White ink on the white page. One component is a grey unless its colour space says that it is a tint."""
    parts = colour if isinstance(colour, tuple | list) else (colour,)
    if not parts or not all(isinstance(p, int | float) for p in parts):
        return False
    if len(parts) == 4:
        return all(p <= 0.01 for p in parts)
    return all(p >= 0.99 for p in parts) and (len(parts) > 1 or space in (None, "DeviceGray", "CalGray", "G"))


def _hidden_char(char: dict[str, Any], crop: Sequence[float], shades: list[dict[str, Any]]) -> str | None:
    x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
    if not (crop[0] <= x <= crop[2] and crop[1] <= y <= crop[3]):
        return "character outside the crop box"
    if char["height"] <= 0 or (char["width"] <= 0 and char["text"].strip()):
        return "character of no size"
    a, b = map(abs, char["matrix"][:2])
    if min(a, b) > 0.05 * max(a, b):
        return "character at a slant"  # a watermark, or a label of a plot
    if _is_white(char.get("non_stroking_color"), char.get("ncs")) and not any(
        r["x0"] <= x <= r["x1"] and r["top"] <= y <= r["bottom"] for r in shades
    ):
        return "character in the colour of the page"
    return None


def _by_angle(chars: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    groups: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for char in chars:
        a, b = char["matrix"][:2]
        angle = (0 if a > 0 else 180) if abs(a) >= abs(b) else (90 if b > 0 else 270)
        groups[angle].append(char)
    return groups


def _glyphs(chars: list[dict[str, Any]], angle: int, frame: Box) -> list[Glyph]:
    """Glyphs in the axes of their own reading direction, each with the baseline it was set on."""
    found = []
    space_pending = False
    for char in chars:
        if not char["text"].strip():
            space_pending = True
            continue
        e, f = char["matrix"][4:]
        box = _turn_box((char["x0"], char["top"], char["x1"], char["bottom"]), angle, frame)
        origin = (e + frame[0], frame[3] - f)  # the file's y axis points up
        base = _turn_box((*origin, *origin), angle, frame)[1]
        found.append(Glyph(char["text"], char["fontname"], box[3] - box[1], *box, base, 0, space_pending))
        space_pending = False
    # A text rise moves the box but not the matrix: how far a font's boxes mostly hang below the origin is its descent.
    hang: dict[str, list[float]] = defaultdict(list)
    for glyph in found:
        hang[glyph.font].append((glyph.y1 - glyph.base) / glyph.size)
    usual = {font: median(values) for font, values in hang.items()}
    return [replace(g, base=g.y1 - usual[g.font] * g.size) for g in found]


def _draw_once(glyphs: list[Glyph], dropped: Counter[str]) -> list[Glyph]:
    """Bold faked by drawing a character twice a hair apart becomes one character."""
    kept: list[Glyph] = []
    seen: dict[tuple[str, int, int], list[Glyph]] = defaultdict(list)
    for glyph in glyphs:
        near = 0.12 * glyph.size
        cell = (round(glyph.x0 / 4), round(glyph.base / 4))
        around = (seen[glyph.text, cell[0] + i, cell[1] + j] for i in (-1, 0, 1) for j in (-1, 0, 1))
        if any(abs(o.x0 - glyph.x0) < near and abs(o.base - glyph.base) < near for group in around for o in group):
            dropped["character drawn twice"] += 1
            continue
        seen[glyph.text, *cell].append(glyph)
        kept.append(glyph)
    return kept


def _straight_lines(page: Any, crop: Sequence[float], dropped: Counter[str]) -> list[Box]:
    """Visible straight strokes and thin filled boxes, each as a box."""
    found = []
    for obj in (*page.lines, *page.rects, *page.curves):
        box = (float(obj["x0"]), float(obj["top"]), float(obj["x1"]), float(obj["bottom"]))
        thin = min(box[2] - box[0], box[3] - box[1])
        if obj["object_type"] == "curve" and thin > 0.5:
            continue
        stroked = bool(obj.get("stroke")) and not _is_white(obj.get("stroking_color"))
        filled = bool(obj.get("fill")) and not _is_white(obj.get("non_stroking_color"))
        if stroked and obj.get("linewidth") == 0 and not filled:
            dropped["rule of no width"] += 1
        elif not stroked and not (filled and obj["object_type"] != "line"):
            dropped["rule in the colour of the page"] += thin <= _THICKEST_RULE
        elif box[2] < crop[0] or box[0] > crop[2] or box[3] < crop[1] or box[1] > crop[3]:
            dropped["rule outside the crop box"] += 1
        elif thin <= _THICKEST_RULE:
            found.append(box)
        elif stroked and obj["object_type"] == "rect":
            x0, y0, x1, y1 = box
            found += [(x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)]
    return found


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Segments of one drawn line become one rule; doubled lines (two within 4 points) count once."""
    merged: list[Rule] = []
    for rule in sorted(rules, key=lambda r: (round(r.y), r.x0)):
        for i, old in enumerate(merged):
            if abs(old.y - rule.y) <= 1.0 and rule.x0 <= old.x1 + 1.5 and rule.x1 >= old.x0 - 1.5:
                merged[i] = Rule(min(old.x0, rule.x0), max(old.x1, rule.x1), old.y)
                break
        else:
            merged.append(rule)
    return sorted(merged, key=lambda r: (r.y, r.x0))


def _turned_word(word: list[Glyph], from_angle: int, to_angle: int, frame: Box) -> Glyph:
    """A word that runs in another direction, as one glyph of this view (it belongs to a header, or to the margin)."""
    box = _turn_box(_turn_back(bounding(word), from_angle, frame), to_angle, frame)
    return Glyph(text_of(word), word[0].font, word[0].size, *box, box[3])


def lines_of(glyphs: Sequence[Glyph]) -> list[list[Glyph]]:
    """Text lines, top to bottom, each sorted by x; raised and lowered pieces sit in the line they belong to."""
    runs = _attach_shifted(_baseline_runs(glyphs))
    lines: list[list[Glyph]] = []
    for run in sorted(runs, key=lambda r: r[0].base):
        if lines and run[0].base - lines[-1][0].base <= 0.25 * max(run[0].size, lines[-1][0].size):
            lines[-1] += run
        else:
            lines.append(list(run))
    return [sorted(line, key=lambda g: g.x0) for line in lines]


def _baseline_runs(glyphs: Sequence[Glyph]) -> list[list[Glyph]]:
    """Stretches of touching glyphs of one size on one baseline."""
    rows: list[list[Glyph]] = []
    for glyph in sorted(glyphs, key=lambda g: g.base):
        if rows and glyph.base - rows[-1][-1].base <= 0.05 * glyph.size:
            rows[-1].append(glyph)
        else:
            rows.append([glyph])
    runs: list[list[Glyph]] = []
    for row in rows:
        row.sort(key=lambda g: g.x0)
        runs.append([row[0]])
        for last, glyph in pairwise(row):
            same_size = abs(last.size - glyph.size) <= 0.08 * last.size
            if same_size and not glyph.spaced and glyph.x0 - last.x1 <= 0.25 * glyph.size:
                runs[-1].append(glyph)
            else:
                runs.append([glyph])
    return runs


def _attach_shifted(runs: list[list[Glyph]]) -> list[list[Glyph]]:
    """Move superscripts and subscripts onto the line of the text that they touch, and mark them as shifted."""
    edges: dict[int, list[Glyph]] = defaultdict(list)
    for run in runs:
        for glyph in {run[0], run[-1]}:
            edges[int(glyph.base // 20)].append(glyph)
    out = []
    for run in runs:
        hosts = [g for k in (-1, 0, 1) for g in edges[int(run[0].base // 20) + k]]
        host = next((h for h in hosts if _hangs_on(run, h)), None)
        if host is None:
            out.append(run)
        else:
            shift = 1 if run[0].base < host.base else -1
            out.append([replace(g, base=host.base, shift=shift) for g in run])
    return out


def _hangs_on(run: list[Glyph], host: Glyph) -> bool:
    """Whether a run touches `host` from above or below the line, being smaller than it or a mark of one to three."""
    drop = (run[0].base - host.base) / host.size
    if not (-0.6 <= drop <= -0.1 or 0.08 <= drop <= 0.45):
        return False
    small = run[0].size
    if not (-0.3 <= (run[0].x0 - host.x1) / small <= 0.6 or -0.3 <= (host.x0 - run[-1].x1) / small <= 0.2):
        return False
    return small <= 0.88 * host.size or (small <= 1.02 * host.size and len(run) <= 3 and not run_has_digit(run))


def run_has_digit(run: Sequence[Glyph]) -> bool:
    return any(g.text.isdigit() for g in run)


def split(line: Sequence[Glyph], gap: float, cuts: Sequence[float] = ()) -> list[list[Glyph]]:
    """Parts of a line with more than `gap` em of white between them, or 0.6 em around one of `cuts` (x)."""
    parts = [[line[0]]]
    right = line[0].x1
    for glyph in line[1:]:
        white = (glyph.x0 - right) / glyph.size
        if white > gap or (white > 0.6 and any(right <= cut <= glyph.x0 for cut in cuts)):
            parts.append([])
        parts[-1].append(glyph)
        right = max(right, glyph.x1) if len(parts[-1]) > 1 else glyph.x1
    return parts


def bounding(glyphs: Sequence[Glyph]) -> Box:
    return (
        min(g.x0 for g in glyphs),
        min(g.y0 for g in glyphs),
        max(g.x1 for g in glyphs),
        max(g.y1 for g in glyphs),
    )


def text_of(glyphs: Sequence[Glyph]) -> str:
    """The characters as drawn, from left to right, with a space where the white is wider than between letters."""
    out = ""
    for last, glyph in zip((None, *glyphs), glyphs, strict=False):
        if last is not None and _parted(last, glyph):
            out += " "
        out += glyph.text
    return out


_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})


def words_of(glyphs: Sequence[Glyph]) -> str:
    """Like `text_of`, with ligatures written out: for names and captions."""
    return text_of(glyphs).translate(_LIGATURES)


def _parted(last: Glyph, glyph: Glyph) -> bool:
    em = max(last.size, glyph.size)
    both_digits = last.text.isdigit() and glyph.text.isdigit() and last.shift == glyph.shift
    return glyph.spaced or glyph.x0 - last.x1 > (_DIGIT_SPACE if both_digits else _SPACE) * em


def reading_of(glyphs: Sequence[Glyph]) -> tuple[str, tuple[str, ...], str | None]:
    """What the grammar may see of a cell: its text with raised digits as superscript characters, the marks that were
    set apart, and a reason not to trust the text at all (or None)."""
    text, marks = "", []
    last: Glyph | None = None
    for run in _same_shift(glyphs):
        piece = text_of(run)
        gap = " " if last is not None and _parted(last, run[0]) else ""
        if run[0].shift == 0:
            text += gap + piece
        elif run[0].shift > 0 and all(char in SUPERSCRIPTS for char in piece):
            text += gap + "".join(SUPERSCRIPTS[char] for char in piece)
        elif run[0].shift < 0 and piece.startswith("±"):
            text += " " + piece
        elif run_has_digit(run) and piece[0] not in f"+(↑↓{DASHES}" and (run[0].shift < 0 or "." in piece):
            return text_of(glyphs), (), f"{piece!r} is set {'above' if run[0].shift > 0 else 'below'} the line"
        else:
            marks.append(piece)
        last = run[-1]
    return text.translate(_LIGATURES), tuple(marks), _distrust(glyphs)


def _same_shift(glyphs: Sequence[Glyph]) -> list[list[Glyph]]:
    runs: list[list[Glyph]] = []
    for glyph in glyphs:
        if runs and runs[-1][-1].shift == glyph.shift:
            runs[-1].append(glyph)
        else:
            runs.append([glyph])
    return runs


def _distrust(glyphs: Sequence[Glyph]) -> str | None:
    for last, glyph in pairwise(glyphs):
        if last.shift or glyph.shift or not (last.text in "0123456789." and glyph.text in "0123456789."):
            continue
        if glyph.x0 - last.x1 < -0.25 * glyph.size:
            return "two digits are drawn over each other"
        if not _parted(last, glyph) and abs(last.size - glyph.size) > 0.08 * last.size:
            return "digits of different sizes in one number"
    return None
