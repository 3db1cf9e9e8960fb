"""Layouts of synthetic studies: counts by hand, and the design's diagnosis from `identifiability`."""

from __future__ import annotations

import numpy as np
import pytest
from countback.models.identifiability import diagnose
from countback.models.simulate import Layout, crossed, hybrid, nested, place, released_layout


def design(layout: Layout):
    return diagnose(layout.item, layout.country, layout.annotator, question=layout.question, origin=layout.origin)


def test_a_nested_layout_by_hand():
    layout = nested(2, 1, 2, pool=3, labels=2)
    assert layout.item.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert layout.country.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert layout.annotator.tolist() == [0, 1, 1, 2, 3, 4, 4, 5]  # 0+1, then 1+2; the other country likewise
    assert layout.origin.tolist() == [0, 0, 1, 1]
    assert layout.home.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_hybrid_layout_by_hand():
    layout = hybrid(2, 2, 1, 3, pool=[2, 3], labels=1, made_in_turn=True)
    assert layout.item_question.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert layout.origin.tolist() == [0, 0, 1, 1, 0, 0, 1]
    pairs = set(zip(layout.item.tolist(), layout.country.tolist(), strict=True))
    assert pairs == {(0, 0), (1, 0), (2, 1), (3, 1)} | {(i, c) for i in (4, 5, 6) for c in (0, 1)}
    assert (layout.home[layout.annotator] == layout.country).all()
    assert np.bincount(layout.annotator).tolist() == [3, 2, 2, 2, 1]  # five items each, over two people and three
    assert hybrid(2, 2, 1, 3, pool=2, labels=1).origin[4:].tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("layout", "kind", "separable"),
    [
        (nested(4, 11, 3, pool=8, labels=5), "nested", False),
        (released_layout(), "nested", False),
        (crossed(4, 10, 10, pool=8, labels=5), "crossed", True),
        (crossed(12, 11, 33, pool=[7] * 12, labels=4, made_in_turn=True), "crossed", True),
        (hybrid(4, 11, 2, 10, pool=8, labels=5), "hybrid", True),
        (hybrid(12, 11, 2, 10, pool=8, labels=5, made_in_turn=True), "hybrid", True),
    ],
)
def test_nested_layouts_are_flagged_and_the_others_cleared(layout, kind, separable):
    found = design(layout)
    assert (found.kind, found.separable) == (kind, separable)
    assert found.shared_annotators == 0
    assert found.labels == layout.labels
    assert found.items == layout.items
    assert found.annotators == layout.annotators


def test_every_annotator_of_a_country_is_linked_by_items_and_works_as_much_as_the_others():
    layout = crossed(3, 11, 40, pool=[6, 9, 11], labels=5)
    work = np.bincount(layout.annotator)
    for country in range(3):
        own = work[layout.home == country]
        assert own.sum() == 200
        assert np.ptp(own) <= 5
    assert design(nested(3, 11, 4, pool=9, labels=2)).annotator_parts == 3  # one part a country
    twice = layout.item * layout.annotators + layout.annotator
    assert len(np.unique(twice)) == layout.labels


def test_the_released_layout_has_the_printed_counts():
    layout = released_layout()
    assert layout.labels == 622
    assert np.bincount(layout.country).tolist() == [157, 155, 155, 155]
    assert (layout.items, layout.countries, layout.questions) == (124, 4, 11)
    pools = np.bincount(layout.home)
    assert (pools.min(), pools.max()) == (6, 11)
    cells = np.bincount(layout.origin * 11 + layout.item_question, minlength=44)
    assert sorted(set(cells.tolist())) == [2, 3]


def test_more_labels_than_people_are_refused():
    with pytest.raises(ValueError, match="no more than people"):
        nested(2, 1, 2, pool=[5, 3], labels=4)
    assert place(np.array([0]), np.array([0]), np.array([[3, 0]]), [3, 1]).labels == 3
