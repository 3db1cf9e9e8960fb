"""The sampler's density against its own gradient, against PyMC, and against the prior's density by itself."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models import density
from countback.models.density import Problem
from countback.models.ordinal import R2D2, HalfNormal, Prior, draw_cutpoints, ordinal_data
from scipy.special import expit


def problem(categories: int, judges: int, rng: np.random.Generator) -> Problem:
    """40 rows of weights 1 to 3: 3 countries, 4 items, 6 annotators; a third of the rows are of each rater."""
    country, item, annotator = rng.integers(0, 3, 40), rng.integers(0, 4, 40), rng.integers(0, 6, 40)
    rater = rng.integers(0, judges + 1, 40)
    code = np.column_stack([country, 3 + item, 7 + annotator])
    judged = rater > 0
    code[judged, 0] = 13 + (rater[judged] - 1) * 3 + country[judged]
    code[judged, 2] = -1
    label = rng.integers(0, categories, 40)
    return Problem(label, rng.integers(1, 4, 40).astype(float), code, rater, np.array([3, 4, 6]), categories, judges, 3)


def value(made: Problem, prior: Prior, x: np.ndarray) -> float:
    return density.log_density(x, np.empty_like(x), *density.arguments(made, prior))


@pytest.fixture(params=[20, 4], ids=["", "some centred"])
def _centred(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 4, the effects of countries and items are centred."""
    monkeypatch.setattr(density, "CENTRED_LABELS", request.param)
    monkeypatch.setattr(density, "CENTRED_LEVELS", request.param - 1)


@pytest.mark.usefixtures("_centred")
@pytest.mark.parametrize("judges", [0, 2])
@pytest.mark.parametrize("categories", [2, 3, 5])
@pytest.mark.parametrize("prior", [R2D2(), R2D2(0.7, 1.5, 0.5), HalfNormal(0.4)], ids=str)
def test_gradient_is_that_of_the_value(prior: Prior, categories: int, judges: int) -> None:
    rng = np.random.default_rng([categories, judges])
    made = problem(categories, judges, rng)
    x = rng.normal(0, 0.7, made.size)
    gradient = np.empty_like(x)
    density.log_density(x, gradient, *density.arguments(made, prior))
    for place in range(made.size):
        step = np.zeros(made.size)
        step[place] = 1e-6
        slope = (value(made, prior, x + step) - value(made, prior, x - step)) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.usefixtures("_centred")
@pytest.mark.parametrize("prior", [R2D2(0.7, 1.5, 0.5), HalfNormal(0.4)], ids=str)
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_value_term_by_term(prior: Prior, categories: int) -> None:
    """P(y) as a difference of two logistic functions, the prior by its own density, up to one constant."""
    rng = np.random.default_rng(categories)
    made = problem(categories, 2, rng)
    off = []
    for _ in range(5):
        x = rng.normal(0, 0.5, made.size)
        parts = density.unpack(made, x)
        told = density.told(made, parts, prior)
        effect = np.concatenate([told["effect"], told["judge_country"].ravel(), [0.0]])
        eta = np.concatenate([[1.0], told["scale"]])[made.rater] * effect[made.code].sum(axis=1)
        cut = np.column_stack([np.full(3, -np.inf), told["cutpoints"], np.full(3, np.inf)])[made.rater]
        row = np.arange(40)
        probability = expit(cut[row, made.label + 1] - eta) - expit(cut[row, made.label] - eta)
        expected = made.weight @ np.log(probability)
        log_sd = np.log(told["sd"])
        signed = density.forms(made, prior) == density.SIGNED
        expected += float(prior.log_density(log_sd)) - log_sd[signed].sum()
        expected -= (made.levels * log_sd)[density.forms(made, prior) == density.CENTRED].sum()
        centre, z = told["cutpoints"].mean(axis=1), told["effect"] / np.repeat(told["sd"], made.levels)
        normals = [(centre, 0, 1.5), (parts["log_gap"], np.log(2 / (categories - 1)), 0.7), (z, 0, 1)]
        normals += [(parts["log_scale"], 0, 0.5), (parts["follows"], 1, 1), (parts["z_deviation"], 0, 1)]
        normals += [(parts["u_deviation"], 0, 0.5)]
        expected -= sum(float((((values - mean) / sd) ** 2).sum()) / 2 for values, mean, sd in normals)
        off.append(value(made, prior, x) - expected)
    assert np.ptp(off) < 1e-9


def test_far_from_everything_it_is_still_a_number() -> None:
    rng = np.random.default_rng(5)
    made = problem(3, 1, rng)
    x = rng.normal(0, 30, made.size)
    x[:3], x[-9:] = 3.0, 1.0
    assert (density.forms(made, R2D2()) == density.LOG).all()
    gradient = np.empty_like(x)
    assert np.isfinite(density.log_density(x, gradient, *density.arguments(made, R2D2())))
    assert np.isfinite(gradient).all()


def test_cutpoints_are_those_of_the_prior() -> None:
    """From standard normal parameters scaled as the density has them come the quantiles of `draw_cutpoints`."""
    rng = np.random.default_rng(2)
    made = density.cutpoints(1.5 * rng.normal(size=200_000), np.log(0.5) + 0.7 * rng.normal(size=(200_000, 3)))
    other = draw_cutpoints(5, 200_000, rng)
    points = [0.05, 0.25, 0.5, 0.75, 0.95]
    assert np.quantile(made, points, axis=0) == pytest.approx(np.quantile(other, points, axis=0), abs=0.03)


def test_no_country_is_said() -> None:
    rng = np.random.default_rng(0)
    item, country, annotator = rng.integers(0, 9, 60), np.repeat([0, 1], 30), rng.integers(0, 5, 60)
    data = ordinal_data(
        rng.integers(0, 3, 60), item, country, annotator, categories=3, countries=["X", "Y"], leave_out=["country"]
    )
    with pytest.raises(UserError, match="expected the country's"):
        density.human_problem(data)
