"""Every printed form, what it is read as, and what is refused."""

from __future__ import annotations

import re
import time
from fractions import Fraction
from pathlib import Path

import pytest
from countback.claims.reported import ROUNDING, NotANumber, Reported, parse, unround, word


def read(text: str) -> tuple[str, str, str, str, str]:
    """kind, value, lowest and highest value that prints so, unit: as short decimal strings."""
    found = parse(text)
    return (
        found.kind,
        *(f"{float(x):.12g}" for x in (found.value, found.interval.low, found.interval.high)),
        found.unit,
    )


@pytest.mark.parametrize(
    ("text", "kind", "value", "low", "high", "unit"),
    [
        ("81.1%", "number", "81.1", "81.05", "81.15", "%"),
        ("50 %", "number", "50", "49.5", "50.5", "%"),
        ("+15.1", "number", "15.1", "15.05", "15.15", ""),
        ("-0.126", "number", "-0.126", "-0.1265", "-0.1255", ""),
        ("\u22120.07", "number", "-0.07", "-0.075", "-0.065", ""),
        ("$-$ 0.07", "number", "-0.07", "-0.075", "-0.065", ""),
        ("$-0.126$", "number", "-0.126", "-0.1265", "-0.1255", ""),
        ("0.60", "number", "0.6", "0.595", "0.605", ""),
        ("0.6", "number", "0.6", "0.55", "0.65", ""),
        (".05", "number", "0.05", "0.045", "0.055", ""),
        ("0.00", "number", "0", "-0.005", "0.005", ""),
        ("1,860", "number", "1860", "1860", "1860", ""),
        ("288,905", "number", "288905", "288905", "288905", ""),
        ("427,804 bytes", "number", "427804", "427804", "427804", "bytes"),
        ("428 KB", "number", "428", "427.5", "428.5", "KB"),
        ("$3,022.50", "number", "3022.5", "3022.495", "3022.505", "$"),
        ("US$142", "number", "142", "141.5", "142.5", "$"),
        ("$1,300", "number", "1300", "1299.5", "1300.5", "$"),
        ("14.6K", "number", "14600", "14550", "14650", ""),
        ("1.28M", "number", "1280000", "1275000", "1285000", ""),
        ("2.49 pp", "number", "2.49", "2.485", "2.495", "pp"),
        ("-3.7 pp", "number", "-3.7", "-3.75", "-3.65", "pp"),
        ("\u20130.42", "number", "-0.42", "-0.425", "-0.415", ""),  # a dash for a minus, where no range can be meant
        ("\u20140.42", "number", "-0.42", "-0.425", "-0.415", ""),
        ("p = \u2013.03", "number", "-0.03", "-0.035", "-0.025", ""),
        ("[\u20130.2, \u20130.1]", "range", "-0.2", "-0.25", "-0.15", ""),
        ("5 points", "number", "5", "4.5", "5.5", "points"),
        ("79 seconds", "number", "79", "78.5", "79.5", "seconds"),
        ("5 x 10^-6", "number", "5e-06", "4.5e-06", "5.5e-06", ""),
        ("5 \u00d7 10^{-6}", "number", "5e-06", "4.5e-06", "5.5e-06", ""),
        ("$5\\times 10^{-6}$", "number", "5e-06", "4.5e-06", "5.5e-06", ""),
        ("4.28 [4.28,4.29]", "estimate", "4.28", "4.275", "4.285", ""),
        ("+10.8 [+2.9, +18.7]", "estimate", "10.8", "10.75", "10.85", ""),
        ("2.0 (0-3)", "estimate", "2", "1.95", "2.05", ""),
        ("4.28 [4.28 to 4.29]", "estimate", "4.28", "4.275", "4.285", ""),
        ("3.25-4.28", "range", "3.25", "3.245", "3.255", ""),
        ("3.25\u20134.28", "range", "3.25", "3.245", "3.255", ""),
        ("$0.04$ \u2013 $0.08$", "range", "0.04", "0.035", "0.045", ""),
        ("10 to 15", "range", "10", "10", "10", ""),
        ("US$142\u2013148", "range", "142", "141.5", "142.5", "$"),
        ("-0.10--0.05", "range", "-0.1", "-0.105", "-0.095", ""),
        ("[0.1, 0.2]", "range", "0.1", "0.05", "0.15", ""),
        ("< .001", "inequality", "0.001", "0.0005", "0.0015", ""),
        ("p < .001", "inequality", "0.001", "0.0005", "0.0015", ""),
        ("p = .03", "number", "0.03", "0.025", "0.035", ""),
        ("$\\sim$ 64K", "inequality", "64000", "63500", "64500", ""),
        ("4 of 12", "list", "4", "4", "4", ""),
        ("58 / 348", "list", "58", "58", "58", ""),
        ("50 % / 25 % / 25 %", "list", "50", "49.5", "50.5", "%"),
        ("3 ; 18", "list", "3", "3", "3", ""),
    ],
)
def test_printed_forms(text: str, kind: str, value: str, low: str, high: str, unit: str) -> None:
    assert read(text) == (kind, value, low, high, unit)
    assert parse(text).text == text


@pytest.mark.parametrize(
    ("text", "parts", "unit"),
    [
        ("4.28 [4.28,4.29]", ["4.28", "4.28", "4.29"], ""),
        ("+10.8 [+2.9, +18.7]", ["10.8", "2.9", "18.7"], ""),
        ("-1.2 [-1.3,-1.1]", ["-1.2", "-1.3", "-1.1"], ""),
        ("1,860 [1,800, 1,900]", ["1860", "1800", "1900"], ""),
        ("81.1% (78.2\u201384.0)", ["81.1", "78.2", "84"], "%"),
        ("US$142\u2013148", ["142", "148"], "$"),
        ("3.25\u20134.28", ["3.25", "4.28"], ""),
        ("5\u201310%", ["5", "10"], "%"),
        ("-0.10 to -0.05", ["-0.1", "-0.05"], ""),
        ("58 / 348", ["58", "348"], ""),
        ("50 % / 25 % / 25 %", ["50", "25", "25"], "%"),
    ],
)
def test_parts_of_a_printed_form(text: str, parts: list[str], unit: str) -> None:
    found = parse(text)
    assert [f"{float(part.value):.6g}" for part in found.parts] == parts
    assert {part.unit for part in found.parts} == {unit}
    assert [found.part(str(k + 1)) for k in range(len(parts))] == list(found.parts)


def test_parts_have_names() -> None:
    estimate, span, plain = parse("4.28 [4.27,4.30]"), parse("3.25-4.28"), parse("0.60")
    assert estimate.part("low").text, estimate.part("high").text == ("4.27", "4.30")
    assert (span.part("low").value, span.part("high").value) == (Fraction("3.25"), Fraction("4.28"))
    assert plain.part("1") is plain
    for number, name in ((plain, "low"), (span, "3"), (span, "0"), (parse("4 of 12"), "high"), (span, "")):
        with pytest.raises(NotANumber, match="has no part"):
            number.part(name)


def test_dates_are_days_and_exact() -> None:
    assert parse("2 October 2026").interval == parse("2026-10-02").interval
    days = parse("7 October 2026").value - parse("26 May 2026").value
    assert days == 5 + 30 + 31 + 31 + 30 + 7  # May, June, July, August, September, October
    for text in ("31 February 2026", "2026-13-01", "0 May 2026"):
        with pytest.raises(NotANumber, match="not a day of the calendar"):
            parse(text)


def test_hashes_whole_and_short() -> None:
    whole = "d51af09b809b49b58691997c7dae9921ae5fc0316db8761eb6a382e411a3f498"
    assert parse(whole).hash_ends == (whole, "")
    for text in ("d51af09b...a498", "d51af09b\u2026a498"):
        assert parse(text).kind == "hash"
        assert parse(text).hash_ends == ("d51af09b", "a498")
    assert parse("18428b1").kind == "hash"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("decade", "a word of hexadecimal letters"),
        ("123e45", "a power of ten or a hash"),
        ("(1,860)", "one number or a range from 1 to 860"),
        ("4.2 [1,860]", "one number or a range"),
        ("3 x 100", "a product or a power"),
        ("5 x 105", "a product or a power whose hat was lost"),
        ("<< 5", "two comparisons"),
        ("< 2026-10-07", "a date is not compared"),
        ("1,86", "a decimal comma or a torn number"),
        ("0,60", "a decimal comma"),
        ("1 860", "a thin space or two numbers"),
    ],
)
def test_what_could_be_read_two_ways_is_refused(text: str, why: str) -> None:
    with pytest.raises(NotANumber, match="cannot read"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "\t\n", "NaN", "nan", "inf", "-inf", "Infinity", "\u221e", "None", "null", "n/a", "--", "-", "\u2013",
        "+", ".", ",", "%", "$", "K", "4,052,9540.71", "0.6 1", "O.61", "l0", "1.2.3", "1..2", "1,,000", ",5", "5,",
        "5.", "+-5", "--5", "5-", "\uff11\uff12", "\u0663", "\u00b2", "1\u0665.3", "0x10", "1_000", "1e5", "1e400",
        "5\n6", "1-2-3", "[1,2", "1,2]", "[1,2,3]", "4.28 [4.28]", "/", "1/", "1+", "of", "x 10^5", "5 x 10^",
        "5 x 10^1000000000", "5 x 10^-1000000000", "about a third", "GPT-5", "3H", "= ", "p", "p <", "< <", "#REF!",
        "\x00", "1\x00", "\u202e5",
    ],
)  # fmt: skip
def test_hostile_strings_are_refused(text: str) -> None:
    with pytest.raises(NotANumber):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "9" * 10_000, "1," * 5_000, "0." + "0" * 10_000, "-" * 10_000, "1-" * 5_000, "1 - " * 2_500 + "\n",
        "[" * 10_000, "(" + "1," * 5_000 + ")", " " * 10_000 + "1" + " x", "< " * 5_000, "1 of " * 2_000 + "x",
        "a" * 10_000, "$" * 10_000, "1 [" * 3_000, "\u2212" * 10_000, "4.28 [" + "1" * 190 + "x",
        "1" * 100 + "-" * 99, "1 " * 99 + "x", "1;" * 99 + "x", " " * 198 + "1x", "(" * 99 + "1" + ")" * 99,
    ],
)  # fmt: skip
def test_long_strings_are_refused_quickly(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(NotANumber) as refusal:
        parse(text)
    assert time.perf_counter() - start < 1  # a backtracking pattern would take hours
    assert len(str(refusal.value)) < 600


@pytest.mark.parametrize("bad", [0.6, 5, None, True, b"0.60", ["0.60"]])
def test_only_strings_are_read(bad: object) -> None:
    with pytest.raises(NotANumber, match="string as printed"):
        parse(bad)  # type: ignore[arg-type]


def test_exactness_can_be_stated() -> None:
    assert parse("1,860", exact=False).interval.width == 1
    assert parse("0.01", exact=True).interval.width == 0
    assert parse("+5").interval.width == parse("-5").interval.width == 1  # a change, not a count
    assert parse("27,860").step == 0
    assert parse("10%", exact=True).interval.width == 0
    assert parse("4 [3.9, 4.1]").interval.width == 1  # beside decimals, 4 is no count


@pytest.mark.parametrize("end", ["abc123", "2026-10-07", "1-2", "4 of 12", "< 5", "4.2 [4.1, 4.3]"])
def test_a_stated_range_has_plain_ends(end: str) -> None:
    """Not the 0 of a hash, the ordinal of a day, or the first of several numbers."""
    with pytest.raises(NotANumber, match="one number was expected"):
        parse("about a third", within=(end, "800000"))


def test_words_need_a_stated_range() -> None:
    third = parse("about a third", within=("0.30", "0.37"))
    assert (third.kind, third.interval.low, third.interval.high) == ("words", Fraction("0.30"), Fraction("0.37"))
    with pytest.raises(NotANumber, match="reversed"):
        parse("about a third", within=("0.37", "0.30"))
    with pytest.raises(NotANumber):
        parse("about a third", within=("a bit", "0.37"))
    assert word("PASSED").kind == "word"


# --- rounding


@pytest.mark.parametrize(
    ("printed", "rule", "low", "high", "low_in", "high_in"),
    [
        ("4.50", "half-up", "4.495", "4.505", True, False),
        ("4.50", "half-down", "4.495", "4.505", False, True),
        ("4.50", "half-even", "4.495", "4.505", True, True),
        ("4.51", "half-even", "4.505", "4.515", False, False),
        ("4.50", "half-up-or-down", "4.495", "4.505", True, True),
        ("4.50", "truncation", "4.50", "4.51", True, False),
        ("4.50", "ceiling", "4.49", "4.50", False, True),
        ("4.50", "exact", "4.50", "4.50", True, True),
        ("-4.50", "half-up", "-4.505", "-4.495", False, True),
        ("-4.50", "truncation", "-4.51", "-4.50", False, True),
        ("0.00", "truncation", "-0.01", "0.01", True, False),
        ("-0.00", "truncation", "-0.01", "0.01", True, False),
        ("81.1%", "half-up", "81.05", "81.15", True, False),
    ],
)
def test_unround(printed: str, rule: str, low: str, high: str, low_in: bool, high_in: bool) -> None:
    bounds, *ends = unround(printed, rule)
    assert (bounds.low, bounds.high) == (Fraction(low), Fraction(high))
    if Fraction(printed.rstrip("%")) != 0:
        assert ends == [low_in, high_in]


def test_unround_to_stated_decimals() -> None:
    assert unround("4.50", digits=1)[0] == parse("4.5").interval
    assert unround("4.50", digits=4)[0].width == Fraction(1, 10_000)
    assert unround("12")[0].width == 1  # a count is unrounded here as asked
    with pytest.raises(KeyError):
        unround("4.50", "banker")
    assert set(ROUNDING) >= {"half-up", "half-even", "truncation"}


# --- everything the two source documents print

SEEDS = ("000_3c9b7e6b587c4816.txt", "002_3474b2e9fc3399ad.txt")
_SINGLE = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?"
_CELL = re.compile(r"(?:[-+0-9.,;/\[\]\u2013%$\s]|pp|\\times|\^|\{|\})+")
_PHRASE = re.compile(
    rf"\$[+-]?(?:{_SINGLE})\$|(?<![\w.,:/=_+\u2013-])(?:US\$|\$)?[+\u2212-]?(?:{_SINGLE})(?:K|M)?"
    r"(?: ?(?:%|pp\b|bytes\b|KB\b|seconds\b|minutes\b))?"
    rf"(?:(?:\u2013| to )[+\u2212-]?(?:{_SINGLE})%?)?(?![\w/=_\u2013-]|[.,][0-9])"
)


def plainly(text: str) -> list[tuple[Fraction, int]]:
    """The numbers in a string and their decimals, by a reading much simpler than the parser's."""
    text = text.replace("$-$ ", "-").replace("\u2212", "-")
    found = re.findall(rf"(?<![0-9])([+-]?)({_SINGLE})([KM]?)", text)
    scale = {"": 1, "K": 1000, "M": 1_000_000}
    numbers = [(Fraction(sign + digits.replace(",", "")), digits, letter) for sign, digits, letter in found]
    return [(value * scale[letter], len(digits.partition(".")[2])) for value, digits, letter in numbers]


def assert_read_plainly(text: str, found: Reported) -> None:
    parts = found.parts or (found,)
    expected = plainly(text)
    assert [part.value for part in parts] == [value for value, _ in expected], text
    for part, (value, places) in zip(parts, expected, strict=True):
        if places and not re.search("[KM]", text):
            half = Fraction(1, 2 * 10**places)
            assert (part.interval.low, part.interval.high) == (value - half, value + half), text


def test_every_number_in_the_tables_of_the_papers_is_read(shared: Path) -> None:
    rows = [line for seed in SEEDS for line in (shared / "seeds" / seed).read_text().splitlines() if "\t" in line]
    cells = [cell.strip() for row in rows for cell in row.split("\t")]
    numeric = [cell for cell in cells if re.search("[0-9]", cell) and _CELL.fullmatch(cell)]
    for cell in set(numeric) - NO_NUMBERS:
        found = parse(cell)
        if "times" in cell:
            assert found.value == {"$5": Fraction(5, 10**6), "$1": Fraction(1, 10**6)}[cell[:2]]
            continue
        assert_read_plainly(cell, found)
        assert found.unit == ("%" if "%" in cell else "pp" if "pp" in cell else "")
        assert found.kind == ("estimate" if "[" in cell else "list" if re.search(r"[/;]|\d\+", cell) else "number")
    assert sum("[" in cell for cell in numeric) == 18 * 9  # Table 17: 18 models, nine columns
    assert len(numeric) > 900


# headers of Table 15 (share of each score), "at least one" in Table 6, the number of an equation
NO_NUMBERS = {"%1", "%2", "%3", "%4", "%5", "1+", "(2)"}


def test_every_number_in_the_prose_of_the_papers_is_read(shared: Path) -> None:
    phrases: list[str] = []
    for seed in SEEDS:
        for line in (shared / "seeds" / seed).read_text().splitlines():
            if "\t" not in line:
                phrases += [match[0] for match in _PHRASE.finditer(line)]
    for phrase in phrases:
        assert_read_plainly(phrase, parse(phrase))
    met = [
        "$3,022.50",
        "US$142\u2013148",
        "3.25\u20134.28",
        "427,804 bytes",
        "428 KB",
        "+30.5",
        "1,860",
        "81.1%",
        "5.5 pp",
    ]
    assert set(met) < set(phrases)
    assert len(phrases) > 800
