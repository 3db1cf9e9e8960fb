"""Kappa and alpha on real labels against scikit-learn, krippendorff and irrCAC, to those tools' precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from countback.models.agreement import (
    krippendorff_alpha,
    label_counts,
    pairwise_kappa,
    percent_agreement,
    pool_kappa,
)
from numpy.typing import NDArray

from .alttest_sets import SETS, entries, load

LEVELS = {"identity": "nominal", "quadratic": "interval"}


@pytest.mark.parametrize("name", SETS)
def test_alpha_equals_krippendorff(shared: Path, name: str) -> None:
    data = load(shared, name)
    found = list(entries(shared, name, "krippendorff_alpha"))
    for entry in found:
        counts = data.counts
        if "judge" in entry:
            judge = data.judge(entry["judge"])
            counts = counts + label_counts(np.arange(len(judge)), judge, *counts.shape)
        level = entry["statistic"].split(".")[-1]
        assert krippendorff_alpha(counts, level, values=data.values).value == pytest.approx(entry["value"], abs=1e-13)
    assert len(found) == 3 + 3 * len(data.labels.judges)


@pytest.mark.parametrize("name", SETS)
def test_alpha_equals_irrcac_where_they_mean_the_same(shared: Path, name: str) -> None:
    """Nominal and interval alpha to the ten digits that irrCAC prints.

    Its ordinal alpha differs by definition, not by error. irrCAC takes fixed weights 1 - C(|i - j| + 1, 2) / C(K, 2),
    which depend on the number of categories alone; Krippendorff's ordinal distance between two labels counts the labels
    that were given between them, so it depends on how often each was used. With irrCAC's weights put into the same
    formula, 1 - (N - 1) sum o d / sum n n d, its printed value comes out, which the last lines show.
    """
    data = load(shared, name)
    found = list(entries(shared, name, "irrcac_krippendorff_alpha"))
    for entry in found:
        kind = entry["statistic"].split(".")[-1]
        if kind == "ordinal":
            printed = entry["value"]["est"]
            assert alpha_with(data.counts, irrcac_ordinal_distance(len(data.values))) == pytest.approx(
                printed, abs=1e-10
            )
            ours = krippendorff_alpha(data.counts, "ordinal").value
            assert abs(ours - printed) > 0.005
        else:
            alpha = krippendorff_alpha(data.counts, LEVELS[kind], values=data.values)  # type: ignore[arg-type]
            assert alpha.value == pytest.approx(entry["value"]["est"], abs=1e-10)
            if kind == "identity":
                # irrCAC's "pa" counts each label as agreeing with itself: pa = p + (1 - p) / N.
                pa = alpha.agreement + (1 - alpha.agreement) / alpha.n_labels
                assert pa == pytest.approx(entry["value"]["pa"], abs=1e-10)
    assert len(found) == 3


def irrcac_ordinal_distance(labels: int) -> NDArray[np.float64]:
    apart = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
    return np.asarray(apart * (apart + 1) / (labels * (labels - 1)))


def alpha_with(counts: NDArray[np.int64], distance: NDArray[np.float64]) -> float:
    """Alpha with any distance, one item and one ordered pair of labels at a time."""
    observed, used = 0.0, np.zeros(counts.shape[1])
    for row in counts[counts.sum(axis=1) > 1]:
        for label in np.flatnonzero(row):
            others = row.copy()
            others[label] -= 1
            observed += row[label] * float(others @ distance[label]) / (row.sum() - 1)
        used += row
    return float(1 - (used.sum() - 1) * observed / (used @ distance @ used))


@pytest.mark.parametrize("name", SETS)
def test_pairs_of_humans_equal_scikit_learn(shared: Path, name: str) -> None:
    data = load(shared, name)
    found = list(entries(shared, name, "pairwise_human_kappa."))
    for entry in found:
        weights, value = entry["params"]["weights"], entry["value"]
        pairs = pairwise_kappa(*data.rows, len(data.values), weights=weights, values=data.values, min_shared=30)
        names = [[data.names[a], data.names[b], n] for a, b, n in zip(pairs.first, pairs.second, pairs.n, strict=True)]
        assert names == [pair[:3] for pair in value["pairs"]]
        assert pairs.kappa.tolist() == pytest.approx([pair[3] for pair in value["pairs"]], abs=1e-14)
        pooled = pool_kappa(pairs, weights=weights, values=data.values)
        assert pooled.mean == pytest.approx(value["mean"], abs=1e-14)
        assert pooled.weighted == pytest.approx(value["weighted_by_n"], abs=1e-14)
        assert pooled.median == pytest.approx(value["median"], abs=1e-14)
    assert len(found) == 3


@pytest.mark.parametrize("name", SETS)
def test_poolings_equal_brute_force(shared: Path, name: str) -> None:
    data = load(shared, name)
    [entry] = entries(shared, name, "pairwise_human_kappa_poolings")
    pairs = pairwise_kappa(*data.rows, len(data.values), values=data.values, min_shared=30)
    pooled = pool_kappa(pairs, values=data.values)
    assert pooled.ratio == pytest.approx(entry["value"]["pooled_deVries"], abs=1e-14)
    weighted = 1 - np.average(pairs.observed, weights=pairs.n) / np.average(pairs.expected, weights=pairs.n)
    assert weighted == pytest.approx(entry["value"]["pooled_n_weighted"], abs=1e-14)
    assert pairs.kappa.std(ddof=1) == pytest.approx(entry["value"]["sd_over_pairs"], abs=1e-14)


@pytest.mark.parametrize("name", SETS)
def test_judge_with_each_human_equals_scikit_learn(shared: Path, name: str) -> None:
    """The judge enters as one more annotator, with a code above all humans'."""
    data = load(shared, name)
    item, annotator, label = data.rows
    last = int(annotator.max()) + 1
    found = list(entries(shared, name, "judge_vs_each_human_kappa"))
    for entry in found:
        judge = data.judge(entry["judge"])
        pairs = pairwise_kappa(
            np.concatenate([item, np.arange(len(judge))]),
            np.concatenate([annotator, np.full(len(judge), last)]),
            np.concatenate([label, judge]),
            len(data.values),
            weights=entry["params"]["weights"],
            values=data.values,
            min_shared=30,
        )
        mine = pairs.second == last
        ours = dict(zip(pairs.first[mine], pairs.kappa[mine], strict=True))
        for name_of, n, kappa in entry["value"]["per_human"]:
            code = data.names.index(name_of)
            assert ours[code] == pytest.approx(kappa, abs=1e-14)
            assert n == pairs.n[mine][pairs.first[mine] == code][0]
        assert np.mean(pairs.kappa[mine]) == pytest.approx(entry["value"]["mean"], abs=1e-14)
    assert len(found) == 3 * len(data.labels.judges)


@pytest.mark.parametrize("name", SETS)
def test_percent_agreement_by_items_equals_irrcac(shared: Path, name: str) -> None:
    """The unweighted Fleiss and Gwet rows print the mean over items of the share of equal pairs."""
    data = load(shared, name)
    for statistic in ("gwet_ac1.identity", "fleiss_kappa.identity"):
        [entry] = entries(shared, name, statistic)
        assert percent_agreement(data.counts, weight="items").value == pytest.approx(entry["value"]["pa"], abs=1e-10)
