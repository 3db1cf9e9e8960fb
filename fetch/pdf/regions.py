"""Where the tables of a page are: between horizontal rules of equal extent with rows of text between them, or, without
such rules, next to a caption."""

from __future__ import annotations

from itertools import pairwise

from countback.fetch.pdf.captions import Caption, gutter, is_caption_start
from countback.fetch.pdf.columns import count_boundaries
from countback.fetch.pdf.layout import Box, Glyph, Rule, View, bounding, lines_of, split

_SAME = 3.0  # points; how far the ends of the rules of one table may differ
_SHORTEST = 60.0  # points; a shorter rule underlines a word or divides a fraction
_DOUBLE = 4.0  # points; two rules this near are one doubled rule
_FIRST_LINE = 40.0  # points from a caption to the first line of a table without rules


def find_regions(view: View) -> list[Box]:
    """Boxes (x0, top, x1, bottom) from the first to the last rule of each table, in the axes of the view."""
    boxes: list[Box] = []
    for family in _families([r for r in view.rules if r.x1 - r.x0 >= _SHORTEST]):
        run = [family[0]]
        for rule in family[1:]:
            if rule.y - run[-1].y > _DOUBLE and not _is_rows(view, run[-1], rule):
                boxes += _box(view, run)
                run = []
            run.append(rule)
        boxes += _box(view, run)
    whole = [b for b in boxes if not any(b != o and _inside(b, o) for o in boxes)]
    return sorted(whole, key=lambda b: (b[1], b[0]))


def _families(rules: list[Rule]) -> list[list[Rule]]:
    """Rules with the same two ends, top to bottom."""
    families: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda r: r.y):
        for family in families:
            if abs(family[0].x0 - rule.x0) <= _SAME and abs(family[0].x1 - rule.x1) <= _SAME:
                family.append(rule)
                break
        else:
            families.append([rule])
    return families


def _box(view: View, run: list[Rule]) -> list[Box]:
    """The box of a run of rules. When a rule stands between every two rows, there may be none above the first row and
    none below the last; those rows are taken in."""
    first, last = run[0], run[-1]
    if last.y - first.y <= _DOUBLE:
        return []
    top, bottom = first.y, last.y
    bands = [lines for a, b in pairwise(run) if (lines := _lines_between(view, first, a.y, b.y))]
    if len(bands) >= 2 and all(len(lines) == 1 for lines in bands):
        rows = [lines[0] for lines in bands]
        pitch = 1.3 * max(b.y - a.y for a, b in pairwise(run))
        above = _lines_between(view, first, top - pitch, top)[-1:]
        below = _lines_between(view, first, bottom, bottom + pitch)[:1]
        top = min([top, *(min(g.y0 for g in line) - 1 for line in above if _is_row(line, rows))])
        bottom = max([bottom, *(max(g.y1 for g in line) + 1 for line in below if _is_row(line, rows))])
    return [(first.x0, top, first.x1, bottom)]


def _lines_between(view: View, rule: Rule, top: float, bottom: float) -> list[list[Glyph]]:
    return lines_of([g for g in view.glyphs if top < g.base < bottom and rule.x0 < (g.x0 + g.x1) / 2 < rule.x1])


def _is_row(line: list[Glyph], rows: list[list[Glyph]]) -> bool:
    """Whether a line stands in the columns of the rows next to it, and is no caption."""
    return (
        len(split(line, 0.8)) > 1
        and not is_caption_start(line)
        and (count_boundaries([*rows, line]) >= max(1, count_boundaries(rows)))
    )


def _inside(inner: Box, outer: Box) -> bool:
    return (
        inner[0] >= outer[0] - _SAME
        and inner[2] <= outer[2] + _SAME
        and inner[1] >= outer[1] - 1
        and inner[3] <= outer[3] + 1
    )


def _is_rows(view: View, upper: Rule, lower: Rule) -> bool:
    """Text that can be rows of a table stands between two rules: neither nothing, nor a caption, nor running prose."""
    lines = lines_of([g for g in view.glyphs if upper.y < g.base < lower.y])
    stretches = [s for line in lines for s in split(line, 0.6) if s[0].x0 < upper.x1 and s[-1].x1 > upper.x0]
    if any(is_caption_start(s) or s[0].x0 < upper.x0 - 2 * s[0].size for s in stretches):
        return False  # a caption, or text that starts left of the rules and has nothing to do with them
    inside = lines_of([g for s in stretches for g in s])
    return bool(inside) and (not _fills(inside, upper.x1 - upper.x0) or count_boundaries(inside) > 0)


def _fills(lines: list[list[Glyph]], width: float) -> bool:
    """Whether most lines run over the whole width without a wide white, as prose does (and a crowded table)."""
    full = [line for line in lines if line[-1].x1 - line[0].x0 >= 0.85 * width and len(split(line, 0.9)) == 1]
    return len(lines) >= 2 and len(full) >= 0.6 * (len(lines) - 1)


def region_by_caption(view: View, caption: Caption) -> Box | None:
    """The lines below a caption, or else above it, when white strips make columns of them: a table without rules, or
    with one below its header."""
    lines = lines_of(view.glyphs)
    cuts = gutter(lines, view.page_box)
    left = max((cut for cut in cuts if cut <= caption.box[0]), default=view.page_box[0])
    right = min((cut for cut in cuts if cut >= caption.box[2]), default=view.page_box[2])
    column = lines_of([g for g in view.glyphs if left <= (g.x0 + g.x1) / 2 <= right])
    below = [line for line in column if line[0].base > caption.box[3]]
    above = [line for line in reversed(column) if line[0].base < caption.box[1]]
    for block in (_block_of_rows(below, caption.box[3]), _block_of_rows(above, caption.box[1])[::-1]):
        if len(block) >= 2 and count_boundaries(block) > 0:
            x0, y0, x1, y1 = bounding([g for line in block for g in line])
            return (x0, y0 - 1, x1, y1 + 1)
    return None


def _block_of_rows(lines: list[list[Glyph]], start: float) -> list[list[Glyph]]:
    """Lines from `start` on at a regular distance, up to a caption, a line of prose or a wide white."""
    block: list[list[Glyph]] = []
    last = start
    for line in lines:
        reach = 2.2 * line[0].size if block else _FIRST_LINE
        left = min((g.x0 for row in block for g in row), default=line[0].x0)
        starts_left = line[0].x0 <= left + line[0].size  # text that wraps in a later column does not
        prose = starts_left and len(split(line, 0.8)) == 1 and len(split(line, 0.18)) > 6
        if abs(line[0].base - last) > reach or prose or is_caption_start(line):
            break
        block.append(line)
        last = line[0].base
    return block
