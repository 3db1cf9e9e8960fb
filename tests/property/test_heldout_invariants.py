"""What must hold of held-out counts, the annotator test and equivalence whatever the labels are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from countback.models.agreement import label_counts
from countback.models.alttest import alt_test
from countback.models.equivalence import equivalent_raters, power_curve
from countback.models.heldout import POLICIES, Policy, held_out, reference_tables
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

LABELS = 4


class Rows(NamedTuple):
    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]


@st.composite
def tables(draw: st.DrawFn, missing: int = -1) -> tuple[Rows, NDArray[np.int64]]:
    """Rows of an items x annotators table of labels (`missing` to 3), and two judges' labels per item (-1 to 3)."""
    items, annotators = draw(st.integers(1, 12)), draw(st.integers(2, 6))
    table = draw(arrays(np.int64, (items, annotators), elements=st.integers(missing, LABELS - 1)))
    judges = draw(arrays(np.int64, (2, items), elements=st.integers(-1, LABELS - 1)))
    item, annotator = np.divmod(np.arange(items * annotators), annotators)
    return Rows(item, annotator, table.ravel()), judges


policies = st.sampled_from(POLICIES)


@given(tables(), policies, st.integers(0, 2**32 - 1))
def test_names_of_annotators_and_order_of_rows_do_not_matter(
    data: tuple[Rows, NDArray[np.int64]], policy: Policy, seed: int
) -> None:
    rows, judges = data
    rng = np.random.default_rng(seed)
    names = rng.permutation(6)
    order = rng.permutation(len(rows.item))
    one = held_out(*rows, judges, labels=LABELS, policy=policy)
    other = held_out(
        rows.item[order], names[rows.annotator[order]], rows.label[order], judges, labels=LABELS, policy=policy
    )
    for a, b in ((one.n, other.n), (one.human, other.human), (one.judges, other.judges), (one.tied, other.tied)):
        assert np.allclose(a, b)


@given(tables(), policies, st.integers(0, 2**32 - 1))
def test_names_of_items_do_not_matter(data: tuple[Rows, NDArray[np.int64]], policy: Policy, seed: int) -> None:
    rows, judges = data
    place = np.random.default_rng(seed).permutation(judges.shape[1])
    one = held_out(*rows, judges, labels=LABELS, policy=policy)
    other = held_out(
        place[rows.item], rows.annotator, rows.label, judges[:, np.argsort(place)], labels=LABELS, policy=policy
    )
    assert np.allclose(one.n, other.n[place])
    assert np.allclose(one.judges, other.judges[place])


@given(tables(), st.sampled_from(["skip", "fractional"]), st.permutations(range(LABELS)))
def test_names_of_labels_do_not_matter_unless_ties_go_by_their_order(
    data: tuple[Rows, NDArray[np.int64]], policy: Policy, order: list[int]
) -> None:
    rows, judges = data
    new = np.array([*order, -1])
    one = held_out(*rows, judges, labels=LABELS, policy=policy)
    other = held_out(rows.item, rows.annotator, new[rows.label], new[judges], labels=LABELS, policy=policy)
    assert np.allclose(one.human, other.human)
    assert np.allclose(one.judges, other.judges)


@given(tables(), policies)
def test_every_label_is_accounted_for(data: tuple[Rows, NDArray[np.int64]], policy: Policy) -> None:
    rows, judges = data
    result = held_out(*rows, judges, labels=LABELS, policy=policy)
    dropped = result.alone + (result.tied if policy == "skip" else 0)
    assert (result.labels == result.n + dropped).all()
    assert result.labels.sum() == (rows.label >= 0).sum()
    assert (result.human <= result.n + 1e-9).all()
    assert (result.judges + result.missing <= result.n[:, None] + 1e-9).all()


@given(tables())
def test_skipping_hits_no_more_than_the_other_policies(data: tuple[Rows, NDArray[np.int64]]) -> None:
    rows, judges = data
    skip, fractional, strictest = (held_out(*rows, judges, labels=LABELS, policy=policy) for policy in POLICIES)
    for kept in (fractional, strictest):
        assert (kept.human >= skip.human - 1e-9).all()
        assert (kept.judges >= skip.judges - 1e-9).all()
        assert (kept.n == skip.n + skip.tied).all()


@given(tables())
def test_a_judge_equal_to_the_majority_scores_1(data: tuple[Rows, NDArray[np.int64]]) -> None:
    """On items where the majority leads by two votes every leave-one-out reference is the majority."""
    rows, judges = data
    counts = label_counts(rows.item, rows.label, judges.shape[1], LABELS)
    ordered = np.sort(counts, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] >= 2
    result = held_out(*rows, counts.argmax(axis=1)[None, :], labels=LABELS).select(clear)
    assert result.comparisons == counts[clear].sum()
    assert result.judges.sum() == result.comparisons
    assert result.tied.sum() == 0


@given(tables(missing=0), policies)
def test_unanimous_humans_hit_always(data: tuple[Rows, NDArray[np.int64]], policy: Policy) -> None:
    rows, judges = data
    first = rows.label[np.searchsorted(rows.item, rows.item)]
    result = held_out(rows.item, rows.annotator, first, judges, labels=LABELS, policy=policy)
    assert result.human_rate == 1
    assert result.comparisons == len(first)
    tables = reference_tables(rows.item, rows.annotator, first, judges[0], labels=LABELS, policy=policy)
    assert np.trace(tables[:, 0].sum(axis=0)) == len(first)


@given(tables(missing=0), st.integers(0, 5))
def test_a_judge_that_copies_a_human_ties_with_him_in_the_annotator_test(
    data: tuple[Rows, NDArray[np.int64]], which: int
) -> None:
    rows, _ = data
    annotators = int(rows.annotator.max()) + 1
    human = which % annotators
    copy = rows.label[rows.annotator == human]
    result = alt_test(*rows, copy, epsilon=0.1, min_items=1)
    assert result.difference[human] == 0
    assert result.as_good[human] == result.n[human]
    assert result.p[human] == 0
    numbers = np.array([1.0, 2.0, 4.0, 8.0])
    assert alt_test(*rows, copy, epsilon=0.1, min_items=1, values=numbers).difference[human] == 0


@given(tables(missing=0), st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_larger_epsilon_never_lowers_the_winning_rate(
    data: tuple[Rows, NDArray[np.int64]], one: float, other: float
) -> None:
    rows, judges = data
    low, high = (alt_test(*rows, judges[0], epsilon=x, min_items=2) for x in sorted((one, other)))
    assert (high.p <= low.p).all()
    if len(low.humans):
        assert high.winning_rate >= low.winning_rate
        assert high.advantage_probability == low.advantage_probability


@given(arrays(np.int64, st.tuples(st.integers(1, 8), st.just(3)), elements=st.integers(0, 3)))
def test_power_curves_lie_between_0_and_1_and_two_raters_are_worth_one(counts: NDArray[np.int64]) -> None:
    """Of two raters who disagree one is picked evenly, so a pair predicts a third as well as one of them does."""
    counts = counts + np.array([1, 1, 1])
    curve = power_curve(counts, 3)
    assert ((curve >= 0) & (curve <= 1 + 1e-12)).all()
    assert np.isclose(curve[1], curve[2])
    found = equivalent_raters(counts, counts.argmax(axis=1), raters=3)
    assert 0 <= found.value <= 2
    # No judge without knowledge of who is held out beats the majority.
    assert found.score >= equivalent_raters(counts, counts.argmin(axis=1), raters=3).score
