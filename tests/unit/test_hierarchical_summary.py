"""Summaries of fits: what they hold, their Monte Carlo errors, and what a comparison says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.models.fits import as_json, compare, effective, probability_error, quantile_errors, sha256
from countback.models.ordinal import R2D2, RESIDUAL, Gates, HalfNormal, Posterior, ordinal_data
from scipy.special import ndtri

GATES = Gates(1.002, 900.0, 640.0, 0.0, False, True)


def posterior(seed: int, prior: Any = None, gates: Gates = GATES, country: float = 1.0) -> Posterior:
    """Draws made up at random: country's sd near `country`, item's near 1."""
    rng = np.random.default_rng(seed)
    sd = np.column_stack([rng.gamma(100, country / 100, 4000), rng.gamma(100, 0.01, 4000)])
    return Posterior(
        "made up", prior or R2D2(), ("country", "item"), ("X", "Y", "Z"), sd, rng.normal(0, country, (4000, 3)),
        np.sort(rng.normal(0, 1, (4000, 2)), axis=1), gates, seed,
    )  # fmt: skip


def summary(*found: Posterior, file: str = "00ff") -> dict[str, Any]:
    rng = np.random.default_rng(0)
    c, i = rng.integers(0, 3, 90), rng.integers(0, 10, 90)
    data = ordinal_data(rng.integers(0, 3, 90), i, c, np.zeros(90, int), categories=3, countries=["X", "Y", "Z"])
    files, how = {"labels.csv": file}, {"draws": 1000}
    return as_json("human", data, found, files=files, versions={"numpy": "2"}, seed=1, design="crossed", how=how)


def test_numbers_are_those_of_the_draws() -> None:
    drawn = posterior(1)
    told = json.loads(json.dumps(summary(drawn)))
    share = drawn.sd[:, 0] ** 2 / ((drawn.sd**2).sum(axis=1) + RESIDUAL)
    found = told["priors"][0]
    assert [found[name] for name in ("low", "median", "high")] == pytest.approx(np.quantile(share, [0.025, 0.5, 0.975]))
    assert found["below"] == (share < 0.05).mean()
    assert found["sd"]["country"] == pytest.approx(np.median(drawn.sd[:, 0]))
    assert found["gates"]["ess_tail"] == 640
    assert told["data"]["labels"] == 90
    assert told["decision"] == "above"


def test_effective_draws_are_the_least_of_the_gates() -> None:
    assert effective(posterior(1)) == 640
    nothing = Gates(np.nan, np.nan, np.nan, np.nan, False, True)
    assert effective(posterior(1, gates=nothing)) == 4000


def test_error_of_a_quantile_of_normal_draws() -> None:
    """sqrt(p (1 - p) / n) / density; at the 97.5% point the density is 0.0584."""
    values = ndtri((np.arange(100_000) + 0.5) / 100_000)
    found = quantile_errors(values, 1000.0)
    assert found["median"] == pytest.approx(0.5 / 1000**0.5 / 0.39894, rel=0.01)
    assert found["high"] == pytest.approx((0.025 * 0.975 / 1000) ** 0.5 / 0.05845, rel=0.05)
    assert found["low"] == pytest.approx(found["high"], rel=1e-6)


def test_error_of_a_probability() -> None:
    assert probability_error(0.5, 400) == pytest.approx(0.025)
    assert probability_error(0.0, 400) == pytest.approx((1 / 402 * 401 / 402 / 400) ** 0.5)


def test_other_seeds_agree_and_other_countries_do_not() -> None:
    """Draws by other seeds lie within four errors; a country's sd that is a tenth larger does not."""
    one, other = summary(posterior(1)), summary(posterior(2))
    assert compare(one, one) == ()
    assert compare(one, other) == ()
    said = compare(one, summary(posterior(3, country=1.1)))
    assert any(line.startswith("R2D2(2, 2; 1): share, median") for line in said)
    assert all("Monte Carlo errors apart" in line for line in said)


def test_each_number_is_compared() -> None:
    one = summary(posterior(1))
    for path in (("median",), ("low",), ("high",), ("finite", "high"), ("linear", "median"), ("below",)):
        other = copy.deepcopy(one)
        place = other["priors"][0]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] += 0.5
        assert len(compare(one, other)) == 1, path


def test_another_input_is_said_and_nothing_else() -> None:
    said = compare(summary(posterior(1)), summary(posterior(3, country=2.0), file="11ee"))
    assert said == ("input labels.csv is another file: sha256 00ff and 11ee",)


def test_a_failed_fit_a_missing_prior_and_a_decision_are_said() -> None:
    failed = Gates(1.2, 900.0, 640.0, 0.0, True, False, "r-hat 1.200 of sd[0], expected at most 1.01")
    one, other = summary(posterior(1)), summary(posterior(1, gates=failed))
    assert other["decision"] == "unchecked: model fit failed"
    assert compare(one, other) == (
        "R2D2(2, 2; 1): one fit passed its gates and the other did not",
        "decision: above and unchecked: model fit failed",
    )
    assert compare(one, summary(posterior(1, HalfNormal(1))))[0] == "prior R2D2(2, 2; 1): in one of the two only"


def test_digest(tmp_path: Path) -> None:
    """SHA-256 of "abc" is in FIPS 180-2, appendix B.1."""
    (tmp_path / "labels.csv").write_bytes(b"abc")
    assert sha256(tmp_path / "labels.csv").startswith("ba7816bf8f01cfea414140de5dae2223b00361a3")
