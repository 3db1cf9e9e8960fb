"""`countback judge` as a first-time user runs it: one command to a verdict, or one question that can be answered."""

from __future__ import annotations

import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.fetch.readers.options import LIST_ROLES, ROLES
from judge_data import judged, panel, write

JUDGE = ("item", "judge", "country", "label")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Nested labels of three countries, and a good judge's."""
    rng = np.random.default_rng(1)
    rows, truth = panel(rng, items=50, people=5, right=0.7)
    return write(tmp_path / "labels.csv", rows), write(tmp_path / "judges.csv", judged(rng, truth, 0.95), JUDGE)


def sections(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and line == line.upper() and not line.startswith(" ")]


def test_a_verdict_in_one_command(countback, files) -> None:
    labels, judges = files
    done = countback("judge", labels, "--judges", judges, "--draws", 200)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "model-x: IT CAN STAND IN FOR ONE HUMAN" in done.stdout
    text = done.stdout
    # the design is spoken of before any number of a country
    assert "Each of the 3 countries labelled its own items" in text
    assert text.index("Before any comparison of countries") < text.index("WHAT THE DESIGN CAN SEPARATE")
    assert text.index("WHAT THE DESIGN CAN SEPARATE") < text.index("    US ")
    assert "CROSS THE DESIGN" in text
    assert "nan" not in text.lower().replace("finance", "")


def test_json_is_all_that_is_printed_and_holds_the_numbers(countback, files) -> None:
    labels, judges = files
    done = countback("judge", labels, "--judges", judges, "--draws", 200, "--seed", 7, "--json", "-")
    found = json.loads(done.stdout)
    assert found["schema"] == "countback.judge/1"
    assert (found["seed"], found["draws"]) == (7, 200)
    assert found["scope"]["labels"] == 3 * 50 * 5
    assert found["ingest"]["files"][0]["name"] == "labels.csv"
    assert len(found["ingest"]["files"][0]["sha256"]) == 64
    overall = found["judges"][0]["overall"]
    assert overall["n"] > 400
    assert set(overall["difference"]) == {
        "value", "low", "high", "n", "unit", "clusters", "method", "level", "note",
    }  # fmt: skip
    assert found["design"]["rank_gain"] == 0
    assert [row["kind"] for row in found["advice"]] == ["replace", "cross"]
    again = countback("judge", labels, "--judges", judges, "--draws", 200, "--seed", 7, "--json", "-")
    assert again.stdout == done.stdout


class Page(HTMLParser):
    """Checks that tags close in order and that nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            assert name not in ("src", "href") or (value or "").startswith("#")
            if name == "id":
                self.ids.append(value or "")
        assert tag not in ("script", "link")
        if tag not in ("meta", "line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_says_the_same(countback, files, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    labels, judges = files
    path = tmp_path / "audit.html"
    done = countback("judge", labels, "--judges", judges, "--draws", 200, "--html", path, "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    page = Page()
    source = path.read_text(encoding="utf-8")
    page.feed(source)
    assert not page.open
    assert len(set(page.ids)) == len(page.ids)
    assert "url(" not in source
    assert "can stand in for one human" in page.text
    assert "Before any comparison of countries" in page.text
    assert page.text.count("US") > 2


def test_names_of_users_are_text_on_the_page(countback, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(2)
    rows, truth = panel(rng, countries=("<b>US</b>", "<script>x()</script>"), items=25)
    labels = write(tmp_path / "l.csv", rows)
    judges = write(tmp_path / "j.csv", judged(rng, truth, 0.9, name="<i>m</i>"), JUDGE)
    path = tmp_path / "a.html"
    assert countback("judge", labels, "--judges", judges, "--draws", 100, "--html", path, "-q").returncode == 0
    source = path.read_text(encoding="utf-8")
    assert "<script>" not in source
    assert "<i>m</i>" not in source
    assert "&lt;b&gt;US&lt;/b&gt;" in source


def test_columns_with_names_of_their_own_are_one_question(countback, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows, _ = panel(rng, countries=("",), items=60, labels="ABC")
    odd = [(i, who, label, f"note {n}") for n, (i, who, _, label) in enumerate(rows)]
    labels = write(tmp_path / "survey 1.csv", odd, ("doc_no", "who_did_it", "verdict", "comment"))
    asked = countback("judge", labels)
    assert asked.returncode == 2
    assert asked.stdout == ""
    assert "which column is the item and which the annotator and which the label?" in asked.stderr
    assert "verdict     'A', 'B', 'C'" in asked.stderr
    # the line it prints is the answer
    (command,) = [line.strip() for line in asked.stderr.splitlines() if "--columns" in line]
    words = shlex.split(command)
    assert words[0] == "countback"
    done = countback(*words[1:], "--draws", 100)
    assert done.returncode == 0, done.stderr
    assert "180 valid labels by 3 humans on 60 items" in done.stdout


def test_counts_of_answers_are_taken_for_no_person(countback, tmp_path: Path) -> None:
    rows = [(f"v{i}", c, label, (i * 7 + 3) % 5) for i in range(8) for c in ("PK", "US") for label in "ABC"]
    done = countback("judge", write(tmp_path / "counts.csv", rows, ("item", "country", "label", "count")))
    assert done.returncode == 2
    assert "which column is the annotator?" in done.stderr
    assert "counts of answers cannot be read" in done.stderr
    assert "--columns annotator=COLUMN" in done.stderr


def test_wide_files_are_asked_about_as_such(countback, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [(i, *("ABC"[rng.integers(3)] for _ in range(3)), f"text {i}") for i in range(40)]
    labels = write(tmp_path / "wide.csv", rows, ("doc", "rater one", "rater two", "rater three", "text"))
    asked = countback("judge", labels)
    assert asked.returncode == 2
    (command,) = [line.strip() for line in asked.stderr.splitlines() if "--columns" in line]
    assert "annotators=rater one,rater two,rater three" in command
    done = countback(*shlex.split(command)[1:], "--draws", 100)
    assert "120 valid labels by 3 humans on 40 items" in done.stdout


def test_settings_are_written_to_be_edited_and_then_used(countback, tmp_path: Path) -> None:
    rows = [(i, who, ["fine", "awful", "soso"][i % 3]) for i in range(45) for who in ("ann", "bob", "cy")]
    labels = write(tmp_path / "l.csv", rows, ("doc", "person", "word"))
    config = tmp_path / "judge.toml"
    first = countback("judge", labels, "--config", config)
    assert first.returncode == 2
    assert "was written" in first.stderr
    text = config.read_text(encoding="utf-8")
    assert 'label = "word"' in text
    assert "ordered = false" in text
    plain = countback("judge", labels, "--config", config, "--draws", 100)
    assert plain.returncode == 0, plain.stderr
    assert "have no known order" in " ".join(plain.stdout.split())
    config.write_text(
        text.replace("ordered = false", "ordered = true").replace(
            '["awful", "fine", "soso"]', '["awful", "soso", "fine"]'
        ),
        encoding="utf-8",
    )
    ordered = countback("judge", labels, "--config", config, "--draws", 100)
    assert ordered.returncode == 0, ordered.stderr
    assert "have no known order" not in " ".join(ordered.stdout.split())


def export(tmp_path: Path) -> Path:
    """A made-up Label Studio export: 60 tasks, four people, a model's predictions."""
    rng = np.random.default_rng(5)

    def result(label: str) -> list[dict[str, Any]]:
        return [{"from_name": "tone", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]

    tasks = []
    for t in range(60):
        true = ["calm", "angry"][t % 2]
        other = {"calm": "angry", "angry": "calm"}[true]
        annotations = [
            {
                "id": t * 10 + who,
                "completed_by": {"id": who, "email": f"someone{who}@example.invalid"},
                "lead_time": 20.0 + who,
                "created_at": "2026-01-01T00:00:00Z",
                "was_cancelled": False,
                "result": result(true if rng.random() < 0.8 else other),
            }
            for who in range(4)
        ]
        given = [{"id": t, "model_version": "m1", "result": result(true if rng.random() < 0.97 else other)}]
        data = {"text": f"text {t}", "land": ["US", "PK"][t % 3 == 0]}
        tasks.append({"id": t, "data": data, "annotations": annotations, "predictions": given})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_label_studio_to_a_verdict_with_one_command(countback, tmp_path: Path) -> None:
    done = countback("judge", export(tmp_path), "--draws", 200)
    assert done.returncode == 0, done.stderr
    assert "240 valid labels by 4 humans on 60 items; 1 judge" in done.stdout
    assert "model:m1: IT CAN STAND IN FOR ONE HUMAN" in done.stdout
    assert "example.invalid" not in done.stdout
    country = ("judge", tmp_path / "export.json", "--draws", 200, "--columns", "country=land")
    asked = countback(*country)  # the same people labelled for both countries: are they?
    assert asked.returncode == 2
    assert "--set namespace=country" in asked.stderr
    assert "in 2 countries" in countback(*country, "--set", "namespace=global").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--labels", "calm"], "two labels or more"),
        (["--columns", "nothing"], "expected ROLE=COLUMN"),
        (["--columns", "country=nowhere"], "no 'nowhere'"),
        (["--set", "duplicates=perhaps"], "expected one of"),
        (["--set", "colour=red"], "There is no option 'colour'"),
        (["--reader", "oracle"], "There is no reader 'oracle'"),
        (["--draws", "5"], "100"),
        (["--set", "judge_file.kind=judge"], "no such file"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_two(countback, tmp_path: Path, arguments: list[str], words: str) -> None:
    done = countback("judge", export(tmp_path), *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_unreadable_files(countback, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    (tmp_path / "head.csv").write_text("item,annotator,label\n", encoding="utf-8")
    (tmp_path / "odd.json").write_text("{}", encoding="utf-8")
    (tmp_path / "bytes.csv").write_bytes(b"item,annotator,label\n1,a,caf\xe9\n")
    for name, words in (
        ("empty.csv", "is empty"),
        ("head.csv", "a header and no row"),
        ("odd.json", "no shape that is known"),
        ("bytes.csv", "--set encoding=cp1252"),
        ("absent.csv", "does not exist"),
    ):
        done = countback("judge", tmp_path / name)
        assert (done.returncode, done.stdout) == (2, ""), name
        assert words in done.stderr, name
        assert "Traceback" not in done.stderr


def test_narrow_and_ascii_terminals(countback, files) -> None:
    labels, judges = files
    done = countback("judge", labels, "--judges", judges, "--draws", 100, COLUMNS="45", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    advice = done.stdout.partition("WHAT TO DO")[2].partition("JUDGE model-x")[0]
    assert max(map(len, advice.splitlines())) <= 45
    assert "\x1b" not in done.stdout
    assert sections(done.stdout)[0] == "WHAT TO DO"


def test_help_names_the_roles_of_columns(countback) -> None:
    text = " ".join(countback("judge", "--help").stdout.split())
    for role in (*ROLES, *LIST_ROLES):
        assert re.search(rf"Which column of LABELS is what\. [^.]*\b{role}\b", text.replace("Roles: ", "")), role
