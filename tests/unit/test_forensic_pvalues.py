"""p-values recomputed from printed statistics, against scipy.stats and printed tables."""

from __future__ import annotations

import pytest
from countback.claims.interval import Interval
from countback.claims.pvalues import PCheck, check_p, p_interval
from countback.claims.reported import NotANumber, parse
from countback.fetch.errors import UserError
from scipy import stats


def p_of(name: str, value: str, *freedom: str, one_tailed: bool = False) -> Interval:
    return p_interval(name, parse(value, exact=True).interval, tuple(parse(df).interval for df in freedom), one_tailed)


@pytest.mark.parametrize(
    ("name", "value", "freedom", "level"),  # critical values as printed in textbooks' tables
    [
        ("z", "1.95996", (), 0.05),
        ("t", "2.2281", ("10",), 0.05),
        ("t", "3.1693", ("10",), 0.01),
        ("t", "12.706", ("1",), 0.05),
        ("F", "3.3404", ("2", "28"), 0.05),
        ("F", "4.1960", ("1", "28"), 0.05),
        ("chi2", "3.8415", ("1",), 0.05),
        ("chi2", "41.337", ("28",), 0.05),
        ("r", "0.3610", ("28",), 0.05),
    ],
)
def test_tables_of_critical_values(name: str, value: str, freedom: tuple[str, ...], level: float) -> None:
    assert float(p_of(name, value, *freedom).mid) == pytest.approx(level, rel=1e-3)


@pytest.mark.parametrize("value", ["0", "0.001", "0.5", "1", "2.2", "5", "12", "38", "1000000"])
@pytest.mark.parametrize("df", ["1", "2.5", "28", "1000", "100000000"])
def test_tails_agree_with_another_implementation(value: str, df: str) -> None:
    x, freedom = float(value), float(df)
    tolerance = 1e-8
    if df != "2.5":  # a decimal df is rounded and gives an interval
        assert float(p_of("t", value, df).mid) == pytest.approx(2 * stats.t.sf(x, freedom), rel=tolerance)
        assert float(p_of("F", value, "3", df).mid) == pytest.approx(stats.f.sf(x, 3, freedom), rel=tolerance)
        assert float(p_of("chi2", value, df).mid) == pytest.approx(stats.chi2.sf(x, freedom), rel=tolerance)
    else:
        low, high = p_of("t", value, df).low, p_of("t", value, df).high
        for each in (2.45, 2.5, 2.55):
            assert float(low) <= 2 * stats.t.sf(x, each) <= float(high)
    assert float(p_of("z", value).mid) == pytest.approx(2 * stats.norm.sf(x), rel=tolerance)


@pytest.mark.parametrize("r", [0.0, 0.05, 0.22, 0.52, 0.9, 0.999])
def test_a_correlation_is_a_t(r: float) -> None:
    t = r * (28 / (1 - r * r)) ** 0.5
    assert float(p_of("r", f"{r:.3f}", "28").mid) == pytest.approx(2 * stats.t.sf(t, 28), rel=1e-8)


def test_the_interval_is_that_of_the_statistic_as_rounded() -> None:
    check = check_p("t(28) = 2.2, p = .03")
    assert check.consistent  # 2.2 is anything from 2.15 (p = .0403) to 2.25 (.0325)
    assert float(check.recomputed.low) == pytest.approx(2 * stats.t.sf(2.25, 28), rel=1e-8)
    assert float(check.recomputed.high) == pytest.approx(2 * stats.t.sf(2.15, 28), rel=1e-8)
    assert not check_p("t(28) = 2.20, p = .03").consistent  # 2.195 to 2.205: .0366 to .0358


def test_what_is_wrong_is_said_with_the_nearest_p() -> None:
    check = check_p("t(28) = 2.20, p = .03")
    assert (check.nearest, check.decision_error) == ("0.0358", False)
    check = check_p("t(28) = 2.20, p = .06")
    assert (check.nearest, check.decision_error) == ("0.0366", True)
    assert check_p("t(28) = 2.20, p < .001").nearest == "0.03584"
    assert check_p("t(28) = 22.20, p = .000", zero=False).nearest == "< 0.001"
    assert check_p("t(28) = 22.20, p = .000").consistent


@pytest.mark.parametrize(
    ("text", "consistent", "decision_error"),
    [
        ("t(28) = -2.20, p = .04", True, False),  # the sign changes nothing: .0362
        ("t(28) = 2.20, p < .05", True, False),
        ("t(28) = 2.20, p > .05", False, True),
        ("t(28) = 2.20, ns", False, True),
        ("t(28) = 1.20, ns", True, False),  # .2402
        ("t(28) < -2.2, p < .05", True, False),  # a larger effect: p below .0403
        ("t(28) < -2.2, p > .05", False, True),
        ("t(28) > -2.2, p < .02", False, None),  # a smaller effect: p above .0325, on either side of .05
        ("t(28) = 2.20, p < .10", True, None),  # says nothing about .05
        ("t(28) = 2.05, p = .05", True, None),  # 2.045 to 2.055: .0503 to .0493, on both sides
        ("F(2, 28) = 22.20, p < .001", True, False),
        ("F(1, 28) < 1, ns", True, False),  # .3259 and more
        ("chi2(1, N = 90) = 3.84, p = .05", True, None),
        ("chi2(1, N = 1,234) = 3.84, p = .05", True, None),
        ("χ2(1, n=90) = 3.84, p = .05", True, None),
        ("F(1, 1,234) = 4.84, p = .028", True, False),  # t(1234) = 2.20: .0280
        ("F(2,128) = 3.50, p = .033", True, False),  # (1 + 7 / 128)^-64 = .0331
        ("χ²(1) = 10.83, p ≤ .001", True, False),  # .00100 lies inside 10.825 to 10.835
        ("r(28) = -.52, p = .003", True, False),  # t = 3.22: .0032
        ("z = 1,234.5, p < .001", True, False),
        ("Qb(1) = 3.78, p < .05", False, True),
    ],
)
def test_results_as_papers_print_them(text: str, consistent: bool, decision_error: bool | None) -> None:
    check = check_p(text)
    assert (check.consistent, check.decision_error) == (consistent, decision_error)


def test_one_tailed_halves_where_a_tail_can_be_named() -> None:
    assert check_p("t(28) = 2.20, p = .02", one_tailed=True).consistent  # .0362 / 2 = .0181
    assert not check_p("t(28) = 2.20, p = .04", one_tailed=True).consistent
    assert check_p("F(1, 28) = 4.84, p = .02", one_tailed=True).consistent  # 4.84 = 2.20 squared
    assert check_p("t(28) < 2.20, p = .50", one_tailed=True).consistent  # no effect at all
    assert not check_p("t(28) < 2.20, p = .52", one_tailed=True).consistent
    assert check_p("t(28) < 2.20, p = .52").consistent
    for text in ("F(2, 28) = 4.84, p = .02", "chi2(4) = 4.84, p = .02"):
        with pytest.raises(UserError, match="one-tailed p only with 1 degree"):
            check_p(text, one_tailed=True)


def test_a_statistic_that_allows_every_p_is_uninformative() -> None:
    check = check_p("t(28) > 0, p = .04")
    assert (check.consistent, check.informative) == (True, False)
    assert check_p("t(28) > 2.2, p < .05").informative


def test_p_equal_to_alpha_counts_as_the_paper_says() -> None:
    assert check_p("t(28) = 2.20, p = .05").decision_error is False
    assert check_p("t(28) = 2.20, p = .05", alpha_is_significant=False).decision_error is True
    assert check_p("t(28) = 2.07, p = .05", alpha_is_significant=False).decision_error is False  # .0473 prints .05
    assert check_p("t(28) = 2.20, p = .03", alpha=".01").decision_error is False
    assert check_p("t(28) = 3.20, p = .03", alpha=".01").decision_error is True  # .0034


def test_a_vanishing_p_is_zero_at_most_and_below_every_bound() -> None:
    check = check_p("t(28) = 99999999.99, p < .001")
    assert check.consistent
    assert check_p("z = 60.00, p < .001").recomputed == Interval.of(0)
    assert check_p("r(28) = 1.00, p < .001").consistent


@pytest.mark.parametrize(
    "text",
    [
        "", "p = .03", "t(28) = 2.20", "t(28) = 2.20 p = .03", "t(28) = two, p = .03", "t(28) = nan, p = .03",
        "t(28) = 2.20, p = 1.2", "t(28) = 2.20, p = -.03", "t(28) = 2.20, p = 3%", "t(28) = 2.20, p ~ .03",
        "t(28) = 2.20, p = .01-.03", "w(28) = 2.20, p = .03", "t(28) = 2.2%, p = .03", "t(28) = 1.2-2.2, p = .03",
        "t(x) = 2.20, p = .03", "t(28) = 2.20, p = " + "9" * 10_000, "t" * 10_000,
    ],
)  # fmt: skip
def test_what_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(NotANumber):
        check_p(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F(2, 28) = -2.20, p = .03", "F cannot be -2.20"),
        ("r(28) = 1.20, p = .03", "r cannot be 1.20"),
        ("t(0) = 2.20, p = .03", "t has 1 degrees of freedom, above 0"),
        ("F(28) = 2.20, p = .03", "F has 2 degrees of freedom"),
        ("t = 2.20, p = .03", "found none"),
        ("t(1,234) = 2.20, p = .03", "t has 1 degrees of freedom.* found 1, 234"),  # or 1,234: not guessed
        ("t(9999999999999) = 2.20, p = .03", "below 10"),
    ],
)
def test_an_impossible_statistic_is_a_sentence(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_p(text)


def test_the_answer_is_frozen() -> None:
    check = check_p("t(28) = 2.20, p = .04")
    assert isinstance(check, PCheck)
    with pytest.raises(AttributeError):
        check.consistent = False  # type: ignore[misc]
