"""A digit moved in any table of the registry turns the claims red that rest on it, and no others.

Everything happens on expanded claims in memory; that they are the claims a changed file would give is shown on some.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from countback.claims.arithmetic import judge_relation
from countback.claims.expand import expand
from countback.claims.registry import Check, Claim, Nested, Operand, Paper, list_papers, load_paper
from countback.claims.reported import NotANumber, Reported, parse
from countback.claims.spec import ClaimsSpec, read_toml
from countback.claims.verdict import FINDINGS, UNINFORMATIVE

# what does not look at how large a number is, or need not notice one among many
UNMOVED = {
    "count": "counts cells, whatever stands in them",
    "distinct": "tells cells apart",
    "equal-text": "compares letters",
    "short-hash": "compares letters",
    "median": "the middle of many stays where it is when one of the others moves",
    "matching": "counts pairs in order: one of them may count already",
}
ONE_SIDED = ("at-least", "at-most", "more-than", "less-than", "inside", "highest", "lowest", "ascending", "descending")


@dataclass(frozen=True)
class Use:
    """A number of a cell, and a claim that rests on it."""

    claim: Claim
    operand: Operand
    nested: bool  # inside a computed number


def operands(check: Check, nested: bool = False) -> Iterator[tuple[Operand, bool]]:
    for operand in (*check.of, *check.weights, *check.n, *((check.target,) if check.target else ())):
        if isinstance(operand, Nested):
            if operand.check.relation not in UNMOVED:
                yield from operands(operand.check, nested=True)
        else:
            yield operand, nested


def moved(check: Check, was: Operand, number: Reported) -> Check:
    """The check with that number printed otherwise wherever it stands."""

    def other(operand: Operand | Nested) -> Operand | Nested:
        if isinstance(operand, Nested):
            return Nested(moved(operand.check, was, number))
        same = (operand.address, operand.text, operand.part) == (was.address, was.text, was.part)
        return replace(operand, text=number.text, number=number) if same else operand

    target = check.target and other(check.target)
    assert target is None or isinstance(target, Operand)
    return replace(
        check,
        of=tuple(map(other, check.of)),
        target=target,
        weights=tuple(map(other, check.weights)),
        n=tuple(map(other, check.n)),
    )


def verdict(paper: Paper, use: Use, number: Reported | None = None) -> str:
    check = use.claim.check
    assert check is not None
    if number is not None:
        check = moved(check, use.operand, number)
    return judge_relation(replace(use.claim, check=check), paper.spec.rounding).verdict


def uses(paper: Paper) -> dict[tuple[str, str], list[Use]]:
    """Every number of a cell that checks rest on: by address, and printed form with part (a cell may hold several)."""
    found: dict[tuple[str, str], list[Use]] = defaultdict(list)
    for claim in paper.claims:
        if claim.check is None:
            continue
        mine = {(o.address, f"{o.text}@{o.part}"): Use(claim, o, nested) for o, nested in operands(claim.check)}
        for key, use in mine.items():
            if use.operand.address.count("|") == 2 and use.operand.number is not None:
                found[key].append(use)
    return found


def one_digit_away(number: Reported) -> list[Reported]:
    """The number with one digit changed, the farthest first."""
    found = []
    for i, was in enumerate(number.text):
        for digit in "0123456789" if was.isdecimal() else "":
            try:
                other = parse(number.text[:i] + digit + number.text[i + 1 :], exact=number.step == 0)
            except NotANumber:  # "1,860" with a zero in front
                continue
            if other.kind == number.kind and other.value != number.value:
                found.append(other)
    return sorted(found, key=lambda other: -abs(other.value - number.value))


def far_away(number: Reported) -> list[Reported]:
    """The same number of decimals, hundreds of times larger, on both sides of zero; for a count one side."""
    places = len(number.text.partition(".")[2].rstrip("%").strip()) if number.step else 0
    size = 1000 * (abs(number.value) + 1)
    texts = [f"{sign}{float(size):.{places}f}" for sign in (("", "-") if number.step else ("",))]
    return [replace(parse(text, exact=number.step == 0), unit=number.unit) for text in [*texts, "0"]]


def idle(use: Use) -> bool:
    """Whether arithmetic says that this number cannot matter here.

    So it is with a weight where the mean is all but one of the numbers weighed, with what divides a zero, and with a
    number that stands on several sides.
    """
    check = use.claim.check
    assert check is not None
    mine = [o for o, _ in operands(check)]
    twice = mine.count(use.operand) > 1
    numbers = [o.number for o in mine if o.number is not None]
    zero = check.relation in ("percent", "ratio", "difference") and not numbers[0].value and use.operand == mine[1]
    weighed = [o.number for o in check.of if isinstance(o, Operand) and o.number is not None]
    weighs = use.operand in [o for o, _ in operands(Check("sum", check.weights))]
    mean = check.target.number if check.target else None
    alike = weighs and mean is not None and any(abs(x.value - mean.value) <= mean.step for x in weighed)
    return twice or zero or alike


PAPERS = pytest.mark.parametrize("folder", list_papers(), ids=lambda folder: folder.name)


@PAPERS
def test_every_claim_rests_on_every_number_it_names(folder: Path):
    """Moved far enough, each number turns each claim that names it red: no operand is there for show."""
    paper = load_paper(folder)
    deaf = []
    for cell in uses(paper).values():
        for use in cell:
            check = use.claim.check
            assert check is not None
            if check.relation in UNMOVED or (use.nested and check.relation in ONE_SIDED):
                continue
            before = verdict(paper, use)
            if before in FINDINGS or before == UNINFORMATIVE or idle(use):
                continue
            if not any(verdict(paper, use, number) in FINDINGS for number in far_away(use.operand.number)):
                deaf.append((use.claim.id, use.operand.address, use.operand.text))
    assert deaf == []


@PAPERS
def test_one_digit_of_any_cell_is_noticed(folder: Path):
    """Of each number in a table, some single digit cannot be changed without a claim turning red."""
    paper = load_paper(folder)
    unnoticed, cells = [], uses(paper)
    for (address, printed), found in cells.items():
        before = [verdict(paper, use) for use in found]
        for number in one_digit_away(found[0].operand.number):
            after = [verdict(paper, use, number) for use in found]
            if any(new in FINDINGS and old not in FINDINGS for old, new in zip(before, after, strict=True)):
                break
        else:
            if not all(use.claim.check.relation in (*UNMOVED, *ONE_SIDED) for use in found):
                unnoticed.append((address, printed))
    assert unnoticed == []


@PAPERS
def test_no_claim_notices_a_cell_that_it_does_not_use(folder: Path):
    """Some cells changed in the table itself, the paper expanded anew: what changes is what rests on the cell."""
    paper = load_paper(folder)
    spec = read_toml(folder / "claims.toml", ClaimsSpec)
    before = {claim.id: judge_relation(claim, paper.spec.rounding).verdict for claim in paper.claims if claim.check}
    cells = uses(paper)
    whole = [
        (key, found)
        for key, found in cells.items()
        if found[0].operand.text == cell_text(paper, key[0]) and not found[0].operand.number.parts
    ]
    for (address, _), found in whole[:: max(1, len(whole) // 12)]:
        table, row, column = address.split("|")
        number = one_digit_away(found[0].operand.number)[0]
        rows = paper.tables[table].rows
        changed = rows | {row: rows[row] | {column: number.text}}
        tables = paper.tables | {table: replace(paper.tables[table], rows=changed)}
        claims = expand(replace(paper, tables=tables, claims=()), spec)
        after = {claim.id: judge_relation(claim, paper.spec.rounding).verdict for claim in claims if claim.check}
        red = {name for name in after if after[name] != before.get(name)}
        mine = {use.claim.id: verdict(paper, use, number) for use in found}
        assert red <= set(mine), address
        assert {name: after[name] for name in mine} == mine, address


def cell_text(paper: Paper, address: str) -> str:
    table, row, column = address.split("|")
    return paper.tables[table].rows[row][column]
