"""The alternative annotator test: may a judge stand in for a human annotator?

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge", section 3. Each human h is
left out in turn. On every item that h and the judge labelled, both are scored against the other humans:

    S(x) = share of the other humans' labels equal to x      (scoring "accuracy")
    S(x) = -sqrt(mean((x - label of another human)**2))      (scoring "neg_rmse")
    d    = [S(h) >= S(judge)] - [S(judge) >= S(h)]           in {-1, 0, 1}

The judge wins against h if a one-sided t test rejects E d >= epsilon, epsilon being what a human costs more than a
judge; the Benjamini-Yekutieli procedure at level q holds over the humans. The winning rate is the share of humans won
against, and 0.5 passes. The advantage probability is the mean over humans of the share of items with
S(judge) >= S(h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from countback.models.agreement import disagreement_weights, label_counts
from numpy.typing import NDArray
from scipy.special import stdtr

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Scoring = Literal["accuracy", "neg_rmse"]

PASS_AT = 0.5


@dataclass(frozen=True)
class AltTest:
    """Result of the test; arrays have one entry per human tested, in order of annotator code.

    `n` counts the human's items and `as_good` those on which the judge scores at least as well; `difference` is the
    mean of d and `p` its one-sided p-value. `skipped` are the annotators with fewer than the required items;
    `items_dropped` the items with labels that too few humans labelled or the judge did not. With no human left the
    rates do not exist: they are NaN and `note` says so.
    """

    humans: Ints
    n: Ints
    as_good: Ints
    difference: Floats
    p: Floats
    rejected: NDArray[np.bool_]
    skipped: Ints
    items_dropped: int
    note: str = ""

    @property
    def winning_rate(self) -> float:
        """Share of the humans against whom the judge wins."""
        return float(self.rejected.mean()) if len(self.humans) else np.nan

    @property
    def advantage_probability(self) -> float:
        """Mean over the humans of the share of items on which the judge scores at least as well."""
        return float((self.as_good / self.n).mean()) if len(self.humans) else np.nan

    @property
    def passes(self) -> bool:
        """Whether the judge wins against at least half of the humans."""
        return self.winning_rate >= PASS_AT


def alt_test(
    item: Ints,
    annotator: Ints,
    label: Ints,
    judge: Ints,
    *,
    epsilon: float,
    values: Floats | None = None,
    q: float = 0.05,
    min_humans: int = 2,
    min_items: int = 30,
    cluster: Ints | None = None,
) -> AltTest:
    """Test one judge against the humans.

    `item`, `annotator`, `label` (rows,) are codes, label -1 where missing; `judge` (items,) is the judge's label per
    item, -1 where missing. `values` (labels,) are the labels' numbers: with them the score is -RMSE, without them it is
    the share of matches. An item needs `min_humans` labels and a human `min_items` items. `cluster` (items,), where
    given, makes the t test robust to items of one cluster depending on each other (`p` only; see `_one_sided_p`).
    Raises ValueError if an annotator labelled an item twice.
    """
    valid = label >= 0
    item, annotator, label = item[valid], annotator[valid], label[valid]
    kept_item = (np.bincount(item, minlength=len(judge)) >= min_humans) & (judge >= 0)
    items_dropped = int((np.bincount(item, minlength=len(judge)) > 0).sum() - kept_item.sum())
    kept = kept_item[item]
    per_human = np.bincount(annotator[kept], minlength=int(annotator.max(initial=-1)) + 1)
    humans = np.flatnonzero(per_human >= min_items)
    skipped = np.setdiff1d(np.unique(annotator), humans)
    judge_better, human_better = _indicators(item[kept], annotator[kept], label[kept], judge, values)

    position = np.full(len(per_human), -1)
    position[humans] = np.arange(len(humans))
    who = position[annotator[kept]]
    tested = who >= 0
    who, judge_better = who[tested], judge_better[tested]
    d = human_better[tested].astype(np.int64) - judge_better
    groups = None if cluster is None else cluster[item[kept][tested]]
    n = per_human[humans]
    difference = np.bincount(who, d, len(humans)) / n
    p = _one_sided_p(who, d, difference - epsilon, groups)
    as_good = np.bincount(who[judge_better], minlength=len(humans))
    note = "" if len(humans) else f"no human labelled {min_items} items that count, so there is nobody to test against"
    rejected = benjamini_yekutieli(p, q)
    return AltTest(humans, n, as_good, difference, p, rejected, skipped, items_dropped, note)


def benjamini_yekutieli(p: Floats, q: float) -> NDArray[np.bool_]:
    """Which hypotheses the Benjamini-Yekutieli step-up procedure rejects at false discovery rate q."""
    m = len(p)
    rank = np.arange(1, m + 1)
    ordered = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[ordered] <= q * rank / (m * (1 / rank).sum())) if m else rank
    rejected = np.zeros(m, np.bool_)
    rejected[ordered[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def _indicators(
    item: Ints, annotator: Ints, label: Ints, judge: Ints, values: Floats | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Per row: the judge scores at least as well as the row's human, and the other way round.

    Both are compared with the same other labels, so the score's order is the reverse order of a cost summed over
    them: the number of mismatches, or the sum of squared differences. The cost of an answer against all labels of an
    item less its cost against the human's own label is its cost against the others; the human's own cost is zero.
    """
    pairs = item.astype(np.int64) * (int(annotator.max(initial=0)) + 1) + annotator
    if len(np.unique(pairs)) < len(pairs):
        raise ValueError("an annotator labelled an item more than once; keep one label per annotator and item")
    labels = int(max(label.max(initial=0), judge.max(initial=0))) + 1 if values is None else len(values)
    cost = disagreement_weights(labels, "none" if values is None else "quadratic", values)
    total = label_counts(item, label, len(judge), labels) @ cost
    answer = judge[item]
    human_cost = total[item, label]
    judge_cost = total[item, answer] - cost[answer, label]
    return judge_cost <= human_cost, human_cost <= judge_cost


def _one_sided_p(who: Ints, d: Ints, excess: Floats, groups: Ints | None) -> Floats:
    """P-values of the t test that rejects E d >= epsilon, per human; `excess` is the mean of d less epsilon.

    Plain: the sample variance and n - 1 degrees of freedom. With `groups` (rows,): the variance of a mean from sums of
    residuals per group, G/(G - 1) * sum_g(sum_{i in g}(d_i - mean))**2 / n**2, and G - 1 degrees of freedom; groups of
    one row give back the plain test. No variation, or a single group, decides by the sign of the excess alone.
    """
    m = len(excess)
    n = np.bincount(who, minlength=m)
    residual = d - (np.bincount(who, d, m) / np.maximum(n, 1))[who]
    if groups is None:
        size, squares = n, np.bincount(who, residual**2, m)
    else:
        _, first, cell = np.unique(who * (groups.max(initial=0) + 1) + groups, return_index=True, return_inverse=True)
        size = np.bincount(who[first], minlength=m)
        squares = np.bincount(who[first], np.bincount(cell, residual) ** 2, m)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = excess / np.sqrt(squares * size / np.maximum(size - 1, 0)) * n
        p = stdtr(np.maximum(size - 1, 1), t)
    return np.where((squares > 0) & (size > 1), p, np.where(excess < 0, 0.0, 1.0))
