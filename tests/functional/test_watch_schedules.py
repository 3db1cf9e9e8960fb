"""The ready-made schedules: the commands of the workflow and of the cron line, run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.functional import upstream_shapes as shapes
from tests.functional.fakehost import FakeHost, status

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "docs" / "watch-workflow.yml"
CRON = re.compile(r"^\s*((?:[\d*,/-]+ ){5})(countback watch .*)$", re.MULTILINE)
SCRIPTS = Path(sys.executable).parent
pytestmark = pytest.mark.skipif(
    os.name == "nt" or not (SCRIPTS / "countback").exists(), reason="needs a shell and the installed command"
)


@pytest.fixture
def host():
    with FakeHost() as server:
        shapes.quiet_world(server)
        yield server


@pytest.fixture
def shell(paper, host, tmp_path):
    """Run a script in an empty git repository with a remote, as a runner of workflows would: bash, stop at an error."""
    (paper / "upstream.toml").write_text(shapes.upstream_toml(host), encoding="utf-8")
    here, remote, bin_ = tmp_path / "repository", tmp_path / "remote.git", tmp_path / "bin"
    bin_.mkdir()
    mail = bin_ / "mail"
    mail.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >> {tmp_path}/mail.txt\ncat >> {tmp_path}/mail.txt\n')
    mail.chmod(0o755)
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    subprocess.run(["git", "clone", "--quiet", remote, here], check=True, capture_output=True)
    env = {
        "PATH": os.pathsep.join([str(bin_), str(SCRIPTS), os.environ["PATH"]]),
        "HOME": str(tmp_path),
        "USER": "somebody",
        "NO_PROXY": "127.0.0.1",
        "PAPERS": str(paper),
        "COUNTBACK_LEDGER": "watch/ledger.jsonl",
        "GITHUB_OUTPUT": str(tmp_path / "output.txt"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.txt"),
    }

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", script], cwd=here, env=env, capture_output=True, text=True, check=False
        )

    return run


def steps() -> dict[str, str]:
    """The scripts of the workflow by the names of their steps."""
    text = WORKFLOW.read_text(encoding="utf-8")
    found = re.findall(r"- name: (.+)\n(?:        \S.*\n)*?        run: \|\n((?:          .*\n)+)", text)
    return {name: textwrap.dedent(script) for name, script in found}


def test_the_workflow_has_these_steps_and_the_environment_they_need():
    assert list(steps()) == ["install", "look", "keep the ledger", "tell"]
    assert steps()["install"] == "python -m pip install countback\n"
    text = WORKFLOW.read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{?([A-Z_]+)", "".join(steps().values()))) == {
        "PAPERS", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY",
    }  # fmt: skip
    assert "\n  COUNTBACK_LEDGER: watch/ledger.jsonl\n" in text
    assert "if: steps.look.outputs.code != '0'" in text
    assert re.search(r"permissions:\n  contents: write\n", text)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_workflow_over_four_weeks(shell, host, tmp_path):
    def week() -> str:
        for step in ("look", "keep the ledger"):
            done = shell(steps()[step])
            assert done.returncode == 0, done.stderr
        return (tmp_path / "output.txt").read_text().splitlines()[-1]

    assert week() == "code=0"
    host.on(shapes.ARXIV, shapes.arxiv(2, "2027-03-15T08:00:00Z"))
    assert week() == "code=1"
    assert shell(steps()["tell"]).returncode == 1
    assert "new: v2" in (tmp_path / "summary.txt").read_text()
    assert week() == "code=0"
    host.on(shapes.ANONYMOUS, status(425))  # being prepared: it may pass by itself
    assert week() == "code=3"
    log = subprocess.run(
        ["git", "--git-dir", tmp_path / "remote.git", "log", "--all", "--format=%s", "--stat"],
        capture_output=True,
        text=True,
    ).stdout
    assert len(re.findall(r"^watch, \d{4}-\d\d-\d\d$", log, re.MULTILINE)) == 4
    assert log.count("ledger.jsonl.head") == 4
    assert "ledger.jsonl.lock" not in log


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_workflow_stops_at_a_broken_ledger(shell, tmp_path):
    assert shell(steps()["look"]).returncode == 0
    ledger = tmp_path / "repository" / "watch" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"labels.zip", b"lapels.zip"))
    done = shell(steps()["look"])
    assert done.returncode == 4
    assert "entry 1 (line 1) was edited" in done.stderr


def cron_lines() -> list[str]:
    """Every cron line of the documentation; the commands."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", ROOT / "docs" / "watching.md")]
    return [command for text in texts for _, command in CRON.findall(text)]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_cron_line(shell, host, paper, tmp_path):
    lines = cron_lines()
    assert lines
    assert set(lines) == {lines[0]}
    assert "%" not in lines[0]  # cron would take it for the end of the line
    command = lines[0].replace(" cubes ", f" {paper} ")
    assert str(paper) in command
    mail = tmp_path / "mail.txt"
    assert shell(command).returncode == 0
    assert not mail.exists()
    host.on(shapes.ARXIV, shapes.arxiv(2, "2027-03-15T08:00:00Z"))
    assert shell(command).returncode == 0
    assert mail.read_text().startswith("-s|countback watch|somebody|demo/preprint (arXiv preprint 2610.99999): changed")
    assert "new: v2" in mail.read_text()


def test_the_documented_commands_exist():
    """Every countback command line in docs/watching.md is one that the program knows, with those options."""
    from countback.audit.cli import cli

    text = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
    found = re.findall(r"^    countback (.+)$", text, re.MULTILINE)
    assert len(found) == 3
    for line in found:
        words = re.findall(r'"[^"]*"|\S+', line)
        command = cli.commands[words[0]].commands[words[1]]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known
