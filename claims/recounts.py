"""Claims that recipes recount: what claims.toml says of them is held against recipes.py and releases.toml.

The recipes are read and not imported: what they need is heavy, and wanted only where there is data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from countback.claims.registry import BLANK, Claim, Paper, Table
from countback.claims.reported import NotANumber, Reported
from countback.claims.spec import ClaimSpec, RecountSpec, RelationSpec, read_text
from countback.fetch.errors import UserError

Recipes = dict[str, ast.arguments]  # by name, what each takes
NAMES_SHOWN = 12  # of a table, in a message


def some(names: Iterable[str]) -> str:
    """The first names of a list, for a message."""
    shown = list(names)
    more = f" and {len(shown) - NAMES_SHOWN} more" if len(shown) > NAMES_SHOWN else ""
    return ", ".join(shown[:NAMES_SHOWN]) + more


def selected(table: Table, spec: RelationSpec | RecountSpec, each: str, place: str) -> Iterator[tuple[str, str]]:
    """The (row, column) pairs that `rows`, `columns` and `except` choose; "" for what `each` does not go over."""
    rows = spec.rows if spec.rows is not None else table.body
    columns = spec.columns if spec.columns is not None else table.values
    for name in [*rows, *(x for x in spec.except_ if "|" not in x and x not in table.columns)]:
        if name not in table.rows:
            raise UserError(f'{place}: {spec.table} has no row "{name}"; rows: {some(table.rows)}')
    for name in columns:
        if name not in table.columns:
            raise UserError(f'{place}: {spec.table} has no column "{name}"; columns: {some(table.columns)}')
    for row in rows if each != "column" else [""]:
        for column in columns if each != "row" else [""]:
            if not {row, column, f"{row}|{column}"} & set(spec.except_):
                yield row, column


def recounts(
    paper: Paper, specs: list[ClaimSpec], recipes: Recipes, numbers: dict[str, Reported], path: Path
) -> Iterator[Claim]:
    """Numbers of the text that a recipe recounts, or that are only listed."""
    for spec in specs:
        if spec.recipe and spec.asserted:
            raise UserError(f'{path}: claim "{spec.id}" has both recipe and asserted; keep one')
        _must_exist(paper, recipes, spec.recipe, spec.needs, spec.with_, f'{path}: claim "{spec.id}"')
        if spec.recipe or spec.asserted:
            yield Claim(
                spec.id,
                paper.id,
                (spec.kind or "recount") if spec.recipe else "asserted",
                spec.where,
                spec.reads,
                spec.reported,
                numbers[spec.id],
                recipe=spec.recipe,
                arguments=tuple(spec.with_.items()),
                needs=tuple(spec.needs),
                asserted=spec.asserted,
            )


def recounted_cells(paper: Paper, specs: list[RecountSpec], recipes: Recipes, path: Path) -> Iterator[Claim]:
    """Cells of tables that a recipe recounts, one claim for each that is not blank."""
    for spec in specs:
        place = f'{path}: recount "{spec.id}"'
        _must_exist(paper, recipes, spec.recipe, spec.needs, ["row", "column", *spec.with_], place)
        if {"row", "column"} & set(spec.with_):
            raise UserError(f"{place}: `with` has row or column; the recipe is given those of each cell")
        if spec.table not in paper.tables:
            raise UserError(f'{place}: no table "{spec.table}"; paper.toml has {", ".join(paper.tables) or "none"}')
        table = paper.tables[spec.table]
        for row, column in selected(table, spec, "cell", place):
            if table.rows[row][column].strip() in BLANK:
                continue
            try:
                number = table.number(row, column)
            except NotANumber as error:
                raise UserError(f"{place}[{row}, {column}]: {error}") from None
            yield Claim(
                f"{spec.id}[{row}, {column}]",
                paper.id,
                "recount",
                {"table": table.spec.title, "row": row, "column": column},
                spec.reads,
                table.rows[row][column],
                number,
                recipe=spec.recipe,
                arguments=(("row", row), ("column", column), *spec.with_.items()),
                needs=tuple(spec.needs),
            )


def _must_exist(
    paper: Paper, recipes: Recipes, recipe: str, needs: list[str], given: Iterable[str], place: str
) -> None:
    """The recipe, what it takes beside the data, and the releases that a claim names."""
    if recipe and recipe not in recipes:
        raise UserError(f'{place}: no recipe "{recipe}" in recipes.py; it has: {some(sorted(recipes)) or "none"}')
    if recipe:
        _must_take(recipes[recipe], recipe, list(given), place)
    releases = [release.id for release in paper.releases]
    for need in needs:
        if need not in releases:
            raise UserError(f'{place} needs "{need}"; releases.toml has {sorted(releases)}')


def functions(path: Path) -> Recipes:
    """The public functions of a recipes file and what they take, without importing what they need."""
    if not path.exists():
        return {}
    try:
        tree = ast.parse(read_text(path))
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno}: not valid Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, nesting
        raise UserError(f"{path}: not valid Python: {error}") from None
    public = (node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"))
    return {node.name: node.args for node in public}


def _must_take(arguments: ast.arguments, recipe: str, given: list[str], place: str) -> None:
    named = [*arguments.posonlyargs, *arguments.args][1:]  # the first is the data
    optional = [a.arg for a in named[len(named) - len(arguments.defaults) :]] if arguments.defaults else []
    optional += [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    takes = [a.arg for a in (*named, *arguments.kwonlyargs)]
    words = f"it takes {some(takes) or 'nothing'}"
    extra = next((name for name in given if name not in takes), None)
    if extra is not None and arguments.kwarg is None:
        raise UserError(f'{place}: recipe "{recipe}" takes no "{extra}"; {words}')
    missing = next((name for name in takes if name not in optional and name not in given), None)
    if missing is not None:
        raise UserError(f'{place}: recipe "{recipe}" needs "{missing}" in `with`; {words}')
