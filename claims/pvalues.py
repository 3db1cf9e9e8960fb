"""The p-value that a printed test statistic implies, and whether the printed p-value is it.

The statistic is rounded too, so it implies an interval of p-values: that of every statistic that prints so (as
statcheck does, Nuijten et al. 2016). Everything is compared as exact intervals; only the tail probabilities are floats,
widened by 1e-9 of their size, more than the special functions err.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import erfc, sqrt

from countback.claims.interval import Interval, decimal_text
from countback.claims.reported import NotANumber, Reported, parse
from countback.fetch.errors import UserError

# How many degrees of freedom each statistic has; any other Q is a heterogeneity test, distributed as chi-square.
_FREEDOM = {"t": 1, "F": 2, "r": 1, "z": 0, "chi2": 1}
_NAMES = {"Z": "z", "X2": "chi2", "χ2": "chi2", "χ²": "chi2", "Q": "chi2", "Qb": "chi2", "Qw": "chi2"}
_RESULT = re.compile(
    r"(?P<name>[A-Za-zχ]+[2²]?)\s*(?:\((?P<df>[^()]*)\))?\s*(?P<compare>[<>=])\s*(?P<value>[^=<>]*?)"
    r",\s*(?:(?P<ns>ns|n\.s\.)|p\s*(?P<p>[<>=≤≥].*))"
)
_SAMPLE = re.compile(r"(?:,\s*)?\b[Nn]\s*=\s*[0-9]+(?:,[0-9]{3})*")
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class PCheck:
    """The answer of one check of a p-value.

    recomputed: the p-values that the printed statistic allows.
    nearest: when inconsistent, the one of them nearest to the printed p.
    decision_error: p is wrong, and across alpha from the right one; None when one of the two sides cannot be told.
    informative: False when the statistic allows every p.
    """

    consistent: bool
    recomputed: Interval
    nearest: str = ""
    decision_error: bool | None = None
    informative: bool = True


def check_p(
    text: str, *, one_tailed: bool = False, alpha: str = "0.05", alpha_is_significant: bool = True, zero: bool = True
) -> PCheck:
    """Check a result as printed: "t(28) = 2.20, p = .03", "F(2, 28) > 2.2, p < .05", "chi2(1, N = 90) = 3.84, ns".

    alpha_is_significant: whether p = alpha counts as significant. zero: whether ".000" may stand for a small p (no
    p-value is 0). Raises NotANumber when the text is no such result, UserError when the statistic is impossible.
    """
    match = _RESULT.fullmatch(text.strip()) if len(text) <= 200 else None
    if match is None:
        raise NotANumber(f'cannot read "{text[:80]}" as a test result; expected a form such as "t(28) = 2.20, p = .03"')
    level = parse(alpha, exact=True).value
    p = parse(match["p"] or f"> {alpha}")
    if p.kind not in ("number", "inequality") or p.compare == "~" or p.unit or not 0 <= p.value <= 1:
        raise NotANumber(f'a p-value is one number from 0 to 1, found "{match["p"]}" in "{text}"')
    recomputed = _implied(match, one_tailed)
    consistent = _agrees(p, recomputed) and (zero or p.value > 0 or p.kind == "inequality")
    printed, implied = _significant(p, level, alpha_is_significant), None
    if recomputed.high < level or recomputed.low > level:
        implied = recomputed.high < level
    return PCheck(
        consistent,
        recomputed,
        "" if consistent else _nearest(p, recomputed),
        None if printed is None or implied is None else not consistent and printed != implied,
        recomputed.low > 0 or recomputed.high < 1,
    )


def p_interval(name: str, size: Interval, freedom: tuple[Interval, ...], one_tailed: bool = False) -> Interval:
    """The p-values of statistics whose absolute value lies in `size`: name is t, F, r, z or chi2.

    Two-tailed for t, r and z, upper-tailed for F and chi2; `one_tailed` halves it, which for F and chi2 is defined when
    they are the square of a t or z. Where degrees of freedom are rounded the corners of their intervals are taken.
    """
    if len(freedom) != _FREEDOM[name] or not all(0 < each.low <= each.high < 10**12 for each in freedom):
        found = ", ".join(decimal_text(each.mid) for each in freedom) or "none"
        raise UserError(f"{name} has {_FREEDOM[name]} degrees of freedom, above 0 and below 10^12, found {found}")
    if one_tailed and name in ("F", "chi2") and freedom[0] != Interval.of(1):
        raise UserError(f"{name} has a one-tailed p only with 1 degree of freedom, found {freedom[0].mid}")
    corners = list(product(*({float(each.low), float(each.high)} for each in freedom)))
    share = 0.5 if one_tailed else 1.0
    low = min(_tail(name, size.high, corner) for corner in corners) * share * (1 - _SLACK)
    high = max(_tail(name, size.low, corner) for corner in corners) * share * (1 + _SLACK)
    return Interval.of(Fraction(low), Fraction(min(high, share)))


def _tail(name: str, size: Fraction, freedom: tuple[float, ...]) -> float:
    """Probability of a statistic at least this large; t and r are square roots of an F with 1 and df freedoms."""
    from scipy.special import betainc, betaincc, gammaincc

    value = min(float(size), 1e100)
    if name == "z":
        return erfc(value / sqrt(2))
    if name == "chi2":
        return float(gammaincc(freedom[0] / 2, value / 2))
    top, bottom = (1.0, freedom[0]) if len(freedom) == 1 else freedom
    if name == "r":
        square = min(size, Fraction(1)) ** 2
        over, under = float(square), float(1 - square)
    else:
        ratio = top * (value if name == "F" else value * value)
        over, under = ratio / (bottom + ratio), bottom / (bottom + ratio)
    # the smaller of the two shares keeps its digits, so the function is asked in terms of that one
    return float(betainc(bottom / 2, top / 2, under) if under < over else betaincc(top / 2, bottom / 2, over))


def _implied(match: re.Match[str], one_tailed: bool) -> Interval:
    name = _NAMES.get(match["name"], match["name"])
    if name not in _FREEDOM:
        raise NotANumber(f'no test statistic is called "{match["name"]}"; known are {", ".join([*_FREEDOM, *_NAMES])}')
    freedom = tuple(parse(part).interval for part in _freedom(match["df"] or "", _FREEDOM[name]))
    statistic = parse(match["value"], exact=False)
    if statistic.kind != "number" or statistic.unit:
        raise NotANumber(f'a test statistic is one number, found "{match["value"]}"')
    size = abs(statistic.interval)
    if (name in ("F", "chi2") and statistic.value < 0) or (name == "r" and size.low > 1):
        raise UserError(f"{name} cannot be {match['value'].strip()}; the statistic itself is misprinted")
    p = p_interval(name, size, freedom, one_tailed)
    if match["compare"] == "=":
        return p
    beyond = (match["compare"] == ">") == (statistic.value >= 0)  # "t > 2" and "t < -2" both mean a larger effect
    return Interval.of(0, p.high) if beyond else Interval(p.low, Fraction(1, 2 if one_tailed else 1))


def _freedom(printed: str, takes: int) -> list[str]:
    """The degrees of freedom, without the sample size ("1, N = 1,234"). In "1, 1,234" white space tells the two apart;
    "1,234" is two numbers, whatever the statistic takes."""
    told = _SAMPLE.sub("", printed)
    spaced = re.split(r",\s+", told)
    return spaced if len(spaced) == takes > 1 else [part for part in told.split(",") if part.strip()]


def _agrees(p: Reported, recomputed: Interval) -> bool:
    if p.kind == "number":
        return recomputed.meets(p.interval)
    return {
        "<": recomputed.low < p.value,
        "<=": recomputed.low <= p.value,
        ">": recomputed.high > p.value,
        ">=": recomputed.high >= p.value,
    }[p.compare]


def _significant(p: Reported, level: Fraction, at_level: bool) -> bool | None:
    """What the paper says of significance by printing this p; None when it says nothing ("p < .10" at 0.05)."""
    if p.kind == "number":
        return p.value < level or (at_level and p.value == level)
    if p.compare in ("<", "<="):
        return True if p.value < level or (p.value == level and (at_level or p.compare == "<")) else None
    return False if p.value > level or (p.value == level and (not at_level or p.compare == ">")) else None


def _nearest(p: Reported, recomputed: Interval) -> str:
    if recomputed.meets(p.interval) and p.kind == "number":
        return f"< {decimal_text(p.step)}"  # printed as zero
    end = recomputed.low if p.value < recomputed.low else recomputed.high
    return decimal_text(end, len(str(p.step.denominator)) + 1)
