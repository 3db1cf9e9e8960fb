"""Small synthetic label files for the tests of `countback judge`: made up, with the truth known."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

HEADER = ("item", "annotator", "country", "label")


def write(path: Path, rows: Iterable[Sequence[object]], header: Sequence[str] = HEADER) -> Path:
    """A CSV file with a header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def panel(
    rng: np.random.Generator,
    *,
    countries: Sequence[str] = ("US", "PK", "NG"),
    items: int = 40,
    shared: bool = False,
    people: int = 3,
    right: float = 0.75,
    labels: str = "123",
) -> tuple[list[tuple[str, str, str, str]], dict[tuple[str, str], str]]:
    """Rows of human labels, and the truth by (item, country); a human gives it with probability `right`, else any."""
    rows, truth = [], {}
    for country in countries:
        for k in range(items):
            item = f"i{k}" if shared else f"{country}-{k}"
            true = labels[int(rng.integers(len(labels)))] if (item, "") not in truth else truth[item, ""]
            if shared:
                truth[item, ""] = true
            truth[item, country] = true
            for who in range(people):
                given = true if rng.random() < right else labels[int(rng.integers(len(labels)))]
                rows.append((item, f"{country} person {who}", country, given))
    truth = {key: value for key, value in truth.items() if key[1]}
    return rows, truth


def judged(
    rng: np.random.Generator,
    truth: dict[tuple[str, str], str],
    right: float,
    labels: str = "123",
    name: str = "model-x",
) -> list[tuple[str, str, str, str]]:
    """A judge's rows, right with probability `right`, else any label."""
    return [
        (item, name, country, true if rng.random() < right else labels[int(rng.integers(len(labels)))])
        for (item, country), true in truth.items()
    ]
