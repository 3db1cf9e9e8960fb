"""Invariants of reading: the two ways of cutting agree, order does not matter, nothing is lost."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from countback.fetch.codebook import REASONS, Codebook
from countback.fetch.errors import UserError
from countback.fetch.labels import LabelTable
from countback.fetch.readers import IngestReport, read_labels
from countback.fetch.readers.columns import _by_csv_module, _cut
from hypothesis import assume, given, settings
from hypothesis import strategies as st

CELL = st.text(st.characters(blacklist_characters='"\r\n,\0', blacklist_categories=["Cs"]), max_size=12)


def read_text(text: str, name: str = "x.csv", **options: Any) -> tuple[LabelTable, IngestReport]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode())
        return read_labels(path, **options)


# rows of quoted and plain cells, with a cell now and then that is quoted wrongly
ODD = ['"a"', '"b"', "a", "", '""', '"a""b"', '"a,b"', '"a\nb"', '"', 'a"b', '","', '"\n"', '"a"b', ' "a"']
QUOTED = st.lists(
    st.lists(st.sampled_from(ODD[:5]) | st.sampled_from(ODD), min_size=2, max_size=2).map(",".join), max_size=5
).map(lambda rows: "\n".join(["a,b", *rows, ""]))


@given(st.integers(1, 4).flatmap(lambda k: st.lists(st.lists(CELL, min_size=k, max_size=k), min_size=2, max_size=30)))
def test_cutting_bytes_is_reading_csv(rows: list[list[str]]) -> None:
    text = "".join(",".join(row) + "\n" for row in rows)
    cut = _cut(text, ",")
    assume(cut is not None)
    assert cut is not None
    header, columns = _by_csv_module(text, ",", "x")
    assert cut[0] == header
    for fast, slow in zip(cut[1], columns, strict=True):
        assert fast.values == slow.values
        assert fast.codes.tolist() == slow.codes.tolist()


@settings(max_examples=2000)
@given(st.text(st.sampled_from('ab,\n\r"'), max_size=24) | QUOTED)
def test_any_text_is_cut_as_csv_or_not_at_all(text: str) -> None:
    cut = _cut(text, ",")
    try:
        header, columns = _by_csv_module(text, ",", "x")
    except UserError:
        assert cut is None
        return
    if cut is not None:
        assert cut[0] == header
        assert [c.texts() for c in cut[1]] == [c.texts() for c in columns]


ANSWER = st.tuples(
    st.sampled_from(["i1", "i2", "i3"]),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["p", "q"]),
    st.sampled_from(["yes", "no", "", " yes", "YES", "perhaps", "1.0", "-"]),
)
ANSWERS = st.lists(ANSWER, min_size=1, max_size=18, unique_by=lambda row: row[:3])
BOOK: dict[str, Any] = {"codebook": ["yes", "no", "1"], "missing": {"-": "not_asked"}}


def as_csv(rows: list[tuple[str, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([("item", "annotator", "question", "label"), *rows])
    return out.getvalue()


def as_set(table: LabelTable) -> set[tuple[str, ...]]:
    columns = (table.item, table.annotator, table.question, table.label, table.reason)
    return {
        (table.items[i], table.annotators[a], table.questions[q], str(label), table.reasons[r], raw)
        for i, a, q, label, r, raw in zip(*(c.tolist() for c in columns), table.raw.tolist(), strict=True)
    }


@given(ANSWERS, st.randoms())
def test_the_order_of_rows_and_files_means_nothing(rows: list[tuple[str, ...]], random: Any) -> None:
    table, report = read_text(as_csv(rows), keep_pii=True, **BOOK)
    shuffled = list(rows)
    random.shuffle(shuffled)
    other, other_report = read_text(as_csv(shuffled), keep_pii=True, **BOOK)
    assert as_set(table) == as_set(other)
    assert report.counts == other_report.counts
    assert len(table) == len(rows)


@given(ANSWERS)
def test_every_row_is_accounted_for_and_matches_the_codebook(rows: list[tuple[str, ...]]) -> None:
    table, report = read_text(as_csv(rows), **BOOK)
    assert (
        sum(n or 0 for n in report.counts.values()) + sum(report.refused.values()) == report.read["rows"] == len(rows)
    )
    assert set(report.counts) == set(REASONS)
    book = Codebook.of(BOOK["codebook"], missing=BOOK["missing"], normalise="space")
    for row, code, reason in zip(rows, table.label.tolist(), table.reason.tolist(), strict=True):
        match = book.match(row[3])
        assert (match.label, match.reason) == (code, table.reasons[reason])
    json.dumps(report.to_dict(), allow_nan=False)
    assert report.lines()


@given(ANSWERS)
def test_names_of_annotators_mean_nothing(rows: list[tuple[str, ...]]) -> None:
    names = {"a": "zoe", "b": "x@example.org", "c": "Ä"}
    renamed = [(row[0], f"{names[row[1]]}@example.org", *row[2:]) for row in rows]
    table, _ = read_text(as_csv(rows), **BOOK)
    other, _ = read_text(as_csv(renamed), **BOOK)
    for name in ("item", "question", "annotator", "label", "reason"):
        np.testing.assert_array_equal(getattr(table, name), getattr(other, name))
    assert not any("@" in who for who in other.annotators)


@given(ANSWERS)
def test_long_wide_and_label_studio_say_the_same(rows: list[tuple[str, ...]]) -> None:
    """The same answers in three shapes give the same valid labels."""
    table, _ = read_text(as_csv(rows), keep_pii=True, **BOOK)
    valid = {row[:4] for row in as_set(table.mask(table.valid))}
    cells = {(item, who, question): text for item, who, question, text in rows}
    pairs = sorted({(item, who) for item, who, *_ in rows})
    wide = io.StringIO()
    csv.writer(wide).writerows(
        [
            ("item", "annotator", "p", "q"),
            *((i, w, cells.get((i, w, "p"), ""), cells.get((i, w, "q"), "")) for i, w in pairs),
        ]
    )
    over, _ = read_text(wide.getvalue(), columns={"questions": ["p", "q"]}, keep_pii=True, **BOOK)
    assert {row[:4] for row in as_set(over.mask(over.valid))} == valid
    tasks = [
        {
            "id": item,
            "data": {},
            "annotations": [
                {
                    "id": f"{item}{who}",
                    "completed_by": who,
                    "result": [
                        {"from_name": q, "type": "choices", "value": {"choices": [cells[i, w, q]]}}
                        for i, w, q in cells
                        if (i, w) == (item, who)
                    ],
                }
                for i, who in pairs
                if i == item
            ],
        }
        for item in sorted({item for item, *_ in rows})
    ]
    nested, _ = read_text(json.dumps(tasks), "x.json", keep_pii=True, **BOOK)
    assert {row[:4] for row in as_set(nested.mask(nested.valid))} == valid


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_duplicates_leave_one_label_a_key(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(f"i{rng.integers(3)}", f"a{rng.integers(3)}", "p", ["yes", "no"][rng.integers(2)]) for _ in range(n)]
    keys = {row[:3] for row in rows}
    once = {key for key in keys if sum(row[:3] == key for row in rows) == 1}
    for policy, kept in (("first", keys), ("last", keys), ("drop-both", once)):
        table, report = read_text(as_csv(rows), duplicates=policy, **BOOK)
        assert report.valid == len(kept)
        assert report.counts["duplicate"] == n - len(kept)
        if report.duplicates is not None:
            assert report.duplicates.outcomes[policy].valid == report.valid
            counts = np.bincount(table.label[table.valid], minlength=3)
            assert report.duplicates.outcomes[policy].labels == {
                label: int(c) for label, c in zip(table.labels, counts, strict=True) if c
            }
