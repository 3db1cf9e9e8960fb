"""Predicates over printed numbers: what cannot hold for any unrounded values is inconsistent.

predicate            of                                   holds when
inside               point, low, high       low <= point <= high
at-least at-most more-than less-than equal-text        two
ascending descending two numbers or more    each step may be level
highest lowest       first is the one claimed, the rest the others (or the whole column)
dates-ascending      dates
short-hash           short form, full form  prefix and suffix agree
grim                 mean or percentage        n = ...    n whole numbers have such a mean (countback.claims.forensic)
grimmer              mean, sd                  n = ...    n whole numbers have such a mean and standard deviation
debit                mean, sd                  n = ...    n zeros and ones have such a mean and standard deviation
p-value              a test in words ("t(28) = 2.20, p = .03")   the statistic gives that p (two-tailed)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from countback.claims.interval import short
from countback.claims.relations import Extra, Numbers, pair, whole
from countback.fetch.errors import UserError


@dataclass(frozen=True)
class Held:
    """What a predicate found: can it hold, how far it fails, the numbers that decide, could it have failed."""

    possible: bool
    gap: Fraction
    shown: str
    informative: bool = True


def _ordered(x: Numbers, *, strict: bool = False) -> Held:
    """Whether some values in the intervals rise: the highest lower bound so far must not pass the next upper bound."""
    if len(x) < 2:
        raise UserError("an order takes at least two numbers, found one; name all of them in `of`")
    floor, gap, worst = x[0].low, Fraction(0), ""
    for before, now in pairwise(x):
        floor = max(floor, before.low)
        lack = floor - now.high
        if lack > gap or (strict and lack == 0 and not worst):
            gap, worst = max(lack, gap), f"{short(floor)} then {short(now.high)}"
    return Held(not worst, gap, worst or "in order")


def _inside(x: Numbers, extra: Extra) -> Held:
    if len(x) != 3:
        raise UserError(f"inside takes a point, a low and a high end; found {len(x)} numbers")
    point, low, high = x
    gap = max(low.low - point.high, point.low - high.high, low.low - high.high, Fraction(0))
    return Held(gap == 0, gap, f"{short(point.mid)} in [{short(low.mid)}, {short(high.mid)}]")


def _extremum(sign: int) -> Callable[[Numbers, Extra], Held]:
    def check(x: Numbers, extra: Extra) -> Held:
        if len(x) < 2:
            raise UserError("an extreme takes at least two numbers, found one; name the others after it in `of`")
        rivals = [(-v if sign < 0 else v) for v in x[1:]]
        claimed = -x[0] if sign < 0 else x[0]
        gap = max([v.low - claimed.high for v in rivals] + [Fraction(0)])
        best = max(rivals, key=lambda v: v.mid)
        return Held(gap == 0, gap, f"{short(x[0].mid)} against {short(best.mid * sign)}")

    return check


def _equal_text(x: Numbers, extra: Extra) -> Held:
    return Held(len(set(extra.texts)) == 1, Fraction(0), " | ".join(extra.texts))


def _short_hash(x: Numbers, extra: Extra) -> Held:
    if len(extra.reported) != 2 or {r.kind for r in extra.reported} != {"hash"}:
        raise UserError("short-hash takes a short form such as d51af09b...a498 and a full hash")
    short, full = extra.reported
    head, tail = short.hash_ends
    return Held(full.hash_ends[0].startswith(head) and full.hash_ends[0].endswith(tail), Fraction(0), full.text)


def _forensic(name: str, takes: int) -> Callable[[Numbers, Extra], Held]:
    def check(x: Numbers, extra: Extra) -> Held:
        from countback.claims import forensic

        if len(extra.texts) != takes or len(extra.n) != 1:
            raise UserError(
                f"{name} takes {' and '.join(['a mean', 'an sd'][:takes])}, and n; found {list(extra.texts)}"
            )
        found = getattr(forensic, name)(*extra.texts, whole(extra.n[0], name))
        shown = "possible" if found.consistent else f"nearest possible {found.failed}: {' or '.join(found.nearest)}"
        return Held(found.consistent, Fraction(0), shown, found.informative)

    return check


def _p_value(x: Numbers, extra: Extra) -> Held:
    from countback.claims.pvalues import check_p

    if len(extra.texts) != 1:
        raise UserError(f"p-value takes one test in words, found {len(extra.texts)}")
    found = check_p(extra.texts[0])
    low, high = float(found.recomputed.low), float(found.recomputed.high)
    return Held(found.consistent, Fraction(0), f"p from {low:.3g} to {high:.3g}", found.informative)


PREDICATES: dict[str, Callable[[Numbers, Extra], Held]] = {
    "inside": _inside,
    "at-least": lambda x, extra: _ordered(pair(x, "at-least")[::-1]),
    "at-most": lambda x, extra: _ordered(pair(x, "at-most")),
    "more-than": lambda x, extra: _ordered(pair(x, "more-than")[::-1], strict=True),
    "less-than": lambda x, extra: _ordered(pair(x, "less-than"), strict=True),
    "ascending": lambda x, extra: _ordered(x),
    "descending": lambda x, extra: _ordered([-v for v in x]),
    "dates-ascending": lambda x, extra: _ordered(x),
    "highest": _extremum(+1),
    "lowest": _extremum(-1),
    "equal-text": _equal_text,
    "short-hash": _short_hash,
    "grim": _forensic("grim", 1),
    "grimmer": _forensic("grimmer", 2),
    "debit": _forensic("debit", 2),
    "p-value": _p_value,
}
