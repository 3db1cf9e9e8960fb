"""The alternative annotator test against a plain-loop reading of its definition, and on its edges."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from countback.models.alttest import alt_test, benjamini_yekutieli
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

Codes = NDArray[np.int64]


def made_up(seed: int, items: int = 120, humans: int = 5, labels: int = 4) -> tuple[Codes, Codes, Codes, Codes]:
    """Synthetic labels, four in five of them present, with a judge that misses some items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, items)
    table = np.where(rng.random((items, humans)) < 0.6, truth[:, None], rng.integers(0, labels, (items, humans)))
    table[rng.random((items, humans)) < 0.2] = -1
    judge = np.where(rng.random(items) < 0.7, truth, rng.integers(0, labels, items))
    judge[rng.random(items) < 0.05] = -1
    item, annotator = np.divmod(np.arange(items * humans), humans)
    return item, annotator, table.ravel(), judge


def by_loops(
    item: Codes, annotator: Codes, label: Codes, judge: Codes, epsilon: float, values: list[float] | None
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Per human the list of d and of "the judge scores at least as well", one item at a time."""
    on_item: dict[int, dict[int, int]] = defaultdict(dict)
    for i, a, y in zip(item.tolist(), annotator.tolist(), label.tolist(), strict=True):
        if y >= 0:
            on_item[i][a] = y

    def score(answer: int, others: list[int]) -> float:
        if values is None:
            return sum(answer == other for other in others) / len(others)
        return -math.sqrt(sum((values[answer] - values[other]) ** 2 for other in others) / len(others))

    d, good = defaultdict(list), defaultdict(list)
    for i, labels in on_item.items():
        if len(labels) < 2 or judge[i] < 0:
            continue
        for a, y in labels.items():
            others = [other for b, other in labels.items() if b != a]
            human, machine = score(y, others), score(int(judge[i]), others)
            d[a].append(int(human >= machine) - int(machine >= human))
            good[a].append(int(machine >= human))
    return d, good


@pytest.mark.parametrize("values", [None, [1.0, 2.0, 4.0, 8.0]])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_equals_the_definition_in_loops(seed: int, values: list[float] | None) -> None:
    data = made_up(seed)
    d, good = by_loops(*data, 0.15, values)
    result = alt_test(*data, epsilon=0.15, values=None if values is None else np.array(values))
    assert result.humans.tolist() == sorted(d)
    assert result.n.tolist() == [len(d[a]) for a in sorted(d)]
    assert result.as_good.tolist() == [sum(good[a]) for a in sorted(d)]
    assert result.difference.tolist() == pytest.approx([np.mean(d[a]) for a in sorted(d)])
    p = [ttest_1samp(d[a], 0.15, alternative="less").pvalue for a in sorted(d)]
    assert result.p.tolist() == pytest.approx(p, rel=1e-9)
    assert result.advantage_probability == pytest.approx(np.mean([np.mean(good[a]) for a in sorted(d)]))


def test_clusters_of_one_item_give_the_plain_test() -> None:
    data = made_up(4)
    plain = alt_test(*data, epsilon=0.1)
    single = alt_test(*data, epsilon=0.1, cluster=np.arange(120))
    assert single.p.tolist() == pytest.approx(plain.p.tolist(), rel=1e-12)


def test_repeated_items_in_a_cluster_count_once() -> None:
    """Every item three times over, clustered: t by clusters is that of the single items, since sums are 3 d."""
    item, annotator, label, judge = made_up(5, items=40)
    single = alt_test(item, annotator, label, judge, epsilon=0.1, min_items=5)
    tripled = alt_test(
        np.concatenate([item, item + 40, item + 80]),
        np.tile(annotator, 3),
        np.tile(label, 3),
        np.tile(judge, 3),
        epsilon=0.1,
        min_items=5,
        cluster=np.tile(np.arange(40), 3),
    )
    assert tripled.n.tolist() == (3 * single.n).tolist()
    assert tripled.p.tolist() == pytest.approx(single.p.tolist(), rel=1e-9)


def test_benjamini_yekutieli_by_hand() -> None:
    # m = 4, c = 1 + 1/2 + 1/3 + 1/4 = 25/12: thresholds at q = 0.05 are k * 0.006.
    assert benjamini_yekutieli(np.array([0.5, 0.0175, 0.0061, 0.0119]), 0.05).tolist() == [False, True, True, True]
    assert benjamini_yekutieli(np.array([0.5, 0.0181, 0.0061, 0.0121]), 0.05).tolist() == [False] * 4
    assert benjamini_yekutieli(np.array([0.006, 0.9, 0.9, 0.9]), 0.05).tolist() == [True, False, False, False]
    assert benjamini_yekutieli(np.array([]), 0.05).tolist() == []


def test_no_variation_decides_by_the_sign_alone() -> None:
    # A judge that repeats human 0 on items where all agree: d is 0 throughout, below any positive epsilon.
    item, annotator = np.divmod(np.arange(60), 2)
    result = alt_test(item, annotator, np.zeros(60, np.int64), np.zeros(30, np.int64), epsilon=0.1)
    assert result.p.tolist() == [0, 0]
    assert (result.winning_rate, result.advantage_probability, result.passes) == (1, 1, True)
    # With epsilon 0, E d >= 0 holds and is not rejected.
    assert alt_test(item, annotator, np.zeros(60, np.int64), np.zeros(30, np.int64), epsilon=0.0).winning_rate == 0


def test_too_few_items_skip_a_human_and_leave_nobody() -> None:
    item, annotator, label, judge = made_up(6, items=60)
    keep = (annotator != 2) | (item < 20)
    result = alt_test(item[keep], annotator[keep], label[keep], judge, epsilon=0.1)
    assert 2 in result.skipped
    assert 2 not in result.humans
    nobody = alt_test(item, annotator, label, judge, epsilon=0.1, min_items=1000)
    assert np.isnan([nobody.winning_rate, nobody.advantage_probability]).all()
    assert nobody.note == "no human labelled 1000 items that count, so there is nobody to test against"
    assert not nobody.passes


def test_items_without_a_judge_or_a_second_human_are_dropped_and_counted() -> None:
    item = np.array([0, 0, 1, 2, 2, 3])
    annotator = np.array([0, 1, 0, 0, 1, 0])
    label = np.array([1, 1, 1, 0, 1, -1])
    judge = np.array([1, 1, -1, 0])
    result = alt_test(item, annotator, label, judge, epsilon=0.1, min_items=1)
    assert result.items_dropped == 2  # item 1 has one human, item 2 no judge; item 3 has no label at all
    assert result.n.tolist() == [1, 1]


def test_two_labels_by_one_annotator_are_refused() -> None:
    with pytest.raises(ValueError, match="more than once"):
        alt_test(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), np.array([0]), epsilon=0.1)


def test_numbers_of_labels_that_nobody_used_change_nothing() -> None:
    item, annotator, label, judge = made_up(7)
    few = alt_test(item, annotator, label, judge, epsilon=0.1, values=np.array([1.0, 2.0, 3.0, 4.0]))
    more = alt_test(item, annotator, label, judge, epsilon=0.1, values=np.array([1.0, 2.0, 3.0, 4.0, 9.0]))
    assert few.p.tolist() == more.p.tolist()
