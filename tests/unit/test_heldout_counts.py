"""Held-out counts: the facts of small vote splits, the tie policies, and a plain-loop oracle on untidy data."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from countback.models import heldout
from countback.models.agreement import table_kappa
from countback.models.heldout import POLICIES, HeldOut, Policy, held_out, reference_tables
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def one_item(votes: list[int], policy: Policy = "skip", judge: int = 0) -> HeldOut:
    """Votes for labels 0, 1, 2 ... on a single item, each by an annotator of its own."""
    label = np.repeat(np.arange(len(votes)), votes)
    n = len(label)
    return held_out(np.zeros(n, np.int64), np.arange(n), label, np.array([[judge]]), labels=len(votes), policy=policy)


@pytest.mark.parametrize(
    ("votes", "comparisons", "hits"),
    [
        ([5, 0, 0], 5, 5),
        ([4, 1, 0], 5, 4),
        ([3, 2, 0], 2, 0),
        ([3, 1, 1], 5, 3),
        ([2, 2, 1], 4, 0),
        ([4, 0, 0], 4, 4),
        ([3, 1, 0], 4, 3),
        ([2, 2, 0], 4, 0),
        ([2, 1, 1], 2, 0),
        ([1, 0, 0], 0, 0),
        ([1, 1, 0], 2, 0),
    ],
)
def test_unit_facts(votes: list[int], comparisons: int, hits: int) -> None:
    """Held out from 3-2, a 3 leaves 2-2, a tie; a 2 leaves 3-1, a miss: 2 comparisons, 0 hits. And so on."""
    result = one_item(votes)
    assert (result.comparisons, result.human.sum()) == (comparisons, hits)
    assert result.labels.sum() == sum(votes)
    assert result.labels.sum() == comparisons + result.tied.sum() + result.alone.sum()


def test_policies_side_by_side_by_hand() -> None:
    """Votes 3-2: the three 0s face 2-2, the two 1s face 3-1. A judge saying 1 hits nothing but half of each tie."""
    expected = {"skip": (2, 0, 0), "fractional": (5, 3 / 2, 3 / 2), "strictest": (5, 3, 0)}
    for policy in POLICIES:
        result = one_item([3, 2], policy, judge=1)
        n, human, judge = expected[policy]
        assert (result.comparisons, result.human.sum(), result.judges.sum()) == (n, human, judge)
        assert result.tied.sum() == 3
    # Votes 0, 1, 2 once each: each faces a tie of the other two; the first of them in label order is 1, 0, 0.
    assert one_item([1, 1, 1], "strictest", judge=0).judges.sum() == 2
    assert one_item([1, 1, 1], "fractional", judge=0).judges.sum() == 1
    assert one_item([1, 1, 1], "fractional").human.sum() == 0


def test_a_missing_judge_label_is_a_miss_and_counted() -> None:
    result = one_item([4, 1], judge=-1)
    assert (result.comparisons, result.judges.sum(), result.missing.sum()) == (5, 0, 5)


def test_no_comparison_gives_no_rate() -> None:
    result = one_item([1])
    assert np.isnan(result.human_rate)
    assert np.isnan(result.judge_rates).all()
    assert (result.comparisons, result.alone.sum()) == (0, 1)
    empty = held_out(*(np.empty(0, np.int64),) * 3, np.zeros((2, 0), np.int64), labels=3)
    assert empty.comparisons == 0


def test_no_others_are_never_a_reference() -> None:
    lone = held_out(*(np.zeros(1, np.int64),) * 3, np.array([[0]]), labels=2, policy="strictest", min_others=0)
    assert (lone.comparisons, lone.alone.sum(), lone.tied.sum()) == (0, 1, 0)


def test_two_labels_by_one_annotator_are_held_out_together() -> None:
    # Annotator 0 says 0 and 1; 1 says 0; 2 says 0. Both labels of annotator 0 face 0-0: one hit, one miss.
    # Annotator 1 faces {0, 1} and {0}: 0 wins 2-1, a hit; annotator 2 likewise.
    result = held_out(np.zeros(4, np.int64), np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]), np.array([[0]]), labels=2)
    assert (result.comparisons, result.human.sum()) == (4, 3)
    # Alone with two labels, an annotator has no reference.
    alone = held_out(np.zeros(2, np.int64), np.zeros(2, np.int64), np.array([0, 0]), np.array([[0]]), labels=2)
    assert (alone.comparisons, alone.alone.sum()) == (0, 2)


def test_selecting_items_and_pooling_by_annotator() -> None:
    item, annotator, label, judges = untidy(1)
    result = held_out(item, annotator, label, judges, labels=4)
    part = result.select(np.arange(30) < 12)
    few = item < 12
    again = held_out(item[few], annotator[few], label[few], judges[:, :12], labels=4)
    assert part.n.tolist() == again.n.tolist()
    assert part.judges.tolist() == again.judges.tolist()
    by_annotator = held_out(item, annotator, label, judges, labels=4, by="annotator")
    assert by_annotator.n.sum() == result.n.sum()
    assert by_annotator.human.sum() == result.human.sum()
    assert by_annotator.missing.sum(axis=0).tolist() == result.missing.sum(axis=0).tolist()


def untidy(seed: int) -> tuple[Codes, Codes, Codes, Codes]:
    """Synthetic rows in random order: missing labels, repeated annotators, items nobody labelled, missing judges."""
    rng = np.random.default_rng(seed)
    rows = 140
    label = rng.integers(0, 4, rows) * (rng.random(rows) < 0.7)
    label[rng.random(rows) < 0.1] = -1
    judges = rng.integers(-1, 4, (2, 30))
    return rng.integers(0, 29, rows), rng.integers(0, 6, rows), label, judges


def oracle(
    item: Codes, annotator: Codes, label: Codes, judges: Codes, policy: Policy, min_others: int
) -> dict[int, list[Fraction]]:
    """Per item: labels, alone, tied, n, human hits, then hits and missing of each judge; one row at a time."""
    rows = [r for r in zip(item.tolist(), annotator.tolist(), label.tolist(), strict=True) if r[2] >= 0]
    result: dict[int, list[Fraction]] = {}
    for i, a, y in rows:
        totals = result.setdefault(i, [Fraction(0)] * (5 + 2 * len(judges)))
        totals[0] += 1
        others = Counter(c for j, b, c in rows if j == i and b != a)
        if not others or sum(others.values()) < min_others:
            totals[1] += 1
            continue
        tied = sorted(c for c, votes in others.items() if votes == max(others.values()))
        totals[2] += len(tied) > 1
        if policy == "skip" and len(tied) > 1:
            continue
        pays = {c: Fraction(1, len(tied)) for c in tied} if policy == "fractional" else {tied[0]: Fraction(1)}
        totals[3] += 1
        totals[4] += pays.get(y, 0)
        for j, judge in enumerate(judges):
            totals[5 + 2 * j] += pays.get(int(judge[i]), 0)
            totals[6 + 2 * j] += judge[i] < 0
    return result


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("min_others", [1, 3])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_equals_the_definition_in_loops(
    policy: Policy, min_others: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heldout, "CHUNK_ROWS", 50)  # so that several chunks are put together
    data = untidy(seed)
    found = held_out(*data, labels=4, policy=policy, min_others=min_others)
    expected = oracle(*data, policy, min_others)
    for i in range(30):
        ours = [part[i] for part in (found.labels, found.alone, found.tied, found.n, found.human)]
        ours += np.stack([found.judges[i], found.missing[i]], axis=1).ravel().tolist()
        assert ours == pytest.approx([float(x) for x in expected.get(i, [Fraction(0)] * 9)])


@pytest.mark.parametrize("policy", POLICIES)
def test_reference_tables_hold_the_pairs_that_are_compared(policy: Policy) -> None:
    data = untidy(5)
    result = held_out(*data, labels=4, policy=policy)
    for number, judge in enumerate(data[3]):
        tables = reference_tables(*data[:3], judge, labels=4, policy=policy)
        diagonals = np.trace(tables, axis1=2, axis2=3)
        assert diagonals[:, 0].tolist() == pytest.approx(result.human.tolist())
        assert diagonals[:, 1].tolist() == pytest.approx(result.judges[:, number].tolist())
        sizes = tables.sum(axis=(2, 3))
        assert sizes[:, 0].tolist() == pytest.approx(result.n.tolist())
        assert sizes[:, 1].tolist() == pytest.approx((result.n - result.missing[:, number]).tolist())


def test_quadratic_kappa_of_reference_and_answer_by_hand() -> None:
    """Items 002, 022, 000 by three annotators each, skipping ties.

    002: the 0s face 0-2, a tie; the 2 faces 0-0: pair (0, 2). 022: the 0 faces 2-2: pair (2, 0). 000: (0, 0) three
    times. References 0 2 0 0 0, humans 2 0 0 0 0: squared differences 4 + 4 over 5; by chance reference 0 (4 of 5)
    with human 2 (1 of 5) and the reverse, 4 (4/25 + 4/25) = 32/25. Kappa 1 - (8/5)/(32/25) = -1/4.
    """
    item = np.repeat([0, 1, 2], 3)
    label = np.array([0, 0, 2, 0, 2, 2, 0, 0, 0])
    judge = np.array([0, 2, 0])  # equal to every reference: kappa 1
    tables = reference_tables(item, np.tile([0, 1, 2], 3), label, judge, labels=3).sum(axis=0)
    squared = np.subtract.outer(np.arange(3), np.arange(3)) ** 2.0
    assert table_kappa(tables, squared)[0].tolist() == pytest.approx([-0.25, 1.0])
