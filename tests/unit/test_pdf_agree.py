"""A number from a PDF is a lead until a second source gives the same number."""

from __future__ import annotations

import math
from decimal import Decimal as D
from fractions import Fraction

import pytest
from countback.fetch.errors import UserError
from countback.fetch.pdf import PdfCell, PdfTable, header_key, parse_cell
from countback.fetch.pdf.agree import agree, as_source, compare_readings, evidence, rounds_to


def table(*rows: str, header: str = "Model | acc | flips", sha256: str = "aa") -> PdfTable:
    """A table from lines of cells parted by bars."""
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    return PdfTable(
        caption="Table 1: made here",
        label="Table 1",
        page=3,
        box=(0, 0, 100, 100),
        header=tuple((name.strip(),) for name in header.split("|")),
        rows=tuple(tuple(PdfCell(c, c, 3, (0, 0, 1, 1), parse_cell(c)) for c in row) for row in cells),
        sections=("",) * len(cells),
        notes=(),
        sha256=sha256,
    )


SMALL = table("alpha | 61.2% [55.0, 67.1] | 3/5", "beta | 0.5 | 12", "gamma | -- | O.7")


def test_all_parts_confirmed_make_evidence() -> None:
    source = {
        ("alpha", "acc"): {"estimate": 61.2345, "low": 54.951, "high": 67.149},
        ("alpha", "flips"): {"count": 3, "of": 5},
    }
    result = agree(SMALL, source, "the data")
    assert result.confirmed() == 5
    value = evidence(result.table.find("alpha", "acc"))
    assert (value.estimate, value.low, value.high) == (D("61.2"), D("55.0"), D("67.1"))
    assert result.unsupported == (("beta", "acc", "estimate"), ("beta", "flips", "estimate"))
    assert (result.differs, result.missing) == ((), ())


def test_one_part_without_a_source_keeps_the_whole_cell_a_lead() -> None:
    result = agree(SMALL, {("alpha", "acc"): {"estimate": 61.2, "low": 55}}, "the data")
    with pytest.raises(UserError, match=r"no second source confirms its high\. Confirm it"):
        evidence(result.table.find("alpha", "acc"))


def test_a_number_that_differs_is_listed_and_not_confirmed() -> None:
    result = agree(SMALL, {("beta", "acc"): 0.56, ("beta", "flips"): 12}, "the data")
    (difference,) = result.differs
    assert (difference.row, difference.column, difference.part) == ("beta", "acc", "estimate")
    assert (difference.printed, difference.other) == (D("0.5"), 0.56)
    assert evidence(result.table.find("beta", "flips")).estimate == 12
    with pytest.raises(UserError, match="is a lead"):
        evidence(result.table.find("beta", "acc"))


def test_an_unread_cell_confirms_nothing_whatever_the_source_says() -> None:
    result = agree(SMALL, {("gamma", "flips"): 0.7, ("gamma", "acc"): 1}, "the data")
    assert result.confirmed() == 0
    assert result.missing == (("gamma", "flips"), ("gamma", "acc"))
    with pytest.raises(UserError, match="unread: a letter stands where a digit should"):
        evidence(result.table.find("gamma", "flips"))


def test_names_of_the_source_that_are_not_in_the_table_are_missing() -> None:
    assert agree(SMALL, {("delta", "acc"): 1}, "the data").missing == (("delta", "acc"),)


def test_names_meet_without_spaces_case_and_kinds_of_dash() -> None:
    wide = table("Long–horizon sabotage | 1 | 2", header="Model | Inter annotator | n")
    result = agree(wide, {("long-horizonsabotage", "INTERANNOTATOR"): 1}, "the data")
    assert result.confirmed() == 1
    assert header_key("Aﬃrmative  Framing") == "affirmativeframing"
    with pytest.raises(UserError, match="differ only in spaces"):
        agree(wide, {("a b", "n"): 1, ("ab", "n"): 2}, "the data")


def test_two_rows_of_one_name_are_never_confirmed() -> None:
    double = table("alpha | 1 | 2", "alpha | 1 | 3")
    result = agree(double, {("alpha", "acc"): 1}, "the data")
    assert (result.confirmed(), result.missing) == (0, (("alpha", "acc"),))
    assert as_source(double) == {}


def test_blank_stubs_need_a_declared_fill_down() -> None:
    held = table("alpha | x | 2", " | y | 3", header="Model | kind | n")
    assert held.row_labels() == ("alpha / x", "y")
    source = {("alpha / y", "n"): 3}
    assert agree(held, source, "the data").confirmed() == 0
    assert agree(held, source, "the data", fill_down=True).confirmed() == 1


@pytest.mark.parametrize(
    ("exact", "printed", "holds"),
    [
        (0.0625, "0.062", True),  # half to even, as numpy and R round
        (0.0625, "0.063", True),  # half up, as most hands do
        (0.0625, "0.064", False),
        (Fraction(1, 3), "0.33", True),
        (Fraction(1, 3), "0.34", False),
        (D("-0.425"), "-0.42", True),
        (17, "17.0", True),
        (16.949, "17.0", False),
        (100 * 0.285, "28.5", True),  # 28.499999999999996 in binary
        (math.nan, "0.5", False),
        (math.inf, "0.5", False),
    ],
)
def test_what_may_round_to_a_printed_number(exact: float | Fraction | D, printed: str, holds: bool) -> None:
    assert rounds_to(exact, D(printed)) is holds


def test_another_file_confirms_and_the_same_file_does_not() -> None:
    other = table("alpha | 61.2% [55.0, 67.1] | 3/5", "beta | 0.6 | 12", "gamma | -- | 0.7", sha256="bb")
    result = compare_readings(SMALL, other)
    assert [(d.row, d.printed, d.other) for d in result.differs] == [("beta", D("0.5"), D("0.6"))]
    assert result.confirmed() == 6
    assert result.missing == (("gamma", "flips"),)  # the first file's cell is unread
    with pytest.raises(UserError, match="come from one file"):
        compare_readings(SMALL, SMALL)


def test_marking_leaves_the_table_it_was_given_alone() -> None:
    agree(SMALL, {("beta", "acc"): 0.5}, "the data")
    assert all(not cell.confirmed for row in SMALL.rows for cell in row)
