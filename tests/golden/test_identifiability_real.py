"""What real designs can separate, and how long it takes to say: two crossed data sets, and the same ones nested."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
from countback.models.identifiability import Design, diagnose


def codes(path: Path, *columns: str) -> list[Any]:
    """Columns of a CSV file as integer codes."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header, *rows = csv.reader(data.decode("utf-8").splitlines())
    table = np.array(rows)
    return [np.unique(table[:, header.index(name)], return_inverse=True)[1] for name in columns]


def nested(item: Any, country: Any) -> Any:
    """The labels that are left when every country keeps its own items only."""
    return item % (country.max() + 1) == country


def check_crossed(design: Design, countries: int) -> None:
    assert (design.kind, design.separable) == ("crossed", True)
    assert design.rank_gain == design.rank_needed == countries - 1
    assert design.annotator_parts == 1
    assert (design.tolerance > 0.99).all()
    assert np.isnan(design.origin_correlation)  # no item is known to be made for one country
    assert ("annotator", "country") in design.nested


def check_nested(design: Design, countries: int) -> None:
    assert (design.kind, design.separable, design.rank_gain) == ("nested", False, 0)
    assert design.origin_correlation > 0.999
    assert design.annotator_parts >= countries


def test_multi3hate(shared: Path) -> None:
    item, country, annotator = codes(shared / "data" / "multi3hate" / "labels.csv", "item", "country", "annotator")
    check_crossed(diagnose(item, country, annotator), 5)
    kept = nested(item, country)
    check_nested(diagnose(item[kept], country[kept], annotator[kept]), 5)


def test_rtp_lx(shared: Path) -> None:
    path = shared / "data" / "rtp_lx" / "labels_full.csv.gz"
    item, country, annotator, question = codes(path, "item", "country", "annotator", "question")
    design = diagnose(item, country, annotator, question=question)
    check_crossed(design, 26)
    assert (design.labels, design.annotators_in.tolist()) == (623_376, [3] * 26)
    kept = nested(item, country)
    check_nested(diagnose(item[kept], country[kept], annotator[kept]), 26)
