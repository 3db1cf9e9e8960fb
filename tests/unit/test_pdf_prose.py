"""Numbers of running text: with their place, with their interval, and without the citations."""

from __future__ import annotations

from decimal import Decimal as D
from pathlib import Path

import pytest
from countback.fetch.pdf.prose import PdfNumber, read_numbers
from handmade_pdf import Sheet, ruled_table, width, write_pdf


def numbers_of(path: Path, *lines: str) -> tuple[PdfNumber, ...]:
    sheet = Sheet()
    for i, line in enumerate(lines):
        sheet.text(72, 80 + 14 * i, line)
    return read_numbers(write_pdf(path / "page.pdf", [sheet]))


@pytest.mark.parametrize(
    ("line", "raws"),
    [
        ("kappa was 0.61 [0.55, 0.67] as in [3, 14] and [21, 22, 23].", ["0.61 [0.55, 0.67]"]),
        ("a rate of 81.1% [3, 14] was seen", ["81.1%"]),
        ("a rate of 62 [42, 80] was seen", ["62 [42, 80]"]),
        ("intervals of [78%,98%] and [0.1, 0.3] meet", ["[78%,98%]", "[0.1, 0.3]"]),
        ("pooled falls of 560/598 (94%) and 82–100% of 1,000 runs", ["560/598 (94%)", "82–100%", "1,000"]),
        ("GPT-5.4 and v2.0 at 09:30–14:00 with p < .001", ["< .001"]),
        ("a 2 × 2 design, 0.61 ± 0.02, 4,052,9540.71 and 0.6160.02", ["2", "2", "0.61 ± 0.02"]),
        ("it fell from 0.71 to 0.61; −0.42 is a loss.", ["0.71", "0.61", "−0.42"]),
    ],
)
def test_numbers_of_a_line(tmp_path: Path, line: str, raws: list[str]) -> None:
    assert [n.raw for n in numbers_of(tmp_path, line)] == raws


def test_a_number_carries_its_place_and_its_line(tmp_path: Path) -> None:
    line = "kappa was 0.61 [0.55, 0.67] here"
    (found,) = numbers_of(tmp_path, "nothing", line)
    start = 72 + width("kappa was ")
    assert found.page == 1
    assert found.line == line
    assert found.box == pytest.approx((start, 94 - 7.93, start + width("0.61 [0.55, 0.67]"), 94 + 2.07), abs=0.01)
    assert found.value.numbers() == {"estimate": D("0.61"), "low": D("0.55"), "high": D("0.67")}


def test_numbers_of_tables_are_left_to_the_table_reader(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 80, "Prose with 0.99 in it.")
    ruled_table(sheet, 72, 110, [["Model", "acc", "n"], ["a", "0.61", "10"], ["b", "0.71", "20"]], [150, 220])
    assert [n.raw for n in read_numbers(write_pdf(tmp_path / "page.pdf", [sheet]))] == ["0.99"]


def test_raised_and_lowered_digits_touch_no_number(tmp_path: Path) -> None:
    sheet = Sheet()
    x = sheet.text(72, 80, "kappa of 0.81")
    x = sheet.text(x, 76.4, "2", 6)
    x = sheet.text(x + 3, 80, "and F")
    x = sheet.text(x, 81.5, "1", 6)
    sheet.text(x + 3, 80, "of 0.44")
    assert [(n.raw, n.value.estimate) for n in read_numbers(write_pdf(tmp_path / "page.pdf", [sheet]))] == [
        ("0.81²", D("0.81")),
        ("0.44", D("0.44")),
    ]
