"""Manners that every command has, by walking the tree of commands: nothing here is a list that a new one could miss."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import countback.audit
import countback.claims
import countback.fetch
import countback.models
import numpy as np
import pytest
from countback.audit.cli import cli, main
from countback.fetch.release import is_reserved
from judge_data import panel, write

from tests.functional.terminal import COMMAND, on_a_terminal

CHECKOUT = Path(__file__).resolve().parents[2]
ROOMS = (countback.fetch, countback.models, countback.claims, countback.audit)


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below one, and itself, by the words that name it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from walk(below, (*path, name))


TREE = dict(walk(cli))
LEAVES = [path for path, command in TREE.items() if not isinstance(command, click.Group)]


def options_of(command: click.Command) -> set[str]:
    """Its own options; of a group also those of the command that is meant where none is named."""
    found = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    if isinstance(command, click.Group) and "show" in command.commands:
        found |= options_of(command.commands["show"])
    return found | {"--help", "-h"}


def named(words: list[str]) -> tuple[tuple[str, ...], click.Command]:
    """The command that words after `countback` name, as far as they do."""
    path: tuple[str, ...] = ()
    while len(path) < len(words) and (*path, words[len(path)]) in TREE:
        path = (*path, words[len(path)])
    return path, TREE[path]


def run(*arguments: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [52, 100])  # click writes help for no fewer than 50
@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_help_says_what_it_does_and_fits(path, columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    for option in ("-h", "--help"):
        code, out, err = run(*path, option, capsys=capsys)
        assert (code, err) == (0, "")
        assert out.startswith(f"Usage: countback {' '.join(path)}".rstrip())
        assert [line for line in out.splitlines() if len(line) > columns and line.strip().count(" ") > 1] == []


@pytest.mark.parametrize("path", [path for path in TREE if path], ids=" ".join)
def test_every_option_is_explained_and_an_example_shows_some(path):
    command = TREE[path]
    assert command.help
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []
    assert command.epilog
    assert command.epilog.startswith("Example: ")
    examples = [shlex.split(text) for text in command.epilog.removeprefix("Example: ").split("; ")]
    assert all(words[0] == "countback" for words in examples)
    meant = [named(words[1:])[0] for words in examples]
    assert any(shown[: len(path)] == path or (*shown, "show") == path for shown in meant)
    for words in examples:
        shown, of = named(words[1:])
        unknown = {word for word in words if word.startswith("-") and len(word) > 1} - options_of(of)
        assert unknown == set(), f"countback {' '.join(shown)} has no such option"


def texts() -> Iterator[tuple[str, str]]:
    """Every text in the code, joined as Python joins it, and every file that people read, with where it stands."""
    for room in ROOMS:
        for folder in room.__path__:
            for file in Path(folder).rglob("*.py"):
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield f"{file.name}:{node.lineno}", node.value
            for file in (*Path(folder).rglob("*.toml"), *Path(folder).rglob("*.j2")):
                yield file.name, re.sub(r"<style>.*?</style>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    for file in (CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").glob("*.[my]*")):
        yield file.name, file.read_text(encoding="utf-8")


OTHERS = {  # options of other programs that our texts name
    "--countback-data", "--lf", "--pyargs",  # pytest
    "--config", "--format", "--output",  # Potato's exporter, which its reader's message spells out
    "--message", "--no-color",  # the workflow in docs
    "--folder", "--jobs",  # scripts of countback.models, run with python -m
}  # fmt: skip


def test_no_text_names_an_option_that_does_not_exist():
    known = {option for command in TREE.values() for option in options_of(command)} | OTHERS | {"--version"}
    mentioned = [
        (where, option)
        for where, text in texts()
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)
        if not text.startswith("--") or text in known  # an option's own declaration
    ]
    assert len(mentioned) > 150
    assert [pair for pair in mentioned if pair[1] not in known] == []


def test_a_command_that_a_text_spells_out_has_the_options_it_names():
    """`countback check --json FILE` in a message, a document, a docstring: as it would be typed."""
    wrong = []
    seen = 0
    for where, text in texts():
        for words in re.findall(r"countback ((?:(?!countback)[^`\n;\"]){3,160})", text):
            pieces = re.findall(r"\S+", words)
            path, command = named(pieces)
            if not path:
                continue
            known = options_of(command)
            for word in pieces[len(path) :]:
                if word.endswith((",", ":", ".")) or word in ("and", "or", "which", "|", "then", ">", "&&"):
                    break  # prose goes on
                if re.fullmatch(r"--[a-z][a-z-]*", word):
                    seen += 1
                    wrong += [] if word in known else [(where, words)]
    assert seen > 30
    assert wrong == []


# --- completion -------------------------------------------------------------------------------------------------------


def completed(line: str, shell: str = "bash") -> list[str]:
    words = shlex.split(line)
    env = {**os.environ, "_COUNTBACK_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
    env["COMP_CWORD"] = str(len(words) - (not line.endswith(" ")))
    done = subprocess.run(COMMAND, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return [item.partition(",")[2] for item in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell, countback):
    if shell == "bash" and not Path("/bin/bash").exists():
        pytest.skip("needs bash, whose version click asks for")
    done = countback(_COUNTBACK_COMPLETE=f"{shell}_source")
    assert done.returncode == 0, done.stderr
    assert "_COUNTBACK_COMPLETE" in done.stdout
    assert "countback" in done.stdout


def test_what_a_shell_completes():
    assert completed("countback ch") == ["check"]
    assert completed("countback predict ") == ["amend", "resolve", "show"]
    assert completed("countback predict res") == ["resolve"]
    assert completed("countback predict --as") == ["--as-of"]
    assert completed("countback judge --judge-c") == ["--judge-columns"]
    assert completed("countback ledger v") == ["verify"]


def test_a_shell_that_uses_the_script(tmp_path: Path):
    """In bash itself: the line of the docs, and then what `countback che` may become."""
    bash = Path("/bin/bash")
    if not bash.exists():
        pytest.skip("needs bash")
    program = tmp_path / "countback"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from countback.audit.cli import main; main()" "$@"\n')
    program.chmod(0o755)
    (line,) = re.findall(r"\| `(eval [^`]*bash_source[^`]*)` \|", (CHECKOUT / "docs/command-line.md").read_text())
    ask = 'COMP_WORDS=(countback che); COMP_CWORD=1; _countback_completion countback; echo "${COMPREPLY[*]}"'
    script = f"{line}; {ask}"
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([bash, "-c", script], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "check\n", done.stderr


# --- wrong usage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_wrong_usage_is_exit_two_without_a_traceback(path, capsys):
    for words in (["--no-such-option"], ["--quiet=x"] if "--quiet" in options_of(TREE[path]) else ["-Z"]):
        code, out, err = run(*path, *words, capsys=capsys)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        assert err.startswith(("Usage: ", "Error: "))
    needed = [p for p in TREE[path].params if p.required]
    code, out, err = run(*path, capsys=capsys) if needed else (2, "", "Missing")
    assert (code, out) == (2, "")
    assert "Missing" in err


# --- what each prints, and where --------------------------------------------------------------------------------------


@pytest.fixture
def world(
    paper: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Path:
    """A folder with something for every command to work on."""
    here = tmp_path / "world"
    here.mkdir()
    monkeypatch.chdir(here)
    for name, value in {"COUNTBACK_DATA": tmp_path / "cache", "COUNTBACK_LEDGER": here / "ledger.jsonl"}.items():
        monkeypatch.setenv(name, str(value))
    rows, _ = panel(np.random.default_rng(1), items=30, countries=("US", "Bosnien und Herzegowina, Region Süd"))
    write(here / "labels.csv", rows)
    (here / "text.txt").write_text("1 Einführung\nWe compare 2 models – and 3.80, 47 and 48 other things.\n", "utf-8")
    (here / "con.csv").write_text("Modell Δ,Wert\nA,1.2\nB,1.4\n", encoding="utf-8")
    table = paper / "tables" / "t1.csv"
    run("check", paper, "--offline", "-q", "--json", "one.json", capsys=capsys)
    table.write_text(table.read_text().replace("4.20", "4.30"))
    run("check", paper, "--offline", "-q", "--json", "two.json", capsys=capsys)
    if request.node.callspec.params["path"] == ("ledger", "verify"):
        run("check", paper, "--offline", "-q", "--record", capsys=capsys)
    (here / "demo").symlink_to(paper)
    return here


CASES: dict[tuple[str, ...], tuple[str, int]] = {  # arguments, and the exit code that is due
    ("check",): ("demo --offline", 1),
    ("coverage",): ("demo text.txt", 3),
    ("diff",): ("one.json two.json", 1),
    ("fetch",): ("cubes --offline", 3),
    ("fit",): ("labels.csv --engine approximate --no-sweep --draws 100", 3),  # countries with items of their own
    ("judge",): ("labels.csv --draws 100", 0),
    ("ledger", "verify"): ("", 0),
    ("new",): ("smith-2026 --table con.csv", 0),
    ("plan",): ("--countries 3 --items-per-cell 2 --shared-items 2", 0),
    ("predict", "amend"): ("cubes/p1 --reason x", 2),
    ("predict", "resolve"): ("cubes/p1 --outcome void --reason x", 0),
    ("predict", "show"): ("cubes", 0),
    ("report",): ("demo --offline --out out", 0),
    ("twin",): ("twin.zip", 0),
    ("watch",): ("demo", 2),
}
PROSE = re.compile(r"\w+ \w+ \w+ \w+")  # four words in a row: a table has none


def test_every_command_has_its_case():
    assert set(CASES) == set(LEAVES)


SLOW = (("fit",), ("twin",), ("plan",))
EACH = [pytest.param(path, id=" ".join(path), marks=[pytest.mark.slow] * (path in SLOW)) for path in CASES]


COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CURSOR = re.compile(r"\x1b\[\??[0-9;]*[A-Za-z]")


@pytest.mark.parametrize("path", EACH)
def test_a_narrow_terminal_that_knows_neither_colours_nor_greek(path, world):
    arguments, code = CASES[path]
    words = [*path, *shlex.split(arguments)]
    ended, shown = on_a_terminal(words, 40, NO_COLOR="1", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert ended == code, shown
    assert "Traceback" not in shown
    assert not COLOUR.search(shown)
    assert "\xce\x94" not in shown  # a Greek letter's bytes in UTF-8
    lines = [line.rstrip() for line in CURSOR.sub("", shown).splitlines()]
    if path != ("fetch",):  # whose lines are messages to search for, as those of mistakes are
        lines = [line for line in lines if not re.match(r"countback: |[A-Z]{4,}", line)]
        assert [line for line in lines if len(line) > 40 and PROSE.search(line)] == []


@pytest.mark.parametrize("path", EACH)
def test_without_a_locale(path, world):
    """Where the locale says ASCII, click writes UTF-8, which terminals read all the same; nothing may break."""
    arguments, code = CASES[path]
    env = {k: v for k, v in os.environ.items() if k not in ("LANG", "PYTHONUTF8")}
    env |= {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    words = [*COMMAND, *path, *shlex.split(arguments)]
    done = subprocess.run(words, env=env, capture_output=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    done.stdout.decode("utf-8")


@pytest.mark.parametrize("path", EACH)
def test_what_tells_its_progress_can_be_told_to_be_quiet(path, world):
    """A dumb terminal gets no colours; with --quiet nothing is shown but what went wrong; else there is no progress."""
    arguments, code = CASES[path]
    words = [*path, *shlex.split(arguments)]
    quiet = ["--quiet"] * ("--quiet" in options_of(TREE[path]))
    ended, shown = on_a_terminal([*words, *quiet], 100, only_errors=not quiet, TERM="dumb")
    assert ended == code
    assert "\x1b" not in shown
    wrong = "countback: " if code == 2 else "cubes/" if path == ("fetch",) else ""
    assert [line for line in shown.splitlines() if not wrong or not line.startswith(wrong)] == []


@pytest.mark.parametrize("path", EACH)
def test_files_have_names_that_every_system_can_hold(path, world, tmp_path: Path):
    arguments, code = CASES[path]
    before = set(tmp_path.rglob("*"))
    more = {
        ("check",): "--json verdicts.json --record",
        ("judge",): "--json audit.json --html audit.html",
        ("predict", "show"): "--json predictions.json",
    }.get(path, "")
    words = [*path, *shlex.split(arguments), *shlex.split(more)]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    written = set(tmp_path.rglob("*")) - before
    assert bool(written) == (path in WRITES), sorted(file.name for file in written)
    for file in written:
        assert not is_reserved(file.name), file
        assert re.fullmatch(r"[A-Za-z0-9._+-]+", file.name), file
        assert len(file.name) < 100
    folded = [str(file).casefold() for file in written]
    assert len(set(folded)) == len(folded)


WRITES = {("check",), ("judge",), ("new",), ("predict", "resolve"), ("predict", "show"), ("report",), ("twin",)}
