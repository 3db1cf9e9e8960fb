"""The command as a user runs it: in a process of its own, in a fresh folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functional import browsing

Countback = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def countback(tmp_path: Path) -> Countback:
    """Run `countback ARGS` in an empty folder with an empty cache; the result has stdout, stderr and returncode."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        here = tmp_path / "here"
        here.mkdir(exist_ok=True)
        own = {"COUNTBACK_DATA": str(tmp_path / "cache"), "NO_COLOR": "1", "COLUMNS": "100"}
        env = {**os.environ, **own, **environment}
        command = [sys.executable, "-c", "from countback.audit.cli import main; main()", *map(str, arguments)]
        return subprocess.run(command, cwd=here, env=env, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture(scope="module")  # while one runs, nothing else in the process can use asyncio
def chromium() -> Iterator[Any]:
    with browsing.browser() as started:
        yield started


@pytest.fixture
def open_page(chromium: Any) -> Iterator[browsing.Open]:
    with browsing.opener(chromium) as opened:
        yield opened


PAPER = """id = "demo"
title = "A made-up paper for tests"
citation = "nobody, never"
version = "synthetic"
licence = "none"
requires = 3
[[table]]
id = "t1"
title = "Table 1"
key = "Model"
summary = ["Average"]
"""
CLAIMS = """[[claim]]
id = "models"
where = { section = "1" }
reads = "two models are compared"
reported = "2"

[[relation]]
id = "row-mean"
reads = "All is the mean of Help and Hon"
table = "t1"
each = "row"
of = ["Help", "Hon"]
relation = "mean"
equals = "All"

[[relation]]
id = "average"
reads = "the last row is the mean of the models"
table = "t1"
each = "column"
of = ["*"]
relation = "mean"
equals = "Average"

[[relation]]
id = "count"
reads = "the number of models"
relation = "count"
of = ["t1|*|Help"]
equals = "#models"
"""
TABLE = "Model,Help,Hon,All\nA,3.80,4.60,4.20\nB,3.50,4.10,3.80\nAverage,3.65,4.35,4.00\n"


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """A small paper folder in which everything agrees."""
    folder = tmp_path / "demo"
    (folder / "tables").mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER, encoding="utf-8")
    (folder / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    (folder / "tables" / "t1.csv").write_text(TABLE, encoding="utf-8")
    return folder
