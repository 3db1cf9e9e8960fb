"""Recounts of flip rates, their intervals and tests from the counts that the authors released.

The finest counts are used: 45 pairs of a model and a perturbation (30 items each, with the direction of each flip), 30
items (45 pairs each), and the neutral baseline. A sum over them must meet the sum that the release itself holds.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from countback.claims.verdict import CannotRecount, Recount
from countback.fetch.errors import UserError
from countback.models.nulls import adjust_bh
from countback.models.proportions import mcnemar_exact, wilson

By = Literal["model", "perturbation", "pair", "figure", "neutral", "rate", "item"]
Line = dict[str, str]
Fits = Callable[[Line, str, str], bool]

CELLS, ITEMS, NEUTRAL = "model_perturbation_tests.csv", "per_item_instability.csv", "neutral_majority_asr.csv"


class Data(Protocol):
    """The verified files of this paper's release."""

    def path(self, name: str) -> Path:
        """The local file that the release calls `name`."""


@dataclass(frozen=True)
class Counts:
    """Comparisons with their control and the labels that differ, by direction where the file says it."""

    n: int
    flips: int
    to_offensive: int
    to_not: int
    note: str


def _rate_is(line: Line, row: str, column: str) -> bool:
    return 100 * Fraction(line["human_off_rate"]) == Fraction(row.rstrip("%"))


# What a row (and column) of a printed table stands for: the file with the finest counts, which of its lines belong to
# it, and the file in which the authors sum them themselves.
SOURCES: dict[By, tuple[str, Fits, str]] = {
    "model": (CELLS, lambda line, row, column: line["model"] == row, "majority_overall_asr.csv"),
    "perturbation": (CELLS, lambda line, row, column: line["perturbation"] == row, "perturbation_asr.csv"),
    "pair": (CELLS, lambda line, row, column: f"{line['model']} / {line['perturbation']}" == row, ""),
    "figure": (CELLS, lambda line, row, column: (line["model"], line["perturbation"]) == (row, column), ""),
    "neutral": (NEUTRAL, lambda line, row, column: line["model"] == row, ""),
    "rate": (ITEMS, _rate_is, "agreement_asr.csv"),
    "item": (ITEMS, lambda line, row, column: line["base_id"] == row, ""),
}


def comparisons(data: Data, *, by: By, row: str, column: str) -> Recount:
    """How many comparisons with a control there are."""
    counts = _counts(data, by, row, column)
    return Recount(counts.n, n=counts.n, notes=(counts.note,))


def flips(data: Data, *, by: By, row: str, column: str) -> Recount:
    """In how many of them the label differs."""
    counts = _counts(data, by, row, column)
    return Recount(counts.flips, n=counts.n, notes=(counts.note,))


def flip_rate(data: Data, *, by: By, row: str, column: str) -> Recount:
    """Their share, in percent."""
    counts = _counts(data, by, row, column)
    return Recount(100 * wilson(counts.flips, counts.n).value, n=counts.n, notes=(counts.note,))


def interval(data: Data, *, by: By, row: str, column: str) -> Recount:
    """Wilson's 95% interval of that share, in percent."""
    counts = _counts(data, by, row, column)
    share = wilson(counts.flips, counts.n)
    return Recount(100 * share.value, n=counts.n, low_high=(100 * share.low, 100 * share.high), notes=(counts.note,))


def main_direction(data: Data, *, by: By, row: str, column: str) -> Recount:
    """The share of flips in the more common direction, in percent of all flips."""
    counts = _counts(data, by, row, column)
    more = max(counts.to_offensive, counts.to_not)
    return Recount(100 * wilson(more, counts.flips).value, n=counts.flips, notes=(counts.note,))


def direction_name(data: Data, *, by: By, row: str, column: str) -> Recount:
    """Which direction that is, in the paper's signs."""
    counts = _counts(data, by, row, column)
    name = "not→off" if counts.to_offensive >= counts.to_not else "off→not"
    return Recount(name, n=counts.flips, notes=(counts.note,))


def mcnemar_p(data: Data, *, by: By, row: str, column: str) -> Recount:
    """McNemar's exact two-sided p of a pair of model and perturbation."""
    counts = _counts(data, by, row, column)
    return Recount(mcnemar_exact(counts.to_offensive, counts.to_not), n=counts.n, notes=(counts.note,))


def bh_q(data: Data, *, by: By, row: str, column: str) -> Recount:
    """That p adjusted over all pairs of a model and a perturbation, by Benjamini and Hochberg."""
    fits = SOURCES[by][1]
    lines = _lines(data.path(f"llm-judge-stress-test/{CELLS}"))
    p = [float(mcnemar_exact(int(line["not_to_off"]), int(line["off_to_not"]))) for line in lines]
    (place,) = [i for i, line in enumerate(lines) if fits(line, row, column)]
    q = adjust_bh(np.array(p))
    return Recount(float(q[place]), n=len(p), notes=(f"adjusted over {len(p)} tests",))


def offensive_votes(data: Data, *, by: By, row: str, column: str) -> Recount:
    """How many of the five people found an item offensive, from the share that the release holds."""
    _, lines = _found(data, by, row, column)
    return Recount(5 * Fraction(lines[0]["human_off_rate"]), n=5)


def _counts(data: Data, by: By, row: str, column: str) -> Counts:
    """Sums over the finest counts. Raises CannotRecount where the release contradicts itself."""
    name, lines = _found(data, by, row, column)
    n, found = _sum(lines, "n"), _sum(lines, "flips")
    to_offensive, to_not = (_sum(lines, key) if key in lines[0] else 0 for key in ("not_to_off", "off_to_not"))
    if "not_to_off" in lines[0] and to_offensive + to_not != found:
        raise CannotRecount(f"{name}: {found} flips of {row}, of which {to_offensive} one way and {to_not} the other")
    note = f"{found} of {n}, from {len(lines)} line(s) of {name}"
    if summed := SOURCES[by][2]:
        fits = SOURCES[by][1]
        (own,) = [line for line in _lines(data.path(f"llm-judge-stress-test/{summed}")) if fits(line, row, column)]
        if (int(own["n"]), int(own["flips"])) != (n, found):
            raise CannotRecount(f"{note}; {summed} has {own['flips']} of {own['n']}: the release contradicts itself")
        note += f"; {summed} has the same"
    return Counts(n, found, to_offensive, to_not, note)


def _found(data: Data, by: By, row: str, column: str) -> tuple[str, list[Line]]:
    name, fits, _ = SOURCES[by]
    lines = [line for line in _lines(data.path(f"llm-judge-stress-test/{name}")) if fits(line, row, column)]
    if not lines:
        raise UserError(f"{name}: no line for {row}, {column}; expected the names that the paper prints")
    return name, lines


def _sum(lines: list[Line], key: str) -> int:
    return sum(int(line[key]) for line in lines)


@cache
def _lines(path: Path) -> tuple[dict[str, Any], ...]:
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))
