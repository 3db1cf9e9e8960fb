"""Shares of a count, their intervals, and the exact test for two shares of the same items.

Sources: Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22, for the score
interval; McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages",
Psychometrika 12, in its exact form: given that b + c items changed, b is binomial with probability 1/2. Corrections for
many tests are in `countback.models.nulls`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import ndtri


@dataclass(frozen=True)
class Share:
    """`hits` of `n`, exact, with the ends of its score interval at `level`; shares, not percentages."""

    hits: int
    n: int
    level: float
    low: float
    high: float

    @property
    def value(self) -> Fraction:
        return Fraction(self.hits, self.n)


def wilson(hits: int, n: int, level: float = 0.95) -> Share:
    """The share hits / n with Wilson's score interval, without continuity correction.

    Its ends are the shares p with (hits/n - p)^2 = z^2 p (1 - p) / n. Raises ValueError unless 0 <= hits <= n, n >= 1
    and 0 < level < 1: of nothing there is no share.
    """
    if not 0 <= hits <= n or n < 1:
        raise ValueError(f"found {hits} of {n}; expected 0 <= hits <= n and n >= 1")
    if not 0 < level < 1:
        raise ValueError(f"found level {level}; expected one between 0 and 1")
    z2 = float(ndtri((1 + level) / 2)) ** 2
    middle, scale = hits + z2 / 2, n + z2
    half = math.sqrt(z2 * (hits * (n - hits) / n + z2 / 4))
    low = (middle - half) / scale if hits else 0.0  # where the square root is z2 / 2 up to the last bit
    high = (middle + half) / scale if hits < n else 1.0
    return Share(hits, n, level, low, high)


def mcnemar_exact(gained: int, lost: int) -> Fraction:
    """Two-sided exact p of McNemar's test, from the items that changed to yes and those that changed to no.

    Twice the smaller binomial tail, at most 1; 1 where nothing changed. Raises ValueError for a negative count.
    """
    if min(gained, lost) < 0:
        raise ValueError(f"found {gained} and {lost} items that changed; expected counts")
    changed = gained + lost
    tail = sum(math.comb(changed, k) for k in range(min(gained, lost) + 1))
    return min(Fraction(2 * tail, 2**changed), Fraction(1))
