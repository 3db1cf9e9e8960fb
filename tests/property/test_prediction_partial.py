"""A criterion is decided on a partial release exactly if every completion agrees: against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from countback.claims.resolve_lead import Lead, LeadRule, decide
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("France", "India", "A", "B")
RULE = LeadRule("judge", 4, 3, Fraction(5), ("France", "India"), Fraction(-10))
# A completion may be small or outweigh everything known, at any lead that matters to a criterion.
COMPLETIONS = [(n, gap) for n in (10, 10_000) for gap in (-n, -n // 5, 0, n)]

gaps = st.integers(-10, 10)
partial = st.dictionaries(st.sampled_from(NAMES), gaps, max_size=4)


def brute(known: dict[str, tuple[int, int]]) -> tuple[bool, bool, bool, bool, str]:
    """All four criteria and the outcome of a whole release, straight from the rule's words."""
    n = sum(count for count, _ in known.values())
    total = sum(gap for _, gap in known.values())
    k1 = sum(gap >= 0 for _, gap in known.values()) >= 3
    k2, b1 = total / n >= 0.05, total < 0
    b2 = all(known[name][1] / known[name][0] < -0.10 for name in ("France", "India"))
    if k1 and k2 and not b2:
        outcome = "confirmed"
    elif b1 or (b2 and not (k1 and k2)):
        outcome = "broken"
    elif k1 and k2 and b2:
        outcome = "both"
    else:
        outcome = "neither"
    return k1, k2, b1, b2, outcome


@given(known=partial)
@settings(deadline=None, max_examples=300)
def test_decided_exactly_if_all_completions_agree(known):
    missing = [name for name in NAMES if name not in known]
    seen = {name: (20, gap) for name, gap in known.items()}
    results = [
        brute(seen | dict(zip(missing, filled, strict=True))) for filled in product(COMPLETIONS, repeat=len(missing))
    ]
    decision = decide([Lead((name,), 20, gap, gap) for name, gap in known.items()], RULE)
    for place, criterion in enumerate(decision.criteria):
        values = {result[place] for result in results}
        assert criterion.holds == (values.pop() if len(values) == 1 else None)
    outcomes = {result[4] for result in results}
    assert outcomes <= set(decision.possible)
    assert (decision.outcome == "open") == (len(outcomes) > 1)


@given(lows=st.lists(gaps, min_size=4, max_size=4), widths=st.lists(st.integers(0, 4), min_size=4, max_size=4))
@settings(deadline=None, max_examples=300)
def test_a_gap_with_two_ends_is_decided_exactly_if_all_gaps_between_agree(lows, widths):
    ranges = [range(low, low + width + 1) for low, width in zip(lows, widths, strict=True)]
    results = [brute({name: (20, gap) for name, gap in zip(NAMES, each, strict=True)}) for each in product(*ranges)]
    leads = [Lead((name,), 20, r[0], r[-1]) for name, r in zip(NAMES, ranges, strict=True)]
    decision = decide(leads, RULE)
    for place, criterion in enumerate(decision.criteria):
        values = {result[place] for result in results}
        assert criterion.holds == (values.pop() if len(values) == 1 else None)
    assert {result[4] for result in results} <= set(decision.possible)
