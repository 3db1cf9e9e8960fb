"""Verdicts on arithmetic between printed numbers: one rule of rounding must explain all the numbers of a check."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from countback.claims.interval import Contradiction, Interval, decimal_text
from countback.claims.predicates import PREDICATES, Held
from countback.claims.registry import Check, Claim, Nested, Operand
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import ACCEPTED, Reported, exactly
from countback.claims.verdict import (
    CONSISTENT,
    HULL,
    HUNDREDFOLD,
    INCONSISTENT,
    SIGMAS,
    TRUNCATED,
    UNCHECKED,
    UNINFORMATIVE,
    Verdict,
)
from countback.fetch.errors import UserError

TIE = "they meet at a tie of rounding only, and no one rule prints all of these numbers"
OF_ITSELF = "equal sum product mean median min max at-least at-most ascending descending highest lowest equal-text"

FRACTIONS = frozenset(
    {"mean", "weighted-mean", "median", "ratio", "percent", "change", "remainder-mean", "moment-mean", "moment-sd"}
)


def judge_relation(claim: Claim, rounding: str = "") -> Verdict:
    """Decide a relation. `rounding` is the rule the paper states, "" when it states none.

    Without a stated rule, half-up and half-even are accepted, each for all the numbers at once; when neither explains
    the claim, truncation is tried and, where it explains it, named in the reason (the verdict stays `consistent`: the
    numbers do not contradict).
    """
    check = claim.check
    assert check is not None
    try:
        if check.relation in PREDICATES:
            return _judge_predicate(claim, check, rounding)
        return _judge_value(claim, check, rounding)
    except ZeroDivisionError:
        return Verdict(claim, UNCHECKED, "a divisor may be zero", evidence=_evidence(check))
    except Contradiction as error:
        return Verdict(claim, INCONSISTENT, str(error), n=len(check.of), agrees=False, evidence=_evidence(check))
    except UserError as error:
        raise UserError(f"{claim.full_id}: {error}", exit_code=error.exit_code) from None


def _judge_value(claim: Claim, check: Check, rounding: str) -> Verdict:
    """Try the accepted rules, then truncation; what is shown is the first that explains the target, else the first."""
    assert check.target is not None
    assert check.target.number is not None
    number = _may_be_rounded(check.relation, check.target.number)
    check = replace(check, target=replace(check.target, number=number))
    claim = replace(claim, number=number)
    tried: list[tuple[str, Interval, Interval, bool]] = []
    contradiction: Contradiction | None = None
    for rule in (rounding,) if rounding else (HULL, "truncation"):
        try:
            implied, printed = value(check, rule), number.bounds(rule)
        except Contradiction as error:
            contradiction = contradiction or error
            continue
        tried.append((rule, implied, printed, _agree(check, implied, printed, rule)))
        if tried[-1][-1]:
            break
    if contradiction is not None and not (tried and tried[-1][-1]):
        raise contradiction
    rule, implied, printed, agrees = tried[-1] if tried[-1][-1] else tried[0]
    verdict, reason = (CONSISTENT, "") if agrees else (INCONSISTENT, TIE if implied.meets(printed) else "")
    if not agrees and not reason and _hundredfold(check, number, rule):
        reason = HUNDREDFOLD
    if rule == "truncation" and not rounding:
        reason = TRUNCATED
    if _could_not_fail(check, implied, rounding):
        verdict, reason = UNINFORMATIVE, "the implied interval covers every printable value"
    return Verdict(
        claim,
        verdict,
        reason,
        decimal_text(implied.mid, 6),
        (decimal_text(implied.low, 9), decimal_text(implied.high, 9)),
        decimal_text(implied.gap(printed), 9),
        len(check.of),
        agrees,
        {**_evidence(check), "rounding": rule},
    )


def _may_be_rounded(relation: str, number: Reported) -> Reported:
    """A bare whole number is a count, but not where the relation gives fractions: a mean printed 77 may be 76.75."""
    if relation not in FRACTIONS or number.step or number.kind != "number" or number.value.denominator != 1:
        return number
    half = Fraction(1, 2)
    return replace(number, step=Fraction(1), interval=Interval(number.value - half, number.value + half))


def _agree(check: Check, implied: Interval, printed: Interval, rule: str) -> bool:
    """Whether one rule of rounding explains all the numbers at once.

    Closed hulls that share more than a point do so under every rule. Those that only touch meet at a tie, where the
    rules part: one number at a tie may be printed either way (binary fractions decide), but where several lie at ties
    one rule must print them all. No rule prints one value as 4.20 and as 4.21, or the mean of 3.80 and 4.60 as 4.21.
    """
    if rule != HULL or not implied.meets(printed):
        return implied.meets(printed)
    if max(implied.low, printed.low) < min(implied.high, printed.high) or _rounded_numbers(check) <= 1:
        return True
    assert check.target is not None
    assert check.target.number is not None
    for each in ACCEPTED:
        try:
            if value(check, each).meets(check.target.number.bounds(each)):
                return True
        except Contradiction:
            continue
    return False


def _hundredfold(check: Check, number: Reported, rule: str) -> bool:
    """Whether the claim would hold if the target were a hundred times as large, or small: no slip of the paper's, then,
    but of whoever wrote the claim."""
    assert check.target is not None
    for factor in (Fraction(100), Fraction(1, 100)):
        ends = Interval(number.interval.low * factor, number.interval.high * factor)
        scaled = replace(number, value=number.value * factor, step=number.step * factor, interval=ends)
        try:
            implied = value(replace(check, target=replace(check.target, number=scaled)), rule)
        except Contradiction:
            continue
        if implied.meets(ends) and not implied.meets(Interval.of(0)):
            return True
    return False


def _rounded_numbers(check: Check) -> int:
    """How many of the numbers behind a check are rounded, the target's included."""
    operands = (*check.of, *check.weights, *check.n, *((check.target,) if check.target else ()))
    return sum(
        _rounded_numbers(o.check) if isinstance(o, Nested) else o.number is not None and o.number.step > 0
        for o in operands
    )


def value(check: Check, rule: str) -> Interval:
    """The interval of values that a value relation allows, its operands unrounded by `rule`."""
    return VALUES[check.relation](_intervals(check.of, rule), _extra(check, rule))


def _intervals(operands: tuple[Operand | Nested, ...], rule: str) -> list[Interval]:
    nothing = Interval.of(0)
    return [
        value(operand.check, rule)
        if isinstance(operand, Nested)
        else (operand.number.bounds(rule) if operand.number is not None else nothing)
        for operand in operands
    ]


def _extra(check: Check, rule: str) -> Extra:
    target = check.target.number if check.target is not None else None
    return Extra(
        tuple(_intervals(check.weights, rule)),
        tuple(_intervals(check.n, rule)),
        tuple(map(exactly, check.scores)),
        check.names,
        check.expr,
        check.resamples,
        target.bounds(rule) if target is not None else None,
        tuple(o.text for o in check.of if isinstance(o, Operand)),
        tuple(o.number for o in check.of if isinstance(o, Operand) and o.number is not None),
    )


def _could_not_fail(check: Check, implied: Interval, rounding: str) -> bool:
    """Whether every value that could be printed in place of the target would have agreed."""
    number = check.target.number if check.target is not None else None
    if number is None:
        return False
    if _compares_with_itself(check):
        return True
    if check.relation == "count-share" and number.step and number.kind == "number":
        reach = number.step if rounding else number.step * 3 / 2  # rounded or cut off: half a unit below, one above
        return _intervals(check.n, "exact")[0].low * reach >= 100
    if check.domain is None:
        return False
    low, high = map(exactly, check.domain)
    return implied.low <= low + number.step / 2 and high - number.step / 2 <= implied.high


def _judge_predicate(claim: Claim, check: Check, rounding: str) -> Verdict:
    tried: list[tuple[str, Held]] = []
    for rule in ACCEPTED if rounding == HULL else (rounding,) if rounding else (*ACCEPTED, "truncation"):
        tried.append((rule, PREDICATES[check.relation](_intervals(check.of, rule), _extra(check, rule))))
        if tried[-1][1].possible:
            break
    used, held = tried[-1] if tried[-1][1].possible else tried[0]
    verdict, reason = (CONSISTENT if held.possible else INCONSISTENT), ""
    if held.possible and used == "truncation" and not rounding:
        reason = TRUNCATED
    if not held.informative or _compares_with_itself(check):
        verdict, reason = UNINFORMATIVE, "no printable value could have failed"
    return Verdict(
        claim,
        verdict,
        reason,
        recounted=held.shown,
        gap=decimal_text(held.gap, 9),
        n=len(check.of),
        agrees=held.possible,
        evidence={**_evidence(check), "rounding": rounding or (HULL if used in ACCEPTED else used)},
    )


def _compares_with_itself(check: Check) -> bool:
    """Whether one and the same printed number stands on every side."""
    operands = (*check.of, *((check.target,) if check.target else ()))
    printed = {(o.address, o.text, o.part) for o in operands if isinstance(o, Operand)}
    nested = any(isinstance(o, Nested) for o in operands)
    return check.relation in OF_ITSELF.split() and len(operands) > 1 and len(printed) == 1 and not nested


def _evidence(check: Check) -> dict[str, Any]:
    """The arithmetic laid out: each operand's address and printed form."""

    def shown(operand: Operand | Nested) -> dict[str, Any]:
        if isinstance(operand, Nested):
            return _evidence(operand.check)
        return {"from": operand.address, "printed": operand.text}

    laid: dict[str, Any] = {"relation": check.relation, "of": [shown(o) for o in check.of]}
    for name in ("weights", "n"):
        if getattr(check, name):
            laid[name] = [shown(o) for o in getattr(check, name)]
    if check.target is not None:
        laid["equals"] = shown(check.target)
    if check.expr:
        laid |= {"expr": check.expr, "names": list(check.names)}
    if check.resamples:
        laid |= {"resamples": check.resamples, "sigmas": SIGMAS}
    return laid
