"""What must not change the country's share, whatever the labels."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.shares import CountryShare, country_share
from hypothesis import assume, given, settings
from hypothesis import strategies as st


@st.composite
def tables(draw):
    """Labels of an unbalanced crossed design, as item, country, annotator, label."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    items, countries = draw(st.integers(2, 8)), draw(st.integers(2, 5))
    size = draw(st.integers(8, 120))
    item, country = rng.integers(0, items, size), rng.integers(0, countries, size)
    annotator = country * 4 + rng.integers(0, 4, size)
    return item, country, annotator, rng.integers(0, draw(st.integers(2, 5)), size)


def asked(labels, **options) -> CountryShare:
    try:
        found = country_share(*labels, **options)
    except UserError:
        assume(False)
        raise
    assume(abs(found.share) > 1e-9)  # the sign of a zero depends on the order of a sum
    return found


def same(one: CountryShare, other: CountryShare) -> None:
    ends = [(each.share, each.low, each.high, *each.here) for each in (one, other)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-7)


@settings(deadline=None)
@given(tables())
def test_ends_are_in_order(labels):
    found = asked(labels)
    for low, high in ((found.low, found.high), found.here):
        assert 0 <= low <= high <= 1
        if found.components.total - found.components.country > 0:
            assert low <= max(found.share, 0) + 1e-9
            assert found.share <= high + 1e-9
    assert found.effects.sum() == pytest.approx(0, abs=1e-8)


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_names_and_order_of_rows_do_not_matter(labels, random):
    found = asked(labels)
    order = list(range(len(labels[0])))
    random.shuffle(order)
    renamed = [(labels[0] * 7 + 3)[order], (9 - labels[1])[order], (labels[2] * 100_000 + 5)[order], labels[3][order]]
    same(found, country_share(*renamed))


@settings(deadline=None)
@given(tables(), st.floats(0.1, 10), st.floats(-5, 5))
def test_unit_and_origin_and_direction_of_the_scale_do_not_matter(labels, unit, origin):
    found = asked(labels)
    codes = np.arange(labels[3].max() + 1)
    same(found, country_share(*labels, scores=origin + unit * codes))
    same(found, country_share(*labels, scores=-unit * codes))


@settings(deadline=None)
@given(tables())
def test_labels_that_are_missing_say_nothing(labels):
    found = asked(labels)
    more = [np.append(old, new) for old, new in zip(labels, ([0, 99], [0, 1], [0, 77], [-1, -1]), strict=True)]
    same(found, country_share(*more))
    assert found.labels == country_share(*more).labels


@settings(deadline=None)
@given(tables())
def test_what_an_item_holds_does_not_touch_the_effects(labels):
    """Each item's labels moved by a number of their own: countries differ as before."""
    found = asked(labels)
    item, country, annotator, label = labels
    moved = country_share(item, country, annotator, label + 10 * item)
    assert moved.effects == pytest.approx(found.effects, abs=1e-8)
