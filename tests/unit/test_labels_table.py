"""LabelTable and Codebook on small tables whose answers can be read off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from countback.fetch.codebook import INVALID, MISSING, REASONS, Codebook, tidy
from countback.fetch.errors import UserError
from countback.fetch.labels import ARRAYS, LabelTable

ROWS = [  # item, annotator, country, label
    ("i1", "a", "KE", "A"),
    ("i1", "b", "KE", " A"),
    ("i1", "c", "NA", "a"),
    ("i2", "a", "KE", ""),
    ("i2", "b", "KE", "B"),
    ("i2", "c", "NA", "maybe"),
    ("i3", "a", "KE", "1.0"),
]


def table(codebook: Any = ("A", "B", "1"), **more: Any) -> LabelTable:
    item, annotator, country, label = zip(*ROWS, strict=True)
    return LabelTable.from_arrays(
        item=item, annotator=annotator, country=country, label=label, codebook=codebook, **more
    )


def reasons(t: LabelTable) -> list[str]:
    return [t.reasons[code] for code in t.reason.tolist()]


def test_every_text_is_a_label_or_has_a_reason() -> None:
    t = table()
    assert reasons(t) == ["valid", "padded", "case", "blank", "valid", "not_in_codebook", "number_form"]
    assert t.label.tolist() == [0, -1, -1, -1, 1, -1, -1]
    assert t.raw.tolist() == [row[3] for row in ROWS]
    assert t.items == ("i1", "i2", "i3")
    assert t.labels == ("A", "B", "1")
    assert len(t) == 7
    assert t.counts() == dict.fromkeys(("padded", "case", "blank", "not_in_codebook", "number_form"), 1) | {"valid": 2}


@pytest.mark.parametrize(
    ("normalise", "codes"), [("exact", [0, -1, -1]), ("space", [0, 0, -1]), ("space+case", [0, 0, 0])]
)
def test_what_is_mended_is_what_was_asked(normalise: Any, codes: list[int]) -> None:
    assert table(Codebook.of(["A", "B", "1"], normalise=normalise)).label.tolist()[:3] == codes


def test_six_missing_states_are_distinct_and_closed() -> None:
    assert len(set(MISSING)) == 6
    assert set(MISSING).isdisjoint(INVALID)
    assert ("valid", *MISSING, *INVALID) == REASONS
    t = table(reason=["valid", "skipped", "draft", "", "not_asked", "discarded", "judge_failed"])
    assert reasons(t) == ["valid", "skipped", "draft", "blank", "not_asked", "discarded", "judge_failed"]
    assert t.label.tolist() == [0, -1, -1, -1, -1, -1, -1]
    with pytest.raises(UserError, match="Unknown reason 'lost'"):
        table(reason=["lost"] * 7)


def test_where_and_mask_keep_codes_and_vocabularies() -> None:
    t = table()
    kenya = t.mask(t.where(country="KE", item=["i1", "i3"]))
    assert [kenya.raw[i] for i in range(len(kenya))] == ["A", " A", "1.0"]
    assert kenya.items == t.items
    assert kenya.item.tolist() == [0, 0, 2]
    assert t.where(kind="judge").sum() == 0
    assert t.where(label="B").tolist() == [False] * 4 + [True, False, False]
    assert t.where(reason=["blank", "case"]).sum() == 2
    with pytest.raises(UserError, match="No country is called 'UG'; the table holds 'KE', 'NA'"):
        t.where(country="UG")


def test_two_valid_rows_of_one_key_are_refused() -> None:
    twice: dict[str, Any] = {"item": ["1", "1"], "annotator": ["a", "a"], "codebook": ["A"]}
    with pytest.raises(UserError, match="1 valid rows repeat a key, the first at row 1: item '1'"):
        LabelTable.from_arrays(label=["A", "A"], **twice)
    assert len(LabelTable.from_arrays(label=["A", "A"], reason=["valid", "duplicate"], **twice)) == 2
    assert len(LabelTable.from_arrays(label=["A", "A"], country=["KE", "NA"], **twice)) == 2
    assert len(LabelTable.from_arrays(label=["A", "A"], question=["p", "q"], **twice)) == 2


def test_keys_beyond_a_bitmap_are_compared_too() -> None:
    n = 400
    names = [str(i) for i in range(n)]
    fields: dict[str, Any] = {"item": names, "annotator": names, "country": names, "question": names}
    wide = LabelTable.from_arrays(label=["A"] * n, codebook=["A"], **fields)  # 400**4 keys could occur
    assert wide.valid.all()
    fields = {name: [*values, "7"] for name, values in fields.items()}
    with pytest.raises(UserError, match="the first at row 400"):
        LabelTable.from_arrays(label=["A"] * (n + 1), codebook=["A"], **fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": np.array([0], np.int16)}, "LabelTable.item is int32"),
        ({"item": np.zeros(7, np.int64)}, "LabelTable.item is int64"),
        ({"item": np.full(7, 3, np.int32)}, "LabelTable.item holds codes 3 to 3; expected 0 to 2"),
        ({"label": np.full(7, -2, np.int16)}, "LabelTable.label holds codes -2"),
        ({"label": np.zeros(7, np.int16)}, "a label and a reason against it, or neither"),
        ({"reason": np.zeros(7, np.int8)}, "a label and a reason against it, or neither"),
        ({"kind": np.full(7, 2, np.int8)}, "LabelTable.kind holds codes 2 to 2"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        replace(table(), **change)


def test_a_missing_id_is_not_turned_into_a_word() -> None:
    absent: Any = None
    with pytest.raises(UserError, match="The item None is NoneType"):
        LabelTable.from_arrays(item=[absent], annotator=["a"], label=["A"], codebook=["A"])
    with pytest.raises(UserError, match="turned into a word"):
        LabelTable.from_arrays(item=["1"], annotator=["a"], label=[str(absent)], codebook=["A"])
    assert reasons(LabelTable.from_arrays(item=["1"], annotator=["a"], label=[absent], codebook=["A"])) == ["blank"]


def test_an_empty_table_is_a_table() -> None:
    t = LabelTable.from_arrays(item=[], annotator=[], label=[], codebook=["A"])
    assert len(t) == 0
    assert t.counts() == {}
    assert set(ARRAYS) == {"item", "question", "country", "annotator", "kind", "label", "raw", "reason", "seconds"}


def test_codebooks_by_question_keep_one_order() -> None:
    book = Codebook.of({"p": ["1", "2", "3"], "q": ["0", "1"], "r": ["3", "4"]})
    assert book.labels == ("0", "1", "2", "3", "4")
    assert book.match("3", "p").reason == "valid"
    assert book.match("3", "q").reason == "not_in_codebook"
    with pytest.raises(UserError, match="order no, yes differently"):
        Codebook.of({"p": ["yes", "no"], "q": ["no", "yes"]})


@pytest.mark.parametrize(
    ("codebook", "options", "message"),
    [
        ([], {}, "The codebook is empty"),
        ("ABC", {}, "The codebook is 'ABC'"),
        (["A", "A"], {}, "lists 'A' twice"),
        (["A", ""], {}, "texts that are not empty"),
        ([1, 2], {}, "holds 1; expected texts"),
        (["A"], {"aliases": {"a": "B"}}, "points to 'B'"),
        (
            ["A"],
            {"missing": {"-": "gone"}},
            "expected one of not_asked, blank, skipped, discarded, draft, judge_failed",
        ),
    ],
)
def test_what_is_no_codebook_is_refused(codebook: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Codebook.of(codebook, **options)


def test_declared_forms_and_missing_marks() -> None:
    book = Codebook.of(["yes", "no"], aliases={"ja": "yes"}, missing={"N/A": "not_asked"}, normalise="space")
    assert (book.match("ja").label, book.match("ja").repair) == (0, "alias")
    assert book.match(" N/A ").reason == "not_asked"
    by_question = Codebook.of({"p": ["1", "2"], "q": ["1"]}, aliases={"two": "2"})
    assert by_question.match("two", "p").label == 1
    assert by_question.match("two", "q").reason == "not_in_codebook"  # 2 is no label of that question
    assert Codebook.of(["N/A"], missing={"N/A": "skipped"}).match("N/A").reason == "valid"  # the codebook is first


def test_tidy_composes_and_trims() -> None:
    assert tidy("\u00a0 e\u0301te\u200b\u0301\u2060 ") == "\u00e9t\u00e9"
    assert Codebook.of(["\u00e9"], normalise="space").match("e\u0301").repair == "unicode form"


@pytest.mark.parametrize("text", ["Caf\ufffd", "\ud83d"])
def test_lost_characters_stop(text: str) -> None:
    with pytest.raises(UserError, match="decoded wrongly"):
        Codebook.of(["A"]).match(text)
