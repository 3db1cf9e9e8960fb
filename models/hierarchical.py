"""The model of human labels (see `ordinal`), sampled: one fit under one prior, and the sweep of priors.

nutpie samples `density.log_density`, whose data and prior are arrays, so that a sweep and a refit compile nothing. The
same model stands here in PyMC: to read, to check the other against, and to sample where nutpie is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from countback.models import density, sampling
from countback.models.density import Problem
from countback.models.ordinal import (
    CENTRE_SD,
    GAP_SD,
    R2D2,
    RESIDUAL,
    SWEEP,
    Floats,
    OrdinalData,
    Posterior,
    Prior,
    gap_location,
)
from countback.models.sampling import Draws, Run, Sampler, quiet

FAR = 1000.0  # logits: a cutpoint that no label is beyond


def fit_human(
    data: OrdinalData,
    prior: Prior,
    *,
    seed: int,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    sampler: Sampler = "nutpie",
    progress: bool = False,
) -> Posterior:
    """The posterior under one prior, gated over standard deviations, cutpoints and country effects.

    Raises UserError where the country's effect is not in the data's, or no sampler is installed.
    """
    problem = density.human_problem(data)
    run = Run(seed, draws, tune, chains, cores, progress)
    drawn, gates = sampling.gated(attempt(problem, prior, sampler), run, lambda found: interest(problem, found))
    values = {name: flat(value) for name, value in interest(problem, drawn).items()}
    return Posterior(
        f"nuts ({sampling.available(sampler)})",
        prior,
        data.names,
        data.countries,
        values["sd"],
        values["country"],
        values["cutpoints"],
        gates,
        seed,
    )


def sweep_human(data: OrdinalData, priors: Sequence[Prior] = SWEEP, *, seed: int, **how: Any) -> list[Posterior]:
    """A fit under each prior, with the arguments of `fit_human`; each prior has a seed of its own."""
    return [fit_human(data, prior, seed=seed + 1000 * place, **how) for place, prior in enumerate(priors)]


def interest(problem: Problem, drawn: Draws) -> Mapping[str, Floats]:
    """What is reported and therefore gated, arrays (chains, draws, ...)."""
    found = {name: drawn.values[name] for name in ("sd", "cutpoints", "country")}
    return found | {"cutpoints": found["cutpoints"][:, :, 0]} if not problem.judges else found


def flat(values: Floats) -> Floats:
    """Chains one after the other, (chains * draws, ...)."""
    return values.reshape(-1, *values.shape[2:])


def attempt(problem: Problem, prior: Prior, sampler: Sampler) -> Any:
    """A function from `Run` to `Draws` of sd, cutpoints (raters, categories - 1), country, and for judges their own."""
    if sampling.available(sampler) == "pymc":
        model = pymc_model(problem, prior)
        return lambda run: sampling.sample(model, run)

    def sampled(run: Run) -> Draws:
        drawn = sampling.sample(_nutpie_model(problem, prior), run)
        parts = density.unpack(problem, drawn.values["x"])
        return Draws(density.told(problem, parts, prior), drawn.divergent, drawn.steps)

    return sampled


def _nutpie_model(problem: Problem, prior: Prior) -> Any:
    with quiet():
        from nutpie.compiled_pyfunc import from_pyfunc

    fast, arguments = density.compiled(), density.arguments(problem, prior)

    def value_and_gradient(x: Floats) -> tuple[float, Floats]:
        gradient = np.empty_like(x)
        return fast(x, gradient, *arguments), gradient

    return from_pyfunc(
        problem.size,
        lambda: value_and_gradient,
        lambda seed, other, chain: lambda x: {"x": x},
        [np.dtype("float64")],
        [(problem.size,)],
        ["x"],
        make_initial_point_fn=lambda seed: density.start(problem, prior, np.random.default_rng(seed)),
    )


def pymc_model(problem: Problem, prior: Prior) -> Any:
    """The model in PyMC, with judges where the problem has them."""
    with quiet():
        import pymc as pm
        import pytensor.tensor

    pt: Any = pytensor.tensor
    effects, raters, gaps = len(problem.levels), problem.judges + 1, problem.categories - 2
    with pm.Model() as model:
        if isinstance(prior, R2D2):
            explained = pm.Beta("explained", prior.a, prior.b)
            split = pm.Dirichlet("split", np.full(effects, prior.concentration)) if effects > 1 else np.ones(1)
            sd = pm.Deterministic("sd", pt.sqrt(split * RESIDUAL * explained / (1 - explained)))
        else:
            sd = pm.HalfNormal("sd", prior.scale, shape=effects)
        centre = pm.Normal("centre", 0, CENTRE_SD, shape=(raters, 1))
        steps = pt.zeros((raters, 1))
        if gaps:
            log_gap = pm.Normal("log_gap", gap_location(problem.categories), GAP_SD, shape=(raters, gaps))
            steps = pt.concatenate([steps, pt.cumsum(pt.exp(log_gap), axis=1)], axis=1)
        cutpoints = pm.Deterministic("cutpoints", centre + steps - steps.mean(axis=1, keepdims=True))
        spread = sd[np.repeat(np.arange(effects), problem.levels)]
        effect = pm.Deterministic("effect", spread * pm.Normal("z", 0, 1, shape=int(problem.levels.sum())))
        country = pm.Deterministic("country", effect[: problem.countries])
        scale = pt.ones(1)
        if problem.judges:
            shape = (problem.judges, problem.countries)
            scale = pt.concatenate([scale, pm.LogNormal("scale", 0, density.SCALE_SD, shape=problem.judges)])
            follows = pm.Normal("follows", density.FOLLOWS, density.FOLLOWS_SD, shape=(problem.judges, 1))
            deviation = pm.HalfNormal("deviation", density.DEVIATION_SD) * pm.Normal("z_deviation", 0, 1, shape=shape)
            own = pm.Deterministic("judge_country", follows * country + deviation)
            effect = pt.concatenate([effect, own.ravel()])
        effect = pt.concatenate([effect, pt.zeros(1)])  # for code -1
        eta = scale[problem.rater] * effect[problem.code].sum(axis=1)
        edge = pt.full((raters, 1), FAR)
        bounds = pt.concatenate([-edge, cutpoints, edge], axis=1)
        lower, upper = bounds[problem.rater, problem.label], bounds[problem.rater, problem.label + 1]
        log_probability = -pt.softplus(eta - upper) - pt.softplus(lower - eta) + pt.log1mexp(lower - upper)
        pm.Potential("labels", (problem.weight * log_probability).sum())
    return model
