"""Cells and judges in planning against brute force: every sequence of labels, every resample, one after the other."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb

import numpy as np
import pytest
from countback.models import planning_cells as pc
from countback.models.grid import stability, tie_report
from countback.models.heldout import held_out, judge_differences
from countback.models.planning_cells import Labelling, Lead
from countback.models.votes import tally


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def urn(sequence: tuple[int, ...], shares: tuple[float, ...], within: float) -> float:
    """The chance of labels in this order: each is drawn from an urn that remembers those before (Polya)."""
    if within == 0:
        return float(np.prod([shares[label] for label in sequence]))
    total = (1 - within) / within
    chance = 1.0
    for place, label in enumerate(sequence):
        chance *= (shares[label] * total + sequence[:place].count(label)) / (total + place)
    return chance


def letter(labels: tuple[int, ...]) -> int:
    """The most common, the first of those that tie."""
    return min(set(labels), key=lambda label: (-labels.count(label), label))


def test_compositions_are_all_there() -> None:
    found = pc.compositions(5, 3)
    assert len(found) == comb(7, 2) == len({tuple(row) for row in found})
    assert (found.sum(axis=1) == 5).all()
    assert pc.compositions(0, 2).tolist() == [[0, 0]]
    assert pc.compositions(4, 1).tolist() == [[4]]


@pytest.mark.parametrize("within", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("labels", [1, 2, 5])
def test_an_items_letter_by_all_sequences(within: float, labels: int) -> None:
    shares = (0.5, 0.3, 0.2)
    expected = [0.0] * 3
    for sequence in product(range(3), repeat=labels):
        expected[letter(sequence)] += urn(sequence, shares, within)
    assert pc.item_letters(np.array([shares]), within, labels, rng())[0] == pytest.approx(expected, abs=1e-12)


def test_an_item_whose_annotators_always_agree() -> None:
    assert pc.item_letters(np.array([[0.5, 0.3, 0.2]]), 1.0, 4, rng())[0] == pytest.approx([0.5, 0.3, 0.2])


def test_a_label_that_never_occurs() -> None:
    found = pc.item_letters(np.array([[0.75, 0.0, 0.25]]), 0.2, 3, rng())[0]
    assert found[1] == pytest.approx(0, abs=1e-200)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("items", [1, 2, 3, 4])
def test_stability_by_all_letters_and_all_resamples(items: int) -> None:
    chances = (0.45, 0.35, 0.2)
    right = kept = unstable = tied = 0.0
    for found in product(range(3), repeat=items):
        weight = float(np.prod([chances[x] for x in found]))
        own = letter(found)
        again = [letter(tuple(found[i] for i in picked)) == own for picked in product(range(items), repeat=items)]
        share = sum(again) / len(again)
        most = Counter(found).most_common()
        right += weight * (own == 0)
        kept += weight * share
        unstable += weight * (share < 0.8)
        tied += weight * (len(most) > 1 and most[0][1] == most[1][1])
    got = pc.stability_of(np.array([chances]), items, rng())
    assert (got.right, got.kept, got.unstable, got.tied) == pytest.approx((right, kept, unstable, tied), abs=1e-12)
    assert got.enumerated
    assert got.mc_error == 0


def test_three_items_by_hand() -> None:
    """Of two items A and one B, resampled, A stays in front with two or three of three: 20 in 27."""
    values = pc.compositions(3, 3)
    kept = dict(zip(map(tuple, values.tolist()), pc._kept_by(values), strict=True))
    assert kept[2, 1, 0] == pytest.approx(20 / 27)
    assert kept[0, 0, 3] == 1
    assert kept[1, 1, 1] == pytest.approx(13 / 27)  # A in front or level with all: 1 + 3 x 2 + 6 of 27


def test_a_tie_of_chances_is_the_stricter_letter() -> None:
    """Two letters equally likely: with one item the first, which unlimited items would give, comes half of the time."""
    assert pc.stability_of(np.array([[0.5, 0.5]]), 1, rng()).right == pytest.approx(0.5)
    # and with two items a tie goes to it as well: 3/4
    assert pc.stability_of(np.array([[0.5, 0.5]]), 2, rng()).right == pytest.approx(0.75)


def test_drawing_agrees_with_adding_up(monkeypatch: pytest.MonkeyPatch) -> None:
    chances = rng().dirichlet((1, 1, 1), 200)
    exact = pc.stability_of(chances, 7, rng())
    monkeypatch.setattr(pc, "MOST_VALUES", 2)
    drawn = pc.stability_of(chances, 7, rng())
    assert exact.enumerated
    assert not drawn.enumerated
    assert drawn.right == pytest.approx(exact.right, abs=0.02)
    assert drawn.kept == pytest.approx(exact.kept, abs=0.02)
    assert drawn.unstable == pytest.approx(exact.unstable, abs=0.05)  # 100 resamples near the limit of 80%
    assert drawn.tied == pytest.approx(exact.tied, abs=0.02)


def test_drawn_label_counts_agree_with_adding_up(monkeypatch: pytest.MonkeyPatch) -> None:
    shares, model = np.array([[0.5, 0.3, 0.2]]), Labelling((0.5, 0.3, 0.2), 0.2, 0.1)
    exact, judged = pc.item_letters(shares, 0.3, 5, rng()), pc.lead(model, 5, 0.8, rng())
    monkeypatch.setattr(pc, "MOST_VALUES", 2)
    assert pc.item_letters(shares, 0.3, 5, rng()) == pytest.approx(exact, abs=0.1)  # 400 draws
    drawn = pc.lead(model, 5, 0.8, rng())  # 10,000
    assert (drawn.human, drawn.judge) == pytest.approx((judged.human, judged.judge), abs=0.02)
    assert (drawn.comparisons, drawn.sd) == pytest.approx((judged.comparisons, judged.sd), rel=0.03)


def test_more_items_are_more_often_right() -> None:
    model = Labelling((1 / 3,) * 3, 0.3, 0.1)
    chances = pc.letter_chances(model, 5, rng())
    right = [pc.stability_of(chances, items, rng()).right for items in (3, 5, 9, 15, 31)]
    assert right == sorted(right)


def test_cells_have_the_correlation_asked_for() -> None:
    base = np.array([0.5, 0.3, 0.2])
    shares = pc.cell_shares(Labelling(tuple(base), 0.3, 0.0), 40_000, rng())
    assert shares.mean(axis=0) == pytest.approx(base, abs=0.01)
    assert shares.var(axis=0) == pytest.approx(0.3 * base * (1 - base), rel=0.04)
    assert (pc.cell_shares(Labelling(tuple(base), 0.0, 0.0), 3, rng()) == base).all()
    assert set(pc.cell_shares(Labelling(tuple(base), 1.0, 0.0), 50, rng()).ravel()) == {0.0, 1.0}
    clear = pc.cell_shares(Labelling(tuple(base), 0.9999, 0.0), 500, rng())  # gamma draws of shape 1e-5 are all 0
    assert clear.sum(axis=1) == pytest.approx(np.ones(500))
    assert clear.mean(axis=0) == pytest.approx(base, abs=0.07)


def test_stability_against_the_estimator_of_real_labels() -> None:
    """1,200 cells of five items with five labels drawn one by one, and `grid.stability` of them."""
    model, draw, cells, items = Labelling((0.5, 0.3, 0.2), 0.3, 0.15), rng(), 1200, 5
    total = (1 - model.within) / model.within
    own = np.maximum(np.repeat(pc.cell_shares(model, cells, draw), items, axis=0) * total, 1e-9)
    gamma = draw.standard_gamma(own) + 1e-12
    counts = draw.multinomial(5, gamma / gamma.sum(axis=1, keepdims=True))
    item = np.arange(cells * items)
    label = np.repeat(np.tile(np.arange(3), len(item)), counts.ravel())
    rows = np.repeat(item, 5)
    votes = tally(rows, rows * 0, label, 3, question=rows // items)
    found = stability(votes, draws=400, rng=draw)
    planned = pc.stability_of(pc.letter_chances(model, 5, rng()), items, rng())
    assert found.kept.mean() == pytest.approx(planned.kept, abs=0.02)
    assert found.below(pc.KEPT) / cells == pytest.approx(planned.unstable, abs=0.05)
    report = tie_report(votes)
    assert report.tied_cell.mean() == pytest.approx(planned.tied, abs=0.03)


# --- a judge beside a human ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("labels", "within", "match"), [(2, 0.3, 0.8), (4, 0.3, 0.83), (3, 0.0, 0.6), (5, 0.45, 1.0)])
def test_a_lead_by_all_sequences_and_the_estimator_of_real_labels(labels: int, within: float, match: float) -> None:
    base = (0.5, 0.3, 0.2)
    rows = []
    for sequence in product(range(3), repeat=labels):
        most = [x for x in range(3) if sequence.count(x) == max(map(sequence.count, range(3)))]
        for answer in range(3):
            others = (1 - match) / max(3 - len(most), 1)
            given = 1 / 3 if len(most) == 3 else match / len(most) if answer in most else others
            codes = np.array(sequence)
            one = held_out(codes * 0, np.arange(labels), codes, np.array([[answer]]), labels=3)
            weight = urn(sequence, base, within) * given
            rows.append((weight, one.n.sum(), one.human.sum(), one.judges.sum()))
    w, n, h, j = np.array(rows).T
    assert w.sum() == pytest.approx(1)
    human, judge = w @ h / (w @ n), w @ j / (w @ n)
    variance = w @ (j - h - (judge - human) * n) ** 2 / (w @ n) ** 2
    got = pc.lead(Labelling(base, within, 0.0), labels, match, rng())
    assert (got.comparisons, got.human, got.judge) == pytest.approx((w @ n, human, judge), abs=1e-12)
    assert got.sd == pytest.approx(variance**0.5, abs=1e-12)
    single = human * (1 - human) + judge * (1 - judge)
    assert got.design_effect == pytest.approx(variance * (w @ n) / single)


def simulated(model: Labelling, items: int, labels: int, match: float, draw: np.random.Generator) -> tuple:
    """Codes of items, annotators, labels and a judge's answers, by drawing shares and labels; no enumeration."""
    total = (1 - model.agreement) / model.agreement
    given = np.array(
        [draw.choice(len(model.base), labels, p=draw.dirichlet(np.array(model.base) * total)) for _ in range(items)]
    )
    judge = []
    for row in given:
        count = np.bincount(row, minlength=len(model.base))
        top = np.flatnonzero(count == count.max())
        others = np.flatnonzero(count < count.max())
        judge.append(draw.choice(top if draw.random() < match or not len(others) else others))
    item = np.repeat(np.arange(items), labels)
    return item, np.tile(np.arange(labels), items), given.ravel(), np.array([judge])


def test_the_width_against_the_bootstrap_of_simulated_labels() -> None:
    """What is planned for 60 items is what the audit's own intervals then have, and how far the difference strays."""
    model, draw = Labelling((0.4, 0.25, 0.35), 0.3, 0.1), rng()
    planned = pc.lead(model, 5, 0.8, draw)
    found, halves, robust = [], [], []
    for _ in range(150):
        counts = held_out(*simulated(model, 60, 5, 0.8, draw), labels=3)
        one = judge_differences(counts, 1000, draw)[0]
        found.append(one.value)
        halves.append((one.percentile.high - one.percentile.low) / 2)
        assert one.robust is not None
        robust.append((one.robust.high - one.robust.low) / 2)
    assert np.mean(found) == pytest.approx(planned.judge - planned.human, abs=4 * np.std(found) / 150**0.5)
    assert np.std(found) == pytest.approx(planned.sd / 60**0.5, rel=4 / (2 * 150) ** 0.5)
    assert np.mean(robust) == pytest.approx(planned.half_width(60), rel=0.03)
    # Percentiles know no t and divide by 60, not 59: 1.960 / 2.001 and sqrt(59 / 60), together 3% narrower.
    assert np.mean(halves) == pytest.approx(planned.half_width(60) * 0.9713, rel=0.03)


def test_a_lead_from_a_pilots_counts() -> None:
    model, draw = Labelling((0.4, 0.25, 0.35), 0.3, 0.1), rng()
    counts = held_out(*simulated(model, 4000, 5, 0.8, draw), labels=3)
    planned, got = pc.lead(model, 5, 0.8, draw), pc.lead_of(counts.n, counts.human, counts.judges[:, 0])
    assert (got.human, got.judge) == pytest.approx((planned.human, planned.judge), abs=0.02)
    assert (got.comparisons, got.sd) == pytest.approx((planned.comparisons, planned.sd), rel=0.04)
    few = counts.select(np.arange(30))
    robust = judge_differences(few, 50, draw)[0].robust
    assert robust is not None
    small = pc.lead_of(few.n, few.human, few.judges[:, 0])
    assert small.half_width(30) == pytest.approx((robust.high - robust.low) / 2, rel=1e-9)


def test_how_many_items_are_enough() -> None:
    lead = Lead(comparisons=4.0, human=0.66, judge=0.8, sd=0.47, design_effect=2.3)
    for goal in (0.05, 0.02, 0.3, 3.0):
        items = lead.items_for(goal)
        assert lead.half_width(items) <= goal
        assert items == 2 or lead.half_width(items - 1) > goal
    assert lead.half_width(340) == pytest.approx(1.967 * 0.47 / 340**0.5, rel=1e-3)  # t with 339 degrees of freedom
    assert np.isnan(lead.half_width(1))


def test_one_label_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(ValueError, match="two or more"):
        pc.lead(Labelling((0.5, 0.5), 0.2, 0.1), 1, 0.8, rng())


# --- learning -----------------------------------------------------------------------------------------------------


def votes_of(rows: list[tuple[int, int, str]], k: int = 2) -> object:
    """(question, item, labels as digits) as votes of one country."""
    codes = [(q, i, int(x)) for q, i, text in rows for x in text]
    q, i, label = np.array(codes).T
    return tally(i, q * 0, label, k, question=q)


def test_a_pilot_by_hand() -> None:
    """Two cells of two items each, four labels 0 in the first, two 0 and two 1 in the second."""
    got = pc.learn(votes_of([(0, 0, "00"), (0, 1, "00"), (1, 2, "01"), (1, 3, "10")]))
    assert got.base == (0.75, 0.25)
    assert got.agreement >= got.between
    chance = 8 / 16  # a label of cell 0 (always 0) and one of cell 1 (0 two times in four)
    near = (4 + 2) / 8  # 0000 across its items: 4 of 4; 01 with 10: 0-0, 1-1 agree of four
    same = 2 / 4
    assert got.between == pytest.approx((near - chance) / (1 - chance))
    assert got.within == 0 == max((same - near) / (1 - near), 0)


def test_a_pilot_of_one_cell_has_it_all_in_its_items() -> None:
    """One cell, items 00 and 11: all pairs of one item agree, by chance half do."""
    got = pc.learn(votes_of([(0, 0, "00"), (0, 1, "11")]))
    assert (got.between, got.within) == (0.0, 1.0)


def test_a_pilot_without_two_labels_of_an_item() -> None:
    with pytest.raises(ValueError, match="no item with two labels"):
        pc.learn(votes_of([(0, 0, "0"), (0, 1, "1")]))


def test_labels_that_are_all_alike() -> None:
    got = pc.learn(votes_of([(0, 0, "00"), (1, 1, "00")]))
    assert got == Labelling((1.0, 0.0), 0.0, 0.0)
    assert pc.stability_of(pc.letter_chances(got, 2, rng()), 3, rng()).right == 1


def test_learning_finds_what_was_put_in() -> None:
    model, draw = Labelling((0.5, 0.3, 0.2), 0.25, 0.15), rng()
    cells, items, labels = 600, 4, 4
    rows = []
    for cell, shares in enumerate(pc.cell_shares(model, cells, draw)):
        total = (1 - model.within) / model.within
        for item in range(items):
            own = draw.dirichlet(np.maximum(shares * total, 1e-9))
            rows += [(cell, cell * items + item, x) for x in draw.choice(3, labels, p=own)]
    q, i, label = np.array(rows).T
    got = pc.learn(tally(i, q * 0, label, 3, question=q))
    assert got.base == pytest.approx(model.base, abs=0.03)
    assert (got.between, got.within) == pytest.approx((model.between, model.within), abs=0.035)
