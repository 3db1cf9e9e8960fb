"""Delimited text into coded columns: both ways of reading, on the same small files."""

from __future__ import annotations

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.fetch.readers.columns import Column, _by_csv_module, _cut, concatenate, distinct, paired, read_delimited

X = "x"  # cells of up to 64 bytes are compared as words, longer ones cut one by one


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    header, columns = read_delimited(text, delimiter, "x.csv")
    return [header, *map(list, zip(*(c.texts() for c in columns), strict=True))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n3,4\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("a,b\n1,2\n3,4", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]),
        ("a,b\r1,2\r", [["a", "b"], ["1", "2"]]),
        ("a,b\n,\n1,\n", [["a", "b"], ["", ""], ["1", ""]]),
        ("a,b\n\n1,2\n\n", [["a", "b"], ["1", "2"]]),
        ("\na,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a\n1\n\n2\n", [["a"], ["1"], ["2"]]),
        ('a,b\n"1,5","x\ny"\n', [["a", "b"], ["1,5", "x\ny"]]),
        ('a,b\n"say ""hi""",2\n', [["a", "b"], ['say "hi"', "2"]]),
        ("a,b\né,ß\nе,\u200b\n", [["a", "b"], ["é", "ß"], ["е", "\u200b"]]),
        ("a,b\n\0,1\n0,1\n", [["a", "b"], ["\0", "1"], ["0", "1"]]),
        (f"a,b\n{X * 200},1\n{X * 64},1\n{X * 63},1\n", [["a", "b"], [X * 200, "1"], [X * 64, "1"], [X * 63, "1"]]),
    ],
)  # fmt: skip
def test_cells_are_what_stands_there(text: str, expected: list[list[str]]) -> None:
    assert cells(text) == expected


def test_words_that_share_a_beginning_are_told_apart() -> None:
    names = [f"item-{i:07d}-{'x' * (i % 9)}" for i in range(3000)]
    text = "a,b\n" + "".join(f"{n},{n[:9]}\n" for n in names + names[::-1])
    cut = _cut(text, ",")
    assert cut is not None
    header, (a, b) = cut
    assert header == ["a", "b"]
    assert a.values == tuple(names)
    assert a.texts() == names + names[::-1]
    assert b.values == tuple(dict.fromkeys(n[:9] for n in names))


def test_many_distinct_values_need_several_rounds() -> None:
    names = [str(i * 7919 % 200_003) for i in range(200_003)]  # more than the first table of 65,536 holds
    cut = _cut("a\n" + "\n".join(names), ",")
    assert cut is not None
    assert cut[1][0].texts() == names


def test_a_long_quoted_cell_is_read() -> None:
    long = "x" * 300_000
    assert cells(f'a,b\n"{long}",1\n') == [["a", "b"], [long, "1"]]


@pytest.mark.parametrize("text", ["a,b\n1,2\n1,2,3\n", 'a,b\n1,2\n"1",2,3\n', "a,b\n1,2\n1\n", "a,b\n1,2\n1,2,3,4\n"])
def test_a_ragged_row_stops_with_its_line(text: str) -> None:
    with pytest.raises(UserError, match=r"x\.csv, line 3: the row has \d cells and the header 2"):
        read_delimited(text, ",", "x.csv")


def test_rows_that_even_out_are_ragged_all_the_same() -> None:
    with pytest.raises(UserError, match="line 2: the row has 1 cells"):
        read_delimited("a,b\n1\n2,3,4\n", ",", "x.csv")


def test_a_row_broken_in_two_is_ragged() -> None:
    with pytest.raises(UserError, match="line 2: the row has 2 cells"):
        read_delimited("a,b,c\n1,2\n3\n4,5,6\n", ",", "x.csv")  # as many cells and row ends as two whole rows


def test_an_open_quote_stops() -> None:
    with pytest.raises(UserError, match=r"line 3: unexpected end of data"):
        read_delimited('a,b\n1,2\n"3,4\n', ",", "x.csv")


def test_both_ways_give_the_same_codes() -> None:
    text = "a,b,c\n" + "".join(f"{i % 7},{i % 3}{'é' * (i % 2)},{i}\n" for i in range(500))
    cut = _cut(text, ",")
    assert cut is not None
    for fast, slow in zip(cut[1], _by_csv_module(text, ",", "x")[1], strict=True):
        assert fast.values == slow.values
        np.testing.assert_array_equal(fast.codes, slow.codes)


def test_a_divider_that_is_one_byte_of_another_character() -> None:
    """The paragraph sign ends in the byte A7 in UTF-8, and so do other letters."""
    header, columns = read_delimited("a\u00a7b\n\u0167\u00a7\u00e7\n", "\u00a7", "x")
    assert (header, [column.texts() for column in columns]) == (["a", "b"], [["\u0167"], ["\u00e7"]])


def test_column_operations() -> None:
    column = Column.of(["b", "a", "b", " a"])
    assert column.values == ("b", "a", " a")
    assert column.counts().tolist() == [2, 1, 1]
    assert column.map(str.strip).texts() == ["b", "a", "b", "a"]
    assert column.take(np.array([False, True, False, True])).values == ("a", " a")
    assert concatenate([column, Column.of(["a", "c"])]).texts() == ["b", "a", "b", " a", "a", "c"]
    assert paired(column, Column.of(["1", "2", "1", "1"]), lambda a, b: f"{b}/{a}").texts() == [
        "1/b",
        "2/a",
        "1/b",
        "1/ a",
    ]
    assert Column.constant("x", 2).texts() == ["x", "x"]


@pytest.mark.parametrize("bound", [10, 10_000_000])
def test_distinct_counts_rows(bound: int) -> None:
    present, rows = distinct(np.array([5, 2, 5, 5]), bound)
    assert (present.tolist(), rows.tolist()) == ([2, 5], [1, 3])
