"""What must hold for every string in a cell and for every table on a page, whatever is in it."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from decimal import Decimal as D
from pathlib import Path

from countback.fetch.errors import UserError
from countback.fetch.pdf import CellValue, PdfTable, Unread, parse_cell, read_tables
from countback.fetch.pdf.agree import rounds_to
from countback.fetch.pdf.grammar import DASHES
from handmade_pdf import Sheet, width, write_pdf
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

ALPHABET = "0123456789.,%[]()±+-−–—/ *†²³⁻×<>=≤pNkFlOoe\u2009\u00a0\ufffd"


def nonzero_digits(text: str) -> Counter[str]:
    return Counter(char for char in text if char in "123456789")


def assert_no_digit_is_invented(raw: str) -> None:
    """A read cell prints all the digits of its raw text and no others (powers of ten aside, which move the point)."""
    value = parse_cell(raw)
    assert isinstance(value, CellValue | Unread)
    if isinstance(value, Unread):
        assert value.raw == raw
        assert value.reason
        return
    assert value.numbers()
    if any(sign in raw for sign in "eE×x") or "10⁻" in raw or "10⁺" in raw:
        return
    numbers = "".join(f"{number:f}" for number in value.numbers().values())
    apart = "".join(value.marks) + "".join(f"{number:f}" for number in value.df)
    assert nonzero_digits(numbers) + nonzero_digits(apart) == nonzero_digits(raw)


@given(st.text(ALPHABET, max_size=24))
@settings(max_examples=1500)
def test_strings_near_the_grammar_lose_and_gain_no_digit(raw: str) -> None:
    assert_no_digit_is_invented(raw)


@given(st.text(max_size=60))
@settings(max_examples=500)
def test_any_string_is_read_or_refused_with_a_reason(raw: str) -> None:
    assert_no_digit_is_invented(raw)


def test_ten_thousand_damaged_cells_raise_nothing() -> None:
    rng = random.Random(4)
    seeds = [
        "0.61 [0.55–0.67]",
        "41/50 (82%) [60, 98]",
        "1.2 × 10⁻³",
        "N = 1 234",
        "p < .001",
        "−0.42 ± 0.02*",
        "1,234",
    ]
    read = 0
    for _ in range(10_000):
        chars = list(rng.choice(seeds))
        for _ in range(rng.randint(0, 3)):
            place = rng.randrange(len(chars) + 1)
            chars[place : place + rng.randint(0, 1)] = rng.choice(ALPHABET)
        assert_no_digit_is_invented("".join(chars))
        read += isinstance(parse_cell("".join(chars)), CellValue)
    assert 1_000 < read < 9_000  # the fuzz reaches both sides


numbers = st.decimals(-9999, 9999, places=3, allow_nan=False, allow_infinity=False)


def printed(number: D, minus: str) -> str:
    text = f"{abs(number):f}"
    return f"{minus}{text}" if number < 0 else text


@given(numbers, numbers, numbers, st.sampled_from(DASHES), st.sampled_from(["", "%"]), st.sampled_from(["[]", "()"]))
def test_a_printed_interval_reads_back(a: D, b: D, c: D, minus: str, unit: str, around: str) -> None:
    low, estimate, high = sorted((a, b, c))
    raw = f"{printed(estimate, minus)}{unit} {around[0]}{printed(low, minus)}, {printed(high, minus)}{around[1]}"
    value = parse_cell(raw)
    assert isinstance(value, CellValue)
    assert value.numbers() == {"estimate": estimate, "low": low, "high": high}
    assert value.unit == unit
    assert value.flags == ()


@given(numbers, numbers, st.sampled_from(DASHES))
def test_a_printed_error_reads_back(estimate: D, error: D, minus: str) -> None:
    value = parse_cell(f"{printed(estimate, minus)} ± {abs(error):f}")
    assert isinstance(value, CellValue)
    assert value.numbers() == {"estimate": estimate, "error": abs(error)}


@given(st.decimals(-1000, 1000, places=6, allow_nan=False), st.integers(0, 4))
def test_a_number_confirms_its_own_rounding_and_not_the_next(exact: D, places: int) -> None:
    step = D(1).scaleb(-places)
    rounded = exact.quantize(step)
    assert rounds_to(exact, rounded)
    assert rounds_to(float(exact), rounded)
    assert not rounds_to(exact, rounded + 2 * step)
    assert not rounds_to(exact, rounded - 2 * step)


QUICK = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)  # a drawn page takes long to explain
CELLS = st.one_of(
    st.builds("{:.2f}".format, st.floats(0, 1)),
    st.builds("−{:.1f}".format, st.floats(0.1, 99)),
    st.builds("{:.1f}%".format, st.floats(0, 100)),
    st.builds("{:,}".format, st.integers(0, 99_999)),
    st.builds("{0}/{0}".format, st.integers(1, 50)),
    st.builds("0.{} [0.1, 0.9]".format, st.integers(1, 8)),
    st.builds("0.{} ± 0.0{}".format, st.integers(1, 9), st.integers(1, 9)),
    st.just(""),
)


@st.composite
def drawn_tables(draw: st.DrawFn, least_gap: float) -> tuple[list[list[str]], list[float]]:
    """Cells of a table, stub first, and the white before each column in points at 10 point print."""
    columns, rows = draw(st.integers(1, 5)), draw(st.integers(4, 9))
    body = [[f"model {chr(97 + i)}", *draw(st.lists(CELLS, min_size=columns, max_size=columns))] for i in range(rows)]
    gaps = draw(st.lists(st.floats(least_gap, 30), min_size=columns, max_size=columns))
    return body, gaps


def read_drawn(body: list[list[str]], gaps: list[float], header: bool) -> PdfTable | None:
    """Draw right-aligned columns, each as wide as its widest cell, and read the page."""
    sheet = Sheet(width=1200)
    names = ["Model", *(f"c{j}" for j in range(len(gaps)))]
    stops = [72 + max(width(row[0]) for row in body)]
    for j, gap in enumerate(gaps, start=1):
        stops.append(stops[-1] + gap + max(width(row[j]) for row in [*body, names if header else body[0]]))
    sheet.rule(72, 90, max(stops[-1], 200))
    sheet.rule(72, 108, max(stops[-1], 200), thick=0.5)
    for i, row in enumerate([names, *body]):
        y = 103 + 14 * i + (4 if i else 0)
        sheet.text(72, y, row[0])
        for stop, cell in zip(stops[1:], row[1:], strict=True):
            sheet.right(stop, y, cell)
    sheet.rule(72, 103 + 14 * len(body) + 10, max(stops[-1], 200))
    with tempfile.TemporaryDirectory() as folder:
        tables = read_tables(write_pdf(Path(folder) / "page.pdf", [sheet]))
    assert len(tables) <= 1
    return tables[0] if tables else None


@given(drawn_tables(least_gap=9))
@settings(max_examples=50, deadline=None, phases=QUICK)
def test_a_table_with_plain_column_gaps_reads_back_cell_by_cell(drawn: tuple[list[list[str]], list[float]]) -> None:
    body, gaps = drawn
    table = read_drawn(body, gaps, header=True)
    assert table is not None
    assert table.columns() == ("Model", *(f"c{j}" for j in range(len(gaps))))
    assert [[cell.text for cell in row] for row in table.rows] == body
    for row in table.rows:
        assert all(isinstance(cell.value, CellValue) or cell.text == "" for cell in row[1:])


@given(drawn_tables(least_gap=2))
@settings(max_examples=50, deadline=None, phases=QUICK)
def test_a_value_read_from_a_crowded_table_is_a_value_that_was_drawn(
    drawn: tuple[list[list[str]], list[float]],
) -> None:
    """With too little white between columns a cell may be unread; it may never be another number."""
    body, gaps = drawn
    table = read_drawn(body, gaps, header=False)
    if table is None:
        return
    assert len(table.rows) == len(body)
    for row, drawn_row in zip(table.rows, body, strict=True):
        for cell in row:
            if isinstance(cell.value, CellValue):
                assert cell.text in drawn_row


def test_damaged_files_end_in_a_user_error_or_in_tables(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(72, 80, "Table 1: Whole")
    sheet.rule(72, 90, 200)
    sheet.text(72, 102, "Model 0.61 0.71")
    sheet.rule(72, 110, 200)
    whole = write_pdf(tmp_path / "whole.pdf", [sheet]).read_bytes()
    rng = random.Random(11)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for _ in range(rng.randint(1, 12)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        path = tmp_path / "damaged.pdf"
        path.write_bytes(bytes(data))
        try:
            read_tables(path)
        except UserError:  # any other kind of error fails the test
            refused += 1
    assert refused > 30
