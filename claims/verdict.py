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

from countback.claims.interval import Interval, decimal_text
from countback.claims.predicates import PREDICATES
from countback.claims.registry import Check, Claim, Nested, Operand
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import Reported, parse
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

    Without a stated rule, half-up and half-even are accepted; when neither explains the target, truncation is tried
    and, where it explains it, named in the reason (the verdict stays `consistent`: the numbers do not contradict).
    """
    check = claim.check
    assert check is not None
    try:
        if check.relation in PREDICATES:
            return _judge_predicate(claim, check, rounding or "half-up-or-down")
        return _judge_value(claim, check, rounding)
    except ZeroDivisionError:
        return Verdict(claim, UNINFORMATIVE, "a divisor may be zero", evidence=_evidence(check))
    except UserError as error:
        raise UserError(f"{claim.full_id}: {error}", exit_code=error.exit_code) from None


def _judge_value(claim: Claim, check: Check, rounding: str) -> Verdict:
    target = check.target
    assert target is not None
    assert target.number is not None
    used, reason = rounding or "half-up-or-down", ""
    printed, implied = _bounds(target.number, used), value(check, used)
    agrees = _agree(check, implied, printed, used)
    if not agrees and not rounding:
        cut = _bounds(target.number, "truncation")
        for operand_rule in (used, "truncation"):
            attempt = value(check, operand_rule)
            if _agree(check, attempt, cut, "truncation"):
                implied, printed, agrees, used = attempt, cut, True, "truncation"
                reason = "only truncation explains the printed value, rounding does not"
                break
    verdict = CONSISTENT if agrees else INCONSISTENT
    if _could_not_fail(check, implied):
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
        {**_evidence(check), "rounding": used},
    )


def _agree(check: Check, implied: Interval, printed: Interval, rule: str) -> bool:
    """Whether some value is both implied and printed so.

    Intervals that only touch do so at a tie of rounding, which half-even may print either way. Two prints of one value
    by one rule cannot lie a whole unit apart, so `equal` asks for more than a touch; and what is cut off never reaches
    the next printed value.
    """
    if not implied.meets(printed):
        return False
    touch = implied.high == printed.low or printed.high == implied.low
    if check.relation == "equal" and implied.width and printed.width:
        return not touch
    if rule == "truncation" and printed.width:
        away = printed.low if printed.low < 0 else printed.high  # the end that prints as the next value
        return not (touch and away in (implied.low, implied.high) and not (implied.low < away < implied.high))
    return True


def _bounds(number: Reported, rule: str) -> Interval:
    """What a printed number stands for; an inequality such as "< .001" or "> 5" stands for one side of its bound."""
    interval = number.rounded(rule)
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
        target.rounded(rule) if target is not None else None,
        tuple(o.text for o in check.of if isinstance(o, Operand)),
        tuple(o.number for o in check.of if isinstance(o, Operand) and o.number is not None),
    )


def _could_not_fail(check: Check, implied: Interval) -> bool:
    number = check.target.number if check.target is not None else None
    if check.relation == "count-share" and number is not None and number.step:
        n = _intervals(check.n, "exact")[0].low
        return n * number.step >= 100  # every printable percentage is some k of n
    if check.domain is None:
        return False
    return implied.covers(Interval(parse(check.domain[0], exact=True).value, parse(check.domain[1], exact=True).value))


def _judge_predicate(claim: Claim, check: Check, rule: str) -> Verdict:
    held = PREDICATES[check.relation](_intervals(check.of, rule), _extra(check, rule))
    verdict, reason = (CONSISTENT if held.possible else INCONSISTENT), ""
    if not held.informative:
        verdict, reason = UNINFORMATIVE, "no printable value could have failed"
    return Verdict(
        claim,
        verdict,
        reason,
        recounted=held.shown,
        gap=decimal_text(held.gap, 9),
        n=len(check.of),
        agrees=held.possible,
        evidence={**_evidence(check), "rounding": rule},
    )


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


def judge_recount(claim: Claim, found: Recount, evidence: dict[str, Any]) -> Verdict:
    """Compare a recount with the printed number: within rounding, and SIGMAS Monte Carlo errors where it was drawn."""
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
    gaps = [_close(x, allowed).gap(_bounds(number, "half-up-or-down")) for x, number, allowed in pairs]
    worst = max(gaps, key=abs)
    return Verdict(
        claim,
        DIFFERS if worst else REPRODUCED,
        recounted=shown,
        interval=found.interval,
        gap=_shown(worst),
        n=found.n,
        agrees=not worst,
        evidence=evidence,
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
