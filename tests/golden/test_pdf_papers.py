"""Tables of two real papers against what their authors released, or against their own arithmetic.

`llm_judge_stress_test`: the unrounded CSV files that the authors made Tables 5 to 9 from. Every printed number must
round from them, every row must come out, and no number of those tables may stay without a second source.
`silent_precondition_traps`: no data files lie beside it; the second source of its Table 2 is arithmetic (the two halves
add up to the combined column; a rate is its count over its total).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from decimal import Decimal as D
from pathlib import Path

import pytest
from countback.fetch.errors import UserError
from countback.fetch.pdf import CellValue, PdfTable, Unread, read_tables
from countback.fetch.pdf.agree import Agreement, Number, agree, evidence

Row = Mapping[str, str]
Numbers = dict[tuple[str, str], Number | Mapping[str, Number]]


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "llm_judge_stress_test"


@pytest.fixture(scope="module")
def stress(folder: Path) -> dict[str, PdfTable]:
    return {table.label or "": table for table in read_tables(folder / "paper.pdf")}


def rows_of(folder: Path, name: str) -> list[Row]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def percent(row: Row, column: str) -> float:
    return 100 * float(row[column])


def interval(row: Row) -> dict[str, Number]:
    return {"low": percent(row, "ci_low"), "high": percent(row, "ci_high")}


def assert_all_confirmed(result: Agreement, *, except_column: str = "") -> None:
    assert result.differs == ()
    assert result.missing == ()
    assert {column for _, column, _ in result.unsupported} <= {except_column}
    for row in result.table.rows:
        for name, cell in zip(result.table.columns(), row, strict=True):
            if isinstance(cell.value, CellValue) and name != except_column:
                assert evidence(cell) == cell.value


def test_table_5_agrees_with_its_data(folder: Path, stress: dict[str, PdfTable]) -> None:
    data = rows_of(folder, "majority_overall_asr.csv")
    table = stress["Table 5"]
    assert table.columns() == ("Model", "n", "Flips", "ASR", "95% CI", "Direction")
    assert list(table.row_labels()) == [row["model"] for row in data]
    source: Numbers = {}
    for row in data:
        source[row["model"], "n"] = int(row["n"])
        source[row["model"], "Flips"] = int(row["flips"])
        source[row["model"], "ASR"] = percent(row, "asr")
        source[row["model"], "95% CI"] = interval(row)
    result = agree(table, source, "majority_overall_asr.csv")
    assert_all_confirmed(result)
    assert result.confirmed() == 5 * 5
    directions = [row["dominant_direction"].replace("\\%", "%").replace("$\\rightarrow$", "→") for row in data]
    assert [row[5].text for row in table.rows] == directions


def test_table_6_agrees_with_its_data(folder: Path, stress: dict[str, PdfTable]) -> None:
    data = rows_of(folder, "neutral_majority_asr.csv")
    table = stress["Table 6"]
    assert table.columns() == ("Model", "n", "Neutral flips", "Neutral ASR", "95% CI", "Core ASR")
    assert list(table.row_labels()) == [row["model"] for row in data]
    source: Numbers = {}
    for row in data:
        source[row["model"], "n"] = int(row["n"])
        source[row["model"], "Neutral flips"] = int(row["flips"])
        source[row["model"], "Neutral ASR"] = percent(row, "asr")
        source[row["model"], "95% CI"] = interval(row)
        source[row["model"], "Core ASR"] = percent(row, "core_asr")
    result = agree(table, source, "neutral_majority_asr.csv")
    assert_all_confirmed(result)
    assert result.confirmed() == 5 * 6


def test_table_7_agrees_with_its_data(folder: Path, stress: dict[str, PdfTable]) -> None:
    data = rows_of(folder, "perturbation_asr.csv")
    table = stress["Table 7"]
    assert sorted(table.row_labels()) == sorted(row["perturbation"] for row in data)
    source: Numbers = {}
    for row in data:
        source[row["perturbation"], "n"] = int(row["n"])
        source[row["perturbation"], "Flips"] = int(row["flips"])
        source[row["perturbation"], "ASR"] = percent(row, "asr")
        source[row["perturbation"], "95% CI"] = interval(row)
    result = agree(table, source, "perturbation_asr.csv")
    assert_all_confirmed(result)
    assert result.confirmed() == 9 * 5


def test_table_8_agrees_with_its_data(folder: Path, stress: dict[str, PdfTable]) -> None:
    data = {f"{row['model']} / {row['perturbation']}": row for row in rows_of(folder, "model_perturbation_tests.csv")}
    table = stress["Table 8"]
    labels = table.row_labels()
    assert len(set(labels)) == 10
    assert set(labels) <= data.keys()
    lowest = min(float(data[label]["asr"]) for label in labels)
    assert sum(float(row["asr"]) > lowest for row in data.values()) < 10  # the ten largest; ties at the lowest
    source: Numbers = {}
    for label in labels:
        row = data[label]
        source[label, "n"] = int(row["n"])
        source[label, "ASR"] = percent(row, "asr")
        source[label, "95% CI"] = interval(row)
        source[label, "p"] = float(row["mcnemar_p"])
        source[label, "BH q"] = float(row["mcnemar_q_bh"])
    result = agree(table, source, "model_perturbation_tests.csv")
    assert_all_confirmed(result)
    assert result.confirmed() == 10 * 6


def test_table_9_agrees_with_its_data(folder: Path, stress: dict[str, PdfTable]) -> None:
    data = rows_of(folder, "agreement_asr.csv")
    table = stress["Table 9"]
    stub = table.columns()[0]
    assert stub == "Human offensive rate"
    source: Numbers = {}
    for row in data:
        label = f"{percent(row, 'human_off_rate'):.0f}%"
        source[label, stub] = percent(row, "human_off_rate")
        source[label, "n"] = int(row["n"])
        source[label, "Flips"] = int(row["flips"])
        source[label, "ASR"] = percent(row, "asr")
        source[label, "95% CI"] = interval(row)
    result = agree(table, source, "agreement_asr.csv")
    assert_all_confirmed(result)
    assert result.confirmed() == 6 * 6


def test_a_changed_number_of_the_data_is_seen(folder: Path, stress: dict[str, PdfTable]) -> None:
    """The agreement can fail: one flip more at one model, and one row less in the file."""
    first, *rest = rows_of(folder, "majority_overall_asr.csv")
    source: Numbers = {(first["model"], "ASR"): 100 * (int(first["flips"]) + 1) / int(first["n"])}
    source[rest[0]["model"], "ASR"] = percent(rest[0], "asr")
    result = agree(stress["Table 5"], source, "a file with one more flip")
    assert [(d.row, d.column, d.printed) for d in result.differs] == [("Claude Haiku 4.5", "ASR", D("17.0"))]
    assert result.confirmed() == 1
    with pytest.raises(UserError, match="is a lead"):
        evidence(result.table.find("Claude Haiku 4.5", "ASR"))


# Silent precondition traps, Table 2. Typed from the page image: configuration, then k, n, p, low, high for each half.
TRAPS = """
GPT-5.4-mini (xhigh)     50 50 100 100 100   50 50 100 100 100   100 100 100 100 100
GPT-5.5 (high)           44 50  88  68 100   50 50 100 100 100    94 100  94  83 100
GPT-5.5 (xhigh)          44 50  88  68 100   50 50 100 100 100    94 100  94  83 100
GPT-5.6 Luna (xhigh)     45 50  90  74 100   49 50  98  94 100    94 100  94  85 100
GPT-5.6 Sol (xhigh)      41 50  82  60  98   48 49  98  94 100    89  99  90  78  98
GPT-5.6 Terra (xhigh)    43 49  88  73 100   46 50  92  80 100    89  99  90  81  97
Claude Opus 4.8 (high)   20 49  41  18  65   41 50  82  60 100    61  99  62  42  80
Claude Sonnet 5 (high)   15 50  30  10  54   44 50  88  68 100    59 100  59  39  78
Claude Fable 5 (high)    14 50  28   8  52   38 50  76  50 100    52 100  52  32  72
Claude Opus 4.8 (xhigh)  13 50  26   6  48   35 50  70  42  96    48 100  48  28  68
"""


@pytest.fixture(scope="module")
def traps(shared: Path) -> tuple[PdfTable, ...]:
    return read_tables(shared / "data" / "pdf" / "silent_precondition_traps.pdf", pages=[13, 14])


def test_table_2_of_the_traps_paper_comes_out_whole(traps: tuple[PdfTable, ...]) -> None:
    (table,) = [t for t in traps if t.label == "Table 2"]
    assert table.columns() == ("Configuration", "Fable-designed", "Sol-designed", "Combined")
    typed = {line[:24].strip(): [D(x) for x in line[24:].split()] for line in TRAPS.strip().splitlines()}
    assert list(table.row_labels()) == list(typed)
    for row, numbers in zip(table.rows, typed.values(), strict=True):
        read = []
        for cell in row[1:]:
            assert isinstance(cell.value, CellValue)
            parts = cell.value.numbers()
            assert cell.value.unit == "%"
            assert cell.value.flags == ()  # each rate is its count over its total, inside its interval
            read += [parts[name] for name in ("count", "of", "estimate", "low", "high")]
        assert read == numbers


def test_the_halves_of_table_2_confirm_its_combined_column(traps: tuple[PdfTable, ...]) -> None:
    (table,) = [t for t in traps if t.label == "Table 2"]
    source: Numbers = {}
    for label, row in zip(table.row_labels(), table.rows, strict=True):
        halves = [cell.value.numbers() for cell in row[1:3] if isinstance(cell.value, CellValue)]
        count, total = (sum(half[part] for half in halves) for part in ("count", "of"))
        assert isinstance(count, D)
        assert isinstance(total, D)
        source[label, "Combined"] = {"count": count, "of": total, "estimate": float(100 * count / total)}
    result = agree(table, source, "the sum of the two halves")
    assert result.differs == ()
    assert result.confirmed() == 10 * 3
    cell = result.table.find("GPT-5.5 (high)", "Combined")
    with pytest.raises(UserError, match="no second source confirms its high, low"):
        evidence(cell)  # a sum says nothing about the interval


def test_per_task_counts_of_the_traps_paper_add_up_to_table_2(traps: tuple[PdfTable, ...]) -> None:
    """Two tables of one page bear each other out: falls by task, summed over a half, are Table 2's counts."""
    (table,) = [t for t in traps if t.label == "Table 2"]
    halves = [t for t in traps if t.page == 14 and t.columns()[:2] == ("Task", "mini")]
    assert [len(t.rows) for t in halves] == [10, 10]
    order = ["mini", "Cdx@h", "Cdx@xh", "Luna", "Sol", "Terra", "Opus@h", "Sonnet", "Fable", "Opus@xh"]
    for j, half in enumerate(halves, start=1):
        for name, row in zip(order, table.rows, strict=True):
            column = half.columns().index(name)
            counts = [r[column].value for r in half.rows]
            assert all(isinstance(value, CellValue) for value in counts)
            total = sum(value.numbers()["count"] for value in counts if isinstance(value, CellValue))
            printed = row[j].value
            assert isinstance(printed, CellValue)
            assert total == printed.count


def test_no_citation_of_either_paper_is_an_interval(stress: dict[str, PdfTable], traps: tuple[PdfTable, ...]) -> None:
    """`[21, 22, 23, 19, 20]` stands in the prose; only cells with an estimate or under a CI header are intervals."""
    for table in (*stress.values(), *traps):
        for column, row in ((c, r) for r in table.rows for c in range(len(r))):
            value = row[column].value
            if isinstance(value, CellValue) and value.low is not None:
                assert value.estimate is not None or "CI" in table.columns()[column]


def test_words_and_unknown_forms_stay_unread(traps: tuple[PdfTable, ...]) -> None:
    (table,) = [t for t in traps if t.columns()[0] == "Trap"]
    for row in table.rows:
        assert all(isinstance(cell.value, Unread) for cell in row)  # "3/5 → 5/5" is two counts
        assert row[1].raw.count("/5") == 2


def test_the_rows_of_the_other_tables_come_out(folder: Path, stress: dict[str, PdfTable]) -> None:
    sizes = {label: (len(table.rows), len(table.header)) for label, table in stress.items()}
    assert set(sizes) == {f"Table {i}" for i in range(1, 14)}
    assert sizes["Table 2"] == (9, 6)
    assert sizes["Table 10"] == (5, 5)
    assert sizes["Table 13"] == (30, 6)
    items = {row["base_id"]: row for row in rows_of(folder, "per_item_instability.csv")}
    assert [row[0].text for row in stress["Table 13"].rows] == list(items)
    for cells in stress["Table 13"].rows:
        votes, flips = cells[1].value, cells[3].value
        assert isinstance(votes, CellValue)
        assert isinstance(flips, CellValue)
        assert f"{votes.count}/{votes.of}" == items[cells[0].text]["human_votes"]
        assert flips.estimate == D(items[cells[0].text]["flips"])
    daggers = [row[5].value for row in stress["Table 2"].rows]
    assert [v.marks for v in daggers if isinstance(v, CellValue)].count(("†",)) == 4
