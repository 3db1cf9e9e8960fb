"""Episodes and ratings out of whatever files a release holds, by a mapping that the user writes.

The paper does not print the schema of its release, so nothing about it is assumed: `culture-converse-mapping.toml`
says which files hold episodes and which hold ratings, what their columns are called, and which values stand for the
paper's words. `mapping.toml` beside this file is an example with every key explained. What the mapping does not name is
missing, and the claims that need it are unchecked with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from countback.claims.papers.culture_converse.names import COLUMNS, VOCABULARY
from countback.claims.spec import read_toml
from countback.claims.verdict import CannotRecount
from countback.fetch.errors import UserError
from countback.fetch.readers.columns import Column, concatenate, paired
from countback.fetch.readers.detect import kind_of_file
from countback.fetch.readers.options import make_options
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source, open_source, plain
from countback.fetch.readers.tables import load_grid
from countback.fetch.readers.xlsx import load_workbook_grid
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

MAPPING = "culture-converse-mapping.toml"
REST = "*"  # in [values]: every value that no other word of the column has
HOW = "mapping.toml in the paper's folder shows how to write it"


class Data(Protocol):
    """The files of the run."""

    def path(self, name: str) -> Path:
        """The mapping."""

    def beside(self, mapping: str, name: str) -> Path:
        """A file that the mapping names."""


class BlockSpec(BaseModel):
    """One file, or files of one layout: `columns` says what the paper's words are called in it, `fixed` what every row
    has as if a column said so. delimiter, sheet (of a workbook) and encoding are for files that need them."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    file: StrictStr
    delimiter: StrictStr | None = None
    sheet: StrictStr | None = None
    encoding: StrictStr = "utf-8"
    columns: dict[StrictStr, StrictStr | list[StrictStr]] = Field(min_length=1)
    fixed: dict[StrictStr, StrictStr] = {}


class MappingSpec(BaseModel):
    """culture-converse-mapping.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    synthetic: StrictBool = False
    missing: list[StrictStr] = []
    episodes: list[BlockSpec] = []
    ratings: list[BlockSpec] = []
    values: dict[StrictStr, dict[StrictStr, StrictStr | list[StrictStr]]] = {}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one kind of table. columns: the raw texts by the mapping's words. headers: what each file offers."""

    kind: str
    columns: Mapping[str, Column]
    values: Mapping[str, Mapping[str, str | list[str]]]
    missing: frozenset[str]
    synthetic: bool
    headers: Mapping[str, Sequence[str]] = field(repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def column(self, name: str) -> Column:
        """One text a row; CannotRecount where the mapping does not name the column."""
        if name not in self.columns:
            raise CannotRecount(
                f"{MAPPING} does not say which column is the {name}; {self._offered()}; "
                f'add {name} = "..." to the columns of [[{self.kind}]]; {HOW}'
            )
        return self.columns[name]

    def codes(self, name: str) -> NDArray[np.int64]:
        """Shape (n,): positions in VOCABULARY[name], -1 for a value that stands for none of them."""
        return _codes(self, name)

    def scores(self, name: str) -> NDArray[np.float64]:
        """Shape (n,): scores from 1 to 5, NaN where missing; CannotRecount for anything else."""
        return _scores(self, name)

    def unnamed(self, name: str) -> tuple[str, ...]:
        """A note on the rows whose value stands for none of the paper's words."""
        return _unnamed(self, name)

    def among(self, name: str, word: str) -> NDArray[np.bool_]:
        """Shape (n,): which rows have a word of the paper; CannotRecount where none has."""
        found = np.asarray(self.codes(name) == VOCABULARY[name].index(word))
        if not found.any():
            raise CannotRecount(
                f"no row of [[{self.kind}]] has the {name} {word}: the column holds {_some(self.column(name).values)}; "
                f'if one of these means it, write "{word}" = "..." under [values.{name}] of {MAPPING}; {HOW}'
            )
        return found

    def _offered(self) -> str:
        return "; ".join(f"{file} has the columns {_some(header, 40)}" for file, header in self.headers.items())


def load(data: Data, kind: str) -> Rows:
    """The rows of [[episodes]] or [[ratings]], read once; UserError for what a person has to mend."""
    path = data.path(MAPPING)
    for name in _files(path, kind):
        data.beside(MAPPING, name)  # its digest belongs to the evidence
    found = _read(path, kind)
    if isinstance(found, UserError):
        raise found
    return found


@cache
def read_mapping(path: Path) -> MappingSpec:
    """The mapping, checked key by key and word by word."""
    spec = read_toml(path, MappingSpec)
    for name, words in spec.values.items():
        if name not in VOCABULARY:
            raise CannotRecount(f"{path}: [values.{name}] is no column with named values; expected {_some(VOCABULARY)}")
        for word in words:
            if word not in VOCABULARY[name]:
                raise CannotRecount(
                    f"{path}: [values.{name}] has {word!r}, which the paper does not; "
                    f"expected {_some(VOCABULARY[name], 40)}"
                )
    return spec


def _blocks(path: Path, kind: str) -> list[BlockSpec]:
    blocks: list[BlockSpec] = getattr(read_mapping(path), kind)
    if not blocks:
        raise CannotRecount(f"{path} has no [[{kind}]] block, so no file of {kind} is known; {HOW}")
    for block in blocks:
        unknown = [name for name in (*block.columns, *block.fixed) if name not in COLUMNS[kind]]
        if unknown:
            raise CannotRecount(
                f"{path}: [[{kind}]] has no column {unknown[0]!r}; expected some of {_some(COLUMNS[kind], 40)}"
            )
        if twice := block.columns.keys() & block.fixed.keys():
            raise CannotRecount(f"{path}: [[{kind}]] has {min(twice)!r} in columns and in fixed; keep one")
    return blocks


@cache
def _read(path: Path, kind: str) -> Rows | UserError:
    """The rows, or what is wrong with them: a mistake in a large file is found once, not once for each claim."""
    spec = read_mapping(path)
    parts: list[dict[str, Column]] = []
    headers: dict[str, Sequence[str]] = {}
    try:
        for block in _blocks(path, kind):
            for name in _names(path.parent, block.file):
                headers[name], columns = _columns(path.parent / name, name, block)
                size = len(next(iter(columns.values())))
                parts.append(columns | {role: Column.constant(text, size) for role, text in block.fixed.items()})
    except UserError as error:
        return error
    sizes = [len(next(iter(part.values()))) for part in parts]
    roles = dict.fromkeys(role for part in parts for role in part)
    joined = {
        role: concatenate([part.get(role) or Column.constant("", n) for part, n in zip(parts, sizes, strict=True)])
        for role in roles
    }
    return Rows(kind, joined, spec.values, frozenset({"", *spec.missing}), spec.synthetic, headers)


@cache
def _files(path: Path, kind: str) -> tuple[str, ...]:
    return tuple(name for block in _blocks(path, kind) for name in _names(path.parent, block.file))


def _names(folder: Path, pattern: str) -> list[str]:
    """The files that a block means; a name with * or ? in it may mean several."""
    if not set(pattern) & set("*?["):
        return [pattern]
    found = sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern) if path.is_file())
    if not found:
        raise CannotRecount(f"{MAPPING} names {pattern!r}, and no file in {folder} fits; put one there, or mend it")
    return found


def _columns(path: Path, name: str, block: BlockSpec) -> tuple[Sequence[str], dict[str, Column]]:
    """The header of a file and the columns that a block names, by the block's words."""
    wanted = {role: [names] if isinstance(names, str) else names for role, names in block.columns.items()}
    source = open_source(path, name)
    if source.data.startswith(b"PAR1"):
        raise CannotRecount(f"{name} is a Parquet file, which this kit does not read; save it as CSV or JSON Lines")
    kind = kind_of_file(source)
    if kind == "json":
        header, held = _json_columns(source, {column for columns in wanted.values() for column in columns})
    else:
        options = make_options(list("12345"), delimiter=block.delimiter, sheet=block.sheet, encoding=block.encoding)
        grid = (load_workbook_grid if kind == "xlsx" else load_grid)(source, options, Tally())
        header, held = grid.header, dict(zip(grid.header, grid.columns, strict=True))
    for role, columns in wanted.items():
        lost = [column for column in columns if column not in held]
        if lost or not columns:
            raise CannotRecount(
                f"{name} has no column {', '.join(map(repr, lost)) or 'at all'}, which {MAPPING} gives as the {role}; "
                f"it has {_some(header, 40)}; mend the mapping"
            )
    return header, {role: _joined([held[column] for column in columns]) for role, columns in wanted.items()}


def _json_columns(source: Source, wanted: set[str]) -> tuple[list[str], dict[str, Column]]:
    """Objects, one a row; "scores.honesty" is the key honesty of the object at scores. An absent key is blank."""
    records = source.value if isinstance(source.value, list) else [source.value]
    if not all(isinstance(record, dict) for record in records):
        raise CannotRecount(f"{source.name} is JSON, but no list of objects; expected one object a row")
    header = list(dict.fromkeys(key for record in records[:100] for key in _keys(record)))
    held = {}
    for name in wanted:
        found = [_dig(record, name) for record in records]
        if any(value is not None for value in found):
            held[name] = Column.of(map(plain, found))
    return header, held


def _keys(record: Mapping[str, Any], before: str = "") -> Iterable[str]:
    for key, value in record.items():
        yield from _keys(value, f"{before}{key}.") if isinstance(value, dict) else [before + key]


def _dig(record: Any, name: str) -> Any:
    if name in record:
        return record[name]
    for key in name.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _joined(columns: Sequence[Column]) -> Column:
    """Several columns as one: their texts side by side."""
    first, *others = columns
    for other in others:
        first = paired(first, other, lambda a, b: f"{a} / {b}")
    return first


@cache
def _codes(rows: Rows, name: str) -> NDArray[np.int64]:
    column, words = rows.column(name), VOCABULARY[name]
    given = rows.values.get(name, {})
    meant: dict[str, int] = {}
    for position, word in enumerate(words):
        texts = given.get(word, word)
        for text in [texts] if isinstance(texts, str) else texts:
            if meant.setdefault(text, position) != position:
                raise CannotRecount(
                    f'{MAPPING}: [values.{name}] gives "{text}" for {words[meant[text]]} and for {word}; keep one'
                )
    rest = meant.pop(REST, -1)
    code = [-1 if text.strip() in rows.missing else meant.get(text.strip(), rest) for text in column.values]
    return np.array([*code, -1], np.int64)[column.codes]


@cache
def _unnamed(rows: Rows, name: str) -> tuple[str, ...]:
    column, lost = rows.column(name), rows.codes(name) < 0
    if not lost.any():
        return ()
    shown = _some(column.values[i] or "blank" for i in np.unique(column.codes[lost]))
    return (f"{int(lost.sum())} rows left out whose {name} is none of the paper's: {shown}",)


@cache
def _scores(rows: Rows, name: str) -> NDArray[np.float64]:
    column = rows.column(name)
    values = np.full(len(column.values) + 1, np.nan)
    for i, text in enumerate(column.values):
        if text.strip() in rows.missing:
            continue
        try:
            values[i] = float(text)
        except ValueError:
            values[i] = 0
        if values[i] not in (1, 2, 3, 4, 5):
            raise CannotRecount(
                f"{name} is {text!r} in {int(column.counts()[i])} rows, and a score is a whole number from 1 to 5; "
                f"if it means that there is none, write missing = [{text!r}] at the top of {MAPPING}"
            )
    return values[column.codes]


def _some(names: Iterable[str], most: int = 12) -> str:
    listed = list(names)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
