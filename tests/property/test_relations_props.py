"""Honest tables are never flagged, whatever the numbers and the rounding rule; a far enough digit always is."""

from __future__ import annotations

from random import Random

from countback.claims.interval import Interval
from countback.claims.predicates import PREDICATES
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import Reported, parse
from honest import honest_cases
from hypothesis import given, settings
from hypothesis import strategies as st


def rounded(text: str) -> Reported:
    return parse(text, exact=False)


def implied(relation: str, shown: list[str], target: str, extra: dict[str, list[str]]) -> Interval:
    return VALUES[relation](
        [rounded(text).interval for text in shown],
        Extra(
            weights=tuple(parse(w).interval for w in extra.get("weights", ())),
            n=tuple(parse(n).interval for n in extra.get("n", ())),
            target=rounded(target).interval,
        ),
    )


@given(st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_honest_numbers_are_never_flagged(seed):
    for relation, shown, target, extra in honest_cases(Random(seed)):
        if relation in ("ratio", "percent", "change") and any(
            rounded(t).interval.low <= 0 for t in shown[-1:] + shown[:1]
        ):
            continue  # a divisor that may be zero is uninformative, and said so
        assert implied(relation, shown, target, extra).meets(rounded(target).interval), (relation, shown, target, extra)


@given(st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_a_target_moved_past_the_implied_interval_is_flagged(seed):
    for relation, shown, target, extra in honest_cases(Random(seed)):
        if relation in ("ratio", "percent", "change", "count-share", "joint-share"):
            continue
        bounds = implied(relation, shown, target, extra)
        step = rounded(target).step
        far = rounded(target).value + bounds.width + 3 * step
        moved = Interval(far - step / 2, far + step / 2)
        assert not bounds.meets(moved), (relation, shown, target)


@given(st.lists(st.decimals(-50, 50, places=4), min_size=3, max_size=12), st.integers(0, 3))
@settings(deadline=None)
def test_true_orders_are_never_flagged(values, places):
    shown = [rounded(f"{value:.{places}f}").interval for value in sorted(values)]
    assert PREDICATES["ascending"](shown, Extra()).possible
    assert PREDICATES["descending"](shown[::-1], Extra()).possible
    assert PREDICATES["highest"]([shown[-1], *shown], Extra()).possible
    assert PREDICATES["lowest"]([shown[0], *shown], Extra()).possible
    assert PREDICATES["inside"]([shown[1], shown[0], shown[-1]], Extra()).possible
    assert PREDICATES["at-least"]([shown[-1], shown[0]], Extra()).possible
