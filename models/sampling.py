"""Sampling with nutpie or PyMC, and the gates a fit must pass: the one place that knows PyMC 5 or 6, ArviZ 0.23 or 1.

Gates: r-hat at most 1.01, 400 or more effective draws (bulk and tail) of every quantity of interest, at most 0.1% of
draws divergent. A fit that fails is run once more with smaller steps (`target_accept` 0.95), with more draws where
they are all that is short; if that fails too, its `Gates` say why and nothing may be concluded from it.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from countback.fetch.errors import UserError
from countback.models.ordinal import Floats, Gates

Sampler = Literal["nutpie", "pymc"]
MAX_RHAT, MIN_ESS, MAX_DIVERGENT = 1.01, 400, 0.001
ACCEPT, RETRY_ACCEPT, MOST_DRAWS = 0.9, 0.95, 8  # at most so many times the draws on the second try
PACKAGES = ("numpy", "scipy", "numba", "nutpie", "pymc", "pytensor", "arviz")


@dataclass(frozen=True)
class Draws:
    """Draws by name, arrays (chains, draws, ...); `divergent` is a share, `steps` a mean number."""

    values: Mapping[str, Floats]
    divergent: float
    steps: float


@dataclass(frozen=True)
class Run:
    """How to sample: `cores` None takes one a chain as far as there are."""

    seed: int
    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    cores: int | None = None
    progress: bool = False
    accept: float = ACCEPT


def available(sampler: Sampler) -> Sampler:
    """The sampler to use: PyMC's own where nutpie was asked for and is not installed."""
    if sampler not in ("nutpie", "pymc"):
        raise UserError(f"found sampler {sampler!r}; expected nutpie or pymc")
    for name in (sampler, "pymc"):
        if find_spec(name) and find_spec("arviz"):
            return "nutpie" if name == "nutpie" else "pymc"
    raise UserError(
        "found neither nutpie nor pymc with arviz; expected one to fit models: pip install 'countback[models]'"
    )


def versions() -> dict[str, str]:
    """Of the packages that a fit depends on, those installed."""
    return {name: version(name) for name in PACKAGES if find_spec(name)}


@contextmanager
def quiet() -> Any:
    """Without what PyMC logs while it samples, and the warnings about their future that it and ArviZ give.

    ArviZ gives one where it is first imported on a day, by nutpie and by PyMC too.
    """
    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            for category in (FutureWarning, DeprecationWarning, UserWarning):
                warnings.simplefilter("ignore", category)
            yield
    finally:
        log.setLevel(level)


def sample(model: Any, run: Run) -> Draws:
    """Draws of a PyMC model, by PyMC's own sampler, or of a compiled nutpie model.

    Raises KeyboardInterrupt where it is interrupted: left to themselves both samplers return what they have by then.
    """
    show = run.progress and sys.stderr.isatty()
    cores = run.cores or min(run.chains, os.cpu_count() or 1)
    settings: dict[str, Any] = {"draws": run.draws, "tune": run.tune, "chains": run.chains, "cores": cores}
    with quiet():
        if hasattr(model, "n_dim"):
            import nutpie

            settings |= {"progress_bar": show, "save_warmup": False, "target_accept": run.accept, "blocking": False}
            sampler: Any = nutpie.sample(model, **settings, seed=run.seed)
            try:
                found = sampler.wait()
            except BaseException:
                sampler.cancel()
                raise
        else:
            import pymc

            settings |= {"target_accept": run.accept, "compute_convergence_checks": False, "progressbar": show}
            found = pymc.sample(model=model, **settings, random_seed=run.seed, nuts_sampler="pymc")
    posterior, stats = found["posterior"], found["sample_stats"]
    if posterior.sizes["draw"] < run.draws or posterior.sizes["chain"] < run.chains:
        raise KeyboardInterrupt
    steps = "n_steps" if "n_steps" in stats else "tree_size"
    return Draws(
        {str(name): np.asarray(posterior[name].values, np.float64) for name in posterior.data_vars},
        float(stats["diverging"].values.mean()),
        float(stats[steps].values.mean()),
    )


def ess(values: Floats, *, tail: bool = False) -> float:
    """Effective number of draws (chains, draws) of the mean, or of the 5% and 95% quantiles, the smaller."""
    with quiet():
        import arviz

        of: Any = arviz.ess
        return float(of(values, method="tail", prob=(0.05, 0.95)) if tail else of(values, method="bulk"))


def rhat(values: Floats) -> float:
    """Rank-normalised split r-hat of (chains, draws)."""
    with quiet():
        import arviz

        of: Any = arviz.rhat
        return float(of(values))


def check(interest: Mapping[str, Floats], divergent: float, *, retried: bool = False) -> Gates:
    """The gates of quantities of interest, arrays (chains, draws, ...) by name. What never varies is not judged."""
    each = {
        f"{name}[{column}]" if flat.shape[2] > 1 else name: flat[:, :, column]
        for name, values in interest.items()
        for flat in [values.reshape(*values.shape[:2], -1)]
        for column in range(flat.shape[2])
    }
    rhats = {name: rhat(values) for name, values in each.items()}
    bulk = {name: ess(values) for name, values in each.items()}
    tail = {name: ess(values, tail=True) for name, values in each.items()}
    worst, least, least_tail = _worst(rhats, max), _worst(bulk, min), _worst(tail, min)
    why = []
    if not rhats[worst] <= MAX_RHAT:
        why.append(f"r-hat {rhats[worst]:.3f} of {worst}, expected at most {MAX_RHAT}")
    if not bulk[least] >= MIN_ESS:
        why.append(f"{bulk[least]:.0f} effective draws (bulk) of {least}, expected {MIN_ESS}")
    if not tail[least_tail] >= MIN_ESS:
        why.append(f"{tail[least_tail]:.0f} effective draws (tail) of {least_tail}, expected {MIN_ESS}")
    if not divergent <= MAX_DIVERGENT:
        why.append(f"{divergent:.2%} of draws divergent, expected at most {MAX_DIVERGENT:.1%}")
    return Gates(rhats[worst], bulk[least], tail[least_tail], divergent, retried, not why, "; ".join(why))


def _worst(values: Mapping[str, float], pick: Callable[..., str]) -> str:
    """The name of the largest or smallest; of one that is not a number where there is one."""
    return next((name for name, value in values.items() if np.isnan(value)), "") or pick(values, key=values.__getitem__)


def gated(
    attempt: Callable[[Run], Draws], run: Run, interest: Callable[[Draws], Mapping[str, Floats]]
) -> tuple[Draws, Gates]:
    """The draws of `attempt` and their gates; once more where they do not hold."""
    drawn = attempt(run)
    gates = check(interest(drawn), drawn.divergent)
    if gates.passed:
        return drawn, gates
    least = max(min(gates.ess_bulk, gates.ess_tail), 1)
    times = min(max(int(np.ceil(1.5 * MIN_ESS / least)), 1), MOST_DRAWS)
    again = Run(run.seed + 1, run.draws * times, run.tune, run.chains, run.cores, run.progress, RETRY_ACCEPT)
    drawn = attempt(again)
    return drawn, check(interest(drawn), drawn.divergent, retried=True)
