"""Each relation on numbers small enough to do by hand; the arithmetic stands beside the expected value."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from countback.claims.interval import Contradiction, Interval
from countback.claims.predicates import PREDICATES
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import ACCEPTED, parse
from countback.fetch.errors import UserError


def printed(*texts: str) -> list[Interval]:
    return [parse(text).interval for text in texts]


def value(relation: str, *texts: str, **extra: object) -> Interval:
    return VALUES[relation](printed(*texts), Extra(texts=texts, **extra))  # type: ignore[arg-type]


def holds(relation: str, *texts: str) -> bool:
    """Whether it can hold for values that one of the accepted rules prints as these texts."""
    reported = tuple(parse(text) for text in texts)
    extra = Extra(texts=texts, reported=reported)
    return any(PREDICATES[relation]([r.printing(rule) for r in reported], extra).possible for rule in ACCEPTED)


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
        ("range", ["5.0"], close("0", "0")),  # one number has no range, whatever its rounding
        ("range", ["10 %", "9.9", "10.2"], close("0.2", "0.75")),  # 10.25 - 9.5, not 10.5 - 9.5 of the one wide number
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


def test_a_weight_that_prints_as_zero_is_not_negative():
    # x = 0 and 1 exactly, weights 0.0 (0 to 0.05) and 1.0 (0.95 to 1.05): the share of the first is at most 0.05/1.00
    weights = tuple(printed("0.0", "1.0"))
    assert value("weighted-mean", "0", "1", weights=weights) == Interval(F("0.95"), F(1))


def test_remainder_mean():
    # twelve countries at 10 each, four of them at 16: the other eight average (120 - 64) / 8 = 7
    assert value("remainder-mean", "10", "12", "16", "4") == close("7", "7")
    # n known to the hundred: 2.0 of 950..1050, 1.0 of 450..550, both exact: 2 + (2 - 1) m / (n - m), m / (n - m) from
    # 450/600 to 550/400
    ends = [Interval.of(2), Interval.of(950, 1050), Interval.of(1), Interval.of(450, 550)]
    assert VALUES["remainder-mean"](ends, Extra()) == close("2.75", "3.375")
    with pytest.raises(Contradiction, match="nothing remains"):
        value("remainder-mean", "10", "12", "16", "13")


def test_count_share_names_the_counts_that_print_so():
    def share(text: str, n: str) -> Interval:
        return value("count-share", text, n=tuple(printed(n)), target=parse(text).interval)

    assert share("13.4%", "157") == Interval.of(F(2100, 157))  # 21 of 157
    # 231/565 = 40.88496 prints 40.88 and 232/565 = 41.06195 prints 41.06: nothing prints 40.89
    assert not share("40.89%", "565").meets(parse("40.89%").interval)
    assert share("40.88%", "565").meets(parse("40.88%").interval)
    assert share("50%", "400") == Interval.of(F("49.5"), F("50.5"))  # 198 to 202 of 400


def test_joint_share_adds_whole_counts():
    # 59.3% of 118 is 70 and 72.4% of 127 is 92: together 162 of 245 = 66.12...%
    found = value("joint-share", "59.3%", "72.4%", n=tuple(printed("118", "127")))
    assert found == Interval.of(F(16200, 245))
    # 50% of 10 can be 5 of 10 only, 33% of 100 only 33: 38 of 110 = 34.54...%, and no count gives 34.8%
    parts, n = printed("50%", "33%"), tuple(printed("10", "100"))
    assert not VALUES["joint-share"](parts, Extra(n=n, target=parse("34.8%").interval)).meets(parse("34.8%").interval)
    # 12% of 200 is 23, 24 or 25, 20% of 100 is 20: 43 to 45 of 300 are 14.3%, 14.7% or 15.0%, and 14.5% lies between
    parts, n = printed("12%", "20%"), tuple(printed("200", "100"))
    for target, meets in (("14.3%", True), ("14.5%", False), ("14.7%", True), ("15.0%", True), ("15.3%", False)):
        found = VALUES["joint-share"](parts, Extra(n=n, target=parse(target).interval))
        assert found.meets(parse(target).interval) is meets, target
    for relation in ("count-share", "joint-share"):
        with pytest.raises(Contradiction, match="a share of no cases"):
            value(relation, "0%", n=tuple(printed("0")), target=Interval.of(0))
    with pytest.raises(Contradiction, match="no whole count of 7 is 50%"):
        value("joint-share", "50%", n=tuple(printed("7")))  # 3 of 7 is 42.9%, 4 of 7 57.1%


class TestMoments:
    """A distribution 0, 1.1, 25.3, 65.7, 7.8 (it adds to 99.9, so some shares were rounded down)."""

    SHARES = ("0.0%", "1.1%", "25.3%", "65.7%", "7.8%")

    def test_mean(self):
        # from the lower ends (0, 1.05, 25.25, 65.65, 7.75; sum 99.7) the missing 0.3 goes to the lowest scores first,
        # 0.05 at score 1 (no share is below 0), 0.1 at 2 and at 3, 0.05 at 4; to the highest first for the upper end
        low = 2 * F("1.05") + 3 * F("25.25") + 4 * F("65.65") + 5 * F("7.75")
        lowest = (low + F("0.05") * 1 + F("0.1") * 2 + F("0.1") * 3 + F("0.05") * 4) / 100
        highest = (low + F("0.1") * 5 + F("0.1") * 4 + F("0.1") * 3) / 100
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

    def test_sd_by_hand(self):
        # 49.5 to 50.5 at 0 and the rest at 2: a share p at 2 has sd 2 sqrt(p (1 - p)), 1 at p = 1/2, least at the ends
        shares = [Interval(F("49.5"), F("50.5")), Interval(F("49.5"), F("50.5"))]
        found = VALUES["moment-sd"](shares, Extra(scores=(F(0), F(2))))
        assert found.high == 1
        assert 0 <= 4 * F("0.495") * F("0.505") - found.low**2 < F(1, 10**17)
        # of three people, two at 0 and one at 3: everyone's variance 2, the sample's 3
        thirds = [Interval.of(F(200, 3)), Interval.of(F(100, 3))]
        both = VALUES["moment-sd"](thirds, Extra(scores=(F(0), F(3)), n=(Interval.of(3),)))
        assert both.low**2 <= 2
        assert both.high**2 >= 3
        assert both.covers(VALUES["moment-sd"](thirds, Extra(scores=(F(0), F(3)))))
        assert both.width < F("0.318")  # 1.7320 - 1.4142

    def test_median_counts_what_must_lie_below(self):
        # 49.5 to 50.5 at 1, at most 31.05 + 18.75 = 49.8 above: at least 50.2 lie at 1, so the median is 1
        shares = [Interval(F("49.5"), F("50.5")), *printed("31.0%", "18.7%")]
        assert VALUES["moment-median"](shares, Extra()) == Interval.of(1)
        # at least 50.05 at 1, although 49.95 + 2 x 0.05 above could be half; and the other way round
        assert value("moment-median", "50.1%", "49.9%", "0.0%", "0.0%") == Interval.of(1)
        assert value("moment-median", "0.0%", "0.0%", "49.9%", "50.1%") == Interval.of(4)

    def test_what_cannot_add_to_100_is_a_contradiction(self):
        for texts in (("50%", "20%"), ("60%", "60%"), ("101.0%", "0.0%")):
            for relation in ("moment-mean", "moment-sd", "moment-median"):
                with pytest.raises(Contradiction, match="cannot add to 100%"):
                    value(relation, *texts)

    def test_median(self):
        assert value("moment-median", *self.SHARES) == Interval.of(4)
        assert VALUES["moment-median"]([Interval.of(50), Interval.of(50)], Extra()) == Interval.of(1, 2)


def test_ci_of_a_mean():
    # 3.80, sd 0.58, n = 14,610: se 0.0048, 1.96 se = 0.0094, so the ends lie near 3.7906 and 3.8094
    low = value("ci-low", "3.80", "0.58", n=tuple(printed("14610")), resamples=1000)
    assert low.meets(parse("3.79").interval)
    assert not low.meets(parse("3.76").interval)
    assert abs(low.mid - F("3.7906")) < F("0.0005")
    # point -+ 0.005; 1.96 + 4 x 0.0845 = 2.298 errors of at most 0.585 / 120.87, and 4 x 0.585 / 14,610
    widest = F("0.005") + F("2.298") * F("0.585") / F("120.87") + 4 * F("0.585") / 14610
    assert abs((F("3.80") - low.low) - widest) < F("0.00001")


def test_ci_of_a_share():
    # 87.7%: se = sqrt(87.7 x 12.3 / 14610) = 0.2717, 1.96 se = 0.5326, so near 87.17 and 88.23
    def end(text: str, n: str) -> Interval:
        return VALUES["ci-high"](printed(text, text), Extra(n=tuple(printed(n)), names=("binomial",), resamples=1000))

    high = end("87.7%", "14610")
    assert abs(high.mid - F("88.2326")) < F("0.01")
    assert high.meets(parse("88.2%").interval)
    assert not high.meets(parse("88.7%").interval)
    # 50%: the sd is 50 at most, however p is rounded: 50.5 + (1.95997 + 0.33798) x 50 / 10 + 100 / 100
    assert abs(end("50%", "100").high - (F("50.5") + F("2.29795") * 5 + 1)) < F("0.001")


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
    for bad in ("a ** b", "__import__('os')", "a.real", "open(a)", "a +", "a if b else a", "c", "a", "2 * b"):
        with pytest.raises(UserError):
            formula(bad, a="1", b="2")


@pytest.mark.parametrize(
    ("relation", "texts", "possible"),
    [
        ("inside", ["4.28", "4.28", "4.29"], True),
        ("inside", ["4.27", "4.28", "4.29"], False),  # what is at least 4.275 prints no less than 4.28
        ("inside", ["4.3", "4.27", "4.28"], True),  # 4.27 prints 4.3
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


def test_one_rule_never_prints_a_rise_as_a_fall():
    # 1.35 is 1.4 under one rule and 1.3 under another, but no rule prints the smaller of two numbers as the larger
    assert not holds("ascending", "1.4", "1.3")
    assert not holds("highest", "3.80", "3.81")
    assert not holds("at-least", "0.87", "0.88")
    # each step alone could be level within rounding (1.4 is 1.35 or more, 1.36 is below 1.365), the whole cannot
    assert holds("ascending", "1.4", "1.36")
    assert holds("ascending", "1.36", "1.4", "1.36")
    assert not holds("ascending", "1.36", "1.4", "1.34")


def test_highest_needs_a_rival():
    for name in ("highest", "lowest", "ascending"):
        with pytest.raises(UserError, match="at least two"):
            holds(name, "3.80")


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
        ("moment-mean", ["50%", "50%"], {"scores": (F(1),)}),
        ("moment-sd", ["50%", "50%"], {"n": (Interval.of(1),)}),
        ("moment-mean", ["0.5", "0.5"], {}),  # fractions
        ("remainder-mean", ["1", "2"], {}),
        ("matching", ["1", "2", "3"], {}),
        ("choose", ["1000000000", "500000000"], {}),  # would run for hours
        ("ci-low", ["3.80", "0.58"], {"n": (Interval.of(100),)}),  # how many resamples?
        ("ci-high", ["3.80", "0.58"], {"n": (Interval.of(0),), "resamples": 1000}),
        ("formula", ["1"], {"expr": "a"}),  # no name for the number
    ],
)
def test_wrong_use_is_a_user_error(relation, texts, extra):
    with pytest.raises(UserError):
        value(relation, *texts, **extra)


def test_a_divisor_that_may_be_zero():
    with pytest.raises(ZeroDivisionError):
        value("ratio", "1.0", "0.0")
