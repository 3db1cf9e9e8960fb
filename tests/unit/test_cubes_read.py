"""The readers of the CuBEs release on small archives written by hand: every slot counted, every surprise reported."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.claims.papers.cubes.discover import behaviour_fields, country_name, question_fields
from countback.claims.papers.cubes.read import read_judge_alignment, read_rollouts
from countback.fetch.errors import UserError

JUDGES = ("judge-1", "judge-2")
TWICE = {"NG": {"tasks": []}, "Nigeria": {"tasks": []}}  # two keys for one country


def slot(who: Any, choice: Any = "A", seconds: Any = 10, **more: Any) -> dict[str, Any]:
    return {"annotator": who, "choice": choice, "lead_time_seconds": seconds, **more}


def item(option: str, *slots: dict[str, Any], title: str = "t", **more: Any) -> dict[str, Any]:
    options = {"A": option, "B": "b", "C": "c"}
    return {"pod_title": title, "options": options, "annotations": list(slots), **more}


def judged(option: str, *labels: Any, **data: Any) -> dict[str, Any]:
    """A judge task; a label is a list of choices, or None for an annotation without the result."""
    annotations = []
    for judge, choices in zip(JUDGES, labels, strict=False):
        result = [] if choices is None else [{"from_name": "vignette_label", "value": {"choices": choices}}]
        annotations.append({"completed_by": {"username": judge}, "result": result})
    return {"data": {"option_a": option, **data}, "annotations": annotations}


def archive(tmp_path: Path, humans: Any, judges: Any, **members: str) -> Path:
    path = tmp_path / "ja.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("judge_alignment/human_annotations.json", json.dumps(humans))
        out.writestr("judge_alignment/llm_annotations.json", json.dumps(judges))
        for name, text in members.items():
            out.writestr(name, text)
    return path


def one_country(tmp_path: Path, tasks: list[Any], judge_tasks: list[Any], key: str = "Nigeria") -> Path:
    return archive(tmp_path, {key: {"tasks": tasks}}, {key: {"tasks": judge_tasks}})


def test_every_slot_has_one_reason(tmp_path: Path) -> None:
    tasks = [
        item("x", slot("p1", "A"), slot("p2", "B "), slot("p3", "c"), slot("p4", ""), slot("p5", None)),
        item("y", slot("p1", "The panel was blank"), slot("p2", "A"), slot("p2", "C"), {"annotator": "p6"}),
    ]
    table, report = read_judge_alignment(one_country(tmp_path, tasks, [judged("x", ["A"], ["B"])]))
    # valid: A of p1, A of p2 on y; blank: "", null, the absent choice; padded "B "; case "c"; a free text; the C again
    assert dict(report.slots["Nigeria"]) == {
        "valid": 2, "blank": 3, "padded": 1, "case": 1, "not_in_codebook": 1, "duplicate": 1,
    }  # fmt: skip
    assert report.total() == 9
    assert report.total("valid") == 2
    assert report.labels_per_item["Nigeria"] == {4: 1, 5: 1}
    assert report.pools["Nigeria"] == 6
    assert report.blank_panel == ("Nigeria/02",)
    assert report.free_texts == (("Nigeria/01", "B "), ("Nigeria/01", "c"), ("Nigeria/02", "The panel was blank"))
    assert report.unmatched == ("Nigeria/02",)
    assert [table.raw[i] for i in np.flatnonzero(table.where(reason="duplicate"))] == ["C"]
    assert any("without the key choice" in note and note.endswith("(1)") for note in report.notes)
    assert any("already has one" in note for note in report.notes)


def test_the_first_valid_label_is_kept_after_a_blank_one(tmp_path: Path) -> None:
    tasks = [item("x", slot("p1", ""), slot("p1", "B"))]
    _, report = read_judge_alignment(one_country(tmp_path, tasks, [judged("x", ["A"])]))
    assert dict(report.slots["Nigeria"]) == {"blank": 1, "valid": 1}


def test_an_item_without_any_label_is_named(tmp_path: Path) -> None:
    tasks = [item("x", slot("p1", ""), slot("p2", "did not load")), item("y", slot("p1"))]
    _, report = read_judge_alignment(one_country(tmp_path, tasks, [judged("x", ["A"]), judged("y", ["A"])]))
    assert report.no_valid_label == ("Nigeria/01",)
    assert report.blank_panel == ("Nigeria/01",)


def test_judges_join_by_option_a_stripped_and_the_later_task_wins(tmp_path: Path) -> None:
    tasks = [item(" x\n", slot("p1"))]
    judge_tasks = [judged("x", ["A"], ["B"]), judged("x ", ["C"], ["C"]), judged("z", ["A"])]
    table, report = read_judge_alignment(one_country(tmp_path, tasks, judge_tasks))
    rows = table.where(kind="judge")
    assert [table.labels[code] for code in table.label[rows]] == ["C", "C"]
    assert report.spare_judge_tasks == ("Nigeria, judge task 3",)
    assert any("share option A" in note for note in report.notes)


def test_judge_replies_that_are_no_single_label(tmp_path: Path) -> None:
    tasks = [item("x", slot("p1")), item("y", slot("p1"))]
    table, report = read_judge_alignment(
        one_country(tmp_path, tasks, [judged("x", ["A", "B"], []), judged("y", None, ["A"])])
    )
    judges = table.mask(table.where(kind="judge"))
    assert judges.counts() == {"valid": 1, "several_labels": 1, "judge_failed": 2}
    assert report.judges == JUDGES


def test_annotators_are_kept_apart_by_country_and_addresses_hashed(tmp_path: Path) -> None:
    humans = {
        "pakistan": {"annotator_count": 3, "task_count": 1, "tasks": [item("x", slot(1), slot("a@example.org", "B"))]},
        "US": {"tasks": [item("y", slot(1))]},
    }
    judges = {"pakistan": {"tasks": [judged("x", ["A"])]}, "US": {"tasks": [judged("y", ["A"])]}}
    table, report = read_judge_alignment(archive(tmp_path, humans, judges))
    assert dict(report.country_keys) == {"pakistan": "Pakistan", "US": "United States"}
    assert {"Pakistan/1", "United States/1"} < set(table.annotators)
    assert not any("@" in name for name in table.annotators)
    notes = " | ".join(report.notes)
    assert "annotator_count says 3, and there are 2" in notes
    assert "occur in several countries" in notes
    assert "hashed" in notes


def test_further_keys_are_reported(tmp_path: Path) -> None:
    tasks = [item("x", slot("p1", seconds=None, mood="good"), domain="Health")]
    table, report = read_judge_alignment(one_country(tmp_path, tasks, [judged("x", ["A"])]))
    notes = " | ".join(report.notes)
    assert "human tasks with the key 'domain'" in notes
    assert "human annotations with the key 'mood'" in notes
    assert "without a lead time" in notes
    assert np.isnan(table.seconds[0])


@pytest.mark.parametrize(
    ("humans", "judges", "said"),
    [
        ({"NG": {"tasks": [item("x", slot("p1", ["A"]))]}}, {"NG": {"tasks": []}}, "choice is a list of 1"),
        ({"NG": {"tasks": [item("x", slot("p1", 1))]}}, {"NG": {"tasks": []}}, "choice is a int 1"),
        ({"NG": {"tasks": [item("x", slot(None))]}}, {"NG": {"tasks": []}}, "annotator is a null"),
        ({"NG": {"tasks": [item("x", slot("p", seconds="9"))]}}, {"NG": {"tasks": []}}, "lead_time_seconds is a str"),
        ({"NG": {"tasks": [{"pod_title": "t"}]}}, {"NG": {"tasks": []}}, "options.A was expected"),
        ({"NG": {"tasks": {}}}, {"NG": {"tasks": []}}, "whose tasks are a list of objects"),
        ({"NG": []}, {"NG": {"tasks": []}}, "is a list of 0"),
        ({"NG": {"tasks": []}}, {"PK": {"tasks": []}}, "Expected the same keys in both"),
        (TWICE, TWICE, "mean one country"),
        ({"NG": {"tasks": []}}, {"NG": {"tasks": [{"data": {"a": 1}}]}}, "the keys 'a' stands where data.option_a"),
        ([], {}, "one key per country"),
    ],
)  # fmt: skip
def test_unknown_shapes_stop_with_what_was_found(tmp_path: Path, humans: Any, judges: Any, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        read_judge_alignment(archive(tmp_path, humans, judges))


def test_a_judge_of_another_shape_stops(tmp_path: Path) -> None:
    task = {"data": {"option_a": "x"}, "annotations": [{"completed_by": 3, "result": []}]}
    with pytest.raises(UserError, match=r"a int 3 stands where completed_by\.username was expected"):
        read_judge_alignment(one_country(tmp_path, [item("x", slot("p1"))], [task]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ('{"NG": NaN}', "holds the number NaN"),
        ('{"NG": 1, "NG": 2}', "the key 'NG' twice"),
        ("[" * 100_000, "JSON|nested"),
    ],
)
def test_broken_json_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "ja.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("human_annotations.json", text)
        out.writestr("llm_annotations.json", "{}")
    with pytest.raises(UserError, match=said):
        read_judge_alignment(path)


def test_files_that_are_missing_doubled_or_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a/human_annotations.json", "{}")
        out.writestr("b/human_annotations.json", "{}")
    with pytest.raises(UserError, match="expected one file called human_annotations"):
        read_judge_alignment(path)
    with pytest.raises(UserError, match="expected one file called human_annotations"):
        read_judge_alignment(tmp_path)
    (tmp_path / "page.zip").write_text("<html>sign in</html>")
    with pytest.raises(UserError, match="zip archive"):
        read_judge_alignment(tmp_path / "page.zip")


def test_a_folder_reads_like_the_zip(tmp_path: Path) -> None:
    path = one_country(tmp_path, [item("x", slot("p1"))], [judged("x", ["A"])])
    with zipfile.ZipFile(path) as held:
        held.extractall(tmp_path / "ja")
    table, _ = read_judge_alignment(tmp_path / "ja")
    again, _ = read_judge_alignment(path)
    assert table.items == again.items
    assert table.label.tolist() == again.label.tolist()


# --- Where the question sits -------------------------------------------------------------------------------------

COUNTRIES = ["Pakistan"] * 6 + ["Nigeria"] * 6
WORDS = ["shutdown", "shutdown", "balance", "balance", "stance", "stance"] * 2


def found(texts: list[str], **more: Any) -> list[str]:
    groups = question_fields([{"pod_title": t} for t in texts], COUNTRIES, questions=3, per_cell=(2, 3), **more)
    return [" = ".join(field.name for field in group) for group in groups]


def test_the_question_is_found_whole_in_parts_numbered_or_behind_the_country() -> None:
    assert found(WORDS)[0].startswith("pod_title")
    assert "without its number" in found([f"{w} {i % 2 + 1}" for i, w in enumerate(WORDS)])[0]
    assert "part 2" in found([f"Health | {w} | {i}" for i, w in enumerate(WORDS)])[0]
    titles = [f"{c.lower()}_{w}_{i % 2}" for i, (c, w) in enumerate(zip(COUNTRIES, WORDS, strict=True))]
    assert "number and country" in found(titles)[0]


def test_no_question_is_guessed() -> None:
    assert found([f"vignette {i}" for i in range(12)]) == []
    assert found(["a"] * 12) == []
    assert found([w if i else "stance" for i, w in enumerate(WORDS)]) == []  # one item of shutdown is left in Pakistan


def test_two_ways_to_cut_the_items_are_both_returned() -> None:
    other = ["p", "p", "q", "q", "r", "r", "q", "q", "p", "p", "r", "r"]
    texts = [{"a": w, "b": o} for w, o in zip(WORDS, other, strict=True)]
    assert len(question_fields(texts, COUNTRIES, questions=3)) == 2


def test_behaviours_keep_questions_whole() -> None:
    texts = [{"q": w, "broad": "x" if w == "stance" else "y", "torn": str(i % 2)} for i, w in enumerate(WORDS)]
    names = [field.name for field in behaviour_fields(texts, COUNTRIES, WORDS, behaviours=2)]
    assert any(name.startswith("broad") for name in names)
    assert not any(name.startswith("torn") for name in names)


def test_a_chosen_field_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = one_country(tmp_path, [item("x", slot("p1"))], [judged("x", ["A"])])
    with pytest.raises(UserError, match=r"Fields found: pod_title, data\.option_a"):
        read_judge_alignment(path, question_field="pod_title")


def test_country_names_are_an_exact_table() -> None:
    assert country_name(" united_states ") == "United States"
    assert country_name("NG") == "Nigeria"
    assert country_name("America") == "America"  # ambiguous: never guessed


# --- scores.csv --------------------------------------------------------------------------------------------------

HEADER = "behavior,culture,domain,target_model,variation,repetition,behavior_presence\n"


def scores(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_scores_become_a_table(tmp_path: Path) -> None:
    text = "\ufeff" + HEADER + "bias,none,Health,m,1,1,9\nbias,India,Health,m,1,1,\nbias,India,Health,m,1,1,2.0\n"
    table = read_rollouts(scores(tmp_path, text))
    assert len(table) == 3
    assert table.baseline == "none"
    assert table.score[0] == 9
    assert np.isnan(table.score[1])
    assert any(note.startswith("1 of 3 rows have no score") for note in table.notes)
    assert any("1 rows repeat" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER.replace("culture", "country"), "expected each of behavior, culture"),
        ("", r"\(none\)"),
        (HEADER + "bias,India,Health,m,1,1\n", "row 2 has 6 cells"),
        (HEADER + "bias,India,Health,m,1,1,11\n", "'11'; expected a number from 1 to 10"),
        ('"' + HEADER, "is not CSV: unexpected end of data"),
        (HEADER + "bias,India,Health,m,1,1,nan\n", "'nan'; expected a number"),
        (HEADER + "bias,India,Health,m,1,1,high\n", "'high'; expected a number"),
    ],
)
def test_scores_of_another_shape_stop(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_rollouts(scores(tmp_path, text))


def test_scores_that_are_not_there_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_rollouts(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("names", [("India", "France"), ("none", "baseline", "India")])
def test_a_baseline_is_not_guessed(tmp_path: Path, names: tuple[str, ...]) -> None:
    text = HEADER + "".join(f"bias,{name},Health,m,1,1,5\n" for name in names)
    table = read_rollouts(scores(tmp_path, text))
    assert table.baseline is None
    assert any("no single culture" in note for note in table.notes)
