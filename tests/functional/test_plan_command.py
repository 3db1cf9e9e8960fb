"""`countback plan` as a user runs it: numbers with what they rest on, a list to hand out, and clear refusals."""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_data import judged, panel, write

from tests.functional.inprocess import Run, runner

ARTICLE = ("--countries", 12, "--questions", 11, "--items-per-cell", 3, "--shared-items", 10, "--price", "1.63")


@pytest.fixture
def countback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    run = runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)
    return lambda *arguments: run("plan", "--draws", 20, *arguments)


def flat(text: str) -> str:
    return " ".join(text.split())


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- The answer ---------------------------------------------------------------------------------------------------


def test_the_articles_design_in_words(countback: Run) -> None:
    done = countback(*ARTICLE)
    assert (done.returncode, done.stderr) == (0, "")
    text = flat(done.stdout)
    assert "2,580 labels on 406 items, 4,205.40" in text  # 12 x (33 + 10) x 5; 12 x 33 + 10; 2,580 x 1.63
    assert "600 labels, 30% on top of the own ones" in text
    assert "nested: cannot be told at any number of labels" in text
    assert "synthetic" in text
    assert "assumed; --pilot LABELS learns it" in text
    for kind in ("nested", "hybrid *", "crossed"):
        assert f"\n    {kind}" in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert "nan" not in done.stdout


def test_questions_that_no_shared_item_asks_are_said(countback: Run) -> None:
    """Counted in the list that is handed out: of five questions two have no shared item."""
    ask = ("--countries", 3, "--questions", 5, "--items-per-cell", 2, "--draws", 20, "--assign", "list.csv")
    done = countback(*ask, "--shared-items", 3)
    rows = rows_of(Path("list.csv"))
    without = {row["question"] for row in rows} - {row["question"] for row in rows if row["block"] == "shared"}
    assert len(without) == 2
    assert "do not go round the questions: 2 of 5 have none, and of those no difference" in flat(done.stdout)
    assert "5 shared items would do." in flat(done.stdout)
    assert "do not go round" not in countback(*ask[:-2], "--shared-items", 5).stdout


def test_nested_is_said_to_tell_nothing_and_what_sharing_costs(countback: Run) -> None:
    done = countback("--countries", "Pakistan,Nigeria", "--shared-items", 0, "--price", 2)
    text = flat(done.stdout)
    assert "CANNOT BE TOLD AT ANY NUMBER OF LABELS" in text
    assert "ten items labelled in every country take 100 labels more, 200.00" in text


def test_json_has_the_numbers_and_repeats(countback: Run) -> None:
    done = countback(*ARTICLE, "--json", "-")
    found = json.loads(done.stdout)
    assert found["schema"] == "countback.plan/1"
    assert "simulated or enumerated" in found["synthetic"]
    assert [row["kind"] for row in found["designs"]] == ["nested", "hybrid", "crossed"]
    hybrid = found["designs"][1]
    assert hybrid["cost"] == "4205.4"
    assert hybrid["cost_by_country"] == ["350.45"] * 12
    assert [p["share"] for p in hybrid["powers"]] == [0.0, 0.1]
    assert found["designs"][0]["powers"][0]["estimate"] is None
    assert found["designs"][0]["powers"][0]["undecided"] == 1
    assert found["assumed"]["model"]["base"] == [1 / 3] * 3
    assert (found["seed"], found["draws"]) == (20261129, 20)
    assert countback(*ARTICLE, "--json", "-").stdout == done.stdout
    other = json.loads(countback(*ARTICLE, "--json", "-", "--seed", 1).stdout)
    assert other["designs"][1]["powers"] != hybrid["powers"]


def test_only_the_files_with_quiet(countback: Run) -> None:
    done = countback("--countries", 3, "--quiet", "--json", "plan.json", "--assign", "list.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(Path("plan.json").read_text())["countries"] == ["country 1", "country 2", "country 3"]
    assert len(rows_of(Path("list.csv"))) == 3 * 20 * 5


def test_a_page(countback: Run) -> None:
    done = countback("--countries", "<b>A&B,C", "--price", 1, "--html", "plan.html", "--quiet")
    assert done.returncode == 0, done.stderr
    page = Path("plan.html").read_text(encoding="utf-8")
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "<b>A" not in page
    assert "synthetic" in page
    assert "<script" not in page
    assert "http" not in page


def test_shares_asked_for(countback: Run) -> None:
    found = json.loads(countback("--countries", 4, "--share", 0.02, "--share", 0.3, "--json", "-").stdout)
    assert [p["share"] for p in found["designs"][1]["powers"]] == [0.02, 0.3]
    assert [[p["share"] for p in one["powers"]] for one in found["more"]] == [[0.02, 0.3]] * 2


def test_narrow(countback: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = countback("--countries", 2, "--price", 1)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 40


# --- Money --------------------------------------------------------------------------------------------------------


def test_a_budget_says_how_many_items(countback: Run) -> None:
    """One item more per cell is 2 x 5 x 2 = 20 a country pair at price 1; ten shared ones are 100 first: 7 are 240."""
    found = json.loads(
        countback("--countries", 2, "--questions", 2, "--price", 1, "--budget", "245.99", "--json", "-").stdout
    )
    assert found["chosen_by_budget"] is True
    assert found["design"]["own"] == 7
    assert found["designs"][1]["cost"] == "240"


def test_over_budget_is_said_and_nothing_is_handed_out(countback: Run) -> None:
    ask = ("--countries", 2, "--items-per-cell", 9, "--price", 1, "--budget", 150)
    done = countback(*ask)
    assert done.returncode == 0
    assert "OVER BUDGET: 190.00 against 150.00. What the budget pays for: 5 own items per cell." in flat(done.stdout)
    done = countback(*ask, "--assign", "list.csv")
    assert done.returncode == 2
    assert "no list was written" in done.stderr
    assert not Path("list.csv").exists()


def test_prices_by_country(countback: Run) -> None:
    Path("prices.csv").write_text('country,price\n"Korea, South",1.25\nIndia,0.5\nPeru,9\n', encoding="utf-8-sig")
    ask = ("--countries", '"Korea, South",India', "--items-per-cell", 2, "--shared-items", 2, "--labels-per-item", 3)
    done = countback(*ask, "--prices", "prices.csv")
    assert "Korea, South      12   1.25  15.00" in done.stdout  # 4 items x 3 labels
    assert "India             12    0.5  6.00" in done.stdout
    assert "all               24         21.00" in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("country,price\nA,1\n", "has no price for B; it has A; add a row"),
        ("country,price\nA,1\nA,2\nB,1\n", "'A' has two prices"),
        ("country,price\nA,x\nB,1\n", "expected an amount"),
        ("country,price\nA,-1\nB,1\n", "expected an amount"),
        ("country,price\nA,1,2\nB,1\n", "row 2 has 3 cells"),
        ("land,price\nA,1\n", "expected the columns country,price"),
        ("", "expected the columns country,price"),
        ("country,price\nB,\x9d\n", "expected an amount"),
    ],
)
def test_prices_that_cannot_be(countback: Run, text: str, said: str) -> None:
    Path("prices.csv").write_text(text, encoding="utf-8")
    done = countback("--countries", "A,B", "--prices", "prices.csv")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# --- What cannot be -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--countries", "0"], "a number from 1 to 200"),
        (["--countries", "1e3"], "a number from 1 to 200"),
        (["--countries", "nan"], "a number from 1 to 200"),
        (["--countries", "201"], "a number from 1 to 200"),
        (["--countries", ""], "found 0 names"),
        (["--countries", "A,,B"], "a name that is empty"),
        (["--countries", "A,a"], "expected each country once"),
        (["--countries", "A\nB"], "characters that nobody sees"),
        (["--countries", "A\u202eB,C"], "characters that nobody sees"),
        (["--countries", '"A,B'], "quotation mark"),
        (["--countries", "=1+1,B"], "would run it as a formula"),
        (["--countries", "@x,B"], "would run it as a formula"),
        (["--countries", "3", "--annotators", "4"], "nobody labels an item twice"),
        (["--countries", "3", "--annotators", "8,8"], "found 2 numbers for 3 countries"),
        (["--countries", "3", "--annotators", "0"], "expected a number from 1 on"),
        (["--countries", "3", "--annotators", "-5"], "expected a number from 1 on"),
        (["--countries", "3", "--price", "NaN"], "expected an amount"),
        (["--countries", "3", "--price", "inf"], "expected an amount"),
        (["--countries", "3", "--price", "1e99999"], "expected an amount"),
        (["--countries", "3", "--price", "1,63"], "expected an amount"),
        (["--countries", "3", "--budget", "10"], "add --price"),
        (["--countries", "3", "--budget", "10", "--price", "1"], "does not pay for one item in each cell"),
        (["--countries", "3", "--budget", "10", "--price", "0"], "cost nothing"),
        (["--countries", "3", "--share", "nan"], "expected a number from 0 to 1"),
        (["--countries", "3", "--agreement", "nan"], "expected a number from 0 to 1"),
        (["--countries", "3", "--items-per-cell", "0", "--shared-items", "0"], "expected some of either"),
        (["--countries", "99", "--items-per-cell", "999999", "--questions", "999999"], "at most 1,000,000,000"),
        (["--countries", "99", "--items-per-cell", "9999", "--assign", "x.csv"], "at most 300,000 in one list"),
    ],
)
def test_a_sentence_for_what_cannot_be(countback: Run, options: list[str], said: str) -> None:
    done = countback(*options)
    assert done.returncode == 2
    assert said in done.stderr
    assert "internal error" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--countries", "1"], "One country: nothing about differences"),
        (["--countries", "1", "--items-per-cell", "0"], "One country: nothing about differences"),
        (["--countries", "3", "--annotators", "1", "--labels-per-item", "1"], "one annotator in each country"),
        (["--countries", "3", "--labels-per-item", "1"], "no other label to compare with"),
        (["--countries", "3", "--shared-items", "1"], "CANNOT BE TOLD, although items are shared"),
        (["--countries", "3", "--price", "0"], "0.00"),
        (["--countries", "3", "--agreement", "0"], "agree 0.00 beyond"),
        (["--countries", "3", "--agreement", "1"], "agree 1.00 beyond"),
        (["--countries", "3", "--items-per-cell", "1", "--shared-items", "0"], "one item in each country"),
        (["--countries", "3", "--annotators", "200"], "Some would have nothing to do"),
    ],
)
def test_designs_at_the_edge_get_an_answer(countback: Run, options: list[str], said: str) -> None:
    done = countback(*options)
    assert done.returncode == 0, done.stderr
    assert said in flat(done.stdout)
    assert "nan" not in done.stdout


# --- Who labels what ----------------------------------------------------------------------------------------------


def test_the_list_is_even_and_the_same_again(countback: Run) -> None:
    ask = ("--countries", '"Korea, South","A ""B"" C",Peru', "--questions", 3, "--items-per-cell", 2)
    ask += ("--shared-items", 4, "--annotators", "5,6,9", "--labels-per-item", 4, "--assign")
    done = countback(*ask, "list.csv")
    assert "120 labels to give" in flat(done.stdout)  # 3 x (6 + 4) x 4
    assert "16 of them" not in done.stdout
    assert "48 of them on shared items. Country can be told from items." in flat(done.stdout)
    rows = rows_of(Path("list.csv"))
    assert list(rows[0]) == ["item", "question", "country", "annotator", "block", "order"]
    assert Counter(row["country"] for row in rows) == {"Korea, South": 40, 'A "B" C': 40, "Peru": 40}
    for name, people in (("Korea, South", 5), ('A "B" C', 6), ("Peru", 9)):
        loads = Counter(row["annotator"] for row in rows if row["country"] == name)
        assert len(loads) == people
        assert max(loads.values()) - min(loads.values()) <= 1
    assert len({(row["item"], row["annotator"]) for row in rows}) == len(rows)
    shared = {row["item"] for row in rows if row["block"] == "shared"}
    assert len(shared) == 4
    assert all({row["country"] for row in rows if row["item"] == item} >= {"Peru", 'A "B" C'} for item in shared)
    countback(*ask, "again.csv")
    assert Path("again.csv").read_bytes() == Path("list.csv").read_bytes()
    countback(*ask, "other.csv", "--seed", 5)
    assert Path("other.csv").read_bytes() != Path("list.csv").read_bytes()


def test_an_older_list_is_kept(countback: Run) -> None:
    assert countback("--countries", 2, "--assign", "list.csv").returncode == 0
    before = Path("list.csv").read_bytes()
    assert countback("--countries", 2, "--assign", "list.csv").returncode == 0  # the same list: nothing to lose
    done = countback("--countries", 3, "--assign", "list.csv")
    assert done.returncode == 2
    assert "choose another name" in done.stderr
    assert Path("list.csv").read_bytes() == before
    assert countback("--countries", 2, "--assign", "missing/list.csv").returncode == 2
    assert countback("--countries", 2, "--assign", "/dev/null", "--quiet").returncode == 0
    assert [path.name for path in Path().iterdir()] == ["list.csv"]


def test_a_nested_list_says_what_it_cannot(countback: Run) -> None:
    done = countback("--countries", 2, "--shared-items", 0, "--assign", "list.csv")
    assert "Country CANNOT be told from items." in flat(done.stdout)


# --- A pilot ------------------------------------------------------------------------------------------------------


@pytest.fixture
def pilot(tmp_path: Path) -> Any:
    def make(*, judge: bool, shared: bool = True, items: int = 60) -> Path:
        rng = np.random.default_rng(2)
        rows, truth = panel(rng, items=items, people=4, right=0.8, shared=shared)
        rows = [(*row, "human") for row in rows]
        if judge:
            rows += [(*row, "judge") for row in judged(rng, truth, 0.9)]
        return write(tmp_path / "pilot.csv", rows, ("item", "annotator", "country", "label", "kind"))

    return make


def test_a_pilot_teaches(countback: Run, pilot: Any) -> None:
    found = json.loads(countback("--countries", 4, "--pilot", pilot(judge=True), "--json", "-").stdout)
    assert found["pilot"]["judge"] == "model-x"
    assert (found["pilot"]["valid"], found["pilot"]["items"]) == (3 * 60 * 4, 3 * 60)
    # A label is the item's own with 0.8, else any of three: two of an item agree 0.8 x 0.8 beyond chance.
    model = found["assumed"]["model"]
    assert 1 - (1 - model["between"]) * (1 - model["within"]) == pytest.approx(0.64, abs=0.06)
    assert found["judge"]["judge"] > found["judge"]["human"] > 0.7
    assert sum(found["assumed"]["parts"].values()) == pytest.approx(1)
    assert found["assumed"]["parts"]["item"] > 0.4
    assert found["pilot"]["notes"] == []


def test_what_a_pilot_cannot_teach_is_assumed_and_said(countback: Run, pilot: Any) -> None:
    done = countback("--countries", 4, "--pilot", pilot(judge=False, shared=False))
    text = flat(done.stdout)
    assert "learned from pilot.csv (720 labels on 180 items)" in text
    assert "How variance divides between items and annotators is assumed, not learned" in text
    assert "Judge: gives the majority of all humans on 83% of items" in text
    few = flat(countback("--countries", 4, "--pilot", pilot(judge=True, items=5)).stdout)
    assert "fewer than 20: how a judge stands to the humans is assumed" in few


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,annotator,country,label\ni1,a,X,1\ni2,b,X,2\n", "no item with two labels"),
        ("what,ever\n1,2\n", "--columns"),
        ("", "empty"),
        (
            "item,annotator,country,label\n" + "".join(f"i{i},a{a},X,1\n" for i in range(9) for a in "bc"),
            "all 18 labels",
        ),
    ],
)
def test_pilots_that_cannot_teach(countback: Run, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    done = countback("--countries", 4, "--pilot", path)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert "internal error" not in done.stderr


def test_the_command_that_answers_a_question_runs(countback: Run, tmp_path: Path) -> None:
    rows = [f"i{i},p{a},{'XY'[i % 2]},{(i + a) % 3}" for i in range(30) for a in range(3)]
    (tmp_path / "pilot.csv").write_text("\n".join(["item,annotator,country,label", *rows]) + "\n")
    asked = countback("--countries", "X,Y or Z", "--pilot", tmp_path / "pilot.csv").stderr
    told = shlex.split(next(line for line in asked.splitlines() if "With this command:" in line).split(":", 1)[1])
    assert told[:4] == ["countback", "plan", "--countries", "X,Y or Z"]
    assert countback(*told[2:]).returncode == 0


def test_a_budget_that_no_study_spends_limits_nothing(countback: Run) -> None:
    done = countback("--countries", 3, "--items-per-cell", 4, "--price", "0.01", "--budget", "100000000")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Costs 2.10 of 100,000,000.00" in flat(done.stdout)  # 3 x (4 + 10) x 5 x 0.01
    assert "pays for:" not in done.stdout


def test_assumptions_beside_a_pilot(countback: Run, pilot: Any) -> None:
    done = countback("--countries", 4, "--pilot", pilot(judge=False), "--agreement", 0.5)
    assert done.returncode == 2
    assert "a pilot teaches its own" in done.stderr
    done = countback("--countries", 4, "--pilot", pilot(judge=False), "--levels", 5)
    assert "--levels and --pilot were both given" in done.stderr
