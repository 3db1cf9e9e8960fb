"""A table of gaps with intervals: one row per model, one column per behaviour (CuBEs, Table 9: 13 by 6).

This reader has never seen the real Table 9. It was built and tested on synthetic PDFs, set in the layout that the paper
is said to use, with invented numbers. `GapTable.summary` repeats this wherever the result is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from countback.fetch.errors import UserError
from countback.fetch.pdf import CellValue, PdfCell, PdfTable, Unread, header_key, read_tables

UNSEEN = "This reader was built on synthetic tables; it has never seen the real Table 9. Compare a few cells by eye."


@dataclass(frozen=True)
class Gap:
    """One gap with its interval, as printed, and the cell or cells it was read from."""

    model: str
    behaviour: str
    gap: Decimal
    low: Decimal
    high: Decimal
    cells: tuple[PdfCell, ...]

    def clear_of_zero(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class GapTable:
    """The gaps that could be read, the cells that could not (model, behaviour, reason), and the table behind them."""

    gaps: tuple[Gap, ...]
    unread: tuple[tuple[str, str, str], ...]
    table: PdfTable

    def clear_of_zero(self) -> tuple[Gap, ...]:
        return tuple(gap for gap in self.gaps if gap.clear_of_zero())

    def summary(self) -> str:
        """What was read, in words; numbers from a PDF stay leads until a second source agrees."""
        lines = [
            f"{self.table.label or 'Table'} on page {self.table.page}: {len(self.gaps)} gaps read, "
            f"{len(self.unread)} unread; {len(self.clear_of_zero())} intervals clear of zero.",
            *(f"unread: {model} / {behaviour}: {reason}" for model, behaviour, reason in self.unread),
            UNSEEN,
            "These numbers are leads: they become evidence when a second source agrees.",
        ]
        return "\n".join(lines)


def read_gap_table(
    path: str | Path, *, label: str = "Table 9", models: int = 13, behaviours: int = 6, pages: list[int] | None = None
) -> GapTable:
    """Read the one table called `label` as `models` x `behaviours` gaps; a table with the two swapped is turned.

    Each cell holds `gap [low, high]`, with the interval beside or below the gap, or in a column to its right.
    Raises UserError when there is no such table, more than one, or when its size is another.
    """
    tables = read_tables(path, pages)
    named = [table for table in tables if header_key(table.label or "") == header_key(label)]
    if len(named) != 1:
        seen = ", ".join(f"{t.label or 'no label'} (page {t.page})" for t in tables) or "none"
        raise UserError(f"{path} has {len(named)} tables called {label}; one was expected. Tables found: {seen}.")
    table = named[0]
    grid = _cells(table)
    size = (len({row for row, _ in grid}), len({column for _, column in grid}))
    if size not in ((models, behaviours), (behaviours, models)):
        raise UserError(
            f"{label} on page {table.page} has {size[0]} rows by {size[1]} columns of gaps; {models} by {behaviours} "
            f"were expected. Its columns are {list(table.columns())}. Look at the page before going on."
        )
    turned = size != (models, behaviours)
    gaps, unread = [], []
    for (row, column), cells in grid.items():
        model, behaviour = (column, row) if turned else (row, column)
        gap = _gap(model, behaviour, cells)
        if isinstance(gap, Gap):
            gaps.append(gap)
        else:
            unread.append((model, behaviour, gap))
    return GapTable(tuple(gaps), tuple(unread), table)


def _cells(table: PdfTable) -> dict[tuple[str, str], tuple[PdfCell, ...]]:
    """The cells of each gap by row and column name; a column that holds only intervals belongs to the one before it."""
    stub, names = table.stub(), table.columns()
    grid: dict[tuple[str, str], tuple[PdfCell, ...]] = {}
    for label, row in zip(table.row_labels(), table.rows, strict=True):
        owner = ""
        for j in range(stub, len(names)):
            if j > stub and _only_intervals(table, j):
                grid[label, owner] += (row[j],)
            else:
                owner = names[j].split(" / ")[-1]
                grid[label, owner] = (*grid.get((label, owner), ()), row[j])
    return grid


def _only_intervals(table: PdfTable, j: int) -> bool:
    values = [row[j].value for row in table.rows if isinstance(row[j].value, CellValue)]
    return bool(values) and all(isinstance(v, CellValue) and v.estimate is None and v.low is not None for v in values)


def _gap(model: str, behaviour: str, cells: tuple[PdfCell, ...]) -> Gap | str:
    """The gap of these cells, or why there is none."""
    parts: dict[str, Decimal] = {}
    for cell in cells:
        if isinstance(cell.value, Unread):
            return f"{cell.raw!r}: {cell.value.reason}"
        if cell.value.flags:
            return f"{cell.raw!r}: {cell.value.flags[0]}"
        if parts.keys() & cell.value.numbers().keys():
            return f"two cells of one name: {', '.join(repr(c.raw) for c in cells)}"
        parts |= cell.value.numbers()
    if set(parts) != {"estimate", "low", "high"}:
        return f"{' '.join(c.raw for c in cells)!r}: a gap with an interval was expected"
    return Gap(model, behaviour, parts["estimate"], parts["low"], parts["high"], cells)
