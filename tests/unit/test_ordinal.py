"""The ordinal model's data, priors, shares and answers, against arithmetic, integrals and simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.ordinal import (
    R2D2,
    RESIDUAL,
    SWEEP,
    Gates,
    HalfNormal,
    Posterior,
    ShareAnswer,
    answer,
    decide,
    draw_cutpoints,
    ordinal_data,
    prior_below,
    shares,
    shares_of,
)
from scipy.integrate import dblquad, quad
from scipy.special import expit
from scipy.stats import halfnorm

GOOD = Gates(1.0, 900.0, 800.0, 0.0, False, True)
NESTED = ("country", "question", "country:question", "item", "annotator")


def table() -> dict[str, np.ndarray]:
    """Two countries, two questions, four items of its own each, every item labelled by the country's three people."""
    item = np.repeat(np.arange(8), 3)
    country = item // 4
    return {
        "label": np.arange(24) % 3,
        "item": item,
        "country": country,
        "annotator": np.tile(np.arange(3), 8),
        "question": item % 2,
    }


def test_effects_of_a_nested_table() -> None:
    data = ordinal_data(**table(), categories=3, countries=["a", "b"])
    assert data.names == NESTED
    assert [effect.levels for effect in data.effects] == [2, 2, 4, 8, 6]  # annotators are within country: 3 + 3
    assert data.weight.sum() == 24
    assert data.notes == ("item:country: divides the labels exactly as item does; left out",)


def test_labels_that_are_not_valid_are_no_rows_and_equal_rows_are_one() -> None:
    rows = table()
    rows["label"] = np.where(rows["item"] == 0, 1, rows["label"])
    rows["label"][5] = -1
    data = ordinal_data(**rows, categories=3, countries=["a", "b"], leave_out=("annotator",))
    assert data.weight.sum() == 23
    assert data.weight.max() == 3  # the first item's three labels are alike
    assert len(data.label) == 21


def test_crossed_table_with_an_item_a_question() -> None:
    country, item, person = (axis.ravel() for axis in np.meshgrid(range(3), range(6), range(2), indexing="ij"))
    data = ordinal_data(
        (country + item + person) % 2, item, country, person, question=item, categories=2, countries=["a", "b", "c"]
    )
    assert data.names == ("country", "question", "country:question", "annotator")
    assert len(data.notes) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"country": np.zeros(24, int)}, "labels of 1 country"),
        ({"label": np.ones(24, int)}, "no variation"),
        ({"label": np.where(np.arange(24) < 19, np.arange(24) % 3, -1)}, "19 valid labels from 2 countries"),
    ],
)
def test_what_cannot_be_estimated_is_said(change: dict[str, np.ndarray], said: str) -> None:
    with pytest.raises(UserError, match=said):
        ordinal_data(**(table() | change), categories=3, countries=["a", "b"])


# --- priors ---


@pytest.mark.parametrize("prior", SWEEP, ids=str)
def test_prior_of_one_sd_is_a_density_and_draws_follow_it(prior: R2D2 | HalfNormal) -> None:
    def density(log_sd: float) -> float:
        return float(np.exp(prior.log_density(np.array([log_sd]))))

    assert quad(density, -25, 12, limit=400, points=[-2, 0, 2])[0] == pytest.approx(1, abs=1e-6)
    drawn = prior.draw(1, 100_000, np.random.default_rng(0))[:, 0]
    for edge in np.quantile(drawn, [0.1, 0.5, 0.9]):
        expected = quad(density, -25, np.log(edge), limit=400)[0]
        assert (drawn < edge).mean() == pytest.approx(expected, abs=0.006)  # 4 sqrt(.25 / 100,000)


def test_prior_of_two_sds_is_a_density_and_draws_follow_it() -> None:
    prior = R2D2(2, 3, 1.5)

    def density(one: float, other: float) -> float:
        return float(np.exp(prior.log_density(np.array([one, other]))))

    assert dblquad(density, -9, 6, -9, 6, epsabs=1e-5)[0] == pytest.approx(1, abs=2e-3)
    drawn = prior.draw(2, 40_000, np.random.default_rng(0))
    expected = dblquad(density, -9, 0, -9, 0, epsabs=1e-5)[0]  # both below 1 logit
    assert (drawn < 1).all(axis=1).mean() == pytest.approx(expected, abs=0.01)


def test_r2d2_explains_a_beta_share() -> None:
    variance = R2D2().draw(5, 50_000, np.random.default_rng(0)) ** 2
    explained = variance.sum(1) / (variance.sum(1) + RESIDUAL)
    assert explained.mean() == pytest.approx(0.5, abs=0.005)
    assert explained.var() == pytest.approx(0.05, abs=0.002)  # Beta(2, 2): 1 / 20


def test_half_normal_is_scipys() -> None:
    at = np.log([[0.1, 0.7], [2.0, 0.3]])
    expected = (halfnorm(scale=0.5).logpdf(np.exp(at)) + at).sum(1)
    assert HalfNormal(0.5).log_density(at) == pytest.approx(expected)


def test_cutpoints_of_the_prior() -> None:
    drawn = draw_cutpoints(5, 50_000, np.random.default_rng(0))
    gaps = np.diff(drawn, axis=1)
    assert (gaps > 0).all()
    assert drawn.mean(1).std() == pytest.approx(1.5, abs=0.03)
    assert np.median(gaps, axis=0) == pytest.approx([0.5] * 3, abs=0.02)  # exp(log(2 / 4))
    assert np.log(gaps).std(axis=0) == pytest.approx([0.7] * 3, abs=0.02)
    assert draw_cutpoints(2, 4, np.random.default_rng(0)).shape == (4, 1)


def test_what_the_prior_alone_says_of_one_effect() -> None:
    """sd^2 / (sd^2 + residual) < .05 where sd < sqrt(residual / 19) = 0.4161."""
    rng = np.random.default_rng(0)
    for scale in (0.25, 2.5):
        expected = halfnorm(scale=scale).cdf(np.sqrt(RESIDUAL / 19))
        assert prior_below(HalfNormal(scale), ("country",), rng) == pytest.approx(expected, abs=0.005)
    assert prior_below(HalfNormal(0.25), NESTED, rng) > prior_below(HalfNormal(2.5), NESTED, rng) + 0.5


# --- shares and answers ---


def test_shares_by_hand() -> None:
    sd, country = np.array([[0.6, 0.8, 1.0]]), np.array([[-1.0, 0.0, 1.0]])
    found = shares_of(sd, ("country", "item", "annotator"), np.array([[0.0]]), country)
    rest = 0.64 + 1.0
    assert found.population == pytest.approx([0.36 / (0.36 + rest + RESIDUAL)])
    assert found.population_effects == pytest.approx([0.36 / 2.0])
    assert found.finite == pytest.approx([1.0 / (1.0 + rest + RESIDUAL)])  # the variance of -1, 0, 1 is 1
    assert found.finite_effects == pytest.approx([1.0 / (1.0 + rest)])


def test_linear_share_against_simulated_labels() -> None:
    sd, cutpoints = np.array([0.9, 1.2]), np.array([-1.0, 0.4, 1.5])
    found = shares_of(sd[None], ("country", "item"), cutpoints[None], np.zeros((1, 2))).linear[0]
    rng = np.random.default_rng(0)
    country = rng.normal(0, sd[0], 3000)
    latent = country[:, None] + rng.normal(0, sd[1], (3000, 400)) + rng.logistic(size=(3000, 400))
    label = (latent[..., None] > cutpoints).sum(-1)
    between = label.mean(1).var() - (label.var(axis=1) / 400).mean()
    assert found == pytest.approx(between / label.var(), abs=0.006)


@pytest.mark.parametrize(
    ("sd", "cutpoints"),
    [((0.4, 2.4), (-0.3,)), ((2.25, 2.72), (6.5, 7.5)), ((3.3, 3.9), (9.0, 10.0)), ((0.9, 3.7), (-1.5, 0.5, 2.0, 4.0))],
)
def test_linear_share_by_integrals(sd: tuple[float, float], cutpoints: tuple[float, ...]) -> None:
    """By Gauss and Hermite, a hundred nodes; labels that are rare are decided by the normal's tails."""
    z, weight = np.polynomial.hermite_e.hermegauss(100)
    weight = weight / weight.sum()
    eta = sd[0] * z[:, None, None] + sd[1] * z[:, None]
    chance = np.diff(expit(eta - np.array(cutpoints)), axis=2, prepend=1, append=0) * -weight[:, None]
    chance = chance.sum(axis=1)  # of each label, given the country's effect
    label = np.arange(len(cutpoints) + 1)
    mean = chance @ label
    variance = weight @ chance @ label**2 - (weight @ mean) ** 2
    found = shares_of(np.array([sd]), ("country", "item"), np.array([cutpoints]), np.zeros((1, 2))).linear[0]
    assert found == pytest.approx((weight @ mean**2 - (weight @ mean) ** 2) / variance, rel=1e-4)


def test_answer_of_known_draws() -> None:
    own = np.linspace(0.1, 1.0, 1001)
    sd = np.column_stack([own, np.full(1001, 1.0)])
    posterior = Posterior(
        "draws made for a test",
        HalfNormal(1),
        ("country", "item"),
        ("a", "b"),
        sd,
        np.column_stack([own, -own]),
        np.zeros((1001, 1)),
        GOOD,
        0,
    )
    found = answer(posterior, np.random.default_rng(0), level=0.9)
    assert found.median == pytest.approx(0.55**2 / (0.55**2 + 1 + RESIDUAL))
    assert found.low == pytest.approx(0.145**2 / (0.145**2 + 1 + RESIDUAL))
    # share < .05 where own^2 < (1 + residual) / 19, own < 0.4752: 417 of the draws at 0.1, 0.1009, ...
    assert found.below == pytest.approx(417 / 1001)
    assert found.finite[0] == pytest.approx(2 * 0.55**2 / (2 * 0.55**2 + 1 + RESIDUAL))
    assert shares(posterior).population.shape == (1001,)


def test_decisions() -> None:
    sure = ShareAnswer("prior", 0.01, 0.0, 0.02, (0.0, 0.0, 0.0), 0.97, 0.5, GOOD)
    cases = {
        "below": [sure, replace(sure, below=0.95)],
        "above": [replace(sure, below=0.05), replace(sure, below=0.0)],
        "undetermined": [sure, replace(sure, below=0.94)],
        "unchecked: model fit failed": [sure, replace(sure, gates=replace(GOOD, passed=False))],
    }
    for expected, answers in cases.items():
        assert decide(answers) == expected
    assert decide([sure, replace(sure, below=0.02)]) == "undetermined"
