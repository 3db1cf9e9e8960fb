"""Tables of text, long or wide: one row per answer, or a column per annotator, per question or per item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from countback.fetch.codebook import reason_code
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE
from countback.fetch.readers.answers import Answers
from countback.fetch.readers.columns import Column, concatenate, read_delimited
from countback.fetch.readers.discover import discover, leave_out, listed, position, refuse_repeats
from countback.fetch.readers.options import Options
from countback.fetch.readers.people import ATTRIBUTES, bare
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source
from numpy.typing import NDArray

_DELIMITERS = (",", ";", "\t", "|")
_KINDS = {"human": HUMAN, "person": HUMAN, "judge": JUDGE, "model": JUDGE, "llm": JUDGE}


@dataclass(frozen=True)
class Grid:
    """A table as it stood: the file's name, the header, one Column for each name in it."""

    name: str
    header: list[str]
    columns: list[Column]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def take(self, rows: NDArray[np.bool_]) -> Grid:
        """Some of the rows."""
        return replace(self, columns=[column.take(rows) for column in self.columns])


def load_grid(source: Source, options: Options, tally: Tally) -> Grid:
    """A delimited file. Raises UserError for a wrong byte, a ragged row, or a delimiter that cannot be told."""
    text, had_mark = source.text(options.encoding)
    if had_mark:
        tally.repaired["BOM removed"] += 1
    delimiter = options.delimiter or guess_delimiter(text, source.name)
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise UserError(f"delimiter={delimiter!r} is not one character that can divide cells.")
    if delimiter != ",":
        tally.notes.append(f"{source.name} is divided by {delimiter!r}")
    header, columns = read_delimited(text, delimiter, source.name)
    return checked_grid(source.name, header, columns, tally)


def checked_grid(name: str, header: list[str], columns: list[Column], tally: Tally) -> Grid:
    """A grid with rows and with distinct names. Raises UserError for one without."""
    grid = Grid(name, [column.strip() for column in header], columns)
    refuse_repeats(grid.header, name)
    if not len(grid):
        raise UserError(f"{name} holds a header and no row; expected labels below it.")
    tally.read["rows"] += len(grid)
    return grid


def guess_delimiter(text: str, name: str) -> str:
    """The one delimiter the header holds; a comma where it holds none. Raises UserError where it holds two."""
    header = next((line for line in text[: text.find("\n", 2) + 1 or None].splitlines() if line), "")
    found = [d for d in _DELIMITERS if d in header]
    if len(found) > 1 and header.count('"') >= 2:  # quoted names may hold anything; look between them
        unquoted = "".join(header.split('"')[::2])
        found = [d for d in _DELIMITERS if d in unquoted]
    if len(found) > 1:
        raise UserError(
            f"{name}: the header {header[:80]!r} holds {' and '.join(map(repr, found))}, so what divides the cells is "
            f"not clear. Say delimiter={found[0]!r} or whichever it is."
        )
    return found[0] if found else ","


def long_answers(grid: Grid, options: Options, tally: Tally) -> Answers:
    """One row of the grid is one answer."""
    only_answers(tally)
    roles = discover(grid.header, options, tally, grid.name, ("item", "annotator", "label"))
    extra = attribute_positions(grid.header, roles.values())
    leave_out(grid.header, [*roles.values(), *extra.values()], tally)
    answers = rows_as_answers(grid, roles, options, tally, grid.columns[roles["label"]])
    return replace(answers, attributes={name: grid.columns[i] for name, i in extra.items()})


def only_answers(tally: Tally) -> None:
    """What a table without a column for it cannot show."""
    if not tally.hidden:
        why = "A table shows the answers that are in it, not what was asked, skipped, discarded or begun."
        tally.cannot_know(why, "not_asked", "skipped", "discarded", "draft")


def wide_answers(grid: Grid, options: Options, tally: Tally) -> Answers:
    """A column for each annotator, question or item, by the list role that was told: one answer for each cell."""
    told = [role for role in ("annotators", "questions", "items") if options.listed(role)]
    if len(told) != 1:
        raise UserError(
            f"{grid.name}: say what the headers of this wide file are with exactly one of columns={{'annotators': "
            f"[...]}}, {{'questions': [...]}} or {{'items': [...]}}. Its columns are {listed(grid.header)}."
        )
    role = told[0].removesuffix("s")
    names = options.listed(told[0]) or []
    cells = [position(grid.header, name, told[0], grid.name) for name in names]
    needed = [r for r in ("item", "annotator") if r != role]
    roles = discover(grid.header, options, tally, grid.name, needed)
    replaced = {role, "judge"} if role == "annotator" else {role}
    roles = {r: i for r, i in roles.items() if r not in replaced and i not in cells}
    extra = attribute_positions(grid.header, [*roles.values(), *cells])
    leave_out(grid.header, [*roles.values(), *cells, *extra.values()], tally)
    tally.columns.pop("label", None)
    only_answers(tally)
    tally.columns[told[0]] = ", ".join(names)
    tally.unknown.append("An empty cell of a wide file may be an answer left blank or one never asked for.")
    return melt(grid, roles, {grid.header[i]: grid.columns[i] for i in cells}, role, options, tally, extra)


def melt(
    grid: Grid,
    roles: dict[str, int],
    cells: dict[str, Column],
    role: str,
    options: Options,
    tally: Tally,
    extra: dict[str, int],
) -> Answers:
    """The rows once for each of the cells' columns, whose names are the values of `role`."""
    n, k = len(grid), len(cells)
    repeat = np.tile(np.arange(n), k)
    wide = replace(grid, columns=[Column(c.values, c.codes[repeat]) for c in grid.columns])
    label = concatenate(list(cells.values()))
    answers = rows_as_answers(wide, roles, options, tally, label)
    heads = Column(tuple(cells), np.repeat(np.arange(k, dtype=np.int32), n)) if n else Column((), label.codes)
    attributes = {name: wide.columns[i] for name, i in extra.items()}
    return replace(answers, **{role: heads}, attributes=attributes)  # type: ignore[arg-type]


def rows_as_answers(grid: Grid, roles: dict[str, int], options: Options, tally: Tally, label: Column) -> Answers:
    """The columns of the roles, and for each role that no column has, a constant."""
    n = len(label)
    judge = JUDGE if "judge" in roles else HUMAN

    def column(role: str) -> Column:
        return grid.columns[roles[role]] if role in roles else Column.constant("", n)

    return Answers(
        item=column("item"),
        annotator=column("judge" if "judge" in roles else "annotator"),
        label=label,
        question=column("question"),
        country=column("country"),
        file=Column.constant(grid.name, n),
        kind=_kinds(column("kind"), grid.name) if "kind" in roles else np.full(n, judge, np.int8),
        state=np.full(n, reason_code("valid"), np.int8),
        seconds=_numbers(column("seconds"), tally),
        time=column("time"),
    )


def attribute_positions(header: Sequence[str], used: Iterable[int]) -> dict[str, int]:
    """The columns that say something about the annotator, such as age; read to see whether an id is one person."""
    taken = set(used)
    return {name: i for i, name in enumerate(header) if bare(name) in ATTRIBUTES and i not in taken}


def _kinds(column: Column, name: str) -> NDArray[np.int8]:
    unknown = [v for v in column.values if v.strip().casefold() not in _KINDS]
    if unknown:
        raise UserError(f"{name}: the kind {unknown[0]!r} is not known; expected human or judge in every row.")
    return np.array([_KINDS[v.strip().casefold()] for v in column.values], np.int8)[column.codes]


def _numbers(column: Column, tally: Tally) -> NDArray[np.float64]:
    """Seconds as numbers; what is no number, negative or infinite is NaN and counted."""
    values = np.full(len(column.values), np.nan)
    counts = column.counts()
    for i, text in enumerate(column.values):
        try:
            number = float(text) if text.strip() else np.nan
        except ValueError:
            number = -1.0
        if number < 0 or number == np.inf:
            tally.refused["seconds that are no number of seconds"] += int(counts[i])
        else:
            values[i] = number
    return values[column.codes] if len(column) else np.zeros(0)
