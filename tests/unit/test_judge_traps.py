"""Traps are found from the data: each is planted here, and an honest file shows none."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.audit.judge import audit_labels
from countback.audit.judge.input import read_inputs
from countback.audit.judge.notes import trap_lines
from countback.audit.judge.settings import read_settings
from countback.audit.judge.study import build
from countback.audit.judge.traps import steadiness
from countback.audit.judge.tree import Audit
from judge_data import judged, panel, write

JUDGE = ("item", "judge", "country", "label")


def audit(labels: Path, judges: Path | None = None, **told: Any) -> Audit:
    return audit_labels(labels, judges, read_settings(labels, judges, **told), draws=100, seed=1)


def kinds(found: Audit) -> list[str]:
    return [trap.kind for trap in found.traps]


def test_an_honest_file_has_no_trap(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows, truth = panel(rng, shared=True, people=6)
    found = audit(
        write(tmp_path / "l.csv", [(i, f"{who} x", c, label) for i, who, c, label in rows]),
        write(tmp_path / "j.csv", judged(rng, truth, 0.9), JUDGE),
    )
    assert kinds(found) == []


def places(tmp_path: Path, *, persons: bool) -> Path:
    """Three places a country; how strict they are stays with the place, or is drawn anew for every item."""
    rng = np.random.default_rng(2)
    rows = []
    for country in ("US", "PK", "NG", "IN"):
        strict = rng.normal(0, 0.8, 3)
        for i in range(80):
            content = rng.normal()
            for who in range(3):
                bias = strict[who] if persons else strict[rng.integers(3)]
                score = int(np.clip(np.round(3 + content + bias + rng.normal(0, 0.3)), 1, 5))
                rows.append((i, f"{country}_a{who}", country, score))
    return write(tmp_path / "l.csv", rows)


@pytest.mark.parametrize("persons", [True, False])
def test_ids_that_are_places_and_whether_a_place_is_a_person(tmp_path: Path, persons: bool) -> None:
    found = audit(places(tmp_path, persons=persons))
    (trap,) = [trap for trap in found.traps if trap.kind == "positions"]
    assert (trap.facts["first"], trap.facts["last"], trap.facts["countries"]) == (0, 2, 4)
    assert (trap.facts["correlation"] > 0.9) == persons
    assert (abs(trap.facts["correlation"]) < 0.5) == (not persons)


def test_steadiness_by_a_loop(tmp_path: Path) -> None:
    labels = places(tmp_path, persons=True)
    settings = read_settings(labels, None)
    study = build(read_inputs(labels, None, settings))
    value, number = steadiness(study)
    rows: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for unit, who, label in zip(study.unit, study.annotator, study.label, strict=True):
        rows.setdefault(unit, []).append((int(who), int(label) / 4))
    halves: dict[int, tuple[list[float], list[float]]] = {}
    for unit, given in rows.items():
        for who, score in given:
            rest = [other for person, other in given if person != who]
            halves.setdefault(who, ([], []))[study.item[unit] % 2].append(score - sum(rest) / len(rest))
    means = np.array([[np.mean(part) for part in pair] for pair in halves.values()])
    assert number == 12
    assert value == pytest.approx(np.corrcoef(means.T)[0, 1])


def test_ordinary_ids_are_no_places(tmp_path: Path) -> None:
    rows, _ = panel(np.random.default_rng(3))
    for name, change in (
        ("u", lambda who: f"u{sum(map(ord, who))}"),
        ("7", lambda who: who.replace("person 1", "person 7")),
    ):
        changed = [(i, change(who), c, label) for i, who, c, label in rows]
        assert "positions" not in kinds(audit(write(tmp_path / f"{name}.csv", changed)))


def test_judges_that_lack_items_or_lie_apart_in_their_shares(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows, truth = panel(rng, countries=("US",), items=60, labels="12")
    strict = [(i, "order a", c, "2" if label == "2" or rng.random() < 0.4 else "1") for (i, c), label in truth.items()]
    mild = [(i, "order b", c, "1" if label == "1" or rng.random() < 0.4 else "2") for (i, c), label in truth.items()]
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", strict + mild[:-2], JUDGE))
    (short,) = [trap.facts for trap in found.traps if trap.kind == "short"]
    assert (short["judge"], short["items"], short["of"]) == ("order b", 2, 60)
    (apart,) = [trap.facts for trap in found.traps if trap.kind == "shares apart"]
    share = sum(row[3] == "1" for row in mild[:-2]) / 58
    assert {apart["low"], apart["high"]} == {"order a", "order b"}
    assert share in (pytest.approx(apart["high share"]), pytest.approx(1 - apart["low share"]))


def test_answers_off_the_scale_and_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows, truth = panel(rng, countries=("US",), items=40)
    answers = judged(rng, truth, 0.9)
    answers[0], answers[1] = (*answers[0][:3], "0"), (*answers[1][:3], "7")
    scores = [(i, "scorer", c, f"0.{rng.integers(1000):03d}") for i, c in truth]
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", answers + scores, JUDGE))
    (off,) = [trap.facts for trap in found.traps if trap.kind == "off the scale"]
    assert (off["judge"], off["answers"], off["rows"], off["forms"]) == ("model-x", 2, 40, {"'0'": 1, "'7'": 1})
    (none,) = [trap.facts for trap in found.traps if trap.kind == "no label"]
    assert (none["judge"], none["valid"], none["scores"]) == ("scorer", 0, True)
    reports = {report.name: report for report in found.judges}
    assert reports["scorer"].overall is None
    assert reports["model-x"].overall is not None
    assert reports["model-x"].overall.missing > 0


def test_a_country_in_which_the_judge_read_something_else(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    rows, truth = panel(rng, countries=("US", "PK", "NG", "IN"), right=0.9)
    answers = [
        (i, name, c, "123"[rng.integers(3)] if c == "IN" else label) for i, name, c, label in judged(rng, truth, 0.95)
    ]
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", answers, JUDGE))
    unrelated = [trap.facts["country"] for trap in found.traps if trap.kind == "unrelated"]
    assert unrelated in ([], ["IN"])
    places = {place.country: place.kappa for place in found.judges[0].places}
    assert places["IN"] < 0.4 < min(places["US"], places["PK"], places["NG"])


def test_agreement_that_differs_between_countries(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    close, _ = panel(rng, countries=("TR",), right=1.0)
    loose, _ = panel(rng, countries=("NL",), right=0.2)
    found = audit(write(tmp_path / "l.csv", close + loose))
    (apart,) = [trap.facts for trap in found.traps if trap.kind == "agreement apart"]
    assert (apart["high"].where, apart["low"].where) == ("TR", "NL")
    assert apart["high"].equal.value == 1.0


def test_thin_units_constant_annotators_and_models_among_humans(tmp_path: Path) -> None:
    alone = write(tmp_path / "a.csv", [(i, "x", "", "12"[i % 2]) for i in range(30)])
    assert kinds(audit(alone)) == ["one label a unit"]
    rows = [(i, who, "", "1" if who == "lazy" else "12"[i % 2]) for i in range(40) for who in ("p", "q", "lazy")]
    (constant,) = [trap.facts for trap in audit(write(tmp_path / "c.csv", rows)).traps]
    assert constant == {"annotators": 1, "labels": 30}
    rows = [(i, who, "", "12"[i % 2]) for i in range(30) for who in ("p", "q", "GPT-5")]
    labels = write(tmp_path / "m.csv", rows)
    (model,) = (found := audit(labels)).traps
    assert model.facts["names"] == ["GPT-5"]
    (line,) = trap_lines(found.traps)
    option, choice = shlex.split(line.partition(" say ")[2].rstrip("."))  # as a shell would take it
    assert option == "--set"
    assert [judge.name for judge in audit(labels, choices=[choice]).judges] == ["GPT-5"]


def test_permutation_tests_are_corrected_over_all_questions_whatever_their_scales(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        (i, f"{country} {who}", country, question, int(rng.integers(1, top + 1)) if country == "US" else top)
        for question, top in (("tone", 3), ("harm", 5))
        for country in ("US", "PK")
        for i in range(40)
        for who in range(2)
    ]
    labels = write(tmp_path / "l.csv", rows, ("item", "annotator", "country", "question", "label"))
    found = audit(labels).tests
    assert len(found) == 2
    for test in found:  # two tests, both at the least p that the shuffles can give
        assert test.p == pytest.approx(1 / (test.draws + 1))
        assert test.bonferroni == pytest.approx(2 * test.p)
        assert test.bh == pytest.approx(test.p)


def test_shuffles_are_enough_for_a_correction_over_many_questions(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [
        (i, f"{country} {who}", country, f"q{q}", "12"[int(rng.integers(2))] if country == "US" else "2")
        for q in range(20)
        for country in ("US", "PK")
        for i in range(30)
        for who in range(2)
    ]
    labels = write(tmp_path / "l.csv", rows, ("item", "annotator", "country", "question", "label"))
    found = audit(labels).tests  # 100 shuffles alone: 20 x 1/101 could never be below 0.05
    assert max(test.bonferroni for test in found) < 0.05


def test_label_studio_texts_under_two_ids_open_tabs_and_anchored_answers(tmp_path: Path) -> None:
    def annotation(number: int, who: int, label: str, seconds: float, model: int | None) -> dict[str, Any]:
        result = [{"from_name": "q", "to_name": "t", "type": "choices", "value": {"choices": [label]}}]
        return {
            "id": number, "completed_by": who, "result": result, "lead_time": seconds, "parent_prediction": model,
            "created_at": "2026-01-01T00:00:00Z",
        }  # fmt: skip

    tasks = []
    for t in range(30):
        text = f"A made-up text that is long enough, number {t if t else 1}"  # tasks 0 and 1 have the same
        given = [
            annotation(3 * t + k, k, "AB"[t % 2], 7200.0 if t == k == 2 else 20.0, 5 if t < 4 else None)
            for k in range(3)
        ]
        tasks.append({"id": t, "data": {"text": text}, "annotations": given})
    labels = tmp_path / "export.json"
    labels.write_text(json.dumps(tasks), encoding="utf-8")
    facts = {trap.kind: trap.facts for trap in audit(labels).traps}
    assert facts["same text"] == {"key": "text", "texts": 1, "tasks": 2, "of": 30}
    assert facts["open tabs"] == {"long": 1, "labels": 90, "longest": 7200.0}
    assert facts["flag"] == {"flag": "human edited a model answer", "number": 12}
    as_told = audit(labels, columns=["item=text"])
    assert "same text" not in kinds(as_told)  # the text is the item now
    assert as_told.scope.items == 28  # of the two tasks with one text each person gave both labels: both are dropped


def test_human_answers_that_are_no_label(tmp_path: Path) -> None:
    rows = [(i, who, "", "12"[i % 2]) for i in range(30) for who in ("p", "q")]
    rows[3] = (*rows[3][:3], "see comment")
    (off,) = [trap.facts for trap in audit(write(tmp_path / "l.csv", rows), codebook="1,2").traps]
    assert off == {"answers": 1, "forms": {"see comment": 1}}
