"""How a comparison becomes a verdict: truncation, uninformative checks, Monte Carlo error, data that proves nothing."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from countback.claims import verdict as v
from countback.claims.arithmetic import TIE, judge_relation
from countback.claims.registry import Check, Claim, Operand
from countback.claims.reported import parse, word
from countback.claims.verdict import Recount


def operand(text: str, exact: bool | None = None) -> Operand:
    return Operand(f"={text}", text, parse(text, exact=exact))


def relation(name: str, of: list[str], equals: str, **more: object) -> Claim:
    check = Check(name, tuple(operand(text) for text in of), operand(equals, False), **more)  # type: ignore[arg-type]
    return Claim("c", "p", "arithmetic", {}, "reads", equals, check.target.number, check=check)


def recount(reported: str, *, rounding: str = "", **found: object) -> v.Verdict:
    number = parse(reported) if not reported.isalpha() else word(reported)
    claim = Claim("c", "p", "recount", {}, "reads", reported, number, recipe="r")
    return v.judge_recount(claim, Recount(**found), {}, rounding)  # type: ignore[arg-type]


def test_consistent_and_inconsistent_with_the_gap():
    assert judge_relation(relation("sum", ["1.20", "0.30"], "1.51")).verdict == "consistent"  # 1.49 to 1.51
    bad = judge_relation(relation("sum", ["1.20", "0.30"], "1.53"))
    assert bad.verdict == "inconsistent"
    assert bad.gap == "-0.015"  # at most 1.51 against at least 1.525
    assert bad.agrees is False


def test_truncation_is_tried_and_named_only_when_rounding_fails():
    # 2/3 prints 0.67; 0.66 is 2/3 cut off
    cut = judge_relation(relation("ratio", ["2", "3"], "0.66"))
    assert cut.verdict == "consistent"
    assert "only truncation" in cut.reason
    assert cut.evidence["rounding"] == "truncation"
    assert judge_relation(relation("ratio", ["2", "3"], "0.67")).reason == ""
    assert judge_relation(relation("ratio", ["2", "3"], "0.65")).verdict == "inconsistent"


@pytest.mark.parametrize("stated", ["", "half-up-or-down", "half-up", "half-even"])
@pytest.mark.parametrize(
    ("name", "of", "equals"),
    [
        ("equal", ["3.21"], "3.20"),  # 3.205 is one or the other, never both
        ("mean", ["3.80", "4.60"], "4.21"),  # 3.805 and 4.605 would have to be cut and 4.205 rounded up
        ("mean", ["3.80", "4.60"], "4.19"),
        ("weighted-mean", ["3.80", "4.60"], "4.21"),
        (
            "sum",
            ["1.21", "0.30", "0.10"],
            "1.59",
        ),  # 1.205, 0.295 and 0.095 would be 1.595, which prints no less than 1.60
        ("median", ["1.0", "2.0", "3.0"], "2.1"),
        ("max", ["1.0", "2.0", "3.0"], "3.1"),
    ],
)
def test_a_slip_of_one_unit_does_not_hide_behind_a_tie(stated, name, of, equals):
    weights = tuple(operand("1") for _ in of) if name == "weighted-mean" else ()
    found = judge_relation(relation(name, of, equals, weights=weights), stated)
    assert found.verdict == "inconsistent"
    assert found.reason == (TIE if stated in ("", "half-up-or-down") else "")


@pytest.mark.parametrize(
    ("name", "of", "equals", "rules"),
    [
        # each holds at ties only; the arithmetic is that of the rules named
        ("sum", ["1.20", "0.30", "0.10"], "1.62", {"half-even"}),  # 1.205, 0.305, 0.105 to the even; 1.615 as well
        ("sum", ["1.21", "0.30", "0.10"], "1.63", set()),  # 1.215 prints 1.21 under neither
        ("ratio", ["1", "8"], "0.12", {"half-even"}),  # 0.125
        ("ratio", ["1", "8"], "0.13", {"half-up"}),
        ("ratio", ["23", "40"], "0.57", set()),  # 0.575 prints 0.58, but as a binary fraction it is less
        ("equal", ["1150"], "1.1K", set()),  # 1.15 likewise
    ],
)
def test_one_rule_must_explain_all_numbers_but_a_single_tie_may_fall_either_way(name, of, equals, rules):
    claim = relation(name, of, equals)
    for rule in ("half-up", "half-even"):
        assert (judge_relation(claim, rule).verdict == "consistent") == (rule in rules), rule
    single = name in ("ratio", "equal")
    assert (judge_relation(claim, "half-up-or-down").verdict == "consistent") == (single or bool(rules))


def test_what_contradicts_itself_is_a_finding_not_a_mistake_of_the_user():
    parts = relation("moment-mean", ["60.0%", "20.0%"], "1.25")  # 79.9 to 80.1
    found = judge_relation(parts)
    assert (found.verdict, found.agrees) == ("inconsistent", False)
    assert "cannot add to 100%" in found.reason
    cut = relation("moment-mean", ["33.0%", "33.0%", "33.8%"], "2.0")  # 99.95 at most when rounded, 100.1 when cut off
    assert judge_relation(cut).reason == v.TRUNCATED
    assert judge_relation(cut, "half-up-or-down").verdict == "inconsistent"
    assert "no whole count" in judge_relation(relation("joint-share", ["50%"], "50%", n=(operand("7"),))).reason


def test_what_is_compared_with_itself_could_not_fail():
    x = Operand("t|a|b", "3.80", parse("3.80"))
    for name in ("equal", "mean", "max"):
        claim = Claim("c", "p", "arithmetic", {}, "reads", "3.80", x.number, check=Check(name, (x,), x))
        assert judge_relation(claim).verdict == "uninformative"
    claim = Claim("c", "p", "arithmetic", {}, "reads", "3.80", x.number, check=Check("at-least", (x, x)))
    assert judge_relation(claim).verdict == "uninformative"
    low, high = (Operand("t|a|b", "3.80", parse("3.80"), part) for part in ("low", "high"))  # of 3.80 [3.80,3.80]
    claim = Claim("c", "p", "arithmetic", {}, "reads", "3.80", x.number, check=Check("at-least", (high, low)))
    assert judge_relation(claim).verdict == "consistent"
    other = Operand("t|a|c", "3.80", parse("3.80"))
    claim = Claim("c", "p", "arithmetic", {}, "reads", "3.80", x.number, check=Check("equal", (x,), other))
    assert judge_relation(claim).verdict == "consistent"


def test_orders_are_those_of_one_rule():
    assert predicate("at-least", ["3.80", "3.81"]).verdict == "inconsistent"
    assert predicate("inside", ["4.27", "4.28", "4.29"]).verdict == "inconsistent"
    cut = predicate("at-least", ["4.2", "4.28"])  # cut off, 4.28 is 4.2
    assert (cut.verdict, cut.reason, cut.evidence["rounding"]) == ("consistent", v.TRUNCATED, "truncation")
    claim = Claim(
        "c", "p", "arithmetic", {}, "reads", "4.2", None, check=Check("at-least", (operand("4.2"), operand("4.28")))
    )
    assert judge_relation(claim, "half-up-or-down").verdict == "inconsistent"
    assert judge_relation(claim, "truncation").verdict == "consistent"


def test_an_inequality_bounds_a_share_of_counts():
    below = relation("count-share", ["5%"], "< 5%", n=(operand("30"),))  # 0 and 1 of 30 are below 5.5%
    assert judge_relation(below, "half-up-or-down").verdict == "consistent"
    below = relation("joint-share", ["50%", "50%"], "< 5%", n=(operand("30"), operand("30")))
    assert judge_relation(below, "half-up-or-down").verdict == "inconsistent"


def test_a_stated_rule_is_the_only_one():
    claim = relation("ratio", ["2", "3"], "0.66")
    assert judge_relation(claim, "half-up").verdict == "inconsistent"
    assert judge_relation(claim, "truncation").verdict == "consistent"
    assert judge_relation(relation("ratio", ["2", "3"], "0.67"), "truncation").verdict == "inconsistent"


def test_uninformative_when_every_printable_value_is_implied():
    # a part of 0 to 100 out of 0 to 100 could be any percentage
    claim = relation("difference", ["50%", "50%"], "0%", domain=("0", "0.5"))
    assert judge_relation(claim).verdict == "uninformative"
    share = relation("count-share", ["50.0%"], "50.0%", n=(operand("1000"),))
    assert judge_relation(share).verdict == "uninformative"  # every tenth of a percent is some k of 1,000
    share = relation("count-share", ["50.0%"], "50.0%", n=(operand("600"),))
    assert judge_relation(share).verdict == "consistent"
    # of 999, 499 prints 49.9 and 500 is 50.05 and prints 50.1: no count is 50.0 when rounded. But cut off, 500 is, and
    # so some count is every tenth one way or the other
    share = relation("count-share", ["50.0%"], "50.0%", n=(operand("999"),))
    assert judge_relation(share).verdict == "uninformative"
    assert judge_relation(share, "half-up-or-down").verdict == "inconsistent"
    # one unit spans half of 0 to 2, and the numbers leave 0.5 to 1.5: 0, 1 and 2 each meet it
    assert judge_relation(relation("difference", ["3", "2"], "1", domain=("0", "2"))).verdict == "consistent"  # counts
    wide = relation("difference", ["+3", "+2"], "1", domain=("0", "2"))  # 0 to 2
    assert judge_relation(wide).verdict == "uninformative"
    nearly = relation("sum", ["+1"], "1", domain=("0", "2"))  # 0.5 to 1.5
    assert judge_relation(nearly).verdict == "uninformative"
    assert judge_relation(relation("sum", ["+1"], "1", domain=("0", "3"))).verdict == "consistent"
    share = relation("count-share", ["40.89%"], "40.89%", n=(operand("565"),))
    assert judge_relation(share).verdict == "inconsistent"  # 231 is 40.884..., 232 is 41.06...


def predicate(name: str, of: list[str], **more: object) -> v.Verdict:
    operands = tuple(Operand(f"={t}", t, parse(t) if t[0].isdigit() else word(t)) for t in of)
    return judge_relation(Claim("c", "p", "arithmetic", {}, "reads", of[0], None, check=Check(name, operands, **more)))  # type: ignore[arg-type]


def test_forensic_predicates():
    n28, n40, n1000 = (operand("28"),), (operand("40"),), (operand("1000"),)
    assert predicate("grim", ["5.19"], n=n28).verdict == "inconsistent"  # 145/28 = 5.178..., 146/28 = 5.214...
    assert predicate("grim", ["5.19"], n=n28).recounted == "nearest possible mean: 5.18"
    assert predicate("grim", ["5.18"], n=n28).verdict == "consistent"
    assert predicate("grim", ["5.18"], n=n28).recounted == "possible"
    assert predicate("grim", ["5.19"], n=n1000).verdict == "uninformative"
    assert predicate("grimmer", ["2.00", "1.00"], n=(operand("2"),)).verdict == "inconsistent"  # 1,3 gives 1.41
    assert predicate("debit", ["0.50", "0.10"], n=n40).verdict == "inconsistent"  # 20 of 40 ones: sd 0.506
    assert predicate("p-value", ["t(28) = 2.20, p = .03"]).verdict == "inconsistent"  # p = .036
    assert predicate("p-value", ["t(28) = 2.20, p = .04"]).verdict == "consistent"


def test_a_whole_number_is_rounded_where_the_relation_gives_fractions():
    def whole(name: str, of: list[str], equals: str) -> str:
        check = Check(name, tuple(operand(text) for text in of), operand(equals))
        return judge_relation(
            Claim("c", "p", "arithmetic", {}, "reads", equals, check.target.number, check=check)
        ).verdict

    assert whole("mean", ["84", "91", "55"], "77") == "consistent"  # 230/3 = 76.66...
    assert whole("mean", ["84", "91", "55"], "78") == "inconsistent"
    assert whole("mean", ["3.80", "4.60", "4.50"], "4") == "consistent"
    assert whole("mean", ["0.5", "1.5", "1.5"], "2") == "inconsistent"  # 1.1 to 1.2
    assert whole("mean", ["0", "1", "1", "0"], "1") == "consistent"  # 1/2 is a tie, and the only one: either way
    assert whole("mean", ["0.0", "1.0", "1.0", "-0.1"], "0") == "consistent"
    assert whole("sum", ["84", "91", "55"], "230") == "consistent"
    assert whole("sum", ["84", "91", "55"], "231") == "inconsistent"  # a count is exact
    assert whole("sum", ["84.3", "145.4"], "230") == "inconsistent"  # 229.6 to 229.8


def test_a_divisor_that_may_be_zero_is_no_check():
    found = judge_relation(relation("ratio", ["1.0", "0.0"], "3.0"))  # no check was made; one could have failed
    assert (found.verdict, found.reason) == ("unchecked", "a divisor may be zero")


def test_inequalities_stand_for_one_side():
    assert judge_relation(relation("difference", ["0.0004", "0"], "< .001")).verdict == "consistent"
    assert judge_relation(relation("difference", ["0.0024", "0"], "< .001")).verdict == "inconsistent"
    assert judge_relation(relation("sum", ["4"], "> 5")).verdict == "inconsistent"


@pytest.mark.parametrize(
    ("of", "printed", "verdict"),
    [
        ("0.0012", "< .001", "inconsistent"),  # the bound is no rounded measurement
        ("0.0010", "< .001", "consistent"),  # from 0.00095
        ("0.001", "< .001", "consistent"),
        ("1", "< 1", "inconsistent"),
        ("1", "<= 1", "consistent"),
        ("5", "> 5", "inconsistent"),
        ("5", "\u2265 5", "consistent"),
        ("79.6%", "> 80%", "inconsistent"),
        ("80.0%", "> 80%", "consistent"),  # to 80.05
    ],
)
def test_the_bound_of_an_inequality_is_not_rounded(of: str, printed: str, verdict: str) -> None:
    for rule in ("", "half-even"):
        assert judge_relation(relation("equal", [of], printed), rule).verdict == verdict
    assert recount("< .001", value=0.0012).verdict == "differs"
    assert recount("< .001", value=F(1, 1000)).verdict == "differs"
    assert recount("< .001", value=0.0009, readings={"two-sided": 0.0012}).evidence["readings_that_meet"] == []


def test_a_share_beside_a_percentage_is_named_as_what_it_is():
    """Such a finding is a slip in the claim: a hundred times 0.811 is 81.1, and 1 of 3 is 33.3%."""
    for claim in (
        relation("equal", ["0.811"], "81.1%"),
        relation("equal", ["81.1%"], "0.811"),
        relation("count-share", ["0.333"], "0.333", n=(operand("3"),)),
    ):
        found = judge_relation(claim)
        assert (found.verdict, found.reason) == ("inconsistent", v.HUNDREDFOLD)
    for claim in (relation("equal", ["0.802"], "81.1%"), relation("equal", ["0.00"], "81.1%")):
        assert (judge_relation(claim).verdict, judge_relation(claim).reason) == ("inconsistent", "")
    assert (recount("81.1%", value=F(398, 491)).verdict, recount("81.1%", value=F(398, 491)).reason) == (
        "differs",
        v.HUNDREDFOLD,
    )
    assert recount("81.1%", value=F(390, 491)).reason == ""  # 79.4%


@pytest.mark.parametrize(
    ("reported", "value", "expected"),
    [
        ("81.1%", F(39800, 491), "reproduced"),  # 398 of 491 = 81.059...
        ("81.1%", F(39700, 491), "differs"),  # 397 of 491 = 80.855...
        ("0.66", 324 / 491, "reproduced"),
        ("81.1%", 81.05, "reproduced"),  # a float on the boundary is given its own error
        ("491", 491, "reproduced"),
        ("491", 490, "differs"),
    ],
)
def test_recounts_are_judged_within_rounding(reported, value, expected):
    assert recount(reported, value=value).verdict == expected


def test_a_recount_may_be_cut_off_and_a_stated_rule_is_kept():
    cut = recount("80.8%", value=F(39700, 491))  # 80.855... prints 80.9
    assert (cut.verdict, cut.reason) == ("reproduced", v.TRUNCATED)
    assert recount("80.8%", rounding="half-up-or-down", value=F(39700, 491)).verdict == "differs"
    assert recount("-0.12", value=-0.129).reason == v.TRUNCATED
    assert recount("-0.13", value=-0.129).reason == ""
    assert recount("-0.12", value=-0.1301).verdict == "differs"
    assert recount("0.12", value=F(1, 8)).verdict == "reproduced"  # a tie
    assert recount("0.12", rounding="half-even", value=F(1, 8)).verdict == "reproduced"
    assert recount("0.12", rounding="half-up", value=F(1, 8)).verdict == "differs"


def test_monte_carlo_error_is_allowed_four_times_and_said():
    assert recount("0.029", value=0.033).verdict == "differs"
    drawn = recount("0.029", value=0.033, mc_error=0.001, seed=1)  # 0.033 - 4 x 0.001 = 0.029
    assert drawn.verdict == "reproduced"
    assert drawn.evidence["mc_error"] == 0.001
    assert drawn.evidence["sigmas"] == 4
    assert recount("0.029", value=0.034, mc_error=0.001).verdict == "differs"


def test_words_are_compared_letter_by_letter():
    assert recount("PASSED", value="PASSED").verdict == "reproduced"
    assert recount("PASSED", value="FAILED").verdict == "differs"


def test_both_ends_of_a_printed_interval_count():
    assert recount("+2.9 to +18.7", value=0, low_high=(2.93, 18.66)).verdict == "reproduced"
    assert recount("+2.9 to +18.7", value=0, low_high=(2.93, 18.90)).verdict == "differs"


def test_a_point_printed_with_its_interval_has_no_share_in_the_noise_of_the_ends():
    found = {"value": F(428, 100), "low_high": (4.273, 4.297), "mc_error": 0.001}  # 4 x 0.001 beyond 4.275 and 4.295
    assert recount("4.28 [4.28,4.29]", **found).verdict == "reproduced"
    assert recount("4.28 [4.28,4.29]", **{**found, "mc_error": 0.0004}).gap == "-0.0004"
    point = recount("4.28 [4.28,4.29]", **{**found, "value": 4.2745})
    assert (point.verdict, point.gap) == ("differs", "-0.0005")
    assert point.recounted == "4.2745 [4.273, 4.297]"


def test_readings_that_meet_the_printed_value_are_named():
    found = recount("0.367", value=0.252, readings={"unweighted": 0.252, "weighted": 0.407, "median": 0.3671})
    assert found.verdict == "differs"
    assert found.evidence["readings_that_meet"] == ["median"]


def test_synthetic_data_never_reproduces():
    good = recount("491", value=491)
    turned = v.not_evidence(good, v.SYNTHETIC)
    assert (turned.verdict, turned.agrees, turned.recounted) == ("unchecked", True, "491")
    assert turned.expected


def test_summary_names_every_verdict():
    assert v.summary([recount("491", value=491)]) == {
        "reproduced": 1,
        "consistent": 0,
        "differs": 0,
        "inconsistent": 0,
        "uninformative": 0,
        "unchecked": 0,
    }
