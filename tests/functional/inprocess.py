"""The `countback` command in this process: as in one of its own, without the second that Python takes to start."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from countback.audit.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]


def runner(folder: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run(*ARGS)` in an empty folder, with an empty cache and a ledger of its own."""
    here = folder / "here"
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    for name, value in {
        "COUNTBACK_DATA": str(folder / "cache"),
        "COUNTBACK_LEDGER": str(ledger),
        "COLUMNS": "100",
    }.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        command = [str(argument) for argument in arguments]
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
            main(command)
        return subprocess.CompletedProcess(command, int(left.value.code or 0), out.getvalue(), err.getvalue())

    return run
