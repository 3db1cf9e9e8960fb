"""A plan: what a study costs and what it can tell, beside the designs it could be instead. Words are made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from countback.audit.plan.request import Pilot
from countback.fetch.errors import UserError
from countback.models.planning import Design, Kind, alternatives, cost, largest
from countback.models.planning_cells import CellStability, Labelling, Lead, lead, letter_chances, stability_of
from countback.models.planning_power import Parts, Power, share_power
from countback.models.resampling import Floats

# Assumed where no pilot says it. With these a held-out annotator matches the others in 66% of comparisons and 11% of
# cells of two or three items are ties: what the registry's cubes paper prints for three levels (66.0%; 5 of 44).
AGREEMENT, OF_CELLS = 0.37, 0.8
MATCH = 0.83  # of a judge with the majority of all humans, as printed there too
ITEMS_SHOWN = (1, 2, 3, 5, 8, 10, 15, 20, 30)
WIDTHS_SHOWN = (20, 50, 100, 200, 500, 1000)
CLOSE = 0.05  # a difference that teams ask to be sure of
SURE = 0.9  # of a letter


@dataclass(frozen=True)
class Assumed:
    """What the numbers rest on. `lead` is a pilot's own, or None to take `match`."""

    model: Labelling
    match: float
    lead: Lead | None
    parts: Parts


@dataclass(frozen=True)
class Row:
    """One design: its costs (empty without prices), one cell, judge and human in a country, the country's share."""

    kind: Kind
    design: Design
    costs: tuple[Fraction, ...]
    cell: CellStability
    half_width: float
    powers: tuple[Power, ...]
    affordable: Design | None

    @property
    def cost(self) -> Fraction:
        return sum(self.costs, Fraction(0))


@dataclass(frozen=True)
class Plan:
    """The answer. `asked` is the row of the design asked for; `fitted` says that the budget chose its items per cell.

    `more` are the same with more countries or more shared items, with the labels they take. `lead` is of items with the
    design's number of labels; None where one label an item leaves nothing to compare with.
    """

    names: tuple[str, ...]
    design: Design
    prices: tuple[Fraction, ...]
    budget: Fraction | None
    fitted: bool
    assumed: Assumed
    pilot: Pilot | None
    rows: tuple[Row, ...]
    cells: tuple[CellStability, ...]
    lead: Lead | None
    more: tuple[tuple[str, Design, tuple[Power, ...]], ...]
    seed: int
    draws: int

    @property
    def asked(self) -> Row:
        return next(row for row in self.rows if row.design == self.design)

    @property
    def over(self) -> bool:
        """Whether the design asked for costs more than the budget."""
        return self.budget is not None and self.asked.cost > self.budget


def make_plan(
    names: Sequence[str],
    *,
    questions: int,
    own: int | None,
    shared: int,
    pools: tuple[int, ...],
    labels: int,
    prices: tuple[Fraction, ...],
    budget: Fraction | None,
    shares: Sequence[float],
    scale: int,
    agreement: float | None,
    pilot: Pilot | None,
    seed: int,
    draws: int,
    tell: Callable[[str], None],
) -> Plan:
    """Everything that is shown. Without `own` the budget says how many items a cell gets, or it is 10. UserError."""
    design = Design(questions, 10 if own is None else own, shared, pools, labels)
    if design.countries == 1 and shared:
        design = replace(design, own=design.own or -(-shared // questions), shared=0)
    fitted = own is None and budget is not None
    if fitted:
        design = _within(design, prices, budget or Fraction(0))
    assumed = _assumed(scale, agreement, pilot)
    found = assumed.lead
    if found is None and labels > 1:
        found = lead(assumed.model, labels, assumed.match, np.random.default_rng(seed))
    chances = letter_chances(assumed.model, labels, np.random.default_rng(seed))
    rows = []
    for kind, other in alternatives(design).items():
        tell(f"{kind}: {other.total:,} labels")
        rows.append(_row(kind, other, prices, budget, assumed, chances, found, shares, draws, seed))
    shown = sorted({*ITEMS_SHOWN, int(design.per_cell)} - {0})
    cells = tuple(stability_of(chances, items, np.random.default_rng(seed)) for items in shown)
    more = []
    for what, other in _larger(design):
        tell(f"{what}: {other.total:,} labels")
        more.append((what, other, _powers(other, shares, assumed, draws, seed)))
    return Plan(
        tuple(names),
        design,
        prices,
        budget,
        fitted,
        assumed,
        pilot,
        tuple(rows),
        cells,
        found,
        tuple(more),
        seed,
        draws,
    )


def _within(design: Design, prices: tuple[Fraction, ...], budget: Fraction) -> Design:
    """The largest design that the budget pays for."""
    if not prices:
        raise UserError("--budget needs to know what a label costs; add --price 1.63, or --prices FILE by country")
    found = largest(design, prices, budget)
    if found is None:
        least = replace(design, own=1)
        smallest = float(sum(cost(least, prices), Fraction(0)))
        raise UserError(
            f"--budget {float(budget):,.2f} does not pay for one item in each cell beside {design.shared} shared "
            f"items: that takes {least.total:,} labels, {smallest:,.2f}; expected a larger budget, or fewer shared "
            "items, countries, questions or labels an item"
        )
    return found


def _assumed(scale: int, agreement: float | None, pilot: Pilot | None) -> Assumed:
    if pilot is not None:
        return Assumed(pilot.model, MATCH, pilot.lead, pilot.parts or Parts())
    agreed = AGREEMENT if agreement is None else agreement
    between = OF_CELLS * agreed
    within = 1 - (1 - agreed) / (1 - between)
    return Assumed(Labelling((1 / scale,) * scale, between, within), MATCH, None, Parts())


def _row(
    kind: Kind,
    design: Design,
    prices: tuple[Fraction, ...],
    budget: Fraction | None,
    assumed: Assumed,
    chances: Floats,
    found: Lead | None,
    shares: Sequence[float],
    draws: int,
    seed: int,
) -> Row:
    return Row(
        kind=kind,
        design=design,
        costs=cost(design, prices) if prices else (),
        cell=stability_of(chances, max(int(design.per_cell), 1), np.random.default_rng(seed)),
        half_width=found.half_width(design.items) if found else float("nan"),
        powers=_powers(design, shares, assumed, draws, seed),
        affordable=_affordable(design, prices, budget),
    )


def _affordable(design: Design, prices: tuple[Fraction, ...], budget: Fraction | None) -> Design | None:
    """The largest of its kind that the budget pays for; None without a budget, or with one that limits nothing."""
    if budget is None or not sum(prices):
        return None
    try:
        return largest(design, prices, budget)
    except UserError:  # more labels than any study has
        return None


def _powers(design: Design, shares: Sequence[float], assumed: Assumed, draws: int, seed: int) -> tuple[Power, ...]:
    """For each true share; from the same random numbers for all designs, so that they differ by what they are."""
    return tuple(
        share_power(design, share, parts=assumed.parts, draws=draws, rng=np.random.default_rng(seed))
        for share in shares
    )


def _larger(design: Design) -> list[tuple[str, Design]]:
    """The same with three times the shared items, and with twice the countries."""
    if design.kind not in ("hybrid", "crossed"):
        return []
    return [
        ("3 x the shared items", replace(design, shared=3 * design.shared)),
        ("2 x the countries", replace(design, pools=2 * design.pools)),
    ]
