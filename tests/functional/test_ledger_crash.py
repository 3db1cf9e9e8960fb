"""Appends that are killed, and appends of several processes at once: what was reported is there, in one chain."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from countback.audit.ledger import append, open_ledger, verify

posix = pytest.mark.skipif(os.name == "nt", reason="needs fork and SIGKILL")
WRITER = """
import sys
from pathlib import Path
from countback.audit.ledger import append
for number in range(int(sys.argv[3])):
    append(Path(sys.argv[1]), "check", {"who": sys.argv[2], "number": number})
"""


def _child(path: Path, report: int, number: int) -> None:
    """Append without end, and report each number once its append has returned."""
    while True:
        append(path, "observation", {"number": number, "text": "x" * (number % 997)}, lambda line: None)
        os.write(report, b"%d\n" % number)
        number += 1


@posix
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_kill_9_two_hundred_times(tmp_path):
    path = tmp_path / "ledger.jsonl"
    rng = random.Random(9)
    reported: list[int] = []
    left = {"torn": 0, "adopted": 0}
    for _ in range(200):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _child(path, writer, 1 + max([*reported, *_numbers(path)], default=0))
        os.close(writer)
        with os.fdopen(reader, "rb") as told:
            begun = told.readline() if rng.random() < 0.6 else b""  # not before it works, or at any time
            time.sleep(rng.uniform(0.0, 0.04))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            reported += [int(line) for line in (begun + told.read()).split(b"\n")[:-1]]
        if path.exists():
            chain = verify(path)
            left["torn"] += bool(chain.torn)
            left["adopted"] += chain.adopted
            held = _numbers(path)
            assert set(reported) <= set(held)
            assert held == sorted(set(held))
    assert len(reported) > 100
    print(f"\n{len(reported)} entries reported, {len(_numbers(path))} held; left behind: {left}")


def _numbers(path: Path) -> list[int]:
    return [entry.body["number"] for entry in open_ledger(path).entries("observation")]


def test_four_processes_at_once_make_one_chain(tmp_path):
    path = tmp_path / "ledger.jsonl"
    each = 15
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name, str(each)]) for name in "abcd"]
    while any(writer.poll() is None for writer in writers):
        open_ledger(path)  # a reader in between never sees damage
        time.sleep(0.01)
    assert [writer.returncode for writer in writers] == [0] * 4
    chain = verify(path)
    assert (chain.adopted, chain.torn) == (False, b"")
    told = [(entry.body["who"], entry.body["number"]) for entry in chain.entries("check")]
    assert sorted(told) == [(who, number) for who in "abcd" for number in range(each)]
    for who in "abcd":
        assert [number for name, number in told if name == who] == list(range(each))
