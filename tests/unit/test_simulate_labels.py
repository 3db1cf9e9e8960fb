"""Synthetic labels against theory: exact degenerate cases, moments within stated Monte Carlo bounds, true shares."""

from __future__ import annotations

import time

import numpy as np
import pytest
from countback.fetch.labels import JUDGE
from countback.models.simulate import JudgeTruth, Layout, Truth, crossed, hybrid, nested, released_layout, simulate
from scipy.special import expit

PI2 = np.pi**2 / 3
CUTS = (-0.5, 1.0)
ALL = {"country": 0.4, "question": 0.3, "country:question": 0.5, "item": 1.1, "annotator": 0.6, "item:country": 0.7}


def shares(label, k=3):
    return np.bincount(label[label >= 0], minlength=k) / (label >= 0).sum()


def near(found, expected, variance, n, widths=4.5):
    """Within so many Monte Carlo standard errors of a mean of n."""
    assert abs(found - expected) < widths * (variance / n) ** 0.5


def test_without_effects_the_cutpoints_give_the_shares():
    sim = simulate(crossed(5, 3, 2000, pool=8, labels=5), Truth({}, CUTS), np.random.default_rng(1))
    below = expit(CUTS)
    for found, p in zip(shares(sim.label), [below[0], below[1] - below[0], 1 - below[1]], strict=True):
        near(found, p, p * (1 - p), len(sim.label))
    assert all(not effect.any() for effect in sim.effects.values())


def test_far_cutpoints_and_sure_rates_are_exact():
    layout = nested(3, 2, 5, pool=4, labels=3)
    judges = (JudgeTruth(cutpoints=(900.0, 901.0)), JudgeTruth(shift=-900.0), JudgeTruth(missing=1.0))
    sim = simulate(layout, Truth({}, (-900.0, 900.0), judges, invalid=(0.0, 1.0, 0.0)), np.random.default_rng(2))
    assert (sim.label[sim.country != 1] == 1).all()
    assert (sim.label[sim.country == 1] == -1).all()
    assert np.isnan(sim.panel()).tolist() == [False, True, False]
    labelled = sim.judge_labels(0) >= 0
    assert labelled.sum(axis=0).tolist() == [10, 10, 10]
    assert (sim.judge_labels(0)[labelled] == 0).all()
    assert set(sim.judge_label[sim.judge == 1].tolist()) == {1, 2}  # cutpoints -1800 and 0
    assert (sim.judge_labels(2) == -1).all()


def test_a_label_is_the_latent_value_cut():
    """P(y <= k) = expit(cutpoint_k - eta): with one known effect of 2 the shares are those of eta = 2."""
    sim = simulate(crossed(1, 1, 4000, pool=5, labels=5), Truth({"question": 2.0}, CUTS), np.random.default_rng(3))
    eta = float(sim.effects["question"][0])
    assert eta != 0
    for k, cut in enumerate(CUTS):
        p = float(expit(cut - eta))
        near(float((sim.label <= k).mean()), p, p * (1 - p), len(sim.label))


@pytest.mark.parametrize("name", [*ALL, "origin"])
def test_an_effect_reaches_the_labels_that_share_its_level_and_no_others(name):
    """Two labels with one level of the effect have covariance above 0; any other two have none."""
    rng = np.random.default_rng(4)
    layout = hybrid(3, 2, 2, 4, pool=4, labels=2)
    level = {
        "country": layout.country,
        "question": layout.question,
        "country:question": layout.country * 2 + layout.question,
        "item": layout.item,
        "annotator": layout.annotator,
        "item:country": layout.item * 3 + layout.country,
        "origin": np.where(layout.origin[layout.item] < 0, -1 - np.arange(layout.labels), layout.origin[layout.item]),
    }[name]
    draws = np.stack([simulate(layout, Truth({name: 2.0}, (0.0,)), rng).label for _ in range(4000)]) - 0.5
    together = draws.T @ draws / len(draws)  # E (y - 1/2)(y' - 1/2), 0 for independent labels by symmetry
    same = level[:, None] == level
    bound = 0.25 / len(draws) ** 0.5
    off = ~np.eye(layout.labels, dtype=bool)
    assert np.abs(together[~same]).max() < 5 * bound
    if (same & off).any():
        assert together[same & off].min() > 5 * bound


def test_realised_effects_have_the_asked_variances():
    rng = np.random.default_rng(5)
    layout = crossed(200, 60, 300, pool=6, labels=1)
    effects = simulate(layout, Truth({**ALL, "origin": 0.9}, CUTS), rng).effects
    for name, sd in {**ALL, "origin": 0.9}.items():
        n = effects[name].size
        near(float((effects[name] ** 2).mean()), sd**2, 2 * sd**4, n)


def test_moments_of_labels_against_quadrature():
    """Mean, and covariance of two labels of one item and country, of a binary label by integrating over effects."""
    truth = Truth({"item": 1.0, "annotator": 0.8, "country": 0.5}, (0.7,))
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    shared = np.hypot(1.0, 0.5) * nodes
    given = (expit(shared[:, None] + 0.8 * nodes - 0.7) * weights).sum(axis=1)
    mean, both = float(weights @ given), float(weights @ given**2)
    layout = crossed(1, 1, 1, pool=2, labels=2)
    rng = np.random.default_rng(6)
    draws = np.stack([simulate(layout, truth, rng).label for _ in range(20_000)])
    near(float(draws.mean()), mean, both / 2 + mean / 2 - mean**2, len(draws))
    near(float(draws.prod(axis=1).mean()), both, both * (1 - both), len(draws))


def test_a_judge_that_follows_is_a_human_without_severity_and_flattening_shrinks_its_countries():
    layout = crossed(40, 1, 2000, pool=2, labels=1)
    judges = (JudgeTruth(), JudgeTruth(follows=0.3), JudgeTruth(follows=0.0), JudgeTruth(follows=0.0, deviation=1.0))
    truth = Truth({"country": 1.0, "item": 0.5}, (0.0,), judges)
    sim = simulate(layout, truth, np.random.default_rng(7))
    country = sim.effects["country"]

    def logits(label, where):
        share = np.bincount(where, label, 40) / np.bincount(where, minlength=40)
        return np.log(share / (1 - share))

    humans = logits(sim.label, sim.country)
    for judge, expected in enumerate((1.0, 0.3, 0.0)):
        rows = sim.judge == judge
        seen = logits(sim.judge_label[rows], sim.judge_country[rows])
        assert np.polyfit(humans, seen, 1)[0] == pytest.approx(expected, abs=0.1)  # Monte Carlo error 0.025
        assert not sim.deviations[judge].any()
    last = sim.judge == 3
    slope = np.polyfit(sim.deviations[3], logits(sim.judge_label[last], sim.judge_country[last]), 1)[0]
    assert slope == pytest.approx(1 / (1 + 0.25 / PI2) ** 0.5, abs=0.1)  # a logit shrinks as items vary
    assert np.corrcoef(country, sim.deviations[3])[0, 1] ** 2 < 0.3


def test_what_judges_share_ties_them_to_each_other_and_not_to_humans():
    layout = crossed(2, 1, 4000, pool=2, labels=1)
    sim = simulate(layout, Truth({"judges": 2.0, "item": 0.1}, (0.0,), (JudgeTruth(),) * 2), np.random.default_rng(14))
    one, other = (sim.judge_labels(judge)[:, 0] for judge in range(2))
    human = sim.label.reshape(-1, 2)[:, 0]
    assert np.corrcoef(one, other)[0, 1] > 0.25
    assert abs(np.corrcoef(one, human)[0, 1]) < 4.5 / 4000**0.5
    assert sim.true_shares().population_effects.tolist() == [0.0]


def test_a_larger_scale_makes_a_judge_more_certain():
    layout = crossed(2, 1, 3000, pool=2, labels=1)
    judges = (JudgeTruth(scale=0.3), JudgeTruth(scale=1.0), JudgeTruth(scale=20.0))
    sim = simulate(layout, Truth({"item": 2.0}, (0.0,), judges), np.random.default_rng(8))
    wanted = (sim.effects["item"] > 0)[:, None]
    right = [float((sim.judge_labels(judge) == wanted).mean()) for judge in range(3)]
    assert right[0] < right[1] < right[2]
    assert right[2] > 0.97


def test_true_shares_by_hand():
    truth = Truth({"country": 0.5, "item": 1.0, "origin": 0.3}, CUTS)
    sim = simulate(crossed(6, 2, 10, pool=4, labels=2), truth, np.random.default_rng(9))
    rest = 1.0 + 0.09
    found = sim.true_shares()
    assert found.population[0] == pytest.approx(0.25 / (0.25 + rest + PI2))
    here = sim.effects["country"].var(ddof=1)
    assert found.finite[0] == pytest.approx(here / (here + rest + PI2))
    assert found.finite_effects[0] == pytest.approx(here / (here + rest))
    assert simulate(sim.layout, Truth({"item": 1.0}, CUTS), np.random.default_rng(9)).true_shares().population[0] == 0


def test_severities_and_panels():
    layout = nested(2, 1, 4, pool=3, labels=2)
    sim = simulate(layout, Truth(ALL, CUTS), np.random.default_rng(10))
    own = sim.effects["annotator"] + np.repeat(sim.effects["country"], 3)
    assert sim.severity == pytest.approx(own)
    assert sim.panel() == pytest.approx([own[layout.annotator[:8]].mean(), own[layout.annotator[8:]].mean()])


def test_one_seed_two_truths_differ_by_their_parameters_only():
    layout = released_layout()
    one = simulate(layout, Truth(ALL, CUTS, (JudgeTruth(), JudgeTruth())), np.random.default_rng(11))
    other = simulate(
        layout, Truth({**ALL, "country": 0.0}, CUTS, (JudgeTruth(missing=0.5), JudgeTruth())), np.random.default_rng(11)
    )
    for name in ("question", "item", "annotator", "item:country"):
        assert (one.effects[name] == other.effects[name]).all()
    assert not other.effects["country"].any()
    given = other.judge_labels(0) >= 0
    assert 30 < given.sum() < 94
    same = simulate(layout, one.truth, np.random.default_rng(11))
    assert (same.label == one.label).all()
    assert (same.judge_label == one.judge_label).all()


def test_wrong_truths_are_refused():
    with pytest.raises(ValueError, match="expected names among"):
        Truth({"itm": 1.0}, CUTS)
    with pytest.raises(ValueError, match="ascending"):
        Truth({}, (1.0, 0.0))
    with pytest.raises(ValueError, match="ascending"):
        Truth({}, CUTS, (JudgeTruth(cutpoints=(0.0, 0.0)),))


def test_a_table_says_that_it_is_synthetic_and_holds_the_same_labels():
    truth = Truth(ALL, CUTS, (JudgeTruth(missing=0.3),), invalid=0.1)
    sim = simulate(released_layout(), truth, np.random.default_rng(12))
    table = sim.to_table(("A", "B", "C"))
    names = (*table.items, *table.questions, *table.countries, *table.annotators)
    assert all(name.startswith("synthetic ") for name in names)
    humans, judges = table.kind != JUDGE, table.kind == JUDGE
    assert table.label[humans].tolist() == sim.label.tolist()
    assert table.label[judges].tolist() == sim.judge_label.tolist()
    assert {table.annotators[code] for code in table.annotator[judges]} == {"synthetic judge 1"}
    assert table.question[judges].tolist() == sim.layout.item_question[sim.judge_item].tolist()
    counts = table.counts()
    assert counts["blank"] == (sim.label < 0).sum()
    assert counts["judge_failed"] == (sim.judge_label < 0).sum()
    assert set(table.raw[table.valid]) <= {"A", "B", "C"}


def test_six_hundred_thousand_labels():
    layout: Layout = crossed(26, 7, 7700, pool=6, labels=3)
    assert layout.labels == 600_600
    start = time.perf_counter()
    sim = simulate(layout, Truth(ALL, CUTS), np.random.default_rng(13))
    print(f"\n600,600 labels in {time.perf_counter() - start:.2f} s")
    assert len(sim.label) == 600_600
