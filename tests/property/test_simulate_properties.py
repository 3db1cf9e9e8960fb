"""Any layout: who labels what holds by construction, and its labels make a valid table."""

from __future__ import annotations

import numpy as np
from countback.models.identifiability import diagnose
from countback.models.simulate import JudgeTruth, Truth, hybrid, simulate
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def layouts(draw):
    labels = draw(st.integers(1, 4))
    countries = draw(st.integers(2, 5))
    per_cell, shared = draw(st.sampled_from([(0, 3), (2, 0), (1, 4), (3, 1), (1, 20)]))
    return hybrid(
        countries,
        draw(st.integers(1, 4)),
        per_cell,
        shared,
        pool=[labels + draw(st.integers(0, 4)) for _ in range(countries)],
        labels=labels,
        made_in_turn=draw(st.booleans()),
    ), (labels, per_cell, shared)


@given(layouts())
def test_who_labels_what(drawn):
    layout, (labels, per_cell, shared) = drawn
    assert layout.items == layout.countries * layout.questions * per_cell + shared
    assert (layout.home[layout.annotator] == layout.country).all()
    assert (layout.question == layout.item_question[layout.item]).all()
    rows = np.stack([layout.item, layout.country, layout.annotator])
    assert np.unique(rows, axis=1).shape[1] == layout.labels
    item, country = layout.pairs()
    assert (
        np.bincount(layout.item * layout.countries + layout.country)[item * layout.countries + country] == labels
    ).all()
    own = layout.origin[layout.item] == layout.country
    in_countries = np.bincount(item, minlength=layout.items)
    assert (own | (in_countries[layout.item] == layout.countries)).all()
    found = diagnose(layout.item, layout.country, layout.annotator, origin=layout.origin)
    assert found.kind == ("nested" if not shared else "crossed" if not per_cell else "hybrid")


@given(layouts(), st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1))
def test_labels_make_a_valid_table(drawn, seed, invalid, missing):
    layout, _ = drawn
    truth = Truth({"country": 1.0, "item": 1.0}, (-1.0, 0.0, 1.0), (JudgeTruth(missing=missing),), invalid)
    study = simulate(layout, truth, np.random.default_rng(seed))
    assert study.label.min() >= -1
    assert study.label.max() <= 3
    table = study.to_table()
    assert len(table) == layout.labels + len(layout.pairs()[0])
    assert (table.label >= 0).sum() == table.counts().get("valid", 0)
    known = study.judge_labels(0)
    assert (known >= 0).sum() == (study.judge_label >= 0).sum()
