"""One letter per country and question: how it is made, where a tie decides it, how often it comes out again.

Source of the rules: methods, section 4. The default rule takes each item's plurality label, then the mode over
the question's items, and gives every tie to the stricter label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from countback.models.culture import MODAL_GRID, Rule, Strata, item_totals, strata_of
from countback.models.estimate import cluster_strata, seed_of
from countback.models.resampling import BATCH_BYTES, Floats, bootstrap_totals, cluster_weights, redrawn_labels
from countback.models.votes import Ties, Votes, letters, plurality, tied
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """`letters` (countries, questions) of label codes, -1 for none, and the items and labels behind each cell.

    An item counts in `items` when it casts a vote under the rule; `missing` rows had no valid label.
    """

    rule: Rule
    letters: Codes
    items: Codes
    labels: Codes
    missing: int


@dataclass(frozen=True)
class TieReport:
    """Ties behind a grid, all arrays (countries, questions).

    tied_items: items of the cell with two or more labels in front; always 0 when labels vote directly.
    tied_cell: the cell's mode itself is a tie.
    by_rule: the letters with ties to the strictest or the most lenient label, at (item, cell) level.
    decided: the letter depends on which of those four rules is taken.
    """

    tied_items: Codes
    tied_cell: Bits
    by_rule: dict[tuple[Ties, Ties], Codes]
    decided: Bits

    def counts(self) -> dict[str, int]:
        """How many cells there are, and how many are tied at each level, at either, and decided by a tie."""
        item_level = self.tied_items > 0
        return {
            "cells": int((self.by_rule["strictest", "strictest"] >= 0).sum()),
            "tied at item level": int(item_level.sum()),
            "tied at cell level": int(self.tied_cell.sum()),
            "tied at either level": int((item_level | self.tied_cell).sum()),
            "decided by a tie": int(self.decided.sum()),
        }


@dataclass(frozen=True)
class Stability:
    """`kept` (countries, questions): the share of resamples that give the cell's letter again; NaN without a letter.

    `mc_error` is its Monte Carlo standard error. `undefined` is the share of resamples in which the cell had
    no letter; they count as not keeping it.
    """

    kept: Floats
    mc_error: Floats
    undefined: Floats
    resample: str
    strata: str
    draws: int
    seed: int | None

    def below(self, share: float = 0.8) -> int:
        """How many cells keep their letter in fewer than `share` of the resamples."""
        return int((self.kept < share).sum())


def modal_grid(votes: Votes, rule: Rule = MODAL_GRID) -> Grid:
    """The letter of each country and question. Raises ValueError for a rule that averages at the cell."""
    table, shape = item_totals(votes, replace(rule, over="mode"))
    totals = table.sum(axis=0).reshape(shape)
    cell = votes.country * votes.n_questions + votes.question
    casts = votes.counts if rule.vote == "labels" else plurality(votes.counts, rule.item_ties)
    size = votes.n_countries * votes.n_questions
    return Grid(
        rule=rule,
        letters=letters(totals.astype(np.int64), rule.cell_ties),
        items=np.bincount(cell, casts.any(axis=1), minlength=size).astype(np.int64).reshape(shape[:2]),
        labels=np.bincount(cell, votes.counts.sum(axis=1), minlength=size).astype(np.int64).reshape(shape[:2]),
        missing=votes.missing,
    )


def tie_report(votes: Votes, rule: Rule = MODAL_GRID) -> TieReport:
    """Where the rule's letters rest on ties, and which letters another way of breaking them would give."""
    table, shape = item_totals(votes, replace(rule, over="mode"))
    cell = votes.country * votes.n_questions + votes.question
    item_level = tied(votes.counts) & (rule.vote == "majority")
    ends: tuple[Ties, Ties] = ("strictest", "lenient")
    by_rule = {
        (item, own): modal_grid(votes, replace(rule, item_ties=item, cell_ties=own)).letters
        for item, own in product(ends, repeat=2)
    }
    stack = np.stack(list(by_rule.values()))
    return TieReport(
        tied_items=np.bincount(cell, item_level, minlength=shape[0] * shape[1]).astype(np.int64).reshape(shape[:2]),
        tied_cell=tied(table.sum(axis=0).reshape(shape).astype(np.int64)),
        by_rule=by_rule,
        decided=np.asarray((stack != stack[0]).any(axis=0)),
    )


def stability(
    votes: Votes,
    rule: Rule = MODAL_GRID,
    *,
    draws: int,
    rng: np.random.Generator,
    resample: Literal["items", "labels", "items and labels"] = "items",
    strata: Strata = "cell",
) -> Stability:
    """How often each cell keeps its letter when the data are drawn again.

    "items" resamples whole items within `strata` (the items of a cell by default; "country" lets a cell come
    out empty). "labels" keeps the items and draws each one's labels again from its own. "items and labels" does
    both.
    """
    published = modal_grid(votes, rule).letters
    same = np.zeros(published.shape)
    none = np.zeros(published.shape)
    for totals in _resampled_cells(votes, rule, draws, rng, resample, strata):
        drawn = letters(totals, rule.cell_ties)
        same += (drawn == published).sum(axis=0)
        none += (drawn < 0).sum(axis=0)
    kept = np.where(published >= 0, same / draws, np.nan)
    return Stability(
        kept=kept,
        mc_error=np.sqrt(kept * (1 - kept) / draws),
        undefined=none / draws,
        resample=resample,
        strata="none" if resample == "labels" else strata,
        draws=draws,
        seed=seed_of(rng),
    )


def _resampled_cells(
    votes: Votes, rule: Rule, draws: int, rng: np.random.Generator, resample: str, strata: Strata
) -> Iterator[Codes]:
    """Batches (b, countries, questions, k) of resampled cell totals."""
    of_item = cluster_strata(strata_of(votes, strata), votes.item)
    table, shape = item_totals(votes, replace(rule, over="mode"))
    item = np.unique(votes.item, return_inverse=True)[1]
    step = max(1, BATCH_BYTES // (8 * max(table.shape[1], 4 * votes.counts.size)))
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        if resample == "items":
            yield bootstrap_totals(table, rows, rng, strata=of_item).astype(np.int64).reshape(-1, *shape)
            continue
        copies: NDArray[Any] = np.ones((rows, len(table)), np.int64)
        if resample == "items and labels":
            copies = cluster_weights(len(table), of_item, rows, rng, dtype=np.int64)
        yield _redrawn(votes, rule, copies[:, item], rng, shape)


def _redrawn(
    votes: Votes, rule: Rule, copies: Codes, rng: np.random.Generator, shape: tuple[int, int, int]
) -> Codes:
    """Cell totals when each of `copies` (b, units) of a unit draws its labels again."""
    rows, units = copies.shape
    times = copies.ravel()
    unit = np.repeat(np.tile(np.arange(units), rows), times)
    row = np.repeat(np.repeat(np.arange(rows), units), times)
    counts = redrawn_labels(votes.counts[unit], rng)
    cast = counts if rule.vote == "labels" else plurality(counts, rule.item_ties)
    countries, questions, k = shape
    cell = (row * countries + votes.country[unit]) * questions + votes.question[unit]
    flat = (cell * k)[:, None] + np.arange(k)
    totals = np.bincount(flat.ravel(), cast.ravel(), minlength=rows * countries * questions * k)
    return totals.astype(np.int64).reshape(rows, *shape)
