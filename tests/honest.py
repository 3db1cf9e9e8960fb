"""Honest tables: true values, printed by a rule that papers use. What a check must never flag.

`honest_claims(rng, rule)` yields claims whose target follows exactly from the true values behind the printed operands.
Everything of one table is printed by the same rule and with the same decimals; half of the true values are ties of that
rounding, where the rules differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random

from countback.claims.registry import Check, Claim, Operand
from countback.claims.reported import parse

RULES = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN, "truncation": ROUND_DOWN}


def show(value: Fraction, places: int, rule: str) -> str:
    """Print a value with `places` decimals, as a paper would."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return str(exact.quantize(Decimal(1).scaleb(-places), rounding=RULES[rule]))


def claim(
    relation: str,
    of: list[str],
    equals: str | None,
    *,
    exact: tuple[str, ...] = (),
    weights: tuple[str, ...] = (),
    n: tuple[str, ...] = (),
) -> Claim:
    """A claim on printed numbers; `exact` are operands behind `of` that are counts, as weights and n always are."""

    def operands(texts: tuple[str, ...] | list[str], counts: bool, first: int = 0) -> tuple[Operand, ...]:
        return tuple(Operand(f"t|{first + i}|x", text, parse(text, exact=counts)) for i, text in enumerate(texts))

    target = Operand("t|target|x", equals, parse(equals, exact=False)) if equals is not None else None
    check = Check(
        relation,
        operands(of, False) + operands(exact, True, len(of)),
        target,
        weights=operands(weights, True, 100),
        n=operands(n, True, 200),
    )
    return Claim(relation, "honest", "arithmetic", {}, "a made-up number", equals or "", None, check=check)


def honest_claims(rng: Random, rule: str) -> Iterator[Claim]:
    """One simulated table: every relation once."""
    places = rng.randint(0, 3)

    def draw(low: int, high: int) -> Fraction:
        scale = rng.choice([10**4, 2 * 10**places])  # a multiple of half a unit is a tie every second time
        return Fraction(rng.randint(low * scale, high * scale), scale)

    def out(value: Fraction, more: int = 0) -> str:
        return show(value, places + more, rule)

    x = [draw(-3, 5) for _ in range(rng.randint(2, 18))]
    shown = [out(value) for value in x]
    a, b = draw(-9, 9), draw(1, 9)
    yield claim("equal", [out(a, 1)], out(a))
    yield claim("equal", [out(a)], out(a, 1))
    yield claim("sum", shown, out(sum(x, Fraction(0))))
    yield claim("mean", shown, out(sum(x, Fraction(0)) / len(x)))
    yield claim("mean", shown[:2], out((x[0] + x[1]) / 2))
    yield claim("range", shown, out(max(x) - min(x)))
    yield claim("max", shown, out(max(x)))
    yield claim("min", shown, out(min(x)))
    ordered, half = sorted(x), len(x) // 2
    median = ordered[half] if len(x) % 2 else (ordered[half - 1] + ordered[half]) / 2
    yield claim("median", shown, out(median))
    yield claim("difference", [out(a), out(b)], out(a - b))
    yield claim("remainder", [out(a), *shown], out(a - sum(x, Fraction(0))))
    yield claim("ratio", [out(a), out(b)], out(a / b, 1))
    yield claim("product", [out(a), out(b)], out(a * b))
    yield claim("percent", [out(a), out(b)], out(100 * a / b))
    yield claim("change", [out(b), out(a)], out(100 * (a - b) / b))
    weights = [rng.randint(1, 500) for _ in x]
    weighted = sum((w * v for w, v in zip(weights, x, strict=True)), Fraction(0)) / sum(weights)
    yield claim("weighted-mean", shown, out(weighted), weights=tuple(str(w) for w in weights))
    above = sum(p >= q for p, q in zip(x[:half], x[half : 2 * half], strict=True))
    yield claim("matching", shown[: 2 * half], str(above))
    yield from _counts(rng, places, rule)
    yield from _orders(x, shown, rng, rule)


def _counts(rng: Random, places: int, rule: str) -> Iterator[Claim]:
    """Shares of counts, and the distribution of scores from 1 to 5."""
    n = rng.choice([rng.randint(5, 3000), 8, 40, 200])  # of these, many a share is a tie
    yield claim("count-share", ["0"], show(Fraction(100 * rng.randint(0, n), n), places, rule), n=(str(n),))
    parts = [(rng.randint(0, m), m) for m in (rng.choice([rng.randint(5, 400), 8, 40]) for _ in range(4))]
    hits, cases = sum(p[0] for p in parts), sum(p[1] for p in parts)
    yield claim(
        "joint-share",
        [show(Fraction(100 * hit, m), places, rule) for hit, m in parts],
        show(Fraction(100 * hits, cases), places, rule),
        n=tuple(str(m) for _, m in parts),
    )
    counts = [rng.choice([0, rng.randint(0, 400)]) for _ in range(5)]
    counts[rng.randrange(5)] += 1
    everyone = sum(counts)
    shares = [show(Fraction(100 * c, everyone), 1, rule) for c in counts]
    mean = Fraction(sum(c * s for c, s in zip(counts, range(1, 6), strict=True)), everyone)
    squares = Fraction(sum(c * s * s for c, s in zip(counts, range(1, 6), strict=True)), everyone)
    root = Fraction(math.isqrt(int((squares - mean**2) * 10**24)), 10**12)
    people = [score for score, count in zip(range(1, 6), counts, strict=True) for _ in range(count)]
    middle = Fraction(people[(everyone - 1) // 2] + people[everyone // 2], 2)
    yield claim("moment-mean", shares, show(mean, 2, rule))
    yield claim("moment-sd", shares, show(root, 2, rule))
    yield claim("moment-median", shares, show(middle, 1, rule))
    m, total = rng.randint(1, 50), rng.randint(51, 200)
    known, overall = Fraction(rng.randint(0, 5 * m), m), Fraction(rng.randint(0, 5 * total), total)
    rest = (overall * total - known * m) / (total - m)
    yield Claim(
        "remainder-mean",
        "honest",
        "arithmetic",
        {},
        "a made-up number",
        "",
        None,
        check=_remainder_mean(show(overall, 3, rule), total, show(known, 3, rule), m, show(rest, 2, rule)),
    )


def _remainder_mean(overall: str, n: int, known: str, m: int, rest: str) -> Check:
    numbers = [(overall, False), (str(n), True), (known, False), (str(m), True)]
    of = tuple(Operand(f"t|{i}|x", text, parse(text, exact=exact)) for i, (text, exact) in enumerate(numbers))
    return Check("remainder-mean", of, Operand("t|target|x", rest, parse(rest, exact=False)))


def _orders(x: list[Fraction], shown: list[str], rng: Random, rule: str) -> Iterator[Claim]:
    """What is in order is printed in order, each number with decimals of its own."""
    ranks = sorted(range(len(x)), key=lambda i: x[i])
    mixed = [show(x[i], rng.randint(0, 3), rule) for i in ranks]
    yield claim("ascending", mixed, None)
    yield claim("descending", mixed[::-1], None)
    yield claim("highest", [mixed[-1], *mixed], None)
    yield claim("lowest", [mixed[0], *mixed], None)
    for low, high in list(pairwise(mixed))[:3]:
        yield claim("at-most", [low, high], None)
        yield claim("at-least", [high, low], None)
    if len(x) > 2:
        yield claim("inside", [mixed[1], mixed[0], mixed[-1]], None)
    strict = [(i, j) for i, j in pairwise(ranks) if x[i] < x[j]][:3]
    for i, j in strict:
        yield claim("less-than", [shown[i], shown[j]], None)
        yield claim("more-than", [shown[j], shown[i]], None)
