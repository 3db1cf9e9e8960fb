"""The one question about a table whose columns have names of their own: what was found, and the line that answers it.

Guesses (countback.audit.judge.guess) are only ever shown; nothing acts on them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countback.audit.judge.guess import guess
from countback.audit.judge.settings import JUDGE_FILE, Settings
from countback.fetch.errors import UserError
from countback.fetch.readers.detect import kind_of_file, table_reader
from countback.fetch.readers.discover import discover
from countback.fetch.readers.options import Options, make_options
from countback.fetch.readers.people import is_pii
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import open_source
from countback.fetch.readers.tables import Grid, load_grid
from countback.fetch.readers.xlsx import load_workbook_grid

UNKNOWN = "(labels not known yet)"  # a codebook that no label is in, to read texts as they stand
MOST_LABELS = 50  # more different texts than this are no set of labels


@dataclass(frozen=True)
class Question:
    """Roles that no column answers to, and a guess for each: a column, or for wide files a list of them."""

    grid: Grid
    missing: tuple[str, ...]
    guess: dict[str, str | list[str]]


def open_table(path: Path, options: dict[str, Any]) -> tuple[Grid, Options] | None:
    """The table in a file as it stands, and the options it is read with; None where the file is none."""
    if path.is_dir():
        return None
    source = open_source(path, path.name)
    kind = kind_of_file(source)
    if kind == "json":
        return None
    known = ("columns", "encoding", "delimiter", "sheet", "annotator", "keep_pii")
    chosen = make_options([UNKNOWN], **{name: options[name] for name in known if name in options})
    load = load_workbook_grid if kind == "xlsx" else load_grid
    return load(source, chosen, Tally()), chosen


def missing_columns(grid: Grid, options: Options) -> Question | None:
    """What has to be asked about a table; None where every needed role has its column, or another reader knows."""
    if table_reader(grid.header, options) != "long":
        return None
    found = discover(grid.header, options, Tally(), grid.name, ())
    known = {*found, *({"annotator"} if "judge" in found or options.annotator is not None else ())}
    missing = tuple(role for role in ("item", "annotator", "label") if role not in known)
    if not missing:
        return None
    named = {role: grid.header[i] for role, i in found.items()}
    columns = dict(zip(grid.header, grid.columns, strict=True))
    return Question(grid, missing, guess(columns, len(grid), missing, named))


def question(asked: Question, settings: Settings, *, judges: bool) -> UserError:
    """The question as one error: the columns with what is in them, and the command that answers."""
    option = "--judge-columns" if judges else "--columns"
    lists = any(not isinstance(value, str) for value in asked.guess.values())  # wide, so a role is told by its columns
    unguessed = [role for role in asked.missing if role not in asked.guess and not lists]
    how = "guessed from the values: correct what is wrong"
    if unguessed:
        how = "no column looks like it: a row is one answer of one person; counts of answers cannot be read"
    told = asked.guess | dict.fromkeys(unguessed, "COLUMN")
    as_option = [f"Answer like this ({how}):", f"  {settings.command} {option} {shlex.quote(_as_option(told))}"]
    names = [name for value in asked.guess.values() for name in ([value] if isinstance(value, str) else value)]
    if any("," in name for name in names):  # which divides the choices of the option
        as_option = ["A name there holds a comma, which only a file can say."]
    if settings.config is None and not judges:
        as_file = ["The same as a file to edit is written by", f"  {settings.command} --config judge.toml"]
    else:
        table = f"[{JUDGE_FILE}.columns]" if judges else "[columns]"
        as_file = [f"In a file: in its table {table}, for --config {settings.config or 'FILE'}"]
    lines = [
        f"{asked.grid.name}: which column is the {' and which the '.join(asked.missing)}? Its columns are",
        *(f"  {line}" for line in _profile(asked.grid)),
        *as_option,
        *as_file,
    ]
    return UserError("\n".join(lines))


def draft(grid: Grid | None, asked: Question | None, settings: Settings, found: Sequence[str], *, ordered: bool) -> str:
    """A commented TOML file with the choices there are; `found` are the labels, `ordered` whether in an order."""
    unsorted = bool(found) and not ordered
    lines = [
        "# Settings of `countback judge`; lines that begin with # are off. Correct them and run the command again.",
        "",
        "# Labels in order, lowest or strictest first. Without this they are taken from the humans' labels, and an",
        "# order is only known for numbers.",
        f"{'' if found else '# '}labels = {json.dumps(list(found) or ['low', 'middle', 'high'], ensure_ascii=False)}",
        "ordered = false   # put the labels in order, lowest first, and say true" if unsorted else "# ordered = true",
        '# duplicates = "last"      # two labels of one annotator for one item: error, first, last, drop-both',
        '# namespace = "country"    # annotator ids restart in each country (or file); "global": they do not',
        '# judges = ["gpt-4"]       # annotators in the labels that are models',
        "",
        "[columns]",
    ]
    columns: dict[str, Any] = {**settings.options.get("columns", {}), **(asked.guess if asked else {})}
    lines += [f"{role} = {json.dumps(value, ensure_ascii=False)}" for role, value in columns.items()]
    lines += [f'# {role} = "..."' for role in ("country", "question", "seconds") if role not in columns]
    if grid is not None:
        lines.append(f"# the file's columns: {json.dumps(grid.header, ensure_ascii=False)}")
    lines += ["", f"# [{JUDGE_FILE}.columns]", '# country = "..."', f"# [{JUDGE_FILE}.aliases]", '# "A" = "1"']
    return "\n".join(lines) + "\n"


def _as_option(columns: dict[str, Any]) -> str:
    parts = [f"{role}={','.join(value) if isinstance(value, list) else value}" for role, value in columns.items()]
    return ",".join(parts)


def _profile(grid: Grid) -> list[str]:
    width = min(max(map(len, grid.header)), 30)
    lines = []
    for name, column in zip(grid.header, grid.columns, strict=True):
        values = [value for value in column.values if value.strip()]
        shown = f"{len(values)} different values"
        if 0 < len(values) <= 8 and not is_pii(name) and all(len(value) <= 20 for value in values):
            shown = ", ".join(map(repr, sorted(values)))
        lines.append(f"{name:<{width}}  {shown}")
    return lines
