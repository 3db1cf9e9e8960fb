"""A folder to start a paper from: commented TOML, tables as drafts, pins of released files, and one claim that holds.

Nothing that stands is overwritten, and nothing half-made is left. A table is read as text: every cell but those that
name a row is written with the mark of a draft, and stays unchecked until a person has compared it with the paper.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from countback.audit import new_text
from countback.audit.predict_text import wrap
from countback.claims.registry import BLANK, DRAFT, list_papers, load_paper
from countback.claims.reported import NotANumber, parse
from countback.claims.spec import read_text
from countback.fetch.errors import UserError
from countback.fetch.release import Pin, is_reserved

NUMBERS = ("number", "inequality", "range", "estimate", "list")
_NOTHING = frozenset({"nan", "inf", "-inf", "infinity", "null"})  # what a table of the registry may not hold


@dataclass(frozen=True)
class Draft:
    """A table as read: unique column names, rows of equal length, and the columns that name a row."""

    id: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    key: tuple[str, ...]

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(column for column in self.columns if column not in self.key)

    @property
    def cells(self) -> int:
        """How many cells wait to be compared with the paper."""
        places = [i for i, column in enumerate(self.columns) if column not in self.key]
        return sum(row[i].strip() not in BLANK for row in self.rows for i in places)


@dataclass(frozen=True)
class Made:
    """A new folder, its drafts, and what was left out or changed in reading them."""

    folder: Path
    drafts: tuple[Draft, ...]
    notes: tuple[str, ...]


def make(
    paper: str,
    into: Path,
    *,
    table: Path | None = None,
    pdf: Path | None = None,
    pages: str = "",
    released: tuple[Path, ...] = (),
) -> Made:
    """Write the folder `into`/`paper`. Raises UserError, and leaves nothing behind, where it cannot be made."""
    if not re.fullmatch(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", paper):
        raise UserError(f'found the id "{paper}"; expected lower-case letters, digits, dots and hyphens: smith-2026')
    if is_reserved(paper):
        raise UserError(f'"{paper}" cannot name a folder on Windows; expected another id, such as smith-2026')
    if paper in {folder.name.replace("_", "-") for folder in list_papers()}:
        raise UserError(f'"{paper}" is a paper of the registry; choose another id')
    if table is not None and pdf is not None:
        raise UserError("found both --table and --pdf; give one")
    if pages and pdf is None:
        raise UserError("--pages says which pages of --pdf FILE to read; give that too")
    folder = into / paper
    if folder.exists():
        raise UserError(f"{folder} exists; nothing was written: choose another id, or another folder with --into")
    notes: list[str] = []
    drafts: list[Draft] = []
    if table is not None:
        drafts = [from_csv(table, notes)]
    elif pdf is not None:
        drafts = from_pdf(pdf, pages, notes)
    _write(folder, dict(_files(paper, folder, drafts, released)))
    return Made(folder, tuple(drafts), tuple(notes))


def present(made: Made) -> str:
    """What was made, what was noticed in reading, and the next command."""
    lines = [f"{made.folder}: made"]
    told = [f"tables/{d.id}.csv: {d.title}, {d.source}; cells to confirm: {d.cells}" for d in made.drafts]
    lines += [wrap(line, 2, 2) for line in (*told, *(f"note: {note}" for note in made.notes))]
    return "\n".join(
        [*lines, wrap(f"next: countback check {made.folder}, then edit paper.toml and claims.toml in it", 0, 2)]
    )


def _write(folder: Path, files: dict[str, str]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()  # fails where something stands by now
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); choose another folder with --into") from None
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        load_paper(folder)  # a name that no reference could use is refused here, not at the first check
    except UserError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UserError(f"{error}; mend the table that was given: nothing was kept") from None
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UserError(f"{folder}: cannot be written to ({error.strerror}); nothing was kept") from None


def from_csv(path: Path, notes: list[str]) -> Draft:
    """The table in a file of text separated by commas, semicolons or tabs."""
    text = read_text(path)
    wrong = "one column"
    for mark in (",", ";", "\t"):
        try:
            lines = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if any(cell.strip() for cell in row)]
        except csv.Error as error:
            raise UserError(f"{path}: cannot be read as CSV ({error}); export the table again") from None
        columns, *rows = lines or [[]]
        ragged = next((row for row in rows if len(row) != len(columns)), None)
        if len(columns) > 1 and rows and ragged is None:
            numbers = (any(_is_number(row[place]) for row in rows) for place in range(len(columns)))
            stub = next((place for place, number in enumerate(numbers) if number), len(columns))
            return _draft(
                path.stem, f"read from {path.name}", columns, rows, min(max(stub, 1), len(columns) - 1), notes
            )
        if len(columns) > 1:
            wrong = f"{len(ragged)} cells in {ragged}, {len(columns)} in the header" if ragged else "no row"
            break
    raise UserError(
        f"{path}: found {wrong}; expected a header, then rows with as many cells, at least two, separated by commas, "
        "semicolons or tabs"
    )


def from_pdf(path: Path, pages: str, notes: list[str]) -> list[Draft]:
    """Every table with a number in it on the pages; `notes` says which were left out."""
    from countback.fetch.pdf import CellValue, read_tables

    drafts: list[Draft] = []
    for table in read_tables(path, _pages(pages)):
        title, page = table.label or f"A table of page {table.page}", f"page {table.page}"
        if not any(isinstance(cell.value, CellValue) for row in table.rows for cell in row):
            notes.append(f"{title}, {page}: left out, no cell is a number")
            continue
        notes += [f"{title}, {page}: {note}" for note in table.notes]
        columns, stub = list(table.columns()), table.stub()
        rows = [[cell.text for cell in row] for row in table.rows]
        if any(table.sections):  # titles between the rows of a table tell rows of one name apart
            columns, stub = ["Section", *columns], stub + 1
            rows = [[section, *row] for section, row in zip(table.sections, rows, strict=True)]
        again = sum(draft.title.startswith(title) for draft in drafts)
        title = f"{title} ({again + 1})" if again else title
        drafts.append(_draft(title, f"read from {page} of {path.name}", columns, rows, stub, notes))
    if not drafts:
        where = f"page {pages}" if pages else "any page"
        raise UserError(f"{path}: found no table with numbers on {where}; name other pages, or type it as a CSV file")
    return drafts


def _pages(text: str) -> list[int] | None:
    """Page numbers of "7", "7,9" or "7-10"; None for all."""
    if not text:
        return None
    numbers: list[int] = []
    for piece in text.split(","):
        match = re.fullmatch(r"\s*([1-9]\d{0,4})(?:-([1-9]\d{0,4}))?\s*", piece)
        pages = range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
        if not pages:
            raise UserError(f'found --pages "{text}"; expected page numbers such as 7, 7,9 or 7-10')
        numbers += pages
    return numbers


def _draft(title: str, source: str, header: list[str], rows: list[list[str]], stub: int, notes: list[str]) -> Draft:
    """A table whose rows and columns have names of their own; the first `stub` columns name a row."""
    columns: list[str] = []
    for place, cell in enumerate(header, start=1):
        name = _line(cell) or f"Column {place}"
        while name in columns:
            name += f" ({place})"
        columns.append(name)
    rows = [[_line(cell) for cell in row] for row in rows]
    if nothing := sum(cell.lower() in _NOTHING for row in rows for cell in row):
        notes.append(f"{title}: {nothing} cells that read nan, inf or null are left blank")
        rows = [["" if cell.lower() in _NOTHING else cell for cell in row] for row in rows]
    key = columns[:stub]
    if len({" / ".join(row[:stub]) for row in rows}) < len(rows):
        notes.append(f"{title}: {', '.join(key)} does not tell rows apart, so a first column numbers them")
        key = [next(name for name in ("Row", "Row number", "Line", "Line number") if name not in columns)]
        columns, rows = [*key, *columns], [[str(number), *row] for number, row in enumerate(rows, start=1)]
    return Draft(_slug(title), _line(title), _line(source), tuple(columns), tuple(map(tuple, rows)), tuple(key))


def _line(text: str) -> str:
    return " ".join(text.split())


def _is_number(text: str) -> bool:
    try:
        return parse(text).kind in NUMBERS
    except NotANumber:
        return False


def _slug(name: str) -> str:
    """An id: "Table 5" is table-05."""
    padded = re.sub(r"(?<!\d)(\d)(?!\d)", r"0\1", name.lower())
    slug = re.sub(r"[^a-z0-9]+", "-", padded).strip("-") or "table"
    return f"table-{slug}" if is_reserved(slug) else slug  # it names a file too


def _files(paper: str, folder: Path, drafts: list[Draft], released: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """The files of the new folder: name and text."""
    where = _remark(folder.as_posix())
    names = [_names(draft) for draft in drafts]
    tables = [new_text.TABLE.format_map(own) for own in names]
    yield "paper.toml", new_text.PAPER.format(folder=where, id=_toml(paper)) + "".join(tables)
    claims = [new_text.CLAIMS]
    if names:
        claims += [new_text.MARKS, *(new_text.CELLS.format_map(own) for own in names)]
        claims.append(new_text.CHECK.format_map(names[0]))
    if names and released:
        claims.append(new_text.RECOUNT.format_map(names[0] | _released(released[0])))
    yield "claims.toml", "".join(claims)
    for draft in drafts:
        yield f"tables/{draft.id}.csv", _marked(draft)
    if released:
        head = new_text.RELEASES.format(folder=where, today=_toml(f"{date.today()}"))
        yield "releases.toml", head + _pins(released)
        yield "recipes.py", new_text.RECIPES


def _names(draft: Draft) -> dict[str, str]:
    """What the templates say of a table."""
    ids = {f"{what}_id": _toml(f"{draft.id}-{what}") for what in ("cells", "check", "recount")}
    return ids | {
        "title": _remark(draft.title),
        "source": _remark(draft.source),
        "file": f"{draft.id}.csv",
        "id": _toml(draft.id),
        "named": _toml(draft.title),
        "key": _toml(draft.key if len(draft.key) > 1 else draft.key[0]),
        "columns": _toml(draft.values),
        "of": _toml(draft.values[:-1][:2] or ("COLUMN",)),
        "last": _toml(draft.values[-1]),
    }


def _marked(draft: Draft) -> str:
    """The table as CSV, each cell that waits to be compared with the paper marked."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow(draft.columns)
    for row in draft.rows:
        cells = zip(draft.columns, row, strict=True)
        write.writerow(
            DRAFT + cell if cell.startswith(DRAFT) or (column not in draft.key and cell not in BLANK) else cell
            for column, cell in cells
        )
    return text.getvalue()


def _pins(released: tuple[Path, ...]) -> str:
    pins = []
    for path in released:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        try:
            pins.append(Pin(path.name, digest, size=path.stat().st_size))
        except ValueError as error:
            raise UserError(f"{path}: {error}; rename the file") from None
    if len({pin.name.casefold() for pin in pins}) < len(pins):
        raise UserError(f"found two released files of one name among {[pin.name for pin in pins]}; rename one")
    return "".join(new_text.PIN.format(name=_toml(p.name), sha256=_toml(p.sha256 or ""), size=p.size) for p in pins)


def _released(path: Path) -> dict[str, str]:
    """What the commented recount says of a released file: its name and, of a CSV file, its columns."""
    with path.open(encoding="utf-8", errors="replace") as file:
        columns = next(csv.reader([file.readline(4096)]), []) if path.suffix == ".csv" else []
    return {
        "released": _toml(path.name),
        "where": _toml((columns or ["COLUMN"])[0]),
        "header": _toml(tuple(columns)),
    }


def _toml(value: str | tuple[str, ...]) -> str:
    """A text or a list of texts; what JSON writes is TOML but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _remark(text: str) -> str:
    """A text as it may stand in a comment: on one line, without control characters."""
    return _toml(_line(text))[1:-1]
