"""Could integer data have produced these printed summaries? Exact answers, each with a witness or the nearest value.

GRIM (Brown and Heathers 2017) asks it of a mean or a percentage, GRIMMER (Anaya 2016; Allard 2018) of a mean and a
standard deviation, DEBIT (Heathers and Brown 2019) of zeros and ones, SPRITE (Heathers et al. 2018) and CLOSURE
(Wilkinson 2020) of data on a bounded scale. All are one question here: are there n integers whose sum S prints as the
mean and whose sum of squares Q, with S, prints as the deviation? Every S and Q that print so is tried, in integers.

A person who answers `items` integer items has a score that is a total of integers over `items`; n is the number of
persons. Means and deviations come as printed strings because a trailing zero is part of what was reported, and a value
that lies exactly between two printable ones may print as either (software that rounds binary floats does both).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isqrt

from countback.claims.interval import Interval
from countback.claims.reported import NotANumber, Reported, parse
from countback.fetch.errors import UserError

MOST = 1_000_000  # values; a sample of more takes minutes to find
Sample = tuple[tuple[int, int], ...]  # (a person's total over the items, number of persons with it), highest first


@dataclass(frozen=True, slots=True)
class Check:
    """The answer of one check.

    total: a sum of all the integers that prints as the mean; sample: persons' totals that print as both.
    nearest: when inconsistent, what the nearest possible means (or deviations, whichever `failed`) print as.
    informative: False when no printable value could have failed the check.
    """

    consistent: bool
    total: int | None = None
    sample: Sample = ()
    nearest: tuple[str, ...] = ()
    informative: bool = True
    failed: str = ""


def grim(mean: str, n: int, items: int = 1) -> Check:
    """Whether n x items integers have a mean (or, "67.4%", a share of n) that prints as `mean`.

    Raises NotANumber when `mean` is not one printed number, UserError when n or items is below 1.
    """
    number = _printed(mean, "mean")
    scale = _scale(number, n, items)
    sums = _integers(number.interval, scale)
    if sums:
        return Check(True, floor(number.value * scale + Fraction(1, 2)), informative=_mean_can_fail(number, scale))
    return Check(False, nearest=_nearest_means(number, scale, None), failed="mean")


def grimmer(mean: str, sd: str, n: int, items: int = 1, within: tuple[int, int] | None = None, ddof: int = 1) -> Check:
    """Whether n persons' scores have this printed mean and standard deviation (divisor n - ddof).

    within: lowest and highest answer to one item; with it the answer is that of SPRITE and CLOSURE.
    """
    number, spread = _printed(mean, "mean"), _printed(sd, "standard deviation")
    if number.unit or spread.unit or spread.value < 0:
        raise NotANumber(f'a mean and a deviation of scores have no unit, and a deviation no sign: "{mean}", "{sd}"')
    if n <= ddof:
        raise UserError(f"a standard deviation with divisor n - {ddof} needs more than {ddof} values, found n = {n}")
    if n > MOST:
        raise UserError(f"a mean and a deviation together are checked for up to {MOST:,} values, found n = {n:,}")
    scale = _scale(number, n, items)
    ends = (within[0] * items, within[1] * items) if within else None
    sums = _clip(_integers(number.interval, scale), n, ends)
    if not sums:
        return Check(False, nearest=_nearest_means(number, scale, ends and (n * ends[0], n * ends[1])), failed="mean")
    factor = Fraction((n - ddof) * items**2)
    for s, q in _moments(sums, n, _squares(spread.interval, factor), ends):
        sample = next(_samples(n, s, q, ends), None)
        if sample is not None:
            may_fail = ends is not None or _mean_can_fail(number, scale) or _sd_can_fail(sums, n, factor, spread.step)
            return Check(True, s, sample, informative=may_fail)
    return Check(False, sums[0], nearest=_nearest_deviations(spread, sums, n, factor, ends), failed="sd")


def debit(mean: str, sd: str, n: int) -> Check:
    """Whether n zeros and ones have this printed mean and standard deviation (divisor n - 1)."""
    return grimmer(mean, sd, n, within=(0, 1))


def count_samples(mean: Interval, sd: Interval, n: int, low: int, high: int) -> int:
    """How many samples of n integers from low to high have a mean and a deviation (divisor n - 1) in these bounds.

    CLOSURE's count of distinct samples. Every sample is enumerated: for counts in the thousands.
    """
    sums = _clip(_integers(mean, Fraction(n)), n, (low, high))
    pairs = _moments(sums, n, _squares(sd, Fraction(n - 1)), (low, high))
    return sum(1 for s, q in pairs for _ in _samples(n, s, q, (low, high)))


def sd_bounds(mean: str, n: int, low: int, high: int, items: int = 1) -> Interval | None:
    """The smallest and largest deviation (divisor n - 1) of n scores on a bounded scale with this printed mean.

    None when no scores on that scale print so.
    """
    number = _printed(mean, "mean")
    sums = _clip(_integers(number.interval, _scale(number, n, items)), n, (low * items, high * items))
    if not sums or n < 2:
        return None
    ends = (low * items, high * items)
    pairs = [(s, q) for s in sums for q in (_least(n, s), _most(n, s, ends))]
    variances = [(q - Fraction(s * s, n)) / ((n - 1) * items**2) for s, q in pairs]
    return Interval(min(variances), max(variances)).sqrt()


def _printed(text: str, what: str) -> Reported:
    number = parse(text, exact=False)
    if number.kind != "number":
        raise NotANumber(f'a {what} is one printed number, found "{text}", a {number.kind}; give the number alone')
    return number


def _scale(number: Reported, n: int, items: int) -> Fraction:
    if n < 1 or items < 1:
        raise UserError(f"a mean needs at least one value of at least one item, found n = {n} and items = {items}")
    return Fraction(n * items, 100 if number.unit == "%" else 1)


def _integers(bounds: Interval, scale: Fraction) -> range:
    """The integers from low x scale to high x scale, ends included."""
    return range(ceil(bounds.low * scale), floor(bounds.high * scale) + 1)


def _squares(bounds: Interval, factor: Fraction) -> Interval:
    return Interval.of(max(bounds.low, Fraction(0)) ** 2 * factor, max(bounds.high, Fraction(0)) ** 2 * factor)


def _clip(sums: range, n: int, ends: tuple[int, int] | None) -> range:
    return sums if ends is None else range(max(sums.start, n * ends[0]), min(sums.stop, n * ends[1] + 1))


def _moments(sums: Iterable[int], n: int, spread: Interval, ends: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
    """Sums S, each with the Q for which Q - S^2/n lies in `spread`; Q is as odd as S, because x*x is as odd as x."""
    for s in sums:
        base = Fraction(s * s, n)
        low = max(ceil(base + spread.low), _least(n, s))
        high = floor(base + spread.high)
        for q in range(low + (low - s) % 2, (high if ends is None else min(high, _most(n, s, ends))) + 1, 2):
            yield s, q


def _least(n: int, s: int) -> int:
    """The smallest sum of squares of n integers with sum s: all as equal as can be."""
    value, more = divmod(s, n)
    return (n - more) * value**2 + more * (value + 1) ** 2


def _most(n: int, s: int, ends: tuple[int, int]) -> int:
    """The largest sum of squares of n integers within `ends` with sum s: all at the ends but one."""
    low, high = ends
    if low == high:
        return n * low**2
    tops, rest = divmod(s - n * low, high - low)
    return tops * high**2 + (n - tops - 1) * low**2 + (low + rest) ** 2 if tops < n else n * high**2


def _reachable(n: int, s: int, q: int) -> bool:
    """Whether n integers have sum s and sum of squares q.

    Needed: q as odd as s, and not below the least. From n = 5 on that is enough. For four integers with an odd sum it
    is enough as well; with an even sum q - (s/2)^2 has to be a sum of three squares (write the four as half of
    s/2 +- a +- b +- c). Five: take one away so that the other four have an odd sum, which is possible whenever q is
    not below the least. More: take away one of the values that make up the least.
    """
    if n == 0:
        return s == q == 0
    if (q - s) % 2 or q < _least(n, s):
        return False
    if n == 1:
        return q == s * s
    if n == 2:
        return isqrt(2 * q - s * s) ** 2 == 2 * q - s * s
    if n == 3:
        reach = isqrt(6 * q - 2 * s * s) + 3  # no value lies further than reach / 3 from the mean
        return any(_reachable(2, s - x, q - x * x) for x in range((s - reach) // 3, (s + reach) // 3 + 1))
    return n > 4 or s % 2 == 1 or _three_squares(q - (s // 2) ** 2)


def _three_squares(number: int) -> bool:
    """Legendre: every natural number is a sum of three squares but those of the form 4^a (8b + 7)."""
    while number and number % 4 == 0:
        number //= 4
    return number % 8 != 7


def _samples(n: int, s: int, q: int, ends: tuple[int, int] | None) -> Iterator[Sample]:
    """The samples of n integers (within `ends`) with sum s and sum of squares q."""
    if ends is None:
        if not _reachable(n, s, q):
            return
        reach = _reach(n, s, q)
        ends = (s // n - reach, s // n + reach)
    low, high = ends
    for sample in _fill(high - low, n, s - n * low, q - 2 * low * s + n * low * low):
        yield tuple((value + low, count) for value, count in sample)


def _reach(n: int, s: int, q: int) -> int:
    """No value lies further from a = floor(s / n): q is the least plus the sum of (x - a)(x - a - 1), none negative."""
    return isqrt(max(q - _least(n, s), 0)) + 1


def _fill(top: int, n: int, s: int, q: int) -> Iterator[Sample]:
    """The samples of n integers from 0 to `top` with sum s and sum of squares q, far values first."""
    if n == 0:
        yield ()
        return
    for value in range(min(top, s // n + _reach(n, s, q)), 2, -1):
        if not 0 <= s <= n * value or q > _most(n, s, (0, value)):
            return
        for count in range(min(n, s // value, q // value**2), 0, -1):
            rest = (n - count, s - count * value, q - count * value**2)
            if _reachable(*rest):
                for sample in _fill(value - 1, *rest):
                    yield ((value, count), *sample)
    twos, odd = divmod(q - s, 2)  # values 0, 1 and 2 alone: s = ones + 2 twos, q = ones + 4 twos
    ones = s - 2 * twos
    if not odd and min(twos, ones, n - ones - twos) >= 0 and (top > 1 or not twos) and (top > 0 or not ones):
        yield tuple((value, count) for value, count in ((2, twos), (1, ones), (0, n - ones - twos)) if count)


def _mean_can_fail(number: Reported, scale: Fraction) -> bool:
    """Whether some mean printed with these decimals is impossible.

    Printable means lie p/q apart in units of the sum (lowest terms), so some sum-to-be lies floor(q/2)/q from the
    nearest integer, and none further; it prints so when that is within half a unit, p/2q.
    """
    apart = number.step * scale
    return 2 * (apart.denominator // 2) > apart.numerator


def _sd_can_fail(sums: range, n: int, factor: Fraction, step: Fraction) -> bool:
    """Whether some printable deviation is impossible with these sums.

    Once a printed unit spans two in the sum of squares every larger deviation is possible, if the smaller ones are.
    (The deviations of fewer than five values have gaps, but then a mean that could not have failed has several sums.)
    """
    for units in range(ceil(1 / (factor * step**2)) + 1):
        window = Interval((units - Fraction(1, 2)) * step, (units + Fraction(1, 2)) * step)
        if not any(_reachable(n, s, q) for s, q in _moments(sums, n, _squares(window, factor), None)):
            return True
    return False


def _nearest_means(number: Reported, scale: Fraction, limits: tuple[int, int] | None) -> tuple[str, ...]:
    below = floor(number.value * scale)
    candidates = [below, below + 1]
    if limits is not None:
        candidates = [min(max(s, limits[0]), limits[1]) for s in candidates]
    printed = []
    for s in candidates:
        units = s / scale / number.step
        printed += [
            ceil(units - Fraction(1, 2)),
            floor(units + Fraction(1, 2)),
        ]  # two only when it lies between them
    return _closest(number, printed)


def _nearest_deviations(
    spread: Reported, sums: range, n: int, factor: Fraction, ends: tuple[int, int] | None
) -> tuple[str, ...]:
    window = _squares(spread.interval, factor)
    printed = []
    for s in sums:
        base, least = Fraction(s * s, n), _least(n, s)
        below = ceil(base + window.low) - 1
        above = max(floor(base + window.high) + 1, least)
        stop = _most(n, s, ends) if ends else above + (2 * isqrt(2 * above) + 5) * (n > 1)  # squares lie so far apart
        for steps in (
            range(below - (below - s) % 2, least - 1, -2),
            range(above + (above - s) % 2, stop + 1, 2),
        ):
            found = next((q for q in steps if next(_samples(n, s, q, ends), None) is not None), None)
            if found is not None:
                doubled = 4 * (found - base) / factor / spread.step**2  # (2 sd in printed units) squared
                root = isqrt(floor(doubled))
                printed += [(root + 1) // 2] + [root // 2] * (root * root == doubled)
    return _closest(spread, printed)


def _closest(number: Reported, units: Iterable[int]) -> tuple[str, ...]:
    """Those of the printable values (in units of the last digit) that lie nearest to the printed one, as printed."""
    distance = {unit: abs(unit - number.value / number.step) for unit in units}
    places = len(str(number.step.denominator)) - 1
    nearest = sorted(unit for unit in distance if distance[unit] == min(distance.values()))
    return tuple(f"{Decimal(f'{int(unit * number.step * 10**places)}e-{places}'):f}" for unit in nearest)
