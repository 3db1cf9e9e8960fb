"""What a value prints as, read back, stands for that value again."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from countback.claims.reported import ACCEPTED, ROUNDING, NotANumber, parse, unround
from hypothesis import example, given, settings
from hypothesis import strategies as st

MODES = {
    "half-up": ROUND_HALF_UP,
    "half-down": ROUND_HALF_DOWN,
    "half-even": ROUND_HALF_EVEN,
    "truncation": ROUND_DOWN,
    "ceiling": ROUND_UP,
}
# ties are what rounding rules differ on, so half of the values are multiples of half a unit
VALUES = st.one_of(
    st.fractions(min_value=-5000, max_value=5000, max_denominator=9999),
    st.builds(lambda k, p: Fraction(k, 2 * 10**p), st.integers(-20_000, 20_000), st.integers(0, 4)),
)
PLACES = st.integers(0, 4)


def show(value: Fraction, places: int, rule: str) -> str:
    """`value` with `places` decimals under one rule, by the decimal module."""
    with localcontext() as context:
        context.prec = 40
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=MODES[rule]):f}"


def holds(printed: str, value: Fraction) -> bool:
    interval = parse(printed, exact=False).interval
    return interval.low <= value <= interval.high


@settings(deadline=None, max_examples=300)
@given(VALUES, PLACES, st.sampled_from(ACCEPTED))
def test_a_printed_value_stands_for_the_value(value: Fraction, places: int, rule: str) -> None:
    printed = show(value, places, rule)
    assert holds(printed, value)
    assert holds(f"{float(value):.{places}f}", value) or abs(value) > 10**4
    whole, point, decimals = printed.partition(".")
    commas = f"{int(whole):,}" if int(whole) else whole
    for dressed in (
        printed.replace("-", "\u2212"),
        printed.replace("-", "$-$ "),
        f"${printed}$",
        f"{printed}%",
        f"{printed} pp",
        commas + point + decimals,
        printed if printed.startswith("-") else "+" + printed,
        f" {printed} ",
    ):
        assert holds(dressed, value), dressed
        assert parse(dressed, exact=False).value == Fraction(printed)
    if decimals and printed.startswith("0."):
        assert parse(printed[1:]).interval == parse(printed).interval


@settings(deadline=None, max_examples=400)
@given(VALUES, PLACES, st.sampled_from(sorted(MODES)), st.integers(-2, 2))
@example(Fraction(-1, 200), 2, "truncation", 0)
@example(Fraction(1, 200), 2, "half-even", 1)
def test_unround_bounds_are_exactly_what_the_rule_prints(value: Fraction, places: int, rule: str, shift: int) -> None:
    """For the printed value and its neighbours: inside the bounds is printing so, ends as flagged."""
    printed = Fraction(show(value, places, rule)) + Fraction(shift, 10**places)
    text = f"{Decimal(printed.numerator) / Decimal(printed.denominator):.{places}f}"
    bounds, low_in, high_in = unround(text, rule)
    inside = (
        (bounds.low < value < bounds.high) or (value == bounds.low and low_in) or (value == bounds.high and high_in)
    )
    prints_so = Fraction(show(value, places, rule)) == printed
    if printed != 0:  # at zero the sign is lost in print, and the closed hull is what is meant
        assert inside == prints_so
    elif prints_so and rule != "ceiling":
        assert bounds.low <= value <= bounds.high


@settings(deadline=None)
@given(VALUES, PLACES, st.sampled_from(sorted(MODES)))
def test_the_hull_of_a_rule_holds_what_the_rule_prints(value: Fraction, places: int, rule: str) -> None:
    interval = parse(show(value, places, rule), exact=False).rounded(rule)
    assert interval.low <= value <= interval.high


@settings(deadline=None)
@given(st.integers(-99_999, 99_999), st.integers(-99_999, 99_999), st.integers(-99_999, 99_999), st.integers(1, 4))
def test_estimates_and_ranges_keep_their_numbers(point: int, low: int, high: int, places: int) -> None:
    a, b, c = (f"{Decimal(number).scaleb(-places):f}" for number in (point, low, high))
    values = [Fraction(number) for number in (a, b, c)]
    for text in (f"{a} [{b},{c}]", f"{a} [{b}, {c}]", f"{a} ({b}\u2013{c})", f"{a} ({b} to {c})"):
        found = parse(text)
        assert found.kind == "estimate"
        assert [part.value for part in found.parts] == values
        assert found.value == values[0]
        assert (found.part("low").value, found.part("high").value) == (values[1], values[2])
    for text in (f"{b}\u2013{c}", f"{b} to {c}", f"[{b}, {c}]", f"{b}-{c}", f"{b} - {c}"):
        found = parse(text)
        assert found.kind == "range"
        assert [part.value for part in found.parts] == values[1:]


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_counts_are_exact_with_and_without_commas(count: int) -> None:
    for text in (str(count), f"{count:,}", f"{count:,} bytes"):
        found = parse(text)
        assert found.interval.low == found.interval.high == count
        assert found.step == 0


@settings(deadline=None, max_examples=500)
@given(st.text(alphabet="0123456789.,-+%$ []()/;xK\u2013\u2212\u00d7^{}<>=~abcdefpo\uff11\u0663\n", max_size=30))
def test_any_string_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except NotANumber:
        return
    assert found.text == text
    assert found.interval.low <= found.value <= found.interval.high
    assert found.kind == "hash" or any(digit in text for digit in "0123456789")
    if found.kind == "number":
        with pytest.raises(NotANumber):
            found.part("low")


def test_every_rule_of_the_table_was_tried() -> None:
    assert set(ROUNDING) - set(MODES) == {"half-up-or-down", "exact"}
