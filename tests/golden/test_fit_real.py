"""The labels that `countback fit` hands to its model, against a plain count of the files; and real fits."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest
from countback.audit.fit.options import Options
from countback.audit.fit.run import fit_labels
from countback.audit.fit.source import Labels, read_labels
from countback.audit.sources import Sources
from countback.fetch.errors import UserError


def read(path: Path, judges: Path | None = None, *questions: str) -> Labels:
    told = {"reader": None, "columns": (), "judge_columns": (), "codebook": None, "choices": ()}
    return read_labels(str(path), judges, questions, Sources(offline=True), None, **told)


def counted(labels: Labels) -> Counter[tuple[str, str]]:
    pairs = zip(labels.country.tolist(), labels.label.tolist(), strict=True)
    return Counter((labels.countries[c], labels.scale[y]) for c, y in pairs)


def rows(path: Path) -> list[dict[str, str]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(content.decode().splitlines()))


def test_multi3hate_labels_and_judges(shared: Path) -> None:
    folder = shared / "data" / "multi3hate"
    labels = read(folder / "labels.csv", folder / "judges.csv")
    assert counted(labels) == Counter((row["country"], row["label"]) for row in rows(folder / "labels.csv"))
    assert len(set(labels.annotator.tolist())) == 445
    assert len(labels.unit_item) == 1500
    # A Qwen reply names no persona and stands for all five countries; p5 lacks one of 67 memes. GPT-4o's own labels
    # A, B and C are not on the humans' scale.
    missing = {judge.name: judge.missing for judge in labels.judges}
    given = Counter(row["judge"] for row in rows(folder / "judges.csv") if row["judge"].startswith("qwen"))
    assert given["qwen2vl7b_p5"] == 66
    for name, count in missing.items():
        assert count == 1500 - 5 * given.get(name, 0)


def test_rtp_lx_one_question_on_its_own_scale(shared: Path) -> None:
    path = shared / "data" / "rtp_lx" / "labels_full.csv.gz"
    labels = read(path, None, "Toxicity")
    told = Counter((row["country"], row["label"]) for row in rows(path) if row["question"] == "Toxicity")
    assert labels.scale == ("1", "2", "3", "4", "5")
    assert counted(labels) == told
    assert labels.asked == ("Toxicity",)
    assert len(labels.label) == 999 * 26 * 3


def test_label_studio_without_countries(shared: Path) -> None:
    labels = read(shared / "data" / "label_studio" / "LEOKA_team_6.json")
    assert labels.scale == ("no", "yes")
    with pytest.raises(UserError, match=r"no country is named.*--columns country=COLUMN"):
        fit_labels(labels, Options())
