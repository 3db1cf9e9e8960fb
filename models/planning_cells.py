"""What so many items and labels can tell about one cell, and about a judge beside a human: enumerated, not sampled.

A model of labels in three steps. A *cell* (a question in a country) has label shares p; over cells they are
Dirichlet around `base` with intraclass correlation `between`. An item's shares are Dirichlet around its cell's with
correlation `within`. Its labels are independent draws from its own shares. Then two labels of an item agree beyond
chance by  1 - (1 - between)(1 - within), two labels of different items of a cell by `between`.

A cell's letter is made as in `grid`: each item's most common label, then the most common of those, ties to the lower
code. Counts of few labels, or of few items, have few values (15 items and three letters: 136), so their probabilities
are added up; where there are too many values they are drawn, and the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from countback.models.resampling import Floats
from countback.models.votes import Votes, letters
from numpy.typing import NDArray
from scipy.special import gammaln, stdtrit, xlogy

Counts = NDArray[np.int64]

CELLS = 1000  # drawn to stand for all cells
MOST_VALUES = 1500  # of a count, up to which they are enumerated
DRAWS = 400  # of counts that have more
DRAWN_CELLS = 200  # for which items are drawn, which takes longer
LEAD_BATCHES = 25  # of DRAWS items
KEPT = 0.8  # a cell is called stable when it keeps its letter in this share of resamples


@dataclass(frozen=True)
class Labelling:
    """The model of the module: `base` (k,) label shares, and the two correlations."""

    base: tuple[float, ...]
    between: float
    within: float

    @property
    def agreement(self) -> float:
        """By how much two labels of one item agree beyond chance: 0 not at all, 1 always."""
        return 1 - (1 - self.between) * (1 - self.within)


@dataclass(frozen=True)
class CellStability:
    """What becomes of the letters of cells with so many `items`, on average over cells.

    `right` is the chance that a cell's letter is the one that the same rule gives with unlimited items, `kept` that it
    comes out again when the cell's items are resampled, and `unstable` the share of cells in which that happens in
    fewer than KEPT of the resamples. `enumerated` says that for each cell nothing was drawn; `mc_error` is the
    standard error of `right` for the cells that were.
    """

    items: int
    right: float
    kept: float
    unstable: float
    tied: float
    mc_error: float
    enumerated: bool


@dataclass(frozen=True)
class Lead:
    """How often a held-out human and a judge match the majority of the other labels, and how well that is known.

    `comparisons` an item, on average (ties are skipped); the two rates; `sd` the standard deviation of an item's
    contribution to judge less human, so that its error over I items is sd / sqrt(I); `design_effect` the variance over
    that of as many independent comparisons.
    """

    comparisons: float
    human: float
    judge: float
    sd: float
    design_effect: float

    def half_width(self, items: int, level: float = 0.95) -> float:
        """Half the interval of judge less human from `items` items, by Student's t; NaN for fewer than two."""
        return float(stdtrit(items - 1, (1 + level) / 2) * self.sd / items**0.5) if items > 1 else float("nan")

    def items_for(self, half_width: float, level: float = 0.95) -> int:
        """The fewest items whose half width is at most `half_width` (> 0)."""
        low, high = 1, 2
        while self.half_width(high, level) > half_width:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.half_width(middle, level) <= half_width else (middle, high)
        return high


# --- cells --------------------------------------------------------------------------------------------------------


def compositions(total: int, parts: int) -> Counts:
    """All ways to write `total` as an ordered sum of `parts` numbers >= 0, shape (ways, parts)."""
    rows = np.zeros((1, 0), np.int64)
    left = np.array([total])
    for _ in range(parts - 1):
        each = left + 1
        first = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        rows = np.column_stack([np.repeat(rows, each, axis=0), first])
        left = np.repeat(left, each) - first
    return np.column_stack([rows, left])


def cell_shares(model: Labelling, cells: int, rng: np.random.Generator) -> Floats:
    """Label shares (cells, k) of cells drawn by the model."""
    base = np.asarray(model.base, np.float64)
    if model.between <= 0:
        return np.tile(base, (cells, 1))
    if model.between >= 1:
        return np.eye(len(base))[rng.choice(len(base), cells, p=base)]
    shares = np.zeros((cells, len(base)))
    used = base > 0
    # Gamma draws of tiny shape come out as 0 altogether; a logarithm of them does not.
    shape = base[used] * (1 - model.between) / model.between
    logs = np.log(rng.standard_gamma(shape + 1, (cells, used.sum()))) + np.log(rng.random((cells, used.sum()))) / shape
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares[:, used] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def item_letters(shares: Floats, within: float, labels: int, rng: np.random.Generator) -> Floats:
    """The chance of each letter (cells, k) for one item with `labels` labels, in cells with these shares (cells, k)."""
    k = shares.shape[1]
    if _ways(labels, k) > MOST_VALUES:
        drawn = letters(_drawn_counts(shares, within, labels, rng))
        return np.asarray(np.stack([(drawn == code).mean(axis=1) for code in range(k)], axis=1))
    values = compositions(labels, k)
    chances = _count_chances(values, shares, within) @ np.eye(k)[letters(values)]
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def letter_chances(model: Labelling, labels: int, rng: np.random.Generator) -> Floats:
    """The chance of each letter for one item in CELLS cells (DRAWN_CELLS where counts are drawn), (cells, k)."""
    cells = CELLS if _ways(labels, len(model.base)) <= MOST_VALUES else DRAWN_CELLS
    return item_letters(cell_shares(model, cells, rng), model.within, labels, rng)


def stability_of(chances: Floats, items: int, rng: np.random.Generator) -> CellStability:
    """Of cells with `items` items, given by the chance of each letter for one item, shape (cells, k)."""
    k = chances.shape[1]
    enumerated = _ways(items, k) <= MOST_VALUES
    if not enumerated:
        chances = chances[:DRAWN_CELLS]
    limit = letters(np.round(chances * 2**40).astype(np.int64))  # of unlimited items; equal chances are equal here
    if enumerated:
        values = compositions(items, k)
        kept, tie = _kept_by(values), _level(values)
        weights = _multinomial(values, chances)
        right = (weights * (letters(values) == limit[:, None])).sum(axis=1)
    else:
        values = rng.multinomial(items, chances[:, None], (len(chances), DRAWS // 20))
        kept, tie = _kept_by_draws(values, rng), _level(values)
        weights = np.full(kept.shape, 1 / kept.shape[1])
        right = (letters(values) == limit[:, None]).mean(axis=1)
    return CellStability(
        items=items,
        right=float(right.mean()),
        kept=float((weights * kept).sum(axis=1).mean()),
        unstable=float((weights * (kept < KEPT - 1e-12)).sum(axis=1).mean()),
        tied=float((weights * tie).sum(axis=1).mean()),
        mc_error=float(right.std() / len(chances) ** 0.5),
        enumerated=enumerated,
    )


def _ways(total: int, parts: int) -> int:
    return comb(total + parts - 1, parts - 1)


def _multinomial(values: Counts, chances: Floats) -> Floats:
    """Probabilities (rows, values) of counts (values, k) under chances (rows, k)."""
    number = values.sum(axis=1)
    ways = gammaln(number + 1) - gammaln(values + 1).sum(axis=1)
    out = np.tile(ways, (len(chances), 1))
    for code in range(values.shape[1]):
        out += xlogy(values[:, code], chances[:, code, None])
    return np.asarray(np.exp(out))


def _kept_by(values: Counts) -> Floats:
    """The chance that items with these letters (values, k) give their cell's letter again when resampled."""
    letter = letters(values)
    again = _multinomial(values, values / values.sum(axis=1, keepdims=True))
    return np.asarray((again * (letter == letter[:, None])).sum(axis=1))


def _kept_by_draws(values: Counts, rng: np.random.Generator) -> Floats:
    """The same by DRAWS / 4 resamples of each of the counts, shape (cells, draws, k)."""
    kept = np.empty(values.shape[:2])
    for row, counts in enumerate(values):
        again = rng.multinomial(
            counts.sum(axis=1), counts / counts.sum(axis=1, keepdims=True), (DRAWS // 4, len(counts))
        )
        kept[row] = (letters(again) == letters(counts)).mean(axis=0)
    return kept


def _level(counts: Counts) -> Floats:
    """1 where two letters or more are in front, else 0; (..., k) to (...)."""
    return np.asarray((counts == counts.max(axis=-1, keepdims=True)).sum(axis=-1) > 1, np.float64)


def _count_chances(values: Counts, shares: Floats, within: float) -> Floats:
    """The probability of an item's label counts (values, k) in cells with these shares: (cells, values)."""
    if within <= 0:
        return _multinomial(values, shares)
    if within >= 1:
        number = values.sum(axis=1)
        return np.asarray(shares @ (number == values.T))
    number, total = values.sum(axis=1), (1 - within) / within
    ways = gammaln(number + 1) - gammaln(values + 1).sum(axis=1)
    out = np.tile(ways + gammaln(total) - gammaln(total + number), (len(shares), 1))
    for code in range(values.shape[1]):
        a = np.maximum(shares[:, code, None] * total, np.finfo(float).tiny)  # 0: its count is 0, or never happens
        out += np.where(values[:, code] == 0, 0.0, gammaln(a + values[:, code]) - gammaln(a))
    return np.asarray(np.exp(out))


def _drawn_counts(shares: Floats, within: float, labels: int, rng: np.random.Generator) -> Counts:
    """Label counts (cells, DRAWS, k) of items drawn in each cell, where they have too many values to enumerate."""
    items = np.stack([cell_shares(Labelling(tuple(row), within, 0.0), DRAWS, rng) for row in shares])
    return rng.multinomial(labels, items)


# --- a judge beside a human ---------------------------------------------------------------------------------------


def lead(model: Labelling, labels: int, match: float, rng: np.random.Generator) -> Lead:
    """Held-out human against judge on items with `labels` labels, by the definition of `heldout` (ties skipped).

    The judge gives the majority of all human labels of an item, or one of those that tie, with probability `match`,
    and any of the other labels else. Raises ValueError for fewer than two labels, which leave no other label.
    """
    if labels < 2:
        raise ValueError(f"found {labels} labels of an item; expected two or more, one of them held out")
    base = np.asarray(model.base, np.float64)[None]
    if _ways(labels, base.shape[1]) > MOST_VALUES:
        counts = np.concatenate([_drawn_counts(base, model.agreement, labels, rng)[0] for _ in range(LEAD_BATCHES)])
        weights = np.full(len(counts), 1 / len(counts))
    else:
        counts = compositions(labels, base.shape[1])
        weights = _count_chances(counts, base, model.agreement)[0]
    n, human, by_judge = _held_out(counts)
    top = counts == counts.max(axis=1, keepdims=True)
    front = top.sum(axis=1, keepdims=True)
    k = counts.shape[1]
    other = np.where(front < k, (1 - match) / np.maximum(k - front, 1), 0.0)
    answer = np.where(top, np.where(front < k, match, 1.0) / front, other)
    return _lead(weights[:, None] * answer, np.repeat(n[:, None], k, axis=1), human[:, None], by_judge)


def lead_of(n: Floats, human: Floats, judge: Floats) -> Lead:
    """The same from counts by item (items,) of a pilot, as `heldout.held_out` gives them. Needs two items or more."""
    size = len(n)
    found = _lead(np.full(size, 1 / size), n, human, judge)
    inflate = size / (size - 1)  # deviations from the pilot's own mean are a little short
    return Lead(found.comparisons, found.human, found.judge, found.sd * inflate**0.5, found.design_effect * inflate)


def _held_out(counts: Counts) -> tuple[Floats, Floats, Floats]:
    """Comparisons and human hits (values,) of items with these label counts; a judge's by its label, (values, k)."""
    k = counts.shape[1]
    n, human = np.zeros(len(counts)), np.zeros(len(counts))
    judge = np.zeros(counts.shape)
    for out in range(k):
        others = counts - np.eye(k, dtype=np.int64)[out]
        top = others == others.max(axis=1, keepdims=True)
        used = np.where(top.sum(axis=1) == 1, counts[:, out], 0)  # without others all labels tie, at none
        n += used
        human += used * top[:, out]
        judge += used[:, None] * top
    return n, human, judge


def _lead(weights: Floats, n: Floats, human: Floats, judge: Floats) -> Lead:
    """Of items with these probabilities; all arrays of one shape or broadcast to it. The error is that of a ratio."""
    mean = float((weights * n).sum())
    if mean == 0:
        nan = float("nan")
        return Lead(0.0, nan, nan, nan, nan)
    h, j = float((weights * human).sum()) / mean, float((weights * judge).sum()) / mean
    variance = float((weights * (judge - human - (j - h) * n) ** 2).sum()) / mean**2
    single = h * (1 - h) + j * (1 - j)
    return Lead(mean, h, j, variance**0.5, variance * mean / single if single > 0 else float("nan"))


# --- learning from a pilot ----------------------------------------------------------------------------------------


def learn(votes: Votes) -> Labelling:
    """The model that a pilot's labels suggest, by moments: how often two labels agree, by what they have in common.

    Pairs of labels of one item, of two items of a cell, of two cells. Correlations below 0 are taken as 0; without two
    cells, or without two items in any, `between` is 0 and the item has it all. Raises ValueError without two labels
    on any item.
    """
    counts = votes.counts
    k = counts.shape[1]
    cell = votes.country * votes.n_questions + votes.question
    cells = np.zeros((int(cell.max(initial=0)) + 1, k))
    np.add.at(cells, cell, counts)
    total = cells.sum(axis=0)
    (same, pairs), (same_cell, pairs_cell), (same_all, pairs_all) = (_pairs(x) for x in (counts, cells, total[None]))
    if pairs == 0:
        raise ValueError("found no item with two labels; expected some, to see how far annotators agree")
    base = total / total.sum()
    apart = pairs_all - pairs_cell
    chance = (same_all - same_cell) / apart if apart else float((base**2).sum())
    near = (same_cell - same) / (pairs_cell - pairs) if pairs_cell > pairs and apart else chance
    between = _beyond(near, chance)
    within = _beyond(same / pairs, chance + between * (1 - chance))
    return Labelling(tuple(map(float, base)), between, within)


def _pairs(counts: NDArray[np.generic]) -> tuple[float, float]:
    """Ordered pairs of labels of one row that are the same, and all of them, added up over rows (rows, k)."""
    x = counts.astype(np.float64)
    number = x.sum(axis=1)
    return float((x * (x - 1)).sum()), float((number * (number - 1)).sum())


def _beyond(found: float, chance: float) -> float:
    return min(max((found - chance) / (1 - chance), 0.0), 1.0) if chance < 1 else 0.0
