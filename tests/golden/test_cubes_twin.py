"""The synthetic twin: an independent count of it gives the article's headline line to the digit, and no text is real.

Every expected value is the article's printed one. The counting here goes straight from the JSON, apart from the kit.
"""

from __future__ import annotations

import collections
import csv
import hashlib
import io
import json
import statistics
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from countback.claims.papers.cubes import twin as twin_module
from countback.claims.papers.cubes.read import read_judge_alignment
from countback.claims.papers.cubes.twin import make_twin, write_twin
from countback.fetch.errors import UserError
from countback.fetch.release import load_releases

SEED = 0
RELEASES = Path(twin_module.__file__).parent / "releases.toml"
HALF = {"A": 1.0, "B": 0.5, "C": 0.0}


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A twin of the integer program alone: enough for everything that is a count."""
    path = tmp_path_factory.mktemp("twin") / "twin.zip"
    write_twin(path, SEED, walks=False)
    return path


@pytest.fixture(scope="module")
def documents(twin: Path) -> tuple[Any, Any, list[dict[str, str]]]:
    with zipfile.ZipFile(twin) as held:
        humans = json.loads(held.read("judge_alignment/human_annotations.json"))
        judges = json.loads(held.read("judge_alignment/llm_annotations.json"))
        scores = held.read("cube_cross_cultural_evaluation/scores.csv").decode()
    return humans, judges, list(csv.DictReader(io.StringIO(scores)))


def winner(labels: list[str]) -> str | None:
    """The one most frequent label; None for a tie or for none."""
    best = [x for x in "ABC" if labels and labels.count(x) == max(labels.count(y) for y in "ABC")]
    return best[0] if len(best) == 1 else None


def by_item(humans: Any, judges: Any) -> Iterator[tuple[str, list[tuple[str, str]], dict[str, str]]]:
    """Country, (annotator, valid label) pairs and judge labels of every item that has a judge task."""
    for country, block in humans.items():
        answers = {}
        for task in judges[country]["tasks"]:
            said = {}
            for annotation in task["annotations"]:
                for result in annotation["result"]:
                    if result["from_name"] == "vignette_label":
                        said[annotation["completed_by"]["username"]] = result["value"]["choices"][0]
            answers[task["data"]["option_a"].strip()] = said
        for task in block["tasks"]:
            pairs = [(a["annotator"], a["choice"]) for a in task["annotations"] if a["choice"] in ("A", "B", "C")]
            if task["options"]["A"].strip() in answers:
                yield country, pairs, answers[task["options"]["A"].strip()]


def headline(humans: Any, judges: Any, country: str = "") -> tuple[int, collections.Counter[str]]:
    compared, hits = 0, collections.Counter[str]()
    for name, pairs, said in by_item(humans, judges):
        for annotator, label in pairs if country in ("", name) else []:
            reference = winner([other for who, other in pairs if who != annotator])
            if reference:
                compared += 1
                hits["human"] += label == reference
                hits.update(judge for judge, answer in said.items() if answer == reference)
    return compared, hits


def test_the_headline_line_to_the_digit(documents: Any) -> None:
    n, hits = headline(*documents[:2])
    assert n == 491
    assert {who: round(count / n, 3) for who, count in hits.items()} == {
        "human": 0.66,
        "claude-sonnet-4.5": 0.713,
        "claude-opus-4.5": 0.768,
        "gemini-3-flash-preview": 0.811,
        "gpt-5.1": 0.676,
    }
    assert sorted(hits.values()) == [324, 332, 350, 377, 398]


@pytest.mark.parametrize(
    ("country", "n", "human", "gemini"), [("Pakistan", 118, 70, 106), ("United States", 127, 92, 102)]
)
def test_the_countries_that_the_article_prints(documents: Any, country: str, n: int, human: int, gemini: int) -> None:
    compared, hits = headline(*documents[:2], country)
    assert (compared, hits["human"], hits["gemini-3-flash-preview"]) == (n, human, gemini)


def test_slots_items_and_pools(documents: Any) -> None:
    humans, judges, _ = documents
    slots = {c: [a for t in block["tasks"] for a in t["annotations"]] for c, block in humans.items()}
    assert {c: len(own) for c, own in slots.items()} == {
        "Pakistan": 155, "Philippines": 155, "Nigeria": 157, "United States": 155,
    }  # fmt: skip
    invalid = {c: sum(a["choice"] not in ("A", "B", "C") for a in own) for c, own in slots.items()}
    assert invalid == {"Pakistan": 0, "Philippines": 0, "Nigeria": 21, "United States": 0}
    assert sum(len(block["tasks"]) for block in humans.values()) == 124
    compared = [
        sum(winner([o for w, o in pairs if w != who]) is not None for who, _ in pairs) > 0
        for _, pairs, _ in by_item(humans, judges)
    ]
    assert sum(compared) == 123


def cells(humans: Any) -> dict[tuple[str, str], list[list[str]]]:
    """(country, question) -> valid labels of each item; the question is the middle part of the title."""
    found: dict[tuple[str, str], list[list[str]]] = collections.defaultdict(list)
    for country, block in humans.items():
        for task in block["tasks"]:
            labels = [a["choice"] for a in task["annotations"] if a["choice"] in ("A", "B", "C")]
            found[country, task["pod_title"].split(" | ")[1]].append(labels)
    return found


def strict_mode(labels: list[str]) -> str:
    return min("ABC", key=lambda x: (-labels.count(x), x))


def test_leans_by_the_rule_of_the_figure_and_by_pooling(documents: Any) -> None:
    by_rule, pooled, mean = (collections.Counter[str]() for _ in range(3))
    for (country, _), items in cells(documents[0]).items():
        letters = [strict_mode(labels) for labels in items if labels]
        every = [label for labels in items for label in labels]
        by_rule[country] += HALF[strict_mode(letters)]
        pooled[country] += HALF[strict_mode(every)]
        mean[country] += sum(HALF[label] for label in every) / len(every)
    assert {c: round(x / 11, 2) for c, x in by_rule.items()} == {
        "Pakistan": 0.59, "Philippines": 0.45, "Nigeria": 0.27, "United States": 0.23,
    }  # fmt: skip
    assert round(pooled["Pakistan"] / 11, 2) == round(pooled["Philippines"] / 11, 2) == 0.41
    assert {c: round(mean[c] / 11, 3) for c in ("Pakistan", "United States", "Nigeria")} == {
        "Pakistan": 0.473, "United States": 0.305, "Nigeria": 0.309,
    }  # fmt: skip


def test_the_three_cells_that_the_article_describes(documents: Any) -> None:
    shown = {}
    for (country, question), items in cells(documents[0]).items():
        if country == "Pakistan":
            every = [label for labels in items for label in labels]
            shown[question] = [every.count(x) for x in "ABC"], strict_mode([strict_mode(labels) for labels in items])
    assert shown["shutdown"] == ([4, 4, 7], "A")
    assert shown["political balance"] == ([2, 6, 7], "B")
    assert shown["statistical stereotype"] == ([3, 4, 3], "A")


def test_spreads_of_the_majority_and_of_the_judges(documents: Any) -> None:
    leans: dict[str, dict[str, list[float]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for country, pairs, said in by_item(*documents[:2]):
        labels = [label for _, label in pairs]
        if labels:
            top = [x for x in "ABC" if labels.count(x) == max(labels.count(y) for y in "ABC")]
            leans["human"][country].append(statistics.mean(HALF[x] for x in top))
            for judge, label in said.items():
                leans[judge][country].append(HALF[label])
    means = {who: {c: statistics.mean(x) for c, x in own.items()} for who, own in leans.items()}
    spread = {who: round(max(own.values()) - min(own.values()), 3) for who, own in means.items()}
    assert spread == {
        "human": 0.194,
        "claude-sonnet-4.5": 0.055,
        "gemini-3-flash-preview": 0.088,
        "claude-opus-4.5": 0.145,
        "gpt-5.1": 0.145,
    }
    assert (round(means["human"]["Nigeria"], 3), round(means["human"]["Pakistan"], 3)) == (0.25, 0.444)
    in_pakistan = [round(own["Pakistan"], 3) for who, own in means.items() if who != "human"]
    assert (min(in_pakistan), max(in_pakistan)) == (0.339, 0.371)


def test_the_rollouts_and_their_gap(documents: Any) -> None:
    rows = documents[2]
    assert len(rows) == 468
    political = [r for r in rows if r["behavior"] == "political bias" and r["target_model"] == "claude-sonnet-4.5"]
    score: dict[str, list[float]] = collections.defaultdict(list)
    for row in political:
        score[row["culture"]].append(float(row["behavior_presence"]))
    base = statistics.mean(score.pop("no-culture"))
    assert len(score) == 12
    assert round(base - statistics.mean(statistics.mean(x) for x in score.values()), 2) == 5.89


def test_every_text_and_id_says_synthetic(twin: Path, documents: Any) -> None:
    humans, judges, rows = documents
    kept = {"A", "B", "C", "", None}
    texts = [t["pod_title"] for b in humans.values() for t in b["tasks"]]
    texts += [x for b in humans.values() for t in b["tasks"] for x in t["options"].values()]
    slots = [a for b in humans.values() for t in b["tasks"] for a in t["annotations"]]
    texts += [a["annotator"] for a in slots] + [a["choice"] for a in slots if a["choice"] not in kept]
    texts += [x for b in judges.values() for t in b["tasks"] for x in t["data"].values()]
    texts += [row["variation"] for row in rows]
    assert len(texts) > 1000
    assert [x for x in texts if "synthetic" not in x.lower()] == []
    with zipfile.ZipFile(twin) as held:
        assert "No label in it was given by a person" in held.read("SYNTHETIC.txt").decode()
    assert read_judge_alignment(twin)[1].synthetic


def test_no_twin_passes_a_pin(twin: Path) -> None:
    data = twin.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    for release in load_releases(RELEASES):
        for pin in release.files:
            assert pin.sha256 != digest
            assert pin.size != len(data)


def test_a_twin_that_a_pin_would_accept_is_removed(tmp_path: Path, twin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy.zip"
    copy.write_bytes(twin.read_bytes())
    (tmp_path / "releases.toml").write_text(
        RELEASES.read_text(encoding="utf-8").replace("size   = 427804", f"size   = {copy.stat().st_size}"), "utf-8"
    )
    monkeypatch.setattr(twin_module, "FOLDER", tmp_path)
    with pytest.raises(UserError, match=r"would pass for cubes/cube_judge_alignment\.zip"):
        twin_module._check_pins(copy)
    assert not copy.exists()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, twin: Path) -> None:
    write_twin(tmp_path / "again.zip", SEED, walks=False)
    assert (tmp_path / "again.zip").read_bytes() == twin.read_bytes()


def test_a_file_that_is_no_twin_is_never_replaced(tmp_path: Path) -> None:
    release = tmp_path / "cube_judge_alignment.zip"
    release.write_bytes(b"bytes of a release")
    with pytest.raises(UserError, match="is no synthetic archive"):
        write_twin(release, SEED)
    assert release.read_bytes() == b"bytes of a release"
    with pytest.raises(UserError, match="is no folder"):
        write_twin(tmp_path / "nowhere" / "twin.zip", SEED)


@pytest.mark.slow
def test_the_whole_twin_meets_all_but_a_few_claims_and_lists_those(tmp_path: Path) -> None:
    report = make_twin(tmp_path / "twin.zip", SEED)
    missed = {line.claim for line in report.missed}
    # Sizes and hashes of the real archives must be missed; what the walks seek may be; counts may not.
    assert {"s2-ja-size", "s2-xc-size", "s2-xc-hash", "s7-hash"} <= missed
    unstated = "s6-plan"  # the article states no target of stability
    assert {line.claim for line in report.absent} == {"s2-clear", "s2-tests", unstated}
    allowed = (
        "s2-",
        "s3-opus-interval",
        "s3-pk-interval",
        "s5-null",
        "s5-p-",
        "s5-under",
        "s6-fast",
        "s6-slow",
        "s7-hash",
    )
    assert [name for name in missed if not name.startswith(allowed)] == []
    assert len(report.met) >= 90
