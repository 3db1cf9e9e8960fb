"""Long and wide tables, surveys and workbooks: what is found, what is asked, what is counted."""

from __future__ import annotations

import builtins
import gzip
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from countback.fetch.codebook import Codebook
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from countback.fetch.readers import IngestReport, read_csv_wide, read_labels

YES_NO = ["yes", "no"]


def read(folder: Path, text: str | bytes, name: str = "x.csv", **options: Any) -> tuple[LabelTable, IngestReport]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_labels(path, **{"codebook": YES_NO, "keep_pii": True, **options})


def rows(t: LabelTable) -> list[tuple[str, str, str, str | None]]:
    """(item, annotator, question, label) of every row, in a fixed order."""
    found = [
        (t.items[i], t.annotators[a], t.questions[q], t.labels[c] if c >= 0 else None)
        for i, a, q, c in zip(t.item.tolist(), t.annotator.tolist(), t.question.tolist(), t.label.tolist(), strict=True)
    ]
    return sorted(found, key=str)


# --- which column is which


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("item,annotator,score", "which column is the label? Found 'item', 'annotator', 'score'"),
        ("id,annotator,label", "which column is the item?"),
        ("a,b,c", "which column is the item and which the annotator and which the label?"),
        ("item,annotator,rater,label", "'annotator' and 'rater' could each be the annotator"),
        ("item,annotator,judge,label", "'annotator' and 'judge' could each be the annotator"),
        ("item,annotator,label,answer", "'label' and 'answer' could each be the label"),
        ("item,annotator,label,country,locale", "'country' and 'locale' could each be the country"),
        ("item,annotator,label,label", "two columns called 'label'"),
    ],
)
def test_doubt_about_a_column_is_one_error_that_shows_the_answer(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, header + "\n" + ",".join("1" * len(header.split(","))) + "\n")
    assert message in str(caught.value)
    assert "columns={" in str(caught.value) or "two columns" in str(caught.value)


def test_the_option_shown_answers_the_question(tmp_path: Path) -> None:
    columns = {"item": "id", "annotator": "rater", "label": "s"}
    table, report = read(tmp_path, "id,rater,judge,s,note\n1,a,m,yes,hm\n", columns=columns)
    assert rows(table) == [("1", "a", "", "yes")]
    assert table.kind.tolist() == [HUMAN]
    assert report.columns == columns
    assert report.ignored_columns == ("judge", "note")


@pytest.mark.parametrize("columns", [{"item": "gone"}, {"rater": "a"}, {"item": ["item"]}, {"country": "email"}])
def test_columns_told_wrongly(tmp_path: Path, columns: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"has no column 'gone'|is not understood|holds personal data"):
        read(tmp_path, "item,annotator,label,email\n1,a,yes,x@example.org\n", columns=columns, keep_pii=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codebook": None}, "No codebook was given"),
        ({"duplicates": "any"}, "expected one of 'error', 'first', 'last', 'drop-both'"),
        ({"namespace": "here"}, "expected one of None, 'file', 'country', 'global'"),
        ({"colums": {}}, "There is no option 'colums'"),
        ({"reader": "excel"}, "There is no reader 'excel'"),
        ({"reader": "argilla"}, "is a table; the reader 'argilla' is for JSON"),
        ({"judges": "gpt"}, "'gpt' is not among the annotators"),
        ({"delimiter": ";;"}, "not one character"),
        ({"expected": "3"}, "expected='3' is no number of annotators"),
        ({"expected": 0}, "expected=0 is no number of annotators"),
        ({"aliases": {"yes": "no"}}, "The alias 'yes' is a label itself"),
        ({"encoding": "nope"}, "cannot be decoded as 'nope'"),
        ({"encoding": "a\0b"}, "cannot be decoded as"),
        ({"country": {"y.csv": "KE"}}, "names no value for the file 'x.csv'"),
    ],
)
def test_options_told_wrongly(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, "item,annotator,label\n1,a,yes\n", **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"item,annotator,label\n", "holds a header and no row"),
        (b"item;annotator,label\n1;a,yes\n", "say delimiter=|Say delimiter="),
        (b"\xff\xfei\x00", "UTF-16"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x1f\x8bbroken", "broken gzip"),
        (b"{}", "JSON of no shape that is known"),
        (b'{"a": ', "is not JSON"),
        (b"[" * 100_000, "nested too deeply|is not JSON"),
        (b'{"id":1,"label":"A"}\n{"id":', "line 2: not JSON"),
        (b'{"id":1,"label":"A"}\n{"id":2,"label":"A","label":"B"}', "line 2: not JSON .* the key 'label' twice"),
        (b'[{"id":1,"label":"A","label":"B"}]', "the key 'label' twice"),
    ],
)
def test_files_that_are_no_export(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, content)


def test_absent_and_doubled_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.csv does not exist"):
        read_labels(tmp_path / "gone.csv", codebook=YES_NO)
    with pytest.raises(UserError, match="No file was given"):
        read_labels([], codebook=YES_NO)
    read(tmp_path, "item,annotator,label\n1,a,yes\n")
    with pytest.raises(UserError, match="given twice"):
        read_labels([tmp_path / "x.csv"] * 2, codebook=YES_NO)


# --- long


def test_everything_a_long_table_can_say(tmp_path: Path) -> None:
    text = (
        "item;rater;country;question;label;lead_time;kind\n"
        "v1;a;KE;tone;yes;2.5;human\nv1;m;KE;tone;no;;judge\nv1;b;KE;tone;;-1;human\nv2;a;KE;tone;perhaps;x;human\n"
    )
    table, report = read(tmp_path, text)
    assert rows(table) == [
        ("v1", "a", "tone", "yes"),
        ("v1", "b", "tone", None),
        ("v1", "m", "tone", "no"),
        ("v2", "a", "tone", None),
    ]
    assert table.kind.tolist() == [HUMAN, JUDGE, HUMAN, HUMAN]
    np.testing.assert_array_equal(table.seconds, [2.5, np.nan, np.nan, np.nan])
    assert (report.counts["valid"], report.counts["blank"], report.counts["not_in_codebook"]) == (2, 1, 1)
    assert report.unmatched == {"perhaps": 1}
    assert report.refused == {"seconds that are no number of seconds": 2}
    assert report.notes == ("x.csv is divided by ';'",)
    assert report.read == {"rows": 4}
    assert report.files[0].size == len(text)


def test_gzip_is_unpacked_and_described_as_it_lies(tmp_path: Path) -> None:
    packed = gzip.compress(b"item,annotator,label\n1,a,yes\n")
    table, report = read(tmp_path, packed, "x.csv.gz", country="{file}")
    assert report.files[0].size == len(packed)
    assert table.countries == ("x",)


def test_rows_without_a_name_are_counted_not_kept(tmp_path: Path) -> None:
    table, report = read(tmp_path, "item,annotator,label\n1,a,yes\n2,,yes\n,a,yes\n,,no\n")
    assert rows(table) == [("1", "a", "", "yes")]
    assert report.refused == {"rows without an item": 2, "rows without an annotator": 1}
    with pytest.raises(UserError, match="no rater identity"):
        read(tmp_path, "item,annotator,label\n1,,yes\n")


def test_ids_are_tidied_and_counted(tmp_path: Path) -> None:
    table, report = read(tmp_path, "item,annotator,label\n1,a,yes\n1 ,b\u00a0,no\n2,b,no\n")
    assert table.items == ("1", "2")
    assert table.annotators == ("a", "b")
    assert report.repaired == {"item: white space or Unicode form": 1, "annotator: white space or Unicode form": 1}


def test_questions_have_codebooks_of_their_own(tmp_path: Path) -> None:
    text = "item,annotator,question,label\n1,a,tox,5\n1,a,bias,5\n1,a,bias2,1\n"
    table, report = read(tmp_path, text, codebook={"tox": list("12345"), "bias": list("123")})
    assert rows(table) == [("1", "a", "bias", None), ("1", "a", "tox", "5")]
    assert report.set_aside == {"question 'bias2', which the codebook does not list": 1}
    with pytest.raises(UserError, match="The codebook lists the questions"):
        read(tmp_path, text, codebook={"other": ["1"]})


def test_judges_are_told_by_name_by_column_or_all(tmp_path: Path) -> None:
    text = "item,annotator,label\n1,a,yes\n1,gpt,no\n"
    assert read(tmp_path, text, judges="gpt")[0].kind.tolist() == [HUMAN, JUDGE]
    assert read(tmp_path, text, kind="judge")[0].kind.tolist() == [JUDGE, JUDGE]
    table, _ = read(tmp_path, text.replace("annotator", "judge"))
    assert table.kind.tolist() == [JUDGE, JUDGE]
    with pytest.raises(UserError, match="the kind 'robot' is not known"):
        read(tmp_path, "item,annotator,label,kind\n1,a,yes,robot\n")


def test_hashed_ids_leave_judges_and_codes_alone(tmp_path: Path) -> None:
    text = "item,annotator,label\n1,ann@example.org,yes\n1,gpt,no\n1,bob@example.org,no\n"
    table, report = read(tmp_path, text, judges=["gpt"], keep_pii=False)
    again, _ = read(tmp_path, text, judges=["gpt"], keep_pii=False)
    other, _ = read(tmp_path, text + "2,gpt,no\n", judges=["gpt"], keep_pii=False)
    assert table.annotators[1] == "gpt"
    assert all(name.startswith("h") and "@" not in name for name in (table.annotators[0], table.annotators[2]))
    assert table.annotators == again.annotators
    assert table.annotators[0] != other.annotators[0]  # another file, another key
    assert table.annotator.tolist() == [0, 1, 2]
    assert report.ids == "hashed"


def test_a_salt_gives_the_same_ids_in_another_reading(tmp_path: Path) -> None:
    text = "item,annotator,label\n1,ann,yes\n"
    names = [
        read(tmp_path, content, salt=salt, keep_pii=False)[0].annotators[0]
        for content, salt in ((text, "s"), (text + "2,bob,no\n", "s"), (text, "t"))
    ]
    assert names[0] == names[1] != names[2]


def test_personal_data_is_named_and_not_read(tmp_path: Path) -> None:
    table, report = read(tmp_path, "item,annotator,label,E-mail,note\n1,a,yes,x@example.org,fine\n")
    assert report.pii_dropped == ("E-mail",)
    assert report.ignored_columns == ("note",)
    assert "example.org" not in repr(table) + repr(report)


def test_a_country_left_blank_is_no_second_country(tmp_path: Path) -> None:
    table, _ = read(tmp_path, "item,annotator,country,label\n1,a,KE,yes\n2,a,,no\n")
    assert table.annotators == ("a",)


def test_what_is_told_in_place_of_a_column_is_said(tmp_path: Path) -> None:
    text = "item,annotator,country,label\n1,a,KE,yes\n2,b,NG,no\n3,b,,no\n"
    table, report = read(tmp_path, text, country="ZA")
    assert table.countries == ("ZA",)
    assert report.notes == ("country='ZA' was taken in place of 2 that the file itself names",)
    table, report = read(tmp_path, text.replace("country", "place"), annotator="{file}")
    assert table.annotators == ("x",)
    assert report.notes == ("annotator='{file}' was taken in place of 2 that the file itself names",)
    assert read(tmp_path, "item,label\n1,yes\n", annotator="{file}")[1].notes == ()


def test_judges_keep_their_names_across_files(tmp_path: Path) -> None:
    for name in ("za", "ng"):
        text = "item,annotator,kind,label\n1,1,human,yes\n1,gpt,judge,no\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    paths = [tmp_path / "za.csv", tmp_path / "ng.csv"]
    table, _ = read_labels(paths, codebook=YES_NO, country="{file}", keep_pii=True)
    assert sorted(table.annotators) == ["gpt", "ng/1", "za/1"]
    assert table.where(annotator="gpt").sum() == 2


def test_files_of_one_name_are_told_apart_by_folder(tmp_path: Path) -> None:
    paths = []
    for folder, label in (("za/new", "yes"), ("ng/new", "no")):
        (tmp_path / folder).mkdir(parents=True)
        paths.append(tmp_path / folder / "v1.2.csv")
        paths[-1].write_text(f"item,annotator,label\n5,1,{label}\n", encoding="utf-8")
    table, report = read_labels(paths, codebook=YES_NO, keep_pii=True)
    assert table.annotators == ("za/new/v1.2/1", "ng/new/v1.2/1")
    assert any("namespace='global'" in note for note in report.notes)
    with pytest.raises(UserError, match="more than one label"):
        read_labels(paths, codebook=YES_NO, namespace="global")


def test_duplicates_that_agree_are_duplicates(tmp_path: Path) -> None:
    text = "item,annotator,label\n1,a,yes\n1,a,yes\n1,b,yes\n"
    with pytest.raises(
        UserError, match=r"1 \(item, question, annotator\) have more than one label, 0 of them different"
    ):
        read(tmp_path, text)
    table, report = read(tmp_path, text, duplicates="last")
    assert table.reason.tolist() == [table.reasons.index("duplicate"), 0, 0]
    assert report.duplicates is not None
    # one item: a yes and b yes agree; without a there is no pair
    assert report.duplicates.outcomes["last"].agreement == 1.0
    assert report.duplicates.outcomes["drop-both"].agreement is None


def test_a_duplicate_costs_nobody_else_a_label(tmp_path: Path) -> None:
    others = "1,a,yes\n1,b,no\n1,c,no\n2,b,no\n3,b,yes\n"
    text = f"item,annotator,label\n2,a,yes\n2,a,no\n3,c,no\n{others}3,c,yes\n"
    alone = [tuple(row.split(",")) for row in others.split()]
    for policy, of_both in (("first", ["yes", "no"]), ("last", ["no", "yes"]), ("drop-both", [])):
        table, _ = read(tmp_path, text, duplicates=policy)
        kept = [(item, who, label) for item, who, _, label in rows(table) if label is not None]
        of_pairs = [("2", "a"), ("3", "c")]
        assert kept == sorted([*alone, *((*pair, label) for pair, label in zip(of_pairs, of_both, strict=False))])


def test_nor_in_another_country(tmp_path: Path) -> None:
    text = "item,annotator,country,label\n1,a,KE,yes\n1,a,KE,no\n2,a,KE,yes\n3,b,NG,no\n1,b,NG,no\n"
    table, report = read(tmp_path, text, duplicates="drop-both")
    kept = [(item, who, label) for item, who, _, label in rows(table) if label is not None]
    assert kept == [("1", "b", "no"), ("2", "a", "yes"), ("3", "b", "no")]
    assert report.ids == "as they stood"
    assert read(tmp_path, text, duplicates="drop-both", keep_pii=False)[1].ids == "hashed"


def test_a_blank_beside_a_label_is_no_duplicate(tmp_path: Path) -> None:
    table, report = read(tmp_path, "item,annotator,label\n1,a,yes\n1,a,\n")
    assert report.duplicates is None
    assert table.valid.tolist() == [True, False]


def test_three_answers_go_by_their_times(tmp_path: Path) -> None:
    times = ("2026-01-02T10:00:00+02:00", "2026-01-02T09:30:00Z", "2026-01-02T08:45:00Z")  # 08:00, 09:30, 08:45 in UTC
    text = "item,annotator,label,time\n" + "".join(f"1,a,{x},{t}\n" for x, t in zip("pqr", times, strict=True))
    for policy, kept in (("first", "p"), ("last", "q")):
        table, _ = read(tmp_path, text, codebook=list("pqr"), duplicates=policy)
        assert [label for *_, label in rows(table) if label] == [kept]
    with pytest.raises(UserError, match="'noon' cannot be read"):
        read(tmp_path, text.replace(times[0], "noon"), codebook=list("pqr"), duplicates="first")
    with pytest.raises(UserError, match="There is no time zone 'Mars'"):
        read(tmp_path, text.replace("+02:00", ""), codebook=list("pqr"), duplicates="first", zone="Mars")


@pytest.mark.parametrize(
    ("time", "zone"),
    [
        ("0001-01-01T00:00:00+05:00", None),
        ("9999-12-31T23:59:59-05:00", None),
        ("0001-01-01T00:00:00", "Asia/Tokyo"),
        ("9999-12-31T23:59:59", "America/New_York"),
    ],
)
def test_times_that_utc_cannot_hold(tmp_path: Path, time: str, zone: str | None) -> None:
    text = f"item,annotator,label,time\n1,a,yes,{time}\n1,a,no,2026-01-02T10:00:00Z\n"
    with pytest.raises(UserError, match="outside the years 1 to 9999"):
        read(tmp_path, text, duplicates="first", zone=zone)


def test_each_repair_of_a_label_is_named(tmp_path: Path) -> None:
    cells = ["yes", " yes", "yes\t", "y\u200bes", "yes\u00a0", "", "  "]
    text = "item,annotator,label\n" + "".join(f"{i},a,{cell}\n" for i, cell in enumerate(cells))
    _, report = read(tmp_path, text)
    assert (report.valid, report.counts["blank"]) == (5, 2)
    assert report.repaired == {
        "label: padding": 2,
        "label: zero-width character": 1,
        "label: no-break space": 1,
        "label: only white space": 1,
    }


def test_a_codebook_in_another_unicode_form(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    for told, stands in ((composed, decomposed), (decomposed, composed)):
        table, report = read(tmp_path, f"item,annotator,label\n1,a,{stands}\n2,a,tea\n", codebook=[told, "tea"])
        assert [table.labels[code] for code in table.label] == [told, "tea"]
        assert report.repaired == {"label: unicode form": 1}
        _, strict = read(tmp_path, f"item,annotator,label\n1,a,{stands}\n", codebook=Codebook.of([told, "tea"]))
        assert strict.valid == 0  # where only exact labels count


def test_each_label_a_question_of_its_own(tmp_path: Path) -> None:
    text = 'item,annotator,label\n1,a,"[""A"", ""B""]"\n1,b,A\n2,a,\n2,b,Z\n'
    table, report = read(tmp_path, text, codebook=["A", "B"], multi="each")
    assert rows(table) == [
        ("1", "a", "A", "yes"), ("1", "a", "B", "yes"), ("1", "b", "A", "yes"), ("1", "b", "B", "no"),
        ("2", "a", "A", None), ("2", "a", "B", None), ("2", "b", "A", None), ("2", "b", "B", None),
    ]  # fmt: skip
    assert table.labels == ("no", "yes")
    assert (report.counts["blank"], report.counts["not_in_codebook"]) == (2, 2)
    text = 'item,annotator,question,label\n1,a,q,A\n1,a,r,C\n2,a,r,"[""B"", ""C""]"\n'
    table, _ = read(tmp_path, text, codebook={"q": ["A", "B"], "r": ["B", "C"]}, multi="each")
    assert rows(table) == [
        ("1", "a", "q: A", "yes"), ("1", "a", "q: B", "no"), ("1", "a", "r: B", "no"), ("1", "a", "r: C", "yes"),
        ("2", "a", "r: B", "yes"), ("2", "a", "r: C", "yes"),
    ]  # fmt: skip


def test_a_declared_separator_divides_several_labels(tmp_path: Path) -> None:
    text = "item,annotator,question,label\n1,a,q,B;A\n1,b,q,A\n1,a,p,A\n"
    table, _ = read(tmp_path, text, codebook=["A", "B"], multi=["q"], multi_separator=";", delimiter=",")
    assert rows(table) == [("1", "a", "p", "A"), ("1", "a", "q", "A+B"), ("1", "b", "q", "A")]


# --- wide


def test_wide_over_annotators_questions_and_items(tmp_path: Path) -> None:
    over_annotators, _ = read(
        tmp_path, "item,ann,bob\n1,yes,no\n2,no,\n", columns={"item": "item", "annotators": ["ann", "bob"]}
    )
    assert rows(over_annotators) == [
        ("1", "ann", "", "yes"),
        ("1", "bob", "", "no"),
        ("2", "ann", "", "no"),
        ("2", "bob", "", None),
    ]
    over_questions, _ = read(tmp_path, "item,annotator,p,q\n1,a,yes,no\n", columns={"questions": ["p", "q"]})
    assert rows(over_questions) == [("1", "a", "p", "yes"), ("1", "a", "q", "no")]
    over_items, report = read(tmp_path, "annotator,v1,v2,age\na,yes,no,30\n", columns={"items": ["v1", "v2"]})
    assert rows(over_items) == [("v1", "a", "", "yes"), ("v2", "a", "", "no")]
    assert report.columns == {"annotator": "annotator", "items": "v1, v2"}
    with pytest.raises(UserError, match="exactly one of"):
        read_csv_wide(tmp_path / "x.csv", codebook=YES_NO)


def test_a_wide_file_is_asked_about_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r'columns=\{"annotators"'):
        read(tmp_path, "item,a1,a2\n1,yes,no\n")


# --- survey

QUALTRICS = (
    "StartDate,Status,IPAddress,Finished,ResponseId,RecipientEmail,Q1,Q2,Q3\n"
    'Start Date,Response Type,IP Address,Finished,Response ID,Recipient Email,"Is it, ok?",And this?,Comments\n'
    '"{""ImportId"":""startDate""}","{""ImportId"":""status""}",i,f,r,e,q1,q2,q3\n'
    "2026-01-01,IP Address,203.0.113.5,True,R_1,,yes,no,None\n"
    "2026-01-01,IP Address,203.0.113.6,False,R_2,,yes,,fine\n"
    "2026-01-01,Survey Preview,203.0.113.7,True,R_3,,no,no,test\n"
)


def test_a_survey_export(tmp_path: Path) -> None:
    table, report = read(tmp_path, QUALTRICS)
    assert report.reader == "survey"
    assert rows(table) == [
        ("Q1", "R_1", "", "yes"),
        ("Q1", "R_2", "", None),
        ("Q2", "R_1", "", "no"),
        ("Q2", "R_2", "", None),
    ]
    assert report.counts["draft"] == 2
    assert report.refused == {"header rows": 2, "survey previews": 1}
    assert report.pii_dropped == ("IPAddress", "RecipientEmail")
    assert set(report.ignored_columns) == {"StartDate", "Status", "Finished", "Q3"}
    assert report.counts["skipped"] is None


def test_seen_and_unanswered_tells_skipped_from_not_asked(tmp_path: Path) -> None:
    text = "ResponseId,Finished,Q1,Q2\nR_1,1,yes,-99\nR_2,1,,no\n"
    table, report = read(tmp_path, text)
    assert (report.counts["skipped"], report.counts["not_asked"], report.counts["valid"]) == (1, 1, 2)
    assert report.coverage() == pytest.approx(2 / 3)
    assert len(table) == 4


def test_a_column_that_is_half_labels_is_asked_about(tmp_path: Path) -> None:
    text = "ResponseId,Finished,Q1,Q2\nR_1,1,yes,yes\nR_2,1,no,because\n"
    with pytest.raises(UserError, match="in column 'Q2' 1 of 2 different answers"):
        read(tmp_path, text)
    table, _ = read(tmp_path, text, columns={"items": ["Q1"]})
    assert table.items == ("Q1",)
    with pytest.raises(UserError, match="no column holds labels"):
        read(tmp_path, text, codebook=["maybe"])


def test_a_survey_with_a_codebook_for_each_column(tmp_path: Path) -> None:
    table, _ = read(tmp_path, QUALTRICS, codebook={"Q1": ["yes", "no"], "Q2": ["no"]})
    assert ("Q2", "R_1", "Q2", "no") in rows(table)


# --- workbooks


def workbook(folder: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, cells in sheets.items():
        sheet = book.create_sheet(title)
        for row in cells:
            sheet.append(row)
    path = folder / "x.xlsx"
    book.save(path)
    return path


def test_a_workbook_is_read_as_its_cells_show(tmp_path: Path) -> None:
    cells = [["item", "annotator", "label", None], [1, "a", 2], [2, "a", None], [None, None, None], [3, "a", "2"]]
    table, report = read_labels(workbook(tmp_path, {"s": cells, "empty": []}), codebook=["1", "2"], keep_pii=True)
    assert rows(table) == [("1", "a", "", "2"), ("2", "a", "", None), ("3", "a", "", "2")]
    assert report.reader == "long (xlsx)"


@pytest.mark.parametrize("claimed", ["A1", "A1:C3", "A1:B9", "A1:XFD1048576"])
def test_what_a_sheet_says_of_its_size_hides_no_row(tmp_path: Path, claimed: str) -> None:
    path = workbook(tmp_path, {"s": [["item", "annotator", "label"], *([i, "a", "x"] for i in range(5))]})
    parts = {}
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            parts[name] = book.read(name)
    sheet = "xl/worksheets/sheet1.xml"
    assert b'<dimension ref="A1:C6"' in parts[sheet]
    parts[sheet] = parts[sheet].replace(b'ref="A1:C6"', f'ref="{claimed}"'.encode())
    with zipfile.ZipFile(path, "w") as book:
        for name, data in parts.items():
            book.writestr(name, data)
    assert read_labels(path, codebook=["x"])[1].valid == 5


def test_workbooks_that_need_a_decision(tmp_path: Path) -> None:
    good = [["item", "annotator", "label"], ["1", "a", "1-2"]]
    damaged = [*good, ["2", "a", datetime(2026, 1, 2)]]
    path = workbook(tmp_path, {"one": good, "two": damaged})
    with pytest.raises(UserError, match="2 sheets with cells \\('one', 'two'\\)"):
        read_labels(path, codebook=["1-2"])
    with pytest.raises(UserError, match="no sheet 'three'"):
        read_labels(path, codebook=["1-2"], sheet="three")
    assert read_labels(path, codebook=["1-2"], sheet="one")[1].valid == 1
    with pytest.raises(UserError, match="likely spreadsheet damage"):
        read_labels(path, codebook=["1-2"], sheet="two")
    with pytest.raises(UserError, match="row 2 has cells beyond"):
        read_labels(workbook(tmp_path, {"s": [["item", "annotator"], ["1", "a", "x"]]}), codebook=["x"])
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UserError, match="not a workbook that can be read"):
        read_labels(path, codebook=["x"])


def test_without_openpyxl_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path, {"s": [["item", "annotator", "label"], [1, "a", "x"]]})
    plain_import = builtins.__import__

    def no_openpyxl(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return plain_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_openpyxl)
    with pytest.raises(UserError, match=r"pip install 'countback\[labels\]'"):
        read_labels(path, codebook=["x"])
