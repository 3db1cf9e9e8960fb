"""The country's share against mean squares by hand, and every design that cannot answer."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.shares import country_share


def crossed(table):
    """Codes from labels (items, countries, annotators of the country)."""
    item, country, who = np.indices(table.shape)
    return item.ravel(), country.ravel(), (country * table.shape[2] + who).ravel(), table.ravel()


# Three items, two countries, two annotators each. The second country is one stricter on every item but the last.
TABLE = np.array([[[0, 1], [1, 2]], [[2, 2], [3, 3]], [[4, 3], [4, 4]]])


def mean_squares(y):
    """Textbook analysis of variance of a full table: items by annotators nested in countries."""
    items, countries, people = y.shape
    i, c, ic, a = y.mean((1, 2)), y.mean((0, 2)), y.mean(2), y.mean(0)
    m = y.mean()
    ms_i = countries * people * ((i - m) ** 2).sum() / (items - 1)
    ms_c = items * people * ((c - m) ** 2).sum() / (countries - 1)
    ms_ic = people * ((ic - i[:, None] - c + m) ** 2).sum() / (items - 1) / (countries - 1)
    ms_a = items * ((a - c[:, None]) ** 2).sum() / countries / (people - 1)
    rest = y - ic[:, :, None] - a + c[:, None]
    ms_e = (rest**2).sum() / countries / (items - 1) / (people - 1)
    return {
        "country": (ms_c - ms_ic - ms_a + ms_e) / (items * people),
        "item": (ms_i - ms_ic) / (countries * people),
        "item_country": (ms_ic - ms_e) / people,
        "annotator": (ms_a - ms_e) / items,
        "residual": ms_e,
    }


def test_a_table_small_enough_for_paper():
    """Cells 0.5 1.5 | 2 3 | 3.5 4; countries 2 and 17/6, items 1, 2.5, 3.75, grand mean 29/12."""
    found = country_share(*crossed(TABLE))
    by_hand = mean_squares(TABLE.astype(float))
    # Items lie 17/12 below, 1/12 and 4/3 above the grand mean; item:country is 1/12, 1/12, 1/6 in size.
    ms_item, ms_cells = 4 * ((17 / 12) ** 2 + (1 / 12) ** 2 + (4 / 3) ** 2) / 2, 2 * 2 * (2 / 144 + 1 / 36) / 2
    assert by_hand["item"] == pytest.approx((ms_item - ms_cells) / 4)
    for name, value in by_hand.items():
        assert getattr(found.components, name) == pytest.approx(value), name
    assert found.effects == pytest.approx([-5 / 12, 5 / 12])
    assert found.share == pytest.approx(by_hand["country"] / sum(by_hand.values()))
    assert (found.countries, found.items, found.annotators, found.labels) == (2, 3, 4, 12)


@pytest.mark.parametrize("seed", range(6))
def test_full_tables_give_the_mean_squares(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 7, 3)
    table = rng.integers(0, 5, shape)
    found = country_share(*crossed(table))
    for name, value in mean_squares(table.astype(float)).items():
        assert getattr(found.components, name) == pytest.approx(value, abs=1e-12), name


def test_a_negative_share_is_kept_and_said():
    # Both countries have the same mean, annotators within them differ: the country's mean square is 0.
    table = np.array([[[0, 2], [2, 0]], [[1, 3], [3, 1]], [[2, 4], [4, 2]]])
    found = country_share(*crossed(table))
    by_hand = mean_squares(table.astype(float))
    assert by_hand["country"] == pytest.approx(-1.0)  # (0 - 0 - 6 + 0) / 6
    assert found.components.country == pytest.approx(-1.0)
    assert found.share < 0
    assert found.low == 0
    assert any("below 0" in note for note in found.notes)


def test_scores_replace_codes():
    labels = crossed(TABLE)
    scores = [0.0, 1.0, 4.0, 9.0, 16.0]
    found = country_share(*labels, scores=scores)
    assert found.components.country == pytest.approx(mean_squares(TABLE.astype(float) ** 2)["country"])


def test_without_interaction_it_lies_in_the_residual():
    with_it, without = country_share(*crossed(TABLE)), country_share(*crossed(TABLE), interaction=False)
    assert np.isnan(without.components.item_country)
    assert without.components.item == with_it.components.item
    assert without.share == pytest.approx(without.components.country / without.components.total)


def test_one_label_in_a_cell():
    rng = np.random.default_rng(1)
    item, country, _, label = crossed(rng.integers(0, 3, (30, 4, 1)))
    found = country_share(item, country, country * 5 + item % 5, label)
    assert np.isnan(found.components.item_country)
    assert any("one label in a country" in note for note in found.notes)


def test_annotators_of_one_label_each():
    rng = np.random.default_rng(1)
    item, country, _, label = crossed(rng.integers(0, 3, (30, 4, 3)))
    found = country_share(item, country, np.arange(len(item)), label)
    assert np.isnan(found.components.annotator)
    assert any("gave one label" in note for note in found.notes)
    assert 0 <= found.low <= max(found.share, 0) <= found.high <= 1


def test_items_of_one_country_are_left_out_and_counted():
    item, country, annotator, label = crossed(TABLE)
    more = [
        np.append(old, new) for old, new in ((item, [3, 3]), (country, [0, 0]), (annotator, [0, 1]), (label, [4, 4]))
    ]
    found, without = country_share(*more), country_share(item, country, annotator, label)
    assert found.components == without.components
    assert found.notes[0].startswith("1 of 4 items, with 2 labels, were labelled in one country only")


def test_an_annotator_of_two_countries_counts_as_two():
    item, country, annotator, label = crossed(TABLE)
    found = country_share(item, country, annotator % 2, label)
    assert found.components == country_share(item, country, annotator, label).components
    assert any("more than one country" in note for note in found.notes)


REFUSED = {
    "nested": (([0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 1, 2]), "found no item that was labelled in two"),
    "one country": (([0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 2]), "found one country"),
    "no label": (([0, 0], [0, 1], [0, 1], [-1, -1]), "found no valid label"),
    "no variation": (crossed(np.ones((2, 2, 2), np.int64)), "the same label everywhere"),
    "one annotator a country": (crossed(np.array([[[0], [1]], [[1], [2]]])), "one annotator in each country"),
    "one shared item": (crossed(np.array([[[0, 1], [1, 2]]])), "no two items"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_designs_that_cannot_answer(name):
    labels, sentence = REFUSED[name]
    with pytest.raises(UserError, match=sentence) as error:
        country_share(*map(np.asarray, labels))
    assert "\n" not in str(error.value)
    assert "expected" in str(error.value) or "needs" in str(error.value)


def test_groups_of_countries_that_nothing_links():
    item, country, annotator, label = crossed(TABLE)
    both = [np.append(old, old + shift) for old, shift in ((item, 3), (country, 2), (annotator, 4), (label, 0))]
    with pytest.raises(UserError, match="groups of countries that no item links"):
        country_share(*both)


def test_items_and_annotators_that_divide_alike():
    """Each annotator labels one item, each item has one annotator a country, twice: annotator is item:country."""
    item, country, _, label = crossed(TABLE)
    with pytest.raises(UserError, match="divide the labels alike"):
        country_share(item, country, item * 2 + country, label)


def test_too_few_labels_for_any_share():
    item, country = [1, 0, 0, 0, 0, 1, 0, 0], [1, 1, 2, 2, 2, 0, 2, 0]
    annotator, label = [6, 5, 8, 10, 9, 2, 9, 0], [1, 0, 1, 1, 1, 0, 0, 1]
    with pytest.raises(UserError, match="from 8 labels of 2 items: no share of that exists"):
        country_share(*map(np.array, (item, country, annotator, label)))


def test_labels_that_are_not_balanced_say_so():
    item, country, annotator, label = crossed(TABLE)
    found = country_share(item[1:], country[1:], annotator[1:], label[1:])
    assert found.notes[0].startswith(
        "not balanced: 1 to 2 labels of an item in a country, and 0 of 6 pairs without any"
    )
