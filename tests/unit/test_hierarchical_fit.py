"""The human model as sampled: small fits that finish in seconds, and the same model in PyMC."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.models import density, hierarchical, sampling
from countback.models.hierarchical import fit_human, sweep_human
from countback.models.ordinal import R2D2, HalfNormal, OrdinalData, Prior, ordinal_data

pytest.importorskip("nutpie")


def crossed(
    categories: int, *, seed: int = 1, countries: int = 3, items: int = 12, country_sd: float = 0.8, people: int = 8
) -> OrdinalData:
    """Synthetic labels: each item labelled by 4 of the `people` of each country; item sd 0.6, annotator sd 0.3."""
    rng = np.random.default_rng(seed)
    i, c, slot = np.indices((items, countries, 4)).reshape(3, -1)
    a = c * people + (i + slot) % people
    eta = country_sd * rng.normal(size=countries)[c] + 0.6 * rng.normal(size=items)[i]
    eta = eta + 0.3 * rng.normal(size=countries * people)[a] + rng.logistic(size=len(i))
    label = np.searchsorted(np.linspace(-1, 1, categories - 1) if categories > 2 else np.zeros(1), eta)
    names = [f"synthetic {code}" for code in range(countries)]
    return ordinal_data(label, i, c, a, categories=categories, countries=names)


IMPORTS = """
import numpy as np
from countback.models import density, hierarchical
from countback.models.ordinal import HalfNormal, ordinal_data
i, c = np.indices((12, 2)).reshape(2, -1)
data = ordinal_data(i % 2, i, c, 2 * c + i // 6, categories=2, countries=["a", "b"])
hierarchical.MODEL(density.human_problem(data), HalfNormal(0.5))
"""


@pytest.mark.slow
@pytest.mark.parametrize("model", ["_nutpie_model", "pymc_model"])
def test_the_first_import_of_a_day_warns_of_nothing(tmp_path: Path, model: str) -> None:
    """ArviZ keeps the day of its warning in the cache folder; a user's first fit is made without one."""
    fresh = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS.replace("MODEL", model)], env=fresh, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_shapes_and_order(categories: int) -> None:
    data = crossed(categories)
    found = fit_human(data, R2D2(), seed=3, draws=300, tune=300, chains=2, cores=1)
    count = len(found.sd)
    assert count in range(600, 600 * sampling.MOST_DRAWS + 1, 600)
    assert found.sd.shape == (count, len(data.names))
    assert found.country.shape == (count, 3)
    assert found.cutpoints.shape == (count, categories - 1)
    assert (np.diff(found.cutpoints, axis=1) > 0).all()
    assert (found.sd >= 0).all()
    assert (found.engine, found.seed, found.names) == ("nuts (nutpie)", 3, data.names)


def test_same_seed_same_draws_and_new_data_new_draws() -> None:
    """Nothing is compiled for other data of the same shape, and the results are the other data's."""
    data, other = crossed(3), crossed(3, seed=2)
    how: dict[str, Any] = {"seed": 4, "draws": 200, "tune": 200, "chains": 2, "cores": 1}
    first, again = fit_human(data, R2D2(), **how), fit_human(data, R2D2(), **how)
    assert (first.sd == again.sd).all()
    machine = density.compiled()
    known = len(machine.signatures)  # type: ignore[attr-defined]
    changed = fit_human(other, HalfNormal(0.5), **how)
    assert len(machine.signatures) == known == 1  # type: ignore[attr-defined]
    assert not np.allclose(first.country.mean(axis=0), changed.country.mean(axis=0), atol=0.1)


def test_weights_stand_for_equal_rows() -> None:
    """The density of aggregated rows is that of the rows one by one."""
    rng = np.random.default_rng(6)
    c, i = np.repeat([0, 1, 2], 60), rng.integers(0, 5, 180)
    label = rng.integers(0, 3, 180)
    names = ["X", "Y", "Z"]
    data = ordinal_data(label, i, c, np.zeros(180, int), categories=3, countries=names, leave_out=["annotator"])
    assert data.weight.max() > 1
    made = density.human_problem(data)
    rows = {name: np.repeat(getattr(made, name), data.weight, axis=0) for name in ("label", "code", "rater")}
    single = density.Problem(**rows, weight=np.ones(180), levels=made.levels, categories=3, judges=0, countries=3)
    x = rng.normal(size=made.size)
    one, other = np.empty_like(x), np.empty_like(x)
    value = density.log_density(x, one, *density.arguments(made, R2D2()))
    assert value == pytest.approx(density.log_density(x, other, *density.arguments(single, R2D2())), rel=1e-12)
    assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


def test_a_sweep_has_a_seed_for_each_prior() -> None:
    found = sweep_human(crossed(2), [R2D2(), HalfNormal(0.25)], seed=10, draws=100, tune=200, chains=2, cores=1)
    assert [str(each.prior) for each in found] == ["R2D2(2, 2; 1)", "HalfNormal(0.25)"]
    assert len({each.seed for each in found}) == 2


@pytest.mark.slow
@pytest.mark.nuts
@pytest.mark.parametrize("prior", [R2D2(), HalfNormal(0.5)], ids=str)
def test_the_model_in_pymc_is_the_same(prior: Prior) -> None:
    """Draws of PyMC's own sampler from the PyMC model against nutpie's from the density: means within their errors."""
    data = crossed(3)
    how: dict[str, Any] = {"seed": 8, "draws": 1500, "tune": 1000, "chains": 2, "cores": 1}
    by_nutpie, by_pymc = fit_human(data, prior, **how), fit_human(data, prior, sampler="pymc", **how)
    assert by_pymc.engine == "nuts (pymc)"
    assert by_nutpie.gates.passed, by_nutpie.gates.why
    assert by_pymc.gates.passed, by_pymc.gates.why
    for name in ("sd", "country", "cutpoints"):
        one, other = getattr(by_nutpie, name), getattr(by_pymc, name)
        error = np.sqrt(one.var(axis=0) / by_nutpie.gates.ess_bulk + other.var(axis=0) / by_pymc.gates.ess_bulk)
        assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 4 * error).all(), name


@pytest.mark.slow
@pytest.mark.nuts
@pytest.mark.parametrize(("categories", "judges"), [(2, 0), (3, 2)])
def test_log_density_of_the_model_in_pymc(categories: int, judges: int) -> None:
    """Under HalfNormal the two have the same parameters: log densities differ by a constant and PyMC's Jacobians."""
    rng = np.random.default_rng([categories, judges])
    made = density.human_problem(crossed(categories))
    if judges:
        rater = rng.integers(0, judges + 1, len(made.label))
        code, total = made.code.copy(), int(made.levels.sum())
        judged = rater > 0
        code[judged, 0] += total + (rater[judged] - 1) * 3
        parts = vars(made) | {"code": code, "rater": rater, "judges": judges}
        made = density.Problem(**parts)
    prior = HalfNormal(0.7)
    model = hierarchical.pymc_model(made, prior)
    log_density = model.compile_logp(jacobian=False)
    off = []
    for _ in range(4):
        x = rng.normal(0, 0.5, made.size)
        parts = density.unpack(made, x)
        told = density.told(made, parts, prior)
        z = told["effect"] / np.repeat(told["sd"], made.levels)
        point = {"sd_log__": np.log(told["sd"]), "centre": told["cutpoints"].mean(axis=1, keepdims=True), "z": z}
        if categories > 2:
            point["log_gap"] = parts["log_gap"]
        if judges:
            deviation = float(abs(parts["u_deviation"][0]))
            point |= {"scale_log__": parts["log_scale"], "follows": parts["follows"][:, None]}
            point |= {"deviation_log__": np.log(deviation)}
            point |= {"z_deviation": parts["z_deviation"] * np.sign(parts["u_deviation"][0])}
        jacobian = parts["log_scale"].sum() if judges else 0.0  # LogNormal's density is of the scale, ours of its log
        ours = density.log_density(x, np.empty_like(x), *density.arguments(made, prior))
        off.append(float(log_density(point)) + jacobian - ours)
    assert np.ptp(off) < 1e-8
