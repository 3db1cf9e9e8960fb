"""Excel workbooks: one sheet as a grid of texts, the way the cells show them."""

from __future__ import annotations

import io
import warnings
from datetime import date, datetime, time
from typing import Any

from countback.fetch.errors import UserError
from countback.fetch.readers.columns import Column
from countback.fetch.readers.options import Options
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source
from countback.fetch.readers.tables import Grid, checked_grid


def load_workbook_grid(source: Source, options: Options, tally: Tally) -> Grid:
    """The only sheet with cells, or the one told. Raises UserError without openpyxl, and where no sheet is meant."""
    try:
        import openpyxl
    except ImportError:
        raise UserError(
            f"{source.name} is an Excel workbook, and reading it needs openpyxl. Install the extra: "
            "pip install 'countback[labels]', or save the sheet as CSV in UTF-8."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and extensions, which hold no label
            book = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True)
            sheets = {sheet.title: _rows(sheet) for sheet in book.worksheets}
    except Exception as error:  # a damaged workbook makes openpyxl raise whatever its parts raise
        raise UserError(f"{source.name} is not a workbook that can be read ({error!r}); save it again.") from None
    return _grid(source.name, _chosen(sheets, options, source.name), tally)


def _rows(sheet: Any) -> list[list[str]]:
    """The rows that hold something. A sheet's own word on its size is not taken: it may leave cells out."""
    sheet.reset_dimensions()
    rows = [[_text(value) for value in row] for row in sheet.iter_rows(values_only=True)]
    return [row for row in rows if any(row)]


def _text(value: object) -> str:
    """A cell's value as text; a date stays recognisable as one, because a label that became a date is damage."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _chosen(sheets: dict[str, list[list[str]]], options: Options, name: str) -> list[list[str]]:
    filled = {title: rows for title, rows in sheets.items() if rows}
    if options.sheet is not None:
        if options.sheet not in filled:
            raise UserError(f"{name} has no sheet {options.sheet!r} with cells; it has {', '.join(map(repr, filled))}.")
        return filled[options.sheet]
    if len(filled) != 1:
        shown = ", ".join(map(repr, filled)) or "none"
        raise UserError(f"{name} has {len(filled)} sheets with cells ({shown}); say which: sheet='...'.")
    return next(iter(filled.values()))


def _grid(name: str, rows: list[list[str]], tally: Tally) -> Grid:
    """The rows under the header. Cells to the right of the header's last name stop the reading."""
    header = [cell.strip() for cell in rows[0]]
    while header and not header[-1]:
        header.pop()
    for number, row in enumerate(rows[1:], 2):
        if any(row[len(header) :]):
            raise UserError(f"{name}, row {number} has cells beyond the header's {len(header)} columns; name them.")
    body = [row[: len(header)] + [""] * (len(header) - len(row)) for row in rows[1:]]
    return checked_grid(name, header, [Column.of(row[i] for row in body) for i in range(len(header))], tally)
