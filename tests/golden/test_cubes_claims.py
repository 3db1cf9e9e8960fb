"""The audit article's numbers as claims: the one finding redone by hand, and what the claims would notice.

Numbers in this file are typed from the article; the arithmetic is plain fractions and enumeration.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from countback.claims.arithmetic import judge_relation
from countback.claims.coverage import UNBOUND, cover, unbound_cells
from countback.claims.expand import addresses
from countback.claims.registry import PAPERS, Check, Claim, Nested, Operand, Paper, load_paper
from countback.claims.reported import NotANumber, Reported, parse
from countback.claims.verdict import FINDINGS, Verdict
from countback.fetch.errors import UserError

FOLDER = PAPERS / "cubes"
ARTICLE = "000_3c9b7e6b587c4816.txt"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return load_paper(FOLDER)


@pytest.fixture(scope="module")
def verdicts(paper: Paper) -> dict[str, Verdict]:
    return {claim.id: judge_relation(claim, paper.spec.rounding) for claim in paper.claims if claim.check}


def test_one_finding_and_it_is_recorded(verdicts: dict[str, Verdict]) -> None:
    assert [identity for identity, verdict in verdicts.items() if verdict.verdict in FINDINGS] == ["short-hash"]
    assert verdicts["short-hash"].known


def test_the_finding_by_hand(paper: Paper) -> None:
    short, full = paper.numbers["s2-ja-hash"].reported, paper.numbers["s7-hash"].reported
    head, tail = short.split("...")
    assert full.startswith(head)
    assert full[-4:] == "f498"
    assert tail == "a498"
    assert len(full) == 64


def test_enough_claims_of_each_kind(paper: Paper) -> None:
    kinds = Counter(claim.kind for claim in paper.claims)
    assert len(paper.claims) >= paper.spec.requires >= 120
    assert kinds["arithmetic"] >= 120
    assert kinds["recount"] >= 90
    assert len(paper.claims) == sum(kinds.values())


def test_every_number_of_the_article_is_bound(paper: Paper, shared: Path) -> None:
    found = cover(paper, (shared / "seeds" / ARTICLE).read_text(encoding="utf-8"))
    assert len(found) > 250
    assert [(f.line, f.token, f.around) for f in found if f.status == UNBOUND] == []
    assert unbound_cells(paper) == []


def test_every_recount_names_a_release_and_needs_no_more_than_it_says(paper: Paper) -> None:
    for claim in paper.claims:
        assert bool(claim.needs) == bool(claim.recipe), claim.id


# --- The arithmetic that the relations rest on, by other means -----------------------------------------------------


def whole(printed: str, n: int) -> list[int]:
    """The integers k for which 100 k / n prints as this percentage."""
    half = Fraction(1, 20)
    return [k for k in range(n + 1) if abs(Fraction(100 * k, n) - Fraction(printed)) <= half]


def test_the_hits_behind_the_headline_are_forced() -> None:
    printed = ("66.0", "71.3", "76.8", "81.1", "67.6")
    assert [whole(p, 491) for p in printed] == [[324], [350], [377], [398], [332]]


def test_the_counts_of_two_countries_are_forced() -> None:
    """Pakistan: at least two comparisons on each of 31 items, at most 155; the lead must print too."""
    pakistan = [
        (n, h, j)
        for n in range(62, 156)
        for h, j in product(whole("59.3", n), whole("89.8", n))
        if abs(Fraction(100 * (j - h), n) - Fraction("30.5")) <= Fraction(1, 20)
    ]
    assert pakistan == [(118, 70, 106)]
    america = [
        (n, h, j, o)
        for n in range(62, 156)
        for h, j, o in product(whole("72.4", n), whole("80.3", n), whole("70.9", n))
    ]
    assert america == [(127, 92, 102, 90)]


def test_judge_leans_need_31_items_and_30_in_nigeria() -> None:
    """Spreads 0.055 and 0.088 are no difference of halves over 31; they are one of halves over 31 and over 30."""
    for printed in ("0.055", "0.088"):
        half = Fraction(1, 2000)
        same = [k for k in range(63) if abs(Fraction(k, 62) - Fraction(printed)) <= half]
        mixed = [
            (a, b)
            for a in range(63)
            for b in range(61)
            if abs(Fraction(a, 62) - Fraction(b, 60) - Fraction(printed)) <= half
        ]
        assert same == []
        assert mixed
    # 0.444 is no number of halves over 31, so a human tie is averaged (55 quarters) or dropped (12 of 27).
    assert not [k for k in range(63) if abs(Fraction(k, 62) - Fraction("0.444")) <= Fraction(1, 2000)]
    assert abs(Fraction(55, 124) - Fraction("0.444")) <= Fraction(1, 2000)
    assert abs(Fraction(12, 27) - Fraction("0.444")) <= Fraction(1, 2000)


def test_the_two_speeds_exclude_halves_of_the_same_comparisons() -> None:
    """Halves of 491 comparisons at 73.5% and 64.1% would put all of them at 68.8%, and they are at 66.0%."""
    middle = (Fraction("73.5") + Fraction("64.1")) / 2
    assert middle - Fraction("66.0") > Fraction(2)


def test_the_rate_per_label_is_a_tie_that_half_up_rounds_as_printed() -> None:
    assert Fraction("3022.50") / 1860 == Fraction("1.625")


# --- Mutations ---------------------------------------------------------------------------------------------------

# One changed digit cannot contradict these: each only has to stay on one side of a number far away.
LOOSE = {"s3-opus-interval", "s6-rate-high", "s6-rate-low", "s6-unstable", "s8-nine"}


def mutants(text: str, exact: bool | None) -> Iterator[Reported]:
    """The printed number with one digit changed, in every way."""
    for match in re.finditer(r"\d", text):
        for digit in "0123456789".replace(match[0], ""):
            try:
                yield parse(text[: match.start()] + digit + text[match.end() :], exact=exact)
            except NotANumber:
                continue


def swapped(check: Check, address: str, old: str, new: Reported) -> Check:
    """The check with one printed number in place of another."""

    def one(operand: Operand | Nested) -> Operand | Nested:
        if isinstance(operand, Nested):
            return Nested(swapped(operand.check, address, old, new))
        changed = operand.address == address and operand.text == old
        return replace(operand, text=new.text, number=new) if changed else operand

    target = check.target and one(check.target)
    assert not isinstance(target, Nested)
    return replace(
        check,
        of=tuple(map(one, check.of)),
        weights=tuple(map(one, check.weights)),
        n=tuple(map(one, check.n)),
        target=target,
    )


def is_red(claim: Claim, address: str, old: str, new: Reported) -> bool:
    assert claim.check is not None
    try:
        return judge_relation(replace(claim, check=swapped(claim.check, address, old, new))).verdict in FINDINGS
    except UserError:  # no whole number can print so: said in another way, and noticed all the same
        return True


def test_changing_a_digit_of_any_number_that_relations_use_is_noticed(paper: Paper) -> None:
    users: dict[str, list[Claim]] = {}
    for claim in paper.claims:
        for address in set(addresses(claim)) if claim.id != "short-hash" else ():
            users.setdefault(address, []).append(claim)
    silent, looked_at = set(), 0
    for spec in paper.numbers.values():
        claims = users.get(f"#{spec.id}", [])
        if not claims or spec.within:
            continue
        texts = {o.text for c in claims if c.check for o in (*c.check.of, c.check.target) if isinstance(o, Operand)
                 and o.address == f"#{spec.id}"} or {spec.reported}  # fmt: skip
        looked_at += 1
        for text in texts:
            changed = list(mutants(text, spec.exact))
            if not any(is_red(claim, f"#{spec.id}", text, new) for new in changed for claim in claims):
                silent.add(spec.id)
    assert looked_at > 150
    assert silent <= LOOSE, silent
