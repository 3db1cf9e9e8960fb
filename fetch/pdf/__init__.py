"""Tables out of a PDF, each number with its page, box and raw characters, or "unread" with a reason.

A number read from a PDF is a lead. It becomes evidence when a second source agrees (`countback.fetch.pdf.agree`).
The reader knows rules, captions and white space; it knows no paper, so nothing here depends on where a table stands or
what its rows are called. Needs the `pdf` extra (pdfplumber), imported when a file is opened.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from countback.fetch.errors import UserError
from countback.fetch.pdf.captions import Caption, find_captions, give_captions
from countback.fetch.pdf.columns import Grid, read_grid
from countback.fetch.pdf.grammar import CellValue, Unread, parse_cell
from countback.fetch.pdf.layout import Box, Glyph, PageContent, View, lines_of, read_page, reading_of, split, text_of
from countback.fetch.pdf.regions import find_regions, region_by_caption
from countback.fetch.pdf.rows import RawCell

__all__ = ["CellValue", "PdfCell", "PdfTable", "Unread", "header_key", "parse_cell", "read_tables"]

_INTERVAL_HEADER = re.compile(r"\b(CI|CrI|HDI|IQR)s?\b|interval|\brange\b|\bbounds\b", re.IGNORECASE)
_KAPPA_HEADER = re.compile(r"kappa|κ", re.IGNORECASE)
_P_HEADER = re.compile(r"^\W*p\W*(val\w*)?\W*$", re.IGNORECASE)


@dataclass(frozen=True)
class PdfCell:
    """One cell: `raw` as drawn, `text` as the grammar saw it (raised digits as superscripts, marks set apart).

    `box` is (x0, top, x1, bottom) in points from the page's upper left corner; None for a blank cell. `confirmed` names
    the parts of the value that a second source bears out.
    """

    raw: str
    text: str
    page: int
    box: Box | None
    value: CellValue | Unread
    confirmed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PdfTable:
    """One table. `header` has a path of texts for each column, outermost first; every row has one cell per column.

    `sections` holds, for each row, the title line printed above it inside the table ("" when there is none). `sha256`
    is that of the file, so that a file is never taken for a second source of its own numbers.
    """

    caption: str | None
    label: str | None
    page: int
    box: Box
    header: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[PdfCell, ...], ...]
    sections: tuple[str, ...]
    notes: tuple[str, ...]
    sha256: str

    def columns(self) -> tuple[str, ...]:
        return tuple(" / ".join(path) for path in self.header)

    def stub(self) -> int:
        """How many leading columns name the rows: those without any number, and at least one."""
        width = 0
        while width < len(self.header) and not any(isinstance(r[width].value, CellValue) for r in self.rows):
            width += 1
        return min(max(width, 1), max(len(self.header) - 1, 1))

    def row_labels(self, *, fill_down: bool = False) -> tuple[str, ...]:
        """The text of the stub of each row, its parts joined by " / ". Blank parts stay blank, unless `fill_down`
        declares that a blank repeats the text above it."""
        labels = []
        above = [""] * self.stub()
        for row in self.rows:
            parts = [cell.text for cell in row[: len(above)]]
            if fill_down:
                parts = [part or last for part, last in zip(parts, above, strict=True)]
            above = parts
            labels.append(" / ".join(part for part in parts if part))
        return tuple(labels)

    def find(self, row: str, column: str, *, fill_down: bool = False) -> PdfCell:
        """The cell under a column name (or path) in a named row; spaces and ligatures do not matter.

        Raises UserError when no cell or more than one fits.
        """
        rows = _named(row, self.row_labels(fill_down=fill_down))
        columns = _named(column, self.columns())
        if len(rows) != 1 or len(columns) != 1:
            raise UserError(
                f"{self.label or 'The table'} on page {self.page} has {len(rows)} row(s) named {row!r} and "
                f"{len(columns)} column(s) named {column!r}; one of each was expected. Its columns are "
                f"{list(self.columns())}; its rows are {list(self.row_labels(fill_down=fill_down))}."
            )
        return self.rows[rows[0]][columns[0]]


def _named(name: str, names: Sequence[str]) -> list[int]:
    """Where a name stands; hyphens of line breaks are overlooked only when nothing fits as it is."""
    exact = [i for i, other in enumerate(names) if header_key(other) == header_key(name)]
    bare = header_key(name).replace("-", "")
    return exact or [i for i, other in enumerate(names) if header_key(other).replace("-", "") == bare]


def header_key(text: str) -> str:
    """A name for look-up: without spaces (PDFs lose them), case, ligatures and kinds of dash."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\u2010-\u2015\u2212]", "-", re.sub(r"\s", "", plain))


def read_tables(path: str | Path, pages: Iterable[int] | None = None) -> tuple[PdfTable, ...]:
    """Every table with horizontal rules or a caption on the given pages (1-based; all when None), page by page from top
    to bottom.

    Raises UserError when the `pdf` extra is missing, the file is not a readable PDF, a page does not exist, or none of
    the pages holds text (a scan).
    """
    tables: list[PdfTable] = []
    characters = 0
    for number, content in page_contents(Path(path), pages):
        hidden = tuple(f"left out: {what} ({n})" for what, n in sorted(content.dropped.items()) if n)
        for view in content.views:
            characters += len(view.glyphs)
            tables += [replace(table, notes=table.notes + hidden) for table in _view_tables(view, number)]
    if not characters:
        raise UserError(f"{path} has no text on these pages: it may be a scan. Use a PDF with a text layer.")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return tuple(replace(table, sha256=digest) for table in _continued(tables))


def _continued(tables: list[PdfTable]) -> list[PdfTable]:
    """A table without a caption that opens a page under the header of the last table goes on from there."""
    out: list[PdfTable] = []
    for table in tables:
        last = out[-1] if out else None
        if table.caption is None and last is not None and last.page + 1 == table.page and last.header == table.header:
            note = f"goes on from page {last.page}"
            table = replace(table, caption=last.caption, label=last.label, notes=(*table.notes, note))
        out.append(table)
    return out


def page_contents(path: Path, pages: Iterable[int] | None) -> Iterator[tuple[int, PageContent]]:
    """The cleaned pages of a PDF with their numbers; raises UserError as `read_tables` does."""
    try:
        import pdfplumber
    except ImportError as error:
        raise UserError(
            "Reading a PDF needs pdfplumber, which is not installed. "
            "Install the `pdf` extra: pip install 'countback[pdf]'."
        ) from error
    if not path.is_file():
        raise UserError(f"There is no file {path}. Give the path of a PDF.")
    with path.open("rb") as file:
        start = file.read(1024)
    if b"%PDF-" not in start:
        raise UserError(f"{path} does not start like a PDF. It may be a saved web page; fetch the PDF again.")
    try:
        with path.open("rb") as file, pdfplumber.open(file) as pdf:
            wanted = list(range(1, len(pdf.pages) + 1)) if pages is None else sorted(set(pages))
            if wrong := [n for n in wanted if not 1 <= n <= len(pdf.pages)]:
                raise UserError(f"{path} has pages 1 to {len(pdf.pages)}; page {wrong[0]} was asked for.")
            for number in wanted:
                yield number, _content(pdf.pages[number - 1])
    except UserError:
        raise
    except Exception as error:  # the parser raises many kinds of error on a damaged or locked file
        raise UserError(f"{path} cannot be read as a PDF ({type(error).__name__}: {error}). Fetch it again.") from error


def _content(page: Any) -> PageContent:
    content = read_page(page)
    page.close()
    return content


def _view_tables(view: View, page: int) -> list[PdfTable]:
    found = [(box, grid) for box in find_regions(view) if (grid := _grid(view, box)) is not None]
    captions = find_captions(view)
    given = give_captions([box for box, _ in found], captions)
    # A figure drawn in vectors (a heat map) may look like a grid of numbers, but nothing names its columns.
    tables = [
        _table(view, page, box, grid, caption)
        for (box, grid), caption in zip(found, given, strict=True)
        if (caption.of_table if caption else any(grid.header))
    ]
    taken = {caption.label for caption in given if caption is not None}
    for caption in captions:
        box = region_by_caption(view, caption) if caption.of_table and caption.label not in taken else None
        if box is not None and not any(_overlap(box, other) for other, _ in found):
            grid = _grid(view, box)
            if grid is not None:
                note = "found by its caption, with no rules around it: where it ends was inferred"
                tables.append(_table(view, page, box, grid, replace(caption, notes=(note,))))
    return sorted(tables, key=lambda t: (t.box[1], t.box[0]))


def _grid(view: View, box: Box) -> Grid | None:
    rules = [r for r in view.rules if r.x0 >= box[0] - 3 and r.x1 <= box[2] + 3]
    return read_grid(_glyphs_of(view, box), view.turned, box, rules, view.posts)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _glyphs_of(view: View, box: Box) -> list[Glyph]:
    """The text between the outer rules. A stretch of text that sticks out beyond their ends is taken whole: half a
    number would be another number."""
    lines = lines_of([g for g in view.glyphs if box[1] < g.base < box[3]])
    stretches = [stretch for line in lines for stretch in split(line, 0.6)]
    return [g for s in stretches if s[0].x0 < box[2] + 3 and s[-1].x1 > box[0] - 3 for g in s]


def _table(view: View, page: int, box: Box, grid: Grid, caption: Caption | None) -> PdfTable:
    columns = [" / ".join(path) for path in grid.header]
    rows = tuple(
        tuple(_cell(view, page, raw, name) for raw, name in zip(row.cells, columns, strict=True)) for row in grid.rows
    )
    notes = grid.notes + (caption.notes if caption else ("no caption stands next to this table",))
    return PdfTable(
        caption=caption.text if caption else None,
        label=caption.label if caption else None,
        page=page,
        box=view.to_page(box),
        header=grid.header,
        rows=rows,
        sections=tuple(row.section for row in grid.rows),
        notes=notes,
        sha256="",
    )


def _cell(view: View, page: int, cell: RawCell, column: str) -> PdfCell:
    raw = " ".join(text_of(line) for line in cell.lines)
    readings = [reading_of(line) for line in cell.lines]
    text = " ".join(reading[0] for reading in readings)
    problem = cell.problem or next((reading[2] for reading in readings if reading[2]), None)
    value: CellValue | Unread
    if problem:
        value = Unread(raw, problem)
    else:
        value = parse_cell(text, bounds=_bounds(column), interval_column=bool(_INTERVAL_HEADER.search(column)))
    marks = tuple(mark for reading in readings for mark in reading[1])
    if marks and isinstance(value, CellValue):
        value = replace(value, marks=value.marks + marks)
    box = cell.box()
    return PdfCell(raw, text, page, view.to_page(box) if box else None, value)


def _bounds(column: str) -> tuple[Decimal, Decimal] | None:
    """The values that a quantity can take, where its column name leaves no doubt."""
    if "%" in column or "100" in column:
        return None
    if _KAPPA_HEADER.search(column):
        return (Decimal(-1), Decimal(1))
    return (Decimal(0), Decimal(1)) if _P_HEADER.match(column) else None
