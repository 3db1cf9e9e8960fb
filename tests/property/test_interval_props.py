"""An interval computed from intervals holds every value computed from their points."""

from __future__ import annotations

from fractions import Fraction

from countback.claims.interval import Interval, decimal_text, total
from hypothesis import assume, given, settings
from hypothesis import strategies as st

NUMBERS = st.fractions(min_value=-1000, max_value=1000, max_denominator=10_000)
SHARES = st.fractions(min_value=0, max_value=1, max_denominator=1000)


@st.composite
def held(draw: st.DrawFn) -> tuple[Interval, Fraction]:
    """An interval and a point of it, its ends included."""
    low, high = sorted((draw(NUMBERS), draw(NUMBERS)))
    return Interval(low, high), low + (high - low) * draw(SHARES)


def holds(interval: Interval, value: Fraction) -> bool:
    return interval.low <= value <= interval.high


@settings(deadline=None)
@given(held(), held())
def test_two_operands(left: tuple[Interval, Fraction], right: tuple[Interval, Fraction]) -> None:
    (a, x), (b, y) = left, right
    assert holds(a + b, x + y)
    assert holds(a - b, x - y)
    assert holds(a * b, x * y)
    assert holds(total([a, b, a]), 2 * x + y)
    if not b.low <= 0 <= b.high:
        assert holds(a / b, x / y)


@settings(deadline=None)
@given(held(), held())
def test_the_ends_are_reached_so_no_interval_is_wider_than_need_be(
    left: tuple[Interval, Fraction], right: tuple[Interval, Fraction]
) -> None:
    a, b = left[0], right[0]
    corners = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    assert a + b == Interval(min(x + y for x, y in corners), max(x + y for x, y in corners))
    assert a - b == Interval(min(x - y for x, y in corners), max(x - y for x, y in corners))
    assert a * b == Interval(min(x * y for x, y in corners), max(x * y for x, y in corners))
    if not b.low <= 0 <= b.high:
        assert a / b == Interval(min(x / y for x, y in corners), max(x / y for x, y in corners))


@settings(deadline=None)
@given(held())
def test_one_operand(one: tuple[Interval, Fraction]) -> None:
    a, x = one
    assert holds(-a, -x)
    assert holds(abs(a), abs(x))
    assert holds(a.square(), x * x)
    root = a.sqrt()
    assert root.low >= 0
    if x >= 0:
        assert root.low**2 <= x <= root.high**2
    low, high = max(a.low, Fraction(0)), max(a.high, Fraction(0))
    step = Fraction(1, 10**18)
    assert low < (root.low + step) ** 2
    assert root.high == 0 or (root.high - step) ** 2 < high


@settings(deadline=None)
@given(held(), held())
def test_meeting_is_having_a_point_in_common(left: tuple[Interval, Fraction], right: tuple[Interval, Fraction]) -> None:
    (a, x), (b, _) = left, right
    common = max(a.low, b.low) <= min(a.high, b.high)
    assert a.meets(b) == b.meets(a) == common == (a.gap(b) == 0)
    assert a.gap(b) == -b.gap(a)
    if holds(b, x):
        assert a.meets(b)
    if b.covers(a):
        assert holds(b, x)
        assert b.width >= a.width
    assume(not common)
    assert abs(a.gap(b)) == min(abs(p - q) for p in (a.low, a.high) for q in (b.low, b.high))
    assert (a.gap(b) > 0) == (a.low > b.high)


@settings(deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(0, 9), st.integers(0, 9))
def test_decimal_text_gives_back_what_ends(digits: int, places: int, more: int) -> None:
    value = Fraction(digits, 10**places)
    text = decimal_text(value, places + more)
    assert Fraction(text) == value
    assert not (("." in text) and text.endswith("0"))
    assert text != "-0"


@settings(deadline=None)
@given(NUMBERS, st.integers(0, 8))
def test_decimal_text_is_within_half_a_unit(value: Fraction, places: int) -> None:
    assert abs(Fraction(decimal_text(value, places)) - value) <= Fraction(1, 2 * 10**places)
