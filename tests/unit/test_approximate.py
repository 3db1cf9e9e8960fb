"""The fast engine against formulas written out, finite differences, other maximisers and brute-force integration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from countback.models import approximate, laplace
from countback.models.approximate import Kernels, explore, fit_approximate, pareto_k, smoothed, sweep_approximate, weigh
from countback.models.ordinal import (
    CENTRE_SD,
    GAP_SD,
    R2D2,
    Effect,
    Floats,
    HalfNormal,
    OrdinalData,
    answer,
    decide,
    gap_location,
)
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import genpareto, norm


def synthetic(categories: int, seed: int = 0, *, items: int = 12, labels: int = 4, spread: float = 1.0) -> OrdinalData:
    """Two countries with items of their own: effects country and item."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), labels)
    eta = rng.normal(0, spread, items)[item] + np.where(item % 2, 0.3, -0.3)
    edges = np.linspace(-1, 1, categories - 1) if categories > 2 else np.zeros(1)
    label = ((eta + rng.logistic(size=len(item)))[:, None] > edges).sum(1)
    effects = (Effect("country", item % 2, 2), Effect("item", item, items))
    return OrdinalData(label, np.ones_like(label), categories, effects, ("a", "b"), ())


def written_out(data: OrdinalData, log_sd: Floats, unknown: Floats) -> float:
    """The log density from the model's definition, with no formula of the engine's."""
    levels = np.cumsum([0, *(effect.levels for effect in data.effects)])
    eta = np.zeros(len(data.label))
    for k, effect in enumerate(data.effects):
        eta += np.exp(log_sd[k]) * unknown[levels[k] : levels[k + 1]][effect.code]
    centre, log_gap = unknown[levels[-1]], unknown[levels[-1] + 1 :]
    steps = np.append(0, np.cumsum(np.exp(log_gap)))
    cuts = np.concatenate([[-np.inf], centre + steps - steps.mean(), [np.inf]])
    probability = expit(cuts[data.label + 1] - eta) - expit(cuts[data.label] - eta)
    prior = -(unknown[: levels[-1]] ** 2).sum() / 2 - centre**2 / (2 * CENTRE_SD**2)
    prior -= ((log_gap - gap_location(data.categories)) ** 2).sum() / (2 * GAP_SD**2)
    return float(data.weight @ np.log(probability) + prior)


def peak(of: laplace.Block, log_sd: Floats, start: Floats | None = None) -> laplace.Peak:
    """The mode of one point."""
    return laplace.peaks(of, log_sd[None], (of.start if start is None else start)[:, None])[0]


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_density_is_the_models(categories: int) -> None:
    data = synthetic(categories)
    data = replace(data, weight=data.weight + np.arange(len(data.label)) % 3)
    of = laplace.block(data)
    unknown = np.random.default_rng(1).normal(0, 0.5, (len(of.start), 3))
    log_sd = np.log([0.4, 1.3])
    expected = [written_out(data, log_sd, column) for column in unknown.T]
    assert laplace.log_density(of, log_sd, unknown) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_slopes_and_curvature_against_differences(categories: int) -> None:
    data = synthetic(categories)
    of = laplace.block(data)
    log_sd, unknown = np.log([0.4, 1.3]), np.random.default_rng(1).normal(0, 0.5, len(laplace.block(data).start))
    step = np.eye(len(unknown)) * 1e-5
    slopes = [(written_out(data, log_sd, unknown + e) - written_out(data, log_sd, unknown - e)) / 2e-5 for e in step]
    assert laplace.gradient(of, log_sd, unknown[:, None])[:, 0] == pytest.approx(slopes, abs=1e-6)
    at = unknown[:, None]  # a step along each unknown is a column
    bends = (laplace.gradient(of, log_sd, at - step) - laplace.gradient(of, log_sd, at + step)) / 2e-5
    assert laplace.curvature(of, log_sd, unknown) == pytest.approx(bends, abs=1e-6)


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_without_effects_the_mode_is_another_maximisers(categories: int) -> None:
    data = synthetic(categories)
    tiny = np.log([1e-9, 1e-9])
    effects = sum(effect.levels for effect in data.effects)

    def lost(cutpoints: Floats) -> float:
        return -written_out(data, tiny, np.concatenate([np.zeros(effects), cutpoints]))

    start = np.append(0.0, np.full(categories - 2, gap_location(categories)))
    best = minimize(lost, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000})
    found = peak(laplace.block(data), tiny)
    assert found.mode[effects:] == pytest.approx(best.x, abs=1e-3)
    assert found.value == pytest.approx(-best.fun, abs=1e-3)


def test_a_start_where_the_gaps_curve_the_wrong_way_still_leads_to_the_mode() -> None:
    data = synthetic(3)
    of, log_sd = laplace.block(data), np.log([0.4, 1.0])
    far = of.start + np.append(np.zeros(of.effects), [10.0, 2.0])
    assert np.linalg.eigvalsh(laplace.curvature(of, log_sd, far)).min() < 0
    assert peak(of, log_sd, far).mode == pytest.approx(peak(of, log_sd).mode, abs=0.02)


def test_modes_sought_together_are_those_sought_alone() -> None:
    """Points that take one step, several, steps that are halved, and a start where the gaps curve the wrong way."""
    data = synthetic(3)
    of = laplace.block(data)
    log_sd = np.log([[0.4, 1.0], [5.0, 9.0], [0.01, 0.02], [0.4, 1.0]])
    start = np.tile(of.start[:, None], 4)
    start[:, 0] = peak(of, log_sd[0]).mode
    start[: of.effects, 1] = np.random.default_rng(0).normal(0, 3, of.effects)
    start[of.effects :, 3] += [-13.0, 2.0]
    first = np.linalg.solve(
        laplace.curvature(of, log_sd[1], start[:, 1]), laplace.gradient(of, log_sd[1], start[:, 1:2])
    )
    before, after = (laplace.log_density(of, log_sd[1], start[:, 1:2] + step) for step in (0, first))
    assert after < before
    assert np.linalg.eigvalsh(laplace.curvature(of, log_sd[3], start[:, 3])).min() < 0
    together = laplace.peaks(of, log_sd, start)
    for one, at, from_there in zip(together, log_sd, start.T, strict=True):
        alone = peak(of, at, from_there)
        assert one.mode == pytest.approx(alone.mode, abs=1e-9)
        assert one.marginal == pytest.approx(alone.marginal, abs=1e-9)
        assert laplace.gradient(of, at, one.mode[:, None]) == pytest.approx(0, abs=0.02)
        curvature = laplace.curvature(of, at, one.mode)
        expected = written_out(data, at, one.mode) + np.log(of.precision).sum() / 2
        expected -= np.linalg.slogdet(curvature)[1] / 2
        assert one.marginal == pytest.approx(expected, abs=0.02)


def test_logistic_is_scipys_and_bears_what_is_far_from_0() -> None:
    x = np.array([-1e300, -800.0, -40.0, -1.5, -1e-9, 0.0, 1e-9, 1.5, 40.0, 800.0, 1e300])
    found = laplace.log_logistic(x)
    assert found == pytest.approx(log_expit(x), rel=1e-14)
    assert -np.expm1(found) == pytest.approx(expit(-x), rel=1e-14)


# --- brute force: two countries with items of their own, two categories ---
# Given the centre m and a country's effect c, items are independent: all integrals are of one dimension.

LOG_SD = np.linspace(np.log(0.02), np.log(12), 36)
CENTRE = np.linspace(-8, 8, 121)
NODE = norm.ppf((np.arange(120) + 0.5) / 120)


def brute_force(data: OrdinalData) -> Floats:
    """Log likelihood of (log country sd, log item sd) on the grid, everything else integrated out."""
    country, item = data.effects
    where = np.array([country.code[item.code == k][0] for k in range(item.levels)])
    ones = np.bincount(item.code, data.label, item.levels)
    size = np.bincount(item.code, minlength=item.levels)
    offset = np.linspace(-40, 40, 801)  # centre minus the country's effect
    result = np.empty((len(LOG_SD), len(LOG_SD)))
    for b, item_sd in enumerate(np.exp(LOG_SD)):
        at = offset[:, None] - item_sd * NODE  # P(label is 0) = expit(at)
        no, yes = np.log(expit(at)), np.log(expit(-at))
        likelihood = np.zeros((2, len(offset)))
        for k in range(item.levels):
            likelihood[where[k]] += np.log(np.exp(ones[k] * yes + (size[k] - ones[k]) * no).mean(1))
        for a, country_sd in enumerate(np.exp(LOG_SD)):
            total = norm.logpdf(CENTRE, 0, CENTRE_SD) + np.log(CENTRE[1] - CENTRE[0])
            for c in range(2):
                height = np.interp(CENTRE[:, None] - country_sd * NODE, offset, likelihood[c])
                total = total + logsumexp(height, axis=1) - np.log(len(NODE))
            result[a, b] = logsumexp(total)
    return result


@pytest.fixture(scope="module")
def tiny() -> tuple[OrdinalData, Floats]:
    data = synthetic(2, 3, items=12, labels=4, spread=1.5)
    return data, brute_force(data)


def test_likelihood_of_the_sds_is_the_integral(tiny: tuple[OrdinalData, Floats]) -> None:
    data, exact = tiny
    of, rng = laplace.block(data), np.random.default_rng(0)
    for a, b in [(12, 12), (18, 24), (24, 18), (6, 26)]:
        top = peak(of, np.array([LOG_SD[a], LOG_SD[b]]))
        part = laplace.wobble(of, top, 20_000, rng)[2]
        assert top.marginal + laplace.missed(part)[0] == pytest.approx(exact[a, b], abs=0.05)
    # and Laplace's alone is not: it misses more the larger the item's sd, which is why its sds come out small
    wide = peak(of, np.array([LOG_SD[6], LOG_SD[26]])).marginal - exact[6, 26]
    assert wide < -0.15


@pytest.mark.parametrize("prior", [R2D2(), HalfNormal(1)], ids=str)
def test_posterior_of_the_sds_is_the_brute_force_one(
    tiny: tuple[OrdinalData, Floats], prior: R2D2 | HalfNormal
) -> None:
    data, exact = tiny
    grid = np.stack(np.meshgrid(LOG_SD, LOG_SD, indexing="ij"), axis=-1)
    density = np.exp(exact + prior.log_density(grid) - exact.max())
    density /= density.sum()
    found = sweep_approximate(data, (prior,), seed=5, draws=4000)[0]
    assert found.gates.passed
    for k in range(2):
        margin = density.sum(axis=1 - k)
        for share in (0.1, 0.25, 0.5, 0.75, 0.9):
            edge = np.exp(np.interp(share, np.cumsum(margin) - margin / 2, LOG_SD))
            # 4 Monte Carlo errors of 400 effective points: 4 sqrt(.25 / 400) = 0.1 at most
            assert (found.sd[:, k] < edge).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 400))


# --- exploration ---


def test_one_exploration_serves_several_priors() -> None:
    data = synthetic(3, 7)
    priors = (HalfNormal(0.5), HalfNormal(2.5))
    together = sweep_approximate(data, priors, seed=1)
    for prior, one in zip(priors, together, strict=True):
        alone = fit_approximate(data, prior, seed=2)
        assert one.gates.passed
        assert alone.gates.passed
        error = np.sqrt(one.sd.var(0) / one.gates.ess_bulk + alone.sd.var(0) / alone.gates.ess_bulk)
        assert (np.abs(one.sd.mean(0) - alone.sd.mean(0)) < 4 * error).all()
    assert (together[0].sd.mean(0) < together[1].sd.mean(0)).all()


def test_draws_of_the_effects_follow_the_sds() -> None:
    """Effects are standard normal beforehand: a country with no labels keeps its prior given the sds."""
    data = synthetic(3, 7)
    country = replace(data.effects[0], levels=3)
    data = replace(data, effects=(country, data.effects[1]), countries=("a", "b", "unseen"))
    found = fit_approximate(data, HalfNormal(1), seed=1, draws=4000)
    unseen = found.country[:, 2] / found.country_sd
    assert unseen.mean() == pytest.approx(0, abs=0.1)
    assert unseen.std() == pytest.approx(1, abs=0.1)
    assert (np.diff(found.cutpoints, axis=1) > 0).all()


def test_same_seed_same_draws() -> None:
    data = synthetic(2, 1)
    one, two, other = (fit_approximate(data, R2D2(), seed=seed, draws=500) for seed in (4, 4, 5))
    assert np.array_equal(one.sd, two.sd)
    assert np.array_equal(one.country, two.country)
    assert not np.array_equal(one.sd, other.sd)


def test_equal_rows_may_be_one_row_with_a_weight() -> None:
    data = synthetic(3, 2)
    rows = np.column_stack([data.label, *(effect.code for effect in data.effects)])
    unique, weight = np.unique(rows, axis=0, return_counts=True)
    assert len(unique) < len(rows)
    effects = tuple(replace(effect, code=unique[:, k + 1]) for k, effect in enumerate(data.effects))
    short = replace(data, label=unique[:, 0], weight=weight, effects=effects)
    log_sd = np.log([0.5, 1.0])
    found, other = (peak(laplace.block(each), log_sd) for each in (data, short))
    assert found.marginal == pytest.approx(other.marginal, abs=1e-3)


def test_too_few_points_fail_the_gate_and_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approximate, "MOST", 256)
    found = fit_approximate(synthetic(2, 1), R2D2(), seed=1, enough=1e6)
    assert not found.gates.passed
    assert "expected 1000000" in found.gates.why
    assert decide([answer(found, np.random.default_rng(0))]) == "unchecked: model fit failed"
    assert "approximate" in found.engine


def test_weights_turn_draws_of_the_proposal_into_the_posterior() -> None:
    """Weights undo the proposal: with a flat likelihood what is left is the prior."""
    data = synthetic(2, 1)
    points, proposal = explore(data, (HalfNormal(1),), np.random.default_rng(0))
    weight = weigh(points, np.zeros(len(proposal)), proposal, HalfNormal(1))
    assert weight.sum() == pytest.approx(1)
    assert smoothed(points, (HalfNormal(1),))[0].shape == proposal.shape
    effective = 1 / (weight**2).sum()
    below = weight @ (np.exp(points.log_sd) < norm.ppf(0.75))  # the median of a HalfNormal
    assert below == pytest.approx([0.5, 0.5], abs=4 * 0.5 / np.sqrt(effective))


def test_kernels_are_a_density_and_draw_from_it() -> None:
    kernels = Kernels(np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[0.5, 0.0], [0.3, 0.4]]))
    axis = np.linspace(-40, 40, 1201)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    density = np.exp(kernels.log_density(grid.reshape(-1, 2))).reshape(1201, 1201) * (axis[1] - axis[0]) ** 2
    assert density.sum() == pytest.approx(1, abs=1e-3)
    drawn = kernels.draw(40_000, np.random.default_rng(0))
    for low in (0.0, 1.0):  # share of draws left of a line, against the sum of the density there
        assert (drawn[:, 0] < low).mean() == pytest.approx(density[axis < low].sum(), abs=0.02)


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.9])
def test_pareto_k_finds_a_known_tail(shape: float) -> None:
    rng = np.random.default_rng(0)
    found = np.mean([pareto_k(genpareto.rvs(shape, size=4000, random_state=rng)) for _ in range(20)])
    assert found == pytest.approx(shape, abs=0.08)  # single fits of 190 tail values: sd (1 + k) / sqrt(190) = 0.1


def test_pareto_k_of_equal_weights_is_no_tail() -> None:
    assert pareto_k(np.full(300, 1 / 300)) == -np.inf
