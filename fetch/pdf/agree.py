"""When a number read from a PDF may be believed: a second source gives the same number.

A cell is compared part by part (estimate, low, high, ...). Only a cell whose every number is confirmed is evidence.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from countback.fetch.errors import UserError
from countback.fetch.pdf import CellValue, PdfCell, PdfTable, header_key, page_contents
from countback.fetch.pdf.grammar import half_unit
from countback.fetch.pdf.layout import lines_of, text_of

Number = int | float | Decimal | Fraction
Source = Mapping[tuple[str, str], Number | Mapping[str, Number]]

_ARXIV = re.compile(r"arXiv:\s?([0-9]{4}\.[0-9]{4,5}v[0-9]+)")
_DOWN = re.compile(r"decreas|declin|\bdrop|reduc|\bloss\b|worsen", re.IGNORECASE)
_DIFFERENCE = re.compile(r"differ|delta|[Δ∆]|change|\bgap\b|minus|relative to", re.IGNORECASE)


@dataclass(frozen=True)
class Difference:
    """One number on which two sources disagree; `printed` is the table's, `other` the second source's."""

    row: str
    column: str
    part: str
    printed: Decimal
    other: Number


@dataclass(frozen=True)
class Agreement:
    """A table whose cells say which of their parts `source` confirms, with what differs and what was not found.

    `missing` are names of the source without a readable cell in the table; `unsupported` are (row, column, part) of the
    table for which the source has nothing.
    """

    table: PdfTable
    source: str
    differs: tuple[Difference, ...]
    missing: tuple[tuple[str, str], ...]
    unsupported: tuple[tuple[str, str, str], ...]

    def confirmed(self) -> int:
        """How many printed numbers the source bears out."""
        return sum(len(cell.confirmed) for row in self.table.rows for cell in row)


def agree(table: PdfTable, source: Source, name: str, *, fill_down: bool = False) -> Agreement:
    """Mark the cells that a second source bears out.

    `source` maps (row name, column name) to a number, or to numbers by part, in the unit that the table prints. An
    unrounded number confirms a printed one when it lies within half a unit of its last place (both ends included: the
    rounding rule of the paper is not known). A bare number stands for the estimate.
    """
    given = {_key(*names): numbers for names, numbers in source.items()}
    if len(given) < len(source):
        raise UserError(f"Two names of {name} differ only in spaces, case or dashes; give each cell one name.")
    labels, columns = table.row_labels(fill_down=fill_down), table.columns()
    unique = _unique_keys(labels, columns)
    rows, differs, unsupported = [], [], []
    used: set[tuple[str, str]] = set()
    for label, row in zip(labels, table.rows, strict=True):
        cells = []
        for column, cell in zip(columns, row, strict=True):
            key = _key(label, column)
            if isinstance(cell.value, CellValue):
                numbers = given.get(key, {}) if key in unique else {}
                used |= {key} & given.keys() & unique
                other = numbers if isinstance(numbers, Mapping) else {"estimate": numbers}
                for part, printed in cell.value.numbers().items():
                    if part not in other:
                        unsupported.append((label, column, part))
                    elif rounds_to(other[part], printed):
                        cell = replace(cell, confirmed=cell.confirmed | {part})
                    else:
                        differs.append(Difference(label, column, part, printed, other[part]))
            cells.append(cell)
        rows.append(tuple(cells))
    missing = tuple(names for names in source if _key(*names) not in used)
    return Agreement(replace(table, rows=tuple(rows)), name, tuple(differs), missing, tuple(unsupported))


def _key(row: str, column: str) -> tuple[str, str]:
    return header_key(row), header_key(column)


def _unique_keys(labels: Sequence[str], columns: Sequence[str]) -> set[tuple[str, str]]:
    """The names that stand for one cell; two rows of one name leave it open which of them a source means."""
    counts = Counter(_key(row, column) for row in labels for column in columns)
    return {key for key, n in counts.items() if n == 1}


def rounds_to(exact: Number, printed: Decimal) -> bool:
    """Whether an unrounded number may print as `printed`; a billionth is allowed for binary arithmetic."""
    if isinstance(exact, float) and not math.isfinite(exact):
        return False
    value = Fraction(exact)
    slack = max(Fraction(1), abs(value)) / 10**9 if isinstance(exact, float) else Fraction(0)
    return abs(value - Fraction(printed)) <= Fraction(half_unit(printed)) + slack


def as_source(table: PdfTable, *, fill_down: bool = False) -> dict[tuple[str, str], dict[str, Number]]:
    """The numbers of a table as a source for `agree`; names that stand more than once are left out."""
    labels, columns = table.row_labels(fill_down=fill_down), table.columns()
    found: dict[tuple[str, str], dict[str, Number]] = {}
    unique = _unique_keys(labels, columns)
    for label, row in zip(labels, table.rows, strict=True):
        for column, cell in zip(columns, row, strict=True):
            if isinstance(cell.value, CellValue) and _key(label, column) in unique:
                found[label, column] = dict(cell.value.numbers())
    return found


def compare_readings(table: PdfTable, other: PdfTable, *, fill_down: bool = False) -> Agreement:
    """Hold a table against the same table in another file: another version, a publisher's copy. `differs` lists the
    numbers that changed. Raises UserError for two readings of one file, which are one source."""
    if table.sha256 == other.sha256:
        raise UserError(
            "Both readings come from one file, so neither confirms the other. Give the table of another file, or the "
            "authors' data."
        )
    name = f"{other.label or 'a table'} of another file ({other.sha256[:12]})"
    return agree(table, as_source(other, fill_down=fill_down), name, fill_down=fill_down)


def evidence(cell: PdfCell) -> CellValue:
    """The value of a cell that a second source confirms in every part; raises UserError for any other cell."""
    if not isinstance(cell.value, CellValue):
        raise UserError(f"The cell {cell.raw!r} on page {cell.page} is unread: {cell.value.reason}.")
    if lacking := sorted(cell.value.numbers().keys() - cell.confirmed):
        raise UserError(
            f"The cell {cell.raw!r} on page {cell.page} is a lead: no second source confirms its {', '.join(lacking)}. "
            "Confirm it with `agree` before using it as evidence."
        )
    return cell.value


def sign_doubts(table: PdfTable, text: str = "") -> tuple[str, ...]:
    """Columns that may have lost their minus signs on the way through the PDF, each with the reason.

    A column is in doubt when its name, or `text` (what the paper says about it), speaks of a decrease and no number in
    it is negative; when it holds three differences or more without one sign; or when an estimate lies outside its
    interval.
    """
    doubts = []
    for j, name in enumerate(table.columns()):
        cells = [row[j] for row in table.rows if isinstance(row[j].value, CellValue)]
        values = [cell.value for cell in cells if isinstance(cell.value, CellValue)]
        negative = any(number < 0 for value in values for number in value.numbers().values())
        signed = negative or any("+" in cell.text for cell in cells)
        if any("the estimate lies outside its interval" in value.flags for value in values):
            doubts.append(f"{name}: an estimate lies outside its interval")
        elif values and not negative and _DOWN.search(f"{name} {text}"):
            doubts.append(f"{name}: the text speaks of a decrease and no number is negative")
        elif len(values) >= 3 and not signed and _DIFFERENCE.search(name):
            doubts.append(f"{name}: {len(values)} differences without one sign")
    return tuple(doubts)


def arxiv_version(path: str | Path) -> str | None:
    """The id and version (`2601.00001v1`) that arXiv stamped on the first page, or None when there is no stamp."""
    for _, content in page_contents(Path(path), [1]):
        for view in content.views:
            for line in lines_of(view.glyphs):
                if found := _ARXIV.search(text_of(line)):
                    return found[1]
    return None


def require_version(path: str | Path, version: str) -> None:
    """Raise UserError unless the PDF carries the stamp of this arXiv version: numbers change from one to the next."""
    stamp = arxiv_version(path)
    if stamp != version:
        raise UserError(
            f"{path} {f'is stamped {stamp}' if stamp else 'carries no arXiv stamp'}; {version} was expected. "
            "Fetch that version, or bind the claim to the version at hand."
        )
