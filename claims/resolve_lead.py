"""The rule for predictions on a judge's lead over a held-out human, country by country.

Frozen: the whole text of this module is hashed when a prediction that it decides is registered, and any change to it
is an amendment (countback.claims.prediction).

d_c is the lead in country c in percentage points, D the lead over the comparisons of all countries.
    k1  d_c >= 0 in at least `at_least` countries        b1  D < 0
    k2  D >= `margin`                                    b2  d_c < `trail` in every country of `trailing`
    confirmed  k1 and k2 and not b2        both     k1 and k2 and b2
    broken     b1, or b2 without both k1 and k2        neither  anything else
    void       nothing was released by the deadline
Point estimates decide. While countries are missing a criterion is decided only if no completion could change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import product
from typing import Literal

from countback.claims.decision import BOTH, BROKEN, CONFIRMED, NEITHER, VOID, Criterion, Decision, Value

OUTCOMES = (CONFIRMED, BROKEN, BOTH, NEITHER, VOID)


@dataclass(frozen=True)
class Lead:
    """Judge hits less human hits in `n` comparisons, between `low` and `high` (equal where the hits were counted).

    More than one country: only their sum is known.
    """

    countries: tuple[str, ...]
    n: int
    low: int
    high: int


@dataclass(frozen=True)
class LeadRule:
    """The numbers of a rule; `margin` and `trail` in percentage points.

    `countries` is how many there are in all, without those of `leave_out`. `only` watches one criterion alone:
    "confirmed" where a k holds or a b does not happen, else "broken".
    """

    judge: str
    countries: int
    at_least: int
    margin: Fraction
    trailing: tuple[str, ...]
    trail: Fraction
    leave_out: tuple[str, ...] = ()
    only: Literal["", "k1", "k2", "b1", "b2"] = ""


def decide(
    leads: Sequence[Lead], rule: LeadRule, happened: datetime | None = None, deadline: datetime | None = None
) -> Decision:
    """Criteria and possible outcomes from the leads known; `happened` is when the trigger came (a zoned instant)."""
    used = [lead for lead in leads if not set(lead.countries) & set(rule.leave_out)]
    criteria = (_k1(used, rule), *_pooled(used, rule), _b2(used, rule))
    if happened is not None and deadline is not None and happened > deadline:
        return Decision(criteria, (VOID,))
    completions = product(*((True, False) if c.holds is None else (c.holds,) for c in criteria))
    found = {_outcome(*each, only=rule.only) for each in completions}
    return Decision(criteria, tuple(outcome for outcome in OUTCOMES if outcome in found))


def _outcome(k1: bool, k2: bool, b1: bool, b2: bool, *, only: str) -> str:
    if only:
        return CONFIRMED if {"k1": k1, "k2": k2, "b1": not b1, "b2": not b2}[only] else BROKEN
    if k1 and k2:
        return BOTH if b2 else CONFIRMED
    return BROKEN if b1 or b2 else NEITHER


def _k1(leads: Sequence[Lead], rule: LeadRule) -> Criterion:
    single = [lead for lead in leads if len(lead.countries) == 1]
    yes = sum(lead.low >= 0 for lead in single)
    most = rule.countries - sum(lead.high < 0 for lead in single)
    holds = True if yes >= rule.at_least else False if most < rule.at_least else None
    return Criterion("k1", holds, (Value("countries", Fraction(yes), Fraction(most), len(single)),))


def _pooled(leads: Sequence[Lead], rule: LeadRule) -> tuple[Criterion, Criterion]:
    """k2 and b1, both on D."""
    n = sum(lead.n for lead in leads)
    if n == 0:
        return Criterion("k2", None), Criterion("b1", None)
    low, high = (Fraction(100 * sum(ends), n) for ends in zip(*((x.low, x.high) for x in leads), strict=True))
    whole = sum(len(lead.countries) for lead in leads) == rule.countries
    k2 = True if low >= rule.margin else False if high < rule.margin else None
    b1 = True if high < 0 else False if low >= 0 else None
    values = (Value("D", low, high, n),)
    return Criterion("k2", k2 if whole else None, values), Criterion("b1", b1 if whole else None, values)


def _b2(leads: Sequence[Lead], rule: LeadRule) -> Criterion:
    values: list[Value] = []
    trails: list[bool | None] = []
    for country in rule.trailing:
        lead = next((lead for lead in leads if lead.countries == (country,)), None)
        if lead is None:
            trails.append(None)
            continue
        low, high = Fraction(100 * lead.low, lead.n), Fraction(100 * lead.high, lead.n)
        values.append(Value(country, low, high, lead.n))
        trails.append(True if high < rule.trail else False if low >= rule.trail else None)
    return Criterion("b2", False if False in trails else None if None in trails else True, tuple(values))
