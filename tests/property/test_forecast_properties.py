"""What must hold of any forecast: counts stay counts, sums are met, probabilities are probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from countback.models.forecast import Drawn, KnownLead, Model, OutcomeRule, draw_leads, forecast, outcome_codes
from hypothesis import given, settings
from hypothesis import strategies as st

RULE = OutcomeRule(3, Fraction(5), ("x",), Fraction(-10))


@st.composite
def leads(draw):
    """One to three entries; some stand for two or three countries of which only the sum is known."""
    found, place = [], 0
    for size in draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)):
        n = draw(st.integers(2 * size, 400))
        gap = draw(st.integers(-n, n))
        names = tuple(f"c{place + k}" for k in range(size))
        found.append(KnownLead(names, n, gap, draw(st.floats(0.01, 0.3))))
        place += size
    return tuple(found)


models = st.builds(
    Model, st.floats(0.001, 0.5), st.floats(0.01, 1), st.sampled_from([3.0, 4.0, np.inf]), st.floats(0, 0.3)
)


@settings(deadline=None)
@given(leads(), models, st.integers(0, 2**32 - 1))
def test_draws_are_counts_that_meet_what_is_known(known, model, seed):
    drawn = draw_leads(known, ["x", "y"], 200, np.random.default_rng(seed), model)
    assert (drawn.n >= 1).all()
    assert (np.abs(drawn.gap[:, -2:]) <= drawn.n[:, -2:]).all()
    place = 0
    for lead in known:
        part = slice(place, place + len(lead.countries))
        assert drawn.names[part] == lead.countries
        assert (drawn.n[:, part].sum(axis=1) == lead.n).all()
        assert (drawn.gap[:, part].sum(axis=1) == lead.gap).all()
        place = part.stop
    told = forecast(drawn, RULE, model)
    assert sum(told.probability) == pytest.approx(1)
    least, most = model.doubt / 4, 1 - model.doubt * 3 / 4
    assert all(least - 1e-12 <= chance <= most + 1e-12 for chance in told.probability)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_more_hits_never_break_what_was_confirmed(seed, more):
    """A rule that asks for leads only: with a larger gap in any country, confirmed stays confirmed."""
    rng = np.random.default_rng(seed)
    n = rng.integers(30, 200, (50, 4))
    gap = rng.integers(-20, 30, (50, 4))
    rule = OutcomeRule(3, Fraction(5), ("x",), Fraction(-10), (), "k1")
    names = ("a", "b", "c", "x")
    before = outcome_codes(Drawn(names, n, gap), rule)
    larger = gap.copy()
    larger[:, rng.integers(4)] += more
    after = outcome_codes(Drawn(names, n, larger), rule)
    assert (after[before == 0] == 0).all()
