"""The number grammar of a table cell: every string of the published list of extraction failures, and its relatives."""

from __future__ import annotations

from decimal import Decimal as D

import pytest
from countback.fetch.pdf.grammar import CellValue, Unread, half_unit, parse_cell

ACCEPTED: dict[str, dict[str, object]] = {
    "0.61": {"estimate": D("0.61")},
    ".61": {"estimate": D(".61")},
    "−0.42": {"estimate": D("-0.42")},
    "61.2%": {"estimate": D("61.2"), "unit": "%"},
    "0.61 ± 0.02": {"estimate": D("0.61"), "error": D("0.02")},
    "0.61 (0.55, 0.67)": {"estimate": D("0.61"), "low": D("0.55"), "high": D("0.67")},
    "0.61 [0.55–0.67]": {"estimate": D("0.61"), "low": D("0.55"), "high": D("0.67")},
    "0.61*": {"estimate": D("0.61"), "marks": ("*",)},
    "p < .001": {"label": "p", "relation": "<", "estimate": D(".001")},
    "1.2 × 10⁻³": {"estimate": D("0.0012")},
    "1,234": {"estimate": D(1234)},
    "N = 1 234": {"label": "N", "estimate": D(1234)},
    # the forms that tables of this field print
    "17.0% [13.0, 22.0]": {"estimate": D("17.0"), "unit": "%", "low": D("13.0"), "high": D("22.0")},
    "41/50 (82%) [60, 98]": {
        "count": D(41),
        "of": D(50),
        "estimate": D(82),
        "unit": "%",
        "low": D(60),
        "high": D(98),
    },
    "3/5": {"count": D(3), "of": D(5)},
    "5 [5, 9]": {"estimate": D(5), "low": D(5), "high": D(9)},  # no citation: the estimate lies in it
    "9 [5, 9]": {"estimate": D(9), "low": D(5), "high": D(9)},
    "+6.06 [5.12, 7.00]": {"estimate": D("6.06"), "low": D("5.12"), "high": D("7.00")},
    "−0.5 [−0.9, −0.1]*": {"estimate": D("-0.5"), "low": D("-0.9"), "high": D("-0.1"), "marks": ("*",)},
    "0.61 (0.02)": {"estimate": D("0.61"), "aside": D("0.02")},
    "12 (34%)": {"estimate": D(12), "aside": D(34), "aside_unit": "%"},
    "0.55 – 0.67": {"low": D("0.55"), "high": D("0.67")},
    "0.55 to 0.67": {"low": D("0.55"), "high": D("0.67")},
    "[0.55, 0.67]": {"low": D("0.55"), "high": D("0.67")},
    "0.61 +/- 0.02": {"estimate": D("0.61"), "error": D("0.02")},
    "< .001": {"relation": "<", "estimate": D(".001")},
    "F(1, 38) = 4.10": {"label": "F", "df": (D(1), D(38)), "estimate": D("4.10")},
    "0.61 [12]": {"estimate": D("0.61"), "marks": ("[12]",)},  # a citation is a mark, not an interval
    "−1,234.5": {"estimate": D("-1234.5")},
    "1\u2009234": {"estimate": D(1234)},  # a thin space groups thousands
    "1e-5": {"estimate": D("0.00001")},
}

REJECTED: dict[str, str] = {
    "00..6611": "drawn twice",
    "0.6160.02": "more than one decimal point",
    "4,052,9540.71": "commas do not group thousands",
    "O.61": "a letter stands where a digit should",
    "0.6 1": "more than one number",
    "": "blank",
    "   ": "blank",
    "--": "a dash stands for no value",
    "—": "a dash stands for no value",
    "\ufffd0.61": "no known character",
    "(cid:0)0.61": "no known character",
    "\ue0010.61": "no known character",
    "0,61": "commas do not group thousands",
    "1,2345": "commas do not group thousands",
    "0.61 60.02": "more than one number",
    "1 234": "more than one number",
    "12 34": "more than one number",
    "2 −5": "more than one number",  # two cells, not the range 2 to 5
    "0.55 –0.67": "more than one number",
    "1.2 × 10-3": "more than one number",
    "3/0": "out of zero",
    "0.67–0.55": "runs downward",
    "0.61 [0.67, 0.55]": "runs downward",
    "[3, 14]": "a citation or an interval",
    "0.61 [3, 14]": "a citation or an interval",
    "10²": "a power of ten, or a ten with a footnote mark",
    "0.81⁻³": "does not know",
    "007": "starts with 0",
    "5.": "does not know",
    "7B": "does not know",
    "80.4% not→off": "words and numbers",
    "GPT-5.4": "words and numbers",
    "Overall": "no number",
    "0.61\x00": "no known character",
}


@pytest.mark.parametrize("raw", ACCEPTED)
def test_accepted_strings_give_exactly_their_parts(raw: str) -> None:
    value = parse_cell(raw)
    assert isinstance(value, CellValue), value
    assert {k: v for k, v in vars(value).items() if v != vars(CellValue())[k]} == ACCEPTED[raw]


@pytest.mark.parametrize("raw", REJECTED)
def test_rejected_strings_say_why(raw: str) -> None:
    value = parse_cell(raw)
    assert isinstance(value, Unread), value
    assert value.raw == raw
    assert REJECTED[raw] in value.reason


def test_a_kappa_above_one_is_refused_where_the_quantity_is_known() -> None:
    assert isinstance(parse_cell("20.42"), CellValue)
    refused = parse_cell("20.42", bounds=(D(-1), D(1)))
    assert isinstance(refused, Unread)
    assert "outside -1 to 1" in refused.reason
    low = parse_cell("0.42 [0.31, 10.53]", bounds=(D(-1), D(1)))
    assert isinstance(low, Unread)
    assert "10.53" in low.reason


def test_printed_precision_survives() -> None:
    value = parse_cell("0.60 [0.50, 0.70]")
    assert isinstance(value, CellValue)
    assert [str(n) for n in value.numbers().values()] == ["0.60", "0.50", "0.70"]


@pytest.mark.parametrize("dash", "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d-")
def test_a_dash_is_a_minus_before_a_number_and_a_range_between_two(dash: str) -> None:
    """P-08: float() refuses U+2212, and a cleaner that drops it turns the effect round."""
    sign = parse_cell(f"{dash}0.42")
    assert isinstance(sign, CellValue)
    assert sign.numbers() == {"estimate": D("-0.42")}
    between = parse_cell(f"0.1{dash}0.3")
    assert isinstance(between, CellValue)
    assert between.numbers() == {"low": D("0.1"), "high": D("0.3")}
    both = parse_cell(f"{dash}0.3{dash}{dash}0.1")
    assert isinstance(both, CellValue)
    assert both.numbers() == {"low": D("-0.3"), "high": D("-0.1")}


def test_a_plus_minus_that_came_out_as_a_digit_is_no_number() -> None:
    """P-10: `0.61 ± 0.02` whose ± was extracted as 6."""
    for raw in ("0.6160.02", "0.61 60.02", "0.61 6 0.02", "0.61 60.02%"):
        assert isinstance(parse_cell(raw), Unread)


def test_superscripts_are_marks_and_exponents_only_after_a_power_of_ten() -> None:
    """P-12: NFKC would turn 0.81² into 0.812."""
    note = parse_cell("0.81²")
    assert isinstance(note, CellValue)
    assert (note.estimate, note.marks) == (D("0.81"), ("²",))
    stars = parse_cell("0.61**")
    assert isinstance(stars, CellValue)
    assert (stars.estimate, stars.marks) == (D("0.61"), ("**",))
    power = parse_cell("10⁻³")
    assert isinstance(power, CellValue)
    assert power.numbers() == {"estimate": D("0.001")}


def test_an_interval_or_an_error_is_one_value() -> None:
    """P-17: two lone numbers would make two wrong claims."""
    interval, error = parse_cell("0.1–0.3"), parse_cell("0±0.02")
    assert isinstance(interval, CellValue)
    assert isinstance(error, CellValue)
    assert interval.numbers() == {"low": D("0.1"), "high": D("0.3")}
    assert error.numbers() == {"estimate": D(0), "error": D("0.02")}


def test_a_letter_for_a_digit_is_flagged_with_its_repair_and_never_taken() -> None:
    """P-18: F(l, 38) in old scans."""
    for raw, repaired in (("F(l, 38)", "F(1, 38)"), ("F(l, 38) = 4.10", "F(1, 38) = 4.10"), ("O.61", "0.61")):
        value = parse_cell(raw)
        assert isinstance(value, Unread)
        assert value.repaired == repaired
    assert parse_cell("Ill").repaired is None  # type: ignore[union-attr]
    full = parse_cell("F(1, 38) = 4.10")
    assert isinstance(full, CellValue)


def test_whole_numbers_in_brackets_are_an_interval_only_with_a_reason_to_think_so() -> None:
    assert isinstance(parse_cell("[3, 14]"), Unread)
    declared = parse_cell("[3, 14]", interval_column=True)
    assert isinstance(declared, CellValue)
    assert declared.numbers() == {"low": D(3), "high": D(14)}
    around = parse_cell("7 [3, 14]")  # the estimate lies inside
    assert isinstance(around, CellValue)
    percent = parse_cell("[3%, 14%]")
    assert isinstance(percent, CellValue)


def test_what_looks_wrong_is_flagged_but_kept() -> None:
    outside = parse_cell("0.42 [−0.55, −0.30]")
    assert isinstance(outside, CellValue)
    assert outside.flags == ("the estimate lies outside its interval",)
    share = parse_cell("41/50 (83%)")  # 41 / 50 = 82%
    assert isinstance(share, CellValue)
    assert share.flags == ("the count gives 82.00%, the cell prints 83%",)
    above = parse_cell("6/5")
    assert isinstance(above, CellValue)
    assert above.flags == ("the count is above its total",)
    units = parse_cell("61% ± 2pp")
    assert isinstance(units, CellValue)
    assert units.flags == ("units differ inside the cell: %, pp",)
    assert parse_cell("41/50 (82%)").flags == ()  # type: ignore[union-attr]


def test_half_a_unit_of_the_last_place() -> None:
    assert half_unit(D("0.61")) == D("0.005")
    assert half_unit(D("17.0")) == D("0.05")
    assert half_unit(D("270")) == D("0.5")
