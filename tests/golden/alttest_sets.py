"""The three sets of real labels that the reference values were computed on, and those values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from countback.claims.papers.alt_test.recipes import LabelSet, read_label_set
from countback.models.agreement import label_counts
from numpy.typing import NDArray

SETS = ("lesion", "cebab_stars", "summeval")


@dataclass(frozen=True)
class RealSet:
    """Labels with their numeric values, and the cluster of each item: the image, review or text it belongs to."""

    labels: LabelSet
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    cluster: NDArray[np.int64]
    names: tuple[str, ...]

    @property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        return self.labels.item, self.labels.annotator, self.labels.label

    def judge(self, name: str) -> NDArray[np.int64]:
        return self.labels.judges[name]


@cache
def load(shared: Path, name: str) -> RealSet:
    raw = shared / "data" / "alttest" / "raw"
    labels = read_label_set(raw / f"{name}_human_annotations.json", raw / f"{name}_llm_annotations.json")
    with (raw / f"{name}_human_annotations.json").open(encoding="utf-8") as file:
        humans = json.load(file)
    prefixes = [item.split("__")[0] for item in dict.fromkeys(item for own in humans.values() for item in own)]
    if name == "cebab_stars":  # six digits number the versions of one review
        prefixes = [prefix[:-6] for prefix in prefixes]
    _, cluster = np.unique(prefixes, return_inverse=True)
    counts = label_counts(labels.item, labels.label, len(prefixes), len(labels.labels))
    return RealSet(labels, np.array(labels.labels, np.float64), counts, cluster, tuple(humans))


@cache
def _reference(shared: Path) -> list[dict[str, Any]]:
    with (shared / "reference" / "agreement.json").open(encoding="utf-8") as file:
        return list(json.load(file))


def entries(shared: Path, name: str, prefix: str) -> Iterator[dict[str, Any]]:
    """Reference values of one set whose statistic starts with `prefix`."""
    return (e for e in _reference(shared) if e["dataset"] == name and e["statistic"].startswith(prefix))
