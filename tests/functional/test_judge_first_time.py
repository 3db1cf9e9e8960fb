"""A file whose columns nobody named for us: one question, whose own line answers it, in every shape that teams have."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.functional.inprocess import runner

ITEMS = 40
PEOPLE = ("ann", "bob", "cy")
Table = tuple[Sequence[str], list[Sequence[object]]]


def label(item: int, who: int, scale: str = "12345") -> str:
    """Right mostly, and otherwise anything; the same on every run."""
    rng = np.random.default_rng(1000 * item + who)
    return scale[item % len(scale)] if rng.random() < 0.7 else scale[int(rng.integers(len(scale)))]


def long_words() -> Table:
    rows = [(i, PEOPLE[w], label(i, w, "ABC"), f"note {i} {w}") for i in range(ITEMS) for w in range(3)]
    return ("Doc No", "Who did it", "Verdict", "Remark"), rows


def long_all_numbers() -> Table:
    """Annotators 1 to 3 look like labels 1 to 5."""
    return ("Beleg", "Person", "Wert"), [(i + 1, w + 1, label(i, w)) for i in range(ITEMS) for w in range(3)]


def long_without_hints() -> Table:
    return ("a", "b", "c"), [(i + 1, w + 1, label(i, w)) for i in range(ITEMS) for w in range(3)]


def long_with_a_batch() -> Table:
    """A batch of 1 to 5 has the values of the scale, and belongs to the item."""
    rows = [(n, f"t{i}", i % 5 + 1, f"r{w}", label(i, w)) for n, (i, w) in enumerate(np.ndindex(ITEMS, 3))]
    return ("row", "case", "batch", "reader", "grade"), rows


def long_with_a_row_number_and_time() -> Table:
    rows = [(n, f"2026-01-0{1 + i % 9}", i, PEOPLE[w], label(i, w)) for n, (i, w) in enumerate(np.ndindex(ITEMS, 3))]
    return ("", "Datum", "Text ID", "Bewerter", "Bewertung"), [(n + 1, *rest) for n, *rest in rows]


def crowd() -> Table:
    """More people than items, and not everybody labelled everything."""
    rng = np.random.default_rng(3)
    rows = [(f"m{i}", f"u{w}", label(i, int(w), "01")) for i in range(ITEMS) for w in rng.permutation(60)[:6]]
    return ("meme", "crowd worker number", "hate"), rows


def judge_among_them() -> Table:
    names = (*PEOPLE, "gpt-4o")
    return ("doc", "from whom", "score"), [(i, names[w], label(i, w)) for i in range(ITEMS) for w in range(4)]


def wide() -> Table:
    rows = [(f"t{i}", *(label(i, w) for w in range(3)), f"text number {i}") for i in range(ITEMS)]
    return ("doc", "rater one", "rater two", "rater three", "the text"), rows


def wide_with_a_topic() -> Table:
    rows = [(f"t{i}", "abcdef"[i % 6], *(label(i, w, "yn") for w in range(4))) for i in range(ITEMS)]
    return ("nr", "topic", "Alice", "Bob", "Cyril", "Dana"), rows


def respondents() -> Table:
    """A row for each person, a column for each item."""
    rows = [(f"p{w}", *(label(i, w) for i in range(ITEMS))) for w in range(30)]
    return ("respondent code", *(f"v{i}" for i in range(ITEMS))), rows


def several_questions() -> Table:
    """A row for each person and item, a column for each question."""
    rows = [(i, PEOPLE[w], *(label(7 * i + q, w, "123") for q in range(3))) for i in range(ITEMS) for w in range(3)]
    return ("case", "who", "tone", "harm", "bias"), rows


def stacked_questions() -> Table:
    """A row for each person, item and question."""
    rows = [
        (i, PEOPLE[w], q, label(7 * i + n, w, "123"))
        for i in range(ITEMS)
        for w in range(3)
        for n, q in enumerate(("tone", "harm"))
    ]
    return ("case", "who", "what aspect", "given"), rows


LONG = "120 valid labels by 3 humans on 40 items"
SHAPES: dict[str, tuple[Callable[[], Table], str, str]] = {
    # the table, the answer that its question must name, and the beginning of the audit
    "long, words": (long_words, "item=Doc No,annotator=Who did it,label=Verdict", LONG),
    "long, numbers": (long_all_numbers, "item=Beleg,annotator=Person,label=Wert", LONG),
    "long, no hint": (long_without_hints, "item=a,annotator=b,label=c", LONG),
    "long, a batch": (
        long_with_a_batch,
        "item=case,annotator=reader,label=grade",
        LONG,
    ),
    "long, more columns": (
        long_with_a_row_number_and_time,
        "item=Text ID,annotator=Bewerter,label=Bewertung",
        LONG,
    ),
    "crowd": (crowd, "item=meme,annotator=crowd worker number,label=hate", "240 valid labels by 60 humans on 40"),
    "a judge among them": (
        judge_among_them,
        "item=doc,annotator=from whom,label=score",
        "160 valid labels by 4 humans on 40",
    ),
    "wide": (wide, "item=doc,annotators=rater one,rater two,rater three", LONG),
    "wide, a topic": (
        wide_with_a_topic,
        "item=nr,annotators=Alice,Bob,Cyril,Dana",
        "160 valid labels by 4 humans on 40",
    ),
    "respondents": (
        respondents,
        "annotator=respondent code,items=" + ",".join(f"v{i}" for i in range(ITEMS)),
        "1,200 valid labels by 30 humans on 40",
    ),
    "questions in columns": (
        several_questions,
        "item=case,annotator=who,questions=tone,harm,bias",
        "360 valid labels by 3 humans on 40 items, 3 questions",
    ),
    "questions in rows": (
        stacked_questions,
        "item=case,annotator=who,label=given,question=what aspect",
        "240 valid labels by 3 humans on 40 items, 2 questions",
    ),
}
FORMS = {
    "commas": ("utf-8", ","),
    "semicolons and a byte-order mark": ("utf-8-sig", ";"),
    "tabs": ("utf-8", "\t"),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    return runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)


def written(path: Path, table: Table, form: str) -> Path:
    encoding, mark = FORMS[form]
    text = io.StringIO()
    csv.writer(text, delimiter=mark).writerows([table[0], *table[1]])
    path.write_text(text.getvalue(), encoding=encoding)
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_question_and_the_line_in_it_answers(run, tmp_path: Path, shape: str, form: str) -> None:
    table, answer, verdict = SHAPES[shape]
    labels = written(tmp_path / "our labels.csv", table(), form)
    asked = run("judge", labels)
    assert (asked.returncode, asked.stdout) == (2, ""), asked.stdout
    assert asked.stderr.count("?") == 1  # one question
    (command,) = [line.strip() for line in asked.stderr.splitlines() if "--columns" in line]
    words = shlex.split(command)
    assert words[:3] == ["countback", "judge", str(labels)]
    assert words[words.index("--columns") + 1] == answer
    done = run(*words[1:], "--draws", "100")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(verdict)


@pytest.mark.parametrize("shape", SHAPES)
def test_or_a_file_to_edit_does(run, tmp_path: Path, shape: str) -> None:
    table, _, verdict = SHAPES[shape]
    labels = written(tmp_path / "our labels.csv", table(), "commas")
    command = ("judge", labels, "--config", "judge.toml", "--draws", "100")
    assert run(*command).returncode == 2
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(verdict)


def test_a_model_among_the_humans_is_named_with_the_option_that_says_so(run, tmp_path: Path) -> None:
    labels = written(tmp_path / "l.csv", judge_among_them(), "commas")
    told = ("judge", labels, "--columns", "item=doc,annotator=from whom,label=score", "--draws", "100")
    text = " ".join(run(*told).stdout.split())
    choice = shlex.split(text.partition("If they are models, say ")[2].partition(". ")[0])
    again = run(*told, *choice)
    assert again.stdout.startswith("120 valid labels by 3 humans on 40 items; 1 judge")


def test_names_with_commas_go_into_a_file(run, tmp_path: Path) -> None:
    """The option divides at commas, so no line with it may be offered."""
    names = ("doc", "Rater, first", "Rater, second", "Rater, third", "text")
    labels = written(tmp_path / "l.csv", (names, wide()[1]), "commas")
    asked = run("judge", labels)
    assert "--columns" not in asked.stderr
    assert asked.stderr.count("?") == 1
    (command,) = [line.strip() for line in asked.stderr.splitlines() if "--config" in line]
    assert run(*shlex.split(command)[1:]).returncode == 2
    assert run(*shlex.split(command)[1:], "--draws", "100").stdout.startswith(LONG)


def test_what_is_known_by_name_is_not_asked(run, tmp_path: Path) -> None:
    rows = long_all_numbers()[1]
    for known, answer in (
        (("item", "x", "y"), "annotator=x,label=y"),
        (("x", "annotator", "y"), "item=x,label=y"),
        (("x", "y", "label"), "item=x,annotator=y"),
    ):
        asked = run("judge", written(tmp_path / "l.csv", (known, rows), "commas"))
        (command,) = [line.strip() for line in asked.stderr.splitlines() if "--columns" in line]
        assert shlex.split(command)[-1] == answer
        assert run(*shlex.split(command)[1:], "--draws", "100").returncode == 0


def test_what_was_said_already_stays_in_the_line(run, tmp_path: Path) -> None:
    """Both files have names of their own: a question for each, and the second line holds the first answer."""
    labels = written(tmp_path / "l.csv", long_words(), "semicolons and a byte-order mark")
    rows = [(f"m{m}", i, label(i, 9 + m, "ABC")) for i in range(ITEMS) for m in range(2)]
    judges = written(tmp_path / "j.csv", (("which model", "Doc No", "said"), rows), "tabs")
    command = ["judge", labels, "--judges", judges, "--draws", "100"]
    for question, answer in (
        ("l.csv: which column is the item", "item=Doc No,annotator=Who did it,label=Verdict"),
        ("j.csv: which column is the item", "item=Doc No,annotator=which model,label=said"),
    ):
        asked = run(*command)
        assert asked.returncode == 2
        assert question in asked.stderr
        line = next(line for line in asked.stderr.splitlines() if line.startswith("  countback judge "))
        command = [*shlex.split(line)[1:], "--draws", "100"]
        assert command.count(answer) == 1
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("120 valid labels by 3 humans on 40 items; 2 judges")


def test_a_file_of_settings_that_leaves_a_column_out(run, tmp_path: Path) -> None:
    labels = written(tmp_path / "l.csv", long_words(), "commas")
    (tmp_path / "c.toml").write_text('[columns]\nitem = "Doc No"\n', encoding="utf-8")
    asked = run("judge", labels, "--config", tmp_path / "c.toml")
    assert "which column is the annotator and which the label?" in asked.stderr
    assert f"in its table [columns], for --config {tmp_path / 'c.toml'}" in asked.stderr
    (line,) = [line.strip() for line in asked.stderr.splitlines() if "--columns" in line]
    done = run(*shlex.split(line)[1:], "--draws", "100")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(LONG)
