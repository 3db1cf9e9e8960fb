"""Honest tables are never flagged, whatever the numbers and the rounding rule; a far enough digit always is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from countback.claims.arithmetic import judge_relation
from countback.claims.interval import Interval
from countback.claims.registry import Claim
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import parse
from countback.claims.verdict import FINDINGS
from honest import RULES, claim, honest_claims
from hypothesis import assume, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_honest_numbers_are_never_flagged(rule, seed):
    for honest in honest_claims(Random(seed), rule):
        verdict = judge_relation(honest)
        assert verdict.verdict not in FINDINGS, (rule, honest.check)
        assert judge_relation(honest, rule).verdict not in FINDINGS, (rule, honest.check)
        if rule != "truncation":
            assert "truncation" not in verdict.reason, (rule, honest.check)
            assert judge_relation(honest, "half-up-or-down").verdict not in FINDINGS, (rule, honest.check)


def moved(honest: Claim, by: int) -> Claim:
    """The claim with its target moved by so many units of the last digit."""
    assert honest.check is not None
    assert honest.check.target is not None
    number = parse(honest.check.target.text, exact=False)
    away = number.value + by * number.step
    text = f"{float(away):.{len(honest.check.target.text.partition('.')[2])}f}"
    target = replace(honest.check.target, text=text, number=parse(text, exact=False))
    return replace(honest, check=replace(honest.check, target=target))


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_a_target_moved_past_the_implied_interval_is_flagged(seed):
    for honest in honest_claims(Random(seed), "half-even"):
        verdict = judge_relation(honest, "half-up-or-down")
        if honest.check is None or honest.check.target is None or verdict.interval is None:
            continue
        width = Fraction(verdict.interval[1]) - Fraction(verdict.interval[0])
        step = parse(honest.check.target.text, exact=False).step
        far = int(width / step) + 3
        if honest.id in ("count-share", "joint-share"):  # a share beside it may print so too
            continue
        for by in (far, -far):
            assert judge_relation(moved(honest, by), "half-up-or-down").verdict == "inconsistent", honest.check


@given(st.integers(-9999, 9999), st.integers(0, 3), st.sampled_from([-1, 1]))
@settings(deadline=None)
def test_one_unit_is_seen_where_one_number_is_printed_twice(units, places, slip):
    text, other = (f"{units + by:+d}" for by in (0, slip))
    texts = [f"{float(Fraction(int(t), 10**places)):.{places}f}" for t in (text, other)]
    low, high = sorted(texts, key=float)
    assume(float(low) != float(high))
    for rounding in ("", "half-up-or-down", "half-even"):
        assert judge_relation(claim("equal", [texts[0]], texts[1]), rounding).verdict == "inconsistent"
        assert judge_relation(claim("at-least", [low, high], None), rounding).verdict == "inconsistent"
        assert judge_relation(claim("mean", [texts[0], texts[0]], texts[1]), rounding).verdict == "inconsistent"


def intervals(low: int, high: int) -> st.SearchStrategy[Interval]:
    ends = st.fractions(low, high, max_denominator=20)
    return st.builds(lambda a, b: Interval(min(a, b), max(a, b)), ends, ends)


def corners(*x: Interval):
    return product(*((v.low, v.high) for v in x))


@given(st.lists(st.tuples(intervals(-5, 5), intervals(0, 4)), min_size=1, max_size=4))
@settings(deadline=None)
def test_weighted_mean_is_that_of_the_vertices(pairs):
    x, weights = [v for v, _ in pairs], [w for _, w in pairs]
    assume(sum(w.high for w in weights) > 0)
    means = [
        sum(v * w for v, w in zip(values, masses, strict=True)) / sum(masses)
        for values in corners(*x)
        for masses in corners(*weights)
        if sum(masses) > 0
    ]
    assert VALUES["weighted-mean"](x, Extra(weights=tuple(weights))) == Interval(min(means), max(means))


@given(st.lists(intervals(-5, 5), min_size=1, max_size=5))
@settings(deadline=None)
def test_range_is_as_narrow_as_can_be(x):
    found = VALUES["range"](x, Extra())
    assert found.high == max(max(values) - min(values) for values in corners(*x))
    floor = max(v.low for v in x)  # squeeze all values together as far as the intervals let them
    squeezed = [min(v.high, floor) for v in x]
    assert found.low == max(squeezed) - min(squeezed)


@given(intervals(0, 5), intervals(5, 9), intervals(0, 5), intervals(1, 4))
@settings(deadline=None)
def test_remainder_mean_is_that_of_the_vertices(overall, n, part, m):
    ends = [(o * a - p * b) / (a - b) for o, a, p, b in corners(overall, n, part, m)]
    assert VALUES["remainder-mean"]([overall, n, part, m], Extra()) == Interval(min(ends), max(ends))


PARTS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), min_size=1, max_size=4)


@given(PARTS, st.integers(0, 2), st.integers(0, 10_000))
@settings(deadline=None)
def test_shares_are_those_of_whole_counts(parts, places, target):
    """Against every combination of counts."""
    n = [cases for cases, _ in parts]
    shown = [parse(f"{100 * min(k, cases) / cases:.{places}f}%").interval for cases, k in parts]
    total = parse(f"{target / 100:.{places}f}%").interval
    counts = [
        [k for k in range(cases + 1) if share.low <= Fraction(100 * k, cases) <= share.high]
        for cases, share in zip(n, shown, strict=True)
    ]
    sums = {0}
    for ks in counts:
        sums = {s + k for s in sums for k in ks}
    possible = [Fraction(100 * s, sum(n)) for s in sums if total.low <= Fraction(100 * s, sum(n)) <= total.high]
    extra = Extra(n=tuple(Interval.of(cases) for cases in n), target=total)
    found = VALUES["joint-share"](shown, extra)
    assert found.meets(total) == bool(possible)
    assert not possible or found == Interval(min(possible), max(possible))
    alone = VALUES["count-share"]([], Extra(n=extra.n[:1], target=total))
    assert alone.meets(total) == any(total.low <= Fraction(100 * k, n[0]) <= total.high for k in range(n[0] + 1))
