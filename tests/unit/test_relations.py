"""Each relation on numbers small enough to do by hand; the arithmetic stands beside the expected value."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from countback.claims.interval import Interval
from countback.claims.predicates import PREDICATES
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import parse
from countback.fetch.errors import UserError


def printed(*texts: str) -> list[Interval]:
    return [parse(text).interval for text in texts]


def value(relation: str, *texts: str, **extra: object) -> Interval:
    return VALUES[relation](printed(*texts), Extra(texts=texts, **extra))  # type: ignore[arg-type]


def holds(relation: str, *texts: str) -> bool:
    reported = tuple(parse(text) for text in texts)
    return PREDICATES[relation](printed(*texts), Extra(texts=texts, reported=reported)).possible


def close(low: str, high: str) -> Interval:
    return Interval(F(low), F(high))


H = F(1, 200)  # half a unit of the second decimal


@pytest.mark.parametrize(
    ("relation", "texts", "expected"),
    [
        ("equal", ["0.60"], close("0.595", "0.605")),
        ("sum", ["1.20", "0.30"], close("1.49", "1.51")),  # 1.50 -+ 2 x 0.005
        ("mean", ["3.80", "4.60", "4.45"], Interval(F("12.85") / 3 - H, F("12.85") / 3 + H)),
        ("difference", ["0.90", "0.60"], close("0.29", "0.31")),
        ("product", ["58", "3", "2"], close("348", "348")),  # counts are exact
        ("ratio", ["6", "4"], close("1.5", "1.5")),
        ("percent", ["21", "157"], Interval(F(2100, 157), F(2100, 157))),  # 13.37...
        ("change", ["50", "60"], close("20", "20")),  # 100 (60 - 50) / 50
        ("remainder", ["622", "157", "155", "155"], close("155", "155")),
        ("min", ["3.10", "2.90"], close("2.895", "2.905")),
        ("max", ["3.10", "2.90"], close("3.095", "3.105")),
        ("range", ["3.10", "2.90"], close("0.19", "0.21")),
        ("range", ["3.10", "3.10"], close("0", "0.01")),  # two that print alike may differ by 0.01
        ("median", ["1.0", "3.0", "2.0"], close("1.95", "2.05")),
        ("median", ["1", "2", "3", "10"], close("2.5", "2.5")),
        ("choose", ["11", "3"], close("165", "165")),  # 11 x 10 x 9 / 6
        ("matching", ["90.2", "88.8", "91.3", "81.5"], close("1", "1")),  # 90.2 < 91.3 and 88.8 > 81.5
        ("matching", ["90.2", "88.8", "90.2", "81.5"], close("1", "2")),  # two that print alike: either way
    ],
)
def test_value(relation, texts, expected):
    assert value(relation, *texts) == expected


def test_count_and_distinct_need_no_numbers():
    extra = Extra(texts=("Malay", "Mandarin", "Malay"))
    assert VALUES["count"]([Interval.of(0)] * 3, extra) == Interval.of(3)
    assert VALUES["distinct"]([Interval.of(0)] * 3, extra) == Interval.of(2)


def test_weighted_mean():
    # (1619 x 74.43 + 1411 x 56.41 + 1343 x 39.24) / 4373 = 57.8078..., printed 57.81
    weights = tuple(printed("1619", "1411", "1343"))
    found = value("weighted-mean", "74.43", "56.41", "39.24", weights=weights)
    middle = (1619 * F("74.43") + 1411 * F("56.41") + 1343 * F("39.24")) / 4373
    assert found == Interval(middle - H, middle + H)


def test_weighted_mean_with_uncertain_weights_is_exact_at_the_vertices():
    # x = 0 and 1 exactly, weights 1 -+ 0.5: the share of the second lies between 0.5/2 and 1.5/2
    weights = (Interval(F(1, 2), F(3, 2)), Interval(F(1, 2), F(3, 2)))
    assert value("weighted-mean", "0", "1", weights=weights) == close("0.25", "0.75")


def test_remainder_mean():
    # twelve countries at 10 each, four of them at 16: the other eight average (120 - 64) / 8 = 7
    assert value("remainder-mean", "10", "12", "16", "4") == close("7", "7")


def test_count_share_names_the_counts_that_print_so():
    def share(text: str, n: str) -> Interval:
        return value("count-share", text, n=tuple(printed(n)), target=parse(text).interval)

    assert share("13.4%", "157") == Interval.of(F(2100, 157))  # 21 of 157
    # 231/565 = 40.88496 prints 40.88 and 232/565 = 41.06195 prints 41.06: nothing prints 40.89
    assert not share("40.89%", "565").meets(parse("40.89%").interval)
    assert share("40.88%", "565").meets(parse("40.88%").interval)


def test_joint_share_adds_whole_counts():
    # 59.3% of 118 is 70 and 72.4% of 127 is 92: together 162 of 245 = 66.12...%
    found = value("joint-share", "59.3%", "72.4%", n=tuple(printed("118", "127")))
    assert found == Interval.of(F(16200, 245))


class TestMoments:
    """A distribution 0, 1.1, 25.3, 65.7, 7.8 (it adds to 99.9, so some shares were rounded down)."""

    SHARES = ("0.0%", "1.1%", "25.3%", "65.7%", "7.8%")

    def test_mean(self):
        # from the lower ends (0, 1.05, 25.25, 65.65, 7.75; sum 99.7) the missing 0.3 goes to the lowest scores first:
        # +0.05 at score 1 (its lower end is cut at -0.05, so its width is 0.1) ... and to the highest for the upper end
        low = F("-0.05") + 2 * F("1.05") + 3 * F("25.25") + 4 * F("65.65") + 5 * F("7.75")
        room = F(100) - (F("-0.05") + F("1.05") + F("25.25") + F("65.65") + F("7.75"))  # 0.35
        lowest = (low + F("0.1") * 1 + F("0.1") * 2 + F("0.1") * 3 + (room - F("0.3")) * 4) / 100
        highest = (low + F("0.1") * 5 + F("0.1") * 4 + F("0.1") * 3 + (room - F("0.3")) * 2) / 100
        assert value("moment-mean", *self.SHARES) == Interval(lowest, highest)
        assert lowest < F("3.80") < highest

    def test_sd_holds_the_printed_one_and_is_narrow(self):
        found = value("moment-sd", *self.SHARES)
        assert found.low < F("0.58") < found.high
        assert found.width < F("0.02")

    def test_sd_of_an_exact_distribution(self):
        # half at 1 and half at 5: mean 3, sd 2; shares given exactly
        found = VALUES["moment-sd"](
            [Interval.of(50), Interval.of(0), Interval.of(0), Interval.of(0), Interval.of(50)], Extra()
        )
        assert found == Interval.of(2)

    def test_median(self):
        assert value("moment-median", *self.SHARES) == Interval.of(4)
        assert VALUES["moment-median"]([Interval.of(50), Interval.of(50)], Extra()) == Interval.of(1, 2)


def test_ci_of_a_mean():
    # 3.80, sd 0.58, n = 14,610: se 0.0048, 1.96 se = 0.0094, so the ends lie near 3.7906 and 3.8094
    low = value("ci-low", "3.80", "0.58", n=tuple(printed("14610")), resamples=1000)
    assert low.meets(parse("3.79").interval)
    assert not low.meets(parse("3.76").interval)
    assert abs(low.mid - F("3.7906")) < F("0.0005")


def test_ci_of_a_share():
    # 87.7%: se = sqrt(87.7 x 12.3 / 14610) = 0.2717, 1.96 se = 0.5326, so near 87.17 and 88.23
    high = VALUES["ci-high"](
        printed("87.7%", "87.7%"), Extra(n=tuple(printed("14610")), names=("binomial",), resamples=1000)
    )
    assert abs(high.mid - F("88.2326")) < F("0.01")
    assert high.meets(parse("88.2%").interval)
    assert not high.meets(parse("88.7%").interval)


def test_formula():
    def formula(expr: str, **names: str) -> Interval:
        return VALUES["formula"](printed(*names.values()), Extra(names=tuple(names), expr=expr))

    # 100 x prev x sens / (prev x sens + fpr (1 - prev)) with exact inputs .01, .90, .09 is 0.9/0.0981 = 9.174...
    expr = "100 * p * s / (p * s + f * (1 - p))"
    exact = VALUES["formula"](
        [Interval.of(F(1, 100)), Interval.of(F(9, 10)), Interval.of(F(9, 100))], Extra(names=("p", "s", "f"), expr=expr)
    )
    assert exact.low == exact.high == F(9, 10) / F("0.0981")
    assert formula("-a + max(a, b) - 0.5", a="1", b="2") == close("0.5", "0.5")
    assert formula("abs(a - b) / 2", a="1", b="3") == close("1", "1")
    for bad in ("a ** b", "__import__('os')", "a.real", "open(a)", "a +", "a if b else a", "c"):
        with pytest.raises(UserError):
            formula(bad, a="1", b="2")


@pytest.mark.parametrize(
    ("relation", "texts", "possible"),
    [
        ("inside", ["4.28", "4.28", "4.29"], True),
        ("inside", ["4.27", "4.28", "4.29"], True),  # 4.275 prints both 4.27 and 4.28 under some rule
        ("inside", ["4.26", "4.28", "4.29"], False),
        ("inside", ["4.28", "4.29", "4.20"], False),  # the interval itself is reversed
        ("at-least", ["4.3", "4.2"], True),
        ("at-least", ["4.2", "4.4"], False),
        ("at-most", ["0.5", "0.7"], True),
        ("at-most", ["0.8", "0.5"], False),
        ("more-than", ["2", "2"], False),  # exact and equal
        ("more-than", ["2.0", "2.0"], True),  # 2.04 and 1.96 both print 2.0
        ("less-than", ["1", "2"], True),
        ("ascending", ["1.0", "1.0", "1.1"], True),
        ("ascending", ["1.0", "1.4", "1.1"], False),
        ("descending", ["4.28", "4.11", "4.01"], True),
        ("descending", ["4.01", "4.11"], False),
        ("highest", ["4.28", "4.28", "4.11"], True),
        ("highest", ["4.11", "4.28", "4.11"], False),
        ("lowest", ["0.581", "0.581", "0.682"], True),
        ("lowest", ["0.682", "0.581", "0.682"], False),
        ("dates-ascending", ["26 May 2026", "2 October 2026", "7 October 2026"], True),
        ("dates-ascending", ["2 October 2026", "26 May 2026"], False),
        ("short-hash", ["d51af09b...a498", "d51af09b809b49b58691997c7dae9921ae5fc0316db8761eb6a382e411a3f498"], False),
        ("short-hash", ["d51af09b...f498", "d51af09b809b49b58691997c7dae9921ae5fc0316db8761eb6a382e411a3f498"], True),
    ],
)
def test_predicate(relation, texts, possible):
    assert holds(relation, *texts) is possible


def test_ascending_sees_a_drop_over_several_steps():
    # each step alone could be level within rounding, the way from the first to the last cannot
    assert holds("ascending", "1.4", "1.3")  # 1.35 prints both
    assert not holds("ascending", "1.4", "1.3", "1.2")


def test_equal_text():
    assert PREDICATES["equal-text"]([], Extra(texts=("3.20", "3.20"))).possible
    assert not PREDICATES["equal-text"]([], Extra(texts=("3.20", "3.2"))).possible


@pytest.mark.parametrize(
    ("relation", "texts", "extra"),
    [
        ("difference", ["1"], {}),
        ("choose", ["1.5", "1"], {}),
        ("weighted-mean", ["1", "2"], {"weights": (Interval.of(1),)}),
        ("weighted-mean", ["1"], {"weights": (Interval.of(-1),)}),
        ("weighted-mean", ["1"], {"weights": (Interval.of(0),)}),
        ("count-share", ["50%"], {}),
        ("joint-share", ["50%"], {"n": ()}),
        ("moment-mean", ["50%", "20%"], {}),  # cannot add to 100
        ("moment-mean", ["50%", "50%"], {"scores": (F(1),)}),
        ("remainder-mean", ["1", "2"], {}),
    ],
)
def test_wrong_use_is_a_user_error(relation, texts, extra):
    with pytest.raises(UserError):
        value(relation, *texts, **extra)


def test_a_divisor_that_may_be_zero():
    with pytest.raises(ZeroDivisionError):
        value("ratio", "1.0", "0.0")
