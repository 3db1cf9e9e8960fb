"""Interval arithmetic by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from countback.claims.interval import Interval, decimal_text, short, total


def span(low: str, high: str) -> Interval:
    return Interval(Fraction(low), Fraction(high))


def test_arithmetic_by_hand() -> None:
    a, b = span("2.75", "2.85"), span("-0.15", "-0.05")
    assert a + b == span("2.60", "2.80")
    assert a - b == span("2.80", "3.00")
    assert -a == span("-2.85", "-2.75")
    assert a * b == span("-0.4275", "-0.1375")  # 2.85 x -0.15, 2.75 x -0.05
    assert a * a == span("7.5625", "8.1225")
    assert a / b == Interval(Fraction("2.85") / Fraction("-0.05"), Fraction("2.75") / Fraction("-0.15"))
    assert span("-1", "2") * span("-3", "4") == span("-6", "8")
    assert (a.mid, a.width) == (Fraction("2.8"), Fraction("0.1"))


def test_one_quantity_used_twice_is_tighter_by_its_own_name() -> None:
    x = span("-1", "2")
    assert x * x == span("-2", "4")
    assert x.square() == span("0", "4")
    assert span("-3", "-2").square() == span("4", "9")
    assert abs(x) == span("0", "2")
    assert abs(span("-3", "-2")) == span("2", "3")
    assert abs(span("2", "3")) == span("2", "3")


def test_roots_are_exact_where_they_end_and_outward_where_they_do_not() -> None:
    assert span("4", "6.25").sqrt() == span("2", "2.5")
    two = Interval.of(2).sqrt()
    assert two.low**2 < 2 < two.high**2
    assert two.width == Fraction(1, 10**18)
    assert span("-4", "9").sqrt() == span("0", "3")  # a variance's rounding interval may dip below zero
    assert span("-4", "-1").sqrt() == span("0", "0")


def test_what_has_no_answer_raises() -> None:
    with pytest.raises(ValueError, match="reversed"):
        span("2", "1")
    for divisor in (span("0", "1"), span("-1", "0"), span("-1", "1"), span("0", "0")):
        with pytest.raises(ZeroDivisionError, match="contains zero"):
            span("1", "2") / divisor


def test_meeting_covering_and_the_gap_between() -> None:
    a, b, c = span("1", "2"), span("2", "3"), span("5", "6")
    assert a.meets(b)
    assert b.meets(a)  # they share the point 2
    assert not a.meets(c)
    assert span("0", "4").covers(b)
    assert not b.covers(span("0", "4"))
    assert a.covers(a)
    assert (a.gap(b), c.gap(a), a.gap(c)) == (0, 3, -3)


def test_a_whole_number_in_a_sentence_keeps_its_digits() -> None:
    shown = [short(Fraction(value)) for value in ("1234567", "-1234567", "1/3", "2469135/2", "1" + "0" * 400)]
    assert shown == ["1234567", "-1234567", "0.333333", "1.23457e+06", "1e400"]


def test_totals() -> None:
    assert total([span("1", "2"), span("-5", "3"), Interval.of(4)]) == span("0", "9")
    assert total([]) == Interval.of(0)


def test_points_and_wholes() -> None:
    assert Interval.of(3) == span("3", "3")
    assert Interval.of(1, 2) == span("1", "2")
    assert Interval.of(Fraction(1, 3)).width == 0


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        ("4.2833333", 4, "4.2833"),
        ("0.125", 2, "0.12"),
        ("0.135", 2, "0.14"),
        ("-0.125", 6, "-0.125"),
        ("-0.0000001", 6, "0"),
        ("0.05", 6, "0.05"),
        ("0", 6, "0"),
        ("100", 6, "100"),
        ("100", 0, "100"),
        ("2.5", 0, "2"),
        ("-1234567.5", 6, "-1234567.5"),
        ("0.000001", 6, "0.000001"),
    ],
)
def test_decimal_text(value: str, places: int, text: str) -> None:
    assert decimal_text(Fraction(value), places) == text
