"""What a claim's check found: evidence and a verdict.

`judge_recount` compares a recount with the printed number, `unchecked` says why nothing was compared; arithmetic
between printed numbers is judged in `countback.claims.arithmetic`. Words for people are made elsewhere from this data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from countback.claims.interval import Interval, decimal_text
from countback.claims.registry import Claim
from countback.claims.reported import Reported
from countback.fetch.errors import UserError

REPRODUCED, CONSISTENT = "reproduced", "consistent"
DIFFERS, INCONSISTENT = "differs", "inconsistent"
UNINFORMATIVE, UNCHECKED = "uninformative", "unchecked"
VERDICTS = (REPRODUCED, CONSISTENT, DIFFERS, INCONSISTENT, UNINFORMATIVE, UNCHECKED)
AGREEMENT = (REPRODUCED, CONSISTENT)
FINDINGS = (DIFFERS, INCONSISTENT)

ABSENT, NOT_RELEASED, ASSERTED = "archive absent", "not released", "asserted only"
SYNTHETIC, UNVERIFIED, UNCONFIRMED = "synthetic data", "unverified data", "unconfirmed transcription"

HULL = "half-up-or-down"  # the closed hull of the accepted rules
HUNDREDFOLD = "a hundred times the one would meet the other; one may be a share and the other a percentage"
TRUNCATED = "only truncation explains the printed value, rounding does not"

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
        meets = [name for name, x in found.readings.items() if _close(x, slack).meets(claim.number.bounds(HULL))]
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
    gaps = [_close(x, allowed).gap(number.bounds(rounding or HULL)) for x, number, allowed in pairs]
    worst, reason = max(gaps, key=abs), ""
    if worst and not rounding and found.mc_error is None:
        cut = [Interval.of(Fraction(x)).meets(number.bounds("truncation")) for x, number, _ in pairs]
        worst, reason = (Fraction(0), TRUNCATED) if all(cut) else (worst, "")
    if worst and any(
        all(_close(Fraction(x) * hundred, slack).meets(number.bounds(rounding or HULL)) for x, number, _ in pairs)
        for hundred in (Fraction(100), Fraction(1, 100))
    ):
        reason = HUNDREDFOLD
    return Verdict(
        claim,
        DIFFERS if worst else REPRODUCED,
        reason,
        recounted=shown,
        interval=found.interval,
        gap=_shown(worst),
        n=found.n,
        agrees=not worst,
        evidence={**evidence, "rounding": "truncation"} if reason == TRUNCATED else evidence,
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
