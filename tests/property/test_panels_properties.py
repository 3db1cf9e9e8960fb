"""Invariants of rating panels and episode scores."""

from __future__ import annotations

import numpy as np
import pytest
from countback.models.episodes import episode_means, paired_difference, slice_means
from countback.models.panels import Panel, compare, ensembles
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

ratings = st.integers(2, 12).flatmap(
    lambda rows: st.tuples(
        arrays(np.float64, (rows, 3), elements=st.integers(1, 5).map(float)),
        arrays(np.float64, (4, rows), elements=st.integers(1, 5).map(float)),
        st.permutations(range(rows)),
    )
)
NAMES = ("w", "x", "y", "z")


def panel(human: np.ndarray, judges: np.ndarray, item: np.ndarray | None = None) -> Panel:
    return Panel(human, judges, NAMES, np.arange(len(human)) if item is None else item)


@given(ratings, st.permutations(range(3)))
@settings(max_examples=60, deadline=None)
def test_order_of_rows_and_raters_changes_nothing(data: tuple, raters: list[int]) -> None:  # type: ignore[type-arg]
    human, judges, order = data
    rng = np.random.default_rng(1)
    before = compare(panel(human, judges), draws=3, rng=rng)
    after = compare(panel(human[order][:, raters], judges[:, order], np.argsort(order)), draws=3, rng=rng)
    # The sign of humans against one another follows the order of the passes; nothing else does.
    np.testing.assert_allclose(after.result.values[1:], before.result.values[1:], atol=1e-9)
    np.testing.assert_allclose(after.result.values[0, :2], before.result.values[0, :2], atol=1e-9)


@given(ratings)
@settings(max_examples=60, deadline=None)
def test_means_are_steadier_than_ratings_and_biases_cancel(data: tuple) -> None:  # type: ignore[type-arg]
    human, judges, _ = data
    result = compare(panel(human, judges), draws=3, rng=np.random.default_rng(1))

    def value(name: str, measure: str) -> float:
        return result.estimate(name, measure).value

    # |judge - mean| <= mean |judge - rater|, hence the need for like for like.
    assert value("w | mean of all", "mae") <= value("w | mean of the others", "mae") + 1e-9
    assert value("w | mean of the others", "mae") <= value("w | one rater", "mae") + 1e-9
    assert value("human | mean of the others", "mae") <= value("human | one rater", "mae") + 1e-9
    assert value("human | mean of the others", "bias") == pytest.approx(0.0, abs=1e-9)
    assert value("w | one rater", "bias") == pytest.approx(value("w | mean of all", "bias"), abs=1e-9)


@given(ratings)
@settings(max_examples=60, deadline=None)
def test_ensembles_of_one_are_the_judges_and_larger_ones_no_worse_than_their_members(data: tuple) -> None:  # type: ignore[type-arg]
    human, judges, _ = data
    one = ensembles(panel(human, judges), size=1, draws=3, rng=np.random.default_rng(1))
    np.testing.assert_allclose(one.ensembles.values, one.singles.values)
    three = ensembles(panel(human, judges), size=3, draws=3, rng=np.random.default_rng(1))
    for members, values in zip(three.members, three.ensembles.values, strict=True):
        assert values[1] <= one.singles.values[members, 1].mean() + 1e-9
        assert values[2] == pytest.approx(one.singles.values[members, 2].mean(), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20))
@settings(deadline=None)
def test_equal_pairs_differ_by_nothing_and_swapping_changes_the_sign(rows: list[tuple[int, int, int]]) -> None:
    seed, a, b = (np.array(column) for column in zip(*rows, strict=True))
    a, b = a.astype(float), b.astype(float)
    assert paired_difference(a, seed, a, seed, draws=3, rng=np.random.default_rng(1)).value == 0.0
    there = paired_difference(a, seed, b, seed, draws=3, rng=np.random.default_rng(1))
    back = paired_difference(b, seed, a, seed, draws=3, rng=np.random.default_rng(1))
    assert there.value == pytest.approx(-back.value)
    assert there.n == len(np.unique(seed))


@given(st.integers(2, 30), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_slices_add_up_to_the_whole(episodes: int, count: int) -> None:
    rng = np.random.default_rng(episodes)
    values, group = rng.normal(size=episodes), rng.integers(0, count, episodes)
    parts = slice_means(values, group, count, draws=3, rng=rng).means
    whole = episode_means(values, draws=3, rng=rng)
    known = parts.n > 0
    assert float((parts.values[known] * parts.n[known]).sum() / parts.n.sum()) == pytest.approx(float(whole.values))
    assert int(whole.n) == parts.n.sum() == episodes
