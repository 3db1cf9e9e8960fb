"""Score intervals and the exact test of McNemar: published values, hand arithmetic, and the defining equations."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from countback.models.proportions import mcnemar_exact, wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_newcombes_examples(hits, n, low, high):
    """Newcombe (1998), Statistics in Medicine 17, Table I, method 3: score without continuity correction."""
    share = wilson(hits, n)
    assert round(share.low, 4) == low
    assert round(share.high, 4) == high


def test_a_share_of_one_half_by_hand():
    # z = 1.959964, z^2 = 3.841459; 5 of 10: middle (5 + 1.920729) / 13.841459 = 1/2,
    # half sqrt(3.841459 * (10/4 + 3.841459/4)) / 13.841459 = sqrt(13.292850) / 13.841459 = 0.263407
    share = wilson(5, 10)
    assert share.value == Fraction(1, 2)
    assert share.low == pytest.approx(0.5 - 0.263407, abs=1e-6)
    assert share.high == pytest.approx(0.5 + 0.263407, abs=1e-6)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 30), (30, 30), (1, 30), (29, 30), (46, 270), (3, 7)])
def test_the_ends_solve_the_score_equation(hits, n, level):
    """p is an end when the observed share lies z standard errors, those of p itself, from it; z by bisection on erf."""
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle / math.sqrt(2)) < level else (low, middle)
    share = wilson(hits, n, level)
    for end in (share.low, share.high):
        assert (hits / n - end) ** 2 == pytest.approx(low**2 * end * (1 - end) / n, abs=1e-12)
    assert share.low <= hits / n <= share.high
    assert share.low < share.high
    mirrored = wilson(n - hits, n, level)  # calling yes no turns the interval round
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((share.low, share.high), abs=1e-12)


def test_a_share_of_nothing_and_an_impossible_one_are_refused():
    for hits, n in [(0, 0), (-1, 10), (11, 10)]:
        with pytest.raises(ValueError, match="expected 0 <= hits <= n"):
            wilson(hits, n)
    for level in (0.0, 1.0, 95):
        with pytest.raises(ValueError, match="level"):
            wilson(1, 2, level)


def test_a_published_exact_p():
    """Fay (2010), exact2x2: discordant pairs 9 and 2 give p = 0.06543, here 2 (1 + 11 + 55) / 2^11."""
    assert mcnemar_exact(9, 2) == Fraction(134, 2048)


@pytest.mark.parametrize("changed", range(9))
def test_exact_p_by_listing_every_outcome(changed):
    """Each changed item goes either way with probability 1/2: how many outcomes are as uneven as the one seen."""
    outcomes = [sum(way) for way in product([0, 1], repeat=changed)]
    for gained in range(changed + 1):
        uneven = abs(2 * gained - changed)
        as_uneven = sum(abs(2 * other - changed) >= uneven for other in outcomes)
        assert mcnemar_exact(gained, changed - gained) == Fraction(as_uneven, len(outcomes))


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="expected counts"):
        mcnemar_exact(-1, 3)
