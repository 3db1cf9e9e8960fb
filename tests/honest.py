"""Honest tables: true values, printed by a rule that papers use. What a check must never flag.

`honest_cases(rng)` yields (relation, printed operands, printed target, extra) whose target follows exactly from
the true values behind the printed operands. Everything is printed with the same rule and random numbers of decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from random import Random
from typing import Any


def show(value: Fraction, places: int, rule: str) -> str:
    """Print a value with `places` decimals, as a paper would."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return str(exact.quantize(Decimal(1).scaleb(-places), rounding=rule))


def honest_cases(rng: Random) -> Iterator[tuple[str, list[str], str, dict[str, Any]]]:
    """One simulated table: every value relation once, on true values of four decimals."""
    rule = rng.choice([ROUND_HALF_UP, ROUND_HALF_EVEN])
    places = rng.randint(0, 3)

    def draw(low: int, high: int) -> Fraction:
        return Fraction(rng.randint(low * 10**4, high * 10**4), 10**4)

    def out(value: Fraction, more: int = 0) -> str:
        return show(value, places + more, rule)

    x = [draw(1, 5) for _ in range(rng.randint(2, 18))]
    shown = [out(value) for value in x]
    a, b = draw(-9, 9), draw(1, 9)
    yield "sum", shown, out(sum(x, Fraction(0))), {}
    yield "mean", shown, out(sum(x, Fraction(0)) / len(x)), {}
    yield "range", shown, out(max(x) - min(x)), {}
    yield "max", shown, out(max(x)), {}
    yield "min", shown, out(min(x)), {}
    ordered, half = sorted(x), len(x) // 2
    median = ordered[half] if len(x) % 2 else (ordered[half - 1] + ordered[half]) / 2
    yield "median", shown, out(median), {}
    yield "difference", [out(a), out(b)], out(a - b), {}
    yield "ratio", [out(a), out(b)], out(a / b, 1), {}
    yield "product", [out(a), out(b)], out(a * b), {}
    yield "percent", [out(a), out(b)], out(100 * a / b), {}
    yield "change", [out(b), out(a)], out(100 * (a - b) / b), {}
    weights = [rng.randint(1, 500) for _ in x]
    weighted = sum((w * v for w, v in zip(weights, x, strict=True)), Fraction(0)) / sum(weights)
    yield "weighted-mean", shown, out(weighted), {"weights": [str(w) for w in weights]}
    n = rng.randint(5, 3000)
    k = rng.randint(0, n)
    yield "count-share", [], show(Fraction(100 * k, n), places, rule), {"n": [str(n)]}
    parts = [(rng.randint(0, m), m) for m in (rng.randint(5, 400) for _ in range(4))]
    hits, cases = sum(p[0] for p in parts), sum(p[1] for p in parts)
    yield (
        "joint-share",
        [show(Fraction(100 * hit, m), places, rule) for hit, m in parts],
        show(Fraction(100 * hits, cases), places, rule),
        {"n": [str(m) for _, m in parts]},
    )
    counts = [rng.randint(0, 400) for _ in range(5)]
    counts[rng.randrange(5)] += 1
    everyone = sum(counts)
    shares = [show(Fraction(100 * c, everyone), 1, rule) for c in counts]
    mean = Fraction(sum(c * s for c, s in zip(counts, range(1, 6), strict=True)), everyone)
    variance = Fraction(sum(c * s * s for c, s in zip(counts, range(1, 6), strict=True)), everyone) - mean**2
    yield "moment-mean", shares, show(mean, 2, rule), {}
    root = Fraction(math.isqrt(variance.numerator * 10**24 // variance.denominator), 10**12)
    yield "moment-sd", shares, show(root, 2, rule), {}
