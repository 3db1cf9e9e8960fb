"""Small exports that broke real tools, read the way a user reads them: one test for each case, named by its id.

The cases and what is right are described in ../shared/cases/label-exports.md; every input here is invented.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import countback.fetch
import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.fetch.labels import JUDGE, LabelTable
from countback.fetch.readers import IngestReport, read_labels
from countback.fetch.readers.countries import country_code
from countback.fetch.readers.report import mask_small

Case = Callable[[Path], None]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    """Registers a case under its id."""

    def register(check: Case) -> Case:
        assert name not in CASES
        CASES[name] = check
        return check

    return register


def test_every_case_of_the_list_is_here(shared: Path) -> None:
    text = (shared / "cases" / "label-exports.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (I-\d+)", text, re.MULTILINE) == list(CASES)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """A file in the test's folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder: Path, name: str, content: str | bytes, **options: Any) -> tuple[LabelTable, IngestReport]:
    """Writes and reads one file."""
    options.setdefault("codebook", ["yes", "no"])
    return read_labels(write(folder, name, content), **options)


def refusal(folder: Path, name: str, content: str | bytes, **options: Any) -> str:
    """The message with which a file is refused."""
    with pytest.raises(UserError) as caught:
        read(folder, name, content, **options)
    return str(caught.value)


def labels_of(table: LabelTable) -> list[str | None]:
    """The labels row by row, None where there is none."""
    return [table.labels[code] if code >= 0 else None for code in table.label.tolist()]


def names_of(codes: Any, vocabulary: tuple[str, ...]) -> list[str]:
    return [vocabulary[code] for code in codes.tolist()]


@case("I-01")
def namibia(folder: Path) -> None:
    text = "item,country,annotator,label\n1,NA,a,yes\n2,KE,b,no\n"
    table, report = read(folder, "x.csv", text)
    assert names_of(table.country, table.countries) == ["NA", "KE"]
    assert report.counts["valid"] == 2
    assert report.counts["blank"] == 0
    table, _ = read(folder, "x.csv", text, country_names="iso3")
    assert table.countries == ("NAM", "KEN")


@case("I-02")
def the_label_none(folder: Path) -> None:
    table, _ = read(
        folder,
        "x.csv",
        "item,annotator,harm\n1,a1,None\n2,a1,Mild\n",
        codebook=["None", "Mild"],
        columns={"label": "harm"},
    )
    assert labels_of(table) == ["None", "Mild"]


@case("I-04")
def missing_cast_to_a_word(folder: Path) -> None:
    text = "item,annotator,label\nu1,a,1\nu1,b,1\nu1,c,{m}\nu2,a,1\nu2,b,1\nu2,c,1\nu3,a,2\nu3,b,{m}\nu3,c,2\n"
    table, _ = read(folder, "x.csv", text.format(m=""), codebook=["1", "2"])
    assert alpha_by_hand(table) == pytest.approx(1.0)
    assert "'None' is not in the codebook" in refusal(folder, "y.csv", text.format(m="None"), codebook=["1", "2"])
    for column in ("annotator", "country"):
        row = {"item": "u1", "annotator": "a", "country": "KE", "label": "yes", column: str(None)}
        bad = "item,annotator,country,label\n{item},{annotator},{country},{label}\n".format(**row)
        assert "turned into a word" in refusal(folder, "z.csv", bad)


def alpha_by_hand(table: LabelTable) -> float:
    """Nominal alpha by its definition: 1 - observed / expected disagreement over pairs of values within units."""
    units = [table.label[(table.item == i) & table.valid].tolist() for i in range(len(table.items))]
    units = [u for u in units if len(u) > 1]
    values = [v for u in units for v in u]
    observed = sum((a != b) / (len(u) - 1) for u in units for i, a in enumerate(u) for j, b in enumerate(u) if i != j)
    expected = sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (len(values) - 1)
    return 1 - observed / expected


@case("I-05")
def codes_turned_into_floats(folder: Path) -> None:
    wide = {"item": "item", "annotators": ["a1", "a2"]}
    table, report = read(
        folder, "x.csv", "item,a1,a2\n1,1,1\n2,,2\n3,2,2\n", codebook=["1", "2"], columns=wide, keep_pii=True
    )
    assert labels_of(table.mask(table.where(annotator="a1"))) == ["1", None, "2"]
    assert report.counts["blank"] == 1
    table, report = read(folder, "y.csv", "item,a1,a2\n1,1,1.0\n2,2,2\n", codebook=["1", "2"], columns=wide)
    assert report.counts["number_form"] == 1
    assert report.unmatched == {"1.0": 1}
    assert any("aliases={'1.0': '1'}" in note for note in report.notes)


@case("I-06")
def byte_order_mark(folder: Path) -> None:
    data = b"\xef\xbb\xbfid,label\n1,yes\n"
    told = {"item": "id"}
    table, report = read(folder, "x.csv", data, columns=told, annotator="a")
    assert report.columns == {"item": "id", "label": "label"}
    assert report.repaired == {"BOM removed": 1}
    assert table.items == ("1",)
    assert "Found 'id', 'label'" in refusal(folder, "x.csv", data)  # "id" may be the row's: it is asked, not guessed


@case("I-07")
def spaces_that_cannot_be_seen(folder: Path) -> None:
    forms = ["yes", "yes ", "yes\u00a0", "ye\u200bs"]
    rows = "".join(f"{i},a,{form}\n" for i, form in enumerate(forms))
    table, report = read(folder, "x.csv", "item,annotator,label\n" + rows)
    assert labels_of(table) == ["yes"] * 4
    assert table.raw.tolist() == forms
    assert report.repaired_forms == {"'yes ' -> 'yes'": 1, "'yes\\xa0' -> 'yes'": 1, "'ye\\u200bs' -> 'yes'": 1}
    assert report.repaired["label: zero-width character"] == 1


@case("I-09")
def labels_that_became_dates(folder: Path) -> None:
    text = "item,annotator,agree_band\n1,a,1-2\n2,a,2-Jan\n3,a,45293\n"
    options: dict[str, Any] = {"codebook": ["1-2", "3-4"], "columns": {"label": "agree_band"}}
    message = refusal(folder, "x.csv", text, **options)
    assert "'agree_band' mixes ranges" in message
    assert "likely spreadsheet damage" in message
    assert "45293" in refusal(folder, "y.csv", text.replace("2,a,2-Jan\n", ""), **options)


@case("I-11")
def wrong_code_page(folder: Path) -> None:
    data = b"item,annotator,label\n1,a,Caf\xe9\n"
    message = refusal(folder, "x.csv", data, codebook=["Café"])
    assert f"byte {data.index(0xE9)} " in message
    assert "encoding='cp1252'" in message
    table, _ = read(folder, "x.csv", data, codebook=["Café"], encoding="cp1252")
    assert labels_of(table) == ["Café"]
    assert "U+FFFD" in refusal(folder, "y.csv", data.replace(b"\xe9", "\ufffd".encode()), codebook=["Café"])


@case("I-12")
def norway_is_no_boolean(folder: Path) -> None:
    settings = tomllib.loads('countries = ["NO", "KE", "ON"]\nlabel = "off"\n')
    text = "item,annotator,country,label\n1,a,NO,off\n2,b,KE,on\n"
    table, _ = read(folder, "x.csv", text, codebook=[settings["label"], "on"])
    assert table.countries == ("NO", "KE")
    assert labels_of(table) == ["off", "on"]
    for path in Path(countback.fetch.__path__[0]).rglob(
        "*.py"
    ):  # no YAML is read: its loaders type words by themselves
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            assert not any("yaml" in name for name in [*names, getattr(node, "module", None) or ""])


@case("I-13")
def country_names(folder: Path) -> None:
    assert [country_code(n) for n in ("UK", "Uk", "N Korea", "Congo, Dem. Rep.", "Türkiye", "Turkey", "NA")] == [
        "GBR", "GBR", "PRK", "COD", "TUR", "TUR", "NAM",
    ]  # fmt: skip
    text = "item,annotator,country,label\n1,a,{c},yes\n"
    assert "KOR or PRK" in refusal(folder, "x.csv", text.format(c="Korea"), country_names="iso3")
    assert "USA or ASM" in refusal(folder, "x.csv", text.format(c="America"), country_names="iso3")
    assert "not a name or code" in refusal(folder, "x.csv", text.format(c="Kenia"), country_names="iso3")


@case("I-14")
def annotator_numbers_restart(folder: Path) -> None:
    paths = [
        write(folder, "za.csv", "item,annotator,label\n5,1,yes\n"),
        write(folder, "ng.csv", "item,annotator,label\n5,1,no\n"),
    ]
    table, report = read_labels(paths, codebook=["yes", "no"], country="{file}", keep_pii=True)
    assert table.annotators == ("za/1", "ng/1")
    assert table.countries == ("za", "ng")
    assert report.counts["valid"] == 2
    table, _ = read_labels(paths[0], codebook=["yes", "no"])
    conflict = "item,annotator,age,label\n5,1,30,yes\n6,1,44,no\n"
    assert "namespace='file'" in refusal(folder, "x.csv", conflict)
    several = "item,annotator,country,label\n5,1,ZA,yes\n5,1,NG,no\n"
    assert "namespace='country'" in refusal(folder, "y.csv", several)
    table, _ = read(folder, "y.csv", several, namespace="country")
    assert len(table.annotators) == 2
    table, _ = read(folder, "y.csv", several, namespace="global")
    assert len(table.annotators) == 1


@case("I-15")
def the_same_person_twice(folder: Path) -> None:
    text = (
        "pid,item,label,t\np9,1,yes,2026-01-02T10:04Z\np9,1,no,2026-01-02T10:00Z\n"
        "p8,1,yes,2026-01-02T10:00Z\np7,1,no,2026-01-02T10:00Z\n"
    )
    message = refusal(folder, "x.csv", text)
    assert "duplicates='first', 'last' or 'drop-both'" in message
    kept = {}
    for policy in ("first", "last", "drop-both"):
        table, report = read(folder, "x.csv", text, duplicates=policy)
        kept[policy] = labels_of(table)[:2]
        assert report.counts["duplicate"] == (2 if policy == "drop-both" else 1)
        assert report.duplicates is not None
        assert report.duplicates.policy == policy
        assert report.duplicates.order == ("position in the file" if policy == "drop-both" else "time")
        # three labels at most on the one item: yes yes no agree on 1 pair of 3, yes no no too, yes no on none
        assert report.duplicates.outcomes["drop-both"].agreement == 0.0
        assert report.duplicates.outcomes["first"].agreement == pytest.approx(1 / 3)
        assert sum("pairwise agreement" in line for line in report.lines()) == 3
    assert kept == {"first": [None, "no"], "last": ["yes", None], "drop-both": [None, None]}


SKIPPED = [
    {
        "id": 1,
        "data": {"text": "t"},
        "annotations": [
            {"id": 7, "completed_by": 3, "was_cancelled": True, "result": [], "created_at": "2026-01-01T00:00:00Z",
             "lead_time": 2.0}
        ],
    }
]  # fmt: skip


@case("I-17")
def skipped_answers(folder: Path) -> None:
    table, report = read(folder, "x.json", json.dumps(SKIPPED))
    assert report.read["tasks"] == 1
    assert report.counts["skipped"] == 1
    assert report.counts["valid"] == 0
    assert table.seconds.tolist() == [2.0]
    assert report.coverage() == 0.0
    minimal = [{"id": 1, "text": "t", "annotator": 3, "annotation_id": 7, "lead_time": 2.0, "s": "yes"}]
    flat = "id,text,s,annotator,annotation_id,lead_time\n1,t,yes,3,7,2.0\n"
    for name, content in (("m.json", json.dumps(minimal)), ("m.csv", flat)):
        table, report = read(folder, name, content, columns={"questions": ["s"]})
        assert labels_of(table) == ["yes"]
        assert report.counts["skipped"] is None
        assert "n_skipped is unknown" in " ".join(report.unknown)
        with pytest.raises(UserError, match="does not show"):
            report.coverage()


def label_studio(*answers: tuple[int, list[str]], who: Any = 3, task: int = 4) -> list[dict[str, Any]]:
    """One task; an annotation with its id and its choices for each answer."""
    annotations = [
        {
            "id": i,
            "completed_by": who,
            "result": [{"from_name": "s", "to_name": "t", "type": "choices", "value": {"choices": choices}}],
        }
        for i, choices in answers
    ]
    return [{"id": task, "data": {}, "annotations": annotations}]


@case("I-19")
def two_submissions(folder: Path) -> None:
    both = label_studio((11, ["yes"]), (12, ["no"]))
    assert "more than one label" in refusal(folder, "x.json", json.dumps(both))
    paths = [write(folder, f"{n}.json", json.dumps(label_studio((11, ["yes"])))) for n in ("one", "two")]
    table, report = read_labels(paths, codebook=["yes", "no"])
    assert labels_of(table) == ["yes"]
    assert report.refused == {"annotations that another task or file holds too (same id)": 1}


@case("I-20")
def one_column_three_shapes(folder: Path) -> None:
    row = "item,annotator,label\n1,a,{cell}\n"
    quoted = row.format(cell='"{""choices"":[""A"",""B""]}"')
    assert "Multi-choice in a single-choice field" in refusal(folder, "x.csv", quoted, codebook=["A", "B"])
    assert labels_of(read(folder, "x.csv", row.format(cell="A"), codebook=["A", "B"])[0]) == ["A"]
    table, report = read(folder, "x.csv", row.format(cell='"[""A"",""A""]"'), codebook=["A", "B"])
    assert labels_of(table) == ["A"]
    assert report.flags == {"a label repeated in one list": 1}
    table, _ = read(folder, "x.csv", quoted, codebook=["A", "B"], multi=True)
    assert labels_of(table) == ["A+B"]
    assert table.labels == ("A", "B", "A+B")
    table, _ = read(folder, "x.csv", row.format(cell='"{""choices"":[""\\u00e9""]}"'), codebook=["é"])
    assert labels_of(table) == ["é"]
    _, report = read(folder, "x.csv", quoted, codebook=["A", "B"], several="exclude")
    assert report.counts["several_labels"] == 1


@case("I-22")
def the_annotator_changes_type(folder: Path) -> None:
    by_id = write(folder, "id.json", json.dumps(label_studio((1, ["yes"]), who=3, task=1)))
    both = {"id": 3, "email": "x@example.org"}
    by_object = write(folder, "object.json", json.dumps(label_studio((2, ["no"]), who=both, task=2)))
    table, report = read_labels([by_id, by_object], codebook=["yes", "no"], keep_pii=True)
    assert table.annotators == ("3",)
    mail = write(folder, "mail.json", json.dumps(label_studio((3, ["no"]), who={"email": "x@example.org"}, task=3)))
    assert read_labels([by_object, mail], codebook=["yes", "no"], keep_pii=True)[0].annotators == ("3",)
    with pytest.raises(UserError, match="e-mail addresses"):
        read_labels([by_id, mail], codebook=["yes", "no"])
    people = {"X@example.org": "3"}
    table, report = read_labels([by_id, mail], codebook=["yes", "no"], people=people, keep_pii=True)
    assert table.annotators == ("3",)
    assert "example.org" not in json.dumps(report.to_dict())


@case("I-23")
def predictions_are_not_people(folder: Path) -> None:
    choice = {"from_name": "s", "type": "choices", "value": {"choices": ["yes"]}}
    task = {"id": 5, "data": {}, "annotations": [], "predictions": [{"model_version": "m1", "result": [choice]}, 8]}
    table, report = read(folder, "x.json", json.dumps([task]))
    assert table.annotators == ("model:m1",)
    assert table.kind.tolist() == [JUDGE]
    assert report.refused == {"predictions exported as ids only": 1}
    edited = label_studio((1, ["yes"]))
    edited[0]["annotations"][0]["parent_prediction"] = 9
    assert read(folder, "y.json", json.dumps(edited))[1].flags == {"human edited a model answer": 1}


@case("I-25")
def unquoted_commas(folder: Path) -> None:
    message = refusal(folder, "x.csv", "id,text,s\n1,one,A\n1,one, two,A\n", codebook=["A"])
    assert "line 3: the row has 4 cells and the header 3" in message


@case("I-27")
def argilla_states(folder: Path) -> None:
    record = {
        "id": "r1",
        "responses": [
            {"user": "u1", "status": "submitted", "values": {"q": {"value": "A"}}},
            {"user": "u2", "status": "discarded", "values": {}},
        ],
    }
    _, report = read(folder, "x.json", json.dumps(record), codebook=["A", "B"])
    assert (report.counts["valid"], report.counts["discarded"], report.counts["draft"]) == (1, 1, 0)
    record["responses"] = record["responses"][:1]
    _, report = read(folder, "y.json", json.dumps([record]), codebook=["A", "B"], expected=3)
    assert any("kept one of several responses" in note for note in report.notes)
    assert read(folder, "y.json", json.dumps([record]), codebook=["A", "B"], expected=1)[1].notes == ()


@case("I-28")
def every_option_that_was_clicked(folder: Path) -> None:
    table, report = read(
        folder, "x.csv", "instance_id,user_id,confidence.5,confidence.4\nb1,u1,5,4\n", codebook=["4", "5"]
    )
    assert labels_of(table) == [None]
    assert report.counts["unresolved"] == 1
    trail = [
        {"timestamp": t, "schema_name": "confidence", "label_name": n, "new_value": n, "action": "select"}
        for t, n in ((10.0, "5"), (12.0, "4"), (14.5, "5"))
    ]
    held = [[{"schema": "confidence", "name": n}, n] for n in ("5", "4")]
    state: dict[str, Any] = {"user_id": "u1", "instance_id_to_label_to_value": {"b1": held}}
    _, report = read(folder, "a/user_state.json", json.dumps(state), codebook=["4", "5"])
    assert report.counts["unresolved"] == 1
    state["instance_id_to_behavioral_data"] = {"b1": {"annotation_changes": trail}}
    table, report = read(folder, "b/user_state.json", json.dumps(state), codebook=["4", "5"])
    assert labels_of(table) == ["5"]
    assert report.repaired == {"label: several clicks kept, the last by the trail taken": 1}


@case("I-29")
def a_folder_of_states(folder: Path) -> None:
    state = {"user_id": "u1", "instance_id_to_label_to_value": {"b1": {"s": {"yes": "true"}}}}
    write(folder, "out/u1/user_state.json", json.dumps(state))
    table, report = read_labels(folder / "out", codebook=["yes", "no"])
    assert labels_of(table) == ["yes"]
    assert report.reader == "potato"
    write(folder, "empty/config.yaml", "x: 1\n")
    with pytest.raises(UserError, match=r"python -m potato\.export --config config\.yaml --format csv"):
        read_labels(folder / "empty", codebook=["yes", "no"])


@case("I-30")
def doccano_names_nobody(folder: Path) -> None:
    line = '{"id":1,"text":"t","label":["A","A"]}\n'
    assert "no rater identity" in refusal(folder, "x.jsonl", line, codebook=["A", "B"])
    table, report = read(folder, "alice.jsonl", line, codebook=["A", "B"], annotator="{file}", keep_pii=True)
    assert table.annotators == ("alice",)
    assert report.flags == {"a label repeated in one list": 1}


@case("I-32")
def times_without_a_zone(folder: Path) -> None:
    text = "item,annotator,label,time\n1,a,yes,{}\n1,a,no,2026-03-29 04:00:00\n"
    naive = text.format("2026-03-29 01:30:00")
    assert "has no zone" in refusal(folder, "x.csv", naive, duplicates="last")
    table, _ = read(folder, "x.csv", naive, duplicates="last", zone="Europe/Berlin")
    assert labels_of(table) == [None, "no"]
    gap = text.format("2026-03-29 02:30:00")
    assert "does not exist in Europe/Berlin" in refusal(folder, "x.csv", gap, duplicates="last", zone="Europe/Berlin")
    twice = text.format("2026-10-25 02:30:00")
    assert "occurs twice" in refusal(folder, "x.csv", twice, duplicates="last", zone="Europe/Berlin")
    table, _ = read(folder, "x.csv", gap.replace("1,a,no", "2,a,no"))  # no order is needed, so no zone is asked for
    assert labels_of(table) == ["yes", "no"]


@case("I-33")
def personal_data(folder: Path) -> None:
    text = "IPAddress,LocationLatitude,PROLIFIC_PID,Q1\n203.0.113.5,0.0,p1,Yes\n"
    table, report = read(folder, "x.csv", text, codebook=["Yes", "No"])
    assert labels_of(table) == ["Yes"]
    assert table.items == ("Q1",)
    assert report.pii_dropped == ("IPAddress", "LocationLatitude")
    assert report.ids == "hashed"
    everything = json.dumps(report.to_dict()) + repr(table)
    assert "203.0.113.5" not in everything
    assert "'p1'" not in everything
    salted = read(folder, "x.csv", text, codebook=["Yes", "No"], salt="s")[0].annotators
    assert salted != table.annotators
    assert read(folder, "x.csv", text, codebook=["Yes", "No"], keep_pii=True)[0].annotators == ("p1",)


@case("I-34")
def small_cells(folder: Path) -> None:
    assert mask_small({"KE": 5, "NA": 4}) == {"KE": "5", "NA": "<5"}
    rows = "".join(f"1,k{i},KE,yes\n" for i in range(5)) + "1,n1,NA,no\n"
    _, report = read(folder, "x.csv", "item,annotator,country,label\n" + rows)
    assert "annotators per country: KE 5, NA <5" in report.lines(public=True)
    assert "annotators per country: KE 5, NA 1" in report.lines()


def judged(folder: Path, reply: str, **options: Any) -> tuple[str | None, IngestReport]:
    """The label of one judge's reply."""
    rows = json.dumps([{"id": 1, "text": "t", "annotator": "m", "annotation_id": 1, "q": reply}])
    options.setdefault("codebook", ["A", "B"])
    table, report = read(folder, "j.json", rows, kind="judge", columns={"questions": ["q"]}, **options)
    return labels_of(table)[0], report


@case("I-35")
def a_fenced_reply(folder: Path) -> None:
    label, report = judged(folder, '```json\n{"label":"A","why":"..."}\n```')
    assert label == "A"
    assert report.replies == {"fenced": 1}


@case("I-37")
def a_failure_is_no_score(folder: Path) -> None:
    replies = [*["A"] * 4, *["B"] * 4, "", '{"label": "A"']
    rows = "".join(f'{i},m,"{r.replace(chr(34), chr(34) * 2)}"\n' for i, r in enumerate(replies))
    table, report = read(folder, "x.csv", "item,judge,label\n" + rows, codebook=["A", "B"])
    assert report.counts["judge_failed"] == 2
    assert report.counts["valid"] == 8
    assert labels_of(table)[8:] == [None, None]
    assert report.replies == {"failed: empty": 1, "failed: truncated": 1}


@case("I-39")
def no_verdict_from_prose(folder: Path) -> None:
    labels = ["acceptable", "not acceptable"]
    label, report = judged(folder, "This is not acceptable.", codebook=labels)
    assert label is None
    assert report.counts["judge_failed"] == 1
    pattern = r"^Verdict: (.+)$"
    assert judged(folder, "Well.\nVerdict: acceptable", codebook=labels, reply_pattern=pattern)[0] == "acceptable"
    twice = "Verdict: acceptable\nVerdict: not acceptable"
    assert judged(folder, twice, codebook=labels, reply_pattern=pattern)[0] is None


@case("I-40")
def unexpected_keys(folder: Path) -> None:
    reply = '{"criteria_scores":{"tone":{"score":1.0}}}'
    label, report = judged(folder, reply)
    assert label is None
    assert report.replies == {"failed: no key 'label', found 'criteria_scores'": 1}
    assert judged(folder, '{"score": "eins"}', reply_key="score", aliases={"eins": "A"})[0] == "A"


@case("I-41")
def everybody_gave_the_same_label(folder: Path) -> None:
    text = "item,annotator,label\n1,a,yes\n1,b,yes\n2,a,yes\n2,b,yes\n"
    table, report = read(folder, "x.csv", text)
    assert report.counts["valid"] == 4
    assert np.unique(table.label).size == 1
    assert table.labels == ("yes", "no")  # the label that nobody gave stays a category
    table.require_pairs()


@case("I-43")
def one_rater_only(folder: Path) -> None:
    table, _ = read(folder, "x.csv", "item,annotator,label\n1,a,yes\n2,a,no\n")
    with pytest.raises(UserError, match=r"No item has labels of two annotators \(1 annotators, 2 valid labels\)"):
        table.require_pairs()


@pytest.mark.parametrize("name", CASES)
def test_label_export_case(name: str, tmp_path: Path) -> None:
    CASES[name](tmp_path)
