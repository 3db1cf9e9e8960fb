"""Honest data is never flagged: simulated samples, printed as software prints, pass every check."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import numpy as np
from countback.claims.forensic import debit, grim, grimmer, sd_bounds
from countback.claims.pvalues import check_p
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

RULES = st.sampled_from(["half-up", "half-even", "float"])
PLACES = st.integers(0, 4)


def show(value: Fraction, places: int, rule: str, *, root: bool = False) -> str:
    """`value` (or its square root) with `places` decimals, rounded as a decimal or formatted as a binary float."""
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        exact = exact.sqrt() if root else exact
        if rule == "float":
            return f"{float(exact):.{places}f}"
        mode = ROUND_HALF_UP if rule == "half-up" else ROUND_HALF_EVEN
        return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=mode):f}"


def moments(totals: list[int], items: int) -> tuple[Fraction, Fraction]:
    n, s = len(totals), sum(totals)
    return Fraction(s, n * items), (sum(x * x for x in totals) - Fraction(s * s, n)) / (n - 1) / items**2


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(-60, 60), min_size=2, max_size=60), st.integers(1, 4), PLACES, PLACES, RULES)
def test_a_sample_is_never_flagged(totals: list[int], items: int, places: int, sd_places: int, rule: str) -> None:
    mean, square = moments(totals, items)
    printed, sd = show(mean, places, rule), show(square, sd_places, rule, root=True)
    check = grim(printed, len(totals), items)
    assert check.consistent
    assert check.total is not None
    assert abs(check.total - sum(totals)) <= Fraction(len(totals) * items, 10**places)
    assert grimmer(printed, sd, len(totals), items).consistent


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=80), PLACES, RULES)
def test_ratings_on_a_scale_are_never_flagged(ratings: list[int], places: int, rule: str) -> None:
    mean, square = moments(ratings, 1)
    printed, sd = show(mean, places, rule), show(square, places, rule, root=True)
    check = grimmer(printed, sd, len(ratings), within=(1, 5))
    assert check.consistent
    assert all(1 <= value <= 5 for value, _ in check.sample)
    bounds = sd_bounds(printed, len(ratings), 1, 5)
    assert bounds is not None
    assert bounds.low**2 <= square <= bounds.high**2


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 3000), st.data(), PLACES, RULES)
def test_zeros_and_ones_are_never_flagged(n: int, data: st.DataObject, places: int, rule: str) -> None:
    ones = data.draw(st.integers(0, n))
    square = Fraction(ones * (n - ones), n * (n - 1))
    assert debit(show(Fraction(ones, n), places, rule), show(square, places, rule, root=True), n).consistent
    assert grim(show(Fraction(100 * ones, n), places, rule) + "%", n).consistent


@settings(deadline=None)
@given(st.integers(2, 99), st.integers(0, 9800))
def test_a_mean_is_flagged_exactly_when_no_sum_prints_it(n: int, hundredths: int) -> None:
    printed = f"{hundredths / 100:.2f}"
    near = hundredths * n // 100
    possible = {show(Fraction(s, n), 2, rule) for s in range(near - 1, near + 3) for rule in ("half-up", "half-even")}
    if grim(printed, n).consistent != (
        printed in possible
    ):  # a tie that neither rule resolves this way: binary floats do
        assert any(abs(Fraction(s, n) - Fraction(printed)) == Fraction(1, 200) for s in range(near - 1, near + 3))
        assert grim(printed, n).consistent


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["t", "F", "chi2", "z", "r"]),
    st.floats(0, 1),
    st.integers(1, 400),
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, 4),
    st.booleans(),
)
def test_an_honest_p_is_never_flagged(
    name: str, tail: float, df: int, top: int, places: int, p_places: int, negative: bool
) -> None:
    """A statistic with a p spread over (0, 1), both printed rounded."""
    upper = max(tail, 1e-12)
    if name == "t":
        value, p, head = stats.t.isf(upper / 2, df), upper, f"t({df})"
    elif name == "F":
        value, p, head = stats.f.isf(upper, top, df), upper, f"F({top}, {df})"
    elif name == "chi2":
        value, p, head = stats.chi2.isf(upper, df), upper, f"chi2({df}, N = 500)"
    elif name == "z":
        value, p, head = stats.norm.isf(upper / 2), upper, "z"
    else:
        t = stats.t.isf(upper / 2, df)
        value, p, head = t / np.sqrt(df + t * t), upper, f"r({df})"
    sign = "-" if negative and name in "trz" else ""
    check = check_p(f"{head} = {sign}{value:.{places}f}, p = {p:.{p_places}f}")
    assert check.consistent
    assert check.decision_error in (False, None)
    assert check_p(f"{head} = {sign}{value:.{places}f}, p {'<' if p < 0.05 else '>'} .05").consistent
