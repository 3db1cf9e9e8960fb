"""A document as lines: text as it stands, a PDF by page, its tables apart and column after column.

What a line is beside its text is said here once: the table whose row it is, or why nothing in it is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from countback.claims.spec import read_text
from countback.fetch.errors import UserError

if TYPE_CHECKING:
    from countback.fetch.pdf import PdfTable
    from countback.fetch.pdf.layout import Box, View

CAPTION = re.compile(r"\s*(Table \w+)\s*[:.]")


@dataclass(frozen=True)
class Line:
    """`table` is the title ("Table 3") of the table that this is a row of, its cells between tabs.

    `page` is from 1, or 0 where there are none. `why`: what the numbers in it are, where they are no claims.
    """

    text: str
    table: str = ""
    page: int = 0
    why: str = ""


def read_document(path: Path) -> list[Line]:
    """The lines of a document (a pipe will do); a PDF needs the `pdf` extra. Raises UserError for what is neither."""
    if path.suffix.lower() != ".pdf":
        return lines_of_text(read_text(path, pipe=True))
    from countback.fetch.pdf import page_contents, read_tables

    try:
        tables = read_tables(path)
        lines: list[Line] = []
        for number, content in page_contents(path, None):
            here = [table for table in tables if table.page == number]
            for view in content.views:
                lines += _of_view(view, number, [table.box for table in here])
            lines += [line for table in here for line in _of_table(table)]
    except UserError as error:
        raise UserError(f"{path}: cannot be read as a PDF: {error}") from None
    return lines


def lines_of_text(text: str) -> list[Line]:
    """The lines of a text; those with tabs are rows of a table."""
    lines = text.splitlines()
    tables = _table_of_line(lines)
    return [Line(line, tables.get(index, "")) for index, line in enumerate(lines)]


def _table_of_line(lines: Sequence[str]) -> dict[int, str]:
    """Line index -> "Table N" for lines with tabs: the caption that follows the block, or else precedes it."""
    result: dict[int, str] = {}
    block: list[int] = []
    before = ""
    for index, line in enumerate(lines):
        if "\t" in line:
            block.append(index)
            continue
        caption = CAPTION.match(line)
        if caption:
            before = caption[1]
            result.update(dict.fromkeys(block, before))
            block = []
        elif len(line) > 200 and block and not lines[index - 1].strip():  # running text: the caption stood above
            result.update(dict.fromkeys(block, before))
            block = []
    return result


def _of_view(view: View, page: int, tables: Sequence[Box]) -> Iterator[Line]:
    """The text outside the tables, the left column before the right one."""
    from countback.fetch.pdf.captions import gutter
    from countback.fetch.pdf.layout import bounding, lines_of, split, words_of

    lines = lines_of(view.glyphs)
    cuts = gutter(lines, view.page_box)
    pieces = [piece for line in lines for piece in (split(line, 1.5, cuts) if cuts else split(line, 12.0))]
    pieces = [piece for piece in pieces if not any(_inside(view.to_page(bounding(piece)), box) for box in tables)]
    if cuts:
        pieces.sort(key=lambda piece: (bounding(piece)[0] > cuts[0], bounding(piece)[1]))
    tops = [bounding(piece)[1] for piece in pieces]
    for piece, top in zip(pieces, tops, strict=True):
        text = words_of(piece)
        outer = top in (min(tops), max(tops)) and re.fullmatch(r"\d{1,4}", text)
        yield Line(text, page=page, why="page number" if outer else "")


def _of_table(table: PdfTable) -> Iterator[Line]:
    title, section = table.label or "", ""
    yield Line("\t".join(table.columns()), title, table.page)
    for own, row in zip(table.sections, table.rows, strict=True):
        if own and own != section:
            yield Line(own, title, table.page)
        section = own
        yield Line("\t".join(cell.text for cell in row), title, table.page)


def _inside(inner: Box, outer: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


# --- lines that hold no claims in any paper ---------------------------------------------------------------------------

_REFERENCES = re.compile(r"(?:\d+\.?\s+)?(?:References|Bibliography|Works cited|Literature cited)\s*", re.IGNORECASE)
_APPENDIX = re.compile(r"(?:Appendi|Supplement).*|[A-Z](?:\.\d+)*\s+[A-Z][a-z]{2,}[\w\s:–-]{0,70}")
_ENTRY = re.compile(r"\[(\d{1,3})\]|(\d{1,3})\.\s+[A-Z]")
_HEADING = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+[A-Z][^.\t]{2,80}")


def references(lines: Sequence[Line]) -> tuple[frozenset[int], frozenset[int]]:
    """Places in the list of references, from its heading to the appendix, and the numbers that its entries bear."""
    places: set[int] = set()
    numbers: set[int] = set()
    inside = False
    for place, line in enumerate(lines):
        text = line.text.strip()
        if _REFERENCES.fullmatch(text):
            inside = True
        elif inside and _APPENDIX.fullmatch(text):
            inside = False
        if inside:
            places.add(place)
            if entry := _ENTRY.match(text):
                numbers.add(int(entry[1] or entry[2]))
    return frozenset(places), frozenset(numbers)


def headings(lines: Sequence[Line]) -> dict[int, str]:
    """Places of numbered headings, with the number: each the first part of one before it, or the next after it."""
    found: dict[int, str] = {}
    seen: set[tuple[int, ...]] = {()}
    for place, line in enumerate(lines):
        match = _HEADING.fullmatch(line.text.strip()) if not line.table else None
        if match is None:
            continue
        number = tuple(map(int, match[1].split(".")))
        before = number[:-1] if number[-1] == 1 else (*number[:-1], number[-1] - 1)
        if before in seen and number not in seen:
            seen.add(number)
            found[place] = match[1]
    return found
