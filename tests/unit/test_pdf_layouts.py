"""Ways in which tables are set, by TeX and by others: each drawn by hand, with every cell known."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal as D
from pathlib import Path

import pytest
from countback.fetch.pdf import CellValue, PdfTable, Unread, read_tables
from handmade_pdf import Sheet, ruled_table, width, write_pdf

ROWS = [["Model", "acc", "95% CI"], ["alpha", "0.61", "[0.5, 0.7]"], ["beta", "−0.71", "[−0.8, −0.6]"],
        ["gamma", "1,234", "[1.0, 2.0]"]]  # fmt: skip
XS = (72.0, 150.0, 210.0)


def read(path: Path, *sheets: Sheet) -> tuple[PdfTable, ...]:
    return read_tables(write_pdf(path / "page.pdf", sheets))


def read_one(path: Path, *sheets: Sheet) -> PdfTable:
    (table,) = read(path, *sheets)
    return table


def texts(table: PdfTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def draw(sheet: Sheet, y: float, rows: Sequence[Sequence[str]] = ROWS, pitch: float = 16) -> list[float]:
    """Draw rows without any rule; return the y of the line above each row and of the one below the last."""
    for i, row in enumerate(rows):
        for x, cell in zip(XS, row, strict=True):
            sheet.text(x, y + pitch * i + 11, cell)
    return [y + pitch * i for i in range(len(rows) + 1)]


def assert_rows(table: PdfTable) -> None:
    assert table.columns() == tuple(ROWS[0])
    assert texts(table) == [list(row) for row in ROWS[1:]]


# Rules


def test_a_full_grid_with_vertical_rules(tmp_path: Path) -> None:
    sheet = Sheet()
    ys = draw(sheet, 90)
    for y in ys:
        sheet.rule(68, y, 290)
    for x in (68, 140, 205, 290):
        sheet.rule(x, ys[0], x, ys[-1])
    assert_rows(read_one(tmp_path, sheet))


def test_vertical_rules_part_columns_that_stand_too_close_for_white(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [("name", "value"), ("ab cd", "12"), ("ab ef", "34"), ("ab gh", "56"), ("ab ij", "78")]
    edge = 72 + width("ab gh") + 1
    for i, (name, value) in enumerate(rows):
        sheet.text(72, 101 + 16 * i, name)
        sheet.text(edge + 1.4, 101 + 16 * i, value)
    for i in range(6):
        sheet.rule(70, 90 + 16 * i, 150)
    sheet.rule(edge, 90, edge, 170)
    table = read_one(tmp_path, sheet)
    assert texts(table) == [list(row) for row in rows[1:]]


def test_rules_drawn_as_thin_boxes_and_in_pieces(tmp_path: Path) -> None:
    sheet = Sheet()
    ys = draw(sheet, 90)
    for y in (ys[0], ys[1], ys[-1]):
        for x0, x1 in ((68, 140), (140, 205), (205, 290)):
            sheet.shade(x0, y, x1, y + 0.6, "0 g")
    assert_rows(read_one(tmp_path, sheet))


def test_a_rule_between_every_two_rows_and_none_around_them(tmp_path: Path) -> None:
    sheet = Sheet()
    ys = draw(sheet, 90)
    for y in ys[1:-1]:
        sheet.rule(68, y, 290)
    assert_rows(read_one(tmp_path, sheet))


def test_doubled_rules_are_one_rule(tmp_path: Path) -> None:
    sheet = Sheet()
    ys = draw(sheet, 90)
    for y in (ys[0] - 2, ys[0], ys[1], ys[-1], ys[-1] + 2):
        sheet.rule(68, y, 290)
    assert_rows(read_one(tmp_path, sheet))


@pytest.mark.parametrize("caption_above", [True, False])
@pytest.mark.parametrize("header_rule", [True, False])
def test_a_table_without_outer_rules_is_found_by_its_caption(
    tmp_path: Path, caption_above: bool, header_rule: bool
) -> None:
    sheet = Sheet()
    sheet.text(72, 70 if caption_above else 176, "Table 4: No outer rules")
    ys = draw(sheet, 84)
    if header_rule:
        sheet.rule(68, ys[1], 290)
    sheet.text(72, 210, "Prose below it, which is long enough to be seen as prose and has 0.99 in it.")
    table = read_one(tmp_path, sheet)
    assert_rows(table)
    assert table.caption == "Table 4: No outer rules"
    assert any("where it ends was inferred" in note for note in table.notes)


def test_a_watermark_across_the_table_is_left_out(tmp_path: Path) -> None:
    sheet = Sheet()
    ys = draw(sheet, 90)
    for y in (ys[0], ys[1], ys[-1]):
        sheet.rule(68, y, 290)
    sheet.text(90, 150, "DRAFT 99", 20, angle=30)
    table = read_one(tmp_path, sheet)
    assert_rows(table)
    assert "left out: character at a slant (7)" in table.notes


def test_prose_below_a_caption_is_no_table(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 70, "Table 4: Its table is an image")
    for i in range(5):
        sheet.text(72, 90 + 12 * i, "Prose that follows the caption and fills the measure of the page with words.")
    assert read(tmp_path, sheet) == ()


def test_axes_and_grid_lines_of_a_plot_are_no_table(tmp_path: Path) -> None:
    sheet = Sheet()
    for i in range(6):
        sheet.rule(100, 100 + 30 * i, 400)
        sheet.text(70, 103 + 30 * i, f"0.{i}")
    sheet.text(100, 290, "Figure 1: A plot")
    assert read(tmp_path, sheet) == ()


# Rows


def test_intervals_set_below_their_estimates_belong_to_them(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "bias", "gap"], ["m1", "1.0", "−2.0"], ["", "[0.5, 1.5]", "[−2.5, −1.5]"], ["m2", "3.0", "0.1"],
            ["", "[2.5, 3.5]", "[−0.4, 0.6]"]]  # fmt: skip
    ruled_table(sheet, 72, 90, rows, [160, 250])
    table = read_one(tmp_path, sheet)
    assert texts(table) == [
        ["m1", "1.0 [0.5, 1.5]", "−2.0 [−2.5, −1.5]"],
        ["m2", "3.0 [2.5, 3.5]", "0.1 [−0.4, 0.6]"],
    ]
    value = table.rows[1][2].value
    assert isinstance(value, CellValue)
    assert value.numbers() == {"estimate": D("0.1"), "low": D("-0.4"), "high": D("0.6")}


def test_standard_errors_below_estimates_with_stars(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["", "(1)", "(2)"], ["Age", "0.123***", "−0.345"], ["", "(0.012)", "(0.200)"], ["N", "1,200", "1,300"]]
    ruled_table(sheet, 72, 90, rows, [160, 250])
    table = read_one(tmp_path, sheet)
    assert texts(table) == [["Age", "0.123*** (0.012)", "−0.345 (0.200)"], ["N", "1,200", "1,300"]]
    value = table.rows[0][1].value
    assert isinstance(value, CellValue)
    assert (value.estimate, value.aside, value.marks) == (D("0.123"), D("0.012"), ("***",))


def test_a_stub_half_way_between_a_gap_and_its_interval(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "bias", "gap"], ["", "1.0", "−2.0"], ["", "[0.5, 1.5]", "[−2.5, −1.5]"], ["", "3.0", "0.1"],
            ["", "[2.5, 3.5]", "[−0.4, 0.6]"]]  # fmt: skip
    ruled_table(sheet, 72, 90, rows, [160, 250])
    for i, name in enumerate(("m1", "m2")):
        sheet.text(72, 93 + 14 * (2 + 2 * i) + 7 - 3, name)
    assert [row[0] for row in texts(read_one(tmp_path, sheet))] == ["m1", "m2"]


def test_a_cell_of_two_lines_stands_around_the_other_cells_of_its_row(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "acc", "n"], ["", "0.61", "10"], ["beta", "0.71", "20"]]
    ruled_table(sheet, 72, 90, rows, [160, 220], pitch=28)
    base = 93 + 28 * 2 - 3
    sheet.text(72, base - 6, "alpha 3.1")
    sheet.text(72, base + 6, "8B")
    assert texts(read_one(tmp_path, sheet)) == [["alpha 3.1 8B", "0.61", "10"], ["beta", "0.71", "20"]]


def test_text_that_wraps_in_its_column_is_one_cell(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.rule(72, 90, 300)
    sheet.text(72, 102, "Task")
    sheet.text(130, 102, "What goes wrong")
    sheet.right(300, 102, "n")
    sheet.rule(72, 106, 300)
    lines = ["a configuration change,", "later reverted", "payment refs carry a", "trailing space"]
    for i, line in enumerate(lines):
        sheet.text(130, 118 + 12 * i, line)
    for i, (task, n) in enumerate((("drift", "12"), ("space", "34"))):
        sheet.text(72, 118 + 24 * i, task)
        sheet.right(300, 118 + 24 * i, n)
    sheet.rule(72, 160, 300)
    assert texts(read_one(tmp_path, sheet)) == [
        ["drift", "a configuration change, later reverted", "12"],
        ["space", "payment refs carry a trailing space", "34"],
    ]


def test_panel_titles_name_their_rows_even_with_a_number_in_them(tmp_path: Path) -> None:
    sheet = Sheet()
    for y in (90, 108, 124, 156, 172, 204):
        sheet.rule(72, y, 300)
    for x, name in zip((72, 180, 250), ("Model", "mean", "range"), strict=True):
        sheet.text(x, 103, name)
    sheet.centre(186, 120, "Panel A: humans")
    sheet.centre(186, 168, "Panel B: judges (n = 4)")
    body = [("ZA", ".61", "1–5"), ("NG", ".71", "2–5"), ("gpt", ".81", "1–4"), ("claude", ".91", "1–3")]
    for row, y in zip(body, (136, 150, 184, 198), strict=True):
        for x, cell in zip((72, 180, 250), row, strict=True):
            sheet.text(x, y, cell)
    table = read_one(tmp_path, sheet)
    assert texts(table) == [list(row) for row in body]
    assert table.sections == ("Panel A: humans",) * 2 + ("Panel B: judges (n = 4)",) * 2


def test_a_small_signed_change_below_the_line_stays_apart_from_the_score(tmp_path: Path) -> None:
    sheet = Sheet()
    ruled_table(sheet, 72, 90, [["Model", "acc"], ["alpha", "60.0"], ["beta", ""], ["gamma", "62.0"]], [180])
    y = 93 + 14 * 3 - 3
    sheet.text(sheet.text(150, y, "61.2"), y + 1.5, "+0.3", 7)
    cell = read_one(tmp_path, sheet).rows[1][1]
    assert cell.raw == "61.2+0.3"
    assert isinstance(cell.value, CellValue)
    assert (cell.value.numbers(), cell.value.marks) == ({"estimate": D("61.2")}, ("+0.3",))


# Headers and columns


def test_two_levels_of_headers_over_columns(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.rule(72, 90, 330)
    xs = (170, 210, 270, 310)
    sheet.centre(240, 101, "Countries")
    sheet.rule(155, 105, 325, thick=0.4)
    sheet.centre(190, 116, "Africa")
    sheet.rule(155, 120, 225, thick=0.4)
    sheet.centre(290, 116, "Europe")
    sheet.rule(255, 120, 325, thick=0.4)
    sheet.text(72, 131, "Model")
    for x, name in zip(xs, ("ZA", "NG", "FR", "DE"), strict=True):
        sheet.centre(x, 131, name)
    sheet.rule(72, 135, 330, thick=0.5)
    for i in range(3):
        sheet.text(72, 148 + 14 * i, f"m{i}")
        for j, x in enumerate(xs):
            sheet.centre(x, 148 + 14 * i, f"0.{i}{j}")
    sheet.rule(72, 184, 330)
    table = read_one(tmp_path, sheet)
    assert table.header == (
        ("Model",),
        ("Countries", "Africa", "ZA"),
        ("Countries", "Africa", "NG"),
        ("Countries", "Europe", "FR"),
        ("Countries", "Europe", "DE"),
    )
    assert texts(table)[2] == ["m2", "0.20", "0.21", "0.22", "0.23"]


def test_a_header_of_two_lines_is_one_name(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.rule(72, 90, 330)
    sheet.right(200, 101, "Control")
    for x, name in zip((200, 300), ("unanimity", "agreement"), strict=True):
        sheet.right(x, 113, name)
    sheet.text(72, 113, "Model")
    sheet.rule(72, 117, 330, thick=0.5)
    for i in range(4):
        sheet.text(72, 130 + 14 * i, f"m{i}")
        sheet.right(200, 130 + 14 * i, f"8{i}.7%")
        sheet.right(300, 130 + 14 * i, f"9{i}.6%")
    sheet.rule(72, 180, 330)
    assert read_one(tmp_path, sheet).columns() == ("Model", "Control unanimity", "agreement")


def test_a_column_without_a_single_value_keeps_its_place(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "acc", "todo", "n"], *([f"m{i}", f"0.{i}1", "", f"{i}0"] for i in range(1, 6))]
    ruled_table(sheet, 72, 90, rows, [150, 220, 290])
    table = read_one(tmp_path, sheet)
    assert table.columns() == ("Model", "acc", "todo", "n")
    values = [row[2].value for row in table.rows]
    assert all(isinstance(value, Unread) and value.kind == "blank" for value in values)


def test_a_word_space_that_lines_up_in_all_rows_parts_no_column(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "acc"], *([f"Claude v{i}", f"0.{i}1"] for i in range(1, 7))]
    ruled_table(sheet, 72, 90, rows, [200])
    table = read_one(tmp_path, sheet)
    assert table.columns() == ("Model", "acc")
    assert table.row_labels() == tuple(f"Claude v{i}" for i in range(1, 7))


def test_tables_side_by_side_are_two_tables(tmp_path: Path) -> None:
    sheet = Sheet()
    for x, label in ((72, "Table 1: Left"), (340, "Table 2: Right")):
        sheet.text(x, 80, label)
        ruled_table(sheet, x, 90, [["A", "x", "y"], ["one", "1", "2"], ["two", "3", "4"], ["six", "5", "6"]],
                    [x + 70, x + 130])  # fmt: skip
    tables = read(tmp_path, sheet)
    assert [t.caption for t in tables] == ["Table 1: Left", "Table 2: Right"]
    assert texts(tables[0]) == texts(tables[1]) == [["one", "1", "2"], ["two", "3", "4"], ["six", "5", "6"]]


def test_a_table_that_goes_on_overleaf_keeps_its_name(tmp_path: Path) -> None:
    first, second, third = Sheet(), Sheet(), Sheet()
    first.text(72, 80, "Table 7: A long one")
    ruled_table(first, 72, 90, [["Item", "n", "p"], ["a", "1", "0.1"], ["b", "2", "0.2"]], [150, 220])
    ruled_table(second, 72, 60, [["Item", "n", "p"], ["c", "3", "0.3"], ["d", "4", "0.4"]], [150, 220])
    ruled_table(third, 72, 60, [["Other", "n", "p"], ["e", "5", "0.5"], ["f", "6", "0.6"]], [150, 220])
    tables = read(tmp_path, first, second, third)
    assert [t.label for t in tables] == ["Table 7", "Table 7", None]
    assert "goes on from page 1" in tables[1].notes


def test_a_label_in_bold_without_a_colon_and_a_roman_one_are_captions(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(sheet.text(72, 80, "Table 1", bold=True) + 6, 80, "Agreement by country")
    bottom = ruled_table(sheet, 72, 90, ROWS, [150, 250])
    sheet.text(72, bottom + 60, "TABLE II. Another one")
    ruled_table(sheet, 72, bottom + 70, ROWS, [160, 260])
    assert [t.label for t in read(tmp_path, sheet)] == ["Table 1", "TABLE II"]
