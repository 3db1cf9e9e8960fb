"""Forecasts of a country's share: the prior on the grid, the country's size, and outcomes weighted, by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from countback.claims import crossed
from countback.models.forecast import (
    SHARE_GRID,
    CrossedDesign,
    SharePrior,
    country_sd,
    crossed_share,
    share_forecast,
)
from scipy.special import expit, logit

THREE = ("confirmed", "broken", "neither")


def test_a_prior_without_spread_is_its_median():
    weights = SharePrior(0.05, 1e-9).weights()
    assert weights[SHARE_GRID.index(0.05)] == pytest.approx(1)
    middle = float(expit((logit(0.05) + logit(0.06)) / 2))
    between = SharePrior(middle, 1e-9).weights()
    assert between[SHARE_GRID.index(0.05)] == pytest.approx(0.5)
    assert between[SHARE_GRID.index(0.06)] == pytest.approx(0.5)
    assert SharePrior(1e-9, 1e-9).weights()[0] == 1  # beyond the grid: its end
    assert SharePrior(0.999, 1e-9).weights()[-1] == 1


def test_weights_give_the_mean_of_what_is_linear_in_the_logit():
    weights = SharePrior(0.038, 0.7).weights()  # the ends are more than three standard deviations away
    assert weights.sum() == pytest.approx(1)
    at = logit(np.array(SHARE_GRID))
    assert weights @ (3 - 2 * at) == pytest.approx(3 - 2 * logit(0.038), abs=1e-3)
    assert (weights >= 0).all()


def test_outcomes_weighted_by_hand():
    """All confirmed at shares of 0.05 and more, all broken below, but half of the studies at 0.05 neither."""
    table = np.array([[0, 8, 0] if share < 0.05 else [4, 0, 4] if share == 0.05 else [8, 0, 0] for share in SHARE_GRID])
    found = share_forecast(THREE, table, SharePrior(0.05, 1e-9), doubt=0.0)
    assert found.drawn == pytest.approx((0.5, 0, 0.5), abs=1e-6)
    assert found.mc_error == pytest.approx(((0.25 / 8) ** 0.5, 0, (0.25 / 8) ** 0.5), abs=1e-6)
    assert found.draws == 8 * len(SHARE_GRID)
    doubted = share_forecast(THREE, table, SharePrior(0.05, 1e-9), doubt=0.3)
    assert doubted.probability == pytest.approx((0.45, 0.1, 0.45))
    assert doubted.drawn == pytest.approx(found.drawn)
    wide = share_forecast(THREE, table, SharePrior(0.05, 1.0), doubt=0.0)
    # The logit is symmetric about the threshold; half of each neighbouring step of the grid goes to the middle.
    assert wide.drawn[0] > wide.drawn[1] > 0.4
    assert sum(wide.drawn) == pytest.approx(1)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_a_countrys_size_gives_the_share_by_brute_force(share):
    """Two thousand countries with six hundred independent labels each: variance of country means over all variance."""
    others, cuts = (1.2, 0.5, 0.6), (-1.3, 0.4)
    rng = np.random.default_rng(1)
    country = rng.normal(0, country_sd(share, others, cuts), (2000, 1))
    eta = country + rng.normal(0, np.hypot(*others[:2]), (2000, 600)) + rng.normal(0, others[2], (2000, 600))
    label = np.searchsorted(cuts, (eta + rng.logistic(size=eta.shape)).ravel()).reshape(eta.shape)
    within = label.var(axis=1, ddof=1).mean()
    between = label.mean(axis=1).var(ddof=1) - within / 600
    found = between / (between + within)
    assert found == pytest.approx(share, rel=4.5 * (2 / 2000) ** 0.5)


def test_synthetic_studies_estimate_the_share_that_was_asked_for():
    rng = np.random.default_rng(2)
    found = np.array([crossed_share(CrossedDesign(30, 30), 0.1, rng) for _ in range(60)])
    assert found[:, 0].mean() == pytest.approx(0.1, abs=4.5 * found[:, 0].std() / 60**0.5)
    assert (found[:, 1] <= found[:, 0]).all()
    assert (found[:, 0] <= found[:, 2]).all()
    covered = ((found[:, 1] <= 0.1) & (found[:, 2] >= 0.1)).mean()
    assert covered >= 0.85  # of 60, at 95%


def test_a_study_that_supports_no_share_says_nothing():
    alone = CrossedDesign(10, 4, labels=1, pool=1)  # one person a country, who cannot be told from it
    found = crossed_share(alone, 0.1, np.random.default_rng(3))
    assert found == (0.0, 0.0, 1.0)
    assert crossed.outcome(alone, found) == "neither"


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.05, 0.2, "confirmed"), (0.0499, 0.2, "neither"), (0.0, 0.0499, "broken"), (0.0, 0.05, "neither")],
)
def test_the_frozen_rule_decides(low, high, word):
    assert crossed.outcome(CrossedDesign(10, 4), (0.05, low, high)) == word


def test_any_design_is_the_mean_of_the_designs():
    tables = {"a": np.tile([8, 0, 0], (len(SHARE_GRID), 1)), "b": np.tile([0, 4, 4], (len(SHARE_GRID), 1))}
    found = crossed.forecasts(tables, SharePrior(0.05, 1e-9))
    assert found[crossed.ANY].drawn == pytest.approx((0.5, 0.25, 0.25))
    assert found[crossed.ANY].mc_error[1] == pytest.approx(0.95 * (0.25 / 8) ** 0.5 / 2)
    assert found[crossed.ANY].probability == pytest.approx(
        tuple((one + other) / 2 for one, other in zip(found["a"].probability, found["b"].probability, strict=True))
    )
    assert found[crossed.ANY].draws == found["a"].draws + found["b"].draws
