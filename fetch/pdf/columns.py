"""Columns and header paths of one ruled region of a page.

Columns come from white strips that run through the body lines, not from vertical rules, since most papers draw none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
from countback.fetch.pdf.layout import Box, Glyph, Rule, lines_of, split, text_of, words_of
from countback.fetch.pdf.rows import Line, RawRow, has_number, looks_like_data, may_part, numeric, rows_of

_STEP = 0.25  # points; the grid on which white strips are sought
_STRIP = 0.45  # em; word spaces in a table are 0.25 to 0.33 em wide
_STRIP_IF_FEW = 0.8  # em; with under four lines, word spaces line up by chance


@dataclass(frozen=True)
class Grid:
    """A table region as rows of cells under header paths (one tuple of texts per column, outermost first)."""

    header: tuple[tuple[str, ...], ...]
    rows: list[RawRow]
    notes: tuple[str, ...]


def read_grid(
    glyphs: Sequence[Glyph], turned: Sequence[Glyph], box: Box, rules: Sequence[Rule], posts: Sequence[Rule]
) -> Grid | None:
    """Read the text between the outer rules of `box` (x0, top, x1, bottom); None when it is not a table."""
    if not glyphs:
        return None
    em = median(g.size for g in glyphs)
    full = [r.y for r in rules if box[1] < r.y < box[3] and r.x1 - r.x0 >= 0.85 * (box[2] - box[0])]
    bands = _bands(lines_of(glyphs), full)
    inner = [p.y for p in posts if _crosses(p, box)]
    header, body = _header_and_body(bands, gridded=bool(inner))
    found = _edges([line for band in body for line in band], header, em, inner)
    if not found:
        return None
    edges = [x for x, _ in found]
    notes: list[str] = []
    below = full[0] if header and full else (body[0][0][0].y0 if body and body[0] else box[3])
    spans = [r for r in rules if box[1] < r.y < below and r.y not in full]
    tops = [word for word in turned if box[1] <= (word.y0 + word.y1) / 2 <= below and box[0] <= word.x0 <= box[2]]
    columns = _column_extents(body, edges, box)
    paths = _header_paths(header, spans, tops, columns, edges, inner, em, notes)
    rows = rows_of(body, found, em)
    return Grid(paths, rows, tuple(notes)) if rows else None


def _crosses(post: Rule, box: Box) -> bool:
    inside = box[0] + 1 < post.y < box[2] - 1
    return inside and min(post.x1, box[3]) - max(post.x0, box[1]) >= 0.6 * (box[3] - box[1])


def _bands(lines: list[Line], full: list[float]) -> list[list[Line]]:
    """Lines grouped by the full-width rules between them; empty groups (doubled rules) vanish."""
    bands: list[list[Line]] = [[] for _ in range(len(full) + 1)]
    for line in lines:
        bands[sum(y < line[0].base for y in full)].append(line)
    return [band for band in bands if band]


def _header_and_body(bands: list[list[Line]], *, gridded: bool) -> tuple[list[Line], list[list[Line]]]:
    """The lines above the first full rule are the header; a lone title band takes the next band along."""
    if len(bands) == 1:
        lines = bands[0]
        first = next((i for i, line in enumerate(lines) if has_number(line)), 0)
        return lines[:first], [lines[first:]]
    take = 1
    while (
        not gridded
        and take + 1 < len(bands)
        and all(len(split(line, 0.8)) == 1 for band in bands[:take] for line in band)
    ):
        if any(has_number(line) for line in bands[take]):
            break
        take += 1
    return [line for band in bands[:take] for line in band], bands[take:]


# Columns


def _edges(body: list[Line], header: list[Line], em: float, posts: list[float]) -> list[tuple[float, float]]:
    """The boundaries between columns, left to right: their x, and the white (in points) that a line must show there."""
    lines = [line for line in body if posts or looks_like_data(line)] or body
    if not lines:
        return []
    left, right = _extent(lines)
    beside = [line for line in body if line[-1].x1 < left or line[0].x0 > right]  # a stub on a line of its own
    lines = lines + beside
    left, right = _extent(lines)
    cover = _coverage(lines, left, right)
    head = _coverage(header, left, right) if header else np.zeros_like(cover)
    wide = (_STRIP if len(lines) >= 4 else _STRIP_IF_FEW) * em
    white = _strips(cover, 0)
    ruled = {s: [x for x in posts if s[0] <= (x - left) / _STEP <= s[1]] for s in white}
    strips = [s for s in white if _width(s) >= wide or ruled[s]]
    strips += [s for s in white if s not in strips and _between_numbers(lines, left, s, strips, em)]
    for strip in _strips(cover, max(1, len(lines) // 8)) if len(lines) >= 5 else []:
        # A row or two whose text runs over a boundary must not hide it from the rows that respect it.
        if _width(strip) >= wide and not _overlaps(strip, strips) and _parts_columns(strip, strips, lines, left):
            strips.append(strip)
    edges = []
    for strip in sorted(strips):
        if inside := ruled.get(strip):
            edges += [(x, 0.0) for x in inside]
        else:
            edges += [(x, min(_width(strip), _STRIP * em) - 0.01) for x in _cut(strip, head, left, em)]
    return edges


def _extent(lines: list[Line]) -> tuple[float, float]:
    return min(g.x0 for line in lines for g in line), max(g.x1 for line in lines for g in line)


def count_boundaries(lines: list[Line]) -> int:
    """How many column boundaries run through these lines; none through prose."""
    return len(_edges(lines, [], median(g.size for line in lines for g in line), [])) if lines else 0


def _coverage(lines: list[Line], left: float, right: float) -> np.ndarray:
    """How many lines have ink over each step of x."""
    cover = np.zeros(int((right - left) / _STEP) + 2, dtype=int)
    for line in lines:
        ink = np.zeros_like(cover, dtype=bool)
        for glyph in line:
            ink[max(0, int((glyph.x0 - left) / _STEP)) : max(0, int((glyph.x1 - left) / _STEP) + 1)] = True
        cover += ink
    return cover


def _strips(cover: np.ndarray, tolerance: int) -> list[tuple[int, int]]:
    """Runs of steps, inside the text, that at most `tolerance` lines cover."""
    white = np.concatenate(([False], cover <= tolerance, [False]))
    starts, ends = np.flatnonzero(~white[:-1] & white[1:]), np.flatnonzero(white[:-1] & ~white[1:])
    inner = np.flatnonzero(cover > tolerance)
    if not len(inner):
        return []
    return [(int(s), int(e)) for s, e in zip(starts, ends, strict=True) if s > inner[0] and e <= inner[-1]]


def _width(strip: tuple[int, int]) -> float:
    return (strip[1] - strip[0]) * _STEP


def _overlaps(strip: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(strip[0] < e and s < strip[1] for s, e in others)


def _parts_columns(strip: tuple[int, int], others: list[tuple[int, int]], lines: list[Line], left: float) -> bool:
    """Whether most lines have ink on both sides of a strip, before the next strips are reached."""
    low = max((e for _, e in others if e <= strip[0]), default=0)
    high = min((s for s, _ in others if s >= strip[1]), default=10**9)
    both = 0
    for line in lines:
        steps = [((g.x0 + g.x1) / 2 - left) / _STEP for g in line]
        both += any(low <= x <= strip[0] for x in steps) and any(strip[1] <= x <= high for x in steps)
    return both >= 0.6 * len(lines)


def _between_numbers(
    lines: list[Line], left: float, strip: tuple[int, int], wide: list[tuple[int, int]], em: float
) -> bool:
    """A narrow strip parts two columns when nearly every line has a whole number on both sides of it. The white around
    it must not hold a wide strip too: else the line has its column boundary there, and the narrow one is in a cell."""
    if _width(strip) < 0.2 * em or len(lines) < 3:
        return False
    x = left + (strip[0] + strip[1]) / 2 * _STEP
    both = 0
    for line in lines:
        before = split([g for g in line if g.x1 <= x] or line[:1], 0.18)[-1]
        after = split([g for g in line if g.x0 >= x] or line[-1:], 0.18)[0]
        white = (before[-1].x1 - left) / _STEP, (after[0].x0 - left) / _STEP
        alone = not any(white[0] <= s + 1 and e - 1 <= white[1] for s, e in wide)
        if alone and not may_part(before[-1].text, after[0].text):
            return False
        both += alone and numeric(text_of(before)) and numeric(text_of(after))
    return both >= 0.8 * len(lines)


def _cut(strip: tuple[int, int], head: np.ndarray, left: float, em: float) -> list[float]:
    """Where to cut inside a strip: off the header's ink; twice when a header stands alone over a blank column."""
    window = head[strip[0] : strip[1]]
    inked = np.flatnonzero(window)
    if not len(inked):
        return [left + (strip[0] + strip[1]) / 2 * _STEP]
    gap = _STRIP * em / _STEP
    if inked[0] > gap and len(window) - inked[-1] > gap and int((np.diff(inked) > gap).sum()) == 0:
        return [left + (strip[0] + inked[0] / 2) * _STEP, left + (strip[0] + (inked[-1] + len(window)) / 2) * _STEP]
    least = np.flatnonzero(window == window.min())
    runs = np.split(least, np.flatnonzero(np.diff(least) > 1) + 1)
    best = max(runs, key=len)
    return [left + (strip[0] + float(best.mean()) + 0.5) * _STEP]


def _column_extents(body: list[list[Line]], edges: list[float], box: Box) -> list[tuple[float, float]]:
    """From where to where the body text of each column reaches; the whole column when it is blank."""
    bounds = [box[0], *edges, box[2]]
    extents = []
    glyphs = [g for band in body for line in band if len(split(line, 0.8)) > 1 for g in line]
    for low, high in pairwise(bounds):
        inside = [g for g in glyphs if low <= (g.x0 + g.x1) / 2 < high]
        extents.append((min(g.x0 for g in inside), max(g.x1 for g in inside)) if inside else (low, high))
    return extents


# Header


def _header_paths(
    header: list[Line],
    spans: list[Rule],
    turned: list[Glyph],
    columns: list[tuple[float, float]],
    edges: list[float],
    posts: list[float],
    em: float,
    notes: list[str],
) -> tuple[tuple[str, ...], ...]:
    """For each column, the texts above it. A text over several columns is a level of its own; the others are lines of
    one text."""
    paths: list[list[str]] = [[] for _ in columns]
    names = [""] * len(columns)
    for i, line in enumerate(header):
        next_base = header[i + 1][0].base if i + 1 < len(header) else float("inf")
        under = [r for r in spans if line[0].base <= r.y + 1 and r.y < next_base]
        parts = [piece for part in split(line, _STRIP) for piece in _cut_at(part, posts)]
        covers = [_covered(part, under, columns, edges, em) for part in parts]
        if not under and i + 1 < len(header):
            covers = _widen_centred(parts, covers, columns, em, notes)
        for part, cover in zip(parts, covers, strict=True):
            ruled = any(r.x0 <= part[0].x0 + em and part[-1].x1 - em <= r.x1 for r in under)
            for j in cover:
                if len(cover) > 1 or ruled:
                    paths[j].append(words_of(part))
                else:
                    names[j] = f"{names[j]} {words_of(part)}".strip()
    for word in turned:
        middle = (word.x0 + word.x1) / 2
        j = sum(edge < middle for edge in edges)
        names[j] = f"{names[j]} {word.text}".strip()
    return tuple((*path, name) if name else tuple(path) for path, name in zip(paths, names, strict=True))


def _cut_at(part: Line, posts: list[float]) -> list[Line]:
    """A header text cut at the vertical rules that pass between its letters."""
    pieces = [part]
    for x in posts:
        last = pieces[-1]
        left, right = [g for g in last if g.x1 <= x + 0.5], [g for g in last if g.x0 >= x - 0.5]
        if left and right and len(left) + len(right) == len(last):
            pieces[-1:] = [left, right]
    return pieces


def _covered(
    part: Line, under: list[Rule], columns: list[tuple[float, float]], edges: list[float], em: float
) -> list[int]:
    """The columns that a header text stands over: those of the short rule below it, else those it overlaps."""
    x0, x1 = part[0].x0, max(g.x1 for g in part)
    for rule in under:
        if rule.x0 <= (x0 + x1) / 2 <= rule.x1:
            held = [j for j, (a, b) in enumerate(columns) if rule.x0 - 2 <= (a + b) / 2 <= rule.x1 + 2]
            if held:
                return held
    bounds = [-float("inf"), *edges, float("inf")]
    overlaps = [min(x1, bounds[j + 1]) - max(x0, bounds[j]) for j in range(len(columns))]
    held = [j for j, overlap in enumerate(overlaps) if overlap > max(0.5 * em, 0.25 * (x1 - x0))]
    return held or [int(np.argmax(overlaps))]


def _widen_centred(
    parts: list[Line],
    covers: list[list[int]],
    columns: list[tuple[float, float]],
    em: float,
    notes: list[str],
) -> list[list[int]]:
    """Without rules below them, texts of an upper header line that stand in the middle of runs of columns, and
    together leave out none but the first, are taken to span those runs; the note says that this was inferred."""
    if len(parts) >= len(columns) - 1 or any(0 in cover for cover in covers):
        return covers
    wide: list[list[int]] = []
    start = 1
    for k, part in enumerate(parts):
        middle = (part[0].x0 + part[-1].x1) / 2
        stop_before = covers[k + 1][0] if k + 1 < len(parts) else len(columns)
        ends = [e for e in range(start, stop_before) if abs((columns[start][0] + columns[e][1]) / 2 - middle) < em]
        if not ends:
            return covers
        wide.append(list(range(start, ends[-1] + 1)))
        start = ends[-1] + 1
    if start != len(columns):
        return covers
    notes.append("which columns an upper header spans was inferred from its place in the middle of them")
    return wide
