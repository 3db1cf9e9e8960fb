"""The country's share of label variance from crossed labels, by moments; nothing is drawn, nothing is fitted.

Labels on a linear scale (codes as numbers) are  y = mean + item + country + item:country + annotator in country + rest,
all random, and the share is the country's variance over the sum of the five. Every step leaves item content out of
the comparison of countries, so items need not be labelled equally often, nor everywhere:

annotator, residual   sums of squares by cell (an item in a country) and by annotator, within countries, set equal to
                      their expectations: linear equations (Henderson 1953, method 1). A country's level drops out.
item                  mean covariance, over pairs of countries, of the cells' means on the items that both labelled. All
                      else is independent between two countries.
item:country          variance between the cells of a country, less the item's.
country               variance of the countries' effects by least squares with items fixed, less its noise, which
                      follows from the other variances.
With equal numbers in every cell these are the estimates from the mean squares of the analysis of variance. An
estimate may be negative and is then kept: cutting it at 0 would bias the rest.

Interval. What varies most is which countries were asked, and a handful of countries cannot be resampled (four give 35
different resamples). Their sum of squares over its expectation is taken as F instead, degrees of freedom by
Satterthwaite, and inverted for the country's variance; the other variances are jackknifed over items, the largest
unit that labels share; the two are put together as in Zou and Donner (2008). `here` keeps the countries as they
are: how far these ones lie apart, with annotators and items redrawn only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models.resampling import Floats, Ints
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import fdtr, stdtrit

NESTED = (
    "found no item that was labelled in two countries: a difference between these countries may be one between their "
    "items, so the country's share of label variance is confounded; expected the same items in several countries"
)


@dataclass(frozen=True)
class Components:
    """Variances on the scale of the labels; negative where moments say so, NaN where a part lies in the residual."""

    country: float
    item: float
    item_country: float
    annotator: float
    residual: float

    @property
    def total(self) -> float:
        """Sum of the parts that are known; a part that is NaN lies in the residual."""
        return float(np.nansum([self.country, self.item, self.item_country, self.annotator, self.residual]))


@dataclass(frozen=True)
class CountryShare:
    """Country's share of label variance with its interval, the countries being a sample of countries.

    `here` is the interval of the share of these countries as they are. `share` may be negative; the intervals are cut
    to [0, 1]. `items` and `labels` are those used; `notes` say in words what was left out or could not be separated.
    """

    share: float
    low: float
    high: float
    here: tuple[float, float]
    level: float
    components: Components
    effects: Floats
    countries: int
    items: int
    annotators: int
    labels: int
    notes: tuple[str, ...]


def country_share(
    item: Ints,
    country: Ints,
    annotator: Ints,
    label: Ints,
    *,
    scores: Sequence[float] | None = None,
    interaction: bool = True,
    level: float = 0.95,
) -> CountryShare:
    """Country's share of label variance; all arrays (labels,) of codes, label -1 where missing.

    `scores` are the numbers that label codes stand for, the codes themselves by default. Without `interaction` an item
    in a country has no effect of its own beyond the item's. Items of one country only are left out: they say nothing
    of the difference between countries but through their content. An annotator is nested in a country; one who
    labelled for two counts as two. Raises UserError, in a sentence, for labels that cannot answer: nested items,
    countries that no item links, one annotator a country, a single shared item, labels all alike or too few.
    """
    rows = _rows(np.asarray(item), np.asarray(country), np.asarray(annotator), np.asarray(label), scores)
    notes = list(rows.notes)
    parts = _within(rows, _shared_variance(rows), interaction, notes)
    effects, noise = _contrasts(rows, parts)
    df = len(effects) - 1
    square = float(effects @ effects) / df
    lambdas = np.linalg.eigvalsh(noise.sum(axis=0))
    lambdas = lambdas[np.argsort(np.abs(lambdas))][1:]  # the first belongs to the mean, which has no noise
    variance = square - float(lambdas.mean())
    components = Components(variance, *parts)
    rest = components.total - variance
    if min(rest, components.total) <= 0:
        raise UserError(
            f"found variances that add up to {components.total:.3g}, {rest:.3g} without the country's, from "
            f"{len(rows.y)} labels of {rows.items} items: no share of that exists; expected more of either"
        )
    if variance < 0:
        notes.append(f"the country's variance is estimated as {variance:.3g}: below 0, as chance alone can make it")
    if parts[1] < 0:
        notes.append(f"the variance of item:country is estimated as {parts[1]:.3g}: below 0, kept as it is")
    spread = _rest_error(rows, level)
    noise_df = _noise_df(rows, noise)
    ends = []
    for fixed in (False, True):
        bounds = _variance_interval(square, lambdas, noise_df, level, fixed=fixed)
        ends.append(_share_interval(variance, bounds, rest, spread))
    return CountryShare(
        share=variance / components.total,
        low=ends[0][0],
        high=ends[0][1],
        here=ends[1],
        level=level,
        components=components,
        effects=effects,
        countries=len(effects),
        items=rows.items,
        annotators=rows.annotators,
        labels=len(rows.y),
        notes=tuple(notes),
    )


# --- the labels as they are used ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Labels of shared items, centred: codes without gaps, and `counts` and `sums` by item and country."""

    y: Floats
    item: Ints
    country: Ints
    annotator: Ints
    counts: Floats
    sums: Floats
    home: Ints  # country of each annotator
    notes: tuple[str, ...]

    @property
    def items(self) -> int:
        return len(self.counts)

    @property
    def annotators(self) -> int:
        return len(self.home)


def _rows(item: Ints, country: Ints, annotator: Ints, label: Ints, scores: Sequence[float] | None) -> _Rows:
    valid = label >= 0
    if not valid.any():
        raise UserError("found no valid label; expected labels of the same items in several countries")
    notes = [f"{int((~valid).sum())} labels are missing or not valid and were left out"] if not valid.all() else []
    i, c, a = (_dense(codes[valid]) for codes in (item, country, annotator))
    by_item = _table(i, c)
    if by_item.shape[1] < 2:
        raise UserError("found one country; expected the same items labelled in two or more")
    crossed = (by_item > 0).sum(axis=1) > 1
    if not crossed.any():
        raise UserError(NESTED)
    kept = crossed[i]
    if not kept.all():
        notes.append(
            f"{int((~crossed).sum())} of {len(crossed)} items, with {int((~kept).sum())} labels, were labelled in one "
            "country only and say nothing here: left out"
        )
    i, c, a = _dense(i[kept]), _dense(c[kept]), a[kept]
    if c.max() + 1 < by_item.shape[1]:
        notes.append(f"{by_item.shape[1] - int(c.max()) - 1} countries share no item with another: left out")
    pair = _dense(a.astype(np.int64) * (int(c.max()) + 1) + c)
    both = int(pair.max()) - len(np.unique(a)) + 1
    if both:
        notes.append(f"annotators labelled for more than one country and count once for each ({both} more)")
    home = np.zeros(int(pair.max()) + 1, np.int64)
    home[pair] = c
    if (np.bincount(home) == 1).all():
        raise UserError(
            "found one annotator in each country, who cannot be told from the country; expected two or more in some"
        )
    values = label[valid][kept]
    y = values.astype(np.float64) if scores is None else np.asarray(scores, np.float64)[values]
    y -= y.mean()
    if not y.any():
        raise UserError("found the same label everywhere; expected labels that vary")
    counts = _table(i, c)
    if counts.min() < counts.max():
        empty = int((counts == 0).sum())
        notes.append(
            f"not balanced: {int(counts[counts > 0].min())} to {int(counts.max())} labels of an item in a country, and "
            f"{empty} of {counts.size} pairs without any; the variances are unbiased all the same"
        )
    return _Rows(y, i, c, pair, counts, _table(i, c, y), home, tuple(notes))


def _dense(codes: Ints) -> NDArray[np.int64]:
    """Codes without gaps, in their order."""
    if codes.min() < 0 or codes.max() > 16 * len(codes):
        return np.asarray(np.unique(codes, return_inverse=True)[1], np.int64)
    present = np.bincount(codes) > 0
    return np.asarray(np.cumsum(present)[codes] - 1, np.int64)


def _table(one: Ints, other: Ints, weights: Floats | None = None) -> Floats:
    """Counts, or sums of weights, by two codes."""
    shape = (int(one.max()) + 1, int(other.max()) + 1)
    return np.bincount(one * shape[1] + other, weights, shape[0] * shape[1]).reshape(shape).astype(np.float64)


# --- variances within countries -----------------------------------------------------------------------------------


def _within(rows: _Rows, item: float, interaction: bool, notes: list[str]) -> tuple[float, float, float, float]:
    """Variances of item (given), item:country, annotator and residual; NaN for a part that stays in the residual."""
    n, s = rows.counts, rows.sums
    filled = n > 0
    labels, cells = float(len(rows.y)), int(filled.sum())
    size, own = n.sum(axis=0), np.bincount(rows.annotator).astype(np.float64)
    pair, pairs = np.unique(rows.annotator * np.int64(rows.items) + rows.item, return_counts=True)
    who, where = pair // rows.items, pair % rows.items
    squares = pairs.astype(np.float64) ** 2
    # What each sum of squares expects of a cell's, an annotator's and the residual variance; `base` is the countries'.
    base = np.array([(n**2 / size).sum(), (own**2 / size[rows.home]).sum(), len(size)])
    of_cells = np.array([labels, (squares / n[where, rows.home[who]]).sum(), cells])
    of_people = np.array([(squares / own[who]).sum(), labels, len(own)])
    equations = np.array([of_cells, of_people, np.full(3, labels)]) - base
    total = np.bincount(rows.annotator, rows.y)
    found = np.array([(s[filled] ** 2 / n[filled]).sum(), (total**2 / own).sum(), float(rows.y @ rows.y)])
    found -= (s.sum(axis=0) ** 2 / size).sum()
    used = [interaction and cells < labels, len(own) < labels, True]
    if not used[0]:
        found -= equations[:, 0] * item
        if interaction:
            notes.append("every item has one label in a country: item:country cannot be told from the residual")
    if not used[1]:
        notes.append("every annotator gave one label: annotators cannot be told from the residual")
    matrix = equations[np.ix_(used, used)]
    if np.linalg.matrix_rank(matrix / labels, tol=1e-9) < len(matrix):
        raise UserError(
            "found items and annotators that divide the labels alike, so their variances cannot be told apart; "
            "expected annotators who label several items each and items with several annotators"
        )
    answer = np.full(3, np.nan)
    answer[used] = np.linalg.solve(matrix, found[used])
    cell, annotator, residual = map(float, answer)
    return item, cell - item, annotator, residual


def _shared_variance(rows: _Rows) -> float:
    """The item's variance: covariance of cell means between countries, pairs weighted by common items less one."""
    filled = (rows.counts > 0).astype(np.float64)
    means = np.divide(rows.sums, rows.counts, out=np.zeros_like(rows.sums), where=rows.counts > 0)
    common, sums = filled.T @ filled, means.T @ filled  # sums[c, d]: of c's means over the items that d labelled too
    usable = np.triu(common > 1, 1)
    weight = float((common[usable] - 1).sum())
    if weight == 0:
        raise UserError("found no two items that two countries share; the item's variance needs at least two of them")
    products = (means.T @ means)[usable] - (sums * sums.T)[usable] / common[usable]
    return float(products.sum() / weight)


# --- countries ----------------------------------------------------------------------------------------------------


def _contrasts(rows: _Rows, parts: tuple[float, float, float, float]) -> tuple[Floats, Floats]:
    """Country effects with items fixed, centred (C,), and the noise of item:country, annotator, residual (3, C, C)."""
    n, size = rows.counts, rows.counts.sum(axis=1)
    share = n / size[:, None]
    matrix = np.diag(n.sum(axis=0)) - n.T @ share
    values, vectors = np.linalg.eigh(matrix)
    if values[1] <= 1e-9 * values[-1]:
        raise UserError(
            "found groups of countries that no item links to each other: between the groups a country's effect is "
            "confounded with its items; expected items that link all countries"
        )
    inverse = (vectors[:, 1:] / values[1:]) @ vectors[:, 1:].T
    effects = inverse @ (rows.sums.sum(axis=0) - share.T @ rows.sums.sum(axis=1))
    _, item_country, annotator, residual = (0.0 if np.isnan(part) else part for part in parts)
    # How a cell, or an annotator, enters the right-hand side: its own country once, less the item's other countries.
    squares = n**2
    mixed = squares.T @ share
    cells = np.diag(squares.sum(axis=0)) - mixed - mixed.T + (share * squares.sum(axis=1)[:, None]).T @ share
    people = np.arange(rows.annotators)
    ones = np.ones(len(rows.y))
    labelled = sparse.coo_array((ones, (rows.annotator, rows.item)), shape=(rows.annotators, rows.items)).tocsr()
    reach = -(labelled @ share)
    reach[people, rows.home] += np.bincount(rows.annotator)
    noise = np.array([item_country * cells, annotator * (reach.T @ reach), residual * matrix])
    return effects, inverse @ noise @ inverse


def _noise_df(rows: _Rows, noise: Floats) -> float:
    """Degrees of freedom of the countries' noise: annotators (with the residual in their means) and cells."""
    cells, people, rest = np.trace(noise, axis1=1, axis2=2)
    filled = int((rows.counts > 0).sum())
    countries = rows.counts.shape[1]
    cell_df = max(filled - rows.items - countries + 1, 1)
    variance = (people + rest) ** 2 / (rows.annotators - countries) + cells**2 / cell_df
    return float((cells + people + rest) ** 2 / variance) if variance > 0 else np.inf


def _variance_interval(
    square: float, lambdas: Floats, noise_df: float, level: float, *, fixed: bool
) -> tuple[float, float]:
    """The variances at which `square` over its expectation meets the upper and the lower point of F.

    `square` is the countries' mean square and `lambdas` are the variances of its contrasts by noise alone. With `fixed`
    countries it varies by noise only: variance 2 sum(lambda^2 + 2 v lambda) instead of 2 sum(v + lambda)^2.
    """
    lambdas = np.maximum(lambdas, 0.0)
    mean = float(lambdas.mean())

    def below(v: float) -> float:
        spread = (lambdas**2 + 2 * v * lambdas).sum() if fixed else ((v + lambdas) ** 2).sum()
        if spread == 0:
            return 1.0 if square > v + mean else 0.0
        df = len(lambdas) ** 2 * (v + mean) ** 2 / float(spread)
        second = 1e9 if mean == 0 else min(noise_df * ((v + mean) / mean) ** 2, 1e9)
        return float(fdtr(df, second, square / (v + mean)))

    return _crossing(below, (1 + level) / 2, square), _crossing(below, (1 - level) / 2, square)


def _crossing(falling: Any, target: float, scale: float) -> float:
    """Where a falling function of a variance meets `target`; 0 where it is no higher from the start."""
    if scale <= 0 or falling(0.0) <= target:
        return 0.0
    low, high = 0.0, scale
    while falling(high) > target:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > target else (low, middle)
    return high


def _rest_error(rows: _Rows, level: float) -> float:
    """Half width of the interval of log(variance within countries), by leaving out each item in turn."""
    squares = np.bincount(rows.item * rows.counts.shape[1] + rows.country, rows.y**2, rows.counts.size)
    tables = rows.counts, rows.sums, squares.reshape(rows.counts.shape)
    n, s, q = (table.sum(axis=0) - table for table in tables)
    present = n > 0
    centred = np.where(present, q - s**2 / np.where(present, n, 1), 0.0).sum(axis=1)
    within = centred / np.maximum(n.sum(axis=1) - present.sum(axis=1), 1)
    if within.min() <= 1e-12 * float(rows.y @ rows.y):  # without that item nothing varies
        return np.inf
    count = len(within)
    error = float(np.log(within).std() * (count - 1) ** 0.5)
    return error * float(stdtrit(count - 1, (1 + level) / 2))


def _share_interval(variance: float, bounds: tuple[float, float], rest: float, spread: float) -> tuple[float, float]:
    """Interval of v / (v + rest) from that of v and the half width of log(rest), both put together on the log scale."""
    low, high = bounds
    down = np.hypot(np.log(variance / low), spread) if 0 < low < variance else np.inf
    start = variance if variance > 0 else high
    up = np.hypot(np.log(high / start), spread) if high > 0 else 0.0
    ends = (variance / rest * np.exp(-down) if variance > 0 else 0.0), max(start, 0.0) / rest * np.exp(up)
    return tuple(float(end / (1 + end)) if np.isfinite(end) else 1.0 for end in ends)  # type: ignore[return-value]
