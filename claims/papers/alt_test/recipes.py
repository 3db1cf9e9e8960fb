"""Recounts of the alternative annotator test from the annotation files that its authors released.

A set is two JSON files of one shape, `{annotator: {item: label}}`: the humans and the language models. The printed
rows state neither epsilon nor the scoring, so each claim carries both, and the evidence of a winning rate lists the
rate under each epsilon of the authors: the readings that meet the printed value say how far the row settles it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from countback.claims.verdict import Recount
from countback.fetch.errors import UserError
from countback.models.alttest import AltTest, Scoring, alt_test
from numpy.typing import NDArray

EPSILONS = (0.1, 0.15, 0.2)  # the cost-benefit values that the authors use: crowd, skilled and expert annotators


class Data(Protocol):
    """The verified files of this paper's release."""

    def path(self, name: str) -> Path:
        """The local file that the release calls `name`."""


@dataclass(frozen=True)
class LabelSet:
    """One data set: rows of human labels, each judge's label per item (-1 where missing), and the labels in order."""

    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]
    judges: dict[str, NDArray[np.int64]]
    labels: tuple[Any, ...]


def winning_rate(data: Data, *, dataset: str, judge: str, epsilon: float, scoring: Scoring) -> Recount:
    """Share of the humans against whom the judge wins."""
    result = _test(data, dataset, judge, epsilon, scoring)
    value = Fraction(int(result.rejected.sum()), len(result.humans))
    readings = {f"epsilon {x}": _test(data, dataset, judge, x, scoring).winning_rate for x in EPSILONS}
    return Recount(value, n=len(result.humans), notes=_notes(result), readings=readings)


def advantage_probability(data: Data, *, dataset: str, judge: str, epsilon: float, scoring: Scoring) -> Recount:
    """Mean over the humans of the share of items on which the judge scores at least as well; epsilon plays no part."""
    result = _test(data, dataset, judge, epsilon, scoring)
    shares = [Fraction(int(hits), int(n)) for hits, n in zip(result.as_good, result.n, strict=True)]
    return Recount(sum(shares) / Fraction(len(shares)), n=int(result.n.sum()), notes=_notes(result))


def passes(data: Data, *, dataset: str, judge: str, epsilon: float, scoring: Scoring) -> Recount:
    """PASSED if the judge wins against at least half of the humans, else FAILED: the authors' words."""
    result = _test(data, dataset, judge, epsilon, scoring)
    return Recount("PASSED" if result.passes else "FAILED", n=len(result.humans), notes=_notes(result))


def _test(data: Data, dataset: str, judge: str, epsilon: float, scoring: Scoring) -> AltTest:
    humans = data.path(f"alt-test/data/{dataset}/human_annotations.json")
    models = data.path(f"alt-test/data/{dataset}/llm_annotations.json")
    return _cached_test(humans, models, judge, float(epsilon), scoring)


@cache
def _cached_test(humans: Path, models: Path, judge: str, epsilon: float, scoring: Scoring) -> AltTest:
    labels = read_label_set(humans, models)
    if judge not in labels.judges:
        raise UserError(f"{models}: expected labels of {judge!r}, found those of {', '.join(labels.judges)}.")
    values = None
    if scoring == "neg_rmse":
        if not all(isinstance(value, int | float) for value in labels.labels):
            raise UserError(f"{humans}: scoring neg_rmse needs numbers as labels, found words; use accuracy.")
        values = np.array(labels.labels, np.float64)
    result = alt_test(labels.item, labels.annotator, labels.label, labels.judges[judge], epsilon=epsilon, values=values)
    if result.note:
        raise UserError(f"{humans}: expected humans to test {judge} against, found that {result.note}.")
    return result


@cache
def read_label_set(humans: Path, models: Path) -> LabelSet:
    """One set from its two files, items and annotators numbered in file order.

    Raises UserError if a file is not of the stated shape or mixes words and numbers: 1 and "1" would never match.
    """
    human, model = _read(humans), _read(models)
    items = {name: code for code, name in enumerate(dict.fromkeys(item for own in human.values() for item in own))}
    found = {label for own in (*human.values(), *model.values()) for label in own.values()}
    if len({isinstance(label, str) for label in found}) > 1:
        raise UserError(f"{humans} and {models}: expected labels to be all words or all numbers, found both.")
    labels = tuple(sorted(found))
    code = {label: position for position, label in enumerate(labels)}
    judges = {}
    for name, own in model.items():
        judges[name] = np.full(len(items), -1)
        for item, label in own.items():
            if item in items:
                judges[name][items[item]] = code[label]
    return LabelSet(
        np.array([items[item] for own in human.values() for item in own]),
        np.repeat(np.arange(len(human)), [len(own) for own in human.values()]),
        np.array([code[label] for own in human.values() for label in own.values()]),
        judges,
        labels,
    )


def _read(path: Path) -> dict[str, dict[str, str | int | float]]:
    expected = f"{path}: expected a JSON object of annotators, each an object of item and label, found"
    try:
        table = json.loads(path.read_bytes())
    except (ValueError, OSError) as error:
        raise UserError(f"{expected} {error}.") from error
    if not isinstance(table, dict) or not table:
        raise UserError(f"{expected} {type(table).__name__}.")
    for annotator, own in table.items():
        if not isinstance(own, dict):
            raise UserError(f"{expected} {type(own).__name__} for {annotator!r}.")
        for item, label in own.items():
            if isinstance(label, bool) or not isinstance(label, str | int | float) or label != label:
                raise UserError(f"{expected} {label!r} as the label of {annotator!r} on {item!r}.")
    return table


def _notes(result: AltTest) -> tuple[str, ...]:
    """What was left out, for the evidence; nothing when nothing was."""
    notes = []
    if len(result.skipped):
        notes.append(f"{len(result.skipped)} humans with too few items left out")
    if result.items_dropped:
        notes.append(f"{result.items_dropped} items left out: too few humans, or no label of the judge")
    return tuple(notes)
