"""Where true values lie among the draws of many synthetic fits: the committed histograms are uniform, by a stated rule.

The rule: none of the p-values, two for each quantity, is below LEVEL divided by their number. See sbc_human.md.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest, norm

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "sbc_human.json").read_text(encoding="utf-8"))
NUTS = json.loads((HERE / "approximate_against_nuts.json").read_text(encoding="utf-8"))


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("sbc_human")


@pytest.mark.parametrize("quantities", [KEPT["quantities"], NUTS["ranks under nuts"]], ids=["fast", "nuts"])
def test_ranks_are_uniform_by_the_rule(quantities: dict[str, Any]) -> None:
    limit = KEPT["level"] / (2 * len(quantities))
    for one in quantities.values():
        counts = one["histogram"]
        assert len(counts) == KEPT["bins"]
        assert sum(counts) == one["cases"]
        assert chisquare(counts).pvalue == pytest.approx(one["p chi-square"], abs=1e-3)
        assert min(one["p chi-square"], one["p ecdf"]) > limit


def test_few_fits_fail_their_gates() -> None:
    assert len(KEPT["gates failed"]) <= 0.02 * KEPT["cases"]
    fitted = KEPT["cases"] - KEPT["labels all alike or too few"] - len(KEPT["gates failed"])
    assert KEPT["quantities"]["sd country"]["cases"] == fitted


def test_the_rule_sees_draws_that_are_too_narrow_and_ones_that_are_too_low(cases: Any) -> None:
    """A tenth of a posterior sd is not seen with 300 cases; a posterior 30% too narrow, or 0.4 sd too low, is."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    limit = KEPT["level"] / 20
    rank = {scale: np.sort(norm.cdf(truth / scale)) for scale in (1.0, 0.7)}
    low = np.sort(norm.cdf(truth + 0.4))
    assert min(cases.judged(rank[1.0])[p] for p in ("p chi-square", "p ecdf")) > limit
    assert min(cases.judged(rank[0.7])[p] for p in ("p chi-square", "p ecdf")) < limit
    assert min(cases.judged(low)[p] for p in ("p chi-square", "p ecdf")) < limit


def test_the_p_values_are_scipys(cases: Any) -> None:
    below = np.sort(np.random.default_rng(3).beta(1.1, 0.9, 250))
    found = cases.judged(below)
    assert found["p chi-square"] == pytest.approx(chisquare(found["histogram"]).pvalue, abs=1e-4)
    assert found["p ecdf"] == pytest.approx(kstest(below, "uniform").pvalue, abs=0.02)  # asymptotic against exact


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_case_again(at: int, cases: Any) -> None:
    kept = KEPT["some rows"][at]
    found = cases.ranked(kept["seed"])
    assert found["skipped"] == kept["skipped"]
    assert found["design"] == kept["design"]
    for name, value in kept["below"].items():
        # 100 effective points: 3 errors of sqrt(.25 / 100); the same numbers where libraries are the same
        assert found["below"][name] == pytest.approx(value, abs=0.15)
