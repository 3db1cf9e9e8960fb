"""Ctrl-C while sampling stops the program: both samplers would hand back what they have by then as if it were a fit."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest
from countback.models import density, hierarchical, sampling
from countback.models.ordinal import R2D2, ordinal_data
from countback.models.sampling import Run

pymc = pytest.importorskip("pymc")
xarray = pytest.importorskip("xarray")


@pytest.mark.parametrize(("chains", "draws"), [(2, 7), (1, 10)])
def test_fewer_draws_than_asked_for_are_no_fit(chains: int, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What PyMC's own sampler returns after Ctrl-C."""
    part = xarray.Dataset({name: (("chain", "draw"), np.zeros((chains, draws))) for name in ("diverging", "n_steps")})
    monkeypatch.setattr(pymc, "sample", lambda **_: {"posterior": part, "sample_stats": part})
    with pytest.raises(KeyboardInterrupt):
        sampling.sample(object(), Run(1, draws=10, chains=2))


@pytest.mark.slow
@pytest.mark.nuts
def test_an_interrupted_fit_gives_no_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nutpie")
    i, c, slot = np.indices((12, 3, 4)).reshape(3, -1)
    label = np.random.default_rng(1).integers(0, 3, len(i))  # synthetic
    data = ordinal_data(label, i, c, c * 4 + slot, categories=3, countries=["a", "b", "c"])
    fit = hierarchical.attempt(density.human_problem(data), R2D2(), "nutpie")
    fit(Run(1, draws=20, tune=20, chains=2, cores=1))  # compiles
    sample: Any = sampling.sample

    def interrupted(model: Any, run: Run) -> Any:
        threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return sample(model, run)

    monkeypatch.setattr(sampling, "sample", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(Run(1, draws=200_000, tune=20, chains=2, cores=1))
