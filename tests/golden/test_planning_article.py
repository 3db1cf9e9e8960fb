"""The audit article's advice for a study like CuBEs, put to the planner: each number from the article or by hand.

The advice: 8 to 10 items per cell, a block of 10 shared items, about a third more labels, about $6,000 for three times
the items. What planning adds is said in the tests: what that buys, and what it does not.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from countback.audit.plan import AGREEMENT, MATCH, OF_CELLS
from countback.claims.arithmetic import judge_relation
from countback.claims.registry import PAPERS, load_paper
from countback.models.assignment import assign
from countback.models.identifiability import diagnose
from countback.models.planning import Design, cost, largest
from countback.models.planning_cells import Labelling, compositions, lead, letter_chances, stability_of
from countback.models.planning_power import share_power

RATE = Fraction("1.63")
POOLS = (8,) * 12
PAPER = Design(1, 31, 0, POOLS, 5)  # 1,860 labels, all in cells of some question


def rng() -> np.random.Generator:
    return np.random.default_rng(20261129)


def assumed() -> Labelling:
    between = OF_CELLS * AGREEMENT
    return Labelling((1 / 3,) * 3, between, 1 - (1 - AGREEMENT) / (1 - between))


def test_a_third_and_six_thousand() -> None:
    block = Design(1, 31, 10, POOLS, 5).total - PAPER.total
    assert (PAPER.total, block) == (1860, 600)
    assert Fraction(block, PAPER.total) == Fraction(10, 31)  # 32%
    triple = Design(1, 93, 0, POOLS, 5)
    assert sum(cost(triple, [RATE] * 12)) - sum(cost(PAPER, [RATE] * 12)) == 2 * 1860 * RATE == Fraction("6063.60")
    assert 2 * Fraction("3022.50") == 6045


def test_eight_items_per_cell_are_tripled_ones_and_ten_cost_more() -> None:
    """11 questions x 12 countries x 5 labels: 8 items are 5,280 labels, 10 are 6,600; 93 items a country are 8.45."""
    costs = {own: sum(cost(Design(11, own, 0, POOLS, 5), [RATE] * 12)) - 1860 * RATE for own in (8, 10)}
    assert costs == {8: Fraction("5574.60"), 10: Fraction("7726.20")}
    money = Fraction(6000) + 1860 * RATE
    assert largest(Design(11, 1, 0, POOLS, 5), [RATE] * 12, money) == Design(11, 8, 0, POOLS, 5)


def test_with_both_pieces_of_advice_the_block_is_a_tenth() -> None:
    whole = Design(11, 8, 10, POOLS, 5)
    assert Fraction(600, whole.total - 600) == Fraction(10, 88)


def test_the_claims_notice_other_numbers() -> None:
    """`plan-cost` and `third-budget` turn red when the advice does not fit the arithmetic."""
    paper = load_paper(PAPERS / "cubes")
    held = {c.id: judge_relation(c, paper.spec.rounding).verdict for c in paper.claims if c.check}
    assert held["plan-cost"] == held["third-budget"] == held["triple-plan"] == "consistent"
    low, high = (Fraction(p * 11 * 12 * 5 - 1860) * Fraction("1.625") for p in (8, 10))
    assert low < 5600 < 6000 < 7700 < high
    assert not low < 9000 < high  # what four times the items would cost


def test_ten_shared_items_let_country_be_told_from_items() -> None:
    """The paper's three items per cell without and with the block; pools of 6 to 11, as released."""
    pools = tuple(6 + number % 6 for number in range(12))
    for shared, separable in ((0, False), (10, True)):
        found = assign(Design(11, 3, shared, pools, 5), rng())
        told = diagnose(found.item, found.country, found.annotator, question=found.question)
        assert told.separable is separable
        assert told.rank_gain == (11 if separable else 0)


def test_the_block_shows_a_share_far_from_five_percent_and_no_other() -> None:
    """In twelve countries: a share of 25% or of none is told often; one of 10% mostly stays open."""
    design = Design(11, 3, 10, POOLS, 5)
    large, middle, none = (share_power(design, share, draws=80, rng=rng()) for share in (0.25, 0.1, 0.0))
    assert large.above > 0.8
    assert middle.undecided > 0.5
    assert 0.2 < none.below < 0.6
    few = share_power(Design(11, 3, 10, POOLS[:4], 5), 0.25, draws=80, rng=rng())
    assert few.above < large.above - 0.3  # four countries are not enough, whatever the block


def test_what_is_assumed_meets_what_is_printed() -> None:
    """Held-out human 66.0%, judge 81.1%, 491 comparisons on 123 items, lead [+2.9, +18.7], 5 of 44 cells tied."""
    planned = lead(assumed(), 5, MATCH, rng())
    assert planned.human == pytest.approx(0.66, abs=0.01)
    assert planned.judge == pytest.approx(0.811, abs=0.03)
    assert planned.comparisons == pytest.approx(491 / 123, abs=0.15)
    assert planned.half_width(123) == pytest.approx((0.187 - 0.029) / 2, abs=0.01)
    chances = letter_chances(assumed(), 5, rng())
    two, three = (stability_of(chances, items, rng()) for items in (2, 3))
    tied = (2 * two.tied + 9 * three.tied) / 11  # 31 items over 11 questions: two with two, nine with three
    assert tied == pytest.approx(5 / 44, abs=0.02)


def test_pakistan_by_its_own_rates() -> None:
    """Human 59.3%, judge 89.8%, 118 comparisons on 31 items, lead [+21.8, +40.7]: planned a fifth wider than found."""
    planned = lead(Labelling((1 / 3,) * 3, 0.0, 0.28), 5, 0.96, rng())
    assert (planned.human, planned.judge) == pytest.approx((0.593, 0.898), abs=0.01)
    assert planned.comparisons == pytest.approx(118 / 31, abs=0.3)
    found = (0.407 - 0.218) / 2
    assert found < 1.96 * planned.sd / 31**0.5 < 1.35 * found


def test_what_eight_to_ten_items_do_for_a_letter() -> None:
    """By the assumed model. With 3 items over half of the cells do not keep their letter in 80% of resamples, with 8 to
    10 a quarter; the letter is that of unlimited items in 79%, and 85% to 87%. Not even 30 make all cells safe."""
    chances = letter_chances(assumed(), 5, rng())
    three, eight, ten, thirty = (stability_of(chances, items, rng()) for items in (3, 8, 10, 30))
    assert three.unstable > 0.5 > 0.3 > eight.unstable > 0.2
    assert three.right < 0.8 < eight.right < ten.right < 0.9 < thirty.right < 0.95
    assert thirty.unstable > 0.1


def test_three_items_are_unstable_unless_all_agree() -> None:
    """Why cells of two or three items are what they are: AAB keeps A in 20 of 27 resamples, AB in 3 of 4."""
    for items, splits in ((3, 20 / 27), (2, 3 / 4)):
        cell = stability_of(np.array([[0.7, 0.3]]), items, rng())
        agree = 0.7**items + 0.3**items
        assert cell.unstable == pytest.approx(1 - agree)
        assert splits < 0.8
    assert len(compositions(3, 2)) == 4
