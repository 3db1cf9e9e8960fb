"""The gates of a fit: each can fail by itself, and what happens then."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models import sampling
from countback.models.sampling import Draws, Run

pytest.importorskip("arviz")


def independent(draws: int = 1000) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(4, draws))


def test_independent_draws_pass() -> None:
    gates = sampling.check({"sd": np.stack([independent(), independent()[::-1]], axis=2)}, 0.001)
    assert gates.passed
    assert gates.why == ""
    assert gates.ess_bulk == pytest.approx(4000, rel=0.1)
    assert gates.ess_tail == pytest.approx(4000, rel=0.2)


def test_r_hat_of_split_chains_by_hand() -> None:
    """Without rank normalisation: sqrt((between / within + n - 1) / n); ranks hardly change normal draws."""
    moved = independent() + np.array([0, 0, 0, 0.5])[:, None]
    halves = moved.reshape(8, 500)
    plain = np.sqrt(499 / 500 + halves.mean(axis=1).var(ddof=1) / halves.var(axis=1, ddof=1).mean())
    gates = sampling.check({"sd": moved}, 0.0)
    assert gates.rhat == pytest.approx(plain, abs=0.01)
    assert not gates.passed
    assert "r-hat" in gates.why
    assert "of sd," in gates.why


def test_effective_draws_of_a_slow_chain() -> None:
    """AR(1) with coefficient r: n (1 - r) / (1 + r) = 8000 / 39 = 205."""
    rng, values = np.random.default_rng(3), np.zeros((4, 2000))
    for step in range(1, 2000):
        values[:, step] = 0.95 * values[:, step - 1] + rng.normal(size=4)
    gates = sampling.check({"country": np.stack([values, independent(2000)], axis=2)}, 0.0)
    assert gates.ess_bulk == pytest.approx(205, rel=0.3)
    assert "(bulk) of country[0]" in gates.why


def test_divergent_draws_and_values_that_are_no_numbers() -> None:
    assert "0.20% of draws divergent" in sampling.check({"sd": independent()}, 0.002).why
    gates = sampling.check({"sd": independent(), "country": np.full((4, 1000), np.nan)}, 0.0)
    assert not gates.passed
    assert "of country" in gates.why


def test_one_retry_with_smaller_steps_and_more_draws() -> None:
    runs: list[Run] = []

    def attempt(run: Run) -> Draws:
        runs.append(run)
        return Draws({"sd": independent(run.draws)}, 0.0, 7.0)

    _, gates = sampling.gated(attempt, Run(5, draws=100), lambda drawn: drawn.values)
    assert gates.passed == (gates.ess_bulk >= 400 and gates.ess_tail >= 400)
    assert gates.retried == (len(runs) == 2)
    runs.clear()
    _, gates = sampling.gated(attempt, Run(5, draws=50), lambda drawn: drawn.values)
    assert [run.accept for run in runs] == [0.9, 0.95]
    assert runs[1].draws > 50
    assert gates.retried
    assert gates.passed


def test_a_second_failure_is_final() -> None:
    calls = []

    def attempt(run: Run) -> Draws:
        calls.append(run)
        return Draws({"sd": np.arange(4.0)[:, None] + independent()}, 0.0, 7.0)

    _, gates = sampling.gated(attempt, Run(5), lambda drawn: drawn.values)
    assert len(calls) == 2
    assert (gates.passed, gates.retried) == (False, True)
    assert "r-hat" in gates.why


def test_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="expected nutpie or pymc"):
        sampling.available("stan")  # type: ignore[arg-type]
    here = sampling.find_spec
    monkeypatch.setattr(sampling, "find_spec", lambda name: None if name == "nutpie" else here(name))
    assert sampling.available("nutpie") == "pymc"
    monkeypatch.setattr(sampling, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install"):
        sampling.available("nutpie")
