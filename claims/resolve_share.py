"""The rule for predictions on a country's share of label variance, from items labelled in several countries.

Frozen: the whole text of this module is hashed when a prediction that it decides is registered, and any change to it
is an amendment (countback.claims.prediction).

S is the share with the item as a random effect; its interval decides and the point estimate stands beside it.
    k1  lower bound >= `threshold`      confirmed: country matters
    b1  upper bound < `threshold`       broken: the country reading needs restating
    neither, where the interval holds the threshold
Items that were not crossed confound country with item content, so their share decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from countback.claims.decision import BROKEN, CONFIRMED, NEITHER, VOID, Criterion, Decision, Value

OUTCOMES = (CONFIRMED, BROKEN, NEITHER, VOID)


@dataclass(frozen=True)
class Share:
    """Country's share of the label variance with its 95% interval, from `items` labelled in `countries` each.

    `crossed` is false where each country had items of its own.
    """

    share: Fraction
    low: Fraction
    high: Fraction
    countries: int
    items: int
    crossed: bool


@dataclass(frozen=True)
class ShareRule:
    threshold: Fraction


def decide(
    share: Share | None, rule: ShareRule, happened: datetime | None = None, deadline: datetime | None = None
) -> Decision:
    """Criteria and possible outcomes; without a share of crossed items everything is open."""
    late = happened is not None and deadline is not None and happened > deadline
    if share is None or not (share.crossed and share.countries >= 2 and share.items >= 1):
        undecided = (Criterion("k1", None), Criterion("b1", None))
        return Decision(undecided, (VOID,) if late else (CONFIRMED, BROKEN, NEITHER))
    values = (
        Value("lower bound", share.low, share.low, share.items),
        Value("S", share.share, share.share, share.items),
        Value("upper bound", share.high, share.high, share.items),
    )
    k1, b1 = share.low >= rule.threshold, share.high < rule.threshold
    outcome = VOID if late else CONFIRMED if k1 else BROKEN if b1 else NEITHER
    return Decision((Criterion("k1", k1, values), Criterion("b1", b1, values)), (outcome,))
