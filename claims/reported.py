"""A number as a paper prints it: the string, what it stands for, and the interval of values that print so.

Code never alters what a paper said: `Reported.text` is the string as printed and everything else follows from it.
A printed integer without a unit is a count and exact; every other printed number stands for each value that an accepted
rounding rule prints so (`ROUNDING`). Words such as "about a third" stand for a number only with a stated range.

Forms read: `81.1%` `+15.1` `-0.126` (hyphen, U+2212 or dash) `.05` `0.60` `4.28 [4.28,4.29]` `1,860` `$3,022.50`
`US$142-148` `3.25-4.28` (hyphen or en dash) `< .001` `5 x 10^-6` (also U+00D7, LaTeX) `14.6K` `2.49 pp` `4 of 12`,
`58 / 348`, `1+9`, ISO and "2 October 2026" dates, hashes `d51af09b...a498`, byte sizes `427,804 bytes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from countback.claims.interval import Interval
from countback.fetch.errors import UserError

_HALF, _NONE, _UNIT = Fraction(1, 2), Fraction(0), Fraction(1)

# Every rounding rule is one row: how far below and above the printed value, in units of the last printed digit and
# away from zero, the true value may lie, and whether that end itself prints so. (Ends of half-even depend on the
# parity of the last digit: an even digit takes both, an odd digit neither.)
ROUNDING: dict[str, tuple[Fraction, Fraction, bool, bool]] = {
    "half-up": (_HALF, _HALF, True, False),
    "half-down": (_HALF, _HALF, False, True),
    "half-up-or-down": (_HALF, _HALF, True, True),
    "half-even": (_HALF, _HALF, True, True),
    "truncation": (_NONE, _UNIT, True, False),
    "ceiling": (_UNIT, _NONE, False, True),
    "exact": (_NONE, _NONE, True, True),
}
ACCEPTED = ("half-up", "half-even")  # what a paper that states no rule may have used
_PULL = Fraction(1, 10**12)  # nearer to a tie than this lies no mean of fewer than 10^11 items, unless it is one

_MINUS = {"\u2212": "-", "\u2010": "-", "\u2011": "-", "\ufe63": "-", "\uff0d": "-", "$-$": "-"}
_DASH = re.compile(r"(?:^|(?<=[\[(,;<>=]))\s*[\u2012-\u2014](?=[.0-9])")  # a longer dash, where only a sign may stand
_MATH = re.compile(r"\$([^$]*[0-9}])\$")  # LaTeX: $-0.126$ and not the money of "$142-$148"
_LONGEST = 200  # characters; the longest printed quantity is a sha256
_SIMPLE = re.compile(
    r"(?P<sign>[+-]?)\s*(?P<money>US\$|\$|SGD\s*)?(?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?:\s*(?:x|\u00d7|\\times)\s*10\^\{?(?P<power>-?[0-9]{1,3})\}?)?\s*(?P<scale>[KMB](?![A-Za-z]))?"
    r"\s*(?P<unit>%|pp|points?|bytes|[KMG]i?B|seconds|hours|minutes)?"
)
_COMPARE = re.compile(r"(?:[pP]\s*)?(<=|>=|<|>|=|~|\u2248|\u2264|\u2265|\$\\sim\$)\s*(.+)")
_ESTIMATE = re.compile(r"(.+?)\s*[\[(](.+)[\])]")
_BRACKETS = re.compile(r"[\[(](.+)[\])]")
_BETWEEN = (re.compile(r"\s*(?:\u2013|\sto\s)\s*"), re.compile(r"(?<=[0-9%KMB])\s*-\s*"))
_INSIDE = (re.compile(r",\s+"), re.compile(";"), re.compile(","), *_BETWEEN)
_LIST = re.compile(r"\s*(?:/|;|\sof\s)\s*|(?<=[0-9])\+(?=[0-9])")
_SHORT_HASH = re.compile(r"([0-9a-f]{6,64})(?:\.\.\.|\u2026)([0-9a-f]{4,64})")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?![0-9]+e[0-9]+$)[0-9a-f]{6,64}")  # no word ("decade"), no power of ten ("123e45")
_MONTHS = "january february march april may june july august september october november december".split()
_DATE = re.compile(r"([0-9]{1,2}) ([A-Z][a-z]+) ([0-9]{4})")


class NotANumber(UserError):
    """A string that none of the known printed forms fits."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One printed quantity.

    kind: number | inequality | range | estimate (point with interval) | list | date | hash | words | word.
    unit: "" | "%" | "pp" | "$" | "bytes" | ... as printed; value is in that unit (81.1 for "81.1%").
    interval: the values that print so under the accepted rules; a range's or estimate's is that of its first part.
    parts: the numbers inside a range, estimate or list, in printed order.
    """

    text: str
    kind: str
    value: Fraction
    interval: Interval
    step: Fraction  # one unit of the last printed digit; 0 when exact
    unit: str = ""
    compare: str = ""
    parts: tuple[Reported, ...] = ()
    hash_ends: tuple[str, str] = ("", "")

    def part(self, name: str) -> Reported:
        """`low` or `high` of a range or estimate, or the k-th number ("1", "2", ...) of any printed form."""
        if name in ("low", "high") and self.kind in ("range", "estimate"):
            return self.parts[-2 if name == "low" else -1]
        if name.isdecimal() and 1 <= int(name) <= len(self.parts or (self,)):
            return (self.parts or (self,))[int(name) - 1]
        raise NotANumber(f'"{self.text}" has no part "{name}"; it is a {self.kind} of {len(self.parts) or 1} number(s)')

    def rounded(self, rule: str) -> Interval:
        """The closed hull of the values that print as this under one rule of `ROUNDING`."""
        below, above, _, _ = ROUNDING[rule]
        if self.step == 0 or self.kind == "words" or below == above == _HALF:
            return self.interval  # the common case, made once
        if self.value < 0 or (self.value == 0 and self.text.lstrip().startswith(("-", "\u2212"))):
            below, above = above, below
        if self.value == 0 and rule == "truncation":  # both sides of zero truncate to it
            below = above = _UNIT
        return Interval(self.value - below * self.step, self.value + above * self.step)

    def ends(self, rule: str) -> tuple[bool, bool]:
        """Whether the low and the high end of that hull print as this themselves."""
        near, far = ROUNDING[rule][2:]
        if self.step == 0:
            return True, True
        if rule == "half-even":
            near = far = (self.value / self.step) % 2 == 0
        if self.value == 0:  # both ends lie away from zero
            return far, far
        return (near, far) if self.value > 0 else (far, near)

    def printing(self, rule: str) -> Interval:
        """The values that print as this under one rule, an end that does not pulled in by `_PULL` of a unit."""
        if self.step == 0 or rule == "half-up-or-down":
            return self.interval  # the common cases, made once
        hull, (low_in, high_in) = self.rounded(rule), self.ends(rule)
        pull = self.step * _PULL
        return Interval(hull.low if low_in else hull.low + pull, hull.high if high_in else hull.high - pull)

    def bounds(self, rule: str) -> Interval:
        """What it stands for under one rule; an inequality ("< .001", "> 5") stands for one side of its bound.

        The bound was chosen and not measured, so it is not rounded: 0.0012 is not "< .001".
        """
        if self.kind != "inequality" or self.compare == "~":
            return self.printing(rule)
        far = max(abs(self.value), Fraction(1)) * 10**9
        pull = (self.step or 1) * _PULL if self.compare in ("<", ">") else Fraction(0)
        if self.compare in ("<", "<="):
            return Interval(-far, self.value - pull)
        return Interval(self.value + pull, far)


def unround(printed: str, rule: str = "half-up-or-down", digits: int | None = None) -> tuple[Interval, bool, bool]:
    """Bounds of what `rule` prints as `printed` (at `digits` decimals), and whether each bound itself prints so."""
    number = parse(printed, exact=False)
    step = number.step if digits is None else Fraction(1, 10**digits)
    number = replace(number, step=step, interval=Interval(number.value - step / 2, number.value + step / 2))
    return number.rounded(rule), *number.ends(rule)


def parse(text: str, *, exact: bool | None = None, within: tuple[str, str] | None = None) -> Reported:
    """Read a printed quantity.

    exact: override the default that bare integers are counts (exact) and everything else is rounded.
    within: the stated range of a quantity in words ("about a third" within 0.30 and 0.37), or of a rounded one.
    Raises NotANumber for a string that no form fits, a NaN or an infinity included.
    """
    if not isinstance(text, str):
        raise NotANumber(f'a reported number is a string as printed, found {text!r}; write it in quotes, e.g. "0.60"')
    if len(text) > _LONGEST:
        raise NotANumber(f'a printed number has at most {_LONGEST} characters, found {len(text)}: "{text[:40]}..."')
    plain = text.strip()
    for printed, minus in _MINUS.items():
        plain = plain.replace(printed, minus)
    plain = _DASH.sub("-", _MATH.sub(r"\1", plain))
    if within is not None:
        low, high = map(exactly, within)
        if low > high:
            raise NotANumber(f'the stated range of "{text}" is reversed: {within[0]} > {within[1]}')
        return Reported(text, "words", (low + high) / 2, Interval(low, high), Fraction(0), "%" if "%" in plain else "")
    for reader in (_simple, _compare, _date, _estimate, _range, _list, _hash):
        found = reader(text, plain, exact)
        if found is not None:
            return found
    raise NotANumber(
        f'cannot read "{text}" as a printed number; expected a form such as 81.1%, 1,860, 4.28 [4.28,4.29], 3.25-4.28, '
        "< .001 or a date; words need a stated range: within = [low, high]"
    )


def exactly(text: str) -> Fraction:
    """The value of one plain number taken as exact: an end of a range, a score. Raises NotANumber for anything else."""
    number = parse(text, exact=True)
    if number.kind != "number":
        raise NotANumber(f'"{text}" is a {number.kind}; one number was expected')
    return number.value


def word(text: str) -> Reported:
    """A printed word (a verdict such as PASSED) in place of a number: compared letter by letter."""
    return Reported(text, "word", Fraction(0), Interval.of(0), Fraction(0))


def _simple(text: str, plain: str, exact: bool | None) -> Reported | None:
    match = _SIMPLE.fullmatch(plain)
    if match is None:
        return None
    digits = match["digits"].replace(",", "")
    places = len(digits.partition(".")[2])
    scale = Fraction(10) ** int(match["power"] or 0) * {"K": 10**3, "M": 10**6, "B": 10**9, None: 1}[match["scale"]]
    step = scale / 10**places
    value = Fraction(digits) * scale * (-1 if match["sign"] == "-" else 1)
    unit = (match["money"] or match["unit"] or "").strip().replace("US$", "$")
    count = places == 0 and scale == 1 and unit in ("", "bytes") and not match["sign"]
    if count if exact is None else exact:
        return Reported(text, "number", value, Interval(value, value), Fraction(0), unit)
    half = step / 2
    return Reported(text, "number", value, Interval(value - half, value + half), step, unit)


def _compare(text: str, plain: str, exact: bool | None) -> Reported | None:
    match = _COMPARE.fullmatch(plain)
    if match is None:
        return None
    bound = parse(match[2], exact=exact)
    sign = {"\u2264": "<=", "\u2265": ">=", "\u2248": "~", "$\\sim$": "~"}.get(match[1], match[1])
    if sign == "=":
        return replace(bound, text=text)
    if bound.kind != "number":
        return None
    return replace(bound, text=text, kind="inequality", compare=sign)


def _date(text: str, plain: str, exact: bool | None) -> Reported | None:
    match = _DATE.fullmatch(plain)
    try:
        if match and match[2].lower() in _MONTHS:
            day = date(int(match[3]), _MONTHS.index(match[2].lower()) + 1, int(match[1]))
        elif re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", plain):
            day = date.fromisoformat(plain)
        else:
            return None
    except ValueError as error:
        raise NotANumber(f'"{text}" is not a day of the calendar: {error}') from None
    ordinal = Fraction(day.toordinal())
    return Reported(text, "date", ordinal, Interval(ordinal, ordinal), Fraction(0), "days")


def _several(text: str, kind: str, pieces: list[str], exact: bool | None) -> Reported | None:
    parts = []
    for piece in pieces:
        part = _simple(piece, piece.strip(), exact)
        if part is None:
            return None
        parts.append(part)
    unit = next((part.unit for part in parts if part.unit), "")
    if exact is None and any(part.step for part in parts):  # "4 [3.9, 4.1]": the 4 is no count
        parts = [p if p.step else _simple(p.text, p.text.strip(), False) or p for p in parts]
    parts = [replace(part, unit=unit) for part in parts]
    return replace(parts[0], text=text, kind=kind, unit=unit, parts=tuple(parts))


def _ends(text: str, separators: tuple[re.Pattern[str], ...]) -> list[str]:
    """The two numbers of a range, or nothing. "1,860" in brackets may be one number or two: it is neither."""
    if _SIMPLE.fullmatch(text):
        return []
    splits = (separator.split(text) for separator in separators)
    return next((ends for ends in splits if len(ends) == 2 and all(_SIMPLE.fullmatch(end.strip()) for end in ends)), [])


def _estimate(text: str, plain: str, exact: bool | None) -> Reported | None:
    match = _ESTIMATE.fullmatch(plain)
    ends = _ends(match[2].strip(), _INSIDE) if match else []
    return _several(text, "estimate", [match[1], *ends], exact) if match and ends else None


def _range(text: str, plain: str, exact: bool | None) -> Reported | None:
    match = _BRACKETS.fullmatch(plain)
    ends = _ends(match[1].strip(), _INSIDE) if match else _ends(plain, _BETWEEN)
    return _several(text, "range", ends, exact) if ends else None


def _list(text: str, plain: str, exact: bool | None) -> Reported | None:
    pieces = _LIST.split(plain)
    return _several(text, "list", pieces, exact) if len(pieces) > 1 else None


def _hash(text: str, plain: str, exact: bool | None) -> Reported | None:
    short = _SHORT_HASH.fullmatch(plain)
    if short is None and _HASH.fullmatch(plain) is None:
        return None
    zero = Fraction(0)
    ends = (short[1], short[2]) if short else (plain, "")
    return Reported(text, "hash", zero, Interval(zero, zero), zero, hash_ends=ends)
