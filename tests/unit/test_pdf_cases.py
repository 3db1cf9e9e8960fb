"""Reported failures of PDF table extraction, each drawn as the smallest page that shows it.

The ids are those of the collection of public reports that the reader was built against (P-01 to P-21).
"""

from __future__ import annotations

from decimal import Decimal as D
from pathlib import Path

import pytest
from countback.fetch.errors import UserError
from countback.fetch.pdf import CellValue, PdfCell, PdfTable, Unread, read_tables
from countback.fetch.pdf.agree import arxiv_version, compare_readings, require_version, sign_doubts
from handmade_pdf import Sheet, ruled_table, width, write_pdf

ROWS = [["Model", "acc", "n"], ["alpha", "0.61", "10"], ["beta", "0.71", "20"], ["gamma", "0.81", "30"]]


def read_one(path: Path, *sheets: Sheet) -> PdfTable:
    tables = read_tables(write_pdf(path / "page.pdf", sheets))
    assert len(tables) == 1, [t.caption for t in tables]
    return tables[0]


def texts(table: PdfTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def number(cell: PdfCell) -> D:
    assert isinstance(cell.value, CellValue), cell
    assert cell.value.estimate is not None
    return cell.value.estimate


def reason(cell: PdfCell) -> str:
    assert isinstance(cell.value, Unread), cell
    return cell.value.reason


# P-01 two text columns on one baseline


def test_text_of_the_left_column_never_joins_a_caption_of_the_right_one(tmp_path: Path) -> None:
    sheet = Sheet()
    for i in range(8):
        sheet.text(60, 70 + 12 * i, "running text of the left column that goes on and on")
        sheet.text(320, 70 + 12 * i, "running text of the right column that also goes on")
    sheet.text(60, 200, "in this left column we write that kappa was")
    sheet.text(320, 200, "Table 2: Of the right column")
    ruled_table(sheet, 320, 208, ROWS, [420, 470])
    for i in range(6):
        sheet.text(60, 212 + 12 * i, "the left column goes on beside the table 0.99")
    table = read_one(tmp_path, sheet)
    assert table.caption == "Table 2: Of the right column"
    assert texts(table) == [["alpha", "0.61", "10"], ["beta", "0.71", "20"], ["gamma", "0.81", "30"]]


def test_a_narrow_gutter_still_parts_the_columns(tmp_path: Path) -> None:
    sheet = Sheet()
    line = "words of the left column that run to its very end"
    gap = 9  # points: less than an em, little more than a stretched word space
    for i in range(10):
        sheet.text(60, 70 + 12 * i, line)
        sheet.text(60 + width(line) + gap, 70 + 12 * i, "words of the right column that start at once")
    sheet.text(60, 196, line)
    sheet.text(60 + width(line) + gap, 196, "Table 2: Of the right column")
    x = 60 + width(line) + gap
    ruled_table(sheet, x, 204, ROWS, [x + 70, x + 130])
    table = read_one(tmp_path, sheet)
    assert table.caption == "Table 2: Of the right column"
    assert texts(table) == ROWS[1:]


def test_a_full_width_table_of_a_two_column_page_is_read_across_the_gutter(tmp_path: Path) -> None:
    sheet = Sheet()
    for i in range(12):
        sheet.text(60, 300 + 12 * i, "running text of the left column that goes on and on")
        sheet.text(320, 300 + 12 * i, "running text of the right column that also goes on")
    caption = "Table 1: A caption as wide as both columns, whose words run on right over the white strip between them"
    sheet.text(60, 80, caption)
    ruled_table(sheet, 60, 90, ROWS, [290, 550])
    table = read_one(tmp_path, sheet)
    assert table.caption == caption
    assert texts(table)[0] == ["alpha", "0.61", "10"]


# P-03 horizontal rules only


def test_a_table_with_three_rules_keeps_its_right_hand_columns_and_leaves_the_prose_out(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 70, "Prose above the table with a number 0.99 in it, as wide as the page is.")
    bottom = ruled_table(sheet, 72, 90, [["model", "acc", "kappa"], ["a", "0.61", "0.42"], ["b", "0.71", "0.52"]],
                         [150, 220])  # fmt: skip
    sheet.text(72, bottom + 30, "Prose below the table with a number 0.98 in it, as wide as the page is.")
    table = read_one(tmp_path, sheet)
    assert table.header == (("model",), ("acc",), ("kappa",))
    assert texts(table) == [["a", "0.61", "0.42"], ["b", "0.71", "0.52"]]
    assert [number(c) for row in table.rows for c in row[1:]] == [D("0.61"), D("0.42"), D("0.71"), D("0.52")]


def test_a_row_with_more_pieces_than_columns_is_unread(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["model", "acc", "kappa"], *([f"m{i}", f"0.{i}1", f"0.{i}2"] for i in range(1, 7))]
    ruled_table(sheet, 72, 90, rows, [150, 220])
    sheet.text(108, 90 + 14 * 4, "0.99")  # a fourth number in row 3, next to 0.31 in its column
    table = read_one(tmp_path, sheet)
    assert "more than one number" in reason(table.rows[2][1])
    assert number(table.rows[2][2]) == D("0.32")


# P-04 a number glued to the next column


def test_a_number_that_touches_the_next_column_is_parted_where_digits_end(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["country", "n", "used"], *([f"country {i}", "", ""] for i in range(1, 8))]
    ruled_table(sheet, 72, 90, rows, [150, 230])
    for i in range(1, 8):
        y = 93 + 14 * (i + 1) - 3
        end = sheet.text(150, y, "1,234" if i == 4 else f"{i}0")
        sheet.text(end if i == 4 else 180, y, "Yes")
    table = read_one(tmp_path, sheet)
    assert texts(table)[3] == ["country 4", "1,234", "Yes"]
    assert number(table.rows[3][1]) == D(1234)


def test_two_numbers_run_together_are_unread_and_never_one_number(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["country", "n", "rate"], *([f"country {i}", "", ""] for i in range(1, 8))]
    ruled_table(sheet, 72, 90, rows, [150, 230])
    for i in range(1, 8):
        y = 93 + 14 * (i + 1) - 3
        end = sheet.text(150, y, "4,052,954" if i == 4 else f"{i}0")
        sheet.text(end if i == 4 else 186, y, "0.71")
    table = read_one(tmp_path, sheet)
    glued = table.rows[3][1]
    assert glued.raw == "4,052,9540.71"
    assert "runs across the boundary of columns 2 and 3" in reason(glued)
    assert "runs across" in reason(table.rows[3][2])
    assert number(table.rows[2][2]) == D("0.71")


WIDE = "0.1 [0.1, 0.9]"
CROWDED = [
    # a cell that is wider than the others of its column, next to a column of single numbers
    ([*(["m", "0.00", "0.00"] for _ in range(3)), ["m", "0.00", WIDE]], [2, 7]),
    ([["m", "0.00"], ["m", "0.00"], ["m", WIDE], ["m", "0.00"]], [2]),
    (
        [
            ["m", "0.6 ± 0.03", "0.29"],
            ["m", "−50.9", "0.8 [0.1, 0.9]"],
            ["m", "5/5", "52,092"],
            ["m", "0.3 ± 0.09", "29,747"],
            ["m", "−48.4", "32.2%"],
            ["m", "13,964", "11,356"],
        ],
        [8.4, 3.2],
    ),
    ([*(["m", "0.00", "0.00"] for _ in range(5)), ["m", "", "0.00"], ["m", "0.00", ""], ["m", "0.00", WIDE]], [9, 9]),
]


@pytest.mark.parametrize(("body", "gaps"), CROWDED)
def test_a_number_and_its_interval_are_never_shared_out_to_two_columns(
    tmp_path: Path, body: list[list[str]], gaps: list[float]
) -> None:
    sheet = Sheet()
    stops = [72 + max(width(row[0]) for row in body)]
    for j, gap in enumerate(gaps, start=1):
        stops.append(stops[-1] + gap + max(width(row[j]) for row in body))
    ruled_table(sheet, 72, 90, [["M", *("" for _ in gaps)], *body], stops[1:], wide=220)
    table = read_one(tmp_path, sheet)
    assert len(table.rows) == len(body)
    for row, drawn in zip(table.rows, body, strict=True):
        assert all(cell.text in drawn for cell in row if isinstance(cell.value, CellValue)), texts(table)


def test_two_numbers_in_one_cell_make_no_column_of_their_own(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "acc", "n"], *([f"m{i}", f"0.{i}1", "12 34" if i == 4 else f"{i}0"] for i in range(1, 9))]
    ruled_table(sheet, 72, 90, rows, [150, 220])
    table = read_one(tmp_path, sheet)
    assert table.columns() == ("Model", "acc", "n")
    assert "more than one number" in reason(table.rows[3][2])


# P-05 spaces vanish


def test_a_header_is_found_with_or_without_its_spaces(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "Inter annotator agreement"], ["alpha", "0.61"], ["beta", "0.71"]]
    ruled_table(sheet, 72, 90, rows, [280], size=6)  # small print: a space is 1.7 points wide
    table = read_one(tmp_path, sheet)
    assert table.header[1] == ("Inter annotator agreement",)
    for name in ("Inter annotator agreement", "Interannotatoragreement", "inter annotator  AGREEMENT"):
        assert number(table.find("beta", name)) == D("0.71")
    with pytest.raises(UserError, match="0 column"):
        table.find("beta", "agreement")


# P-07 headers over several columns, and blank cells


def _spanning(sheet: Sheet, *, short_rules: bool) -> None:
    sheet.rule(72, 90, 400)
    sheet.centre(225, 101, "Humans")
    if short_rules:
        sheet.rule(170, 105, 280, thick=0.4)
    for x, name in zip((180, 225, 270, 380), ("ZA", "NG", "KE", "Judge"), strict=True):
        sheet.centre(x, 117, name)
    sheet.text(72, 117, "Model")
    sheet.rule(72, 121, 400, thick=0.5)
    for i, row in enumerate((("alpha", "0.1", "0.2", "0.3", "0.4"), ("beta", "0.5", "", "0.7", "0.8"))):
        sheet.text(72, 134 + 14 * i, row[0])
        for x, cell in zip((180, 225, 270, 380), row[1:], strict=True):
            if cell:
                sheet.centre(x, 134 + 14 * i, cell)
    sheet.rule(72, 156, 400)


def test_a_header_over_three_columns_is_in_the_path_of_each(tmp_path: Path) -> None:
    sheet = Sheet()
    _spanning(sheet, short_rules=True)
    table = read_one(tmp_path, sheet)
    assert table.columns() == ("Model", "Humans / ZA", "Humans / NG", "Humans / KE", "Judge")
    assert number(table.find("alpha", "Humans / NG")) == D("0.2")


def test_a_blank_data_cell_is_blank_and_not_zero(tmp_path: Path) -> None:
    sheet = Sheet()
    _spanning(sheet, short_rules=True)
    cell = read_one(tmp_path, sheet).find("beta", "Humans / NG")
    assert (cell.raw, cell.box) == ("", None)
    assert isinstance(cell.value, Unread)
    assert cell.value.kind == "blank"


def test_headers_centred_over_all_the_columns_span_them_without_a_rule_and_a_note_says_so(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.rule(72, 90, 400)
    sheet.centre(225, 101, "Humans")
    sheet.centre(360, 101, "Judges")
    xs = (180, 225, 270, 340, 380)
    for x, name in zip(xs, ("ZA", "NG", "KE", "A", "B"), strict=True):
        sheet.centre(x, 114, name)
    sheet.text(72, 114, "Model")
    sheet.rule(72, 118, 400, thick=0.5)
    for i in range(3):
        sheet.text(72, 131 + 14 * i, f"model {i}")
        for j, x in enumerate(xs):
            sheet.centre(x, 131 + 14 * i, f"0.{i}{j}")
    sheet.rule(72, 168, 400)
    table = read_one(tmp_path, sheet)
    assert table.columns() == ("Model", "Humans / ZA", "Humans / NG", "Humans / KE", "Judges / A", "Judges / B")
    assert any("inferred" in note for note in table.notes)


def test_a_blank_stub_is_filled_from_above_only_when_that_is_declared(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Country", "n", "rate"], ["Kenya", "10", "0.1"], ["", "20", "0.2"], ["Ghana", "30", "0.3"]]
    ruled_table(sheet, 72, 90, rows, [150, 220])
    table = read_one(tmp_path, sheet)
    assert table.row_labels() == ("Kenya", "", "Ghana")
    assert table.row_labels(fill_down=True) == ("Kenya", "Kenya", "Ghana")


def test_a_title_line_inside_the_table_names_the_rows_below_it(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "acc", "n"], ["alpha", "0.61", "10"], ["", "", ""], ["alpha", "0.71", "20"]]
    bottom = ruled_table(sheet, 72, 90, rows, [150, 220])
    sheet.centre(146, bottom - 3 - 14 - 3, "Second group of models", 10)
    table = read_one(tmp_path, sheet)
    assert texts(table) == [["alpha", "0.61", "10"], ["alpha", "0.71", "20"]]
    assert table.sections == ("", "Second group of models")


# Bounds of a quantity


def test_a_kappa_of_twenty_is_unread_where_the_header_says_kappa(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [["Model", "kappa", "score", "kappa (%)", "p"], ["alpha", "20.42", "20.42", "61.2", "1.2"],
            ["beta", "0.42", "0.42", "62.2", "0.2"]]  # fmt: skip
    ruled_table(sheet, 72, 90, rows, [150, 210, 290, 330])
    first = read_one(tmp_path, sheet).rows[0]
    assert "outside -1 to 1" in reason(first[1])
    assert number(first[2]) == D("20.42")
    assert number(first[3]) == D("61.2")
    assert "outside 0 to 1" in reason(first[4])


# P-08 the minus sign


def test_the_minus_sign_of_typeset_mathematics_is_kept(tmp_path: Path) -> None:
    sheet = Sheet()
    signs = ["−0.42", "–0.42", "‐0.42", "0.42"]
    ruled_table(sheet, 72, 90, [["row", "gap"], *([f"r{i}", s] for i, s in enumerate(signs))], [160])
    table = read_one(tmp_path, sheet)
    assert [number(row[1]) for row in table.rows] == [D("-0.42"), D("-0.42"), D("-0.42"), D("0.42")]
    assert table.rows[0][1].raw == "−0.42"


# P-10 plus-minus


def test_a_plus_minus_that_was_extracted_as_six_is_unread(tmp_path: Path) -> None:
    sheet = Sheet()
    cells = ["0.61 ± 0.02", "0.61 6 0.02", "0.6160.02"]
    ruled_table(sheet, 72, 90, [["row", "mean"], *([f"r{i}", s] for i, s in enumerate(cells))], [200])
    first, second, third = (row[1] for row in read_one(tmp_path, sheet).rows)
    assert isinstance(first.value, CellValue)
    assert first.value.numbers() == {"estimate": D("0.61"), "error": D("0.02")}
    assert "more than one number" in reason(second)
    assert "more than one decimal point" in reason(third)


# P-12 raised and small characters


def _three_rows(sheet: Sheet) -> list[float]:
    ruled_table(sheet, 72, 90, [["row", "value"], ["a", "0.11"], ["b", ""], ["c", "0.33"]], [160])
    return [93 + 14 * (i + 1) - 3 for i in range(1, 4)]


@pytest.mark.parametrize("by", ["baseline", "rise"])
def test_a_raised_footnote_digit_does_not_join_the_number(tmp_path: Path, by: str) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    end = sheet.text(140.54, y, "0.81")
    if by == "baseline":
        sheet.text(end, y - 3.6, "2", 6)
    else:
        sheet.text(end, y, "2", 6, rise=3.6)
    cell = read_one(tmp_path, sheet).rows[1][1]
    assert (cell.raw, cell.text) == ("0.812", "0.81²")
    assert number(cell) == D("0.81")
    assert isinstance(cell.value, CellValue)
    assert cell.value.marks == ("²",)


def test_raised_stars_stay_in_their_row_and_apart_from_the_number(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    end = sheet.text(140.54, y, "0.61")
    sheet.text(end, y - 3.6, "**", 7)
    table = read_one(tmp_path, sheet)
    assert len(table.rows) == 3
    cell = table.rows[1][1]
    assert number(cell) == D("0.61")
    assert isinstance(cell.value, CellValue)
    assert cell.value.marks == ("**",)


def test_a_raised_exponent_is_read_after_a_power_of_ten(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    end = sheet.text(120, y, "1.2 × 10")
    sheet.text(end, y - 3.6, "−3", 7)
    cell = read_one(tmp_path, sheet).rows[1][1]
    assert cell.text == "1.2 × 10⁻³"
    assert number(cell) == D("0.0012")


def test_a_number_whose_last_digit_is_in_smaller_print_on_the_line_is_unread(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    end = sheet.text(140.54, y, "0.81")
    sheet.text(end, y, "2", 7)
    cell = read_one(tmp_path, sheet).rows[1][1]
    assert cell.raw == "0.812"
    assert "digits of different sizes" in reason(cell)


def test_a_lowered_digit_is_unread_and_a_lowered_error_is_an_error(tmp_path: Path) -> None:
    sheet = Sheet()
    ys = _three_rows(sheet)
    end = sheet.text(140.54, ys[1], "0.81")
    sheet.text(end, ys[1] + 1.5, "2", 7)
    table = read_one(tmp_path, sheet)
    assert "below the line" in reason(table.rows[1][1])
    other = Sheet()
    y = _three_rows(other)[1]
    other.text(other.text(140.54, y, "81.2"), y + 1.5, "±0.3", 7)
    value = read_one(tmp_path, other).rows[1][1].value
    assert isinstance(value, CellValue)
    assert value.numbers() == {"estimate": D("81.2"), "error": D("0.3")}


def test_an_interval_in_small_print_on_the_line_belongs_to_its_number(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    sheet.text(sheet.text(120, y, "0.81 "), y, "[0.71, 0.91]", 6)
    value = read_one(tmp_path, sheet).rows[1][1].value
    assert isinstance(value, CellValue)
    assert value.numbers() == {"estimate": D("0.81"), "low": D("0.71"), "high": D("0.91")}


# Bold drawn twice


def test_bold_made_by_drawing_twice_is_read_once(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    for shift in (0.0, 0.3):
        sheet.text(140.54 + shift, y, "0.61")
    table = read_one(tmp_path, sheet)
    assert number(table.rows[1][1]) == D("0.61")
    assert "left out: character drawn twice (4)" in table.notes


def test_a_digit_drawn_over_another_makes_the_number_unread(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    end = sheet.text(140.54, y, "0.61")
    sheet.text(end - width("1") + 1.5, y, "7")  # half over the 1: neither 0.61 nor 0.67 nor 0.617 is certain
    assert "drawn over each other" in reason(read_one(tmp_path, sheet).rows[1][1])


def test_two_numbers_a_hair_apart_are_not_one_number(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    sheet.text(sheet.text(136, y, "12") + 1.0, y, "34")
    cell = read_one(tmp_path, sheet).rows[1][1]
    assert cell.text == "12 34"
    assert "more than one number" in reason(cell)


# P-14 turned text


@pytest.mark.parametrize("angle", [90, 270])
def test_a_landscape_table_on_a_portrait_page_reads_the_right_way_round(tmp_path: Path, angle: int) -> None:
    sheet = Sheet()
    up = angle == 90

    def place(u: float, v: float) -> tuple[float, float]:
        """From the axes of the turned table to the page."""
        return (100 + v, 700 - u) if up else (500 - v, 100 + u)

    def rule(v: float) -> None:
        (x0, y0), (x1, y1) = place(0, v), place(300, v)
        sheet.rule(x0, y0, x1, y1)

    for v in (0, 18, 64):
        rule(v)
    for i, row in enumerate(ROWS):
        for u, cell in zip((0, 120, 240), row, strict=True):
            sheet.text(*place(u, 13 + 15 * i), cell, angle=angle)
    sheet.text(*place(0, -8), "Table 4: On its side", angle=angle)
    table = read_one(tmp_path, sheet)
    assert table.caption == "Table 4: On its side"
    assert table.columns() == ("Model", "acc", "n")
    assert texts(table) == [["alpha", "0.61", "10"], ["beta", "0.71", "20"], ["gamma", "0.81", "30"]]
    x, y = place(120, 13 + 15)  # where "0.61" starts on the page
    box = table.rows[0][1].box
    assert box is not None
    assert box[0] <= x <= box[2]
    assert abs((box[3] if up else box[1]) - y) < 0.01


def test_a_page_with_a_rotate_entry_reads_as_it_is_shown(tmp_path: Path) -> None:
    sheet = Sheet(rotate=90)

    def place(u: float, v: float) -> tuple[float, float]:
        return (100 + v, 700 - u)  # shown turned clockwise, the upward text is level

    for v in (0, 18, 64):
        sheet.rule(*place(0, v), *place(300, v))
    for i, row in enumerate(ROWS):
        for u, cell in zip((0, 120, 240), row, strict=True):
            sheet.text(*place(u, 13 + 15 * i), cell, angle=90)
    assert texts(read_one(tmp_path, sheet))[2] == ["gamma", "0.81", "30"]


def test_vertical_headers_are_read_in_their_own_direction(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.rule(72, 90, 260)
    sheet.text(72, 147, "Model")
    for x, name in zip((160, 200, 240), ("Nigeria", "South Africa", "Kenya"), strict=True):
        sheet.text(x, 147, name, angle=90)
    sheet.rule(72, 151, 260, thick=0.5)
    for i in range(3):
        sheet.text(72, 164 + 14 * i, f"model {i}")
        for j, x in enumerate((160, 200, 240)):
            sheet.right(x + 4, 164 + 14 * i, f"0.{i}{j}")
    sheet.rule(72, 200, 260)
    table = read_one(tmp_path, sheet)
    assert table.columns() == ("Model", "Nigeria", "South Africa", "Kenya")
    assert number(table.find("model 2", "South Africa")) == D("0.21")


# P-16 hidden objects


def test_hidden_text_and_hidden_rules_make_no_rows_and_are_counted(tmp_path: Path) -> None:
    sheet = Sheet(crop=(0, 0, 612, 750))  # the upper 42 points are cut off
    y = _three_rows(sheet)[1]
    sheet.right(160, y, "0.22")
    sheet.text(120, y, "-", colour="1 g")  # a white dash
    sheet.text(100, y - 6, "0.99", colour="1 1 1 rg")
    sheet.rule(72, 118.5, 160, thick=0)  # no width: would cut the first row off as a second header
    sheet.rule(72, 132, 160, colour="1 G")
    sheet.text(72, 20, "cropped away")
    sheet.rule(72, 30, 160)
    table = read_one(tmp_path, sheet)
    assert texts(table) == [["a", "0.11"], ["b", "0.22"], ["c", "0.33"]]
    assert set(table.notes) == {
        "no caption stands next to this table",
        "left out: character in the colour of the page (5)",  # "-" and "0.99"
        "left out: character outside the crop box (11)",  # "cropped away"
        "left out: rule of no width (1)",
        "left out: rule in the colour of the page (1)",
        "left out: rule outside the crop box (1)",
    }


def test_white_text_on_a_dark_header_is_visible(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.rule(72, 90, 160)
    sheet.shade(72, 91, 160, 107, "0.2 g")
    sheet.text(72, 103, "Model", colour="1 g")
    sheet.text(140, 103, "acc", colour="1 g")
    for i in range(3):
        sheet.text(72, 119 + 14 * i, f"model {i}")
        sheet.right(160, 119 + 14 * i, f"0.{i}1")
    sheet.rule(72, 154, 160)
    assert read_one(tmp_path, sheet).columns() == ("Model", "acc")


# P-17, citations


def test_an_interval_column_is_read_as_intervals_and_citations_are_not(tmp_path: Path) -> None:
    sheet = Sheet()
    rows = [
        ["Model", "95% CI", "source"],
        ["alpha", "[42, 80]", "[3, 14]"],
        ["beta", "[18, 65]", "[21]"],
        ["gamma", "0.1–0.3", "[21, 22]"],
    ]
    ruled_table(sheet, 72, 90, rows, [180, 260])
    table = read_one(tmp_path, sheet)
    values = [row[1].value for row in table.rows]
    assert [v.numbers() for v in values if isinstance(v, CellValue)] == [
        {"low": D(42), "high": D(80)},
        {"low": D(18), "high": D(65)},
        {"low": D("0.1"), "high": D("0.3")},
    ]
    assert all(isinstance(row[2].value, Unread) for row in table.rows)


# P-18


def test_a_digit_like_letter_in_a_cell_is_flagged_with_its_repair(tmp_path: Path) -> None:
    sheet = Sheet()
    ruled_table(sheet, 72, 90, [["effect", "test"], ["a", "F(l, 38) = 4.10"], ["b", "F(1, 38) = 4.10"]], [240])
    first, second = (row[1] for row in read_one(tmp_path, sheet).rows)
    assert isinstance(first.value, Unread)
    assert first.value.repaired == "F(1, 38) = 4.10"
    assert number(second) == D("4.10")


# P-19 versions


def _version(path: Path, name: str, stamp: str, value: str) -> Path:
    sheet = Sheet()
    sheet.text(30, 500, f"arXiv:{stamp} [cs.CL] 3 Jan 2026", 16, angle=90)
    sheet.text(72, 80, "Table 1: Agreement")
    ruled_table(sheet, 72, 90, [["Model", "acc", "n"], ["alpha", value, "10"], ["beta", "0.71", "20"]], [150, 220])
    return write_pdf(path / name, [sheet])


def test_a_number_is_bound_to_the_version_that_is_stamped_in_the_file(tmp_path: Path) -> None:
    one = _version(tmp_path, "one.pdf", "2601.00001v1", "0.61")
    assert arxiv_version(one) == "2601.00001v1"
    require_version(one, "2601.00001v1")
    with pytest.raises(UserError, match=r"is stamped 2601\.00001v1; 2601\.00001v2 was expected"):
        require_version(one, "2601.00001v2")
    bare = write_pdf(tmp_path / "bare.pdf", [_only_text()])
    assert arxiv_version(bare) is None
    with pytest.raises(UserError, match="carries no arXiv stamp"):
        require_version(bare, "2601.00001v1")


def _only_text() -> Sheet:
    sheet = Sheet()
    sheet.text(72, 80, "no stamp on this page")
    return sheet


def test_two_versions_list_the_numbers_that_changed(tmp_path: Path) -> None:
    (one,) = read_tables(_version(tmp_path, "one.pdf", "2601.00001v1", "0.61"))
    (two,) = read_tables(_version(tmp_path, "two.pdf", "2601.00001v2", "0.67"))
    changed = compare_readings(one, two)
    assert [(d.row, d.column, d.printed, d.other) for d in changed.differs] == [("alpha", "acc", D("0.61"), D("0.67"))]
    assert changed.confirmed() == 3
    with pytest.raises(UserError, match="come from one file"):
        compare_readings(one, one)


# P-21 a column that lost its signs


def test_a_column_of_differences_without_a_sign_is_in_doubt(tmp_path: Path) -> None:
    sheet = Sheet()
    head = ["Model", "Difference", "Change", "Score"]
    body = [["a", "0.4", "−0.4", "0.7"], ["b", "0.5", "+0.5", "0.8"], ["c", "0.6", "−0.6", "0.9"]]
    ruled_table(sheet, 72, 90, [head, *body], [180, 250, 320])
    table = read_one(tmp_path, sheet)
    assert sign_doubts(table) == ("Difference: 3 differences without one sign",)
    assert len(sign_doubts(table, text="scores decrease")) == 2  # Difference and Score; Change has its signs


def test_an_estimate_outside_its_interval_is_in_doubt(tmp_path: Path) -> None:
    sheet = Sheet()
    ruled_table(sheet, 72, 90, [["Model", "gap"], ["a", "0.42 [−0.55, −0.30]"], ["b", "−0.1 [−0.2, 0.0]"]], [240])
    table = read_one(tmp_path, sheet)
    assert sign_doubts(table) == ("gap: an estimate lies outside its interval",)


# Captions and regions


def test_captions_above_and_below_and_parts_of_one_float(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 80, "Table 1: Above its table")
    bottom = ruled_table(sheet, 72, 90, ROWS, [150, 220])
    y = bottom + 70
    bottom = ruled_table(sheet, 72, y, ROWS, [160, 240])
    bottom = ruled_table(sheet, 72, bottom + 20, ROWS, [170, 260])
    sheet.text(72, bottom + 20, "Table 2: Below its two parts")
    tables = read_tables(write_pdf(tmp_path / "page.pdf", [sheet]))
    assert [t.label for t in tables] == ["Table 1", "Table 2", "Table 2"]
    assert any("shares the caption" in note for note in tables[1].notes)
    assert [len(t.rows) for t in tables] == [3, 3, 3]


def test_a_sentence_that_starts_with_table_five_is_no_caption(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 68, "The rates are lower than those of the suite, which stand in")
    sheet.text(72, 80, "Table 5. Neutral rates are lower for every model")  # nearer than the caption below
    bottom = ruled_table(sheet, 72, 86, ROWS, [150, 220])
    sheet.text(72, bottom + 28, "Table 6: The caption proper")
    assert read_one(tmp_path, sheet).label == "Table 6"


def test_a_paragraph_that_starts_with_table_three_shows_is_no_caption(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 80, "Table 3 shows the rates")
    ruled_table(sheet, 72, 86, ROWS, [150, 220])
    assert read_one(tmp_path, sheet).label is None


@pytest.mark.parametrize(
    ("x", "text"), [(72, "Table 2: Of the second table"), (40, "4.2 A heading at the left margin")]
)
def test_one_line_between_two_tables_of_equal_width_parts_them(tmp_path: Path, x: float, text: str) -> None:
    sheet = Sheet()
    bottom = ruled_table(sheet, 72, 90, ROWS, [150, 220])
    sheet.text(x, bottom + 16, text)
    ruled_table(sheet, 72, bottom + 24, ROWS, [150, 220])
    tables = read_tables(write_pdf(tmp_path / "page.pdf", [sheet]))
    assert [texts(t) for t in tables] == [ROWS[1:]] * 2


def test_text_between_two_tables_of_equal_width_parts_them(tmp_path: Path) -> None:
    sheet = Sheet()
    bottom = ruled_table(sheet, 72, 90, ROWS, [250, 400])
    for i in range(4):
        sheet.text(
            72, bottom + 20 + 12 * i, "prose between the tables, as wide as they are, with 0.99 and 0.98 in it...."
        )
    end = 72 + width("prose between the tables, as wide as they are, with 0.99 and 0.98 in it....")
    assert end > 0.85 * 328 + 72  # the prose fills the measure, as prose does
    ruled_table(sheet, 72, bottom + 80, ROWS, [250, 400])
    tables = read_tables(write_pdf(tmp_path / "page.pdf", [sheet]))
    assert [texts(t) for t in tables] == [ROWS[1:]] * 2


def test_a_grid_under_a_figure_caption_is_not_a_table(tmp_path: Path) -> None:
    sheet = Sheet()
    bottom = ruled_table(sheet, 72, 90, ROWS, [150, 220])
    sheet.text(72, bottom + 18, "Figure 3: A heat map drawn as a grid")
    assert read_tables(write_pdf(tmp_path / "page.pdf", [sheet])) == ()


def test_a_number_that_sticks_out_beyond_the_rules_is_taken_whole(tmp_path: Path) -> None:
    sheet = Sheet()
    y = _three_rows(sheet)[1]
    sheet.text(148, y, "0.6123")
    assert number(read_one(tmp_path, sheet).rows[1][1]) == D("0.6123")


def test_every_cell_carries_page_and_box(tmp_path: Path) -> None:
    first, second = _only_text(), Sheet()
    ruled_table(second, 72, 90, ROWS, [150, 220])
    table = read_one(tmp_path, first, second)
    cell = table.find("beta", "acc")
    assert (cell.page, table.page) == (2, 2)
    base, size = 93 + 14 * 3 - 3, 10  # the baseline that ruled_table drew the second row on
    expected = (150 - width("0.71"), base - 0.793 * size, 150.0, base + 0.207 * size)
    assert cell.box == pytest.approx(expected, abs=0.01)
