"""Exact closed intervals: every number derived from printed numbers is one of these.

Bounds are `fractions.Fraction`. Arithmetic returns the smallest interval that
contains every result when each operand occurs once; an operand used twice makes the result wider than need be, never
narrower, so an honest number is never flagged. No float enters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm, log10

Exact = int | Fraction


class Contradiction(Exception):
    """Numbers that cannot all hold, whatever they are compared with: the message says why."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All x with low <= x <= high; both bounds belong to it."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"interval bounds are reversed: {self.low} > {self.high}")

    @staticmethod
    def of(low: Exact, high: Exact | None = None) -> Interval:
        """The interval [low, high], or the single point low."""
        return Interval(Fraction(low), Fraction(low if high is None else high))

    @property
    def mid(self) -> Fraction:
        return (self.low + self.high) / 2

    @property
    def width(self) -> Fraction:
        return self.high - self.low

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Interval) -> Interval:
        if self.low >= 0 and other.low >= 0:  # the common case, four products saved
            return Interval(self.low * other.low, self.high * other.high)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: Interval) -> Interval:
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("the divisor's interval contains zero")
        return self * Interval(1 / other.high, 1 / other.low)

    def __abs__(self) -> Interval:
        if self.low >= 0:
            return self
        if self.high <= 0:
            return -self
        return Interval(Fraction(0), max(-self.low, self.high))

    def square(self) -> Interval:
        """x*x over the interval (tighter than `self * self`, which forgets that both are the same x)."""
        magnitude = abs(self)
        return Interval(magnitude.low**2, magnitude.high**2)

    def sqrt(self) -> Interval:
        """Square root, rounded outward at 1e-18; negative parts are cut off at zero."""
        return Interval(_sqrt(max(self.low, Fraction(0)), up=False), _sqrt(max(self.high, Fraction(0)), up=True))

    def meets(self, other: Interval) -> bool:
        """Whether some value lies in both."""
        return self.low <= other.high and other.low <= self.high

    def covers(self, other: Interval) -> bool:
        return self.low <= other.low and other.high <= self.high

    def gap(self, other: Interval) -> Fraction:
        """Distance between the two, 0 when they meet; positive when `self` lies above `other`."""
        if self.low > other.high:
            return self.low - other.high
        if other.low > self.high:
            return self.high - other.low
        return Fraction(0)


def total(intervals: Iterable[Interval]) -> Interval:
    """The sum of intervals; of none, exactly 0."""
    ends = [(each.low, each.high) for each in intervals]
    return Interval(_sum([low for low, _ in ends]), _sum([high for _, high in ends]))


def _sum(values: list[Fraction]) -> Fraction:
    """Their sum over one common denominator: several times faster than adding fractions one by one."""
    common = lcm(*(value.denominator for value in values))
    return Fraction(sum(value.numerator * (common // value.denominator) for value in values), common)


_ROOT_SCALE = 10**18


def _sqrt(value: Fraction, *, up: bool) -> Fraction:
    scaled = value.numerator * _ROOT_SCALE**2
    root = isqrt(scaled // value.denominator)
    exact = root * root * value.denominator == scaled
    return Fraction(root + (1 if up and not exact else 0), _ROOT_SCALE)


def decimal_text(value: Fraction, places: int = 6) -> str:
    """The value as a decimal string: exact when it ends within `places` digits, else rounded half-even there.

    Beyond 10^300 only its order of magnitude, as a power of ten.
    """
    scaled = value * 10**places
    whole = round(scaled)
    sign = "-" if whole < 0 else ""
    if abs(whole) >= 10**300:
        return f"{sign}1e{round(log10(abs(whole)) - places)}"
    digits = str(abs(whole)).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".") if places else digits
    return f"{sign}{text}"


def short(value: Fraction) -> str:
    """Six digits of the value, for a sentence; a whole number in full, as far as anybody reads it."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value)
    return f"{float(value):g}" if abs(value) < 10**300 else decimal_text(value)
