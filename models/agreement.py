"""Agreement between annotators: percent agreement, weighted kappa of pairs and its poolings, Krippendorff's alpha.

Everything works on integer codes (label -1 is missing) with the number of label codes stated, so that the weights
follow a label's value and not its place among the labels that happened to occur. A statistic that does not exist on
the data is NaN beside a note that says why, the number of labels it had and the agreement observed.

Sources: Cohen (1968) for weighted kappa; De Vries et al. (2008) for the pooled kappa; Krippendorff (2018, chapter 12)
for alpha and its ordinal metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class PercentAgreement:
    """Share of equal pairs of labels over `n_items` items with two labels and more; NaN beside a `note` if none has."""

    value: float
    n_items: int
    n_pairs: int
    note: str = ""


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha. `n_items` and `n_labels` count what could be paired: items with two labels and more.

    `agreement` is the observed share of equal pairs, an item counting as often as it has labels (1 - nominal observed
    disagreement). `value` is NaN where `note` is not empty.
    """

    value: float
    level: Level
    n_items: int
    n_labels: int
    agreement: float
    note: str = ""


@dataclass(frozen=True)
class PairwiseKappa:
    """Kappa of every pair of annotators who share enough items; arrays have one entry per pair.

    `first` < `second` are annotator codes, `n` the shared items, `agreement` the share labelled equally, `observed` and
    `expected` the mean disagreement weights, `tables` (pairs, labels, labels) the counts. `kappa` is NaN where
    `expected` is zero: both annotators used one and the same label throughout. `too_few` counts the pairs left out.
    """

    first: Ints
    second: Ints
    n: Ints
    kappa: Floats
    agreement: Floats
    observed: Floats
    expected: Floats
    tables: Ints
    too_few: int


@dataclass(frozen=True)
class PooledKappa:
    """One number for many pairs, by each way of pooling.

    mean: each pair once; weighted: by shared items; median: over pairs; ratio: 1 - mean observed / mean expected
    disagreement over pairs (De Vries et al. 2008); table: kappa of all pairs' tables added up, each pair counted both
    ways round, since which of the two annotators comes first means nothing. `undefined` counts pairs without a kappa,
    which mean, weighted and median leave out or take as the stated value; `note` is set when nothing is left.
    """

    mean: float
    weighted: float
    median: float
    ratio: float
    table: float
    pairs: int
    undefined: int
    n: int
    agreement: float
    note: str = ""


def label_counts(item: Ints, label: Ints, items: int, labels: int) -> NDArray[np.int64]:
    """How often each item got each label, shape (items, labels); missing labels (-1) are left out.

    Raises ValueError for a code beyond `items` or `labels`, which would else be counted for another item.
    """
    if item.max(initial=-1) >= items or label.max(initial=-1) >= labels:
        raise ValueError(
            f"found codes up to item {item.max()} and label {label.max()}; expected less than {items} and {labels}"
        )
    valid = label >= 0
    if not valid.all():
        item, label = item[valid], label[valid]
    cell = item.astype(np.int64) * labels + label
    return np.bincount(cell, minlength=items * labels).reshape(items, labels).astype(np.int64, copy=False)


def percent_agreement(counts: Ints, *, weight: Literal["pairs", "items", "labels"] = "pairs") -> PercentAgreement:
    """Share of equal pairs among pairs of labels on one item, from counts (items, labels).

    Items weigh by their pairs, all alike, or by their labels.
    """
    size = counts.sum(axis=1)
    counts, size = counts[size > 1], size[size > 1]
    if len(size) == 0:
        return PercentAgreement(np.nan, 0, 0, "no item has two labels")
    pairs = size * (size - 1) // 2
    share = (counts * (counts - 1)).sum(axis=1) / (2 * pairs)
    importance = {"pairs": pairs, "items": np.ones(len(size)), "labels": size}[weight]
    return PercentAgreement(float(np.average(share, weights=importance)), len(size), int(pairs.sum()))


def disagreement_weights(labels: int, weights: Weights = "quadratic", values: Floats | None = None) -> Floats:
    """Weights (labels, labels), zero on the diagonal; `values` (labels,) default to 0, 1, 2 ... in label order."""
    if weights == "none":
        return 1.0 - np.eye(labels)
    numbers = np.arange(labels, dtype=np.float64) if values is None else np.asarray(values, np.float64)
    distance: Floats = np.abs(np.subtract.outer(numbers, numbers))
    return distance**2 if weights == "quadratic" else distance


def table_kappa(tables: NDArray[Any], weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Kappa, observed and expected mean disagreement of tables (..., labels, labels) of counts.

    Kappa is NaN where no disagreement is to be expected (or the table is empty).
    """
    total = tables.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (tables * weights).sum(axis=(-2, -1)) / total
        row, column = tables.sum(axis=-1), tables.sum(axis=-2)
        expected = ((row @ weights) * column).sum(axis=-1) / (total * total)
        kappa = np.where(expected > 0, 1 - observed / expected, np.nan)
    return kappa, np.asarray(observed), np.asarray(expected)


def pairwise_kappa(
    item: Ints,
    annotator: Ints,
    label: Ints,
    labels: int,
    *,
    weights: Weights = "quadratic",
    values: Floats | None = None,
    min_shared: int = 1,
    categories: Literal["fixed", "observed"] = "fixed",
) -> PairwiseKappa:
    """Weighted kappa of each pair of annotators over the items both labelled.

    `item`, `annotator`, `label` (rows,) are codes; `labels` is the number of label codes. With "observed" categories
    the weights follow a label's place among those that the pair used, as tools do that are not told the categories.
    Raises ValueError if an annotator labelled an item twice, or for a label code beyond `labels`.
    """
    valid = label >= 0
    item, annotator, label = item[valid], annotator[valid], label[valid]
    if label.max(initial=-1) >= labels:
        raise ValueError(f"found label code {label.max()}; expected codes less than {labels}")
    left, right = _row_pairs(item, annotator)
    width = int(annotator.max(initial=0)) + 1
    pair, place = np.unique(annotator[left].astype(np.int64) * width + annotator[right], return_inverse=True)
    cell = (place * labels + label[left]) * labels + label[right]
    tables = np.bincount(cell, minlength=len(pair) * labels**2).reshape(-1, labels, labels)
    enough = tables.sum(axis=(1, 2)) >= min_shared
    pair, tables = pair[enough], tables[enough]
    fixed = disagreement_weights(labels, weights, values)
    kappa, observed, expected = table_kappa(tables, fixed)
    if categories == "observed":
        results = [table_kappa(*_observed_part(table, weights)) for table in tables]
        kappa, observed, expected = (np.array(part, np.float64).reshape(-1) for part in _columns(results))
    n = tables.sum(axis=(1, 2))
    agreement = np.trace(tables, axis1=1, axis2=2) / n
    too_few = int((~enough).sum())
    return PairwiseKappa(pair // width, pair % width, n, kappa, agreement, observed, expected, tables, too_few)


def pool_kappa(
    pairs: PairwiseKappa,
    *,
    weights: Weights = "quadratic",
    values: Floats | None = None,
    undefined: float | None = None,
) -> PooledKappa:
    """Pool the kappas of pairs; a pair without one is left out, or enters as `undefined`."""
    kappa, n, lacking = pairs.kappa, pairs.n, np.isnan(pairs.kappa)
    total = int(n.sum())
    agreement = float(np.average(pairs.agreement, weights=n)) if len(n) else np.nan
    if undefined is None:
        kappa, n = kappa[~lacking], n[~lacking]
    else:
        kappa = np.where(lacking, undefined, kappa)
    both_ways = pairs.tables.sum(axis=0)
    both_ways = both_ways + both_ways.T
    table = float(table_kappa(both_ways, disagreement_weights(len(both_ways), weights, values))[0])
    expected = float(pairs.expected.sum())
    ratio = 1 - float(pairs.observed.sum()) / expected if expected > 0 else np.nan
    if len(kappa):
        means = float(kappa.mean()), float(np.average(kappa, weights=n)), float(np.median(kappa))
        note = ""
    else:
        means = (np.nan, np.nan, np.nan)
        note = "no pair shares enough items" if not len(lacking) else "every pair used one and the same label"
    return PooledKappa(*means, ratio, table, len(lacking), int(lacking.sum()), total, agreement, note)


def coincidences(counts: Ints) -> Floats:
    """Krippendorff's coincidences per item, shape (items, labels, labels); they add up over items.

    An item with m labels adds each ordered pair of its labels 1 / (m - 1) times; with fewer than two it adds nothing.
    """
    size = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :].astype(np.float64)
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    return np.asarray(pairs / np.maximum(size - 1, 1)[:, None, None])


def alpha_of(coincidence: Floats, level: Level, values: Floats | None = None) -> Floats:
    """Alpha of coincidence matrices (..., labels, labels); NaN where all paired labels are one and the same."""
    frequency = coincidence.sum(axis=-1)
    total = frequency.sum(axis=-1)
    if level == "nominal":
        distance = 1.0 - np.eye(coincidence.shape[-1])
    else:
        # The ordinal distance, all labels between two plus half of those at the ends, is that of their mid-ranks.
        ranks = np.cumsum(frequency, axis=-1) - frequency / 2
        numbers = ranks if level == "ordinal" else _numbers(coincidence.shape[-1], values)
        distance = (numbers[..., :, None] - numbers[..., None, :]) ** 2
    observed = (coincidence * distance).sum(axis=(-2, -1))
    expected = (frequency[..., :, None] * frequency[..., None, :] * distance).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(expected > 0, 1 - (total - 1) * observed / expected, np.nan))


def krippendorff_alpha(counts: Ints, level: Level, *, values: Floats | None = None) -> Alpha:
    """Krippendorff's alpha from counts (items, labels) of `label_counts`; `values` (labels,) are for "interval"."""
    table = counts.astype(np.float64)
    size = table @ np.ones(table.shape[1])
    paired = size > 1
    share = table * np.divide(1.0, size - 1, out=np.zeros(len(size)), where=paired)[:, None]
    coincidence = share.T @ table - np.diag(share.sum(axis=0))
    value = float(alpha_of(coincidence, level, values))
    n_items, n_labels = int(paired.sum()), int(size @ paired)
    note = ""
    if n_items == 0:
        note = "no item has two labels"
    elif np.isnan(value):
        note = "all paired labels are one and the same, so no disagreement is to be expected"
    agreement = float(np.trace(coincidence)) / n_labels if n_labels else np.nan
    return Alpha(value, level, n_items, n_labels, agreement, note)


def _numbers(labels: int, values: Floats | None) -> Floats:
    return np.arange(labels, dtype=np.float64) if values is None else np.asarray(values, np.float64)


def _row_pairs(item: Ints, annotator: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers of every two labels on one item, the lower annotator code on the left."""
    order = np.lexsort((annotator, item))
    start = np.flatnonzero(np.diff(item[order], prepend=-1))
    size = np.diff(start, append=len(order))
    lefts, rights = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for m in np.unique(size[size > 1]):
        block = order[start[size == m][:, None] + np.arange(m)]
        first, second = np.triu_indices(m, 1)
        lefts.append(block[:, first].ravel())
        rights.append(block[:, second].ravel())
    left, right = np.concatenate(lefts), np.concatenate(rights)
    if (annotator[left] == annotator[right]).any():
        raise ValueError("an annotator labelled an item more than once; keep one label per annotator and item")
    return left, right


def _observed_part(table: Ints, weights: Weights) -> tuple[Ints, Floats]:
    """A pair's table cut down to the labels it used, with weights by their place among these."""
    used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    return table[np.ix_(used, used)], disagreement_weights(len(used), weights)


def _columns(results: list[tuple[Floats, Floats, Floats]]) -> Iterator[tuple[Floats, ...]]:
    return iter(zip(*results, strict=True)) if results else iter(((), (), ()))
