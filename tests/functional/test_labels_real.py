"""Real exports and releases, read whole: every task, annotation and result is accounted for.

Expected numbers are counted here from the raw files with the json and csv modules, or are stated in each SOURCE.md.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.fetch.labels import JUDGE
from countback.fetch.readers import read_labels
from countback.fetch.readers.label_studio import results
from countback.fetch.readers.source import open_source

LABEL_STUDIO = ("LEOKA_team_6.json", *(f"sdk_shapes/{name}.json" for name in (
    "csv_test", "csv_test2", "csv_test_colliding_keys_mixed", "csv_test_history", "jsonmin_chat_data", "jsonmin_data",
    "jsonmin_data_repeater",
)))  # fmt: skip


def paths_of(tasks: list[Any]) -> list[str]:
    """Every taxonomy path and choice in an export, as labels."""
    found = set()
    for task in tasks:
        for owner in [*task["annotations"], *task.get("predictions", []), *task.get("drafts", [])]:
            for result in owner["result"]:
                found.update(" > ".join(path) for path in result["value"].get("taxonomy", []))
                found.update(choice.strip() for choice in result["value"].get("choices", []))
    return sorted(found)


@pytest.mark.parametrize("name", LABEL_STUDIO)
def test_label_studio_is_read_without_loss(shared: Path, name: str) -> None:
    path = shared / "data" / "label_studio" / name
    tasks = json.loads(path.read_text(encoding="utf-8"))
    owners = [o for t in tasks for key in ("annotations", "drafts", "predictions") for o in t.get(key) or []]
    raw = [(o["id"], r["from_name"], r["type"], r["value"]) for o in owners for r in o["result"]]

    listed = [(int(r.source_id), r.question, r.type, r.value) for r in results(open_source(path, name))]
    assert listed == raw  # every result with its value, in order

    codebook = paths_of(tasks) or ["none"]
    table, report = read_labels(path, codebook=codebook, multi=True, duplicates="last")
    assert report.read["tasks"] == len(tasks)
    assert report.read["annotations"] == sum(len(t["annotations"]) for t in tasks)
    assert report.read.get("drafts", 0) == sum(len(t.get("drafts", [])) for t in tasks)
    assert report.read.get("predictions", 0) == sum(len(t.get("predictions", [])) for t in tasks)
    assert report.read["results"] == len(raw)
    assert report.read.get("results that are answers", 0) + sum(report.set_aside.values()) == len(raw)
    assert sum(n or 0 for n in report.counts.values()) == len(table)
    assert not report.refused
    assert not report.unmatched


def test_leoka_in_numbers(shared: Path) -> None:
    path = shared / "data" / "label_studio" / "LEOKA_team_6.json"
    tasks = json.loads(path.read_text(encoding="utf-8"))
    table, report = read_labels(path, codebook=paths_of(tasks), multi=True, duplicates="last")
    # 332 annotations, 330 of them with the one question about the whole item; 2 left it blank
    assert (report.read["tasks"], report.read["annotations"]) == (130, 332)
    assert report.counts["blank"] == 2
    assert (report.counts["valid"] or 0) + (report.counts["duplicate"] or 0) == 330
    assert report.flags["marked as ground truth"] == 130
    assert report.set_aside["results of type labels, question 'label'"] == sum(
        r["type"] == "labels"
        for t in tasks
        for o in [*t["annotations"], *(d for d in t["drafts"] if d["annotation"] is None)]
        for r in o["result"]
    )
    everything = json.dumps(report.to_dict()) + " ".join(table.annotators)
    assert "example.invalid" not in everything.lower()
    people = {a["completed_by"]["id"] for t in tasks for a in t["annotations"]}
    drafters = {
        d["created_username"].rpartition(", ")[2] for t in tasks for d in t["drafts"] if d["annotation"] is None
    }
    assert len(table.annotators) == len({*map(str, people), *drafters})
    labels = {
        (str(t["id"]), str(a["completed_by"]["id"])): sorted({" > ".join(p) for p in r["value"]["taxonomy"]})
        for t in tasks
        for a in sorted(t["annotations"], key=lambda a: a["updated_at"])
        for r in a["result"]
        if r["type"] == "taxonomy"
    }
    clear, _ = read_labels(path, codebook=paths_of(tasks), multi=True, duplicates="last", keep_pii=True)
    found = {
        (clear.items[i], clear.annotators[a]): clear.labels[code].split("+")
        for i, a, code in zip(clear.item.tolist(), clear.annotator.tolist(), clear.label.tolist(), strict=True)
        if code >= 0
    }
    assert found == labels


def test_leoka_duplicates_are_not_settled_unasked(shared: Path) -> None:
    path = shared / "data" / "label_studio" / "LEOKA_team_6.json"
    with pytest.raises(UserError, match="more than one label"):
        read_labels(path, codebook=paths_of(json.loads(path.read_text(encoding="utf-8"))), multi=True)


def test_rtp_lx_whole(shared: Path) -> None:
    path = shared / "data" / "rtp_lx" / "labels_full.csv.gz"
    questions = {"Toxicity": list("12345")} | {
        q: list("123")
        for q in ("IdentityAttack", "Bias", "Insult", "Microaggression", "Violence", "SexualContent", "SelfHarm")
    }
    table, report = read_labels(path, codebook=questions, keep_pii=True)
    assert len(table) == report.valid == 999 * 26 * 3 * 8 == 623_376
    assert (len(table.items), len(table.countries), len(table.annotators), len(table.questions)) == (999, 26, 78, 8)
    counted: Counter[tuple[str, ...]] = Counter()
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            counted[row["country"], row["annotator"], row["question"], row["label"]] += 1
    codes = (table.country, table.annotator, table.question, table.label)
    keys, n = np.unique(np.stack(codes), axis=1, return_counts=True)
    found = {
        (table.countries[c], table.annotators[a], table.questions[q], table.labels[label]): int(k)
        for (c, a, q, label), k in zip(keys.T.tolist(), n, strict=True)
    }
    assert found == counted


def test_rtp_lx_judges_are_one_in_every_country(shared: Path) -> None:
    path = shared / "data" / "rtp_lx" / "judges_full.csv.gz"
    whole = {f"{n}.0": str(n) for n in range(1, 6)}
    table, report = read_labels(path, codebook=list("12345"), aliases=whole, missing={"N/A": "judge_failed"})
    assert set(table.kind.tolist()) == {JUDGE}
    assert set(table.annotators) == {"gpt4", "acs"}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        raw = Counter(row["label"] for row in csv.DictReader(file))
    assert report.valid == sum(raw[form] for form in whole)
    assert report.repaired["label: alias"] == report.valid
    assert sum(n or 0 for n in report.counts.values()) == len(table) == sum(raw.values())


def test_multi3hate_majorities(shared: Path) -> None:
    path = shared / "data" / "multi3hate" / "labels.csv"
    table, report = read_labels(path, codebook=["0", "1"], keep_pii=True)
    assert (len(table.items), len(table.countries), len(table.annotators), report.valid) == (300, 5, 445, 7083)
    assert all(66 <= n <= 105 for n in report.per_country.values())
    cells: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cells[row["item"], row["country"]][row["label"]] += 1
    ones = np.zeros((300, 5), int)
    np.add.at(ones, (table.item, table.country), table.label)
    for (item, country), votes in cells.items():
        assert ones[table.items.index(item), table.countries.index(country)] == votes["1"]
    assert sum(sum(votes.values()) == 5 for votes in cells.values()) == 1153


def test_multi3hate_judges(shared: Path) -> None:
    path = shared / "data" / "multi3hate" / "judges.csv"
    table, report = read_labels(path, codebook=["0", "1", "A", "B", "C"], columns={"country": "persona"})
    assert len(table) == 401 + 237
    assert report.counts["judge_failed"] == 3  # unparsed replies, blank in the file
    assert sum(table.valid[table.where(annotator=f"qwen2vl7b_p{k}")].sum() for k in range(6)) == 401
