"""paper.toml + claims.toml + tables/*.csv -> Paper, with every claim expanded and every number in it resolved.

One folder per paper. The notation, for someone who writes no Python:

    [[claim]]                                     # a number the text states
    id       = "heldout-gemini"
    where    = { section = "5.2", about = "pooled" }
    reads    = "what the number says, in our words"
    reported = "81.1%"                            # as printed, always a string
    recipe   = "heldout_agreement"                # recounted from a release by a function in recipes.py
    with     = { judge = "gemini-3-flash-preview" }
    needs    = ["judge-alignment"]                # release ids of releases.toml
    words    = true                               # `reported` is a word ("PASSED"), compared letter by letter
    asserted = "why nothing can check it"         # or: only listed
                                                  # or neither: a relation below uses it, as "#heldout-gemini"

    [[relation]]                                  # arithmetic between printed numbers
    id = "t4-3h-mean"
    reads = "3H is the mean of its three components"
    table = "table-04"
    each = "row"                                  # one claim per row: t4-3h-mean[GPT-5 mini]
    of = ["Help", "Hon", "Harm"]
    relation = "mean"                             # see countback.claims.relations and predicates for all
    equals = "3H"

    [[recount]]                                   # many cells of a table, recounted by one recipe
    id = "t4-recount"
    reads = "mean score of a model"
    table = "table-04"
    columns = ["Help", "Hon"]                     # one claim per cell: t4-recount[GPT-5 mini, Help]
    recipe = "mean_score"                         # called with row, column and `with`
    needs = ["episodes"]

`each` is "row", "column", "cell" or absent; `rows` and `columns` choose, `except` leaves out (a row, a column
or "ROW|COLUMN").
A whole number without a unit is a count, hence exact, unless its column is in `rounded` of paper.toml or the relation
gives fractions (a mean, a ratio ...). A reference names numbers:

    Help                       each row: that column of this row;  each column: that row of this column
    .                          each cell: this cell
    table-17                   each cell: the same row and column of another table (`rename` maps names that differ)
    table-17|GPT-5 mini|3H     one cell; "." is this row or column; "*" is every row (summary rows excepted) or column
    table-19|Fmt.=MCQ|Eval n   the rows whose column Fmt. reads MCQ; "A, B and C" of rows: repeat the reference
    3H@low   3H@high   3H@2    an end of an interval printed in the cell, or its k-th number
    3H@entries                 how many entries, separated by ";", the cell lists (exact)
    #claim-id   #claim-id@low  a number of the text
    18   "=0.05"               an exact number of our own
    { relation = "range", of = ["table-04|*|Nat"] }     a number computed from others

    So no name of a row or column holds "|", outer spaces or a character that nobody sees. A part follows the last "@",
    unless the name holds it: Recall@10 is a column where the table has one.

    In paper.toml, rounding = "half-even" (or half-up ...) says which rule the paper states; "half-up-or-down" that it
    is known to round, by a rule it does not state; without it, truncation too is tried before a number is called wrong.

    A cell of a table that starts with "?" ("?81.1%") is a draft: nobody has compared it with the paper yet. Whatever
    rests on it is unchecked until the mark is deleted.

    [[asserted]]  table, columns, rows?, why      # cells that nothing can check
    [[context]]   section, numbers, why           # numbers that state nothing about the work
    [[known]]     claims = [ids], verdict, since, why   # a confirmed finding: expected to stay as it is
"""

from __future__ import annotations

import csv
import io
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from countback.claims.reported import NotANumber, Reported, exactly, parse, word
from countback.claims.spec import (
    ClaimSpec,
    ClaimsSpec,
    ContextSpec,
    KnownSpec,
    PaperSpec,
    RelationSpec,
    TableSpec,
    read_text,
    read_toml,
)
from countback.fetch.errors import UserError
from countback.fetch.release import Release, load_releases

PAPERS = Path(__file__).parent / "papers"
BLANK = frozenset({"", "-", "\u2013", "\u2014", "--"})
JOINERS = "\u200c\u200d"  # invisible, but some scripts are not written without them
DRAFT = "?"  # before a cell that has not been compared with the paper


@dataclass(frozen=True)
class Table:
    """A transcribed table: strings as printed, addressed by row key and column name.

    `drafts` are the addresses (table|row|column) of cells marked as not compared with the paper; `rows` has no marks.
    """

    spec: TableSpec
    columns: tuple[str, ...]
    rows: dict[str, dict[str, str]]
    drafts: frozenset[str] = frozenset()

    @property
    def body(self) -> list[str]:
        """Row keys without the summary rows."""
        return [row for row in self.rows if row not in self.spec.summary]

    @property
    def values(self) -> list[str]:
        """Columns that are not part of the row key."""
        key = [self.spec.key] if isinstance(self.spec.key, str) else self.spec.key
        return [column for column in self.columns if column not in key]

    def number(self, row: str, column: str) -> Reported:
        exact = True if column in self.spec.exact else False if column in self.spec.rounded else None
        return _parse(self.rows[row][column], exact)


@dataclass(frozen=True)
class Operand:
    """One resolved number (or word) with the address it came from, and which part of what stands there it is."""

    address: str
    text: str
    number: Reported | None
    part: str = ""


@dataclass(frozen=True)
class Nested:
    """A number computed from others before the claim's own relation sees it."""

    check: Check

    @property
    def address(self) -> str:
        return f"{self.check.relation}({', '.join(o.address for o in self.check.of)})"


@dataclass(frozen=True)
class Check:
    """A relation with its operands resolved; `target` is the printed number it must meet (None for a predicate)."""

    relation: str
    of: tuple[Operand | Nested, ...]
    target: Operand | None = None
    weights: tuple[Operand | Nested, ...] = ()
    n: tuple[Operand | Nested, ...] = ()
    scores: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    expr: str = ""
    resamples: int = 0
    domain: tuple[str, str] | None = None


@dataclass(frozen=True)
class Claim:
    """One testable statement. Exactly one of `check`, `recipe`, `asserted` is set."""

    id: str
    paper: str
    kind: str
    where: dict[str, str]
    reads: str
    reported: str
    number: Reported | None
    check: Check | None = None
    recipe: str = ""
    arguments: tuple[tuple[str, object], ...] = ()
    needs: tuple[str, ...] = ()
    asserted: str = ""
    known: KnownSpec | None = None
    drafts: tuple[str, ...] = ()  # cells that it rests on and nobody has compared with the paper

    @property
    def full_id(self) -> str:
        return f"{self.paper}/{self.id}"


@dataclass(frozen=True)
class Paper:
    """A paper of the registry; `numbers` are the text's numbers by claim id (also those that only relations use)."""

    spec: PaperSpec
    folder: Path
    releases: tuple[Release, ...]
    tables: dict[str, Table]
    numbers: dict[str, ClaimSpec]
    claims: tuple[Claim, ...]
    context: tuple[ContextSpec, ...]

    @property
    def id(self) -> str:
        return self.spec.id


@lru_cache(maxsize=65536)
def _parse(text: str, exact: bool | None) -> Reported:
    return parse(text, exact=exact)


def list_papers(root: Path = PAPERS) -> list[Path]:
    """Folders of the registry that hold a paper.toml, by name."""
    return sorted(path.parent for path in root.glob("*/paper.toml"))


def find_papers(names: tuple[str, ...], root: Path = PAPERS) -> list[Path]:
    """Folders for paper ids or paths to paper folders; all of the registry when no name is given."""
    folders = list_papers(root)
    if not names:
        if not folders:
            raise UserError(f"{root}: the registry is empty; expected one folder per paper with a paper.toml")
        return folders
    by_id = {folder.name.replace("_", "-"): folder for folder in folders}
    found: dict[Path, None] = {}  # each once, in order
    for name in names:
        path = by_id.get(name, Path(name))
        try:
            known = name in by_id or (path / "paper.toml").exists()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no path"
            raise UserError(f"{path}: cannot be looked at ({reason}); check the path and its permissions") from None
        if not known:
            raise UserError(f'no paper "{name}"; expected one of {", ".join(by_id)}, or a folder with a paper.toml')
        found[path] = None
    return list(found)


def load_paper(folder: Path) -> Paper:
    """Read and check one paper folder. Any mistake in it is a UserError that says file, place, expected and found."""
    from countback.claims.expand import expand  # expand reads the classes above

    spec = read_toml(folder / "paper.toml", PaperSpec)
    claims = read_toml(folder / "claims.toml", ClaimsSpec)
    _must_be_sound(spec.table, folder / "paper.toml")
    tables = {table.id: load_table(folder / "tables" / f"{table.id}.csv", table) for table in spec.table}
    extra = {path.stem for path in (folder / "tables").glob("*.csv")} - set(tables)
    if extra:
        raise UserError(f"{folder / 'tables'}: {sorted(extra)[0]}.csv is not declared; add a [[table]] to paper.toml")
    releases = paper_releases(folder)
    paper = Paper(spec, folder, releases, tables, {c.id: c for c in claims.claim}, (), tuple(claims.context))
    return replace(paper, claims=expand(paper, claims))


def _must_be_sound(tables: list[TableSpec], path: Path) -> None:
    """Each table once, and the domains of its columns numbers in order."""
    for i, table in enumerate(tables):
        for earlier in tables[:i]:
            if table.id == earlier.id or table.title == earlier.title:
                twice = "id" if table.id == earlier.id else "title"
                raise UserError(f'{path}: two tables have the {twice} "{getattr(table, twice)}"; give each its own')
        for column, (low, high) in table.domain.items():
            try:
                fits = exactly(low) <= exactly(high)
            except NotANumber as error:
                raise UserError(f'{path}: table "{table.id}", domain of "{column}": {error}') from None
            if not fits:
                raise UserError(f'{path}: table "{table.id}", domain of "{column}": {low} is above {high}; swap them')


def paper_releases(folder: Path) -> tuple[Release, ...]:
    """What the paper's authors released, of releases.toml; nothing where the folder has none."""
    path = folder / "releases.toml"
    return load_releases(path) if path.exists() else ()


def load_table(path: Path, spec: TableSpec) -> Table:
    """Read a table of strings; ragged rows, doubled keys or columns and a NaN are errors with file and line."""
    lines = _lines(path)
    if len(lines) < 2:
        raise UserError(f"{path}:1: expected a header and at least one row, found {len(lines)} line(s)")
    columns = lines[0][1]
    if len(set(columns)) != len(columns):
        raise UserError(f"{path}:1: two columns have one name; expected each once, found {columns}")
    key = [spec.key] if isinstance(spec.key, str) else spec.key
    for name in [*key, *spec.exact, *spec.rounded, *spec.domain]:
        if name not in columns:
            raise UserError(f'{path}:1: no column "{name}"; paper.toml names it, the header has {columns}')
    rows: dict[str, dict[str, str]] = {}
    drafts: set[str] = set()
    for line, cells in lines[1:]:
        if len(cells) != len(columns):
            raise UserError(f"{path}:{line}: expected {len(columns)} cells, found {len(cells)}: {cells}")
        marked = {c for c, cell in zip(columns, cells, strict=True) if cell.startswith(DRAFT) and cell != DRAFT}
        row = {c: cell[len(DRAFT) :] if c in marked else cell for c, cell in zip(columns, cells, strict=True)}
        name = " / ".join(row[k] for k in key)
        if name in rows:
            raise UserError(f'{path}:{line}: a second row "{name}"; rows need keys of their own (key = {key})')
        bad = next((c for c in row.values() if c.strip().lower() in ("nan", "inf", "-inf", "infinity", "null")), None)
        if bad is not None:
            raise UserError(f'{path}:{line}: found "{bad}"; a table holds what the paper prints, and blank for nothing')
        _must_be_a_name(name, f"{path}:{line}: row")
        rows[name] = row
        drafts |= {f"{spec.id}|{name}|{column}" for column in marked}
    for column in columns:
        _must_be_a_name(column, f"{path}:1: column")
    for name in spec.summary:
        if name not in rows:
            raise UserError(f'{path}: no row "{name}"; paper.toml lists it as summary; rows: {list(rows)[:5]} ...')
    return Table(spec, tuple(columns), rows, frozenset(drafts))


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the line it ends on; empty lines are none."""
    reader = csv.reader(io.StringIO(read_text(path)), strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: not valid CSV: {error}; mend that line") from None


def _must_be_a_name(name: str, place: str) -> None:
    """A reference can name it: it has no outer spaces, no "|", and no character that nobody sees."""
    hidden = next((c for c in name if unicodedata.category(c) in ("Cc", "Cf") and c not in JOINERS), None)
    if hidden is not None:
        raise UserError(f"{place} {name!r} holds the invisible character U+{ord(hidden):04X}; delete it")
    if name != name.strip() or "|" in name or name in ("*", "."):
        raise UserError(
            f'{place} "{name}" cannot be referred to; expected no outer spaces, no "|", and neither "*" nor "." alone'
        )


def claim_number(spec: ClaimSpec, path: Path) -> Reported:
    """The text's number of a claim, or a UserError that names the claim."""
    if spec.words:
        return word(spec.reported)
    try:
        return parse(spec.reported, exact=spec.exact, within=spec.within)
    except NotANumber as error:
        raise UserError(f'{path}: claim "{spec.id}": {error}') from None


__all__ = ["Check", "Claim", "Nested", "Operand", "Paper", "RelationSpec", "Table", "find_papers", "load_paper"]
