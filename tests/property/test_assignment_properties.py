"""Who labels what: even, complete, connected, and the same again, for designs of any shape."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.assignment import Assignment, assign
from countback.models.identifiability import diagnose
from countback.models.planning import Design
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csgraph

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def designs(draw: st.DrawFn) -> Design:
    labels = draw(st.integers(1, 5))
    pools = tuple(draw(st.lists(st.integers(labels, labels + 9), min_size=1, max_size=4)))
    own, shared = draw(st.integers(0, 5)), draw(st.integers(0, 7))
    assume(own + shared)
    return Design(draw(st.integers(1, 4)), own, shared, pools, labels)


def counts(found: Assignment, design: Design, rows: np.ndarray) -> list[np.ndarray]:
    """Labels of each annotator among some rows, country by country."""
    ends = np.cumsum((0, *design.pools))
    load = np.bincount(found.annotator[rows], minlength=ends[-1])
    return [load[ends[c] : ends[c + 1]] for c in range(design.countries)]


@settings(max_examples=150, deadline=None)
@given(designs(), SEEDS)
def test_even_complete_and_nobody_twice(design: Design, seed: int) -> None:
    found = assign(design, np.random.default_rng(seed))
    assert len(found.item) == design.total
    home = np.repeat(np.arange(design.countries), design.pools)
    assert (home[found.annotator] == found.country).all()
    assert len(np.unique(found.annotator * (design.made + 1) + found.item)) == design.total  # nobody twice on an item
    everything = np.ones(design.total, bool)
    assert all(np.ptp(load) <= 1 for load in counts(found, design, everything))
    assert all(np.ptp(load) <= 1 for load in counts(found, design, found.shared))
    assert all(np.ptp(load) <= 2 for load in counts(found, design, ~found.shared))


@settings(max_examples=100, deadline=None)
@given(designs(), SEEDS)
def test_each_item_gets_its_labels_where_it_should(design: Design, seed: int) -> None:
    found = assign(design, np.random.default_rng(seed))
    table = np.zeros((design.made, design.countries), int)
    np.add.at(table, (found.item, found.country), 1)
    assert (table[: design.shared] == design.labels).all()  # shared items in every country
    own = table[design.shared :]
    assert ((own > 0).sum(axis=1) == 1).all()  # own items in one
    assert set(own.ravel()) <= {0, design.labels}
    question = np.zeros(design.made, int)
    question[found.item] = found.question
    for country in range(design.countries):
        mine = np.flatnonzero(own[:, country]) + design.shared
        assert (np.bincount(question[mine], minlength=design.questions) == design.own).all()
    spread = np.bincount(question[: design.shared], minlength=design.questions)
    assert np.ptp(spread) <= 1  # shared items over the questions
    names = set(zip(found.shared, found.question, np.where(found.shared, 0, found.country), found.number, strict=True))
    assert len(names) == design.made  # block, question, country and number name an item
    assert found.number.min() == 1


@settings(max_examples=100, deadline=None)
@given(designs(), SEEDS)
def test_each_annotator_has_an_order(design: Design, seed: int) -> None:
    found = assign(design, np.random.default_rng(seed))
    for person in np.unique(found.annotator):
        assert sorted(found.order[found.annotator == person]) == list(range(1, (found.annotator == person).sum() + 1))


@settings(max_examples=100, deadline=None)
@given(designs(), SEEDS)
def test_the_same_seed_is_the_same_list(design: Design, seed: int) -> None:
    one, two = (assign(design, np.random.default_rng(seed)) for _ in range(2))
    for name in Assignment.__dataclass_fields__:
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def groups(item: np.ndarray, annotator: np.ndarray) -> int:
    """Connected parts of the graph of those annotators and items, by scipy."""
    i, a = np.unique(item, return_inverse=True)[1], np.unique(annotator, return_inverse=True)[1]
    size = i.max() + a.max() + 2
    graph = coo_array((np.ones(len(i)), (i, a + i.max() + 1)), shape=(size, size))
    return int(csgraph.connected_components(graph, directed=False)[0])


@settings(max_examples=200, deadline=None)
@given(designs(), SEEDS)
def test_annotators_are_linked_as_soon_as_they_can_be(design: Design, seed: int) -> None:
    """Items of k labels link at most k - 1 more people each; where that is enough all are linked."""
    found = assign(design, np.random.default_rng(seed))
    for country, pool in enumerate(design.pools):
        rows = found.country == country
        # an annotator without items is in nobody's graph
        busy = len(np.unique(found.annotator[rows]))
        same = groups(found.item[rows], found.annotator[rows])
        if design.labels > 1:
            assert found.parts[country] == same
            if design.items * (design.labels - 1) >= pool - 1 and busy == pool:
                assert same == 1
        else:
            assert found.parts[country] == busy


@settings(max_examples=100, deadline=None)
@given(designs(), SEEDS)
def test_shared_items_make_countries_separable_and_nothing_else_does(design: Design, seed: int) -> None:
    found = assign(design, np.random.default_rng(seed))
    told = diagnose(found.item, found.country, found.annotator, question=found.question)
    if design.countries == 1:
        assert told.kind == "one country"
        return
    assert told.kind == design.kind
    if design.shared == 0:
        assert not told.separable
    else:
        assert told.rank_gain == told.rank_needed
        if design.own == 0:
            assert told.separable


def test_another_seed_is_another_list() -> None:
    design = Design(2, 3, 4, (5, 6), 3)
    one, two = (assign(design, np.random.default_rng(seed)) for seed in (1, 2))
    assert not np.array_equal(one.order, two.order) or not np.array_equal(one.item, two.item)


def test_pairs_of_annotators_meet_evenly() -> None:
    """Six people, two on each of 15 items: every pair once would be the most even; chance alone repeats many."""
    found = assign(Design(1, 15, 0, (6,), 2), np.random.default_rng(0))
    met = np.zeros((6, 6), int)
    for item in range(15):
        one, two = found.annotator[found.item == item]
        met[one, two] += 1
        met[two, one] += 1
    assert met[~np.eye(6, dtype=bool)].max() <= 2
    assert (met[~np.eye(6, dtype=bool)] > 0).mean() >= 0.8


@pytest.mark.parametrize(
    ("design", "said"),
    [(Design(1, 10**6, 0, (8,), 5), "at most 300,000"), (Design(1, 1, 0, (5000,), 5), "at most 2,000")],
)
def test_lists_that_are_too_long(design: Design, said: str) -> None:
    with pytest.raises(UserError, match=said):
        assign(design, np.random.default_rng(0))
