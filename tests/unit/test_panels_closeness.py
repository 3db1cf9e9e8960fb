"""Judges and ensembles against a panel, on ratings small enough to do by hand and against plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.fetch.labels import LabelTable
from countback.models.panels import MEASURES, Panel, compare, complete, ensembles, groups, panel_of

NAN = float("nan")


def small() -> Panel:
    # Two dialogues under one metric. Means of three: 3 and 4.
    human = np.array([[2.0, 3.0, 4.0], [5.0, 5.0, 2.0]])
    return Panel(human, np.array([[3.0, 2.0], [5.0, 4.0]]), ("near", "far"), np.array([0, 1]))


def test_every_comparison_by_hand() -> None:
    result = compare(small(), draws=20, rng=np.random.default_rng(1))
    hand = {
        # pairs of row 1: |2-3|, |2-4|, |3-4| = 1, 2, 1; of row 2: |5-5|, |5-2|, |5-2| = 0, 3, 3
        "human | one rater": [(2 / 3 + 1 / 3) / 2, (4 / 3 + 2) / 2, (-4 / 3 + 2) / 2],
        # row 1 against 3.5, 3, 2.5: 1.5, 0, 1.5; row 2 against 3.5, 3.5, 5: 1.5, 1.5, 3
        "human | mean of the others": [(1 / 3 + 0) / 2, (1 + 2) / 2, 0.0],
        # 3 against 3, 2 against 4
        "near | mean of all": [0.5, 1.0, -1.0],
        # 3 against 2 3 4; 2 against 5 5 2
        "near | one rater": [(1 + 1 / 3) / 2, (2 / 3 + 2) / 2, (0 - 2) / 2],
        # 3 against 3.5, 3, 2.5; 2 against 3.5, 3.5, 5
        "near | mean of the others": [(1 + 0) / 2, (1 / 3 + 2) / 2, -1.0],
        # 5 against 3, 4 against 4
        "far | mean of all": [0.5, 1.0, 1.0],
    }
    for name, expected in hand.items():
        assert [result.estimate(name, measure).value for measure in MEASURES] == pytest.approx(expected), name
    difference = result.difference("near | mean of all", "human | mean of the others", "mae")
    assert difference.value == pytest.approx(1.0 - 1.5)
    assert difference.n == 2
    assert difference.interval is not None


def test_a_distance_of_exactly_one_counts_in_thirds_too() -> None:
    # Means of three in thirds: 11/3 - 8/3 is one, whatever the last bits say; all such pairs on a 1-5 scale.
    for total in range(3, 13):
        parts = [total // 3, (total + 1) // 3, (total + 2) // 3]
        judges = np.array([[float(part)] for part in np.array(parts) + 1])
        panel = Panel(np.array([[float(part) for part in parts]]), judges, ("a", "b", "c"), np.array([0]))
        best = ensembles(panel, draws=5, rng=np.random.default_rng(1))
        assert best.ensembles.values[0].tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_all_ensembles_against_a_plain_loop() -> None:
    rng = np.random.default_rng(7)
    rows, count = 60, 11
    human = rng.integers(1, 6, (rows, 3)).astype(float)
    judges = rng.integers(1, 6, (count, rows)).astype(float)
    item = np.arange(rows) // 6
    panel = Panel(human, judges, tuple(f"judge {i}" for i in range(count)), item)
    result = ensembles(panel, draws=4000, rng=np.random.default_rng(2))
    assert len(result.members) == 165
    plain = []
    for trio in combinations(range(count), 3):
        errors = [sum(judges[j, r] for j in trio) / 3 - sum(human[r]) / 3 for r in range(rows)]
        within = sum(abs(e) < 1.0000001 for e in errors) / rows
        plain.append([within, sum(map(abs, errors)) / rows, sum(errors) / rows])
    np.testing.assert_allclose(result.ensembles.values, plain, atol=1e-12)
    singles = [np.abs(judge - human.mean(axis=1)).mean() for judge in judges]
    best = int(np.argmin(singles))
    assert result.reference == f"judge {best}"
    assert (np.diff([plain[e][1] for e in result.order]) >= -1e-12).all()
    np.testing.assert_allclose(result.lead[:, 1], np.array(plain)[:, 1] - singles[best])
    assert result.name(result.order[0]).count(" + ") == 2
    # The same resamples by copying rows: intervals of the lead agree within Monte Carlo error.
    error = np.abs(judges[list(result.members[3])].mean(axis=0) - human.mean(axis=1)) - np.abs(
        judges[best] - human.mean(axis=1)
    )
    means = error.reshape(10, 6).mean(axis=1)
    copies = means[np.random.default_rng(3).integers(0, 10, (20_000, 10))].mean(axis=1)
    low, high = np.quantile(copies, [0.025, 0.975])
    spread = copies.std()
    assert result.lead_bounds[:, 3, 1] == pytest.approx([low, high], abs=0.12 * spread)
    assert result.first.sum() == pytest.approx(1.0)


def test_the_reference_judge_may_be_named() -> None:
    panel = Panel(np.full((4, 3), 3.0), np.array([[3.0] * 4, [4.0] * 4, [5.0] * 4]), ("x", "y", "z"), np.arange(4))
    result = ensembles(panel, reference="z", draws=5, rng=np.random.default_rng(1))
    assert result.lead[0].tolist() == pytest.approx([1.0, 1.0 - 2.0, 1.0 - 2.0])
    with pytest.raises(UserError, match="No judge is called 'w'"):
        ensembles(panel, reference="w", draws=5, rng=np.random.default_rng(1))
    with pytest.raises(UserError, match="3 judges make no ensemble of 4"):
        ensembles(panel, size=4, draws=5, rng=np.random.default_rng(1))


def test_incomplete_rows_are_counted_by_reason() -> None:
    human = np.array([[2.0, NAN, 4.0], [5.0, 5.0, 2.0], [1.0, 1.0, 1.0]])
    judges = np.array([[1.0, NAN, 2.0], [1.0, 3.0, 2.0]])
    panel = Panel(human, judges, ("gaps", "full"), np.arange(3))
    assert dict(complete(panel).dropped) == {"a human rating is missing": 1, "a judge's rating is missing": 1}
    result = compare(panel.only(["full"]), draws=5, rng=np.random.default_rng(1))
    estimate = result.estimate("full | mean of all", "mae")
    assert (estimate.value, estimate.n) == (pytest.approx((1 + 1) / 2), 2)
    assert dict(estimate.dropped) == {"a human rating is missing": 1}
    with pytest.raises(UserError, match="None of 1 rows"):
        complete(panel.rows(np.array([False, True, False])))
    with pytest.raises(UserError, match="1 rater"):
        compare(Panel(human[1:, :1], judges[1:, 1:], ("full",), np.arange(2)), draws=5, rng=np.random.default_rng(1))


def test_items_are_resampled_with_all_their_metrics() -> None:
    # Two dialogues of three metrics; errors agree within a dialogue, so only three resample means are possible.
    human = np.full((6, 3), 3.0)
    panel = Panel(human, np.array([[3.0, 3, 3, 5, 5, 5]]), ("x",), np.array([0, 0, 0, 1, 1, 1]))
    result = compare(panel, draws=500, rng=np.random.default_rng(1)).result
    assert set(np.unique(result.samples[:, 2, 1])) == {0.0, 1.0, 2.0}
    # Within strata of two dialogues: errors 0 and 2 in one, 1 and 1 in the other.
    two = Panel(np.full((4, 3), 3.0), np.array([[3.0, 5, 4, 4]]), ("x",), np.arange(4), np.array([0, 0, 1, 1]))
    strata = compare(two, draws=500, rng=np.random.default_rng(1)).result
    assert set(np.unique(strata.samples[:, 2, 1])) == {0.5, 1.0, 1.5}
    # With each dialogue its own stratum nothing can vary, which is no certainty.
    fixed = compare(Panel(human, panel.judges, ("x",), panel.item, panel.item), draws=20, rng=np.random.default_rng(1))
    assert fixed.result.values[2, 1] == 1.0
    assert np.isnan(fixed.result.samples).all()


def test_groups_by_metric() -> None:
    parts = groups(small(), np.array([1, 0]), ["honesty", "help", "unused"])
    assert list(parts) == ["honesty", "help"]
    assert parts["honesty"].human.tolist() == [[5.0, 5.0, 2.0]]
    assert parts["honesty"].item.tolist() == [1]


def test_panel_of_a_label_table() -> None:
    rows = [
        ("d1", "help", "ann", "4", 0),
        ("d1", "help", "bob", "2", 0),
        ("d1", "honesty", "bob", "5", 0),
        ("d2", "help", "ann", "1", 0),
        ("d2", "help", "cid", "bad", 0),
        ("d2", "help", "cid2", "3", 0),
        ("d1", "help", "gpt", "3", 1),
        ("d2", "help", "gpt", "2", 1),
        ("d2", "help", "opus", "5", 1),
    ]
    item, question, annotator, label, kind = zip(*rows, strict=True)
    country = ["SG" if name == "d1" else "TH" for name in item]
    columns = {"item": item, "question": question, "annotator": annotator, "label": label, "country": country}
    table = LabelTable.from_arrays(**columns, kind=kind, codebook=list("12345"))  # type: ignore[arg-type]
    panel, metric = panel_of(table)
    assert panel.names == ("gpt", "opus")
    found = {
        (table.items[i], table.questions[q]): (h.tolist(), j.tolist())
        for i, q, h, j in zip(panel.item, metric, panel.human, panel.judges.T, strict=True)
    }
    assert repr(found["d1", "help"]) == repr(([4.0, 2.0], [3.0, NAN]))
    assert repr(found["d1", "honesty"]) == repr(([5.0, NAN], [NAN, NAN]))
    assert repr(found["d2", "help"]) == repr(([1.0, 3.0], [2.0, 5.0]))
    assert panel.strata is not None
    result = compare(panel.only(["gpt"]), draws=5, rng=np.random.default_rng(1))
    assert result.estimate("gpt | mean of all", "mae").value == 0.0
    assert dict(result.estimate("gpt | mean of all", "mae").dropped) == {"a human rating is missing": 1}
    doubled, _ = panel_of(table, [2.0, 4.0, 6.0, 8.0, 10.0])
    np.testing.assert_array_equal(doubled.human, 2 * panel.human)
    with pytest.raises(UserError, match="are not all numbers"):
        panel_of(LabelTable.from_arrays(item=["a"], annotator=["b"], label=["A"], codebook=["A", "B"]))
    with pytest.raises(UserError, match="hold 1 valid human and 0 valid judge ratings"):
        panel_of(LabelTable.from_arrays(item=["a"], annotator=["b"], label=["1"], codebook=["1", "2"]))
