"""Leans, letters and ties on tables small enough to count by hand. A = 0, B = 1, C = 2."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.fetch.labels import LabelTable
from countback.models.culture import (
    LABEL_MEAN,
    MAJORITY,
    MAJORITY_TIES_AVERAGED,
    MODAL_GRID,
    POOLED_MODE,
    QUESTION_MEAN,
    Rule,
    flattening,
    judge_match,
    lean,
    lean_report,
)
from countback.models.grid import modal_grid, stability, tie_report
from countback.models.votes import Votes, balanced, fewest_items, letters, plurality, same_units, tally, votes_of

A, B, C = 0, 1, 2


def votes(table: list[tuple[int, int, str]], **sizes: int) -> Votes:
    """Items in order, each (country, question, its labels as a word); "." is a label that is not valid."""
    rows = [(i, c, q, "ABC".find(letter)) for i, (c, q, word) in enumerate(table) for letter in word]
    item, country, question, label = np.array(rows).T
    return tally(item, country, label, 3, question=question, **sizes)


# One country, two questions: four items in the first, one in the second.
ONE = [(0, 0, "AAB"), (0, 0, "BBC"), (0, 0, "BC"), (0, 0, "CC"), (0, 1, "AC")]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        # majorities A, B, (B or C), C | (A or C): ties to the stricter give A B B C | A, modes B | A
        (MODAL_GRID, (0.5 + 1) / 2),
        # the same to the lenient: A B C C | C, modes C | C
        (Rule(item_ties="lenient", cell_ties="lenient"), 0.0),
        # ties cast no vote: A B C | nothing, and the mode of A B C goes to the stricter; question 2 has no letter
        (Rule(item_ties="drop"), 1.0),
        # A 1, B 1.5, C 1.5: B and C lead; a split item's share is exact
        (Rule(item_ties="average", cell_ties="strictest"), (0.5 + 1) / 2),
        (Rule(item_ties="average", cell_ties="average"), (0.25 + 0.5) / 2),
        (Rule(item_ties="average", cell_ties="lenient"), 0.0),
        # labels of question 1: A 2, B 4, C 4, tied to B; of question 2: A 1, C 1, tied to A
        (POOLED_MODE, (0.5 + 1) / 2),
        (Rule(vote="labels", cell_ties="average"), (0.25 + 0.5) / 2),
        # a dropped cell leaves the other question; here both are tied, so nothing is left
        (Rule(vote="labels", cell_ties="drop"), float("nan")),
        (QUESTION_MEAN, ((2 * 1 + 4 * 0.5) / 10 + 0.5) / 2),
        (LABEL_MEAN, (2 * 1 + 4 * 0.5 + 1) / 12),
        (MAJORITY, (1 + 0.5 + 0) / 3),
        (MAJORITY_TIES_AVERAGED, (1 + 0.5 + 0.25 + 0 + 0.5) / 5),
        (Rule(over="question-mean"), ((1 + 0.5 + 0.5 + 0) / 4 + 1) / 2),
    ],
)
def test_each_reading_of_a_lean(rule: Rule, expected: float) -> None:
    np.testing.assert_allclose(lean(votes(ONE), rule), [expected])


def test_scores_may_be_given() -> None:
    np.testing.assert_allclose(lean(votes(ONE), LABEL_MEAN, np.array([5.0, 3.0, 1.0])), [(3 * 5 + 4 * 3 + 5 * 1) / 12])


def test_two_labels_score_one_and_nought() -> None:
    binary = tally(np.array([0, 0, 0, 1]), np.zeros(4, int), np.array([0, 0, 1, 1]), 2)
    np.testing.assert_allclose(lean(binary, MAJORITY), [0.5])


def test_a_country_without_labels_has_no_lean_and_leaves_the_spread_to_the_others() -> None:
    table = votes([(0, 0, "AA"), (2, 0, "CC"), (2, 0, "AA"), (1, 0, "..")])
    np.testing.assert_array_equal(lean(table, MAJORITY), [1.0, np.nan, 0.5])
    report = lean_report(table, MAJORITY, draws=50, rng=np.random.default_rng(3))
    assert report.spread.value == 0.5
    middle = report.leans.estimate(1)
    assert np.isnan(middle.value)
    assert middle.interval is None
    assert middle.note
    assert dict(middle.dropped) == {"invalid human label": 2, "no valid human label": 1}


def test_plurality_shares_are_exact_integers() -> None:
    # lcm(1, 2, 3) = 6: a three-way tie pays 2 each, a two-way tie 3 each
    counts = np.array([[1, 1, 1], [0, 2, 2], [3, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(plurality(counts, "average"), [[2, 2, 2], [0, 3, 3], [6, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(letters(counts, "strictest"), [A, B, A, -1])
    np.testing.assert_array_equal(letters(counts, "lenient"), [C, C, A, -1])
    np.testing.assert_array_equal(letters(counts, "drop"), [-1, -1, A, -1])
    with pytest.raises(ValueError, match="no single label"):
        letters(counts, "average")


def test_tally_refuses_codes_outside_the_codebook() -> None:
    with pytest.raises(ValueError, match="expected -1 to 2"):
        tally(np.array([0]), np.array([0]), np.array([3]), 3)


def test_the_grid_and_its_ties() -> None:
    table = votes(
        [
            *[(0, 0, "AAB"), (0, 0, "BBC"), (0, 0, "AAC")],  # A: no tie
            *[(0, 1, "AC"), (0, 1, "CC"), (0, 1, "CC")],  # C whatever the tied item says
            *[(1, 0, "AAB"), (1, 0, "BBC")],  # A and B tie at the cell
            *[(1, 1, "BC")],  # a tied item decides
        ]
    )
    grid = modal_grid(table)
    np.testing.assert_array_equal(grid.letters, [[A, C], [A, B]])
    np.testing.assert_array_equal(grid.items, [[3, 3], [2, 1]])
    np.testing.assert_array_equal(grid.labels, [[9, 6], [6, 2]])
    ties = tie_report(table)
    np.testing.assert_array_equal(ties.tied_items, [[0, 1], [0, 1]])
    np.testing.assert_array_equal(ties.tied_cell, [[False, False], [True, False]])
    np.testing.assert_array_equal(ties.by_rule["lenient", "strictest"], [[A, C], [A, C]])
    np.testing.assert_array_equal(ties.by_rule["strictest", "lenient"], [[A, C], [B, B]])
    np.testing.assert_array_equal(ties.decided, [[False, False], [True, True]])
    assert ties.counts() == {
        "cells": 4,
        "tied at item level": 2,
        "tied at cell level": 1,
        "tied at either level": 3,
        "decided by a tie": 2,
    }


def test_labels_that_vote_directly_have_no_ties_at_item_level() -> None:
    report = tie_report(votes(ONE), POOLED_MODE)
    np.testing.assert_array_equal(report.tied_items, [[0, 0]])
    np.testing.assert_array_equal(report.tied_cell, [[True, True]])


def test_stability_against_exact_probabilities() -> None:
    # Two items, AAA and CCC: of the four equally likely resamples AA, AC, CA, CC three show A (a tie is an A).
    # One item AAB: it is always drawn, so resampling items keeps A; its labels redrawn give B two or three times
    # with probability 3 (1/3)^2 (2/3) + (1/3)^3 = 7/27.
    table = votes([(0, 0, "AAA"), (0, 0, "CCC"), (0, 1, "AAB")])
    expected = {"items": [3 / 4, 1.0], "labels": [1.0, 20 / 27], "items and labels": [3 / 4, 20 / 27]}
    for resample, share in expected.items():
        kept = stability(table, draws=20_000, rng=np.random.default_rng(5), resample=resample)  # type: ignore[arg-type]
        np.testing.assert_allclose(kept.kept[0], share, atol=4 * (0.25 / 20_000) ** 0.5)
        np.testing.assert_allclose(kept.mc_error, np.sqrt(kept.kept * (1 - kept.kept) / 20_000))
        assert kept.seed == 5
    assert stability(table, draws=2_000, rng=np.random.default_rng(5)).below(0.8) == 1


def test_resampling_within_countries_can_empty_a_cell() -> None:
    # Two items of one country, one per question: each question is missing in a quarter of the resamples.
    table = votes([(0, 0, "AAA"), (0, 1, "CCC")])
    result = stability(table, draws=20_000, rng=np.random.default_rng(5), strata="country")
    np.testing.assert_allclose(result.undefined[0], [0.25, 0.25], atol=0.015)
    np.testing.assert_allclose(result.kept[0], [0.75, 0.75], atol=0.015)


HUMAN = [(0, 0, "AAB"), (0, 0, "BBC"), (0, 0, "AAC"), (1, 0, "CCA"), (1, 0, "BCC"), (1, 0, "AB")]


def test_a_judge_that_says_the_majority_neither_flattens_nor_errs() -> None:
    human, judge = votes(HUMAN), votes([(0, 0, "A"), (0, 0, "B"), (0, 0, "A"), (1, 0, "C"), (1, 0, "C"), (1, 0, "A")])
    (result,) = flattening(human, [judge], draws=200, rng=np.random.default_rng(1))
    # majorities A B A | C C (tied item dropped): leans 2.5 / 3 and 0
    assert result.human.spread.value == pytest.approx(2.5 / 3)
    assert result.ratio.value == pytest.approx(1.0)
    assert result.ratio.interval is not None
    assert (result.ratio.interval.low, result.ratio.interval.high) == pytest.approx((1.0, 1.0))
    assert [gap.value for gap in result.gaps] == [0.0, 0.0]
    assert dict(result.ratio.dropped) == {"tied": 1}
    match = judge_match(human, judge, draws=50, rng=np.random.default_rng(1))
    assert [e.value for e in match.estimates()] == [1.0, 1.0, 1.0]
    assert [e.n for e in match.estimates()] == [3, 2, 5]


def test_a_judge_that_never_varies_flattens_completely() -> None:
    human, judge = votes(HUMAN), votes([(c, 0, "B") for c, _, _ in HUMAN])
    (result,) = flattening(human, [judge], draws=200, rng=np.random.default_rng(1))
    assert result.ratio.value == 0.0
    assert [gap.value for gap in result.gaps] == pytest.approx([0.5 - 2.5 / 3, 0.5])
    assert result.judge.corrected.sd == 0.0


def test_a_country_with_a_single_item_says_nothing_about_its_own_noise() -> None:
    """Its lean cannot vary in a draw, which would look like a country of known lean, far from the others."""
    rng = np.random.default_rng(5)
    country = np.repeat([0, 1, 2], [30, 30, 1])
    label = np.append(rng.integers(0, 2, 60), 0)
    report = lean_report(tally(np.arange(61), country, label, 2), MAJORITY, draws=200, rng=rng)
    first, second, alone = report.leans.estimates()
    assert (alone.value, alone.n) == (1.0, 1)
    assert alone.interval is not None
    assert np.isnan([alone.interval.low, alone.interval.high]).all()
    assert alone.interval.note
    for other in (first, second):
        assert other.interval is not None
        assert other.interval.low < other.value < other.interval.high
    assert report.spread.value == pytest.approx(1 - min(first.value, second.value))
    assert report.spread.interval is not None
    assert np.isnan([report.spread.interval.low, report.noise_p, report.corrected.sd, *report.noise_range]).all()


def test_draws_of_the_corrected_ratio_lose_the_noise_of_the_data_and_their_own() -> None:
    rng = np.random.default_rng(3)
    place = np.arange(120)
    item, country = np.repeat(place, 5), np.repeat(place // 30, 5)
    shift = np.array([-1.0, 0.0, 0.3, 1.0])[place // 30] + rng.normal(0, 1, 120)
    human = tally(item, country, np.digitize(shift[item] + rng.logistic(size=600), [-0.7, 0.7]), 3)
    judge = tally(place, place // 30, np.digitize(shift + rng.logistic(size=120), [-0.7, 0.7]), 3)
    (result,) = flattening(human, [judge], MAJORITY_TIES_AVERAGED, draws=400, rng=rng)
    sds = []
    for report in (result.human, result.judge):
        variance = report.leans.samples.var(axis=1, ddof=1) - 2 * report.corrected.noise
        sds.append(np.sqrt(np.maximum(variance, 0)))
    ends = np.quantile(sds[1][sds[0] > 0] / sds[0][sds[0] > 0], [0.025, 0.975])
    assert result.corrected_ratio.interval is not None
    assert (result.corrected_ratio.interval.low, result.corrected_ratio.interval.high) == pytest.approx(tuple(ends))
    assert result.corrected_ratio.value == pytest.approx(result.judge.corrected.sd / result.human.corrected.sd)


def test_only_units_that_everyone_labelled_are_compared() -> None:
    human, judge = votes(HUMAN), votes([(0, 0, "A"), (0, 0, "."), (0, 0, "A"), (1, 0, "C"), (1, 0, "C"), (1, 0, "A")])
    (kept, said), dropped = same_units([human, judge], "drop")
    assert dropped == {"no valid judge label": 1, "tied": 1}
    np.testing.assert_array_equal(kept.item, [0, 2, 3, 4])
    np.testing.assert_array_equal(kept.keys(), said.keys())


def test_the_country_with_the_fewest_items() -> None:
    # Items 0 to 2 in country 0, item 0 twice over (two questions); items 0 and 1 in country 2, item 1 without a label.
    rows = [(0, 0, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (2, 0, 0, 1), (0, 2, 0, 1), (1, 2, 0, -1)]
    item, country, question, label = np.array(rows).T
    table = tally(item, country, label, 3, question=question)
    assert fewest_items(table) == 1
    assert fewest_items(table.keep(table.country == 0)) == 3
    assert fewest_items(table.keep(table.country == 1)) == 0


def test_balanced_keeps_items_seen_everywhere() -> None:
    # Question 0 is asked in countries 0 and 2, question 1 in all three; item 1 misses country 2, item 3 country 1.
    rows = [(0, 0, 0), (0, 2, 0), (1, 0, 0), (2, 0, 1), (2, 1, 1), (2, 2, 1), (3, 0, 1), (3, 2, 1)]
    item, country, question = np.array(rows).T
    table = tally(item, country, np.zeros(8, int), 3, question=question)
    assert sorted(zip(balanced(table).item, balanced(table).country, strict=True)) == [
        (0, 0),
        (0, 2),
        (2, 0),
        (2, 1),
        (2, 2),
    ]


def test_judge_match_with_ties_and_missing_labels() -> None:
    human, judge = votes(HUMAN), votes([(0, 0, "A"), (0, 0, "."), (0, 0, "C"), (1, 0, "C"), (1, 0, "A"), (1, 0, "B")])
    rng = np.random.default_rng(1)
    # country 0: hit, missing, wrong; country 1: hit, wrong, B on an A/B tie
    miss = judge_match(human, judge, draws=20, rng=rng)
    np.testing.assert_allclose(miss.values, [1 / 3, 1 / 2, 2 / 5])
    left = judge_match(human, judge, missing="drop", draws=20, rng=rng)
    np.testing.assert_allclose(left.values, [1 / 2, 1 / 2, 1 / 2])
    assert dict(left.dropped) == {"tied": 1, "no judge label": 1}
    split = judge_match(human, judge, ties="average", draws=20, rng=rng)
    np.testing.assert_allclose(split.values, [1 / 3, 1.5 / 3, 2.5 / 6])
    strict = judge_match(human, judge, ties="strictest", draws=20, rng=rng)
    np.testing.assert_allclose(strict.values, [1 / 3, 1 / 3, 2 / 6])


def test_no_shared_unit_is_a_clear_error() -> None:
    human = votes([(0, 0, "AAA")], n_countries=2)
    judge = votes([(1, 0, "A")], n_countries=2)
    with pytest.raises(UserError, match="No unit of 1 has a usable label from every voter"):
        flattening(human, [judge], draws=10, rng=np.random.default_rng(1))


def test_crossed_items_are_resampled_across_countries() -> None:
    # Two items, both labelled alike in both countries: leans move together, so their difference never moves.
    item, country, label = np.array([(i, c, 2 * i) for i in (0, 1) for c in (0, 1)]).T
    crossed = tally(item, country, label, 3)
    assert crossed.crossed
    report = lean_report(crossed, MAJORITY, draws=100, rng=np.random.default_rng(1))
    assert report.spread.value == 0.0
    assert report.spread.interval is not None
    assert report.spread.interval.high == 0.0
    assert report.corrected.noise == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="two strata"):
        lean_report(crossed, MAJORITY, draws=10, rng=np.random.default_rng(1), strata="country")


def test_votes_of_a_label_table() -> None:
    table = LabelTable.from_arrays(
        item=["v1", "v1", "v1", "v2", "v1", "v2", "v2"],
        annotator=["x", "y", "z", "x", "gpt", "gpt", "opus"],
        label=["A", "C", "see comment", "B", "A", "C", "A"],
        country=["PK", "PK", "PK", "US", "PK", "US", "US"],
        kind=[0, 0, 0, 0, 1, 1, 1],
        codebook=["A", "B", "C"],
    )
    human, judge = votes_of(table), votes_of(table, "gpt")
    assert human.missing == 1
    order = np.argsort(human.item)
    assert human.counts[order].tolist() == [[1, 0, 1], [0, 1, 0]]
    assert [table.countries[c] for c in human.country[order]] == ["PK", "US"]
    match = judge_match(human, judge, ties="strictest", draws=5, rng=np.random.default_rng(1))
    assert match.values[-1] == 0.5
    with pytest.raises(UserError, match=r"No judge is called 'x'\. The judges of these labels are gpt, opus\."):
        votes_of(table, "x")
