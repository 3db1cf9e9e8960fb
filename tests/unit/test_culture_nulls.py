"""Both nulls against full enumeration or closed forms, and the corrections against SciPy."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from countback.models.culture import LABEL_MEAN, MAJORITY, Rule
from countback.models.nulls import (
    adjust_bh,
    adjust_bonferroni,
    culture_free_grid,
    grid_counts,
    question_tests,
    spread_test,
)
from countback.models.resampling import dealt, permuted_rows, redrawn_labels
from countback.models.votes import Votes, tally
from scipy.stats import chi2_contingency, f_oneway, false_discovery_control

DRAWS = 20_000


def votes(table: list[tuple[int, int, str]]) -> Votes:
    rows = [(i, c, q, "ABC".find(letter)) for i, (c, q, word) in enumerate(table) for letter in word]
    item, country, question, label = np.array(rows).T
    return tally(item, country, label, 3, question=question)


WORDS = ["AAA", "AAB", "ABB", "ABC", "BBC", "BCC", "CCC"]
SCORE = {"A": 1.0, "B": 0.5, "C": 0.0}
TWO = votes([(int(i >= 3), 0, word) for i, word in enumerate(WORDS)])


def within(share: float, exact: float) -> bool:
    """Four Monte Carlo standard errors, and the one draw that (b + 1) / (B + 1) adds."""
    return abs(share - exact) < 4 * (exact * (1 - exact) / DRAWS) ** 0.5 + 1 / DRAWS


@pytest.mark.parametrize("statistic", ["variance", "weighted-variance", "range"])
def test_question_p_against_all_assignments(statistic: str) -> None:
    # Seven items, three of them in country 0: all C(7, 3) = 35 choices of those three are equally likely.
    score = np.array([sum(SCORE[x] for x in word) / 3 for word in WORDS])

    def value(first: tuple[int, ...]) -> float:
        inside = np.isin(np.arange(7), first)
        a, b = score[inside].mean(), score[~inside].mean()
        if statistic == "range":
            return abs(a - b)
        if statistic == "variance":
            return float(np.var([a, b], ddof=1))
        return float(3 * (a - score.mean()) ** 2 + 4 * (b - score.mean()) ** 2)

    values = [value(first) for first in combinations(range(7), 3)]
    exact = np.mean([v >= values[0] - 1e-12 for v in values])
    (test,) = question_tests(TWO, draws=DRAWS, rng=np.random.default_rng(1), statistic=statistic)  # type: ignore[arg-type]
    assert test.observed == pytest.approx(values[0])
    assert within(test.p, float(exact))
    assert (test.items, test.draws, test.seed, test.dropped) == (7, DRAWS, 1, ())


def test_weighted_variance_is_the_numerator_of_f() -> None:
    table = votes([(c, 0, word) for c, word in zip([0, 0, 1, 1, 1, 2, 2], WORDS, strict=True)])
    score = [[1, 5 / 6], [2 / 3, 0.5, 1 / 3], [1 / 6, 0]]
    residual = sum(((np.array(part) - np.mean(part)) ** 2).sum() for part in score) / (7 - 3)
    (test,) = question_tests(table, draws=10, rng=np.random.default_rng(1), statistic="weighted-variance")
    assert test.observed / residual == pytest.approx(f_oneway(*score).statistic)
    assert test.items == 7


def test_chi_square_is_scipys() -> None:
    table = votes([(c, 0, word) for c, word in zip([0, 0, 0, 1, 1, 2, 2], WORDS, strict=True)])
    # ABC is a three-way tie: with "drop" it is left out, and the majorities are A A B | B C | C
    (test,) = question_tests(table, draws=200, rng=np.random.default_rng(1), statistic="chi-square", ties="drop")
    majorities = np.array([[2, 1, 0], [0, 1, 0], [0, 0, 2]])
    assert test.observed == pytest.approx(chi2_contingency(majorities, correction=False).statistic)
    assert test.dropped == (("tied", 1),)


def test_crossed_items_are_shuffled_within_each_item() -> None:
    # Three items in two countries; country 0 is always the stricter: 1 of the 2^3 within-item shuffles (and its
    # mirror, for an unsigned statistic) is as extreme: p = 2/8.
    rows = [(i, c, c) for i in range(3) for c in range(2)]
    item, country, label = np.array(rows).T
    crossed = tally(item, country, label, 3)
    (test,) = question_tests(crossed, draws=DRAWS, rng=np.random.default_rng(1))
    assert within(test.p, 2 / 8)
    assert within(spread_test(crossed, LABEL_MEAN, draws=DRAWS, rng=np.random.default_rng(2)).p, 2 / 8)


def test_spread_p_against_all_assignments() -> None:
    # Countries of 2, 2 and 1 items over two questions; every shuffle keeps each question's countries.
    table = [(0, 0, "A"), (1, 0, "B"), (2, 0, "C"), (0, 1, "A"), (1, 1, "C")]
    codes = [c for c, _, _ in table]
    score = [SCORE[word] for _, _, word in table]

    def spread(assigned: list[int]) -> float:
        means = [np.mean([s for c, s in zip(assigned, score, strict=True) if c == country]) for country in range(3)]
        return float(max(means) - min(means))

    every = [spread([*a, *b]) for a, b in product(permutations(codes[:3]), permutations(codes[3:]))]
    exact = np.mean(np.array(every) >= spread(codes) - 1e-12)
    result = spread_test(votes(table), MAJORITY, draws=DRAWS, rng=np.random.default_rng(1))
    assert result.observed == pytest.approx(spread(codes))
    assert within(result.p, float(exact))
    assert result.at_least == round(result.p * (DRAWS + 1)) - 1


@pytest.mark.parametrize(
    "table", [[(0, 0, "AAA"), (0, 0, "C")], [(0, 0, "AC"), (1, 0, "AC")], [(0, 0, "A"), (1, 0, ".")]]
)
def test_a_spread_of_fewer_than_two_leans_has_no_p(table: list[tuple[int, int, str]]) -> None:
    """One country; two whose items are tied and dropped; two of which one has no valid label."""
    result = spread_test(votes(table), MAJORITY, draws=20, rng=np.random.default_rng(1))
    assert np.isnan([result.observed, result.p, result.mc_error]).all()
    assert result.at_least == 0


def test_questions_without_two_countries_have_no_p_and_are_no_tests() -> None:
    table = votes([(0, 0, "AAA"), (1, 0, "CCC"), (0, 0, "AAB"), (1, 0, "CCB"), (0, 1, "A"), (0, 2, "A"), (1, 2, ".")])
    first, second, third = question_tests(table, draws=99, rng=np.random.default_rng(1))
    assert np.isnan(second.p)
    assert second.note
    assert np.isnan(third.p)
    assert third.dropped == (("no valid label", 1),)
    assert first.bonferroni == first.p  # the only test


def test_adjusted_p_values() -> None:
    p = np.array([0.029, 0.5, 0.041, np.nan, 0.9, 0.001, 0.041])
    known = np.isfinite(p)
    np.testing.assert_allclose(adjust_bh(p)[known], false_discovery_control(p[known]))
    np.testing.assert_allclose(adjust_bonferroni(p), [0.174, 1.0, 0.246, np.nan, 1.0, 0.006, 0.246])
    assert np.isnan(adjust_bh(p)[3])


def test_grid_counts() -> None:
    grid = np.array([[0, 1, 2, -1, -1], [1, 1, -1, -1, 0], [2, 1, 2, -1, 2]])
    # A B C shown; only B; only C; nothing; A and C
    np.testing.assert_array_equal(grid_counts(grid, 3), [1, 2])


@pytest.mark.parametrize("deal", ["replacement", "decks"])
def test_null_grid_against_closed_forms(deal: str) -> None:
    # One item per country from a pool A B C, four synthetic countries. With replacement 3^4 = 81 deals, 36 of which
    # show all three and 3 one. From two decks (AABBCC, four of six cards): all three unless both copies of one
    # letter stay behind, 1 - 3 / C(6, 2) = 12/15; never unanimous.
    table = votes([(0, 0, "A"), (1, 0, "B"), (2, 0, "C")])
    null = culture_free_grid(table, countries=4, draws=DRAWS, rng=np.random.default_rng(1), deal=deal, observed=(1, 0))  # type: ignore[arg-type]
    exact = {"replacement": (36 / 81, 3 / 81), "decks": (12 / 15, 0.0)}[deal]
    assert within(null.all_labels.mean, exact[0])
    assert within(null.unanimous.mean, exact[1])
    assert within(null.all_labels.at_least, exact[0])
    assert within(null.unanimous.at_most, 1 - exact[1])
    assert (null.all_labels.low, null.all_labels.high) == (0, 1)
    assert null.pool.tolist() == [3]


def test_null_grid_with_the_cell_rule_against_enumeration() -> None:
    # Pool of three items, the second a tie to A; two synthetic countries of two items each: 3^4 deals.
    words = ["AAB", "AB", "CCC"]
    table = votes([(0, 0, words[0]), (0, 0, words[1]), (1, 0, words[2]), (1, 0, "...")])
    majority = ["A", "A", "C"]

    def letter(cards: tuple[int, ...]) -> str:
        count = Counter(majority[card] for card in cards)
        return min(x for x in count if count[x] == max(count.values()))

    deals = list(product(range(3), repeat=4))
    unanimous = np.mean([letter(deal[:2]) == letter(deal[2:]) for deal in deals])
    hands = np.array([[2, 2]])
    null = culture_free_grid(table, countries=2, draws=DRAWS, rng=np.random.default_rng(1), hands=hands)
    assert within(null.unanimous.mean, float(unanimous))
    assert null.all_labels.mean == 0.0
    assert null.pool.tolist() == [3]


def test_the_shuffled_null_keeps_crossed_items_whole() -> None:
    # Two items in two countries: A and B for the first, A and A for the second. Each shuffle gives one country A A,
    # the other B A (a tie, so A): always unanimous. Labels that vote to the lenient side never are.
    rows = [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0)]
    item, country, label = np.array(rows).T
    crossed = tally(item, country, label, 3)
    strict = culture_free_grid(crossed, draws=50, rng=np.random.default_rng(1), deal="shuffle", observed=(0, 1))
    assert (strict.unanimous.mean, strict.unanimous.at_least, strict.all_labels.mean) == (1.0, 1.0, 0.0)
    assert strict.hands.tolist() == [[2, 2]]
    lenient = culture_free_grid(
        crossed, draws=50, rng=np.random.default_rng(1), deal="shuffle", rule=Rule(cell_ties="lenient")
    )
    assert lenient.unanimous.mean == 0.0


def test_the_shuffled_null_of_nested_items_against_enumeration() -> None:
    # Countries of one, one and two items with labels A B C C: 12 ways to share them out, every one with the letters
    # of its items (two different items tie to the stricter).
    table = votes([(0, 0, "A"), (1, 0, "B"), (2, 0, "C"), (2, 0, "C")])
    ways = list(permutations("ABCC"))
    shown = np.mean([len({w[0], w[1], min(w[2:])}) == 3 for w in ways])
    null = culture_free_grid(table, draws=DRAWS, rng=np.random.default_rng(1), deal="shuffle")
    assert within(null.all_labels.mean, float(shown))


def test_synthetic_countries_copy_the_real_ones_in_turn() -> None:
    table = votes([(0, 0, "A"), (0, 0, "B"), (2, 0, "C"), (1, 1, "C")])
    null = culture_free_grid(table, countries=3, draws=5, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(null.hands, [[2, 1, 2], [1, 1, 1]])


def test_shuffles_keep_every_block() -> None:
    codes = np.array([0, 1, 2, 0, 1, 0, 1, 2, 3])
    strata = np.array([0, 1, 1, 0, 2, 2, 1, 2, 3])
    for rows in permuted_rows(codes, 200, np.random.default_rng(1), strata=strata):
        for block in range(4):
            expected = np.sort(codes[strata == block])
            assert (np.sort(rows[:, strata == block], axis=1) == expected).all()
        # all six orders of the block {1, 2, 1} in which 2 takes each place come up
        assert len(np.unique(rows[:, strata == 1], axis=0)) == 3


def test_cards_and_labels_are_dealt_as_said() -> None:
    decks = dealt(4, 10, 500, np.random.default_rng(1), replacement=False)
    times = np.stack([(decks == card).sum(axis=1) for card in range(4)])
    assert decks.shape == (500, 10)
    assert set(times.ravel().tolist()) <= {1, 2, 3}
    assert (times.sum(axis=0) == 10).all()
    counts = np.array([[3, 0, 2], [0, 0, 0], [0, 4, 0]])
    again = redrawn_labels(np.repeat(counts, 5000, axis=0), np.random.default_rng(1))
    np.testing.assert_array_equal(again.sum(axis=1), np.repeat(counts.sum(axis=1), 5000))
    np.testing.assert_allclose(again[:5000].mean(axis=0), [3, 0, 2], atol=4 * (5 * 0.24 / 5000) ** 0.5)
    assert (again[10_000:, 1] == 4).all()
