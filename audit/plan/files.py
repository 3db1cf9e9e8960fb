"""A plan as data, and the list of who labels what as a CSV file."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from countback.audit.files import put
from countback.audit.plan import Plan, Row
from countback.audit.plan.text import exact
from countback.fetch.errors import UserError
from countback.models.assignment import Assignment, assign
from countback.models.identifiability import diagnose
from countback.models.planning import Design

HEADER = ("item", "question", "country", "annotator", "block", "order")


def as_json(plan: Plan) -> dict[str, Any]:
    """Schema countback.plan/1: money as text, to the last digit; what does not exist is null."""
    return {
        "schema": "countback.plan/1",
        "synthetic": "every label behind these numbers is simulated or enumerated, none is of people"
        + (", but for the pilot's" if plan.pilot else ""),
        "countries": list(plan.names),
        "design": _design(plan.design),
        "prices": [exact(price) for price in plan.prices],
        "budget": None if plan.budget is None else exact(plan.budget),
        "over_budget": plan.over,
        "chosen_by_budget": plan.fitted,
        "assumed": _clean(asdict(plan.assumed)),
        "pilot": None if plan.pilot is None else _clean(asdict(plan.pilot)),
        "designs": [_row(row) for row in plan.rows],
        "cells": [_clean(asdict(cell)) for cell in plan.cells],
        "judge": None if plan.lead is None else _clean(asdict(plan.lead)),
        "more": [
            {"what": what, "design": _design(d), "powers": [_clean(asdict(p)) for p in powers]}
            for what, d, powers in plan.more
        ],
        "seed": plan.seed,
        "draws": plan.draws,
    }


def _design(design: Design) -> dict[str, Any]:
    return {**asdict(design), "kind": design.kind, "labels_in_all": design.total, "items_in_all": design.made}


def _row(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "design": _design(row.design),
        "cost": exact(row.cost) if row.costs else None,
        "cost_by_country": [exact(amount) for amount in row.costs],
        "cell": _clean(asdict(row.cell)),
        "judge_half_width": _clean(row.half_width),
        "powers": [_clean(asdict(power)) for power in row.powers],
        "affordable": None if row.affordable is None else _design(row.affordable),
    }


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- who labels what ----------------------------------------------------------------------------------------------


def write_assignment(plan: Plan, path: Path) -> str:
    """Writes the list and says what it holds. Raises UserError: over budget, or a file that holds something else."""
    if plan.over:
        raise UserError(
            f"The design costs {float(plan.asked.cost):,.2f}, more than --budget {float(plan.budget or 0):,.2f}: no "
            "list was written; leave --items-per-cell out to take what the budget pays for"
        )
    found = assign(plan.design, np.random.default_rng(plan.seed))
    text = as_csv(plan, found)
    if path.is_file() and _bytes(path) != text.encode():
        raise UserError(f"{path} exists and holds something else; nothing was written: choose another name")
    put(path, text)
    return f"{path}: {_check(plan.design, found)}"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} exists and cannot be read ({error.strerror}); choose another name") from None


def as_csv(plan: Plan, found: Assignment) -> str:
    """One row for each label to be given, by annotator in the order of their work."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    first = np.cumsum((0, *plan.design.pools))
    rows = zip(found.question, found.country, found.annotator, found.shared, found.number, found.order, strict=True)
    for question, country, annotator, shared, number, order in rows:
        block = "shared" if shared else "own"
        item = f"{'shared' if shared else f'c{country + 1:02d}'}-q{question + 1:02d}-{number:03d}"
        who = f"c{country + 1:02d}-a{annotator - first[country] + 1:02d}"
        writer.writerow([item, f"q{question + 1:02d}", plan.names[country], who, block, order])
    return out.getvalue()


def _check(design: Design, found: Assignment) -> str:
    """What the list holds, counted from its rows."""
    loads = np.bincount(found.annotator, minlength=sum(design.pools))
    low, high = int(loads.min()), int(loads.max())
    text = f"{len(found.item):,} labels to give, {low if low == high else f'{low} to {high}'} for each annotator"
    text += f", {int(found.shared.sum()):,} of them on shared items. "
    told = diagnose(found.item, found.country, found.annotator, question=found.question)
    text += "Country can be told from items. " if told.separable else "Country CANNOT be told from items. "
    apart = int((found.parts > 1).sum())
    if apart:
        text += (
            f"In {apart} countries the annotators fall into groups that share no item: how strict they are cannot be "
        )
        text += "compared; more items or more labels an item would link them."
    return text.strip()
