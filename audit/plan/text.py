"""A plan as text on a terminal: what to do, the designs side by side, then what each number rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from fractions import Fraction

import click
from countback.audit.judge.text import table
from countback.audit.judge.words import counted
from countback.audit.plan import CLOSE, SURE, WIDTHS_SHOWN, Plan, Row
from countback.audit.text import width
from countback.audit.words import sentence
from countback.models.planning_cells import CELLS, DRAWN_CELLS, KEPT, Lead
from countback.models.planning_power import Power


def present(plan: Plan) -> str:
    """The whole answer of `countback plan`."""
    parts = [_head(plan), _advice(plan), _designs(plan), _shares(plan), _cells(plan), _judge(plan), _costs(plan)]
    return "\n".join(line for part in [*parts, _assumed(plan)] for line in part)


def wrap(text: str, indent: int = 4, first: str = "- ") -> str:
    pad = " " * indent
    start = pad[: indent - len(first)] + first
    return textwrap.fill(
        text, width(), initial_indent=start, subsequent_indent=pad, break_long_words=False, break_on_hyphens=False
    )


def money(amount: Fraction) -> str:
    """To the cent, halves up; in whatever unit the prices are."""
    cents = (2 * amount * 100 + 1) // 2
    return f"{cents // 100:,}.{cents % 100:02d}"


def exact(amount: Fraction) -> str:
    """To the last digit; prices are decimals as they were typed, and so are their sums."""
    digits = 0
    while (amount * 10**digits).denominator != 1:
        digits += 1
    whole = int(amount * 10**digits)
    return f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}" if digits else str(whole)


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _title(text: str) -> str:
    return click.style(textwrap.fill(text, width()), bold=True)


def _head(plan: Plan) -> Iterator[str]:
    yield wrap(headline(plan), 0, "")
    yield ""


def headline(plan: Plan) -> str:
    d = plan.design
    items = [f"{counted(d.own, 'own item')} a question and country"] if d.own else []
    items += [f"{counted(d.shared, 'item')} shared by all countries"] if d.shared else []
    price = f", {money(plan.asked.cost)}" if plan.prices else ""
    kind = "One country" if d.kind == "one country" else f"A {d.kind} design: {d.countries} countries"
    return (
        f"{kind}, {counted(d.questions, 'question')}, {' and '.join(items)}, {counted(d.labels, 'label')} of each "
        f"item: {d.total:,} labels on {counted(d.made, 'item')}{price}"
    )


# --- what to do ---------------------------------------------------------------------------------------------------


def advice(plan: Plan) -> list[str]:
    """What follows from the numbers, each with the numbers it follows from."""
    lines = [_budget_line(plan)] if plan.budget is not None else []
    lines += [_country_line(plan), _cell_line(plan)]
    if plan.lead is not None:
        lines.append(_lead_line(plan, plan.lead))
    lines.append(_load_line(plan))
    return [line for line in lines if line]


def _budget_line(plan: Plan) -> str:
    row = plan.asked
    assert plan.budget is not None
    if plan.fitted:
        return (
            f"The budget of {money(plan.budget)} pays for {counted(plan.design.own, 'own item')} per cell"
            f"{f' beside {plan.design.shared} shared ones' if plan.design.shared else ''}: {money(row.cost)}, "
            f"{money(plan.budget - row.cost)} left."
        )
    fits = row.affordable
    if not plan.over:
        return f"Costs {money(row.cost)} of {money(plan.budget)}; {money(plan.budget - row.cost)} left."
    what = "nothing of this shape: not even one item per cell" if fits is None else (
        f"{counted(fits.own, 'own item')} per cell" if fits.own else f"{counted(fits.shared, 'shared item')}"
    )  # fmt: skip
    return f"OVER BUDGET: {money(row.cost)} against {money(plan.budget)}. What the budget pays for: {what}."


def _country_line(plan: Plan) -> str:
    design = plan.design
    if design.kind == "one country":
        return "One country: nothing about differences between countries can be told, and no item is shared."
    if design.kind == "nested":
        extra = ""
        if plan.prices:
            extra = f", {money(10 * design.labels * sum(plan.prices, Fraction(0)))}"
        return (
            "Whether countries differ CANNOT BE TOLD AT ANY NUMBER OF LABELS: each country has its own items, so a "
            "difference may be one between the items. Share some: ten items labelled in every country take "
            f"{10 * design.countries * design.labels:,} labels more{extra}."
        )
    notes = [power.note for power in plan.asked.powers]
    if all(notes):
        return f"Whether countries differ CANNOT BE TOLD, although items are shared: {notes[0]}."
    best = max(power.right for power in plan.asked.powers)
    block = design.shared * design.countries * design.labels
    own = design.total - block
    size = f"{block:,} labels, {percent(block / own)} on top of the own ones" if own else f"{block:,} labels"
    text = f"The {counted(design.shared, 'shared item')} ({size}) let country be told from items. "
    if best < 0.5:
        text += (
            "They will mostly leave open on which side of 5% the country's share lies (told rightly in at most "
            f"{percent(best)} of simulated data sets); the table has what more countries or more shared items would do."
        )
    else:
        text += f"On which side of 5% its share lies is told rightly in up to {percent(best)} of simulated data sets."
    without = design.questions - design.shared
    if without > 0:
        text += (
            f" They do not go round the questions: {without:,} of {design.questions:,} have none, and of "
            f"{'that one' if without == 1 else 'those'} no difference between countries can be told from its items; "
            f"{design.questions:,} shared items would do."
        )
    return text


def _cell_line(plan: Plan) -> str:
    here = plan.asked.cell
    enough = next((cell.items for cell in plan.cells if cell.right >= SURE), None)
    needed = (
        f"{percent(SURE)} takes {enough} or so" if enough else f"{percent(SURE)} takes more than {plan.cells[-1].items}"
    )
    verdict = "" if here.right >= SURE else " Until then report shares of labels, not one letter."
    size = f"{counted(here.items, 'item')} of {counted(plan.design.labels, 'label')}"
    return (
        f"One letter per cell, the commonest label of a question in a country: with {size} it is the one that "
        "unlimited items would give in "
        f"{percent(here.right)} of cells; {needed} items.{verdict}"
    )


def _lead_line(plan: Plan, lead: Lead) -> str:
    row = plan.asked
    need = lead.items_for(CLOSE)
    text = (
        f"A judge beside a held-out human: the difference will be known to +-{100 * row.half_width:.1f} points in each "
        f"country ({row.design.items * lead.comparisons:,.0f} comparisons)"
        if row.design.items > 1
        else "A judge beside a held-out human: one item in each country says nothing of its own error"
    )
    return (
        f"{text}; to +-{100 * CLOSE:.0f} takes {need:,} items in each country, {need * lead.comparisons:,.0f} "
        "comparisons."
    )


def _load_line(plan: Plan) -> str:
    loads = [plan.design.load(country) for country in range(plan.design.countries)]
    low, high = int(min(loads)), -int(-max(loads) // 1)
    idle = " Some would have nothing to do." if low < 1 else ""
    return f"Each annotator labels {low:,}{'' if low == high else f' to {high:,}'} items.{idle}"


def _advice(plan: Plan) -> Iterator[str]:
    yield _title("WHAT TO DO")
    for line in advice(plan):
        yield wrap(line)
    yield ""


# --- tables -------------------------------------------------------------------------------------------------------


def designs_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the designs side by side."""
    header = ["design", "own/cell", "shared", "labels", "letter right", "judge +-"]
    header[4:4] = ["cost"] if plan.prices else []
    rows = []
    for row in plan.rows:
        d = row.design
        cells = [d.kind + (" *" if d == plan.design else ""), f"{d.own}", f"{d.shared}", f"{d.total:,}"]
        cells += [money(row.cost)] if plan.prices else []
        half = f"{100 * row.half_width:.1f}" if row.half_width == row.half_width else "-"
        rows.append([*cells, percent(row.cell.right), half])
    return header, rows


def designs_caption(plan: Plan) -> str:
    text = (
        "nested: each country its own items; crossed: all of them shared; hybrid: some. A cell is a question in a "
        "country, its letter the commonest label there. letter right: share of cells whose letter is that of unlimited "
        "items. judge +-: half the 95% interval of judge less held-out human in one country, points."
    )
    affordable = [row for row in plan.rows if row.affordable is not None]
    if plan.budget is not None and affordable:
        found = "; ".join(f"{row.kind} {_size(row)}" for row in affordable)
        text += f" Largest that {money(plan.budget)} pays for: {found}."
    return text


def _designs(plan: Plan) -> Iterator[str]:
    yield _title("DESIGNS SIDE BY SIDE (* as asked)")
    yield from table(*designs_table(plan))
    yield wrap(designs_caption(plan), 4, "")
    yield ""


def _size(row: Row) -> str:
    fits = row.affordable
    assert fits is not None
    size = f"{fits.own} own per cell" if fits.own else f"{fits.shared} shared"
    return f"{size} ({fits.total:,} labels)"


def shares_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Header and rows of what becomes of the country's share."""
    header = ["design", "true share", "estimate [95%]", "told < 5%", "told >= 5%", "left open"]
    rows = [_power_row(row.kind, power) for row in plan.rows for power in row.powers if not power.note]
    rows += [_power_row(what, power) for what, _, powers in plan.more for power in powers if not power.note]
    return header, rows


def _power_row(name: str, p: Power) -> list[str]:
    interval = f"{round(100 * p.estimate, 1) + 0:.1f}% [{100 * p.low:.1f}%, {100 * p.high:.1f}%]"
    return [name, f"{100 * p.share:g}%", interval, percent(p.below), percent(p.above), percent(p.undecided)]


def not_told(plan: Plan) -> list[str]:
    """Designs for which nothing was simulated, and why."""
    return [f"{row.kind}: {row.powers[0].note}." for row in plan.rows if row.powers[0].note]


def _shares(plan: Plan) -> Iterator[str]:
    yield _title("THE COUNTRY'S SHARE OF LABEL VARIANCE, IN SIMULATED DATA SETS")
    header, rows = shares_table(plan)
    if rows:
        yield from table(header, rows)
        yield wrap(shares_caption(plan), 4, "")
    for line in not_told(plan):
        yield wrap(line)
    yield ""


def shares_caption(plan: Plan) -> str:
    error = max((p.mc_error(0.5) for row in plan.rows for p in row.powers if p.draws), default=0.0)
    text = (
        f"Medians and shares of {plan.draws} simulated data sets (synthetic; Monte Carlo error up to "
        f"{percent(error)}). The side of 5% is told by the whole 95% interval, as the registry's prediction cubes/p2 "
        "would decide (broken, confirmed, neither)."
    )
    fewer = [row for row in plan.rows if any(p.draws and p.items < row.design.shared for p in row.powers)]
    if any(p.estimate < 0 for row in plan.rows for p in row.powers):
        text += " An estimate below 0 is kept, as chance alone can make it."
    if fewer:
        text += " Simulated with fewer shared items where there are very many; the rest would narrow it little."
    return text


def cells_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Header and rows of cells by their number of items."""
    header = ["items per cell", "labels", "letter right", "kept", f"kept in < {percent(KEPT)}", "ties"]
    rows = [
        [
            f"{cell.items}" + (" *" if cell.items == plan.asked.cell.items else ""),
            f"{cell.items * plan.design.labels:,}",
            percent(cell.right),
            percent(cell.kept),
            percent(cell.unstable),
            percent(cell.tied),
        ]
        for cell in plan.cells
    ]
    return header, rows


def cells_caption(plan: Plan) -> str:
    how = f"added up exactly for each of {CELLS:,} made-up cells"
    if not all(cell.enumerated for cell in plan.cells):
        how = f"added up for {CELLS:,} made-up cells, drawn for {DRAWN_CELLS} where there are too many values"
    return (
        "letter right: as above. kept: how often resampled items give the letter again; one item always does. kept "
        f"in < {percent(KEPT)}: share of cells where they do so more rarely than that. {sentence(how)}"
    )


def _cells(plan: Plan) -> Iterator[str]:
    yield _title("ONE LETTER PER CELL")
    yield from table(*cells_table(plan))
    yield wrap(cells_caption(plan), 4, "")
    yield ""


def widths_table(plan: Plan, lead: Lead) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the half width by items in a country."""
    shown = sorted({*WIDTHS_SHOWN, plan.design.items} - {1})
    rows = [
        [f"{items:,}" + (" *" if items == plan.design.items else ""), f"{items * lead.comparisons:,.0f}",
         f"{100 * lead.half_width(items):.1f}"]
        for items in shown
    ]  # fmt: skip
    return ["items", "comparisons", "+- points"], rows


def lead_caption(plan: Plan, lead: Lead) -> str:
    source = f"{plan.pilot.judge} in the pilot" if plan.pilot and plan.pilot.lead else "assumed"
    return (
        f"Per country, by item-clustered t. {source[0].upper()}{source[1:]}: human {100 * lead.human:.1f}%, judge "
        f"{100 * lead.judge:.1f}%, {lead.comparisons:.2f} comparisons an item (ties skipped), design effect "
        f"{lead.design_effect:.1f}: labels of one item are not independent, so more items narrow it and more labels an "
        "item hardly do."
    )


def _judge(plan: Plan) -> Iterator[str]:
    yield _title("A JUDGE BESIDE A HELD-OUT HUMAN")
    if plan.lead is None:
        yield wrap("One label an item: no other label to compare with; two or more are needed.")
    else:
        yield from table(*widths_table(plan, plan.lead))
        yield wrap(lead_caption(plan, plan.lead), 4, "")
    yield ""


def costs_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Header and rows of what the design asked for costs, by country where their prices differ."""
    each = plan.design.items * plan.design.labels
    rows = [
        [name, f"{each:,}", exact(price), money(amount)]
        for name, price, amount in zip(plan.names, plan.prices, plan.asked.costs, strict=True)
    ]
    if len(rows) > 1:
        rows = rows if len(set(plan.prices)) > 1 else [["each", *rows[0][1:]]]
        rows.append(["all", f"{plan.design.total:,}", "", money(plan.asked.cost)])
    return ["country", "labels", "price", "cost"], rows


def _costs(plan: Plan) -> Iterator[str]:
    if not plan.prices:
        return
    yield _title("COST BY COUNTRY")
    yield from table(*costs_table(plan))
    yield ""


# --- assumptions --------------------------------------------------------------------------------------------------


def assumptions(plan: Plan) -> list[str]:
    """What was assumed or learned, each with where it comes from."""
    a, model, pilot = plan.assumed, plan.assumed.model, plan.pilot
    shares = ", ".join(percent(share) for share in model.base)
    where = f"learned from {pilot.name} ({pilot.valid:,} labels on {pilot.items:,} items)" if pilot else (
        "assumed; --pilot LABELS learns it from labels of your own"
    )  # fmt: skip
    lines = [
        f"Labels: {len(model.base)} levels, {shares} of all; two annotators of an item agree {model.agreement:.2f} "
        f"beyond chance, of which {model.between:.2f} as question and country make it so: {where}."
    ]
    if a.lead is None and plan.lead is not None:
        lines.append(
            f"Judge: gives the majority of all humans on {percent(a.match)} of items, another label else: assumed."
        )
    parts = a.parts
    source = "learned from the pilot" if pilot and pilot.parts else "assumed, as in Multi3Hate"
    lines.append(
        f"Variance that is not the country's: item {percent(parts.item)}, item by country "
        f"{percent(parts.item_country)}, annotator {percent(parts.annotator)}, rest "
        f"{percent(parts.residual)}: {source}."
    )
    if pilot:
        if pilot.valid < pilot.slots:
            lost = pilot.slots - pilot.valid
            order = round(plan.design.total * pilot.slots / pilot.valid)
            lines.append(
                f"{lost:,} of {pilot.slots:,} rows of the pilot hold no label ({100 * lost / pilot.slots:.1f}%): to "
                f"end with {plan.design.total:,}, order about {order:,}."
            )
        lines += map(sentence, pilot.notes)
    lines.append("Shared items must mean the same in every country; translating them is not in these numbers.")
    lines.append(f"Seed {plan.seed}; every simulated label is synthetic.")
    return lines


def _assumed(plan: Plan) -> Iterator[str]:
    yield _title("WHAT THIS RESTS ON")
    for line in assumptions(plan):
        yield wrap(line)
