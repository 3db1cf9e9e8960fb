"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"<!-- output: countback (.+?) \| (tail -n \d+|grep -A \d+ \".+?\") -->\n```\n(.*?)\n```", README, re.DOTALL
)


def cut(text: str, filter_: str) -> str:
    lines = text.rstrip("\n").split("\n")
    words = shlex.split(filter_)
    if words[0] == "tail":
        return "\n".join(lines[-int(words[2]) :])
    first = next(i for i, line in enumerate(lines) if re.search(words[3], line))
    return "\n".join(lines[first : first + int(words[2]) + 1])


@pytest.mark.parametrize(("arguments", "filter_", "shown"), BLOCKS, ids=[block[0] for block in BLOCKS])
def test_output_as_printed(countback, arguments, filter_, shown):
    assert cut(countback(*shlex.split(arguments)).stdout, filter_) == shown


def test_the_readme_shows_output():
    assert len(BLOCKS) == 2


def test_every_command_of_the_readme_exists(countback):
    named = set(re.findall(r"\bcountback ([a-z]+)\b", README)) - {"pytest"}
    listed = set(re.findall(r"^  ([a-z]+) ", countback("--help").stdout, re.MULTILINE))
    assert named <= listed, named - listed
