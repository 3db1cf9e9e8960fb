"""The outcome rule on whole arrays of draws is the registered resolver, on every edge."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from countback.claims.prediction import load_predictions
from countback.claims.registry import PAPERS
from countback.claims.resolve_lead import Lead, LeadRule
from countback.models.forecast import Drawn, OutcomeRule, outcome_codes

NAMES = (*(f"country {number}" for number in range(10)), "France", "India")
RULE = OutcomeRule(9, Fraction(5), ("France", "India"), Fraction(-10))


def outcome(gaps, n=100, rule=RULE):
    drawn = Drawn(NAMES, np.full((1, 12), n), np.array([gaps]))
    return rule.outcomes[int(outcome_codes(drawn, rule)[0])]


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([7] * 9 + [-1] * 3, "confirmed"),  # 9 of 12; 60 of 1200 is 5 points exactly
        ([7] * 8 + [6] + [-1] * 2 + [-2], "neither"),  # 58 of 1200
        ([20] * 8 + [-1] * 4, "neither"),  # 8 of 12
        ([8] * 10 + [-10, -10], "confirmed"),  # -10 is not below -10; 60 of 1200
        ([9] * 10 + [-11, -11], "both"),  # ten of twelve, 68 of 1200
        ([8] * 10 + [-11, -10], "neither"),  # one of the two trails; 59 of 1200
        ([1] * 10 + [-11, -11], "broken"),  # D = -12
        ([3] * 10 + [-11, -11], "broken"),  # D > 0, yet both trail and it is below 5 points
        ([0] * 12, "neither"),  # D = 0 is not below 0
        ([0] * 11 + [-1], "broken"),
    ],
)
def test_edges(gaps, expected):
    assert outcome(gaps) == expected


@pytest.fixture(scope="module")
def registered():
    return [each for each in load_predictions(PAPERS / "cubes", "cubes")[0] if isinstance(each.rule, LeadRule)]


def as_outcome_rule(rule: LeadRule) -> OutcomeRule:
    return OutcomeRule(rule.at_least, rule.margin, rule.trailing, rule.trail, rule.leave_out, rule.only)


def test_every_registered_rule_decides_draws_as_it_decides_data(registered):
    rng = np.random.default_rng(20261129)
    names = (
        "Pakistan",
        "United States",
        "Nigeria",
        "Philippines",
        *(f"country {k}" for k in range(6)),
        "France",
        "India",
    )
    draws = 400
    n = rng.integers(20, 130, (draws, 12))
    # Around the thresholds, so that every outcome and many exact ties of a criterion come up.
    gap = np.rint(n * rng.normal(rng.choice([-0.02, 0.03, 0.05, 0.08], (draws, 1)), 0.05, (draws, 12))).astype(np.int64)
    gap[::3, -2:] = -n[::3, -2:] // 9
    n[1::4], gap[1::4] = 100, np.clip(gap[1::4], -12, 12)
    drawn = Drawn(names, n, gap)
    assert len(registered) == 6
    seen = set()
    for prediction in registered:
        rule = as_outcome_rule(prediction.rule)
        assert set(rule.outcomes) == set(prediction.can_give) - {"void"}
        for row, code in enumerate(outcome_codes(drawn, rule)):
            leads = [Lead((name,), int(n[row, k]), int(gap[row, k]), int(gap[row, k])) for k, name in enumerate(names)]
            decided = prediction.decide(leads).outcome
            assert rule.outcomes[code] == decided, (prediction.full_id, row)
            seen.add((prediction.spec.id, decided))
    assert {("p1", word) for word in ("confirmed", "broken", "both", "neither")} <= seen
