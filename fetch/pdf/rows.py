"""Body lines of a table as rows of cells.

A piece of text that cannot be given to one column is marked as a problem and never shared out by guess.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from countback.fetch.pdf.grammar import DASHES, CellValue, parse_cell
from countback.fetch.pdf.layout import Box, Glyph, bounding, reading_of, split, text_of, words_of

Line = list[Glyph]


@dataclass
class RawCell:
    """The glyphs of one cell, line by line, and why they cannot be trusted (or None)."""

    lines: list[Line] = field(default_factory=list)
    problem: str | None = None

    def read(self) -> str:
        return " ".join(reading_of(line)[0] for line in self.lines)

    def box(self) -> Box | None:
        glyphs = [g for line in self.lines for g in line]
        return bounding(glyphs) if glyphs else None


@dataclass
class RawRow:
    cells: list[RawCell]
    base: float
    section: str = ""
    after_rule: bool = False

    def filled(self) -> list[int]:
        return [j for j, cell in enumerate(self.cells) if cell.lines]


def numeric(text: str) -> bool:
    return isinstance(parse_cell(text), CellValue)


def has_number(line: Line) -> bool:
    return any(numeric(text_of(part)) for part in split(line, 0.6))


def looks_like_data(line: Line) -> bool:
    """Whether a line has white between columns or, when crowded, two words that are numbers. A title has neither."""
    return len(split(line, 0.8)) > 1 or sum(numeric(text_of(word)) for word in split(line, 0.18)) > 1


def _may_be_crowded(line: Line, *, stands_out: bool) -> bool:
    """Whether a line over a boundary may be a row with too little white, so that it must not pass for a title."""
    last = text_of(split(line, 0.18)[-1])
    if stands_out:
        return looks_like_data(line) or last.endswith("]") or numeric(last)
    return any(char.isdigit() for char in last)


def rows_of(body: list[list[Line]], boundaries: list[tuple[float, float]], em: float) -> list[RawRow]:
    """Rows from body lines (grouped by the rules between them) and column boundaries (x, white that a line must show).

    A line of one piece without a number is a title of the rows below it when it stands out: across a boundary, in
    another font, or first below a rule.
    """
    edges = [x for x, _ in boundaries]
    fonts = Counter(g.font for band in body for line in band for g in line)
    usual_font = fonts.most_common(1)[0][0] if fonts else ""
    rows: list[RawRow] = []
    section = ""
    for band in body:
        lines = [RawRow(_cells(line, boundaries, em), line[0].base, after_rule=i == 0) for i, line in enumerate(band)]
        for row in _levelled(lines, em):
            row.section = section
            line = [g for cell in row.cells for part in cell.lines for g in part]
            one_line = all(len(cell.lines) <= 1 for cell in row.cells)
            if one_line and len(split(line, 0.8)) == 1 and not has_number(line):
                lone = row.filled()
                goes_on = bool(rows) and not row.after_rule and 0 not in lone and _wraps(rows[-1], row, lone, edges)
                across = any(line[0].x0 < edge < line[-1].x1 for edge in edges)
                other_font = all(g.font != usual_font for g in line)
                odd = across or line[0].x0 > edges[0] or other_font
                crowded = across and _may_be_crowded(line, stands_out=other_font or len(band) == 1)
                if not goes_on and not crowded and (odd or (row.after_rule and len(body) > 1)):
                    section = words_of(line)
                    continue
            rows.append(row)
    return _merged(rows, edges)


def _levelled(rows: list[RawRow], em: float) -> list[RawRow]:
    """Lines less than a line's height apart are one row, when they fill different columns: a cell of two lines stands
    half a line above and below the other cells of its row."""
    hosts: list[tuple[RawRow, set[int]]] = []  # with the columns that the row filled by itself
    for row in sorted(rows, key=lambda r: -len(r.filled())):
        near = [
            host
            for host, own in hosts
            if abs(host.base - row.base) < 0.85 * em and not own & set(row.filled()) and not _any_problem(host, row)
        ]
        if near:
            _append(min(near, key=lambda h: abs(h.base - row.base)), row)
        else:
            hosts.append((row, set(row.filled())))
    return sorted((host for host, _ in hosts), key=lambda r: r.base)


def _any_problem(*rows: RawRow) -> bool:
    return any(cell.problem for row in rows for cell in row.cells)


def _cells(line: Line, boundaries: list[tuple[float, float]], em: float) -> list[RawCell]:
    """Share a line out to the columns; text that runs over a boundary is split at its widest white, or not at all."""
    cells = [RawCell() for _ in range(len(boundaries) + 1)]
    cuts: list[float] = []
    for j, (edge, white) in enumerate(boundaries):
        left, right = [g for g in line if g.x1 <= edge + 0.5], [g for g in line if g.x0 >= edge - 0.5]
        astride = [g for g in line if g not in left and g not in right]
        if not astride and (not left or not right or right[0].x0 - left[-1].x1 >= white):
            cuts.append(edge)
            continue
        cut = _white_near(line, edge, em)
        if cut is None:
            reason = f"text runs across the boundary of columns {j + 1} and {j + 2}"
            cells[j].problem = cells[j + 1].problem = reason
            cut = next((run[-1].x1 + 0.01 for run in split(line, 0.18) if run[-1].x1 > edge), edge)
        cuts.append(cut)
    for glyph in line:
        cell = cells[sum(cut <= (glyph.x0 + glyph.x1) / 2 for cut in cuts)]
        if cell.lines:
            cell.lines[0].append(glyph)
        else:
            cell.lines.append([glyph])
    return cells


def _white_near(line: Line, edge: float, em: float) -> float | None:
    """Where a stretch of text over a boundary falls in two cells: at a white wider than all others in it, if what
    stands on both sides can end and begin a cell; or at the only place where digits meet letters."""
    stretch = next((part for part in split(line, 0.8) if part[-1].x1 > edge), line)
    whites = sorted((b.x0 - a.x1, (a.x1 + b.x0) / 2, may_part(a.text, b.text)) for a, b in pairwise(stretch))
    widest, x, splits = whites[-1] if whites else (0.0, 0.0, False)
    stands_out = widest > 0.08 * em and (len(whites) == 1 or whites[-2][0] < 0.75 * widest)
    if stands_out and splits and abs(x - edge) <= em:
        return x
    token = next((part for part in split(stretch, 0.18) if part[-1].x1 > edge), stretch)
    turns = [(a.x1 + b.x0) / 2 for a, b in pairwise(token) if _turns(a.text, b.text)]
    return turns[0] if len(turns) == 1 and abs(turns[0] - edge) <= em else None


def may_part(a: str, b: str) -> bool:
    """Whether a cell can end with `a` and the next begin with `b`. A bracket, a comma or ± at the white says that both
    sides are one cell: `0.61 [0.5, 0.7]`, `0.61 ± 0.02`."""
    return (a.isalnum() or a in "%)]*") and (b.isalnum() or b in f".+{DASHES}")


def _turns(a: str, b: str) -> bool:
    return (a.isdigit() and b.isalpha()) or (a.isalpha() and b.isdigit())


def _merged(rows: list[RawRow], edges: list[float]) -> list[RawRow]:
    """Join lines that belong to one row: intervals set below their estimates, and text that wraps in its column."""
    out: list[RawRow] = []
    for row in rows:
        filled = row.filled()
        last = out[-1] if out else None
        if last is not None and not row.after_rule and filled:
            if 0 not in filled and _all_brackets(row, filled) and _takes_intervals(last, filled):
                _append(last, row)
                continue
            if filled == [0] and 0 not in last.filled() and _next_is_interval(rows, row):
                _append(last, row)  # a stub set half-way between the estimates and their intervals
                continue
            if 0 not in filled and _wraps(last, row, filled, edges):
                _append(last, row)
                continue
        out.append(row)
    return out


def _append(row: RawRow, more: RawRow) -> None:
    for cell, extra in zip(row.cells, more.cells, strict=True):
        cell.lines += extra.lines
        cell.problem = cell.problem or extra.problem


def _all_brackets(row: RawRow, filled: list[int]) -> bool:
    texts = [row.cells[j].read() for j in filled]
    return all(t[:1] + t[-1:] in ("[]", "()") and any(c.isdigit() for c in t) for t in texts)


def _takes_intervals(row: RawRow, filled: list[int]) -> bool:
    return all(len(row.cells[j].lines) == 1 and numeric(row.cells[j].read()) for j in filled)


def _next_is_interval(rows: list[RawRow], row: RawRow) -> bool:
    after = rows[rows.index(row) + 1 :][:1]
    return bool(after) and 0 not in after[0].filled() and _all_brackets(after[0], after[0].filled())


def _wraps(last: RawRow, row: RawRow, filled: list[int], edges: list[float]) -> bool:
    """Every cell goes on with text where the line above reached the end of its column, or a lone cell below text."""
    for j in filled:
        above = last.cells[j]
        if not above.lines or numeric(row.cells[j].read()) or numeric(above.read()):
            return False
        if len(filled) == 1:
            continue
        start = edges[j - 1] if j else above.lines[0][0].x0
        end = edges[j] if j < len(edges) else max(g.x1 for line in above.lines for g in line)
        if above.lines[-1][-1].x1 < start + 0.7 * (end - start):
            return False
    return True
