"""Numbers in the running text of a PDF, each with its page, box, raw characters and the line it stands in.

Like the numbers of tables they are leads. A number that is broken over two lines is not put together, and brackets of
whole numbers, `[3, 14]`, are citations unless an estimate stands before them and lies inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from countback.fetch.pdf import page_contents, read_tables
from countback.fetch.pdf.captions import gutter
from countback.fetch.pdf.grammar import PROSE_NUMBER, SUPERSCRIPTS, CellValue, parse_cell
from countback.fetch.pdf.layout import Box, Glyph, View, bounding, lines_of, split, text_of


@dataclass(frozen=True)
class PdfNumber:
    """One number, or one number with its error or interval, as it stands in a line of text."""

    raw: str
    value: CellValue
    page: int
    box: Box
    line: str


def read_numbers(path: str | Path, pages: Iterable[int] | None = None) -> tuple[PdfNumber, ...]:
    """The numbers outside the tables of the given pages (1-based; all when None); raises UserError as `read_tables`."""
    wanted = None if pages is None else sorted(set(pages))
    tables = [(table.page, table.box) for table in read_tables(path, wanted)]
    found: list[PdfNumber] = []
    for number, content in page_contents(Path(path), wanted):
        boxes = [box for page, box in tables if page == number]
        for view in content.views:
            lines = lines_of(view.glyphs)
            cuts = gutter(lines, view.page_box)
            for piece in (piece for line in lines for piece in split(line, 1.5, cuts)):
                if not any(_inside(view.to_page(bounding(piece)), box) for box in boxes):
                    found += _numbers(view, number, piece)
    return tuple(found)


def _inside(inner: Box, outer: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def _numbers(view: View, page: int, piece: Sequence[Glyph]) -> list[PdfNumber]:
    text, owners = _spelled(piece)
    found = []
    for match in PROSE_NUMBER.finditer(text):
        if match["citation"]:
            continue
        start, end = match.span()
        value = parse_cell(match[0])
        if not isinstance(value, CellValue) and match["bracket"]:
            end = match.start("bracket")  # the bracket is a citation; the number before it stands
            value = parse_cell(text[start:end])
        if isinstance(value, CellValue):
            glyphs = [g for g in owners[start:end] if g is not None]
            box = view.to_page(bounding(glyphs))
            found.append(PdfNumber(text[start:end].strip(), value, page, box, text_of(piece)))
    return found


def _spelled(piece: Sequence[Glyph]) -> tuple[str, list[Glyph | None]]:
    """A line as text, and for each character of the text the glyph it came from (None for a space). Raised digits are
    superscript characters; lowered ones become `_`, which no number touches."""
    text, owners = "", list[Glyph | None]()
    for i, glyph in enumerate(piece):
        if i and len(text_of(piece[i - 1 : i + 1])) > len(piece[i - 1].text + glyph.text):
            text, owners = text + " ", [*owners, None]
        drawn = glyph.text
        if glyph.shift > 0:
            drawn = "".join(SUPERSCRIPTS.get(char, char) for char in drawn)
        elif glyph.shift < 0:
            drawn = re.sub(r"\d", "_", drawn)
        text, owners = text + drawn, owners + [glyph] * len(drawn)
    return text, owners
