"""The one question about a table whose columns have names of their own: what was found, and the line that answers it.

Guesses from the values are only ever shown, as a command or a draft of settings to correct; nothing acts on them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from countback.audit.judge.settings import JUDGE_FILE, Settings
from countback.fetch.errors import UserError
from countback.fetch.readers.columns import Column, distinct
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
_OF_A_SCALE = 20


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
    free = [column for i, column in enumerate(grid.header) if i not in found.values()]
    return Question(grid, missing, _guess(grid, free, missing, {r: grid.header[i] for r, i in found.items()}))


def question(asked: Question, settings: Settings, *, judges: bool) -> UserError:
    """The question as one error: the columns with what is in them, and the command that answers."""
    option = "--judge-columns" if judges else "--columns"
    told = settings.judge_options if judges else settings.options
    columns: dict[str, Any] = {**told.get("columns", {}), **asked.guess}
    lines = [
        f"{asked.grid.name}: which column is the {' and which the '.join(asked.missing)}? Its columns are",
        *(f"  {line}" for line in _profile(asked.grid)),
        "Answer like this (guessed from the values: correct what is wrong):",
        f"  {settings.command} {option} {shlex.quote(_as_option(columns))}",
        "or have the choices written to a file to edit:",
        f"  {settings.command} --config judge.toml",
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


def _guess(grid: Grid, free: list[str], missing: tuple[str, ...], known: dict[str, str]) -> dict[str, str | list[str]]:
    """A guess for each missing role: from how many different values a column has, and how they repeat."""
    columns = dict(zip(grid.header, grid.columns, strict=True))
    number = {name: len([v for v in columns[name].values if v.strip()]) for name in free}
    left = [name for name in free if number[name] > 1]
    guess: dict[str, str | list[str]] = {}

    def take(role: str, names: list[str]) -> None:
        if role in missing and names:
            guess[role] = names[0]
            left.remove(names[0])

    rows = len(grid)
    alike = _alike([columns[name] for name in left], left)
    if "label" in missing and len(alike) > 1 and "annotator" in missing:
        left = [name for name in left if name not in alike]
        take("item", sorted(left, key=lambda name: -number[name]))
        return {**guess, "annotators": alike}
    # An item comes back for every annotator; a column in which nothing repeats is a row number or free text.
    repeated = [name for name in left if number[name] <= rows / 1.5]
    take("item", sorted(repeated or left, key=lambda name: -number[name]))
    scale = [name for name in left if number[name] <= _OF_A_SCALE and not is_pii(name)]
    item = guess.get("item") or known.get("item")
    if "annotator" in missing and isinstance(item, str):
        once = [name for name in left if _pairs_once(columns[item], columns[name])]
        take("annotator", sorted(once, key=lambda name: number[name]) or sorted(left, key=lambda name: number[name]))
    take("label", sorted((name for name in scale if name in left), key=lambda name: number[name]) or left)
    return guess


def _alike(columns: list[Column], names: list[str]) -> list[str]:
    """Columns of a wide file: those that hold the values of one scale, the largest such group."""
    values = [frozenset(v.strip() for v in column.values if v.strip()) for column in columns]
    best: list[str] = []
    for scale in values:
        if 2 <= len(scale) <= _OF_A_SCALE:
            group = [n for n, v in zip(names, values, strict=True) if v <= scale and len(v) * 2 >= len(scale)]
            best = max(best, group, key=len)
    return best


def _pairs_once(one: Column, other: Column) -> bool:
    """Whether hardly any pair of values comes twice."""
    key = one.codes.astype(np.int64) * len(other.values) + other.codes
    return distinct(key, len(one.values) * len(other.values))[0].size >= 0.99 * len(one)
