"""Where the tables of a page are: between horizontal rules of equal extent with rows of text between them."""

from __future__ import annotations

from countback.fetch.pdf_captions import is_caption_start
from countback.fetch.pdf_columns import has_columns
from countback.fetch.pdf_layout import Box, Glyph, Rule, View, lines_of, split

_SAME = 3.0  # points; how far the ends of the rules of one table may differ
_SHORTEST = 60.0  # points; a shorter rule underlines a word or divides a fraction
_DOUBLE = 4.0  # points; two rules this near are one doubled rule


def find_regions(view: View) -> list[Box]:
    """Boxes (x0, top, x1, bottom) from the first to the last rule of each table, in the axes of the view."""
    boxes: list[Box] = []
    for family in _families([r for r in view.rules if r.x1 - r.x0 >= _SHORTEST]):
        start = family[0]
        last = family[0]
        for rule in family[1:]:
            if rule.y - last.y <= _DOUBLE or _is_rows(view, last, rule):
                last = rule
                continue
            boxes += _box(start, last)
            start = last = rule
        boxes += _box(start, last)
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


def _box(start: Rule, last: Rule) -> list[Box]:
    return [(start.x0, start.y, start.x1, last.y)] if last.y - start.y > _DOUBLE else []


def _inside(inner: Box, outer: Box) -> bool:
    return (
        inner[0] >= outer[0] - _SAME
        and inner[2] <= outer[2] + _SAME
        and inner[1] >= outer[1] - 1
        and inner[3] <= outer[3] + 1
    )


def _is_rows(view: View, upper: Rule, lower: Rule) -> bool:
    """Text that can be rows of a table stands between two rules: neither nothing, nor a caption, nor running prose."""
    glyphs = [
        g
        for g in view.glyphs
        if upper.y < g.base < lower.y and upper.x0 - _SAME <= (g.x0 + g.x1) / 2 <= upper.x1 + _SAME
    ]
    lines = lines_of(glyphs)
    if not lines or any(is_caption_start(line) for line in lines):
        return False
    return not _fills(lines, upper.x1 - upper.x0) or has_columns(lines)


def _fills(lines: list[list[Glyph]], width: float) -> bool:
    """Whether most lines run over the whole width without a wide white, as prose does (and a crowded table)."""
    full = [line for line in lines if line[-1].x1 - line[0].x0 >= 0.85 * width and len(split(line, 0.9)) == 1]
    return len(lines) >= 2 and len(full) >= 0.6 * (len(lines) - 1)
