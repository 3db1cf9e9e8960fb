"""Moments of a printed distribution against every vertex, a linear program and Frank-Wolfe."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from countback.claims import distribution
from countback.claims.interval import Interval
from countback.claims.reported import parse
from hypothesis import given, settings
from hypothesis import strategies as st

Vertex = tuple[Fraction, ...]


@st.composite
def printed(draw: st.DrawFn) -> tuple[list[Interval], list[Fraction]]:
    """Shares of up to five scores, each with decimals of its own, and the scores (1 to k, or any)."""
    counts = draw(st.lists(st.sampled_from([0, 1, 2, 7, 40, 300]), min_size=2, max_size=5).filter(any))
    texts = [f"{100 * c / sum(counts):.{draw(st.integers(0, 1))}f}%" for c in counts]
    ranks = [Fraction(rank) for rank in range(1, len(counts) + 1)]
    other = st.lists(st.integers(-20, 100).map(Fraction), min_size=len(counts), max_size=len(counts), unique=True)
    return [parse(text).interval for text in texts], draw(st.just(ranks) | other)


def vertices(shares: list[Interval]) -> list[Vertex]:
    """All shares at an end but one, which takes the rest: the corners of what adds to 100."""
    found = []
    for free in range(len(shares)):
        rest = [share for i, share in enumerate(shares) if i != free]
        for ends in product(*((max(s.low, Fraction(0)), s.high) for s in rest)):
            left = 100 - sum(ends)
            if max(shares[free].low, 0) <= left <= shares[free].high:
                found.append((*ends[:free], left, *ends[free:]))
    return found


def moments(shares: Vertex, scores: list[Fraction]) -> tuple[Fraction, Fraction]:
    mean = sum(p * s for p, s in zip(shares, scores, strict=True)) / 100
    return mean, sum(p * (s - mean) ** 2 for p, s in zip(shares, scores, strict=True)) / 100


@given(printed())
@settings(deadline=None, max_examples=150)
def test_mean_and_least_sd_are_those_of_the_corners(case):
    shares, scores = case
    found = [moments(vertex, scores) for vertex in vertices(shares)]
    means, variances = [mean for mean, _ in found], [variance for _, variance in found]
    assert distribution.mean(shares, scores) == Interval(min(means), max(means))
    low = distribution.sd(shares, scores).low
    assert low**2 <= min(variances) <= (low + Fraction(1, 10**17)) ** 2  # the variance is concave


@given(printed())
@settings(deadline=None, max_examples=100)
def test_greatest_sd_is_reached_and_never_passed(case):
    """Frank-Wolfe with exact line search climbs to the maximum of the (concave) variance from below."""
    shares, scores = case
    corners = np.array(vertices(shares), dtype=float) / 100
    values = np.array(scores, dtype=float)
    at = corners.mean(axis=0)
    for _ in range(400):
        mean = at @ values
        step = corners[np.argmax(corners @ (values - mean) ** 2)] - at  # the gradient of the variance, up to a constant
        slope, curve = step @ (values - mean) ** 2, (step @ values) ** 2
        if slope <= 1e-12:
            break
        at = at + step * min(1.0, slope / (2 * curve) if curve else 1.0)
    reached = float(np.sqrt(at @ (values - at @ values) ** 2))
    high = float(distribution.sd(shares, scores).high)
    assert reached <= high * (1 + 1e-9)
    assert high - reached <= 1e-4 * (1 + high)


@given(printed())
@settings(deadline=None, max_examples=150)
def test_median_is_possible_where_some_distribution_has_it(case):
    """A middle score needs at most half below and at most half above: the corners decide."""
    shares, scores = case
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    found = []
    for place, i in enumerate(order):
        below = [sum(vertex[j] for j in order[:place]) for vertex in vertices(shares)]
        above = [sum(vertex[j] for j in order[place + 1 :]) for vertex in vertices(shares)]
        if min(below) <= 50 and min(above) <= 50:  # then both at once: on the way from one corner to the other
            found.append(scores[i])
    assert distribution.median(shares, scores) == Interval(min(found), max(found))
