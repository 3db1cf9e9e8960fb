"""A plan as one HTML file: the words and tables of the text, and two curves. Without scripts; jinja2 is an extra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from countback.audit.files import put
from countback.audit.plan import SURE, WIDTHS_SHOWN, Plan
from countback.audit.plan import text as words
from countback.audit.templating import template

WIDE, HIGH, LEFT, FOOT = 480, 220, 56, 40  # of a picture, and the room for its labels


@dataclass(frozen=True)
class Curve:
    """Points on a scale: places in the picture's units with what they say; `ticks` of both axes; a line to reach."""

    title: str
    x_name: str
    points: tuple[tuple[float, float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    goal: float
    goal_words: str

    @property
    def path(self) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in self.points)


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    notes: Sequence[str] = ()
    curve: Curve | None = None


def write_html(plan: Plan, path: Path) -> None:
    """Writes the page. Raises UserError without jinja2, and where the file cannot be written."""
    put(path, page(plan))


def page(plan: Plan) -> str:
    """The page as text. Raises UserError without jinja2."""
    html = template("plan.html.j2", "An HTML page", "--json needs nothing.")
    return html.render(
        headline=words.headline(plan),
        pilot=plan.pilot is not None,
        advice=words.advice(plan),
        sections=_sections(plan),
        assumptions=words.assumptions(plan),
        version=version("countback"),
        wide=WIDE,
        high=HIGH,
        left=LEFT,
        foot=FOOT,
    )


def _sections(plan: Plan) -> list[Section]:
    parts = [
        Section(
            "designs", "Designs side by side (* as asked)", *words.designs_table(plan), words.designs_caption(plan)
        ),
        Section(
            "share",
            "The country's share of label variance, in simulated data sets",
            *words.shares_table(plan),
            words.shares_caption(plan),
            words.not_told(plan),
        ),
        Section(
            "cells",
            "One letter per cell",
            *words.cells_table(plan),
            words.cells_caption(plan),
            curve=_letter_curve(plan),
        ),
    ]
    if plan.lead is not None:
        table = words.widths_table(plan, plan.lead)
        caption = words.lead_caption(plan, plan.lead)
        parts.append(Section("judge", "A judge beside a held-out human", *table, caption, curve=_width_curve(plan)))
    if plan.prices:
        parts.append(Section("cost", "Cost by country", *words.costs_table(plan)))
    return parts


def _letter_curve(plan: Plan) -> Curve:
    points = [(float(cell.items), 100 * cell.right) for cell in plan.cells]
    return _curve(
        "Share of cells whose letter is that of unlimited items, in percent",
        "items per cell",
        points,
        100.0,
        100 * SURE,
        f"{100 * SURE:.0f}%",
    )


def _width_curve(plan: Plan) -> Curve:
    assert plan.lead is not None
    shown = sorted({*WIDTHS_SHOWN, plan.design.items} - {1})
    points = [(float(items), 100 * plan.lead.half_width(items)) for items in shown]
    return _curve(
        "Half the 95% interval of judge less held-out human in one country, in points",
        "items in a country",
        points,
        max(y for _, y in points),
        5.0,
        "5 points",
    )


def _curve(
    title: str, x_name: str, points: Sequence[tuple[float, float]], top: float, goal: float, goal_words: str
) -> Curve:
    right = max(x for x, _ in points)
    step = _step(top)
    ceiling = -(-top // step) * step

    def across(x: float) -> float:
        return LEFT + (WIDE - LEFT - 12) * x / right

    def up(y: float) -> float:
        return HIGH - FOOT - (HIGH - FOOT - 14) * y / ceiling

    ticks = range(0, int(right) + 1, _step(right))
    return Curve(
        title=title,
        x_name=x_name,
        points=tuple((across(x), up(y), f"{x:,.0f} {x_name}: {y:.1f}") for x, y in points),
        x_ticks=tuple((across(x), f"{x:,.0f}") for x in ticks),
        y_ticks=tuple((up(step * i), f"{step * i}") for i in range(int(ceiling / step) + 1)),
        goal=up(min(goal, ceiling)),
        goal_words=goal_words,
    )


def _step(top: float) -> int:
    """Between the ticks of an axis: 1, 2 or 5 times a power of ten, for six ticks at most beyond 0."""
    step = 1
    while top > 6 * step:
        step = step * 2 if str(step)[0] in "15" else step // 2 * 5
    return step
