"""A study before it is paid for: which items go to which countries, what that costs, and how much a budget buys.

A design has *own* items, made for one country (so many in each country and question), and *shared* items that every
country labels. With own items alone it is nested, with shared ones alone crossed, with both hybrid. What it can tell is
in `planning_cells` (a cell's letter, a judge beside a human) and `planning_power` (the country's share); who labels
what is in `assignment`. Money is exact: prices and costs are fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from countback.fetch.errors import UserError

Kind = Literal["one country", "nested", "hybrid", "crossed"]
MOST = 10**9  # labels of one design; more is a slip of the keyboard


@dataclass(frozen=True)
class Design:
    """`own` items in each country and question, `shared` items for all countries, `labels` on each item in a country.

    `pools` is the number of annotators of each country. Raises UserError for a design that nobody could carry out.
    """

    questions: int
    own: int
    shared: int
    pools: tuple[int, ...]
    labels: int

    def __post_init__(self) -> None:
        counts = {"questions": self.questions, "labels of an item": self.labels, "countries": len(self.pools)}
        for what, count in counts.items():
            if count < 1:
                raise UserError(f"found {count} {what}; expected 1 or more")
        if self.own < 0 or self.shared < 0 or self.own + self.shared == 0:
            raise UserError(f"found {self.own} items per cell and {self.shared} shared items; expected some of either")
        if min(self.pools) < self.labels:
            raise UserError(
                f"found {self.labels} labels of an item in a country of {min(self.pools)} annotators, and nobody "
                f"labels an item twice; expected {self.labels} annotators or more, or fewer labels of an item"
            )
        if self.total > MOST:
            raise UserError(f"found a design of {self.total:,} labels; expected at most {MOST:,}: fewer items")

    @property
    def countries(self) -> int:
        return len(self.pools)

    @property
    def kind(self) -> Kind:
        if self.countries == 1:
            return "one country"
        return "nested" if not self.shared else "hybrid" if self.own else "crossed"

    @property
    def items(self) -> int:
        """Items that a country labels."""
        return self.questions * self.own + self.shared

    @property
    def made(self) -> int:
        """Items that have to be written."""
        return self.countries * self.questions * self.own + self.shared

    @property
    def per_cell(self) -> Fraction:
        """Items of a question in a country, shared ones included: their mean over the questions."""
        return Fraction(self.items, self.questions)

    @property
    def total(self) -> int:
        """Labels of all countries."""
        return self.countries * self.items * self.labels

    def load(self, country: int) -> Fraction:
        """Items for each annotator of a country, on average."""
        return Fraction(self.items * self.labels, self.pools[country])


def alternatives(design: Design) -> dict[Kind, Design]:
    """The design beside those with as many items in a cell where none of them, or all of them, are shared.

    A crossed design keeps its number of items; made nested, each country gets as many of its own, at most one a
    question more.
    """
    own = design.own or -(-design.shared // design.questions)
    found: dict[Kind, Design] = {"nested": replace(design, own=own, shared=0)}
    if design.kind == "hybrid":
        found["hybrid"] = design
    shared = design.shared if not design.own else own * design.questions
    found["crossed"] = replace(design, own=0, shared=shared)
    return found if design.countries > 1 else {"one country": replace(design, own=own, shared=0)}


def cost(design: Design, prices: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """What each country's labels cost at its price a label."""
    return tuple(price * design.items * design.labels for price in prices)


def largest(design: Design, prices: Sequence[Fraction], budget: Fraction) -> Design | None:
    """The design with the most items per cell that the budget pays for; shared items beside own ones stay as they are.

    None where it does not even pay for one item in each cell. Raises UserError where labels cost nothing, so that a
    budget sets no limit, and where it pays for more than MOST labels.
    """
    unit = design.questions * design.labels * sum(prices)
    if unit == 0:
        raise UserError("found a budget and labels that cost nothing; expected a price above 0, or no budget")
    crossed = design.kind == "crossed"
    kept = Fraction(0) if crossed else design.shared * design.labels * sum(prices)
    most = (budget - kept) // unit
    if most < 1:
        return None
    items = design.questions * most + (0 if crossed else design.shared)
    if design.countries * design.labels * items > MOST:
        raise UserError(f"found a budget that pays for more than {MOST:,} labels; expected a smaller one, or none")
    return replace(design, shared=design.questions * most) if crossed else replace(design, own=most)
