"""The grammar of one table cell: what counts as a printed number, and why the rest stays unread.

Values are `decimal.Decimal`, so trailing zeros (the printed precision) survive. Nothing is repaired in silence: a
string that fails the grammar becomes `Unread` with a reason. Compatibility normalisation (NFKC) is never applied,
because it turns a footnote mark into a digit (`0.81²` -> `0.812`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

DASHES = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d-"  # the ASCII hyphen last: this text goes into [...]
GROUP_SPACES = "\u2009\u202f\u00a0\u2007"
SUPERSCRIPTS = dict(zip("0123456789+-\u2212", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻", strict=True))
_PLAIN = {sup: plain for plain, sup in SUPERSCRIPTS.items() if plain != "\u2212"}
_SUP_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOOKALIKES = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", "|": "1"})
_LONGEST = 200  # a cell longer than this is prose

Kind = Literal["blank", "dash", "text", "number"]


@dataclass(frozen=True)
class CellValue:
    """The numbers of one cell, as printed; a part that the cell does not print is None.

    `aside` is a number in parentheses whose meaning the cell does not say (a standard error, a rank, a share).
    `flags` name what looks wrong although the grammar holds; such a value needs a second source all the more.
    """

    estimate: Decimal | None = None
    unit: str = ""
    relation: str = "="
    label: str = ""
    df: tuple[Decimal, ...] = ()
    error: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    count: Decimal | None = None
    of: Decimal | None = None
    aside: Decimal | None = None
    aside_unit: str = ""
    marks: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def numbers(self) -> dict[str, Decimal]:
        """The printed numbers by the name of their part."""
        parts = ("estimate", "error", "low", "high", "count", "of", "aside")
        return {part: getattr(self, part) for part in parts if getattr(self, part) is not None}


@dataclass(frozen=True)
class Unread:
    """A cell without a trusted number. `kind` is "number" when it looks like one and fails the grammar.

    `repaired` is what the cell would say with digit-like letters replaced; it is a hint for a person, not a value.
    """

    raw: str
    reason: str
    kind: Kind = "number"
    repaired: str | None = None


def _unnamed(pattern: str) -> str:
    """The pattern without its group names, so that it can stand twice in one expression."""
    return re.sub(r"\?P<\w+>", "?:", pattern)


_WHOLE = rf"(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|[1-9][0-9]{{0,2}}(?:[{GROUP_SPACES}][0-9]{{3}})+|0|[1-9][0-9]*)"
_POWER = rf"(?:\^\{{?[+{DASHES}]?[0-9]{{1,3}}\}}?|[⁺⁻]?[{_SUP_DIGITS}]{{1,3}})"
_EXPONENT = rf"(?:[eE][+{DASHES}]?[0-9]{{1,3}}|\s?[×x·⋅]\s?10{_POWER})"
# 10⁻³ is a power; 10² may as well be a ten with a footnote, so a bare power needs its superscript sign.
_UNSIGNED = rf"(?:10[⁺⁻][{_SUP_DIGITS}]{{1,3}}|(?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+){_EXPONENT}?)"
_SIGNED = rf"(?:[+{DASHES}]\s?)?{_UNSIGNED}"
_UNIT = r"(?:\s?(?:%|‰|pp)|×(?!\s?[0-9]))"
_MARK = rf"[*∗⋆†‡§¶#↑↓▲▼{_SUP_DIGITS}]"
# White on both sides of the dash or on none: "2 −5" is two numbers, the second with its sign.
_TO = rf"(?:\s?to\s|[{DASHES}]|\s[{DASHES}]\s)"
_LOW, _HIGH = rf"(?P<low>{_SIGNED})(?P<low_unit>{_UNIT})?", rf"(?P<high>{_SIGNED})(?P<high_unit>{_UNIT})?"
_RANGE = rf"{_LOW}(?:[,;]\s?|{_TO}){_HIGH}"
_BRACKET = rf"(?:(?P<square>\[)\s?{_RANGE}\s?\]|\(\s?{_RANGE.replace('?P<', '?P<p')}\s?\))"
_COUNT = rf"(?P<count>{_UNSIGNED})\s?/\s?(?P<of>{_UNSIGNED})"
_ERROR = rf"\s?(?:±|\+/?[{DASHES}])\s?(?P<error>{_UNSIGNED})(?P<error_unit>{_UNIT})?"
_LABEL = (
    r"(?P<label>[^\W\d_]{1,12}[²₀-₉]?)"
    rf"(?:\s?\(\s?(?P<df>{_UNSIGNED}(?:,\s?{_UNSIGNED})?)\s?\))?\s?(?=[=<>≤≥≈~])"
)
_CELL = re.compile(
    rf"(?P<lead>{_MARK}+)?(?:{_LABEL})?(?:(?P<relation>[=<>≤≥≈~])\s?)?"
    rf"(?:{_COUNT}(?:\s?\((?P<share>{_UNSIGNED})(?P<share_unit>\s?%)\))?"
    rf"|(?P<money>[$€£])?(?P<estimate>{_SIGNED})(?P<unit>{_UNIT})?(?:{_ERROR})?)?"
    rf"(?P<marks>\s?{_MARK}+)?"
    rf"(?:\s?\((?P<aside>{_SIGNED})(?P<aside_unit>{_UNIT})?\)|\s?\({_COUNT.replace('?P<', '?P<a')}\))?"
    rf"(?P<marks2>\s?{_MARK}+)?(?:\s?{_BRACKET})?(?P<marks3>\s?{_MARK}+)?(?P<cite>\s?\[[0-9]+\])?"
)
_BARE_RANGE = re.compile(rf"{_LOW}{_TO}{_HIGH}(?P<marks>\s?{_MARK}+)?")
# A number in running text: not part of a word, a name (GPT-5.4), a time of day, a citation or another number. "From 0.7
# to 0.6" is two numbers there.
PROSE_NUMBER = re.compile(
    rf"(?P<citation>\[[0-9]+(?:\s?[,;{DASHES}]\s?[0-9]+)*\])|(?<![\w.,:/{DASHES}])(?:{_unnamed(_BRACKET)}|"
    rf"(?:[<>=≤≥≈~]\s?)?(?:{_unnamed(_COUNT)}(?:\s?\({_UNSIGNED}\s?%\))?|"
    rf"[$€£]?{_SIGNED}{_UNIT}?(?:{_unnamed(_ERROR)}|[{DASHES}]{_SIGNED}{_UNIT}?)?)[{_SUP_DIGITS}]*"
    rf"(?P<bracket>\s?{_unnamed(_BRACKET)})?)(?![\w_])(?![.,:][0-9])"
)
_SPACED_COUNT = re.compile(r"(?P<label>[Nn])\s?=\s?(?P<whole>[1-9][0-9]{0,2}(?: [0-9]{3})+)")


def parse_cell(
    raw: str, *, bounds: tuple[Decimal, Decimal] | None = None, interval_column: bool = False
) -> CellValue | Unread:
    """Read one cell. `bounds` are the values the quantity can take (a kappa: -1 to 1); `interval_column` says that the
    column declares intervals, without which two whole numbers in square brackets may be a citation."""
    text = " ".join(raw.replace("\t", " ").replace("\n", " ").split(" ")).strip()
    text = re.sub(r" {2,}", " ", text)
    if len(text) > _LONGEST:
        return Unread(raw, "too long for a number", "text")
    value = _match(text)
    if value is None:
        return _why_unread(raw, text)
    reason = _contradiction(text, value, bounds, interval_column)
    return Unread(raw, reason) if reason else value


def _match(text: str) -> CellValue | None:
    """The parts of a string that fits the grammar as a whole, else None."""
    if spaced := _SPACED_COUNT.fullmatch(text):
        return CellValue(estimate=Decimal(spaced["whole"].replace(" ", "")), label=spaced["label"])
    if bare := _BARE_RANGE.fullmatch(text):
        return _from_groups({**bare.groupdict(), "square": None})
    found = _CELL.fullmatch(text)
    if found is None:
        return None
    groups = found.groupdict()
    for name in ("low", "low_unit", "high", "high_unit"):
        groups[name] = groups[name] or groups["p" + name]
    groups["count"], groups["of"] = groups["count"] or groups["acount"], groups["of"] or groups["aof"]
    value = _from_groups(groups)
    # A relation or a label without a number says nothing; neither does a mark alone.
    return value if value.numbers() else None


def _from_groups(groups: dict[str, str | None]) -> CellValue:
    def number(name: str) -> Decimal | None:
        printed = groups.get(name)
        return None if printed is None else _decimal(printed)

    units = [_clean(groups.get(k)) for k in ("unit", "share_unit", "money", "error_unit", "low_unit", "high_unit")]
    marks = [_clean(groups.get(k)) for k in ("lead", "marks", "marks2", "marks3", "cite")]
    value = CellValue(
        estimate=number("estimate") if groups.get("estimate") else number("share"),
        unit=next((unit for unit in units if unit), ""),
        relation=groups.get("relation") or "=",
        label=groups.get("label") or "",
        df=tuple(_decimal(part) for part in re.split(r",\s?(?!\d{3}\b)", groups.get("df") or "") if part),
        error=number("error"),
        low=number("low"),
        high=number("high"),
        count=number("count"),
        of=number("of"),
        aside=number("aside"),
        aside_unit=_clean(groups.get("aside_unit")),
        marks=tuple(mark for mark in marks if mark),
    )
    flags = tuple(_flags(value, {unit for unit in units if unit}))
    return CellValue(**{**value.__dict__, "flags": flags})


def _clean(printed: str | None) -> str:
    return (printed or "").strip()


def _decimal(printed: str) -> Decimal:
    """A token of the grammar as an exact decimal: `−1,234` -> -1234, `1.2 × 10⁻³` -> 0.0012."""
    text = re.sub(rf"[,\s{GROUP_SPACES}]", "", printed).lstrip("+")
    text = re.sub(f"[{DASHES}]", "-", text)
    text = re.sub(f"[⁺⁻{_SUP_DIGITS}]+", lambda m: "^" + "".join(_PLAIN[c] for c in m[0]), text)
    text = re.sub(r"[×x·⋅]10\^\{?([+-]?\d+)\}?", r"e\1", text)
    return Decimal(re.sub(r"^(-?)10\^([+-]?\d+)$", r"\g<1>1e\2", text))


def _flags(value: CellValue, units: set[str]) -> list[str]:
    flags = []
    low, high, estimate = value.low, value.high, value.estimate
    if low is not None and high is not None and estimate is not None and not low <= estimate <= high:
        flags.append("the estimate lies outside its interval")
    if len(units) > 1:
        flags.append(f"units differ inside the cell: {', '.join(sorted(units))}")
    if value.count is not None and value.of:
        if value.count > value.of:
            flags.append("the count is above its total")
        share = value.count / value.of * 100
        if estimate is not None and value.unit == "%" and abs(share - estimate) > half_unit(estimate):
            flags.append(f"the count gives {share:.2f}%, the cell prints {estimate}%")
    return flags


def half_unit(printed: Decimal) -> Decimal:
    """Half a unit in the last printed place: how far a rounded number may lie from its source."""
    exponent = printed.as_tuple().exponent
    return Decimal((0, (5,), exponent - 1)) if isinstance(exponent, int) else Decimal(0)


def _contradiction(
    text: str, value: CellValue, bounds: tuple[Decimal, Decimal] | None, interval_column: bool
) -> str | None:
    """Why a string that fits the grammar still cannot be taken as a number."""
    low, high, estimate = value.low, value.high, value.estimate
    if low is not None and high is not None and low > high:
        return f"the interval runs downward, from {low} to {high}"
    if re.fullmatch(rf"[^0-9]*10[{_SUP_DIGITS}]+[^0-9]*", text):
        return "a power of ten, or a ten with a footnote mark"
    if value.of == 0:
        return "a count out of zero"
    whole = low is not None and high is not None and re.search(r"\[[^\].%]*\]", text) is not None
    encloses = estimate is not None and low is not None and high is not None and low <= estimate <= high
    if whole and not encloses and not interval_column:
        return "two whole numbers in square brackets: a citation or an interval"
    if bounds is not None:
        for part in ("estimate", "low", "high"):
            number = getattr(value, part)
            if number is not None and not bounds[0] <= number <= bounds[1]:
                return f"{number} lies outside {bounds[0]} to {bounds[1]}, the range of this quantity"
    return None


def _why_unread(raw: str, text: str) -> Unread:
    """Name the first thing that keeps a string out of the grammar."""
    if not text or text.isspace():
        return Unread(raw, "blank", "blank")
    if all(char in DASHES + "\u00ad" or char.isspace() for char in text):
        return Unread(raw, "a dash stands for no value", "dash")
    if bad := next((char for char in text if char == "\ufffd" or "\ue000" <= char <= "\uf8ff"), None):
        return Unread(raw, f"a glyph has no known character (U+{ord(bad):04X})")
    if "(cid:" in text or any(ord(char) < 32 for char in text):
        return Unread(raw, "a glyph has no known character")
    if not re.search(r"[0-9]", text):
        return Unread(raw, "no number in it", "text")
    if len(text) > 3 and len(text) % 2 == 0 and text[::2] == text[1::2] and _match(text[::2]):
        return Unread(raw, "every character is drawn twice")
    repaired = re.sub(r"(?<![^\W\d_])[OolI|]+(?![^\W\d_])", lambda m: m[0].translate(_LOOKALIKES), text)
    if repaired != text and (_match(repaired) or re.fullmatch(r"\w\(\d+(?:, ?\d+)?\)", repaired)):
        return Unread(raw, "a letter stands where a digit should", repaired=repaired)
    if re.search(r"[^\W\d_]{2,}", text):
        return Unread(raw, "words and numbers together", "text")
    return Unread(raw, _bad_number(text))


def _bad_number(text: str) -> str:
    tokens = re.findall(r"[\d.,]*\d[\d.,]*", text)
    if any(token.count(".") > 1 for token in tokens):
        return "more than one decimal point in one number"
    if any("," in token and not re.fullmatch(rf"{_WHOLE}(?:\.\d+)?,?", token) for token in tokens):
        return "commas do not group thousands: a decimal comma, or two numbers run together"
    if any(re.match(r"0\d", token) for token in tokens):
        return "a number starts with 0 and another digit"
    if len(tokens) > 1:
        return "more than one number, in a form that the grammar does not know"
    return "characters around the number that the grammar does not know"
