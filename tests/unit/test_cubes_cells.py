"""The building blocks of the synthetic twin against hand counting."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from countback.claims.papers.cubes.twin_arrange import _far, _letter_shares, _null, walk
from countback.claims.papers.cubes.twin_cells import (
    BLANK,
    Cell,
    all_cells,
    comparisons,
    human_hits,
    is_tied,
    judge_hits,
    patterns,
    tied_score,
)
from countback.claims.papers.cubes.twin_solve import Program, printed


# Five valid labels, then four: (comparisons, human hits). A 3-2 item: each of the three sees two against two and is
# skipped; each of the two sees three against one and misses.
@pytest.mark.parametrize(
    ("pattern", "compared", "hits"),
    [
        ((5, 0, 0), 5, 5), ((4, 1, 0), 5, 4), ((0, 3, 2), 2, 0), ((3, 1, 1), 5, 3), ((2, 2, 1), 4, 0),
        ((0, 4, 0), 4, 4), ((3, 0, 1), 4, 3), ((2, 2, 0), 4, 0), ((2, 1, 1), 2, 0), (BLANK, 0, 0),
    ],
)  # fmt: skip
def test_comparisons_and_hits_of_an_item(pattern: tuple[int, int, int], compared: int, hits: int) -> None:
    assert comparisons(pattern) == compared
    assert human_hits(pattern) == hits


def test_a_judge_hits_where_its_label_is_the_reference() -> None:
    # 4-1: every reference is A. 2-2-1: the two A see B (2 against 1), the two B see A, the C sees a tie.
    assert [judge_hits((4, 1, 0), label) for label in range(3)] == [5, 0, 0]
    assert [judge_hits((2, 2, 1), label) for label in range(3)] == [2, 2, 0]


@pytest.mark.parametrize("pattern", [p for n in (4, 5) for p in patterns(n)])
def test_judge_labels_share_out_the_comparisons(pattern: tuple[int, int, int]) -> None:
    assert sum(judge_hits(pattern, label) for label in range(3)) == comparisons(pattern)


def test_patterns_are_all_the_ways_to_split() -> None:
    assert len(patterns(5)) == 21  # C(7, 2)
    assert len(set(patterns(5))) == 21
    assert len(all_cells(2, (5,), 0)) == 21 * 22 // 2
    assert len(all_cells(3, (5,), 1)) == 21 * 22 // 2


def test_a_tied_item_scores_between_its_labels() -> None:
    assert tied_score((2, 2, 1)) == Fraction(3, 4)
    assert tied_score((2, 1, 2)) == Fraction(1, 2)
    assert tied_score((0, 1, 4)) == 0
    assert is_tied((1, 2, 2))
    assert not is_tied(BLANK)


def test_the_three_cells_that_the_article_names() -> None:
    shutdown = Cell(((3, 1, 1), (1, 3, 1), (0, 0, 5)))  # A, B, C: a tie, to the stricter A; 4 A, 4 B, 7 C in all
    assert (shutdown.counts, shutdown.letter, shutdown.pooled_letter) == ((4, 4, 7), 0, 2)
    assert shutdown.decided_by_tie
    assert shutdown.tied_without_tied_items
    balance = Cell(((1, 3, 1), (0, 1, 4), (1, 2, 2)))  # B, C and a B/C tie that goes to B
    assert (balance.counts, balance.letter, balance.pooled_letter) == ((2, 6, 7), 1, 2)
    assert balance.decided_by_tie
    assert balance.tied_without_tied_items
    stereotype = Cell(((3, 0, 2), (0, 4, 1)))  # A, B
    assert (stereotype.counts, stereotype.letter, stereotype.pooled_letter) == ((3, 4, 3), 0, 1)
    assert stereotype.mean == Fraction(3 + 2, 10)


def test_a_cell_of_one_mind_is_stable_and_a_split_one_is_not() -> None:
    assert Cell(((5, 0, 0), (4, 1, 0), (3, 1, 1))).stable
    assert not Cell(((5, 0, 0), (4, 1, 0), (0, 0, 5))).stable  # keeps A in 20 of 27 resamples
    assert not Cell(((5, 0, 0), (0, 0, 5))).stable  # in 3 of 4
    assert Cell((BLANK, (5, 0, 0), (5, 0, 0))).stable


def test_letter_shares_by_enumeration() -> None:
    # Half A, half B, three items: A is the mode of AAA, and of the three orders of AAB: 4 of 8.
    assert _letter_shares((0.5, 0.5, 0.0), 3) == pytest.approx([0.5, 0.5, 0])
    # Two items: AA, AB, BA go to A: 3 of 4.
    assert _letter_shares((0.5, 0.5, 0.0), 2) == pytest.approx([0.75, 0.25, 0])


def test_the_null_of_one_question_against_simulation() -> None:
    row = [Cell(((5, 0, 0), (0, 5, 0))), Cell(((5, 0, 0), (0, 0, 5))), Cell(((0, 5, 0), (5, 0, 0), (4, 0, 1)))]
    pool = np.array([0, 1, 0, 2, 1, 0, 0])  # letters of the seven items
    rng = np.random.default_rng(1)
    shown = []
    for _ in range(4000):
        letters = set()
        for size in (2, 2, 3) * 3:
            counts = np.bincount(rng.choice(pool, size), minlength=3)
            letters.add(int(counts.argmax()))  # the first of the largest: the stricter
        shown.append(len(letters))
    everything, same = _null(row)
    assert everything == pytest.approx(np.mean(np.array(shown) == 3), abs=0.03)
    assert same == pytest.approx(np.mean(np.array(shown) == 1), abs=0.03)


def test_far_is_zero_where_mean_and_range_are_met() -> None:
    certain = np.array([1.0, 1.0, 0.0])
    assert _far(certain, 2.0, 2, 2) == 0
    assert _far(certain, 2.0, 1, 3) == 2
    assert _far(certain, 1.5, 2, 2) == pytest.approx(1.5)


def test_a_walk_finds_the_bottom_and_keeps_the_best() -> None:
    rng = np.random.default_rng(2)
    end = walk(40, lambda x: x + int(rng.choice([-1, 1])), lambda x: abs(x), rng, steps=2000, good=0.0, heat=2.0)
    assert end == 0


def test_printed_is_inside_what_every_rounding_rule_accepts() -> None:
    low, high = printed("0.473")
    assert Fraction("0.4725") < low < Fraction("0.473") < high < Fraction("0.4735")


def test_a_program_without_solution_says_so() -> None:
    program = Program(1)
    program.add(np.array([2.0]), 3)  # 2 x = 3
    assert program.solve(np.zeros(1), np.full(1, 9.0), 5) is None
    program = Program(1)
    program.add(np.array([2.0]), 4)
    found = program.solve(np.zeros(1), np.full(1, 9.0), 5)
    assert found is not None
    assert found.tolist() == [2.0]
