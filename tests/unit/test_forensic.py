"""Forensic checks against arithmetic that a reader can redo, and against every small sample there is."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from countback.claims.forensic import Check, Sample, _reachable, count_samples, debit, grim, grimmer, sd_bounds
from countback.claims.interval import Interval
from countback.claims.reported import NotANumber
from countback.fetch.errors import UserError


def variance(sample: tuple[int, ...], items: int = 1) -> Fraction:
    n, s = len(sample), sum(sample)
    return (sum(x * x for x in sample) - Fraction(s * s, n)) / (n - 1) / items**2


def prints_mean(value: Fraction, printed: str) -> bool:
    places = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**places)


def prints_root(square: Fraction, printed: str) -> bool:
    """Whether the square root of `square` lies within half a unit of the printed value; no root is taken."""
    half = Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))
    return max(Fraction(printed) - half, Fraction(0)) ** 2 <= square <= (Fraction(printed) + half) ** 2


def listed(sample: Sample) -> tuple[int, ...]:
    return tuple(value for value, count in sample for _ in range(count))


# --- GRIM


@pytest.mark.parametrize(
    ("mean", "n", "items", "expected"),
    [
        ("5.18", 28, 1, Check(True, 145)),  # 145 / 28 = 5.1786
        ("5.19", 28, 1, Check(False, nearest=("5.18",), failed="mean")),  # 146 / 28 = 5.2143: 5.18 is nearer
        ("5.83", 50, 1, Check(False, nearest=("5.82", "5.84"), failed="mean")),  # 291 / 50 and 292 / 50
        ("1.12", 8, 1, Check(True, 9)),  # 9 / 8 = 1.125 lies between 1.12 and 1.13 and may print as either
        ("1.13", 8, 1, Check(True, 9)),
        ("1.14", 8, 1, Check(False, nearest=("1.13",), failed="mean")),
        ("0.86", 28, 2, Check(True, 48)),  # 48 / 56 = 0.857
        ("0.86", 28, 1, Check(True, 24)),
        ("0.84", 28, 1, Check(False, nearest=("0.82", "0.86"), failed="mean")),  # 23 / 28 = 0.821, 24 / 28 = 0.857
        ("0.84", 28, 2, Check(True, 47)),  # 47 / 56 = 0.839: with two items a half is a possible answer
        ("-0.84", 28, 2, Check(True, -47)),
        ("0.00", 7, 1, Check(True, 0)),
        ("67.4%", 150, 1, Check(False, nearest=("67.3",), failed="mean")),  # 101 / 150 = 67.33 %, 102: 68.0 %
        ("67.3%", 150, 1, Check(True, 101)),
        ("6%", 50, 1, Check(True, 3)),
        ("7%", 50, 1, Check(False, nearest=("6", "8"), failed="mean")),
    ],
)
def test_grim_by_hand(mean: str, n: int, items: int, expected: Check) -> None:
    assert grim(mean, n, items) == expected


def test_grim_that_could_not_have_failed_says_so() -> None:
    assert not grim("3.47", 100).informative  # 100 integers: every second decimal is possible
    assert not grim("3.47", 30, items=4).informative
    assert not grim("3.47", 80).informative  # m / 100 = (0.8 m) / 80, and 0.8 m is never over 0.4 from an integer
    assert grim("3.47", 79).consistent  # 274 / 79 = 3.468
    assert grim("3.47", 79).informative


@pytest.mark.parametrize("step", [1, 2])
def test_grim_is_informative_exactly_when_some_printable_mean_fails(step: int) -> None:
    for n in range(1, 31):
        if step == 2 and n > 12:
            break
        unit = 10**step
        attainable = [
            any(abs(Fraction(m, unit) - Fraction(s, n)) <= Fraction(1, 2 * unit) for s in range(n + 1))
            for m in range(unit + 1)
        ]
        checks = [grim(f"{m / unit:.{step}f}", n) for m in range(unit + 1)]
        assert [check.consistent for check in checks] == attainable
        passed = [check.informative for check in checks if check.consistent]
        assert passed == [not all(attainable)] * len(passed), n


# --- which moments integers can have


def test_reachable_moments_are_those_of_every_small_sample() -> None:
    reach = 9
    moments = {(0, 0)}
    for n in range(1, 8):
        moments = {(s + x, q + x * x) for s, q in moments for x in range(-reach, reach + 1) if q + x * x <= reach**2}
        for s, q in product(range(-n, 2 * n), range(reach**2 + 1)):
            assert _reachable(n, s, q) == ((s, q) in moments), (n, s, q)


@pytest.mark.parametrize("places", [1, 2])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_grimmer_accepts_exactly_what_some_sample_prints(n: int, places: int) -> None:
    """Every multiset within reach: a deviation up to 2 keeps values within 2 (n - 1) / sqrt(n) < 4.1 of the mean."""
    unit = 10**places
    samples = combinations_with_replacement(range(-5, 7), n)
    pairs = {(Fraction(sum(sample), n), variance(sample)) for sample in samples}
    for m in range(0, unit + 1, 1 if places == 1 else 9):
        mean = f"{m / unit:.{places}f}"
        squares = {square for value, square in pairs if prints_mean(value, mean)}
        possible = set().union(*(printed_roots(square, places) for square in squares))
        for d in range(0, 2 * unit + 1, 1 if places == 1 else 3):
            sd = f"{d / unit:.{places}f}"
            check = grimmer(mean, sd, n)
            assert check.consistent == (sd in possible), (mean, sd, n)
            if check.consistent:
                sample = listed(check.sample)
                assert len(sample) == n
                assert sum(sample) == check.total
                assert prints_mean(Fraction(sum(sample), n), mean)
                assert prints_root(variance(sample), sd)
            elif squares:
                assert check.failed == "sd"
                assert set(check.nearest) == nearest(possible, sd), (mean, sd, n)
            else:
                assert check.failed == "mean"


def printed_roots(square: Fraction, places: int) -> set[str]:
    near = round(float(square) ** 0.5 * 10**places)
    shown = (f"{max(m, 0) / 10**places:.{places}f}" for m in (near - 1, near, near + 1))
    return {text for text in shown if prints_root(square, text)}


def nearest(possible: set[str], printed: str) -> set[str]:
    distance = {text: abs(Fraction(text) - Fraction(printed)) for text in possible}
    return {text for text in possible if distance[text] == min(distance.values())}


def bounded(n: int, low: int, high: int) -> Iterator[tuple[int, ...]]:
    return combinations_with_replacement(range(low, high + 1), n)


@pytest.mark.parametrize(
    ("n", "items", "within"), [(2, 1, (1, 5)), (5, 1, (1, 4)), (3, 2, (1, 3)), (4, 3, (-1, 1)), (6, 1, (0, 1))]
)
def test_on_a_bounded_scale_every_sample_is_tried(n: int, items: int, within: tuple[int, int]) -> None:
    low, high = within[0] * items, within[1] * items
    samples = list(bounded(n, low, high))
    for m in range(10 * within[0] - 2, 10 * within[1] + 3):
        mean = f"{m / 10:.1f}"
        printed = [sample for sample in samples if prints_mean(Fraction(sum(sample), n * items), mean)]
        bounds = sd_bounds(mean, n, *within, items)
        assert (bounds is None) == (not printed)
        if bounds is not None:
            squares = [variance(sample, items) for sample in printed]
            assert bounds.low**2 <= min(squares) < bounds.low**2 + Fraction(1, 10**15)
            assert bounds.high**2 >= max(squares) > bounds.high**2 - Fraction(1, 10**15)
        for d in range(0, 10 * (within[1] - within[0])):
            sd = f"{d / 10:.1f}"
            check = grimmer(mean, sd, n, items, within)
            agreeing = [sample for sample in printed if prints_root(variance(sample, items), sd)]
            assert check.consistent == bool(agreeing), (mean, sd)
            assert check.informative
            if check.consistent:
                assert tuple(sorted(listed(check.sample))) in agreeing
            elif printed:
                possible = set().union(*(printed_roots(variance(sample, items), 1) for sample in printed))
                assert set(check.nearest) == nearest(possible, sd)


def test_samples_are_counted_as_enumeration_counts_them() -> None:
    mean, sd = Interval.of(Fraction(245, 100), Fraction(285, 100)), Interval.of(Fraction(9, 10), Fraction(13, 10))
    samples = [
        sample
        for sample in bounded(9, 1, 5)
        if mean.low <= Fraction(sum(sample), 9) <= mean.high and sd.low**2 <= variance(sample) <= sd.high**2
    ]
    assert len(samples) > 20
    assert count_samples(mean, sd, 9, 1, 5) == len(samples)


# --- GRIMMER and DEBIT by hand


def test_grimmer_tries_every_sum_that_prints_the_mean() -> None:
    """40 integers with mean 16.03: the sum 641 gives 16.025, which may print so; 640 (16.00) and 642 (16.05) do not.

    641^2 / 40 = 10272.025. Q = 10272.025 + 39 sd^2; sd 6.405..6.415 gives 11871.95..11876.95. Q is odd as 641 is:
    11873 and 11875 qualify.
    """
    check = grimmer("16.03", "6.41", 40)
    assert check.consistent
    assert check.total == 641
    assert sum(value * value * count for value, count in check.sample) in (11873, 11875)


def test_grimmer_by_hand_when_no_sum_of_squares_fits() -> None:
    """18 integers, mean 3.44: sum 62, 62^2 / 18 = 213.556; sd 2.465..2.475 gives Q from 316.85 to 317.69, so 317, odd.

    But a sum of 62 needs an even Q. Q = 316 has sd sqrt(102.444 / 17) = 2.4548, printing 2.45; 318 gives 2.4788: 2.48.
    """
    check = grimmer("3.44", "2.47", 18)
    assert (check.consistent, check.failed, check.nearest) == (False, "sd", ("2.48",))


def test_four_values_need_three_squares() -> None:
    """Four integers with sum 0 and Q = 28: 28 = 4 x 7 is no sum of three squares, so no such four exist.

    sd = sqrt(28 / 3) = 3.055. 26 and 30 are possible: (3, 2, -2, -3) and (5, -2, -2, -1 is 34; 4, -3, -2, 1 = 30).
    """
    assert not any(sum(x) == 0 and sum(v * v for v in x) == 28 for x in product(range(-6, 7), repeat=4))
    assert not grimmer("0.00", "3.06", 4).consistent
    assert grimmer("0.00", "2.94", 4).consistent  # sqrt(26 / 3) = 2.944
    assert grimmer("0.00", "3.16", 4).consistent  # sqrt(30 / 3) = 3.162


def test_the_population_deviation_is_a_parameter() -> None:
    """1, 2, 3, 4: squares about the mean sum to 5; sqrt(5 / 3) = 1.29 and sqrt(5 / 4) = 1.118."""
    assert grimmer("2.50", "1.29", 4).consistent
    assert not grimmer("2.50", "1.12", 4).consistent
    assert grimmer("2.50", "1.12", 4, ddof=0).consistent
    assert grimmer("7.00", "0.00", 1, ddof=0) == Check(True, 7, ((7, 1),))


def test_debit_names_the_only_deviation_a_share_allows() -> None:
    """7 ones of 20: sqrt(7 x 13 / (20 x 19)) = 0.4894."""
    assert debit("0.35", "0.49", 20) == Check(True, 7, ((1, 7), (0, 13)))
    assert debit("0.35", "0.18", 20) == Check(False, 7, nearest=("0.49",), failed="sd")
    assert debit("0.36", "0.48", 20) == Check(False, nearest=("0.35",), failed="mean")
    assert debit("1.20", "0.40", 20) == Check(False, nearest=("1.00",), failed="mean")


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("items", [1, 5, 12])
@pytest.mark.parametrize("places", [0, 1])
def test_grimmer_is_informative_exactly_when_some_printable_pair_fails(n: int, items: int, places: int) -> None:
    """Coarse printing, so that there are pairs of mean and deviation of which none fails."""
    assert not grimmer("0", "3", 6, items=12).informative
    unit = 10**places
    means = [f"{m / unit:.{places}f}" for m in range(unit + 1)]
    sds = [f"{d / unit:.{places}f}" for d in range(12 * unit)]
    mean_fails = not all(grim(mean, n, items).consistent for mean in means)
    for mean in means[:: 1 + 4 * places]:
        checks = [grimmer(mean, sd, n, items) for sd in sds]
        flags = {check.informative for check in checks if check.consistent}
        assert flags <= {mean_fails or not all(check.consistent for check in checks)}, (mean, n, items)


def test_grimmer_is_informative_at_a_large_n_when_the_deviation_could_be_too_small() -> None:
    assert grimmer("3.80", "0.58", 14610).informative  # a fifth of 3s and four fifths of 4s: at least 0.40
    assert grimmer("3.80", "0.39", 14610).nearest == ("0.40",)
    assert not grimmer("4.00", "0.58", 14610).informative
    assert grimmer("4.00", "0.58", 14610, within=(1, 5)).informative  # on a scale no deviation is above 2


def test_the_nearest_deviation_may_print_two_ways() -> None:
    """Five persons, eight items, sum 0: sd = sqrt(Q / 4) / 8 is .088 at Q = 2, and .125 at Q = 4: .12 or .13."""
    assert grimmer("0.00", "0.11", 5, items=8).nearest == ("0.12",)


def test_large_inputs_take_no_search() -> None:
    assert grimmer("3.80", "0.58", 10**6, within=(1, 5)).consistent
    assert grimmer("12345.67", "1000000.00", 30).consistent
    assert grim("3.80", 10**12).consistent
    with pytest.raises(UserError, match="up to 1,000,000 values, found n = 1,000,000,000"):
        grimmer("3.45", "1.05", 10**9)


# --- refusals


@pytest.mark.parametrize("bad", [5.19, 5, None, True])
def test_numbers_that_lost_their_trailing_zeros_are_refused(bad: object) -> None:
    with pytest.raises(NotANumber, match="string as printed"):
        grim(bad, 28)  # type: ignore[arg-type]
    with pytest.raises(NotANumber, match="string as printed"):
        grimmer("5.19", bad, 28)  # type: ignore[arg-type]
    with pytest.raises(NotANumber, match="string as printed"):
        sd_bounds(bad, 28, 1, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["3.25-4.28", "< 5.2", "5.2 [5.1, 5.3]", "nan", "", "5 of 7"])
def test_what_is_not_one_number_is_refused(bad: str) -> None:
    with pytest.raises(NotANumber):
        grim(bad, 28)


def test_impossible_counts_and_units_are_refused() -> None:
    for n, items in ((0, 1), (-3, 1), (3, 0)):
        with pytest.raises(UserError, match="at least one value"):
            grim("5.2", n, items)
    with pytest.raises(UserError, match="more than 1 values, found n = 1"):
        grimmer("5.00", "0.00", 1)
    with pytest.raises(NotANumber, match="no unit"):
        grimmer("52%", "0.10", 20)
    with pytest.raises(NotANumber, match="no sign"):
        grimmer("5.2", "-0.10", 20)
