"""What a design can and cannot separate, from who labelled what alone: no label is looked at, nothing is fitted.

A country effect is how strict a country's annotators are; item content is what the items deserve. Where each country
has its own items the two cannot be told apart, whatever the number of labels: countries only differ, and the
difference may be theirs or their items'. Three views of it (models.md, section 2):

rank gain      how many country contrasts are left once every item has its own level. The items and countries of a
               table form a graph with K connected parts, and rank [items, countries] - rank [items] is C - K.
tolerance      share of a country's contrast that its items do not explain: 0 nested, 1 when every item is labelled
               equally in every country.
correlation    of the information (REML) about a country variance and about an *origin* variance, a shift in content
               by the country that an item was made for. Without that factor a nested design looks full-rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Kind = Literal["one country", "nested", "disconnected", "hybrid", "crossed"]

CORRELATION_LIMIT = 0.9
FEW_ANNOTATORS = 5  # fewer say more about themselves than about their country
# Variances at which the information is taken, the residual's being 1. Country and origin are taken at 0, the
# hardest point for telling them apart: a larger variance only lowers the correlation of designs that can.
ITEM_VARIANCE, ANNOTATOR_VARIANCE = 1.0, 0.5


@dataclass(frozen=True)
class Design:
    """A design's diagnosis. Arrays are by country present, in order of `countries` (their codes).

    `items_in` (countries present + 1,) counts items by the number of countries that labelled them. `parts` names the
    connected part of each country in the graph of countries and items; `annotator_parts` counts those of the graph of
    annotators and items. `tolerance` is NaN with one country. `origin_correlation` is NaN where no item is known to be
    made for one country, so that there is no origin to confuse a country with. `nested` holds (inner, outer) pairs of
    factors where the inner one's level gives the outer one's; `aliased` those that divide the labels alike, of which a
    model can hold one.
    """

    labels: int
    items: int
    annotators: int
    countries: Ints
    items_in: Ints
    annotators_in: Ints
    parts: Ints
    annotator_parts: int
    rank_gain: int
    tolerance: Floats
    origin_correlation: float
    shared_annotators: int
    nested: tuple[tuple[str, str], ...]
    aliased: tuple[tuple[str, str], ...]

    @property
    def rank_needed(self) -> int:
        """Country contrasts there are."""
        return max(len(self.countries) - 1, 0)

    @property
    def shared_items(self) -> int:
        """Items labelled in two countries or more."""
        return int(self.items_in[2:].sum())

    @property
    def kind(self) -> Kind:
        """nested: no item is shared; disconnected: some are, yet not every country is linked; crossed: all are."""
        if len(self.countries) < 2:
            return "one country"
        if self.shared_items == 0:
            return "nested"
        if self.rank_gain < self.rank_needed:
            return "disconnected"
        return "crossed" if self.shared_items == self.items else "hybrid"

    @property
    def separable(self) -> bool:
        """Whether differences between countries can be told from differences between their items."""
        correlated = abs(self.origin_correlation) > CORRELATION_LIMIT  # False for NaN
        return len(self.countries) > 1 and self.rank_gain == self.rank_needed and not correlated


def diagnose(
    item: Ints,
    country: Ints,
    annotator: Ints,
    *,
    question: Ints | None = None,
    origin: Ints | None = None,
) -> Design:
    """The diagnosis of a table of labels; all arrays (labels,) of codes, one row for each valid human label.

    `origin` (items,) is the country code an item was made for, -1 where it was made for none. Without it an item that
    only one country labelled counts as made for that country, and any other as made for none. Raises ValueError where
    there is no label.
    """
    if not len(item):
        raise ValueError("found no label; expected one row for each label")
    items, i = np.unique(item, return_inverse=True)
    countries, c = np.unique(country, return_inverse=True)
    people, a = np.unique(annotator, return_inverse=True)
    by_country = _counts(i, c, len(items), len(countries))
    by_annotator = _counts(i, a, len(items), len(people))
    homes = _counts(a, c, len(people), len(countries))
    in_countries = np.diff(by_country.indptr)
    parts = _parts(by_country)[len(items) :]
    if origin is None:
        made_for = np.where(in_countries == 1, by_country.indices[by_country.indptr[:-1]], -1)
    else:
        made_for = np.unique(np.append(origin[items], -1), return_inverse=True)[1][:-1] - 1
    nested, aliased = _factor_pairs(i, c, a, question)
    return Design(
        labels=len(i),
        items=len(items),
        annotators=len(people),
        countries=countries,
        items_in=np.bincount(in_countries, minlength=len(countries) + 1),
        annotators_in=np.diff(homes.tocsc().indptr),
        parts=parts,
        annotator_parts=int(_parts(by_annotator).max()) + 1,
        rank_gain=len(countries) - int(parts.max()) - 1,
        tolerance=_tolerance(by_country),
        origin_correlation=_origin_correlation(by_country, by_annotator, homes, made_for),
        shared_annotators=int((np.diff(homes.indptr) > 1).sum()),
        nested=nested,
        aliased=aliased,
    )


def explain(design: Design, names: Sequence[str]) -> list[str]:
    """The diagnosis in sentences for a team; `names` are the countries by code. The first says what it comes to."""
    count = len(design.countries)
    if count < 2:
        return ["One country: nothing about differences between countries can be computed from these labels."]
    out = [_headline(design, names)]
    low = int(np.argmin(design.tolerance))
    out.append(
        f"Of the differences between countries, {design.rank_gain} of {design.rank_needed} are left once every item "
        f"has a level of its own; least is left for {names[design.countries[low]]}, a share of "
        f"{design.tolerance[low]:.2f} (0: all items of its own, 1: all items shared by every country alike)."
    )
    if np.isfinite(design.origin_correlation):
        out.append(
            "Correlation of a country effect with a shift in content by the country the items were made for: "
            f"{design.origin_correlation:.2f} (above {CORRELATION_LIMIT} they cannot be told apart)."
        )
    if design.shared_annotators == 0:
        few, many = int(design.annotators_in.min()), int(design.annotators_in.max())
        out.append(
            "Every annotator labelled for one country, so a country effect is an effect of its annotators too: "
            f"{few if few == many else f'{few} to {many}'} of them stand for a country"
            + (", too few to speak for it." if few < FEW_ANNOTATORS else ".")
        )
    if design.annotator_parts > 1:
        where = " (each country its own)" if design.annotator_parts == count == int(design.parts.max()) + 1 else ""
        out.append(
            f"Annotators and items fall into {design.annotator_parts} parts that share nothing{where}: how strict "
            "the annotators of one part are cannot be compared with those of another."
        )
    for one, other in design.aliased:
        out.append(f"{one} and {other} divide the labels in the same way: a model can hold only one of them.")
    return out


def _headline(design: Design, names: Sequence[str]) -> str:
    count, shared = len(design.countries), design.shared_items
    if design.kind == "nested":
        return (
            f"Each of the {count} countries labelled its own items ({design.items} items, none shared): a "
            "difference between countries may be a difference between their items, and no analysis of these "
            "labels can tell which."
        )
    if design.kind == "disconnected":
        groups = [
            ", ".join(names[c] for c in design.countries[design.parts == part])
            for part in range(int(design.parts.max()) + 1)
        ]
        return (
            f"{shared} of {design.items} items are shared, and they link countries only within: "
            f"{' | '.join(groups)}. Between these groups a difference between countries may be one between their "
            "items."
        )
    if not design.separable:
        return (
            f"{shared} of {design.items} items are shared between countries, too few to tell a country's "
            "strictness from what its own items hold."
        )
    everywhere = int(design.items_in[-1])
    return (
        f"{shared} of {design.items} items were labelled in more than one of the {count} countries ({everywhere} "
        "in all of them): differences between countries can be told from differences between items."
    )


def _counts(rows: Ints, columns: Ints, n_rows: int, n_columns: int) -> sparse.csr_array:
    """How many labels each pair has, shape (n_rows, n_columns)."""
    ones = np.ones(len(rows))
    return sparse.coo_array((ones, (rows, columns)), shape=(n_rows, n_columns)).tocsr()


def _parts(pairs: sparse.csr_array) -> Ints:
    """The connected part of each row and then of each column in the graph that `pairs` draws between them."""
    graph = sparse.block_array([[None, pairs], [pairs.T, None]], format="csr")
    return np.asarray(csgraph.connected_components(graph, directed=False)[1])


def _tolerance(by_country: sparse.csr_array) -> Floats:
    """1 - R^2 of each country's indicator on the items, over labels: what is left within items over what there is."""
    size = by_country.sum(axis=1)
    total, labels = by_country.sum(axis=0), by_country.sum()
    if len(total) < 2:
        return np.full(len(total), np.nan)
    explained = (by_country.multiply(by_country) / size[:, None]).sum(axis=0)
    return np.asarray(np.maximum(total - explained, 0.0) / (total * (1 - total / labels)))


def _origin_correlation(
    by_country: sparse.csr_array, by_annotator: sparse.csr_array, homes: sparse.csr_array, made_for: Ints
) -> float:
    """Correlation of the REML information about the variances of country and of origin; NaN without an origin.

    Items and annotators are random. I_ij = tr(P Z_i Z_i' P Z_j Z_j') / 2, so all it takes is Z' P Z of the few
    columns Z of countries and origins; V^-1 Z comes from the mixed model equations. Items made for none share a
    level of origin.
    """
    levels, level = np.unique(made_for, return_inverse=True)
    (n_items, n_countries), n_levels = by_country.shape, len(levels)
    if n_countries < 2 or n_levels < 2:
        return float("nan")
    member = _counts(np.arange(n_items), level, n_items, n_levels)
    # Z'Z of the fixed columns with each other and with the random ones, from counts alone.
    across = by_country.T @ member
    size = member.T @ by_annotator.sum(axis=1)
    own = sparse.block_array(
        [[sparse.diags_array(by_country.sum(axis=0)), across], [across.T, sparse.diags_array(size)]]
    )
    of_items = sparse.hstack([by_country, sparse.diags_array(by_annotator.sum(axis=1)) @ member]).toarray()
    of_people = sparse.hstack([homes, by_annotator.T @ member]).toarray()
    for_items, for_people = _solve(by_annotator, of_items, of_people)
    information = own.toarray() - of_items.T @ for_items - of_people.T @ for_people
    ones = information[:, :n_countries].sum(axis=1)  # the countries' columns add up to the intercept
    projected = information - np.outer(ones, ones) / ones[:n_countries].sum()
    squares = projected**2
    country, origin = squares[:n_countries, :n_countries].sum(), squares[n_countries:, n_countries:].sum()
    if origin <= 1e-12 * size.sum() ** 2:
        return float("nan")
    return float(squares[:n_countries, n_countries:].sum() / np.sqrt(country * origin))


def _solve(pairs: sparse.csr_array, of_items: Floats, of_people: Floats) -> tuple[Floats, Floats]:
    """The random part of the mixed model equations solved for all columns: (items, m) and (annotators, m).

    The items' block is diagonal and eliminated; conjugate gradients do the rest.
    """
    items = (pairs.sum(axis=1) + 1 / ITEM_VARIANCE)[:, None]
    people = (pairs.sum(axis=0) + 1 / ANNOTATOR_VARIANCE)[:, None]
    across = pairs.T.tocsr()
    solution, rest = np.zeros_like(of_people), of_people - across @ (of_items / items)
    scaled = rest / people
    direction, size = scaled, (rest * scaled).sum(axis=0)
    small = 1e-14 * size  # of a squared norm
    for _ in range(len(rest)):  # exact arithmetic needs no more
        if (size <= small).all():
            break
        ahead = people * direction - across @ ((pairs @ direction) / items)
        step = size / np.maximum((direction * ahead).sum(axis=0), np.finfo(float).tiny)
        solution += step * direction
        rest -= step * ahead
        scaled = rest / people
        before, size = size, (rest * scaled).sum(axis=0)
        direction = scaled + size / np.maximum(before, np.finfo(float).tiny) * direction
    return (of_items - pairs @ solution) / items, solution


def _factor_pairs(
    item: Ints, country: Ints, annotator: Ints, question: Ints | None
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Which factors of the usual model nest in one another, and which divide the labels alike."""
    factors = {"item": item, "country": country, "annotator": annotator}
    if question is not None and len(np.unique(question)) > 1:
        factors["question"] = np.unique(question, return_inverse=True)[1]
        factors["country by question"] = _crossed(country, factors["question"])
    factors["item by country"] = _crossed(item, country)
    factors = {name: codes for name, codes in factors.items() if codes.max() > 0}
    nested, aliased = [], []
    for one, other in combinations(factors, 2):
        down, up = _gives(factors[one], factors[other]), _gives(factors[other], factors[one])
        if down and up:
            aliased.append((one, other))
        elif (down or up) and " by " not in one + other:  # an interaction gives its own factors, which says nothing
            nested.append((one, other) if down else (other, one))
    return tuple(nested), tuple(aliased)


def _crossed(one: Ints, other: Ints) -> Ints:
    """A code for every pair that occurs."""
    return np.asarray(np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other, return_inverse=True)[1])


def _gives(inner: Ints, outer: Ints) -> bool:
    """Whether the level of `inner` says the level of `outer`, row by row."""
    table = np.zeros(int(inner.max()) + 1, outer.dtype)
    table[inner] = outer
    return bool((table[inner] == outer).all())
