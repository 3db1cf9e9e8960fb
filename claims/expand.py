"""From the notation of claims.toml to claims: `each` expanded, every reference resolved to a printed number.

Errors name claims.toml, the relation, the reference and what stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from countback.claims.predicates import PREDICATES
from countback.claims.recounts import functions, recounted_cells, recounts, selected, some
from countback.claims.registry import (
    BLANK,
    Check,
    Claim,
    Nested,
    Operand,
    Paper,
    Table,
    claim_number,
)
from countback.claims.relations import VALUES
from countback.claims.reported import NotANumber, Reported, exactly, parse
from countback.claims.spec import (
    AssertedSpec,
    ClaimSpec,
    ClaimsSpec,
    NestedSpec,
    RecountSpec,
    Ref,
    RelationSpec,
)
from countback.fetch.errors import UserError

METADATA = ("equal-text", "short-hash", "dates-ascending")
OF_TEXTS = ("count", "distinct", "equal-text", "short-hash", "p-value")
OF_ONE_UNIT = (
    "equal sum mean weighted-mean median min max range difference remainder inside at-least at-most more-than less-than"
    " ascending descending dates-ascending highest lowest matching"
).split()
POINTS = {"pp": "%", "point": "%", "points": "%"}


def expand(paper: Paper, spec: ClaimsSpec) -> tuple[Claim, ...]:
    """All claims of a paper, in the order of the file, each id once."""
    path = paper.folder / "claims.toml"
    entries: tuple[ClaimSpec | RecountSpec | RelationSpec | AssertedSpec, ...]
    entries = (*spec.claim, *spec.recount, *spec.relation, *spec.asserted)
    ids = [entry.id for entry in entries]
    if len(set(ids)) < len(ids):
        twice = next(identity for i, identity in enumerate(ids) if identity in ids[:i])
        raise UserError(f'{path}: the id "{twice}" stands twice; ids are unique within a paper')
    numbers = {claim.id: claim_number(claim, path) for claim in spec.claim}
    recipes = functions(paper.folder / "recipes.py")
    claims = [
        *recounts(paper, spec.claim, recipes, numbers, path),
        *recounted_cells(paper, spec.recount, recipes, path),
    ]
    used: set[str] = set()
    for relation in spec.relation:
        for scope in _scopes(paper, numbers, relation, path):
            claim = _relation_claim(scope, relation)
            if claim is not None:
                claims.append(claim)
                used |= set(addresses(claim))
    for asserted in spec.asserted:
        claims.extend(_asserted_cells(paper, asserted, path))
    _unused(spec.claim, used, path)
    return _with_drafts(_with_known(claims, spec, path), paper)


def addresses(claim: Claim) -> Iterator[str]:
    """Every number of the paper that a claim's check rests on: "table|row|column" or "#id"."""

    def walk(check: Check) -> Iterator[str]:
        for operand in (*check.of, *check.weights, *check.n, *((check.target,) if check.target else ())):
            if isinstance(operand, Nested):
                yield from walk(operand.check)
            else:
                yield operand.address

    if claim.check is not None:
        yield from walk(claim.check)


@dataclass(frozen=True)
class _Scope:
    """Where a reference is read: the paper, the relation, and the row and column `each` stands at."""

    paper: Paper
    numbers: dict[str, Reported]
    relation: RelationSpec
    path: Path
    table: Table | None = None
    row: str = ""
    column: str = ""

    def error(self, message: str) -> UserError:
        place = f"[{', '.join(p for p in (self.row, self.column) if p)}]" if self.row or self.column else ""
        return UserError(f'{self.path}: relation "{self.relation.id}"{place}: {message}')


def _scopes(paper: Paper, numbers: dict[str, Reported], relation: RelationSpec, path: Path) -> Iterator[_Scope]:
    base = _Scope(paper, numbers, relation, path)
    if relation.relation not in VALUES and relation.relation not in PREDICATES:
        raise base.error(f'no relation "{relation.relation}"; expected one of {", ".join([*VALUES, *PREDICATES])}')
    if (relation.relation in VALUES) != (relation.equals is not None):
        raise base.error("needs `equals`" if relation.relation in VALUES else "takes no `equals`; name all in `of`")
    if relation.each is None:
        yield base
        return
    table = _table(base, relation.table)
    for row, column in selected(table, relation, relation.each, f'{path}: relation "{relation.id}"'):
        yield _Scope(paper, numbers, relation, path, table, row, column)


def _table(scope: _Scope, name: str) -> Table:
    if name not in scope.paper.tables:
        raise scope.error(f'no table "{name}"; paper.toml declares {", ".join(scope.paper.tables) or "none"}')
    return scope.paper.tables[name]


def _relation_claim(scope: _Scope, spec: RelationSpec) -> Claim | None:
    target = _one(scope, spec.equals) if spec.equals is not None else None
    if spec.each and target is not None and target.text.strip() in BLANK:
        return None  # the paper prints nothing there
    check = _check(scope, spec.relation, spec.of, spec, target)
    place = ", ".join(p for p in (scope.row, scope.column) if p)
    shown = target or next((o for o in check.of if isinstance(o, Operand)), None)
    return Claim(
        f"{spec.id}[{place}]" if place else spec.id,
        scope.paper.id,
        spec.kind or ("metadata" if spec.relation in METADATA else "arithmetic"),
        _where(scope, shown),
        spec.reads,
        shown.text if shown else "",
        shown.number if shown else None,
        check=check,
    )


def _where(scope: _Scope, shown: Operand | None) -> dict[str, str]:
    if scope.relation.where:
        return dict(scope.relation.where)
    if shown is not None and shown.address.startswith("#"):
        return dict(scope.paper.numbers[shown.address[1:].partition("@")[0]].where)
    if shown is not None and shown.address.count("|") == 2:
        table, row, column = shown.address.split("|")
        return {"table": scope.paper.tables[table].spec.title, "row": row, "column": column}
    return {}


def _check(
    scope: _Scope, relation: str, of: list[Ref] | dict[str, Ref], spec: RelationSpec | None, target: Operand | None
) -> Check:
    names = tuple(of) if isinstance(of, dict) else ()
    refs = of.values() if isinstance(of, dict) else of
    operands = tuple(o for ref in refs for o in _resolve(scope, ref))
    if not operands:
        raise scope.error("`of` names no number; expected at least one reference")
    if names and len(names) != len(operands):
        raise scope.error("a formula's names each stand for one number; a reference with * names several")
    if relation not in OF_TEXTS:
        for operand in operands:
            _must_be_number(scope, operand)
    if relation in OF_ONE_UNIT:
        _must_share_a_unit(scope, relation, (*operands, *((target,) if target else ())))
    if spec is None:
        return Check(relation, operands)
    weights = tuple(o for ref in spec.weights for o in _resolve(scope, ref))
    n = tuple(o for ref in (spec.n if isinstance(spec.n, list) else [spec.n]) for o in _resolve(scope, ref))
    for number in (*weights, *n, *((target,) if target else ())):
        _must_be_number(scope, number)
    return Check(
        relation,
        operands,
        target,
        weights,
        n,
        _scores(scope, spec),
        ("binomial",) if spec.binomial else names,
        spec.expr,
        spec.resamples,
        _domain(scope, target),
    )


def _scores(scope: _Scope, spec: RelationSpec) -> tuple[str, ...]:
    scores = tuple(str(score) for score in spec.scores)
    for score in scores:
        try:
            exactly(score)
        except NotANumber as error:
            raise scope.error(f"scores: {error}") from None
    return scores


def _must_be_number(scope: _Scope, operand: Operand | Nested) -> None:
    if isinstance(operand, Nested):
        return
    kind = operand.number.kind if operand.number is not None else "word"
    if kind == "hash":
        raise scope.error(f'{operand.address} reads "{operand.text}", a hash; compare it by short-hash or equal-text')
    if kind == "word":
        raise scope.error(f'{operand.address} reads "{operand.text}", which is no number; mend the reference')
    if kind in ("range", "list"):
        parts = "@low or @high" if kind == "range" else "@1, @2 ..."
        raise scope.error(f'{operand.address} reads "{operand.text}", which is several numbers; say which with {parts}')


def _must_share_a_unit(scope: _Scope, relation: str, operands: Iterable[Operand | Nested]) -> None:
    """A number without a unit goes with any, because a table says it in a heading; but not with a date."""
    numbers = {o.text: o.number for o in operands if isinstance(o, Operand) and o.number is not None}
    units = {POINTS.get(number.unit, number.unit): text for text, number in numbers.items()}
    if not (relation != "difference" and any(number.kind == "date" for number in numbers.values())):
        units.pop("", None)
    if len(units) > 1:
        one, other, *_ = units.values()
        raise scope.error(f'"{one}" and "{other}" have different units; compute one from the other with a formula')


def _domain(scope: _Scope, target: Operand | None) -> tuple[str, str] | None:
    if target is None or target.number is None:
        return None
    if target.address.count("|") == 2:
        table, _, column = target.address.split("|")
        stated = scope.paper.tables[table].spec.domain.get(column)
        if stated is not None:
            return stated
    signed = target.text.strip().startswith(("+", "-", "\u2212"))  # a change in points, not a share
    return ("0", "100") if target.number.unit == "%" and not signed else None


def _one(scope: _Scope, ref: Ref) -> Operand:
    found = _resolve(scope, ref)
    if len(found) != 1 or isinstance(found[0], Nested):
        raise scope.error(f"`equals` must be one printed number, found {ref!r}")
    return found[0]


def _resolve(scope: _Scope, ref: Ref) -> list[Operand | Nested]:
    if isinstance(ref, NestedSpec):
        return [Nested(_nested(scope, ref))]
    if isinstance(ref, int) or ref.startswith("="):
        text = str(ref).removeprefix("=")
        try:
            return [Operand(f"={text}", text, parse(text, exact=True))]
        except NotANumber as error:
            raise scope.error(str(error)) from None
    if ref.startswith("#"):
        name, _, part = ref[1:].partition("@")
        if name not in scope.numbers:
            raise scope.error(f'no claim "{name}" to take a number from')
        number = scope.numbers[name]
        return [_part(scope, f"#{name}", scope.paper.numbers[name].reported, number, part)]
    name, part = _split(scope, ref.strip())
    return [_cell(scope, *address, part) for address in _cells(scope, name)]


def _split(scope: _Scope, ref: str) -> tuple[str, str]:
    """A reference to a cell and the part of it after the last "@", where that is not in the name ("Recall@10")."""
    name, at, part = ref.rpartition("@")
    if not at:
        return ref, ""
    last = ref.rpartition("|")[2].strip()
    tables = scope.paper.tables.values()
    if "|" in part or any(last in table.columns or last in table.rows for table in tables):
        return ref, ""
    return name, part.strip()


def _nested(scope: _Scope, ref: NestedSpec) -> Check:
    if ref.relation not in VALUES:
        raise scope.error(f'a computed number needs a relation that gives a value, found "{ref.relation}"')
    check = _check(scope, ref.relation, ref.of, None, None)
    weights = tuple(o for w in ref.weights for o in _resolve(scope, w))
    for weight in weights:
        _must_be_number(scope, weight)
    names = tuple(ref.of) if isinstance(ref.of, dict) else ()
    return Check(check.relation, check.of, weights=weights, names=names, expr=ref.expr)


def _cells(scope: _Scope, name: str) -> list[tuple[str, str, str]]:
    pieces = [piece.strip() for piece in name.split("|")]
    here = scope.relation.table
    if len(pieces) == 1:
        each = scope.relation.each
        if each == "row":
            pieces = [here, ".", name]
        elif each == "column":
            pieces = [here, name, "."]
        elif each == "cell":
            pieces = [here if name == "." else name, ".", "."]
    if len(pieces) != 3:
        raise scope.error(f'cannot tell what "{name}" refers to; write TABLE|ROW|COLUMN, #claim-id or =number')
    table = _table(scope, pieces[0] or here)
    rename = scope.relation.rename if table is not scope.table else {}
    rows = _rows(scope, table, pieces[1], rename)
    columns = table.values if pieces[2] == "*" else [pieces[2] if pieces[2] != "." else scope.column]
    columns = [rename.get(column, column) for column in columns]
    for column in columns:
        if column not in table.columns:
            raise scope.error(f'{table.spec.id} has no column "{column}"; columns: {some(table.columns)}')
    return [(table.spec.id, row, column) for row in rows for column in columns]


def _rows(scope: _Scope, table: Table, name: str, rename: dict[str, str]) -> list[str]:
    if name == "*":
        return table.body
    if name == "." or name in table.rows or rename.get(name) in table.rows:
        row = rename.get(scope.row if name == "." else name, scope.row if name == "." else name)
        if row in table.rows:
            return [row]
    column, equals, value = name.partition("=")
    if equals and column.strip() in table.columns:
        found = [row for row in table.body if table.rows[row][column.strip()].strip() == value.strip()]
        if found:
            return found
    shown = scope.row if name == "." else name
    raise scope.error(f'{table.spec.id} has no row "{shown}"; rows: {some(table.rows)}')


def _cell(scope: _Scope, table_id: str, row: str, column: str, part: str) -> Operand:
    table = scope.paper.tables[table_id]
    text = table.rows[row][column]
    address = f"{table_id}|{row}|{column}"
    if part == "entries":
        count = len([entry for entry in text.split(";") if entry.strip()])
        return Operand(address, str(count), parse(str(count), exact=True), part)
    try:
        number = None if text.strip() in BLANK else table.number(row, column)
    except NotANumber:
        number = None
    return _part(scope, address, text, number, part)


def _part(scope: _Scope, address: str, text: str, number: Reported | None, part: str) -> Operand:
    if not part:
        return Operand(address, text, number)
    if number is None:
        raise scope.error(f'{address} reads "{text}", which has no part "{part}"')
    try:
        piece = number.part(part)
    except NotANumber as error:
        raise scope.error(f"{address}: {error}") from None
    return Operand(address, piece.text.strip(), piece, part)


def _asserted_cells(paper: Paper, spec: AssertedSpec, path: Path) -> Iterator[Claim]:
    table = paper.tables.get(spec.table)
    if table is None:
        raise UserError(f'{path}: asserted "{spec.id}": no table "{spec.table}"; paper.toml has {list(paper.tables)}')
    for row in spec.rows if spec.rows is not None else table.rows:
        for column in spec.columns:
            if row not in table.rows or column not in table.columns:
                raise UserError(f'{path}: asserted "{spec.id}": {spec.table} has no cell "{row}|{column}"')
            text = table.rows[row][column]
            if text.strip() in BLANK:
                continue
            try:
                number = table.number(row, column)
            except NotANumber:
                number = None
            where = {"table": table.spec.title, "row": row, "column": column}
            identity = f"{spec.id}[{row}, {column}]"
            yield Claim(identity, paper.id, "asserted", where, "as printed", text, number, asserted=spec.why)


def _unused(specs: list[ClaimSpec], used: set[str], path: Path) -> None:
    for spec in specs:
        if not (spec.recipe or spec.asserted or f"#{spec.id}" in used):
            raise UserError(
                f'{path}: claim "{spec.id}" is bound by nothing; give it a recipe, use "#{spec.id}" in a relation, '
                'or say asserted = "why nothing can check it"'
            )


def _with_known(claims: list[Claim], spec: ClaimsSpec, path: Path) -> tuple[Claim, ...]:
    by_id = {claim.id: claim for claim in claims}
    if len(by_id) < len(claims):
        ids = [claim.id for claim in claims]
        twice = next(name for name in by_id if ids.count(name) > 1)
        raise UserError(f'{path}: two claims are called "{twice}"; name each row once, and no row like two names')
    for known in spec.known:
        for name in known.claims:
            if name not in by_id:
                raise UserError(f'{path}: known finding names "{name}", which is no claim; a table or id has changed')
            if by_id[name].known is not None:
                raise UserError(f'{path}: "{name}" stands in two [[known]] entries; keep the one that describes it')
            by_id[name] = replace(by_id[name], known=known)
    return tuple(by_id.values())


def _with_drafts(claims: tuple[Claim, ...], paper: Paper) -> tuple[Claim, ...]:
    """Each claim with the cells it rests on that are marked as drafts: those of its check, or the one it stands for."""
    marked = {address for table in paper.tables.values() for address in table.drafts}
    ids = {table.spec.title: name for name, table in paper.tables.items()}
    if not marked:
        return claims

    def drafts(claim: Claim) -> tuple[str, ...]:
        place = [ids.get(claim.where.get("table", ""), ""), claim.where.get("row", ""), claim.where.get("column", "")]
        return tuple(sorted({*addresses(claim), "|".join(place)} & marked))

    return tuple(replace(claim, drafts=drafts(claim)) for claim in claims)
