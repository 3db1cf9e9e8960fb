"""A gap table with intervals, set with LaTeX from invented numbers (tests/golden/data/synthetic_gap_table.*).

`synthetic_gap_table.csv` holds the numbers, `.tex` the page, `.pdf` what pdflatex made of it (TeX Live 2022). Page 1
sets each interval beside its gap in small print, bold where it is clear of zero, scaled to the page; page 2 sets it
below.
"""

from __future__ import annotations

import csv
from decimal import Decimal as D
from pathlib import Path

import pytest
from countback.fetch.errors import UserError
from countback.fetch.pdf.agree import agree, evidence
from countback.fetch.pdf.gaps import UNSEEN, Gap, GapTable, read_gap_table
from handmade_pdf import Sheet, ruled_table, write_pdf

DATA = Path(__file__).parent / "data"
PDF = DATA / "synthetic_gap_table.pdf"


@pytest.fixture(scope="module")
def both() -> dict[str, GapTable]:
    """The table with intervals beside the gaps, and the one with intervals below them."""
    return {label: read_gap_table(PDF, label=label, pages=[page]) for label, page in (("Table 9", 1), ("Table 10", 2))}


def truth() -> dict[tuple[str, str], tuple[D, D, D]]:
    with (DATA / "synthetic_gap_table.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {(r["model"], r["behaviour"]): (D(r["gap"]), D(r["ci_low"]), D(r["ci_high"])) for r in rows}


@pytest.mark.parametrize("label", ["Table 9", "Table 10"])
def test_every_gap_of_both_layouts_is_read(both: dict[str, GapTable], label: str) -> None:
    known = truth()
    assert len(known) == 13 * 6
    result = both[label]
    assert result.unread == ()
    # line breaks of the header may leave a hyphen and a space in a behaviour's name
    plain = {"".join(c for c in name if c.isalpha()).lower(): name for _, name in known}
    read = {
        (gap.model, plain["".join(c for c in gap.behaviour if c.isalpha()).lower()]): (gap.gap, gap.low, gap.high)
        for gap in result.gaps
    }
    assert read == known


def test_an_interval_that_ends_at_zero_is_not_clear_of_it() -> None:
    ends = [("0.01", "2.00"), ("0.00", "2.00"), ("-2.00", "0.00"), ("-2.00", "-0.01"), ("-0.01", "0.01")]
    assert [Gap("m", "b", D(0), D(low), D(high), ()).clear_of_zero() for low, high in ends] == [
        True,
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("label", ["Table 9", "Table 10"])
def test_fourteen_intervals_are_clear_of_zero(both: dict[str, GapTable], label: str) -> None:
    clear = both[label].clear_of_zero()
    assert len(clear) == sum(low > 0 or high < 0 for _, low, high in truth().values()) == 14


def test_the_summary_says_that_the_real_table_was_never_seen_and_that_numbers_are_leads(
    both: dict[str, GapTable],
) -> None:
    words = both["Table 9"].summary()
    assert words.startswith("Table 9 on page 1: 78 gaps read, 0 unread; 14 intervals clear of zero.")
    assert UNSEEN in words
    assert "never seen the real Table 9" in words
    assert "leads" in words


def test_a_second_source_turns_leads_into_evidence(both: dict[str, GapTable]) -> None:
    table = both["Table 9"].table
    name = "Behaviour / {}"
    source = {
        (model, name.format(behaviour)): {"estimate": gap, "low": low, "high": high}
        for (model, behaviour), (gap, low, high) in truth().items()
    }
    result = agree(table, source, "the numbers the page was set from")
    assert (result.confirmed(), result.differs, result.missing, result.unsupported) == (3 * 78, (), (), ())
    model, behaviour = next(iter(truth()))
    assert evidence(result.table.find(model, name.format(behaviour))).estimate == truth()[model, behaviour][0]


def test_a_table_of_another_size_or_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="0 tables called Table 3"):
        read_gap_table(PDF, label="Table 3", pages=[1])
    with pytest.raises(UserError, match=r"13 rows by 6 columns of gaps; 12 by 6 were expected"):
        read_gap_table(PDF, models=12, pages=[1])


def _small(path: Path, rows: list[list[str]], columns: list[float]) -> Path:
    sheet = Sheet()
    sheet.text(72, 80, "Table 9: Synthetic gaps")
    ruled_table(sheet, 72, 90, rows, columns)
    return write_pdf(path / "small.pdf", [sheet])


def test_intervals_in_columns_of_their_own_and_a_turned_table(tmp_path: Path) -> None:
    rows = [
        ["Model", "bias", "95% CI", "sabotage", "95% CI"],
        ["m1", "+1.0", "[0.5, 1.5]", "−0.1", "[−0.3, 0.1]"],
        ["m2", "−2.0", "[−2.5, −1.5]", "0.2", "[−0.1, 0.5]"],
        ["m3", "0.0", "[−0.5, 0.5]", "3.0", "[2.0, 4.0]"],
    ]
    path = _small(tmp_path, rows, [130, 220, 300, 390])
    upright = read_gap_table(path, models=3, behaviours=2)
    assert [(g.model, g.behaviour) for g in upright.clear_of_zero()] == [
        ("m1", "bias"),
        ("m2", "bias"),
        ("m3", "sabotage"),
    ]
    turned = read_gap_table(path, models=2, behaviours=3)
    assert {(g.behaviour, g.model) for g in turned.gaps} == {(g.model, g.behaviour) for g in upright.gaps}


def test_a_cell_that_cannot_be_read_is_listed_and_not_counted(tmp_path: Path) -> None:
    rows = [
        ["Model", "bias", "sabotage"],
        ["m1", "1.0 [0.5, 1.5]", "−0.1 [−0.3, 0.1]"],
        ["m2", "2.0 [−2.5, −1.5]", "0.2"],  # the gap lost its sign; the interval is missing
        ["m3", "0.0 [0.5, −0.5]", "O.3 [0.2, 0.4]"],  # bounds the wrong way round; a letter for a digit
    ]
    result = read_gap_table(_small(tmp_path, rows, [200, 330]), models=3, behaviours=2)
    assert len(result.gaps) == 2
    assert len(result.clear_of_zero()) == 1
    reasons = {(model, behaviour): why for model, behaviour, why in result.unread}
    assert "outside its interval" in reasons["m2", "bias"]
    assert "a gap with an interval was expected" in reasons["m2", "sabotage"]
    assert "runs downward" in reasons["m3", "bias"]
    assert "a letter stands where a digit should" in reasons["m3", "sabotage"]
    assert result.summary().count("unread:") == 4
