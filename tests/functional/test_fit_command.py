"""`countback fit` as a user runs it: what is read, what is refused in a sentence, what is written where."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from countback.audit.fit import run as fit_run
from fit_data import Engine
from judge_data import judged, panel, write

from tests.functional.inprocess import Run, runner

LOW = [1 / 99] * 20


@pytest.fixture
def run(tmp_path, monkeypatch) -> Run:
    return runner(tmp_path, tmp_path / "ledger", monkeypatch)


@pytest.fixture
def engine(monkeypatch) -> Engine:
    """Fits without fitting, so that what stands around a fit can be tried in no time."""
    stand_in = Engine(LOW)
    monkeypatch.setattr(fit_run, "_posteriors", stand_in)
    return stand_in


def labels(path: Path, *, shared: bool = True, **more) -> Path:
    rows, _ = panel(np.random.default_rng(5), shared=shared, items=20, **more)
    return write(path, rows)


def test_crossed_labels_are_fitted_and_written(run, engine, tmp_path):
    done = run("fit", labels(tmp_path / "labels.csv"), "--out", "out", "--json", "all.json")
    assert done.returncode == 0, done.stderr
    assert "20 of 20 items were labelled in more than one of the 3 countries" in done.stdout
    assert "BELOW 5%" in done.stdout
    assert done.stdout.rstrip().endswith("index.html")
    names = {path.name for path in Path("out").iterdir()}
    assert names == {"fit.json", "parts.svg", "countries.svg", "sweep.svg", "below.svg", "ranks.svg", "index.html"}
    assert Path("all.json").read_text() == Path("out/fit.json").read_text()
    tree = json.loads(Path("all.json").read_text())
    assert tree["input"]["labels"] == 180
    assert tree["input"]["scale"] == ["1", "2", "3"]
    page = Path("out/index.html").read_text()
    assert page.count("<svg") == 5
    assert '<p class="conclusion"><strong>BELOW 5%</strong>' in page
    shown = " ".join(unescape(re.sub("<[^>]+>", " ", page)).split()).casefold()
    for line in done.stdout.splitlines()[:-1]:  # but the names of the files
        assert " ".join(re.sub(r"^ +[-!>] ", "", line).split()).casefold() in shown, line


@pytest.mark.parametrize("name", ["index.html", "parts.svg", "fit.json"])
def test_a_file_that_no_fit_wrote_is_not_written_over(run, engine, tmp_path, name):
    Path("out").mkdir()
    Path("out", name).write_text("[1]")
    done = run("fit", labels(tmp_path / "labels.csv"), "--out", "out")
    assert done.returncode == 2
    assert f"out holds {name}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert engine.asked == []  # said before a long fit, not after it
    assert [path.read_text() for path in Path("out").iterdir()] == ["[1]"]


def test_a_second_fit_leaves_no_picture_of_the_first(run, engine, tmp_path):
    run("fit", labels(tmp_path / "labels.csv"), "--out", "out", "-q")
    Path("out/mine.txt").write_text("kept")
    done = run("fit", labels(tmp_path / "nested.csv", shared=False), "--out", "out", "-q")
    assert done.returncode == 3
    assert done.stdout == ""
    assert {path.name for path in Path("out").iterdir()} == {
        "fit.json",
        "parts.svg",
        "ranks.svg",
        "index.html",
        "mine.txt",
    }


def test_the_page_is_missed_without_jinja2_and_nothing_else(run, engine, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    done = run("fit", labels(tmp_path / "labels.csv"), "--out", "out")
    assert done.returncode == 0
    assert "pip install 'countback[report]'" in done.stdout
    assert {path.suffix for path in Path("out").iterdir()} == {".json", ".svg"}


@pytest.mark.parametrize("columns", ["40", "70", "100"])
def test_lines_fit_the_terminal(run, engine, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    done = run("fit", labels(tmp_path / "labels.csv"))
    # but for a digest, which is one word of 64 characters
    assert [line for line in done.stdout.splitlines() if len(line) > int(columns) and len(line.split()[-1]) < 64] == []


def test_without_the_models_extra(run, engine, tmp_path, monkeypatch):
    monkeypatch.setattr("countback.models.sampling.find_spec", lambda name: None)
    path = labels(tmp_path / "labels.csv")
    done = run("fit", path)
    assert done.returncode == 0
    assert engine.asked[0][0] == "approximate"
    assert done.stdout.startswith("APPROXIMATE")
    assert "nothing is sampled: " in " ".join(done.stdout.split())
    assert "pip install 'countback[models]'" in " ".join(done.stdout.split())
    done = run("fit", path, "--engine", "nuts")
    assert done.returncode == 2
    assert "pip install 'countback[models]'; --engine approximate needs nothing" in done.stderr


def test_json_alone(run, engine, tmp_path):
    done = run("fit", labels(tmp_path / "labels.csv"), "--json", "-")
    assert json.loads(done.stdout)["decision"] == "below"


def test_options_reach_the_engine(run, engine, tmp_path):
    path = labels(tmp_path / "labels.csv")
    done = run(
        "fit", path, "--engine", "nuts", "--prior", "HalfNormal(1)", "--no-sweep", "--seed", 7, "--draws", 300,
        "--chains", 2, "--jobs", 2, "--leave-out", "item:country",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name, data, options = engine.asked[0]
    assert name == "nuts"
    assert data.names == ("country", "item", "annotator")
    assert [str(prior) for prior in options.priors] == ["HalfNormal(1)"]
    assert (options.seed, options.draws, options.chains, options.jobs) == (7, 300, 2, 2)
    assert "NO DECISION" in done.stdout


def test_judges_are_read_and_their_gaps_counted(run, engine, tmp_path):
    rng = np.random.default_rng(5)
    rows, truth = panel(rng, shared=True, items=20)
    given = judged(rng, truth, 0.8)
    given = [row if k % 4 else (*row[:3], "") for k, row in enumerate(given)]  # 15 of 60 have no label
    done = run("fit", write(tmp_path / "a.csv", rows), "--judges", write(tmp_path / "b.csv", given), "--json", "-")
    tree = json.loads(done.stdout)
    assert tree["input"]["judges"] == {"model-x": {"units": 60, "missing": 15}}
    assert [file["name"] for file in tree["input"]["files"]] == ["a.csv", "b.csv"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([(f"i{k}", f"p{j}", "US", "12"[(k + j) % 2]) for k in range(20) for j in range(3)], "labels of 1 country"),
        ([(f"i{k}", f"{c}{j}", c, "1") for k in range(9) for c in "AB" for j in range(2)], "found no variation"),
        ([("i1", "a", "A", "1"), ("i1", "b", "B", "2"), ("i1", "c", "A", "2")], "3 valid labels from 2 countries"),
        ([("i1", "a", "A", "1"), ("i1", "b", "B", "2"), ("i2", "a", "A", "2")], "2 valid labels from 2 countries"),
    ],
    ids=["one country", "no variation", "three labels", "two labels beside one of an item of one country"],
)  # fmt: skip
def test_labels_that_cannot_answer(run, engine, tmp_path, rows, says):
    done = run("fit", write(tmp_path / "labels.csv", rows))
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert engine.asked == []


def test_one_item_each_is_confounded(run, engine, tmp_path):
    rows = [(c, f"{c}{k}", c, "123"[k % 3]) for c in ("A", "B", "C") for k in range(12)]
    done = run("fit", write(tmp_path / "labels.csv", rows))
    assert done.returncode == 3
    assert "CONFOUNDED" in done.stdout
    assert "P(share" not in done.stdout


def test_no_country_column(run, engine, tmp_path):
    rows = [(f"i{k}", f"p{j}", "12"[(k + j) % 2]) for k in range(20) for j in range(3)]
    done = run("fit", write(tmp_path / "labels.csv", rows, ("item", "annotator", "label")))
    assert done.returncode == 2
    assert "no country is named" in done.stderr
    assert "--columns country=COLUMN" in done.stderr


def test_the_group_may_be_any_column(run, engine, tmp_path):
    rows, _ = panel(np.random.default_rng(5), shared=True, items=20)
    path = write(tmp_path / "labels.csv", rows, ("item", "annotator", "team", "label"))
    assert run("fit", path).returncode == 2
    assert run("fit", path, "--columns", "country=team").returncode == 0


def test_labels_without_an_order_are_asked_for_one(run, engine, tmp_path):
    rows, _ = panel(np.random.default_rng(5), shared=True, items=20)
    named = [(*row[:3], {"1": "low", "2": "middle", "3": "high"}[row[3]]) for row in rows]
    path = write(tmp_path / "labels.csv", named)
    done = run("fit", path)
    assert done.returncode == 2
    assert f"countback fit {path} --labels LOWEST,...,HIGHEST" in done.stderr
    done = run("fit", path, "--labels", "low,middle,high")
    assert done.returncode == 0
    assert "low < middle < high" in " ".join(done.stdout.split())


def test_questions_on_two_scales_are_not_put_together(run, engine, tmp_path):
    rows, _ = panel(np.random.default_rng(5), shared=True, items=20)
    rows = [(*row[:3], row[3] + "0", "tone") for row in rows] + [
        (*row[:3], "12345"[k % 5], "harm") for k, row in enumerate(rows)
    ]
    path = write(tmp_path / "labels.csv", rows, ("item", "annotator", "country", "label", "question"))
    done = run("fit", path)
    assert done.returncode == 2
    assert "--question NAME" in done.stderr
    done = run("fit", path, "--question", "harm")
    assert done.returncode == 0, done.stderr
    assert "question harm; scale 1 < 2 < 3 < 4 < 5" in " ".join(done.stdout.split())
    assert "no question is called 'colour'; it has 'tone' and 'harm'" in run("fit", path, "--question", "colour").stderr
    one = run("fit", labels(tmp_path / "one.csv"), "--question", "colour").stderr
    assert "no question is called 'colour'; it has one, without a name: leave --question out" in one


def test_a_question_about_columns_names_this_command(run, engine, tmp_path):
    rows, _ = panel(np.random.default_rng(5), items=20)
    path = write(tmp_path / "labels.csv", rows, ("thing", "who", "country", "said"))
    done = run("fit", path)
    assert done.returncode == 2
    assert "countback fit" in done.stderr
    assert "countback judge" not in done.stderr


def test_a_draft_of_settings(run, engine, tmp_path):
    path = labels(tmp_path / "labels.csv")
    done = run("fit", path, "--config", "fit.toml")
    assert done.returncode == 2
    assert "fit.toml was written" in done.stderr
    assert run("fit", path, "--config", "fit.toml").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("labls.csv",), "no such file, and no paper is called that"),
        (("alt-test",), "nothing says how labels are read from its release"),
        (("cubes", "--offline", "--columns", "item=x"), "cubes is a paper"),
        (("cubes", "--unverified"), "--unverified needs --data DIR"),
        (("labels.csv", "--data", "."), "--data is for a paper's released files"),
        (("labels.csv", "--prior", "Normal(1)"), "--prior 'Normal(1)' is not understood"),
        (("labels.csv", "--leave-out", "country"), "'country' is not one of"),
        (("labels.csv", "--out", "labels.csv"), "labels.csv"),
        (("labels.csv", "--out", "labels.csv/inside"), "choose another folder for --out"),
        (("labels.csv", "--json", "nowhere/fit.json"), "choose another file for --json"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(run, engine, tmp_path, arguments, says):
    labels(Path("labels.csv"))
    done = run("fit", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert engine.asked == []


def test_a_paper_without_its_archive(run, engine):
    done = run("fit", "cubes", "--offline")
    assert done.returncode == 3
    assert "unchecked: archive absent" in done.stderr
    assert "countback fetch cubes" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_twin_is_synthetic_everywhere_and_nested(run, engine):
    assert run("twin", "cube_judge_alignment.zip").returncode == 0
    done = run("fit", "cubes", "--data", ".")
    assert done.returncode == 4  # it is not the released file
    done = run("fit", "cubes", "--data", ".", "--unverified", "--out", "out")
    assert done.returncode == 3
    assert done.stdout.startswith("SYNTHETIC")
    assert "CONFOUNDED" in done.stdout
    assert "P(share" not in done.stdout
    tree = json.loads(Path("out/fit.json").read_text())
    assert tree["synthetic"] is True
    assert tree["input"]["dropped"] == {"blank": 14, "not_in_codebook": 7}  # 21 of 622 slots hold no label
    assert tree["input"]["labels"] == 601
    assert "(SYNTHETIC)" in Path("out/parts.svg").read_text()
    assert "SYNTHETIC: " in Path("out/index.html").read_text()
    shutil.rmtree("out")


def test_a_paper_folder_of_ones_own_says_nothing_of_labels(run, engine):
    Path("counts.csv").write_text("name,n\na,1\n")
    assert run("new", "own", "--table", "counts.csv").returncode == 0
    done = run("fit", "./own")
    assert done.returncode == 2
    assert "nothing says how labels are read from its release" in done.stderr


def test_a_folder_called_like_a_paper_is_not_taken_for_it(run, engine):
    Path("cubes").mkdir()
    labels(Path("cubes/labels.csv"))
    assert "archive absent" in run("fit", "cubes", "--offline").stderr
    assert "archive absent" not in run("fit", "./cubes", "--offline").stderr


def test_labels_that_name_no_country_are_left_out_and_counted(run, engine, tmp_path):
    rows, _ = panel(np.random.default_rng(5), shared=True, items=20)
    rows = [row if k % 9 else (row[0], row[1], "", row[3]) for k, row in enumerate(rows)]
    done = run("fit", write(tmp_path / "labels.csv", rows), "--json", "all.json")
    assert done.returncode == 0, done.stderr
    assert "no country 20" in done.stdout
    tree = json.loads(Path("all.json").read_text())
    assert tree["design"]["countries"] == ["US", "PK", "NG"]
    assert tree["input"]["labels"] == 160
