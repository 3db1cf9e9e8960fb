"""Arithmetic between printed numbers, carried as exact intervals.

A *value relation* computes the interval of values that its operands allow; it agrees with the number it `equals` when
the two intervals meet. A *predicate* says whether something can hold at all (`sorted`, `inside`, `at least` ...): it
disagrees only when no choice of unrounded values makes it true.

    relation             of                                   more              gives
    equal                one number                                             itself
    sum mean product     any numbers                                            -
    median min max range any numbers                                            range is max - min
    count distinct       anything (also cells without numbers)                  how many there are, how many differ
    weighted-mean        any numbers                          weights = [...]   sum(w x) / sum(w)
    difference ratio     two numbers                                            a - b, a / b
    percent              two numbers                                            100 a / b
    change               two numbers                                            100 (b - a) / a
    remainder            total then parts                                       total - sum(parts)
    remainder-mean       overall, its n, known mean, its n                      mean of the rest
    choose               two counts                                             C(n, k)
    count-share          integers k of n                      n = ...           the percentages 100 k / n that exist
    joint-share          percentages                          n = [...]         percentages that integers meet together
    moment-mean moment-sd moment-median   percentages at scores 1..k (or scores = [...])   of that distribution
    ci-low ci-high       point, sd (or a percentage)          n = ...           that end of a 95% bootstrap interval
    matching             two equally long lists: how many pairs have a >= b (an interval of counts)
    formula              names                                expr = "a * b"    + - * / abs min max

Predicates are in `countback.claims.predicates`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from countback.claims.interval import Interval, total
from countback.claims.reported import Reported
from countback.fetch.errors import UserError

Numbers = Sequence[Interval]


@dataclass(frozen=True)
class Extra:
    """What a relation may need beside its operands; every field is optional."""

    weights: tuple[Interval, ...] = ()
    n: tuple[Interval, ...] = ()
    scores: tuple[Fraction, ...] = ()
    names: tuple[str, ...] = ()
    expr: str = ""
    resamples: int = 0
    target: Interval | None = None  # what the relation is compared with, for count-share and joint-share
    texts: tuple[str, ...] = ()
    reported: tuple[Reported, ...] = field(default=())


def _mean(x: Numbers, extra: Extra) -> Interval:
    return total(x) / Interval.of(len(x))


def _weighted_mean(x: Numbers, extra: Extra) -> Interval:
    """Exact bounds of sum(w x) / sum(w), w in intervals: each bound is at a vertex that a threshold on x finds."""
    if len(extra.weights) != len(x):
        raise UserError(f"weighted-mean has {len(x)} numbers and {len(extra.weights)} weights; give one each")
    if any(w.low < 0 for w in extra.weights) or sum(w.high for w in extra.weights) == 0:
        raise UserError("weighted-mean needs weights of zero or more, not all zero")
    pairs = list(zip(x, extra.weights, strict=True))
    lows = [_heaviest([(v.low, w) for v, w in pairs], to_low=True)]
    highs = [_heaviest([(v.high, w) for v, w in pairs], to_low=False)]
    return Interval(min(lows), max(highs))


def _heaviest(pairs: list[tuple[Fraction, Interval]], *, to_low: bool) -> Fraction:
    ordered = sorted(pairs, key=lambda pair: pair[0], reverse=not to_low)
    best: Fraction | None = None
    for cut in range(len(ordered) + 1):
        weights = [w.high if index < cut else w.low for index, (_, w) in enumerate(ordered)]
        mass = sum(weights, Fraction(0))
        if mass > 0:
            value = sum((w * v for w, (v, _) in zip(weights, ordered, strict=True)), Fraction(0)) / mass
            best = value if best is None else (min if to_low else max)(best, value)
    assert best is not None
    return best


def _extreme(pick: Callable[[list[Fraction]], Fraction]) -> Callable[[Numbers, Extra], Interval]:
    return lambda x, extra: Interval(pick([v.low for v in x]), pick([v.high for v in x]))


def _median(values: list[Fraction]) -> Fraction:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _range(x: Numbers, extra: Extra) -> Interval:
    highest, lowest = max(v.high for v in x), min(v.low for v in x)
    surely = max(v.low for v in x) - min(v.high for v in x)
    return Interval(max(surely, Fraction(0)), highest - lowest)


def pair(x: Numbers, name: str) -> tuple[Interval, Interval]:
    """The two operands of a relation that takes two."""
    if len(x) != 2:
        raise UserError(f"{name} takes two numbers, found {len(x)}; name both in `of`")
    return x[0], x[1]


def _product(x: Numbers, extra: Extra) -> Interval:
    result = Interval.of(1)
    for value in x:
        result = result * value
    return result


def _difference(x: Numbers, extra: Extra) -> Interval:
    a, b = pair(x, "difference")
    return a - b


def _ratio(x: Numbers, extra: Extra) -> Interval:
    a, b = pair(x, "ratio")
    return a / b


def _percent(x: Numbers, extra: Extra) -> Interval:
    a, b = pair(x, "percent")
    return Interval.of(100) * a / b


def _change(x: Numbers, extra: Extra) -> Interval:
    a, b = pair(x, "change")
    return Interval.of(100) * (b / a - Interval.of(1))


def _remainder(x: Numbers, extra: Extra) -> Interval:
    return x[0] - total(x[1:])


def _remainder_mean(x: Numbers, extra: Extra) -> Interval:
    if len(x) != 4:
        raise UserError(f"remainder-mean takes overall, n, part, n of the part; found {len(x)} numbers")
    overall, n, part, m = x
    return (overall * n - part * m) / (n - m)


def _choose(x: Numbers, extra: Extra) -> Interval:
    n, k = (whole(value, "choose") for value in pair(x, "choose"))
    return Interval.of(math.comb(n, k))


def whole(value: Interval, name: str) -> int:
    """An exact count as an int; raises UserError for anything else."""
    if value.width or value.low.denominator != 1 or value.low < 0:
        raise UserError(f"{name} needs whole numbers of zero or more, found {float(value.low)} to {float(value.high)}")
    return int(value.low)


def integers_in(percentage: Interval, n: int) -> tuple[int, int]:
    """The smallest and largest k (0..n) with 100 k / n in the interval; empty (first > last) when there is none."""
    return max(0, math.ceil(percentage.low * n / 100)), min(n, math.floor(percentage.high * n / 100))


def _count_share(x: Numbers, extra: Extra) -> Interval:
    """The percentage 100 k / n nearest to the target (all of those that meet it): GRIM for a share."""
    if len(extra.n) != 1 or extra.target is None:
        raise UserError("count-share needs n = the number of cases and a printed percentage in `equals`")
    n = whole(extra.n[0], "count-share")
    if n == 0:
        raise UserError("count-share needs n above zero")
    first, last = integers_in(extra.target, n)
    if first > last:
        near = min((first, last), key=lambda k: abs(Fraction(100 * k, n) - extra.target.mid))  # type: ignore[union-attr]
        return Interval.of(Fraction(100 * near, n))
    return Interval.of(Fraction(100 * first, n), Fraction(100 * last, n))


def _joint_share(x: Numbers, extra: Extra) -> Interval:
    """The total percentage that whole counts behind the parts' percentages can add to."""
    if len(extra.n) != len(x):
        raise UserError(f"joint-share has {len(x)} percentages and {len(extra.n)} values of n; give one for each")
    counts = [integers_in(p, whole(n, "joint-share")) for p, n in zip(x, extra.n, strict=True)]
    if any(first > last for first, last in counts):
        raise UserError("joint-share: one part is no whole count of its n; check it with count-share first")
    cases = total(extra.n).low
    return Interval.of(
        Fraction(100 * sum(c[0] for c in counts)) / cases, Fraction(100 * sum(c[1] for c in counts)) / cases
    )


def _scores(x: Numbers, extra: Extra) -> tuple[Fraction, ...]:
    scores = extra.scores or tuple(Fraction(k) for k in range(1, len(x) + 1))
    if len(scores) != len(x):
        raise UserError(f"the distribution has {len(x)} percentages and {len(scores)} scores; give one score for each")
    return scores


def _linear_bounds(shares: Numbers, weight: Sequence[Fraction]) -> Interval:
    """Bounds of sum(w p) / 100 over percentages p in their intervals that add to exactly 100 (greedy is exact)."""
    room = Fraction(100) - sum(p.low for p in shares)
    if room < 0 or sum(p.high for p in shares) < 100:
        raise UserError("the printed distribution cannot add to 100%; check its sum first")
    ends = []
    rising = sorted(range(len(shares)), key=lambda i: weight[i])
    for order in (rising, rising[::-1]):
        left, value = room, sum((w * p.low for w, p in zip(weight, shares, strict=True)), Fraction(0))
        for i in order:
            step = min(left, shares[i].width)
            value += step * weight[i]
            left -= step
        ends.append(value / 100)
    return Interval(ends[0], ends[1])


def _moment_mean(x: Numbers, extra: Extra) -> Interval:
    return _linear_bounds(x, _scores(x, extra))


def _moment_sd(x: Numbers, extra: Extra) -> Interval:
    """var = E(s - c)^2 - (mean - c)^2 for any fixed c; with c inside the mean's interval the second part is tiny."""
    scores = _scores(x, extra)
    mean = _linear_bounds(x, scores)
    about = _linear_bounds(x, [(s - mean.mid) ** 2 for s in scores])
    return (about - Interval.of(0, (mean.width / 2) ** 2)).sqrt()


def _moment_median(x: Numbers, extra: Extra) -> Interval:
    """Scores whose share below is at most half and share above at most half, for some distribution that prints so."""
    scores = _scores(x, extra)
    possible = [score for i, score in enumerate(scores) if total(x[:i]).low <= 50 and total(x[i + 1 :]).low <= 50]
    if not possible:
        raise UserError("the printed distribution has no median; check its sum first")
    return Interval(min(possible), max(possible))


Z95 = Interval(Fraction(195996, 100000), Fraction(195997, 100000))
BOOTSTRAP_SIGMAS = 4


def _ci_end(sign: int) -> Callable[[Numbers, Extra], Interval]:
    """An end of a 95% percentile bootstrap interval of a mean: point +- z sd / sqrt(n), widened by what B draws leave.

    The end is the 2.5% quantile of B draws; its Monte Carlo sd is sqrt(p (1 - p) / B) / phi(z) standard errors, 0.0845
    of one at B = 1000. Four of those are allowed, and the second-order skew that a bounded score can add (0.1 se).
    """

    def end(x: Numbers, extra: Extra) -> Interval:
        if len(x) != 2 or len(extra.n) != 1:
            raise UserError("ci-low and ci-high take a point and an sd (or the same percentage twice), and n")
        point, sd = x
        spread = sd if extra.names != ("binomial",) else (sd * (Interval.of(100) - sd)).sqrt()
        se = spread / extra.n[0].sqrt()
        noise = Fraction(2672, 1000) / Fraction(math.isqrt(max(extra.resamples, 1) * 10**6), 1000) * BOOTSTRAP_SIGMAS
        slack = noise + Fraction(1, 10)
        reach = (Z95 + Interval.of(-slack, slack)) * se
        return point - reach if sign < 0 else point + reach

    return end


def _matching(x: Numbers, extra: Extra) -> Interval:
    """How many of the pairs (first half against second half) have a >= b: surely, and at most."""
    half = len(x) // 2
    pairs = list(zip(x[:half], x[half:], strict=True))
    return Interval.of(sum(a.low >= b.high for a, b in pairs), sum(a.high >= b.low for a, b in pairs))


def _formula(x: Numbers, extra: Extra) -> Interval:
    names = dict(zip(extra.names, x, strict=True))
    tree = _tree(extra.expr)

    def value(node: ast.expr) -> Interval:
        match node:
            case ast.Constant(value=int() | float()):
                return Interval.of(Fraction(ast.unparse(node)))
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() as op, right=right):
                a, b = value(left), value(right)
                if isinstance(op, ast.Add):
                    return a + b
                if isinstance(op, ast.Sub):
                    return a - b
                return a * b if isinstance(op, ast.Mult) else a / b
            case ast.Call(func=ast.Name(id="abs"), args=[argument], keywords=[]):
                return abs(value(argument))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, *_] as arguments, keywords=[]):
                return _extreme(min if name == "min" else max)([value(a) for a in arguments], extra)
        found = ast.unparse(node)
        raise UserError(
            f'formula "{extra.expr}" may use + - * / ( ) abs min max, numbers and {sorted(names)}; found "{found}"'
        )

    return value(tree)


@lru_cache
def _tree(expr: str) -> ast.expr:
    try:
        return ast.parse(expr, mode="eval").body
    except SyntaxError:
        raise UserError(f'formula "{expr}" cannot be read; write it like "(a - b) / c"') from None


VALUES: dict[str, Callable[[Numbers, Extra], Interval]] = {
    "equal": lambda x, extra: x[0],
    "sum": lambda x, extra: total(x),
    "mean": _mean,
    "median": _extreme(_median),
    "min": _extreme(min),
    "max": _extreme(max),
    "range": _range,
    "product": _product,
    "count": lambda x, extra: Interval.of(len(extra.texts)),
    "distinct": lambda x, extra: Interval.of(len(set(extra.texts))),
    "weighted-mean": _weighted_mean,
    "difference": _difference,
    "ratio": _ratio,
    "percent": _percent,
    "change": _change,
    "remainder": _remainder,
    "remainder-mean": _remainder_mean,
    "choose": _choose,
    "count-share": _count_share,
    "joint-share": _joint_share,
    "moment-mean": _moment_mean,
    "moment-sd": _moment_sd,
    "moment-median": _moment_median,
    "ci-low": _ci_end(-1),
    "ci-high": _ci_end(+1),
    "matching": _matching,
    "formula": _formula,
}
