"""Moments of a printed distribution: percentages at scores, each within its rounding interval, together 100."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from countback.claims.interval import Contradiction, Interval, total
from countback.fetch.errors import UserError


def _percentages(shares: Sequence[Interval]) -> list[Interval]:
    """The shares cut off at 0 and 100; raises Contradiction where they cannot add to 100, UserError for fractions."""
    if total(shares).high < 2:
        raise UserError("a distribution takes percentages, which add to 100; found numbers that add to about 1")
    whole = Interval.of(0, 100)
    cut = [Interval(max(p.low, whole.low), min(p.high, whole.high)) for p in shares if p.meets(whole)]
    if len(cut) < len(shares) or not sum(p.low for p in cut) <= 100 <= sum(p.high for p in cut):
        raise Contradiction("the printed distribution cannot add to 100%")
    return cut


def _fill(shares: list[Interval], weight: Sequence[Fraction]) -> list[Fraction]:
    """The percentages in their intervals that add to 100 and make sum(weight p) least: the lightest filled first."""
    filled = [p.low for p in shares]
    left = 100 - sum(filled)
    for i in sorted(range(len(shares)), key=lambda i: weight[i]):
        step = min(left, shares[i].width)
        filled[i] += step
        left -= step
    return filled


def _expected(shares: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((p * v for p, v in zip(shares, values, strict=True)), Fraction(0)) / 100


def mean(x: Sequence[Interval], scores: Sequence[Fraction]) -> Interval:
    """The mean score."""
    shares = _percentages(x)
    return Interval(
        _expected(_fill(shares, scores), scores), _expected(_fill(shares, [-score for score in scores]), scores)
    )


def sd(x: Sequence[Interval], scores: Sequence[Fraction]) -> Interval:
    """The standard deviation (of everyone: divided by n), exactly.

    The variance is the least E(s - c)^2 over c, reached at the mean, and for a given c the shares fill in the order of
    |s - c|, which changes only where c lies midway between two scores. The least variance is that of one of the
    fillings nearest first. The greatest is the least, over c, of E(s - c)^2 of the filling farthest first: a convex
    function of c whose pieces end at the midways, so its least is at a midway or at the mean of a piece's filling.
    """
    shares = _percentages(x)

    def about(centre: Fraction, sign: int) -> list[Fraction]:
        return _fill(shares, [sign * (score - centre) ** 2 for score in scores])

    def spread(filled: list[Fraction], centre: Fraction) -> Fraction:
        return _expected(filled, [(score - centre) ** 2 for score in scores])

    centre = mean(x, scores)
    orders = {(a + b) / 2 for a in scores for b in scores}
    midways = [centre.low, *sorted(m for m in orders if centre.low < m < centre.high), centre.high]
    pieces = [(a + b) / 2 for a, b in pairwise(midways)]
    near = [about(piece, +1) for piece in pieces]
    centres = [*midways, *(_expected(about(piece, -1), scores) for piece in pieces)]
    least = min(spread(filled, _expected(filled, scores)) for filled in near)
    return Interval(least, min(spread(about(centre, -1), centre) for centre in centres)).sqrt()


def median(x: Sequence[Interval], scores: Sequence[Fraction]) -> Interval:
    """Scores with at most half below and at most half above, for some distribution that prints so and adds to 100."""
    shares = _percentages(x)
    order = sorted(range(len(x)), key=lambda i: scores[i])
    possible = []
    for place, i in enumerate(order):
        below, above = (total(shares[j] for j in part) for part in (order[:place], order[place + 1 :]))
        here = shares[i]
        if max(below.low, above.low) <= 50 <= min((below + here).high, (here + above).high):
            possible.append(scores[i])
    return Interval(min(possible), max(possible))
