"""The registry paper llm-judge-stress-test: its transcription, and its recount from the released counts.

Two sources apart from the typed tables say what each cell must hold: the PDF, and the values that the release holds
ready made (its own shares, intervals, p and q), printed here as the paper prints them. No recipe reads those.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import countback.claims.papers.llm_judge_stress_test as package
import pytest
from countback.audit.run import audit, judge
from countback.audit.sources import Sources
from countback.claims.papers.llm_judge_stress_test import recipes
from countback.claims.registry import Paper, load_paper
from countback.claims.reported import parse
from countback.claims.verdict import CannotRecount
from countback.fetch.errors import UserError

FOLDER = Path(package.__file__).parent
TABLES = (4, 5, 6, 7, 8, 9, 13)
RELEASE = "llm-judge-stress-test/"


@pytest.fixture(scope="module")
def released(shared: Path) -> Path:
    return shared / "data" / "llm_judge_stress_test"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return load_paper(FOLDER)


def typed(name: str) -> list[list[str]]:
    with (FOLDER / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- the transcription -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_cell_stands_in_the_pdf(released):
    pytest.importorskip("pdfplumber")
    from countback.fetch.pdf import read_tables

    read = {table.label: table for table in read_tables(released / "paper.pdf", pages=[7, 8, 9, 10, 17])}
    for number in TABLES:
        table = read[f"Table {number}"]
        rows = [[cell.text for cell in row] for row in table.rows]
        header = list(table.columns())
        if number == 5:  # one printed column, two of ours
            rows = [[*row[:-1], *row[-1].split(" ")] for row in rows]
            header.append("From and to")
        if number == 13:  # words only
            rows, header = [row[:-1] for row in rows], header[:-1]
        assert typed(f"table-{number:02d}") == [header, *rows], number


@pytest.mark.slow
def test_the_figures_cells_stand_in_the_pdf(released):
    pdfplumber = pytest.importorskip("pdfplumber")
    with pdfplumber.open(released / "paper.pdf") as pdf:
        text = pdf.pages[8].extract_text(x_tolerance=1.5)
    for row in typed("figure-02")[1:]:
        assert f"\n{' '.join(row)}\n" in f"\n{text}\n"


def percent(share: str) -> str:
    return f"{100 * float(share):.1f}%"


def interval(line: dict[str, str]) -> str:
    return f"[{100 * float(line['ci_low']):.1f}, {100 * float(line['ci_high']):.1f}]"


def counts(line: dict[str, str]) -> list[str]:
    return [line["n"], line["flips"], percent(line["asr"]), interval(line)]


def test_every_cell_is_what_the_release_holds_ready_made(released):
    """Formatted by Python, which rounds the stored floats; what a table sorts is looked up by its key."""
    models = lines(released / "majority_overall_asr.csv")
    directions = [m["dominant_direction"].replace(r"\%", "%").replace(r"$\rightarrow$", "→").split(" ") for m in models]
    assert typed("table-05")[1:] == [[m["model"], *counts(m), *way] for m, way in zip(models, directions, strict=True)]
    neutral = lines(released / "neutral_majority_asr.csv")
    assert typed("table-06")[1:] == [[m["model"], *counts(m), percent(m["core_asr"])] for m in neutral]
    perturbations = {line["perturbation"]: counts(line) for line in lines(released / "perturbation_asr.csv")}
    assert {row[0]: row[1:] for row in typed("table-07")[1:]} == perturbations
    cells = {(c["model"], c["perturbation"]): c for c in lines(released / "model_perturbation_tests.csv")}
    assert len(typed("table-08")) == 1 + 10
    for model, perturbation, n, *rest in typed("table-08")[1:]:
        cell = cells[model, perturbation]
        tests = [f"{float(cell[key]):.3f}" for key in ("mcnemar_p", "mcnemar_q_bh")]
        assert [n, *rest] == [cell["n"], percent(cell["asr"]), interval(cell), *tests]
    rates = lines(released / "agreement_asr.csv")
    assert typed("table-09")[1:] == [[f"{100 * float(r['human_off_rate']):.0f}%", *counts(r)] for r in rates]
    items = lines(released / "per_item_instability.csv")
    assert typed("table-13")[1:] == [
        [i["base_id"], i["human_votes"], i["n"], i["flips"], percent(i["asr"])] for i in items
    ]
    header, *figure = typed("figure-02")
    for model, *shown in figure:
        assert shown == [f"{100 * float(cells[model, name]['asr']):.0f}" for name in header[1:]]


def test_the_ten_largest_cells_leave_out_one_of_five_equals(released):
    """What the notes of the paper say of Table 8, from the counts."""
    cells = lines(released / "model_perturbation_tests.csv")
    flips = {f"{c['model']} / {c['perturbation']}": int(c["flips"]) for c in cells}
    listed = {f"{row[0]} / {row[1]}" for row in typed("table-08")[1:]}
    assert {name for name, count in flips.items() if count >= 5} - listed == {"Llama 3.1 8B / Affirmative framing"}
    assert sorted(flips[name] for name in listed) == [5, 5, 5, 5, 6, 6, 7, 7, 8, 11]


# --- the recount -----------------------------------------------------------------------------------------------------


def test_everything_holds_on_the_released_files(released):
    run = audit([FOLDER], Sources(data=released, offline=True).locate)
    assert Counter(v.verdict for v in run.verdicts) == {"reproduced": 330, "consistent": 373, "unchecked": 5}
    assert {v.reason.partition(":")[0] for v in run.verdicts if v.verdict == "unchecked"} == {"asserted only"}
    assert {located.status for located in run.inputs} == {"verified"}
    assert run.exit_code() == 0


def test_every_cell_with_a_number_of_tables_5_to_9_is_recounted(paper):
    recounted = {tuple(c.where.values()) for c in paper.claims if c.recipe}
    for name in ("table-05", "table-06", "table-07", "table-08", "table-09", "table-13", "figure-02"):
        table = paper.tables[name]
        for row in table.rows:
            for column in table.values:
                if column != "From and to":  # recounted as words, as five claims of their own
                    assert (table.spec.title, row, column) in recounted
    assert sum(1 for c in paper.claims if c.recipe == "direction_name") == 5


def test_without_the_files_the_recounts_are_unchecked(tmp_path):
    run = audit([FOLDER], Sources(offline=True, cache=tmp_path).locate, kinds=("recount",))
    assert Counter(v.verdict for v in run.verdicts) == {"unchecked": 330}
    assert {v.reason.partition(":")[0] for v in run.verdicts} == {"archive absent"}


def test_one_step_of_the_last_digit_turns_every_recounted_cell_red(paper, released):
    """Each printed number of a [[recount]], one unit of its last digit away: no check passes that could not fail.

    Where rounding to either side of a half is accepted, two neighbours print one value; these are named.
    """
    files = Sources(data=released, offline=True).locate(paper)
    spared = []
    for claim in (c for c in paper.claims if c.recipe and c.number is not None and c.number.kind != "word"):
        head, digit, tail = last_digit(claim.reported)
        changed = f"{head}{(digit + 1) % 10 if digit < 9 else digit - 1}{tail}"
        exact = None if claim.where["table"] != "Figure 2" else False
        verdict = judge(paper, replace(claim, reported=changed, number=parse(changed, exact=exact)), files)
        if verdict.verdict != "differs":
            spared.append((claim.id, changed))
    halves = {"0.063", "0.563"}  # 0.0625 and 0.5625 print so too, were halves rounded up
    assert {text for _, text in spared} == halves
    assert len(spared) == 3


def last_digit(text: str) -> tuple[str, int, str]:
    """Cut around the last digit of a number, that of the low end of an interval, or the votes of "3/5"."""
    stop = text.index(",") if "," in text else text.index("/") if "/" in text else len(text.rstrip("%"))
    return text[: stop - 1], int(text[stop - 1]), text[stop:]


# --- the recipes, on made-up counts -----------------------------------------------------------------------------------

CELLS = """model,level,perturbation,n,flips,not_to_off,off_to_not
A,p,P,10,4,4,0
A,q,Q,10,2,1,1
B,p,P,10,0,0,0
B,q,Q,10,3,0,3
"""


class Folder:
    """Made-up files in place of the release."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder = folder
        for name, text in files.items():
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")

    def path(self, name: str) -> Path:
        return self.folder / name.removeprefix(RELEASE)


@pytest.fixture
def made_up(tmp_path) -> Folder:
    return Folder(
        tmp_path,
        model_perturbation_tests=CELLS,
        majority_overall_asr="model,n,flips\nA,20,6\nB,20,4\n",
        perturbation_asr="perturbation,n,flips\nP,20,4\nQ,20,5\n",
    )


def test_sums_directions_and_tests_by_hand(made_up):
    a = {"by": "model", "row": "A", "column": ""}
    assert recipes.flips(made_up, **a).value == 6  # 4 + 2
    assert recipes.comparisons(made_up, **a).value == 20
    assert recipes.flip_rate(made_up, **a).value == 30  # 6 / 20
    assert recipes.main_direction(made_up, **a).value == pytest.approx(100 * 5 / 6)  # 4 + 1 of 6
    assert recipes.direction_name(made_up, **a).value == "not→off"
    assert recipes.flips(made_up, by="perturbation", row="P", column="").value == 4
    pair = {"by": "pair", "row": "A / P", "column": "p"}
    assert recipes.mcnemar_p(made_up, **pair).value == 0.125  # 2 / 2^4
    # p: 1/8, 1, 1 and 1/4 (2 / 2^3); the smallest of four is multiplied by 4 / 1, the next by 4 / 2, both to 1/2
    assert recipes.bh_q(made_up, **pair).value == 0.5
    assert recipes.bh_q(made_up, by="pair", row="B / Q", column="").value == 0.5
    assert recipes.bh_q(made_up, by="pair", row="B / P", column="").value == 1


def test_a_release_that_contradicts_itself_decides_nothing(made_up):
    with pytest.raises(CannotRecount, match=r"3 of 20.*has 4 of 20: the release contradicts itself"):
        recipes.flips(made_up, by="model", row="B", column="")
    odd = made_up.folder / "odd"
    odd.mkdir()
    with pytest.raises(CannotRecount, match="4 flips of A / P, of which 3 one way and 0 the other"):
        recipes.mcnemar_p(
            Folder(odd, model_perturbation_tests=CELLS.replace("10,4,4,0", "10,4,3,0")),
            by="pair",
            row="A / P",
            column="",
        )


def test_an_unknown_row_is_named(made_up):
    with pytest.raises(UserError, match=r"model_perturbation_tests.csv: no line for C / P"):
        recipes.flips(made_up, by="pair", row="C / P", column="")
