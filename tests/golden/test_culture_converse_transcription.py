"""The transcribed tables of culture-converse, cell by cell, against the paper's own text.

The paper's text holds each table as lines with tabs, ending in a blank line and its caption. It is parsed here from the
captions, apart from whatever made the CSV files; what typesetting leaves in a cell (TeX, citation years) is put into
plain characters by `plain`. Columns that are not printed (row keys, the heading a row stands under) are derived here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import countback.claims.papers.culture_converse as package
import pytest

TABLES = Path(package.__file__).parent / "tables"
NUMBERS = (2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
YEARS = re.compile(r" \((?:\d{4}[a-z]?; )*\d{4}[a-z]?\)$")
TEX = {
    r"$\Delta$": "Δ", r"$\pm$ 1": "±1", "$N$": "N", "$n$": "n", "$r$": "r", r"$\alpha$": "α", r"$\times$": "×",
    r"$\sim$ ": "~", r"$5\times 10^{-6}$": "5 × 10^−6", r"$1\times 10^{-6}$": "1 × 10^−6",
}  # fmt: skip

Rows = list[list[str]]


def plain(cell: str) -> str:
    cell = YEARS.sub("", cell)
    for tex, character in TEX.items():
        cell = cell.replace(tex, character)
    return re.sub(r"\$-\$ (?=\d)", "−", cell).replace("$-$", "−").strip()


def block(text: str, number: int) -> Rows:
    """The lines between the blank line above a table and the blank line before its caption, split at tabs."""
    head = text[: re.search(rf"^Table {number}: ", text, re.MULTILINE).start()].rstrip("\n")  # type: ignore[union-attr]
    return [[plain(cell) for cell in line.split("\t")] for line in head[head.rindex("\n\n") + 2 :].split("\n")]


def under_headings(lines: Rows) -> Iterator[tuple[str, list[str]]]:
    """Each row with the last single-cell line above it."""
    heading = ""
    for line in lines:
        if len(line) == 1:
            heading = line[0]
        else:
            yield heading, line


def models_times(names: list[str], columns: list[str]) -> list[str]:
    """A header that spans: Base, SFT, delta under each of two models."""
    models = [name for name in names if name]
    return [f"{models[i // 3]} {column}" for i, column in enumerate(columns)]


def table_2(lines: Rows) -> Rows:
    found = [["Row", "Block", "Partition", "Detail", "identities", *lines[0][2:]]]
    for heading, (part, detail, *numbers) in under_headings(lines[1:]):
        identities = detail.removesuffix(" identities") if detail.endswith(" identities") else ""
        key = f"{part.split()[0]} {detail}" if not identities else part.split()[0]
        block_name = "" if part == "All Episodes" else heading
        found.append([key, block_name, part, "" if identities else detail, identities, *numbers])
    return found


def table_4(lines: Rows) -> Rows:
    groups, names, *rows = lines
    names = [f"{group} {name}" if name == "Avg" else name for group, name in zip([*groups, ""], names, strict=True)]
    return [names, *rows]


def table_5(lines: Rows) -> Rows:
    found = [["Row", "Block", lines[1][0], *models_times(lines[0], lines[1][1:])]]
    language = ""
    for _, row in under_headings(lines[2:]):
        name, _, rest = row[0].partition(" — ")
        if rest.endswith("datasets"):
            key, where = " ".join(name.split()[:2]), "OOD"
        else:
            language = name if rest else language
            key, where = (f"{name} 3H" if rest else f"{language} {name}"), language
        found.append([key, where, *row])
    return found


def table_7(lines: Rows) -> Rows:
    first, both, *others = lines[0]
    found = [["Row", "Region", first, *both.split(" ; "), *others]]
    region = ""
    for _, (group, counts, language, labels) in under_headings(lines[1:]):
        region = group.split()[0] if group else region
        ids, personas = re.split(" [;/] ", counts) if counts else ("", "")
        key = region if region == "Total" else f"{region} {language}"
        found.append([key, "" if region == "Total" else region, group, ids, personas, language, labels])
    return found


def table_18(lines: Rows) -> Rows:
    found = [[lines[1][0], "Fmt.", lines[1][1], *models_times(lines[0], lines[1][2:])]]
    for heading, (name, *cells) in under_headings(lines[2:]):
        fmt = heading.split()[0]
        found.append([f"{fmt} {name}" if name == "Average" else name, fmt, *cells])
    return found


def table_19(lines: Rows) -> Rows:
    found = []
    for _, (region, dataset, *cells) in under_headings([[*line, ""][:7] if len(line) > 1 else line for line in lines]):
        found.append([dataset or region, region if dataset else "", *cells[:4]])
    return found


def expected(text: str, number: int) -> Rows:
    lines = block(text, number)
    special = {2: table_2, 4: table_4, 5: table_5, 7: table_7, 18: table_18, 19: table_19}
    if number in special:
        return special[number](lines)
    if number == 6:  # the columns of words and marks are left out
        return [[row[0], *row[2:5]] for row in lines]
    rows = [row for row in lines if len(row) > 1]
    return rows[1:] if number == 17 else rows  # its first line only groups the columns


def transcribed(number: int) -> Rows:
    with (TABLES / f"table-{number:02d}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def differences(found: Rows, wanted: Rows) -> list[tuple[int, int]]:
    """Places (row, column) at which two tables differ; a missing or extra row or cell is such a place."""
    places = []
    for i in range(max(len(found), len(wanted))):
        a, b = (table[i] if i < len(table) else [] for table in (found, wanted))
        places += [(i, j) for j in range(max(len(a), len(b))) if (a[j : j + 1]) != (b[j : j + 1])]
    return places


@pytest.fixture(scope="module")
def text(shared: Path) -> str:
    return (shared / "seeds" / "002_3474b2e9fc3399ad.txt").read_text(encoding="utf-8")


def test_every_table_file_is_compared() -> None:
    assert {path.name for path in TABLES.glob("*.csv")} == {f"table-{n:02d}.csv" for n in NUMBERS}


@pytest.mark.parametrize("number", NUMBERS)
def test_each_cell_is_as_printed(text: str, number: int) -> None:
    found, wanted = transcribed(number), expected(text, number)
    assert len(wanted) >= 3  # a header and rows: an empty parse must not pass
    assert [(place, found[place[0]], wanted[place[0]]) for place in differences(found, wanted)] == []


@pytest.mark.parametrize("number", NUMBERS)
def test_any_altered_digit_is_seen(text: str, number: int) -> None:
    wanted, copy = expected(text, number), transcribed(number)
    altered = 0
    for i, row in enumerate(copy):
        for j, cell in enumerate(row):
            for k, character in enumerate(cell):
                if character.isdecimal():
                    row[j] = f"{cell[:k]}{(int(character) + 1) % 10}{cell[k + 1 :]}"
                    assert differences(copy, wanted) == [(i, j)]
                    altered += 1
            row[j] = cell
    assert altered >= 6  # the shortest table, of training settings, prints ten digits


@pytest.mark.parametrize("number", NUMBERS)
def test_no_printed_number_is_left_out(text: str, number: int) -> None:
    """As many digits in the printed columns as in the block's rows; lines that span a table are the text's numbers."""
    unprinted = {2: {0, 1}, 5: {0, 1}, 7: {0, 1}, 18: {1}}.get(number, set())
    kept = sum(
        c.isdecimal()
        for row in transcribed(number)[1:]
        for j, cell in enumerate(row)
        if j not in unprinted
        for c in cell
    )
    headers = {4: 2, 5: 2, 17: 2, 18: 2}.get(number, 1)
    printed = sum(c.isdecimal() for row in block(text, number)[headers:] if len(row) > 1 for cell in row for c in cell)
    assert kept == printed
