"""Label Studio, Potato, Argilla and doccano: every shape they have written, and every state kept apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from countback.fetch.readers import IngestReport, read_argilla, read_labels
from countback.fetch.readers.label_studio import results
from countback.fetch.readers.source import open_source

Row = tuple[str, str, str, str | None, str]


def read(folder: Path, value: Any, name: str = "x.json", **options: Any) -> tuple[LabelTable, IngestReport]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return read_labels(path, **{"codebook": ["A", "B"], "keep_pii": True, **options})


def rows(t: LabelTable) -> list[Row]:
    """(item, annotator, question, label, reason) of every row, sorted."""
    columns = (t.item, t.annotator, t.question, t.label, t.reason)
    found = [
        (t.items[i], t.annotators[a], t.questions[q], t.labels[c] if c >= 0 else None, t.reasons[r])
        for i, a, q, c, r in zip(*(c.tolist() for c in columns), strict=True)
    ]
    return sorted(found, key=str)


# --- Label Studio


def choice(question: str, *choices: str, **extra: Any) -> dict[str, Any]:
    return {"from_name": question, "to_name": "t", "type": "choices", "value": {"choices": list(choices), **extra}}


def annotation(identity: int, who: Any, *found: Any, **more: Any) -> dict[str, Any]:
    return {"id": identity, "completed_by": who, "result": list(found), **more}


def test_label_studio_states(tmp_path: Path) -> None:
    tasks = [
        {
            "id": 1,
            "data": {"text": "t", "locale": "KE"},
            "annotations": [
                annotation(1, 1, choice("p", "A"), choice("q", "B"), lead_time=3.5),
                annotation(2, 2, choice("p", "B")),  # q left blank
                annotation(3, {"id": 3}, was_cancelled=True, lead_time=1),
            ],
            "drafts": [
                {"user": "x@example.org", "created_username": "x@example.org, 4", "annotation": None,
                 "result": [choice("p", "A")]},
                {"user": "x@example.org", "annotation": 2, "result": [choice("p", "A")]},
            ],
            "predictions": [{"model_version": "m", "result": [choice("p", "B")]}],
        },
        {"id": 2, "data": {"locale": "NA"}, "annotations": []},
    ]  # fmt: skip
    table, report = read(tmp_path, tasks, columns={"country": "locale"})
    assert rows(table) == [
        ("1", "1", "p", "A", "valid"),
        ("1", "1", "q", "B", "valid"),
        ("1", "2", "p", "B", "valid"),
        ("1", "2", "q", None, "blank"),
        ("1", "3", "p", None, "skipped"),
        ("1", "3", "q", None, "skipped"),
        ("1", "4", "p", None, "draft"),
        ("1", "4", "q", None, "draft"),
        ("1", "model:m", "p", "B", "valid"),
    ]
    assert table.countries == ("KE",)
    assert report.read == {
        "tasks": 2, "annotations": 3, "skipped annotations": 1, "results": 6, "results that are answers": 5,
        "drafts": 2, "predictions": 1,
    }  # fmt: skip
    assert report.set_aside == {"results in drafts of an annotation that was submitted": 1}
    assert report.flags == {"tasks without an annotation": 1, "drafts of an annotation that was submitted": 1}
    assert report.coverage() == pytest.approx(4 / 9)
    assert report.pii_dropped == ("drafts.user", "drafts.created_username")


def test_label_studio_kinds_of_answer(tmp_path: Path) -> None:
    found = [
        {"from_name": "r", "type": "rating", "value": {"rating": 4}},
        {"from_name": "n", "type": "number", "value": {"number": 2}},
        {"from_name": "w", "type": "pairwise", "value": {"selected": "left"}},
        {"from_name": "t", "type": "taxonomy", "value": {"taxonomy": [["a", "b"]]}},
        {"from_name": "c", "type": "choices", "value": {"choices": ["A"], "start": 0, "end": 3, "text": "abc"}},
        {"from_name": "f", "type": "textarea", "value": {"text": ["words"]}},
        {"from_name": "l", "type": "labels", "value": {"start": 0, "end": 1, "labels": ["X"]}},
    ]
    task = {"id": 1, "data": {}, "annotations": [annotation(1, 7, *found)]}
    book = ["4", "2", "left", "a > b"]
    table, report = read(tmp_path, [task], codebook=book)
    assert [(row[2], row[3]) for row in rows(table)] == [("n", "2"), ("r", "4"), ("t", "a > b"), ("w", "left")]
    assert report.set_aside == {
        "results of type choices about a part of the item, question 'c'": 1,
        "results of type textarea, question 'f'": 1,
        "results of type labels, question 'l'": 1,
    }
    assert [(r.question, r.type) for r in results(open_source(tmp_path / "x.json", "x"))] == [
        (f["from_name"], f["type"]) for f in found
    ]
    table, report = read(tmp_path, [task], codebook={"r": ["4"]})
    assert rows(table) == [("1", "7", "r", "4", "valid")]
    assert report.read["results"] == report.read["results that are answers"] + sum(report.set_aside.values()) == 7


def test_label_studio_item_from_the_data(tmp_path: Path) -> None:
    tasks = [{"id": i, "data": {"doc": "d1"}, "annotations": [annotation(i, 7, choice("p", "A"))]} for i in (1, 2)]
    with pytest.raises(UserError, match="more than one label"):
        read(tmp_path, tasks, columns={"item": "doc"})
    assert read(tmp_path, tasks, columns={"item": "doc"}, duplicates="first")[0].items == ("d1",)
    with pytest.raises(UserError, match="task 0: the data has no 'document'; it has 'doc'"):
        read(tmp_path, tasks, columns={"item": "document"})


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"id": 1, "data": {}, "annotations": "none"}, r"task 0\.annotations is str"),
        ({"id": 1, "data": [], "annotations": [annotation(1, 1, "x")]}, r"annotations\[0\]\.result\[0\] is str"),
        ({"id": 1, "data": {}, "annotations": [{"result": 5}]}, r"result is int 5"),
    ],
)
def test_label_studio_shapes_that_are_not_known(tmp_path: Path, task: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, [task], reader="label-studio")


def test_label_studio_annotations_as_ids(tmp_path: Path) -> None:
    task = {"id": 1, "data": {}, "annotations": [5, annotation(6, None, choice("p", "A"))], "predictions": [7]}
    other = {"id": 2, "data": {}, "annotations": [annotation(8, 1, choice("p", "B"))]}
    table, report = read(tmp_path, [task, other])
    assert rows(table) == [("2", "1", "p", "B", "valid")]
    assert report.refused == {
        "annotations exported as ids only": 1,
        "predictions exported as ids only": 1,
        "rows without an annotator": 1,
    }


def test_json_min_needs_to_be_told_its_questions(tmp_path: Path) -> None:
    value = [
        {"id": 1, "text": "t", "annotator": 3, "annotation_id": 7, "s": "A", "lead_time": 2, "lang": "KE"},
        {"id": 1, "text": "t", "annotator": 4, "annotation_id": 8, "lead_time": 2, "lang": "KE"},
    ]
    with pytest.raises(UserError, match=r"side by side.*It has 'text', 's', 'lang'"):
        read(tmp_path, value)
    for told in ({"columns": {"label": "s", "country": "lang"}}, {"codebook": {"s": ["A"], "z": ["A"]}}):
        table, _ = read(tmp_path, value, **told)
        assert rows(table) == [("1", "3", "s", "A", "valid"), ("1", "4", "s", None, "blank")]
    with pytest.raises(UserError, match="has no question 'z'"):
        read(tmp_path, value, columns={"questions": ["s", "z"]})


# --- Potato


def test_potato_in_both_shapes(tmp_path: Path) -> None:
    listed = {
        "user_id": "alice",
        "instance_id_ordering": ["r1", "r2", "r3"],
        "instance_id_to_label_to_value": {
            "r1": [
                [{"schema": "s", "name": "A"}, "true"],
                [{"schema": "s", "name": "free_response"}, "words"],
                [{"schema": "m", "name": "A"}, True],
                [{"schema": "m", "name": "B"}, "true"],
            ],
            "r2": [[{"schema": "s", "name": "select-one"}, "B"], [{"schema": "m", "name": "A"}, "false"]],
        },
        "instance_id_to_span_to_value": {"r1": [[{"schema": "x"}, "PER"]]},
    }
    keyed = {"user_id": "bob", "instance_id_to_label_to_value": {"r1": {"s": {"labels": {"B": True}}, "m": {"A": "A"}}}}
    for who, state in (("alice", listed), ("bob", keyed)):
        path = tmp_path / "out" / who / "user_state.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(state), encoding="utf-8")
    table, report = read_labels(tmp_path / "out", codebook=["A", "B"], multi=["m"], keep_pii=True)
    assert rows(table) == [
        ("r1", "alice", "m", "A+B", "valid"),
        ("r1", "alice", "s", "A", "valid"),
        ("r1", "bob", "m", "A", "valid"),
        ("r1", "bob", "s", "B", "valid"),
        ("r2", "alice", "m", None, "blank"),
        ("r2", "alice", "s", "B", "valid"),
        ("r3", "alice", "", None, "not_asked"),
    ]
    assert report.set_aside == {"free responses": 1, "spans": 1}
    assert report.read == {"users": 2, "instances": 3}


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ([(1, "A", "select"), (2, "B", "select")], "B"),
        ([(2, "A", "select"), (1, "B", "select")], "A"),  # the order of the list is not the order of the clicks
        ([(2, "A", "select"), (3, "B", "deselect"), (1, "B", "select")], "A"),
        ([(None, "A", "select")], None),
        ([(5, "C", "select")], None),  # an option that is not among those kept
        ("none", None),
    ],
)
def test_potato_trail(tmp_path: Path, changes: Any, kept: str | None) -> None:
    trail = [
        {"timestamp": t, "schema_name": "s", "label_name": n, "new_value": "true", "action": a}
        for t, n, a in (changes if isinstance(changes, list) else [])
    ]
    state = {
        "user_id": "u",
        "instance_id_to_label_to_value": {"i": [[{"schema": "s", "name": n}, "true"] for n in "BA"]},
        "instance_id_to_behavioral_data": {"i": {"annotation_changes": trail}} if trail else {},
    }
    table, _ = read(tmp_path, state)
    assert [(row[3], row[4]) for row in rows(table)] == [(kept, "valid" if kept else "unresolved")]


def test_potato_csv(tmp_path: Path) -> None:
    text = "instance_id,user_id,s,s.A,s.B,extra\ni1,u1,A,true,,x\ni2,u1,B,true,true,x\ni3,u1,,,,x\n"
    table, report = read(tmp_path, text, "x.csv")
    assert [(row[0], row[3], row[4]) for row in rows(table)] == [
        ("i1", "A", "valid"),
        ("i2", "B", "valid"),  # the column of the schema holds the answer that stood
        ("i3", None, "blank"),
    ]
    assert report.ignored_columns == ("extra",)
    with pytest.raises(UserError, match="which columns are questions"):
        read(tmp_path, "instance_id,user_id,note\ni1,u1,A\n", "y.csv")
    table, _ = read(tmp_path, "instance_id,user_id,note\ni1,u1,A\n", "y.csv", columns={"questions": ["note"]})
    assert rows(table) == [("i1", "u1", "note", "A", "valid")]


def test_potato_shape_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"an answer is not \[\{schema, name\}, value\]"):
        read(tmp_path, {"user_id": "u", "instance_id_to_label_to_value": {"i": [["s", "A", 1]]}})


# --- Argilla


def test_argilla_shapes(tmp_path: Path) -> None:
    by_user = {
        "id": "r1",
        "metadata": {"lang": "KE"},
        "responses": [
            {"user_id": "u1", "status": "submitted", "values": {"q": {"value": "A"}, "r": {"value": "B"}}},
            {"user_id": "u2", "status": "draft", "values": {"q": {"value": "B"}}},
            {"user_id": "u3", "status": "pending", "values": None},
        ],
        "suggestions": [{"question_name": "q", "value": "B", "agent": "gpt"}],
    }
    table, report = read(tmp_path, [by_user], columns={"country": "lang"})
    assert rows(table) == [
        ("r1", "model:gpt", "q", "B", "valid"),
        ("r1", "u1", "q", "A", "valid"),
        ("r1", "u1", "r", "B", "valid"),
        ("r1", "u2", "q", None, "draft"),
        ("r1", "u2", "r", None, "draft"),
        ("r1", "u3", "q", None, "not_asked"),
        ("r1", "u3", "r", None, "not_asked"),
    ]
    assert table.countries == ("KE",)
    assert report.read["records"] == 1
    assert sorted(table.kind.tolist()) == [HUMAN] * 6 + [JUDGE]
    by_question = {
        "id": "r1",
        "responses": {"q": [{"value": "A", "user_id": "u1"}, {"value": ["A", "B"], "user_id": "u2"}]},
        "suggestions": {"q": {"value": "B", "score": None, "agent": None}},
    }
    table, report = read(tmp_path, [by_question], multi=["q"])
    assert [(row[1], row[3]) for row in rows(table)] == [("model:unnamed", "B"), ("u1", "A"), ("u2", "A+B")]
    assert report.counts["discarded"] is None  # this shape carries no status
    flat = {
        "id": "r1",
        "q.responses": ["A", "B"],
        "q.responses.users": ["u1", "u2"],
        "q.responses.status": ["submitted", "discarded"],
        "q.suggestion": "B",
        "q.suggestion.agent": "gpt",
    }
    table, report = read(tmp_path, flat)
    assert [(row[1], row[3], row[4]) for row in rows(table)] == [
        ("model:gpt", "B", "valid"),
        ("u1", "A", "valid"),
        ("u2", None, "discarded"),
    ]
    assert report.counts["draft"] == 0


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"id": 1, "responses": [{"user": "u", "status": "lost"}]}, "the status 'lost' is not known"),
        ({"id": 1, "responses": [{"user": "u", "status": ["x"]}]}, "is not known"),
        ({"id": 1, "q.responses": ["A"], "q.responses.users": []}, "1 responses and 0 users"),
        ({"id": 1, "responses": ["x"]}, r"responses\[0\] is str"),
    ],
)
def test_argilla_shapes_that_are_not_known(tmp_path: Path, record: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, record)
    with pytest.raises(UserError, match=message):
        read_argilla(tmp_path / "x.json", codebook=["A"])


# --- doccano


def test_doccano_shapes(tmp_path: Path) -> None:
    owned = '{"id":1,"annotations":[{"label":"A","user":1},{"label":"B","user":2}]}\n{"id":2,"annotations":[]}\n'
    with pytest.raises(UserError, match="no rater identity"):
        read(tmp_path, owned, "x.jsonl")
    table, _ = read(tmp_path, owned.splitlines()[0], "x.jsonl")
    assert rows(table) == [("1", "1", "", "A", "valid"), ("1", "2", "", "B", "valid")]
    for name, label in (("ann", "A"), ("bob", "B")):
        (tmp_path / f"{name}.jsonl").write_text(
            f'{{"id":1,"text":"t","label":["{label}"]}}\n{{"id":2,"text":"t","label":[[0,3,"PER"]]}}\n',
            encoding="utf-8",
        )
    paths = [tmp_path / "ann.jsonl", tmp_path / "bob.jsonl"]
    table, report = read_labels(paths, codebook=["A", "B"], annotator="{file}", keep_pii=True)
    assert rows(table) == [("1", "ann", "", "A", "valid"), ("1", "bob", "", "B", "valid")]
    assert report.set_aside == {"spans": 2}


# --- several files


def test_files_of_several_kinds_are_refused(tmp_path: Path) -> None:
    read(tmp_path, {"id": 1, "responses": []}, "a.json")
    (tmp_path / "b.csv").write_text("item,annotator,label\n1,a,A\n", encoding="utf-8")
    (tmp_path / "c.json").write_text('[{"id":1,"data":{},"annotations":[]}]', encoding="utf-8")
    with pytest.raises(UserError, match="of several kinds"):
        read_labels([tmp_path / "a.json", tmp_path / "b.csv"], codebook=["A"])
    with pytest.raises(UserError, match="for several readers \\(argilla, label-studio\\)"):
        read_labels([tmp_path / "a.json", tmp_path / "c.json"], codebook=["A"])
    with pytest.raises(UserError, match="is JSON; the reader 'long' is for tables"):
        read_labels(tmp_path / "a.json", codebook=["A"], reader="long")
