"""What a design can separate: nested, crossed and hybrid tables, held against dense linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from countback.models.identifiability import ANNOTATOR_VARIANCE, ITEM_VARIANCE, diagnose, explain

NAMES = [f"c{code}" for code in range(30)]
Table = tuple[Any, Any, Any]


def table(rng: np.random.Generator, countries: int, own: int, shared: int, *, pool: int = 8, labels: int = 3) -> Table:
    """`own` items for each country and `shared` ones for all, each labelled by `labels` of a country's `pool`."""
    rows = []
    for item in range(countries * own + shared):
        for country in range(countries):
            if item >= countries * own or item // own == country:
                rows += [(item, country, country * pool + who) for who in rng.choice(pool, labels, replace=False)]
    item, country, annotator = np.array(rows).T
    return item, country, annotator


def one_hot(codes: Any) -> Any:
    return np.eye(int(codes.max()) + 1)[codes]


def dense_correlation(item: Any, country: Any, annotator: Any, origin: Any) -> float:
    """The REML information about two variances, from the full covariance of all labels."""
    z_item, z_annotator, z_country, z_origin = map(one_hot, (item, annotator, country, origin))
    v = np.eye(len(item)) + ITEM_VARIANCE * z_item @ z_item.T + ANNOTATOR_VARIANCE * z_annotator @ z_annotator.T
    w = np.linalg.inv(v)
    one = np.ones((len(item), 1))
    p = w - w @ one @ one.T @ w / (one.T @ w @ one)

    def trace(a: Any, b: Any) -> float:
        return float(np.trace(p @ a @ a.T @ p @ b @ b.T))

    return trace(z_country, z_origin) / np.sqrt(trace(z_country, z_country) * trace(z_origin, z_origin))


@pytest.mark.parametrize(
    ("own", "shared", "kind", "separable"),
    [(31, 0, "nested", False), (0, 10, "crossed", True), (21, 10, "hybrid", True), (10, 2, "hybrid", True)],
)
def test_the_three_designs(own: int, shared: int, kind: str, separable: bool) -> None:
    item, country, annotator = table(np.random.default_rng(7), 4, own, shared)
    design = diagnose(item, country, annotator)
    assert (design.kind, design.separable) == (kind, separable)
    assert design.shared_items == shared
    assert design.items_in.tolist() == [0, 4 * own, 0, 0, shared]
    # rank gain by its definition
    items, both = one_hot(item), np.hstack([one_hot(item), one_hot(country)])
    assert design.rank_gain == np.linalg.matrix_rank(both) - np.linalg.matrix_rank(items)
    # tolerance by its definition: 1 - R^2 of the country's indicator on the items
    for code in range(4):
        x = (country == code).astype(float)
        rest = x - items @ np.linalg.lstsq(items, x, rcond=None)[0]
        assert design.tolerance[code] == pytest.approx((rest @ rest) / ((x - x.mean()) @ (x - x.mean())), abs=1e-9)


def test_a_nested_design_says_so_before_anything_else() -> None:
    item, country, annotator = table(np.random.default_rng(1), 4, 31, 0)
    design = diagnose(item, country, annotator)
    assert design.origin_correlation == pytest.approx(1.0)
    assert ("item", "country") in design.nested
    assert ("annotator", "country") in design.nested
    assert ("item", "item by country") in design.aliased
    said = explain(design, NAMES)
    assert "no analysis of these labels can tell which" in said[0]
    assert "0 of 3" in said[1]


@pytest.mark.parametrize("shared", [1, 2, 6])
@pytest.mark.parametrize("told", [False, True])
def test_correlation_with_an_origin_is_that_of_the_full_information(shared: int, told: bool) -> None:
    item, country, annotator = table(np.random.default_rng(shared), 3, 8, shared, pool=5)
    origin = np.repeat([0, 1, 2, -1], [8, 8, 8, shared])
    if told:  # the shared items were made for some country too
        origin[24:] = np.arange(shared) % 3
    design = diagnose(item, country, annotator, origin=origin if told else None)
    level = np.unique(origin, return_inverse=True)[1]
    expected = dense_correlation(item, country, annotator, level[item])
    assert design.origin_correlation == pytest.approx(expected, abs=1e-5)


def test_crossed_items_of_known_origin_are_cleared() -> None:
    item, country, annotator = table(np.random.default_rng(3), 4, 0, 12)
    design = diagnose(item, country, annotator, origin=np.arange(12) % 4)
    # every country labels every item equally often, so an item's origin says nothing about who labelled it
    assert abs(design.origin_correlation) < 0.01
    assert design.separable


def test_an_origin_that_goes_with_the_country_is_flagged_although_the_rank_is_full() -> None:
    # one shared item among 600 with one annotator each: the rank is full, and the data are as good as nested
    rng = np.random.default_rng(5)
    item, country, annotator = table(rng, 2, 300, 1, pool=200, labels=1)
    design = diagnose(item, country, annotator)
    assert design.rank_gain == design.rank_needed == 1
    assert design.origin_correlation > 0.9
    assert not design.separable
    assert "too few to tell" in explain(design, NAMES)[0]


def test_countries_linked_in_groups_only() -> None:
    # items 0-4 are shared by countries 0 and 1, items 5-9 by 2 and 3
    item = np.repeat(np.arange(10), 2)
    country = np.array([0, 1] * 5 + [2, 3] * 5)
    design = diagnose(item, country, country)
    assert design.kind == "disconnected"
    assert design.rank_gain == 2
    assert not design.separable
    assert design.parts[0] == design.parts[1] != design.parts[2] == design.parts[3]
    assert "c0, c1 | c2, c3" in explain(design, NAMES)[0]
    assert design.annotator_parts == 2


def test_aliased_pairs_of_a_crossed_block() -> None:
    # one item a question: question = item, and country by question = item by country (models.md, section 1)
    item, country, annotator = table(np.random.default_rng(2), 4, 0, 10)
    design = diagnose(item, country, annotator, question=item)
    assert ("item", "question") in design.aliased
    assert ("country by question", "item by country") in design.aliased
    assert design.separable


def test_codes_need_not_be_dense_and_order_means_nothing() -> None:
    rng = np.random.default_rng(11)
    item, country, annotator = table(rng, 3, 5, 4)
    design = diagnose(item, country, annotator)
    order = rng.permutation(len(item))
    other = diagnose(item[order] * 7 + 3, country[order] * 2 + 5, annotator[order] * 9)
    assert other.countries.tolist() == [5, 7, 9]
    assert (other.kind, other.rank_gain, other.items) == (design.kind, design.rank_gain, design.items)
    assert other.origin_correlation == pytest.approx(design.origin_correlation, abs=1e-6)
    np.testing.assert_allclose(other.tolerance, design.tolerance)


def test_one_country_and_no_label() -> None:
    ones = np.zeros(5, int)
    design = diagnose(np.arange(5), ones, ones)
    assert (design.kind, design.separable, design.rank_needed) == ("one country", False, 0)
    assert np.isnan(design.tolerance).all()
    assert explain(design, NAMES) == [
        "One country: nothing about differences between countries can be computed from these labels."
    ]
    with pytest.raises(ValueError, match="found no label"):
        diagnose(ones[:0], ones[:0], ones[:0])


def test_what_is_left_of_countries_beside_items_is_said_with_its_share() -> None:
    """Items 0 and 1 have a label of either country, 2 and 3 two of one: of the indicator's squares, 8 / 4 = 2, those
    within items are 2 x 1/2 = 1, so half is left."""
    item = np.array([0, 1, 2, 2, 0, 1, 3, 3])
    country = np.repeat([0, 1], 4)
    said = explain(diagnose(item, country, np.arange(8)), NAMES)
    assert said[1] == (
        "Of the differences between countries, 1 of 1 are left once every item has a level of its own; least is left "
        "for c0, a share of 0.50 (0: all items of its own, 1: all items shared by every country alike)."
    )


def test_few_annotators_a_country_are_named() -> None:
    item = np.repeat(np.arange(6), 6)
    annotator = np.tile(np.arange(6), 6)
    said = explain(diagnose(item, annotator // 3, annotator), NAMES)
    assert any("3 of them stand for a country, too few" in line for line in said)
