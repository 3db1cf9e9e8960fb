"""What designs cost and how much a budget buys: the article's numbers and others by hand, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from countback.fetch.errors import UserError
from countback.models.planning import Design, alternatives, cost, largest

RATE = Fraction("1.63")


def test_counts_and_costs_by_hand() -> None:
    """Twelve countries, eleven questions, three items and five labels each, ten items for all."""
    design = Design(questions=11, own=3, shared=10, pools=(8,) * 12, labels=5)
    assert (design.kind, design.countries) == ("hybrid", 12)
    assert design.items == 11 * 3 + 10
    assert design.made == 12 * 33 + 10
    assert design.total == 12 * 43 * 5 == 2580
    assert design.per_cell == Fraction(43, 11)
    assert design.load(0) == Fraction(43 * 5, 8)
    assert sum(cost(design, [RATE] * 12)) == Fraction("4205.40")


def test_prices_by_country() -> None:
    design = Design(questions=1, own=4, shared=0, pools=(3, 5), labels=2)
    assert cost(design, [Fraction("0.5"), Fraction(3)]) == (4, 24)
    assert sum(cost(design, [Fraction(0), Fraction(0)])) == 0


def test_ten_shared_items_at_the_articles_scale() -> None:
    """31 items and five labels in twelve countries are 1,860 labels, and ten shared items 600 more."""
    before = Design(1, 31, 0, (8,) * 12, 5)
    after = Design(1, 31, 10, (8,) * 12, 5)
    assert (before.total, after.total - before.total) == (1860, 600)


def test_designs_beside_one_another() -> None:
    hybrid = Design(3, 4, 10, (6, 7), 2)
    assert alternatives(hybrid) == {
        "nested": Design(3, 4, 0, (6, 7), 2),
        "hybrid": hybrid,
        "crossed": Design(3, 0, 12, (6, 7), 2),
    }
    crossed = Design(3, 0, 10, (6, 7), 2)
    assert alternatives(crossed) == {"nested": Design(3, 4, 0, (6, 7), 2), "crossed": crossed}
    nested = Design(3, 4, 0, (6, 7), 2)
    assert list(alternatives(nested).values()) == [nested, Design(3, 0, 12, (6, 7), 2)]
    assert list(alternatives(Design(3, 4, 0, (6,), 2))) == ["one country"]
    assert [design.kind for design in alternatives(hybrid).values()] == ["nested", "hybrid", "crossed"]


def test_what_a_budget_buys_by_hand() -> None:
    """One more item per cell costs 2 questions x 3 labels x (1 + 2) = 18; five shared items 5 x 3 x 3 = 45."""
    design = Design(2, 1, 5, (4, 4), 3)
    prices = [Fraction(1), Fraction(2)]
    assert largest(design, prices, Fraction(63)) == Design(2, 1, 5, (4, 4), 3)
    assert largest(design, prices, Fraction("62.99")) is None
    assert largest(design, prices, Fraction(98)) == Design(2, 2, 5, (4, 4), 3)
    assert largest(design, prices, Fraction(99)) == Design(2, 3, 5, (4, 4), 3)
    crossed = Design(2, 0, 5, (4, 4), 3)
    assert largest(crossed, prices, Fraction(40)) == Design(2, 0, 4, (4, 4), 3)


@pytest.mark.parametrize("budget", ["0", "17.5", "63", "100.01", "98765.43"])
def test_the_largest_fits_and_one_more_does_not(budget: str) -> None:
    design, prices, money = Design(2, 1, 1, (4, 4), 3), [Fraction("0.35"), Fraction("1.1")], Fraction(budget)
    found = largest(design, prices, money)
    if found is None:
        assert sum(cost(design, prices)) > money
    else:
        more = Design(2, found.own + 1, 1, (4, 4), 3)
        assert sum(cost(found, prices)) <= money < sum(cost(more, prices))


def test_a_budget_beyond_all_measure() -> None:
    design = Design(1, 10, 10, (8,) * 3, 5)
    most = 10**9 // 15  # items of a country: 15 labels each
    assert largest(design, [Fraction(1)] * 3, Fraction(most * 15)) == Design(1, most - 10, 10, (8,) * 3, 5)
    with pytest.raises(UserError, match="a budget that pays for more than 1,000,000,000 labels"):
        largest(design, [Fraction(1)] * 3, Fraction((most + 1) * 15))


def test_a_budget_for_what_costs_nothing() -> None:
    with pytest.raises(UserError, match="cost nothing"):
        largest(Design(1, 1, 0, (4,), 2), [Fraction(0)], Fraction(10))


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ((1, 1, 0, (), 1), "found 0 countries"),
        ((0, 1, 0, (2,), 1), "found 0 questions"),
        ((1, 1, 0, (2,), 0), "found 0 labels"),
        ((1, 0, 0, (2,), 1), "expected some of either"),
        ((1, -1, 5, (2,), 1), "expected some of either"),
        ((1, 1, 0, (5, 4), 5), "nobody labels an item twice"),
        ((10**6, 10**6, 0, (5,), 5), "at most 1,000,000,000"),
    ],
)
def test_what_nobody_can_carry_out(design: tuple, said: str) -> None:
    with pytest.raises(UserError, match=said):
        Design(*design)
