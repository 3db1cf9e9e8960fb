"""What a claim's check found: evidence and a verdict.

`judge_relation` decides arithmetic between printed numbers, `judge_recount` compares a recount with the printed
number, `unchecked` says why nothing was compared. All words shown to people are made elsewhere from this data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from countback.claims.interval import Contradiction, Interval, decimal_text
from countback.claims.predicates import PREDICATES, Held
from countback.claims.registry import Check, Claim, Nested, Operand
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import ACCEPTED, Reported, parse
from countback.fetch.errors import UserError

REPRODUCED, CONSISTENT = "reproduced", "consistent"
DIFFERS, INCONSISTENT = "differs", "inconsistent"
UNINFORMATIVE, UNCHECKED = "uninformative", "unchecked"
VERDICTS = (REPRODUCED, CONSISTENT, DIFFERS, INCONSISTENT, UNINFORMATIVE, UNCHECKED)
AGREEMENT = (REPRODUCED, CONSISTENT)
FINDINGS = (DIFFERS, INCONSISTENT)

ABSENT, NOT_RELEASED, ASSERTED = "archive absent", "not released", "asserted only"
UNDEFINED, MODEL_FAILED, SYNTHETIC, UNVERIFIED, UNCONFIRMED = (
    "definition not stated",
    "model fit failed",
    "synthetic data",
    "unverified data",
    "unconfirmed transcription",
)

HULL = "half-up-or-down"  # the closed hull of the accepted rules
TRUNCATED = "only truncation explains the printed value, rounding does not"
TIE = "they meet at a tie of rounding only, and no one rule prints all of these numbers"
OF_ITSELF = "equal sum product mean median min max at-least at-most ascending descending highest lowest equal-text"

FRACTIONS = frozenset(
    {"mean", "weighted-mean", "median", "ratio", "percent", "change", "remainder-mean", "moment-mean", "moment-sd"}
)

SIGMAS = 4  # Monte Carlo standard errors allowed on top of rounding: one honest claim in 16,000 is flagged


@dataclass(frozen=True)
class Recount:
    """What a recipe found.

    value: the recounted number in the printed unit (81.06 for a claim printed "81.1%"), int or Fraction where exact;
    or the word, for a claim in words. n: how many comparisons, items or labels it rests on.
    mc_error: its Monte Carlo standard error, that of the paper's own draws included; None when nothing was drawn.
    readings: values by other definitions, where the paper leaves a choice open. interval: the estimate's own
    (bootstrap) interval. low_high: where the paper prints a range or an interval, its two ends recounted, which then
    have the `mc_error`; a point printed with them is compared with `value`. synthetic: the data is a stand-in, so
    nothing can be reproduced from it.
    """

    value: int | Fraction | float | str
    n: int | None = None
    mc_error: float | None = None
    seed: int | None = None
    notes: tuple[str, ...] = ()
    readings: dict[str, float] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    low_high: tuple[float, float] | None = None
    synthetic: bool = False


class CannotRecount(UserError):
    """A recipe cannot decide on this data; the claim is unchecked and the message says why."""


@dataclass(frozen=True)
class Verdict:
    """One line of the result; see `as_json` for the stable form."""

    claim: Claim
    verdict: str
    reason: str = ""
    recounted: str | float | None = None
    interval: tuple[str, str] | tuple[float, float] | None = None
    gap: str | float | None = None
    n: int | None = None
    agrees: bool | None = None
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether this very verdict is recorded as a finding."""
        return self.claim.known is not None and self.claim.known.verdict == self.verdict

    @property
    def expected(self) -> bool:
        """Nothing to act on: agreement without a record against it, a finding that is recorded, or unchecked."""
        if self.verdict == UNCHECKED:
            return True
        return self.known if self.claim.known else self.verdict not in FINDINGS

    def as_json(self) -> dict[str, Any]:
        """The stable form, schema countback.verdicts/1."""
        number = self.claim.number
        return {
            "id": self.claim.full_id,
            "paper": self.claim.paper,
            "kind": self.claim.kind,
            "where": self.claim.where,
            "reads": self.claim.reads,
            "reported": self.claim.reported,
            "reported_interval": _ends(number.interval)
            if number and number.kind not in ("hash", "date", "word")
            else None,
            "recounted": self.recounted,
            "recounted_interval": list(self.interval) if self.interval else None,
            "gap": self.gap,
            "n": self.n,
            "verdict": self.verdict,
            "known": self.known,
            "agrees": self.agrees,
            "reason": self.reason,
            "evidence": self.evidence,
        }


def summary(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many of each verdict, every word present."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    return {word: counts[word] for word in VERDICTS}


def unchecked(claim: Claim, reason: str, **evidence: Any) -> Verdict:
    """No comparison was made; `reason` starts with one of the words above."""
    return Verdict(claim, UNCHECKED, reason, evidence=evidence)


def _ends(interval: Interval) -> list[str]:
    return [decimal_text(interval.low, 9), decimal_text(interval.high, 9)]


# --- arithmetic between printed numbers --------------------------------------------------------------------------


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
            implied, printed = value(check, rule), _bounds(number, rule)
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
            if value(check, each).meets(_bounds(check.target.number, each)):
                return True
        except Contradiction:
            continue
    return False


def _rounded_numbers(check: Check) -> int:
    """How many of the numbers behind a check are rounded, the target's included."""
    operands = (*check.of, *check.weights, *check.n, *((check.target,) if check.target else ()))
    return sum(
        _rounded_numbers(o.check) if isinstance(o, Nested) else o.number is not None and o.number.step > 0
        for o in operands
    )


def _bounds(number: Reported, rule: str) -> Interval:
    """What a printed number stands for; an inequality such as "< .001" or "> 5" stands for one side of its bound."""
    interval = number.printing(rule)
    if number.kind != "inequality":
        return interval
    far = max(abs(interval.low), abs(interval.high), Fraction(1)) * 10**9
    if number.compare in ("<", "<="):
        return Interval(-far, interval.high)
    if number.compare in (">", ">="):
        return Interval(interval.low, far)
    return interval


def value(check: Check, rule: str) -> Interval:
    """The interval of values that a value relation allows, its operands unrounded by `rule`."""
    return VALUES[check.relation](_intervals(check.of, rule), _extra(check, rule))


def _intervals(operands: tuple[Operand | Nested, ...], rule: str) -> list[Interval]:
    nothing = Interval.of(0)
    return [
        value(operand.check, rule)
        if isinstance(operand, Nested)
        else (_bounds(operand.number, rule) if operand.number is not None else nothing)
        for operand in operands
    ]


def _extra(check: Check, rule: str) -> Extra:
    target = check.target.number if check.target is not None else None
    return Extra(
        tuple(_intervals(check.weights, rule)),
        tuple(_intervals(check.n, rule)),
        tuple(parse(score, exact=True).value for score in check.scores),
        check.names,
        check.expr,
        check.resamples,
        _bounds(target, rule) if target is not None else None,
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
    low, high = (parse(end, exact=True).value for end in check.domain)
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


# --- recounts from released data ----------------------------------------------------------------------------------


def judge_recount(claim: Claim, found: Recount, evidence: dict[str, Any], rounding: str = "") -> Verdict:
    """Compare a recount with the printed number: within rounding, and SIGMAS Monte Carlo errors where it was drawn.

    `rounding` is the rule the paper states; where it states none and nothing was drawn, truncation is tried and named.
    """
    assert claim.number is not None
    slack = Fraction(0)
    if found.mc_error is not None:
        slack = Fraction(found.mc_error) * SIGMAS
        evidence = {**evidence, "mc_error": found.mc_error, "sigmas": SIGMAS, "seed": found.seed}
    if found.notes:
        evidence = {**evidence, "notes": list(found.notes)}
    if found.readings:
        meets = [name for name, x in found.readings.items() if _close(x, slack).meets(claim.number.interval)]
        evidence = {**evidence, "readings": found.readings, "readings_that_meet": meets}
    if isinstance(found.value, str):
        agrees = found.value == claim.reported
        verdict = REPRODUCED if agrees else DIFFERS
        return Verdict(claim, verdict, recounted=found.value, n=found.n, agrees=agrees, evidence=evidence)
    pairs: list[tuple[float | Fraction, Reported, Fraction]] = [(found.value, claim.number, slack)]
    shown = _shown(found.value)
    if found.low_high is not None:
        pairs = [(x, end, slack) for x, end in zip(found.low_high, claim.number.parts[-2:], strict=True)]
        shown = f"{found.low_high[0]:g} to {found.low_high[1]:g}"
        if claim.number.kind == "estimate":  # the point is of all the data, so nothing was drawn for it
            pairs.append((found.value, claim.number.parts[0], Fraction(0)))
            shown = f"{float(found.value):g} [{found.low_high[0]:g}, {found.low_high[1]:g}]"
    gaps = [_close(x, allowed).gap(_bounds(number, rounding or HULL)) for x, number, allowed in pairs]
    worst, reason = max(gaps, key=abs), ""
    if worst and not rounding and found.mc_error is None:
        cut = [Interval.of(Fraction(x)).meets(_bounds(number, "truncation")) for x, number, _ in pairs]
        worst, reason = (Fraction(0), TRUNCATED) if all(cut) else (worst, "")
    return Verdict(
        claim,
        DIFFERS if worst else REPRODUCED,
        reason,
        recounted=shown,
        interval=found.interval,
        gap=_shown(worst),
        n=found.n,
        agrees=not worst,
        evidence={**evidence, "rounding": "truncation"} if reason else evidence,
    )


def _close(x: float | Fraction, slack: Fraction) -> Interval:
    exact = Fraction(x)
    if isinstance(x, float):  # binary floats near a rounding boundary: allow their own error, 1e-12 relative
        slack += abs(exact) / 10**12
    return Interval(exact - slack, exact + slack)


def _shown(x: float | Fraction) -> str | float:
    return x if isinstance(x, float) else decimal_text(Fraction(x), 9)


def not_evidence(verdict: Verdict, reason: str) -> Verdict:
    """The same comparison made on what proves nothing (synthetic or unverified data, an unconfirmed cell): unchecked,
    with `agrees` kept."""
    return replace(verdict, verdict=UNCHECKED, reason=reason)
