"""The decision tables of both resolvers, every row and every boundary; the expected outcome is arithmetic in sight."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from countback.claims.resolve_lead import Lead, LeadRule
from countback.claims.resolve_lead import decide as decide_lead
from countback.claims.resolve_share import Share, ShareRule
from countback.claims.resolve_share import decide as decide_share

RULE = LeadRule("judge", 12, 9, Fraction(5), ("France", "India"), Fraction(-10))
OTHERS = tuple("ABCDEFGHIJ")
DEADLINE = datetime(2027, 6, 30, 23, 59, 59, tzinfo=UTC)


def leads(france: int, india: int, others: list[int], n: int = 100) -> list[Lead]:
    """Twelve countries with n comparisons each, and the judge's hits less the human's."""
    gaps = dict(zip(("France", "India", *OTHERS), (france, india, *others), strict=True))
    return [Lead((country,), n, gap, gap) for country, gap in gaps.items()]


def holds(decision) -> list[bool | None]:
    return [criterion.holds for criterion in decision.criteria]


# With n = 100 a gap is a lead in points, and D is the sum of the gaps / 12: k2 from 60 on, b1 below 0.
TABLE = {
    # sum 70 - 3 = 67; nine of twelve are not negative
    "k1 k2": (leads(0, 0, [10] * 7 + [-1] * 3), [True, True, False, False], "confirmed"),
    # sum 180 - 1 - 22 = 157; nine of twelve
    "k1 k2 b2": (leads(-11, -11, [20] * 9 + [-1]), [True, True, False, True], "both"),
    # sum 0
    "k1": (leads(0, 0, [0] * 10), [True, False, False, False], "neither"),
    # sum 27 - 22 = 5; ten of twelve
    "k1 b2": (leads(-11, -11, [3] * 9 + [0]), [True, False, False, True], "broken"),
    # sum -3; nine of twelve
    "k1 b1": (leads(0, 0, [0] * 7 + [-1] * 3), [True, False, True, False], "broken"),
    # sum -22; ten of twelve
    "k1 b1 b2": (leads(-11, -11, [0] * 10), [True, False, True, True], "broken"),
    # sum 300 - 4 = 296; eight of twelve
    "k2": (leads(0, 0, [50] * 6 + [-1] * 4), [False, True, False, False], "neither"),
    # sum 400 - 2 - 22 = 376; eight of twelve
    "k2 b2": (leads(-11, -11, [50] * 8 + [-1] * 2), [False, True, False, True], "broken"),
    # sum 6 - 4 = 2; eight of twelve
    "none": (leads(0, 0, [1] * 6 + [-1] * 4), [False, False, False, False], "neither"),
    # sum 32 - 2 - 22 = 8; eight of twelve
    "b2": (leads(-11, -11, [4] * 8 + [-1] * 2), [False, False, False, True], "broken"),
    # sum -4; eight of twelve
    "b1": (leads(0, 0, [0] * 6 + [-1] * 4), [False, False, True, False], "broken"),
    # sum -24; eight of twelve
    "b1 b2": (leads(-11, -11, [0] * 8 + [-1] * 2), [False, False, True, True], "broken"),
}


@pytest.mark.parametrize("row", TABLE)
def test_every_row_of_the_decision_table(row):
    """Twelve of the sixteen: D cannot be 5 or more and below 0 at once."""
    known, expected, outcome = TABLE[row]
    decision = decide_lead(known, RULE)
    assert holds(decision) == expected
    assert decision.possible == (outcome,)
    assert decision.outcome == outcome


@pytest.mark.parametrize(
    ("only", "truth"), [("k1", "confirmed"), ("k2", "confirmed"), ("b1", "broken"), ("b2", "broken")]
)
@pytest.mark.parametrize("row", TABLE)
def test_a_criterion_alone(row, only, truth):
    """A k that holds confirms and a b that happens breaks; the other way round otherwise."""
    known, expected, _ = TABLE[row]
    rule = LeadRule("judge", 12, 9, Fraction(5), ("France", "India"), Fraction(-10), only=only)
    happened = expected[["k1", "k2", "b1", "b2"].index(only)]
    other = {"confirmed": "broken", "broken": "confirmed"}[truth]
    assert decide_lead(known, rule).outcome == (truth if happened else other)


def test_nine_of_twelve_is_enough_and_eight_is_not():
    assert holds(decide_lead(leads(0, 0, [0] * 7 + [-1] * 3), RULE))[0] is True
    assert holds(decide_lead(leads(0, 0, [0] * 6 + [-1] * 4), RULE))[0] is False


def test_a_lead_of_exactly_five_points_is_enough():
    assert holds(decide_lead(leads(0, 0, [6] * 10), RULE))[1] is True  # 60 / 1200 = 5%
    assert holds(decide_lead(leads(0, 0, [6] * 9 + [5]), RULE))[1] is False  # 59 / 1200


def test_the_pooled_lead_is_over_comparisons_and_not_over_countries():
    """Eleven countries at +10 of 100, one at -1 of 100,000: the mean of leads is 9, the pooled one 109 / 101,100."""
    known = [*leads(10, 10, [10] * 10)[:11], Lead(("J",), 100_000, -1, -1)]
    decision = decide_lead(known, RULE)
    assert decision.criteria[1].values[0].low == Fraction(100 * 109, 101_100)
    assert decision.criteria[1].holds is False


def test_a_pooled_lead_of_zero_is_no_lead_of_the_human():
    assert holds(decide_lead(leads(0, 0, [1] * 5 + [-1] * 5), RULE))[2] is False
    assert holds(decide_lead(leads(0, 0, [1] * 4 + [-1] * 5 + [0]), RULE))[2] is True


def test_trailing_by_exactly_ten_points_is_not_more_than_ten():
    assert holds(decide_lead(leads(-10, -11, [0] * 10), RULE))[3] is False
    assert holds(decide_lead(leads(-11, -10, [0] * 10), RULE))[3] is False
    assert holds(decide_lead(leads(-101, -101, [0] * 10, n=1000), RULE))[3] is True  # -10.1
    assert holds(decide_lead(leads(-100, -101, [0] * 10, n=1000), RULE))[3] is False


def test_the_deadline_second_is_in_time_and_the_next_is_void():
    known = TABLE["k1 k2"][0]
    assert decide_lead(known, RULE, DEADLINE, DEADLINE).outcome == "confirmed"
    assert decide_lead(known, RULE, DEADLINE + timedelta(seconds=1), DEADLINE).outcome == "void"
    assert decide_lead(known, RULE, DEADLINE + timedelta(days=9), None).outcome == "confirmed"


class TestPartialRelease:
    def test_k1_is_decided_when_no_completion_could_change_it(self):
        nine = leads(0, 0, [0] * 7 + [-1] * 3)[:9]
        assert holds(decide_lead(nine, RULE))[0] is True
        four_below = leads(-1, -1, [-1, -1] + [0] * 8)[:4]
        assert holds(decide_lead(four_below, RULE))[0] is False
        three_below = leads(-1, -1, [-1] + [0] * 9)[:11]
        assert three_below[-1].low == 0
        assert holds(decide_lead(three_below[:3], RULE))[0] is None
        assert holds(decide_lead(three_below[:10], RULE))[0] is None  # seven of ten, two to come

    def test_the_pooled_lead_is_open_while_a_country_is_missing(self):
        assert holds(decide_lead(leads(50, 50, [50] * 10)[:11], RULE))[1:3] == [None, None]

    def test_missing_france(self):
        known = leads(0, -11, [20] * 10)[1:]
        assert holds(decide_lead(known, RULE)) == [True, None, None, None]
        assert decide_lead(known, RULE).outcome == "open"
        known = leads(0, -10, [20] * 10)[1:]  # India is not below -10, so both cannot be
        assert holds(decide_lead(known, RULE))[3] is False

    def test_broken_early_whatever_comes(self):
        """France and India below -10 and two more below 0: k1 is lost, so b2 breaks it for any completion."""
        known = leads(-11, -11, [-1, -1] + [0] * 8)[:4]
        assert holds(decide_lead(known, RULE)) == [False, None, None, True]
        assert decide_lead(known, RULE).outcome == "broken"

    def test_nothing_known(self):
        decision = decide_lead([], RULE)
        assert holds(decision) == [None] * 4
        assert set(decision.possible) == {"confirmed", "broken", "both", "neither"}

    def test_a_sum_over_countries_counts_for_the_pool_only(self):
        known = [*leads(0, 0, [10] * 10)[:10], Lead(("I", "J"), 200, 20, 20)]
        decision = decide_lead(known, RULE)
        assert holds(decision) == [True, True, False, False]  # 8 x 10 + 20 = 100 of 1200
        all_in_one = decide_lead([Lead(("France", "India", *OTHERS), 1200, 60, 60)], RULE)
        assert holds(all_in_one) == [None, True, False, None]


class TestRatesAsPrinted:
    """A rate stands for several numbers of hits, so a gap has two ends; a criterion needs both on one side."""

    def test_an_end_on_either_side_leaves_it_open(self):
        known = [Lead(("France",), 100, -12, -9), *leads(0, -11, [6] * 10)[1:]]
        assert holds(decide_lead(known, RULE))[3] is None
        low, high = 60 - 12 - 11, 60 - 9 - 11  # 37 and 40 of 1200
        value = decide_lead(known, RULE).criteria[1].values[0]
        assert (value.low, value.high) == (Fraction(100 * low, 1200), Fraction(100 * high, 1200))

    def test_both_ends_on_one_side_decide(self):
        known = [Lead(("France",), 100, -13, -11), *leads(0, -11, [6] * 10)[1:]]
        assert holds(decide_lead(known, RULE))[3] is True
        assert decide_lead(known, RULE).outcome == "broken"

    def test_a_gap_around_zero_is_no_vote_for_k1(self):
        known = [Lead(("France",), 100, -1, 1), *leads(0, 0, [0] * 7 + [-1] * 3)[1:]]
        assert holds(decide_lead(known, RULE))[0] is None
        assert decide_lead(known, RULE).criteria[0].values[0].low == 8


def test_the_eight_new_countries_leave_the_known_ones_out():
    rule = LeadRule("judge", 8, 6, Fraction(5), ("France", "India"), Fraction(-10), leave_out=("A", "B", "C", "D"))
    known = leads(0, 0, [90, 90, 90, 90, 1, 1, 1, 1, -1, -1])
    decision = decide_lead(known, rule)
    assert decision.criteria[1].values[0].low == Fraction(100 * 2, 800)  # 4 - 2 of 8 x 100
    assert holds(decision) == [True, False, False, False]
    assert decide_lead(known, RULE).outcome == "confirmed"  # 362 of 1200, ten of twelve


SHARE = ShareRule(Fraction(5, 100))


def share(low: str, high: str, *, crossed: bool = True, countries: int = 3) -> Share:
    ends = Fraction(low), Fraction(high)
    return Share((ends[0] + ends[1]) / 2, *ends, countries=countries, items=40, crossed=crossed)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        ("0.05", "0.20", "confirmed"),  # a lower bound at 5% is enough
        ("0.049999", "0.20", "neither"),
        ("0.01", "0.049999", "broken"),
        ("0.01", "0.05", "neither"),  # an upper bound at 5% is not below it
        ("0", "0", "broken"),
    ],
)
def test_the_share_by_its_interval(low, high, outcome):
    decision = decide_share(share(low, high), SHARE)
    assert decision.outcome == outcome
    assert holds(decision) == [outcome == "confirmed", outcome == "broken"]


def test_a_share_that_decides_nothing():
    for nothing in (None, share("0.2", "0.3", crossed=False), share("0.2", "0.3", countries=1)):
        decision = decide_share(nothing, SHARE)
        assert decision.outcome == "open"
        assert holds(decision) == [None, None]


def test_the_point_estimate_does_not_decide():
    """A share of 20% whose interval holds 5% decides nothing."""
    assert (
        decide_share(Share(Fraction(1, 5), Fraction(1, 100), Fraction(2, 5), 3, 40, True), SHARE).outcome == "neither"
    )


def test_a_share_after_a_deadline_is_void():
    assert decide_share(share("0.2", "0.3"), SHARE, DEADLINE + timedelta(seconds=1), DEADLINE).outcome == "void"
