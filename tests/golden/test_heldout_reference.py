"""Held-out humans and judges on real labels against brute force, evalaudit and surveyequivalence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from countback.models.agreement import disagreement_weights, label_counts, table_kappa
from countback.models.equivalence import alpha_difference, equivalent_raters
from countback.models.heldout import Policy, held_out, judge_differences, kappa_difference, reference_tables
from countback.models.resampling import Interval
from scipy.special import stdtrit

from .alttest_sets import SETS, RealSet, entries, load

POINTS = {
    "n_units",
    "human_accuracy",
    "judge_accuracy",
    "difference_judge_minus_human_accuracy",
    "human_accuracy_mean_over_humans",
    "judge_accuracy_mean_over_humans",
    "human_qwk",
    "judge_qwk",
    "human_kappa_nominal",
    "judge_kappa_nominal",
    "difference_cluster_robust_se",
}


def judges_of(data: RealSet) -> tuple[list[str], np.ndarray]:
    names = list(data.labels.judges)
    return names, np.stack([data.judge(name) for name in names])


@pytest.mark.parametrize("name", SETS)
def test_counts_rates_and_kappas_equal_brute_force(shared: Path, name: str) -> None:
    data = load(shared, name)
    names, judges = judges_of(data)
    labels, seen = len(data.values), set()
    for least in (1, 2):
        result = held_out(*data.rows, judges, labels=labels, min_others=least)
        human = held_out(*data.rows, judges, labels=labels, min_others=least, by="annotator")
        tables = {
            judge: reference_tables(*data.rows, data.judge(judge), labels=labels, min_others=least).sum(axis=0)
            for judge in names
        }
        for entry in entries(shared, name, "loo."):
            statistic, value = entry["statistic"].removeprefix("loo."), entry["value"]
            if (
                entry["params"]["min_others"] != least
                or statistic in ("tie_rule_sensitivity",)
                or "bootstrap" in statistic
            ):
                continue
            judge = names.index(entry["judge"]) if "judge" in entry else 0
            weights = disagreement_weights(labels, "quadratic" if "qwk" in statistic else "none", data.values)
            kappas = table_kappa(tables[names[judge]], weights)[0]
            robust = judge_differences(result, 2, np.random.default_rng(0), cluster=clusters_of(data, entry, result.n))[
                judge
            ].robust
            ours = {
                "n_units": result.comparisons,
                "human_accuracy": result.human_rate,
                "judge_accuracy": result.judge_rates[judge],
                "difference_judge_minus_human_accuracy": result.judge_rates[judge] - result.human_rate,
                "human_accuracy_mean_over_humans": (human.human / human.n).mean(),
                "judge_accuracy_mean_over_humans": (human.judges[:, judge] / human.n).mean(),
                "human_qwk": kappas[0],
                "judge_qwk": kappas[1],
                "human_kappa_nominal": kappas[0],
                "judge_kappa_nominal": kappas[1],
                "difference_cluster_robust_se": uncorrected_se(robust, entry),
            }[statistic]
            assert ours == pytest.approx(value, abs=1e-13), statistic
            seen.add(statistic)
            if statistic == "n_units":
                assert f"tied units skipped {int(result.tied.sum())};" in entry["note"]
    assert seen == POINTS


def clusters_of(data: RealSet, entry: dict, n: np.ndarray) -> np.ndarray:
    """Clusters of items; those without a comparison, which the reference leaves out, join one that has some."""
    cluster = data.cluster if entry["params"].get("resampling_unit") == "cluster" else np.arange(len(n))
    has = np.bincount(cluster, n) > 0
    return np.where(has[cluster], cluster, np.flatnonzero(has)[0])


def uncorrected_se(interval: Interval | None, entry: dict) -> float:
    """The reference's standard error has no factor G / (G - 1); ours has."""
    assert interval is not None
    groups = entry["params"].get("n_units", 2)
    half = (interval.high - interval.low) / 2
    return float(half / stdtrit(groups - 1, 0.975) * ((groups - 1) / groups) ** 0.5)


@pytest.mark.parametrize("name", SETS)
def test_tie_policies_equal_brute_force(shared: Path, name: str) -> None:
    data = load(shared, name)
    names, judges = judges_of(data)
    [entry] = entries(shared, name, "loo.tie_rule_sensitivity")
    policies: dict[Policy, str] = {"skip": "skip", "fractional": "fractional", "strictest": "lowest_label"}
    for policy, theirs in policies.items():
        result = held_out(*data.rows, judges, labels=len(data.values), policy=policy)
        value = entry["value"][theirs]
        assert result.comparisons == value["n"]
        assert result.human_rate == pytest.approx(value["human"], abs=1e-13)
        assert result.judge_rates[names.index(entry["judge"])] == pytest.approx(value["judge"], abs=1e-13)


@pytest.mark.parametrize("name", SETS)
def test_bootstrap_intervals_agree_within_monte_carlo_error(shared: Path, name: str) -> None:
    """Both sides drew 10,000 resamples of clusters: the ends agree within four of their joint standard errors."""
    data = load(shared, name)
    names, judges = judges_of(data)
    labels = len(data.values)
    rng = np.random.default_rng(20)
    differences = judge_differences(held_out(*data.rows, judges, labels=labels), 10_000, rng, cluster=data.cluster)
    checked = 0
    for entry in entries(shared, name, "loo.accuracy_difference_cluster_bootstrap"):
        found = differences[names.index(entry["judge"])]
        assert (found.n, found.value) == (entry["value"]["n_units"], pytest.approx(entry["value"]["point"], abs=1e-13))
        compare_ends(found.percentile, entry["value"]["ci95"])
        checked += 1
    for entry in entries(shared, name, "loo.qwk_difference_cluster_bootstrap"):
        tables = reference_tables(*data.rows, data.judge(entry["judge"]), labels=labels)
        weights = disagreement_weights(labels, "quadratic", data.values)
        found = kappa_difference(tables, weights, 10_000, rng, cluster=data.cluster)
        assert found.value == pytest.approx(entry["value"]["point"], abs=1e-13)
        compare_ends(found.percentile, entry["value"]["ci95"])
        checked += 1
    assert checked == 4


def compare_ends(interval: Interval, theirs: list[float]) -> None:
    errors = np.array(interval.mc_error) * 2**0.5
    assert interval.low == pytest.approx(theirs[0], abs=4 * errors[0])
    assert interval.high == pytest.approx(theirs[1], abs=4 * errors[1])


@pytest.mark.parametrize("name", SETS)
def test_alpha_difference_equals_evalaudit(shared: Path, name: str) -> None:
    """Judge-human, human-human and their difference; and the interval to rounding, since evalaudit too draws its
    cluster indices row by row from `default_rng(seed)`."""
    data = load(shared, name)
    found = list(entries(shared, name, "evalaudit.judge_human_minus"))
    for entry in found:
        params, value = entry["params"], entry["value"]
        ours = alpha_difference(
            data.counts,
            data.judge(entry["judge"]),
            params["level"],
            params["n_boot"],
            np.random.default_rng(params["seed"]),
            cluster=first_seen(data.cluster),
        )
        assert ours.judge_human == pytest.approx(value["judge_human"], abs=1e-13)
        assert ours.human_human == pytest.approx(value["human_human"], abs=1e-13)
        assert ours.difference == pytest.approx(value["difference"], abs=1e-13)
        assert [ours.percentile.low, ours.percentile.high] == pytest.approx(value["ci95"], abs=1e-12)
        assert (ours.n_items, ours.clusters) == (value["n_items"], value["n_clusters"])
    assert len(found) >= 2


def first_seen(cluster: np.ndarray) -> np.ndarray:
    """Codes in order of first appearance, the order in which evalaudit numbers its clusters."""
    _, first, place = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place]


@pytest.mark.parametrize("name", ["lesion", "cebab_stars"])
def test_equivalent_raters_equal_brute_force(shared: Path, name: str) -> None:
    """Exact curve and equivalence.

    The package surveyequivalence is equal where one rater predicts another, and within 0.005 elsewhere: it breaks each
    tie once, at random, where the exact curve takes the mean over the tied labels, and it draws the label of zero
    raters at random. (With two raters every disagreement is a tie, so the exact v(2) is v(1); the package's is not.)
    """
    data = load(shared, name)
    item, _, label = data.rows
    raters = {"lesion": 6, "cebab_stars": 3}[name]
    order = np.argsort(item, kind="stable")  # rows lie in rater file order within an item
    start = np.flatnonzero(np.diff(item[order], prepend=-1))
    place = np.empty(len(item), np.int64)
    place[order] = np.arange(len(item)) - np.repeat(start, np.diff(start, append=len(item)))
    few = place < raters
    counts = label_counts(item[few], label[few], len(data.counts), len(data.values))
    [curve] = entries(shared, name, "survey_equivalence.power_curve_exact")
    package = next(entries(shared, name, "survey_equivalence.power_curve"))
    found = list(entries(shared, name, "survey_equivalence.judge_exact"))
    for entry in found:
        ours = equivalent_raters(counts, data.judge(entry["judge"]), raters=raters)
        assert ours.curve.tolist() == pytest.approx(list(curve["value"].values()), abs=1e-12)
        assert ours.curve[1] == pytest.approx(package["value"]["1"], abs=1e-13)
        assert ours.curve[2] == pytest.approx(ours.curve[1], abs=1e-13)
        assert ours.curve.tolist() == pytest.approx(list(package["value"].values()), abs=0.005)
        assert ours.score == pytest.approx(entry["value"]["score"], abs=1e-13)
        assert (ours.value, ours.capped) == (
            pytest.approx(entry["value"]["equivalence"], abs=1e-11),
            entry["value"]["capped"],
        )
        assert ours.n_items == package["params"]["n_items"]
    assert len(found) == len(data.labels.judges)
