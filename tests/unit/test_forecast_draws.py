"""Draws of leads against integration by brute force, and what a forecast must do at its ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from countback.models.forecast import KnownLead, Model, OutcomeRule, draw_leads, forecast, printed_se
from scipy.special import ndtr

PLAIN = Model(tau_scale=0.06, mu_sd=0.1, tails=np.inf, doubt=0.0)
KNOWN = (KnownLead(("a",), 120, 24, 0.05), KnownLead(("b",), 100, 0, 0.06), KnownLead(("c",), 130, 13, 0.055))
UNIT = (120 * 0.05**2 + 100 * 0.06**2 + 130 * 0.055**2) / 3
# One country more, and the rule asks whether it is at or above zero.
LAST = OutcomeRule(4, Fraction(0), (), Fraction(-10), (), "k1")


def posterior_on_a_grid(leads, variances, model):
    """Weights over tau and mu, both on a grid, from the two-level model written out."""
    tau, mu = np.meshgrid(np.linspace(0, 5 * model.tau_scale, 401), np.linspace(-0.6, 0.6, 1201), indexing="ij")
    log = -((tau / model.tau_scale) ** 2) / 2 - (mu / model.mu_sd) ** 2 / 2
    for lead, variance, size in zip(leads, variances, (1,) * len(leads), strict=True):
        spread = tau**2 / size + variance
        log = log - np.log(spread) / 2 - (lead - mu) ** 2 / spread / 2
    weight = np.exp(log - log.max())
    return tau, mu, weight / weight.sum()


def test_the_next_country_by_brute_force():
    leads = [lead.gap / lead.n for lead in KNOWN]
    tau, mu, weight = posterior_on_a_grid(leads, [UNIT / lead.n for lead in KNOWN], PLAIN)
    drawn = draw_leads(KNOWN, ["d"], 200_000, np.random.default_rng(1), PLAIN)
    size = drawn.n[:, 3]
    assert size.mean() == pytest.approx(350 / 3, abs=0.4)
    assert size.std() == pytest.approx(6, abs=0.1)
    found = drawn.gap[:, 3] / size
    exact_mean = (weight * mu).sum()
    exact_variance = (weight * (tau**2 + mu**2)).sum() - exact_mean**2 + UNIT / (350 / 3)
    assert found.mean() == pytest.approx(exact_mean, abs=0.0007)
    assert found.std() == pytest.approx(exact_variance**0.5, rel=0.01)
    # A gap is a whole number: at or above zero means above minus half a hit.
    exact = (weight * ndtr((mu + 0.5 / 117) / np.sqrt(tau**2 + UNIT / 117))).sum()
    told = forecast(drawn, LAST, PLAIN)
    assert told.outcomes == ("confirmed", "broken")
    assert told.probability[0] == pytest.approx(exact, abs=4 * told.mc_error[0] + 0.001)
    assert told.mc_error[0] == pytest.approx((exact * (1 - exact) / 200_000) ** 0.5, rel=0.01)


def test_known_countries_stay_as_they_were_counted():
    drawn = draw_leads(KNOWN, ["d"], 10, np.random.default_rng(1), PLAIN)
    assert drawn.names == ("a", "b", "c", "d")
    assert drawn.gap[:, :3].tolist() == [[24, 0, 13]] * 10
    assert drawn.n[:, :3].tolist() == [[120, 100, 130]] * 10


def test_countries_known_as_a_sum_meet_it():
    pair = KnownLead(("c", "d"), 247, 28, 0.04)
    drawn = draw_leads((*KNOWN[:2], pair), ["e"], 50_000, np.random.default_rng(2), PLAIN)
    assert (drawn.gap[:, 2:4].sum(axis=1) == 28).all()
    assert (drawn.n[:, 2:4].sum(axis=1) == 247).all()
    assert (np.abs(drawn.gap) <= drawn.n).all()
    one, other = (drawn.gap[:, k] / drawn.n[:, k] for k in (2, 3))
    # Alike, so each has half on average; their difference varies by tau and by the noise of both.
    assert one.mean() == pytest.approx(28 / 247, abs=0.002)
    unit = np.average([120 * 0.05**2, 100 * 0.06**2, 247 * 0.04**2], weights=[1, 1, 2])
    noise = 2 * unit / 123.5
    least, most = noise**0.5, (noise + 2 * (4 * PLAIN.tau_scale) ** 2) ** 0.5
    assert least < (one - other).std() < most
    without = Model(tau_scale=1e-9, mu_sd=0.1, tails=np.inf, doubt=0)
    drawn = draw_leads((*KNOWN[:2], pair), [], 50_000, np.random.default_rng(2), without)
    one, other = (drawn.gap[:, k] / drawn.n[:, k] for k in (2, 3))
    assert (one - other).std() == pytest.approx(noise**0.5, rel=0.02)


def test_the_same_seed_gives_the_same_forecast():
    drawn = [draw_leads(KNOWN, ["d", "e"], 100, np.random.default_rng(7), Model()) for _ in range(2)]
    assert (drawn[0].gap == drawn[1].gap).all()
    assert (drawn[0].n == drawn[1].n).all()


def test_doubt_keeps_every_outcome_away_from_certainty():
    sure = (KnownLead(("a",), 500, 400, 0.01), KnownLead(("b",), 500, 400, 0.01))
    rule = OutcomeRule(3, Fraction(5), ("c",), Fraction(-10))
    drawn = draw_leads(sure, ["c"], 5000, np.random.default_rng(1), Model(0.001, 1.0, np.inf, 0.0))
    told = forecast(drawn, rule, Model(doubt=0.05))
    assert told.drawn == (1, 0, 0, 0)
    assert told.probability == pytest.approx((0.9625, 0.0125, 0.0125, 0.0125))
    assert sum(told.probability) == pytest.approx(1)


def test_heavier_tails_and_more_spread_are_less_sure():
    chances = []
    for model in (PLAIN, Model(0.06, 0.1, 3.0, 0.0), Model(0.2, 0.1, 3.0, 0.0)):
        drawn = draw_leads(KNOWN, ["d"], 100_000, np.random.default_rng(3), model)
        chances.append((drawn.gap[:, 3] / drawn.n[:, 3] < -0.3).mean())
    assert chances[0] < chances[1] < chances[2]


@pytest.mark.parametrize(
    ("n", "hits", "printed"),
    # Half widths of the article's intervals over 1.96: Pakistan with gemini, all four with opus.
    [(118, 106, (40.7 - 21.8) / 2 / 1.959964), (491, 377, (18.7 - 2.9) / 2 / 1.959964)],
)
def test_the_guess_of_a_standard_error_is_near_the_printed_ones(n, hits, printed):
    assert 100 * printed_se(n, hits, 491 / 123) == pytest.approx(printed, rel=0.2)


def test_the_guess_by_hand():
    # (9.5 / 20) (10.5 / 20) 4 / 19
    assert printed_se(19, 9, 4) == pytest.approx((9.5 * 10.5 / 400 * 4 / 19) ** 0.5)
    assert printed_se(19, 19, 4) > 0
