"""The forecasts of the registry are what the model that they name gives on the counts that the article prints."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from countback.claims.prediction import load_predictions
from countback.claims.registry import PAPERS
from countback.claims.resolve_lead import LeadRule
from countback.models.forecast import Drawn, KnownLead, Model, OutcomeRule, draw_leads, forecast, printed_se

SEED, DRAWS = 20261129, 200_000
LABELS_PER_ITEM = 491 / 123  # comparisons over vignettes, as printed
PREDICTIONS, PRINTED = load_predictions(PAPERS / "cubes", "cubes")
LEADS = [prediction for prediction in PREDICTIONS if isinstance(prediction.rule, LeadRule)]


@cache
def drawn(model: Model) -> Drawn:
    """Completions of what the article prints: eight more countries, of which only two names matter to a rule."""
    known = [
        KnownLead(tuple(row.countries), row.n, row.judge - row.human, printed_se(row.n, row.judge, LABELS_PER_ITEM))
        for row in PRINTED
    ]
    missing = ["France", "India", *(f"country {number}" for number in range(6))]
    return draw_leads(known, missing, DRAWS, np.random.default_rng(SEED), model)


@pytest.mark.parametrize("prediction", LEADS, ids=lambda prediction: prediction.spec.id)
def test_a_registered_forecast_is_what_its_model_gives(prediction):
    """Within four Monte Carlo errors, those of the registered number included; the model may have learnt since."""
    (registered,) = prediction.spec.forecast
    numbers = dict(re.findall(r"(\w+)=([\d.]+)", registered.model))
    model = Model(**{name: float(value) for name, value in numbers.items()})
    assert set(numbers) == set(vars(model))
    rule = prediction.rule
    own = OutcomeRule(rule.at_least, rule.margin, rule.trailing, rule.trail, rule.leave_out, rule.only)
    found = forecast(drawn(model), own, model)
    place = found.outcomes.index(registered.of)
    slack = 4 * np.sqrt(2) * found.mc_error[place] + 0.0005  # printed with three decimals
    assert registered.of == "confirmed"
    assert registered.probability == pytest.approx(found.probability[place], abs=slack)
    assert registered.on == prediction.spec.registered.on


def test_forecasts_hang_together():
    """A whole prediction is no likelier than a criterion that it needs, but for what doubt adds to four outcomes."""
    probability = {prediction.spec.id: prediction.spec.forecast[0].probability for prediction in LEADS}
    assert probability["p1"] <= min(probability["p1-k1"], probability["p1-k2"], probability["p1-b2"])
    assert probability["p1-k2"] <= probability["p1-b1"]
