"""Two nulls for country differences, and the corrections for many tests.

Per question: the countries of the items are shuffled, the item being the unit because the labels of one item
are not independent. Where items are crossed, countries are shuffled within each item. Whole grid: the items of
each question are pooled and dealt at random to synthetic countries, whose letters are then made by the same
rule as the published ones. Source: methods, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from countback.models.culture import MAJORITY, MODAL_GRID, Rule, lean_of_totals
from countback.models.estimate import quotient, seed_of
from countback.models.resampling import (
    BATCH_BYTES,
    Floats,
    Ints,
    PermutationResult,
    dealt,
    mc_error_mean,
    mc_error_share,
    permutation_pvalue,
    permuted_rows,
)
from countback.models.votes import Ties, Votes, default_scores, letters, plurality
from numpy.typing import NDArray

Statistic = Literal["variance", "weighted-variance", "range", "chi-square"]
Value = Literal["labels", "majority"]
Deal = Literal["replacement", "decks", "shuffle"]


@dataclass(frozen=True)
class QuestionTest:
    """One question's permutation test.

    `items` counts the items (of a crossed design: items times countries) that enter, `dropped` says how many
    did not and why. `bonferroni` and `bh` are p corrected over the questions of the same call. p is NaN,
    with a note, where fewer than two countries have items.
    """

    question: int
    statistic: str
    value: str
    observed: float
    p: float
    mc_error: float
    bonferroni: float
    bh: float
    items: int
    dropped: tuple[tuple[str, int], ...]
    draws: int
    seed: int | None
    note: str = ""


@dataclass(frozen=True)
class NullCount:
    """A count of questions over null grids: mean with Monte Carlo error, and the central 90%.

    `at_least` and `at_most` are the one-sided p-values of `observed`, NaN where none was given.
    """

    mean: float
    mc_error: float
    low: int
    high: int
    observed: int | None
    at_least: float
    at_most: float


@dataclass(frozen=True)
class GridNull:
    """Questions showing all labels, and unanimous questions, over grids without culture.

    `pool` (questions,) is the number of items dealt from, `hands` (questions, synthetic countries) how many
    each is dealt. Questions without items are in neither count.
    """

    all_labels: NullCount
    unanimous: NullCount
    pool: NDArray[np.int64]
    hands: NDArray[np.int64]
    rule: Rule
    deal: str
    draws: int
    seed: int | None


def question_tests(
    votes: Votes,
    *,
    draws: int = 5000,
    rng: np.random.Generator,
    statistic: Statistic = "variance",
    value: Value = "labels",
    ties: Ties = "average",
    scores: Floats | None = None,
) -> tuple[QuestionTest, ...]:
    """Permutation test of each question: do item scores differ by country more than by chance?

    `value` is an item's score: the mean score of its labels, or of its plurality label with `ties`.
    `statistic` is the variance of the country means ("variance": each country counts once;
    "weighted-variance": as often as it has items, which orders shuffles as the F test does), their range, or
    the chi-square of country against plurality label. Items without a valid label, or tied under "drop", are
    left out and counted.
    """
    value = "majority" if statistic == "chi-square" else value
    cast = votes.counts if value == "labels" else plurality(votes.counts, ties)
    used = np.asarray(cast.any(axis=1))
    kept, cast = votes.keep(used), cast[used]
    weights = cast / cast.sum(axis=1, keepdims=True)
    points = default_scores(cast.shape[1]) if scores is None else scores
    columns = weights if statistic == "chi-square" else (weights @ points)[:, None]
    sizes = _sizes(kept)
    observed = _statistic(_sums(kept, columns, kept.country[None, :]), sizes, statistic)[0]
    null = np.concatenate([_statistic(s, sizes, statistic) for s in _shuffled_sums(kept, columns, draws, rng)])
    p = np.array([permutation_pvalue(observed[q], null[:, q]) for q in range(votes.n_questions)])
    p[np.isnan(observed)] = np.nan
    bonferroni, bh = adjust_bonferroni(p), adjust_bh(p)
    return tuple(
        QuestionTest(
            question=q,
            statistic=statistic,
            value=value,
            observed=float(observed[q]),
            p=float(p[q]),
            mc_error=mc_error_share(float(p[q]), draws),
            bonferroni=float(bonferroni[q]),
            bh=float(bh[q]),
            items=int(sizes[q].sum()),
            dropped=_left_out(votes, used, q),
            draws=draws,
            seed=seed_of(rng),
            note="fewer than two countries have items" if np.isnan(p[q]) else "",
        )
        for q in range(votes.n_questions)
    )


def spread_test(
    votes: Votes,
    rule: Rule = MAJORITY,
    *,
    draws: int = 5000,
    rng: np.random.Generator,
    scores: Floats | None = None,
) -> PermutationResult:
    """How often shuffled countries (within questions, or within crossed items) spread their leans as widely.

    The statistic is max - min of the countries' leans under `rule`; NaN unless two countries have one.
    """
    cast = votes.counts if rule.vote == "labels" else plurality(votes.counts, rule.item_ties)
    used = np.asarray(cast.any(axis=1))
    kept, columns = votes.keep(used), cast[used].astype(np.float64)
    points = default_scores(cast.shape[1]) if scores is None else scores

    def spread(sums: Floats) -> Floats:
        totals = sums.sum(axis=1, keepdims=True) if rule.over == "mean" else sums
        leans = lean_of_totals(np.swapaxes(totals, 1, 2), rule, points)
        return np.asarray(np.nanmax(leans, axis=-1) - np.nanmin(leans, axis=-1))

    if len(np.unique(kept.country)) < 2:
        return PermutationResult(np.nan, np.nan, 0, draws, np.nan)
    observed = float(spread(_sums(kept, columns, kept.country[None, :]))[0])
    null = np.concatenate([spread(sums) for sums in _shuffled_sums(kept, columns, draws, rng)])
    p = permutation_pvalue(observed, null)
    return PermutationResult(observed, p, round(p * (draws + 1)) - 1, draws, mc_error_share(p, draws))


def culture_free_grid(
    votes: Votes,
    *,
    countries: int = 12,
    draws: int = 5000,
    rng: np.random.Generator,
    rule: Rule = MODAL_GRID,
    hands: Ints | None = None,
    deal: Deal = "replacement",
    observed: tuple[int, int] | None = None,
) -> GridNull:
    """Grids of synthetic countries that differ in nothing but the items they happen to get.

    `deal`: "replacement" pools the items of each question over countries and draws each country's anew; "decks"
    deals them from as many shuffled copies of the pool as needed; "shuffle" keeps the real countries and their
    numbers and shuffles them over the items of each question, or within each item where items are crossed
    (the null for crossed data). `hands` (questions, countries) says how many items each synthetic country is
    dealt; by default each copies a real country's number, in turn. `observed` is the published number of questions
    that show all labels and of unanimous ones.
    """
    cast = votes.counts if rule.vote == "labels" else plurality(votes.counts, rule.item_ties)
    used = np.asarray(cast.any(axis=1))
    kept, cast = votes.keep(used), cast[used]
    if deal == "shuffle":
        sizes = _sizes(kept)
        sums = _shuffled_sums(kept, cast.astype(np.float64), draws, rng)
        grids = (np.swapaxes(letters(batch.astype(np.int64), rule.cell_ties), 1, 2) for batch in sums)
        counts = np.concatenate([grid_counts(grid, cast.shape[1]) for grid in grids], axis=1)
    else:
        sizes = _copied_sizes(kept, countries) if hands is None else np.asarray(hands, np.int64)
        counts = np.zeros((2, draws), np.int64)
        for q in np.flatnonzero(_sizes(kept).any(axis=1)):
            counts += _dealt_counts(cast[kept.question == q], sizes[q], deal, rule.cell_ties, draws, rng)
    published = (None, None) if observed is None else observed
    return GridNull(
        all_labels=_null_count(counts[0], published[0]),
        unanimous=_null_count(counts[1], published[1]),
        pool=np.bincount(kept.question, minlength=votes.n_questions),
        hands=sizes,
        rule=rule,
        deal=deal,
        draws=draws,
        seed=seed_of(rng),
    )


def grid_counts(grid: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """Of letters (..., countries, questions): questions that show all labels, unanimous ones; shape (2, ...).

    A letter of -1 is no letter. A question without any letter is in neither count.
    """
    shown = np.stack([(grid == label).any(axis=-2) for label in range(n_labels)])
    kinds = shown.sum(axis=0)
    return np.stack([(kinds == n_labels).sum(axis=-1), (kinds == 1).sum(axis=-1)])


def adjust_bonferroni(p: Floats) -> Floats:
    """p times the number of tests, at most 1; NaN entries are no tests."""
    return np.asarray(np.minimum(p * np.isfinite(p).sum(), 1.0))


def adjust_bh(p: Floats) -> Floats:
    """Benjamini and Hochberg's (1995) adjusted p-values; NaN entries are no tests."""
    result = np.full(p.shape, np.nan)
    known = np.flatnonzero(np.isfinite(p))
    falling = known[np.argsort(-p[known], kind="stable")]
    rank = np.arange(len(known), 0, -1)
    result[falling] = np.minimum(np.minimum.accumulate(p[falling] * len(known) / rank), 1.0)
    return result


def _shuffled_sums(votes: Votes, columns: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """`_sums` under shuffled countries, in batches."""
    blocks = votes.question
    if votes.crossed:
        blocks = votes.item * votes.n_questions + votes.question
    for codes in permuted_rows(votes.country.astype(np.int32), draws, rng, strata=blocks):
        yield _sums(votes, columns, codes)


def _sums(votes: Votes, columns: Floats, codes: Ints) -> Floats:
    """Sums of `columns` (units, m) by question and by the country that `codes` (b, units) names.

    Returns (b, questions, countries, m).
    """
    rows = len(codes)
    shape = (rows, votes.n_questions, votes.n_countries)
    flat = (np.arange(rows)[:, None] * shape[1] + votes.question) * shape[2] + codes
    sums = [
        np.bincount(flat.ravel(), np.broadcast_to(column, flat.shape).ravel(), minlength=rows * shape[1] * shape[2])
        for column in columns.T
    ]
    return np.stack(sums, axis=-1).astype(np.float64).reshape(*shape, len(sums))


def _sizes(votes: Votes) -> NDArray[np.int64]:
    """Units of each question and country, shape (questions, countries); shuffling keeps them."""
    size = votes.n_questions * votes.n_countries
    return np.bincount(votes.question * votes.n_countries + votes.country, minlength=size).reshape(
        votes.n_questions, votes.n_countries
    )


def _statistic(sums: Floats, sizes: NDArray[np.int64], statistic: Statistic) -> Floats:
    """(b, questions, countries, m) to (b, questions); NaN where fewer than two countries have items."""
    present = sizes > 0
    enough = present.sum(axis=1) > 1
    if statistic == "chi-square":
        margin = sums.sum(axis=2, keepdims=True)
        expected = sizes[..., None] * quotient(margin, np.broadcast_to(sizes.sum(axis=1)[:, None, None], margin.shape))
        value = np.nansum(quotient((sums - expected) ** 2, expected), axis=(2, 3))
    else:
        means = quotient(sums[..., 0], np.broadcast_to(sizes, sums.shape[:3]))
        if statistic == "range":
            high = np.where(present, means, -np.inf).max(axis=-1)
            value = high - np.where(present, means, np.inf).min(axis=-1)
        else:
            weight = present.astype(float) if statistic == "variance" else sizes.astype(float)
            filled = np.where(present, means, 0.0)
            total = np.maximum(weight.sum(axis=1), 1.0)
            centre = (filled * weight).sum(axis=-1) / total
            value = (weight * (filled - centre[..., None]) ** 2).sum(axis=-1) / np.maximum(present.sum(axis=1) - 1, 1)
    return np.where(enough, value, np.nan)


def _dealt_counts(
    cast: NDArray[np.int64], hands: NDArray[np.int64], deal: Deal, ties: Ties, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """`grid_counts` of one question, (2, draws), when the items behind `cast` (items, k) are dealt into `hands`."""
    items, k = cast.shape
    ends = np.cumsum(hands)
    counts = np.zeros((2, draws), np.int64)
    step = max(1, BATCH_BYTES // (8 * (3 + k) * int(ends[-1])))
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        at = dealt(items, int(ends[-1]), rows, rng, replacement=deal == "replacement")
        totals = np.empty((k, rows, len(hands)), np.int64)
        running = np.zeros((rows, ends[-1] + 1), np.int64)
        for label in range(k):
            np.cumsum(cast[:, label][at], axis=1, out=running[:, 1:])
            totals[label] = running[:, ends] - running[:, ends - hands]
        counts[:, start : start + rows] = grid_counts(letters(np.moveaxis(totals, 0, -1), ties)[..., None], k)
    return counts


def _left_out(votes: Votes, used: NDArray[np.bool_], question: int) -> tuple[tuple[str, int], ...]:
    out = ~used & (votes.question == question)
    empty = int((out & ~votes.counts.any(axis=1)).sum())
    reasons = (("no valid label", empty), ("tied", int(out.sum()) - empty))
    return tuple((reason, count) for reason, count in reasons if count)


def _copied_sizes(votes: Votes, countries: int) -> NDArray[np.int64]:
    """(questions, countries): the numbers of items of the real countries that have any, repeated in turn."""
    result = np.zeros((votes.n_questions, countries), np.int64)
    for q, row in enumerate(_sizes(votes)):
        if row.any():
            result[q] = np.resize(row[row > 0], countries)
    return result


def _null_count(counts: NDArray[np.int64], observed: int | None) -> NullCount:
    low, high = np.quantile(counts, [0.05, 0.95], method="inverted_cdf")
    known = observed is not None
    return NullCount(
        mean=float(counts.mean()),
        mc_error=float(mc_error_mean(counts.astype(np.float64))),
        low=int(low),
        high=int(high),
        observed=observed,
        at_least=permutation_pvalue(float(observed or 0), counts.astype(np.float64)) if known else np.nan,
        at_most=permutation_pvalue(-float(observed or 0), -counts.astype(np.float64)) if known else np.nan,
    )
