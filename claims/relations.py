"""Arithmetic between printed numbers, carried as exact intervals.

A *value relation* computes the interval of values that its operands allow; it agrees with the number it `equals` when
the two intervals meet. The interval is the smallest one wherever each operand stands once; a formula that names one
twice gets a wider one, never a narrower. A *predicate* says whether something can hold at all (`ascending`, `inside`,
`at-least` ...): it disagrees only when no choice of unrounded values makes it true.

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
                                          (moment-sd with n = ... allows the sample's sd beside the population's)
    ci-low ci-high       point, sd (or a percentage twice)    n = ..., resamples = ...   that end of a 95% interval
    matching             two equally long lists: how many pairs have a >= b (an interval of counts)
    formula              names                                expr = "a * b"    + - * / abs min max

Predicates are in `countback.claims.predicates`.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from countback.claims import distribution
from countback.claims.interval import Contradiction, Interval, short, total
from countback.claims.reported import Reported
from countback.fetch.errors import UserError

Numbers = Sequence[Interval]
LONGEST = 400  # characters of a formula
PLAIN = re.compile(r"[0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,3})?")  # a number in it


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


def _equal(x: Numbers, extra: Extra) -> Interval:
    if len(x) != 1:
        raise UserError(f"equal takes one number beside `equals`, found {len(x)}; write one relation for each")
    return x[0]


def _mean(x: Numbers, extra: Extra) -> Interval:
    return total(x) / Interval.of(len(x))


def _weighted_mean(x: Numbers, extra: Extra) -> Interval:
    """Exact bounds of sum(w x) / sum(w), w in intervals: each bound is at a vertex that a threshold on x finds."""
    if len(extra.weights) != len(x):
        raise UserError(f"weighted-mean has {len(x)} numbers and {len(extra.weights)} weights; give one each")
    if any(w.high < 0 for w in extra.weights) or sum(w.high for w in extra.weights) <= 0:
        raise UserError("weighted-mean needs weights of zero or more, not all zero")
    weights = [Interval(max(w.low, Fraction(0)), w.high) for w in extra.weights]  # "0.0" is no negative weight
    pairs = list(zip(x, weights, strict=True))
    return Interval(
        _heaviest([(v.low, w) for v, w in pairs], to_low=True), _heaviest([(v.high, w) for v, w in pairs], to_low=False)
    )


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
    """max - min; the two ends of it are two numbers, so one wide interval alone makes no range."""
    if len(x) < 2:
        return Interval.of(0)
    order = range(len(x))
    tops, bottoms = sorted(order, key=lambda i: x[i].high)[-2:], sorted(order, key=lambda i: x[i].low)[:2]
    surely = max(v.low for v in x) - min(v.high for v in x)
    widest = max(x[i].high - x[j].low for i in tops for j in bottoms if i != j)
    return Interval(max(surely, Fraction(0)), widest)


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
    if n.high <= m.low:
        raise Contradiction(f"the part has {short(m.mid)} cases, the whole {short(n.mid)}: nothing remains")
    if n.low <= m.high:
        raise ZeroDivisionError
    ends = [  # linear in each mean and in m / (n - m), so the bounds are at the vertices
        (o * whole - p * some) / (whole - some)
        for o in (overall.low, overall.high)
        for p in (part.low, part.high)
        for whole in (n.low, n.high)
        for some in (m.low, m.high)
    ]
    return Interval(min(ends), max(ends))


def _choose(x: Numbers, extra: Extra) -> Interval:
    n, k = (whole(value, "choose") for value in pair(x, "choose"))
    if min(k, n - k) > 1000:
        raise UserError(f"choose takes up to 1,000 of n (or all but 1,000), found {k} of {n}")
    return Interval.of(math.comb(n, k))


def whole(value: Interval, name: str) -> int:
    """An exact count as an int; raises UserError for anything else."""
    if value.width or value.low.denominator != 1 or value.low < 0:
        raise UserError(f"{name} needs whole numbers of zero or more, found {short(value.low)} to {short(value.high)}")
    return int(value.low)


def integers_in(percentage: Interval, n: int) -> tuple[int, int]:
    """The smallest and largest k (0..n) with 100 k / n in the interval; empty (first > last) when there is none."""
    return max(0, math.ceil(percentage.low * n / 100)), min(n, math.floor(percentage.high * n / 100))


def _shares_between(low: int, high: int, n: int, target: Interval) -> Interval:
    """The percentages 100 k / n, k = low..high, that meet the target; the nearest one where none does."""
    first, last = integers_in(target, n)
    met = max(first, low), min(last, high)
    if met[0] > met[1]:
        near = min(
            (min(max(k, low), high) for k in (first, last)), key=lambda k: abs(Fraction(100 * k, n) - target.mid)
        )
        met = near, near
    return Interval.of(Fraction(100 * met[0], n), Fraction(100 * met[1], n))


def _count_share(x: Numbers, extra: Extra) -> Interval:
    """The percentage 100 k / n nearest to the target (all of those that meet it): GRIM for a share."""
    if len(extra.n) != 1 or extra.target is None:
        raise UserError("count-share needs n = the number of cases and a printed percentage in `equals`")
    n = whole(extra.n[0], "count-share")
    if n == 0:
        raise Contradiction("a share of no cases")
    return _shares_between(0, n, n, extra.target)


def _joint_share(x: Numbers, extra: Extra) -> Interval:
    """The total percentage that whole counts behind the parts' percentages can add to."""
    if len(extra.n) != len(x):
        raise UserError(f"joint-share has {len(x)} percentages and {len(extra.n)} values of n; give one for each")
    counts = []
    for percentage, cases in zip(x, (whole(n, "joint-share") for n in extra.n), strict=True):
        first, last = integers_in(percentage, cases)
        if first > last:
            raise Contradiction(f"no whole count of {cases} is {short(percentage.mid)}%")
        counts.append((first, last))
    n = whole(total(extra.n), "joint-share")
    if n == 0:
        raise Contradiction("a share of no cases")
    low, high = sum(first for first, _ in counts), sum(last for _, last in counts)
    return _shares_between(low, high, n, extra.target or Interval.of(0, 100))


def _scores(x: Numbers, extra: Extra) -> tuple[Fraction, ...]:
    scores = extra.scores or tuple(Fraction(k) for k in range(1, len(x) + 1))
    if len(scores) != len(x):
        raise UserError(f"the distribution has {len(x)} percentages and {len(scores)} scores; give one score for each")
    return scores


def _moment_sd(x: Numbers, extra: Extra) -> Interval:
    """Of everyone; where n is given, the sample's (divided by n - 1) is allowed too."""
    found = distribution.sd(x, _scores(x, extra))
    if not extra.n:
        return found
    n = whole(extra.n[0], "moment-sd")
    if n < 2:
        raise UserError(f"moment-sd needs an n of two or more, found {n}")
    return Interval(found.low, (found.square() * Interval.of(Fraction(n, n - 1))).sqrt().high)


Z95 = Interval(Fraction(195996, 100000), Fraction(195997, 100000))
BOOTSTRAP_SIGMAS = 4


def _ci_end(sign: int) -> Callable[[Numbers, Extra], Interval]:
    """An end of a 95% percentile bootstrap interval of a mean: point +- z sd / sqrt(n), widened by what B draws leave.

    The end is the 2.5% quantile of B draws; its Monte Carlo sd is sqrt(p (1 - p) / B) / phi(z) standard errors, 0.0845
    of one at B = 1000; four of those are allowed. A skewness g moves both ends by (z^2 - 1) g sd / 6 n, and a lattice
    of whole scores by half a step, 1 / 2 n: 4 sd / n allows a skewness of 5 and an sd of 0.3. For a percentage g sd is
    known, at most 100, and the two are less than 100 / n together.
    """

    def end(x: Numbers, extra: Extra) -> Interval:
        if len(x) != 2 or len(extra.n) != 1 or extra.n[0].low < 1 or extra.resamples < 1:
            raise UserError(
                "ci-low and ci-high take a point and an sd (or the same percentage twice), an n and a number of "
                "resamples above zero"
            )
        point, n = x[0], extra.n[0]
        binomial = extra.names == ("binomial",)
        spread = _binomial_sd(x[1]) if binomial else Interval(max(x[1].low, Fraction(0)), max(x[1].high, Fraction(0)))
        noise = Fraction(2672, 1000) / Fraction(math.isqrt(extra.resamples * 10**6), 1000) * BOOTSTRAP_SIGMAS
        shape = (Fraction(100) if binomial else 4 * spread.high) / n.low
        reach = (Z95 + Interval.of(-noise, noise)) * (spread / n.sqrt()) + Interval(-shape, shape)
        return point - reach if sign < 0 else point + reach

    return end


def _binomial_sd(percentage: Interval) -> Interval:
    """sqrt(p (100 - p)), which rises up to p = 50 and falls after it."""
    ends = [p * (100 - p) for p in (max(percentage.low, Fraction(0)), min(percentage.high, Fraction(100)))]
    top = Fraction(2500) if percentage.low <= 50 <= percentage.high else max(ends)
    return Interval(min(ends), top).sqrt()


def _matching(x: Numbers, extra: Extra) -> Interval:
    """How many of the pairs (first half against second half) have a >= b: surely, and at most."""
    if len(x) % 2:
        raise UserError(f"matching takes two equally long lists, found {len(x)} numbers")
    half = len(x) // 2
    pairs = list(zip(x[:half], x[half:], strict=True))
    return Interval.of(sum(a.low >= b.high for a, b in pairs), sum(a.high >= b.low for a, b in pairs))


def _formula(x: Numbers, extra: Extra) -> Interval:
    if len(extra.names) != len(x):
        raise UserError(f"formula has {len(x)} numbers and {len(extra.names)} names; write of = {{ a = ..., b = ... }}")
    names = dict(zip(extra.names, x, strict=True))
    source = extra.expr.strip()
    tree = _tree(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if idle := [name for name in names if name not in used]:
        raise UserError(f'formula "{source}" does not use "{idle[0]}"; take it out of `of`, or use it')

    def value(node: ast.expr) -> Interval:
        match node:
            case ast.Constant() if PLAIN.fullmatch(printed := ast.get_source_segment(source, node) or ""):
                return Interval.of(Fraction(printed))  # from the text: a float would have lost digits
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
    if len(expr) > LONGEST:
        raise UserError(f'a formula has at most {LONGEST} characters, found {len(expr)}: "{expr[:40]}..."')
    try:
        with warnings.catch_warnings(action="ignore"):  # "2a" warns before it fails
            return ast.parse(expr, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a null byte; nesting
        raise UserError(f'formula "{expr:.80}" cannot be read; write it like "(a - b) / c"') from None


VALUES: dict[str, Callable[[Numbers, Extra], Interval]] = {
    "equal": _equal,
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
    "moment-mean": lambda x, extra: distribution.mean(x, _scores(x, extra)),
    "moment-sd": _moment_sd,
    "moment-median": lambda x, extra: distribution.median(x, _scores(x, extra)),
    "ci-low": _ci_end(-1),
    "ci-high": _ci_end(+1),
    "matching": _matching,
    "formula": _formula,
}
