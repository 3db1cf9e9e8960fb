"""A ledger of 100,000 entries: verify, predict and diff, beside hashing and parsing the same lines; ratios printed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from countback.audit import ledger
from countback.audit.ledger import Entry, Head, open_ledger

pytestmark = pytest.mark.bench
ENTRIES = 100_000
COMMAND = "from countback.audit.cli import main; main()"


def best(work: Callable[[], object], times: int = 3) -> float:
    """Processor seconds of the fastest run, those of child processes included."""

    def spent() -> float:
        now = os.times()
        return now.user + now.system + now.children_user + now.children_system

    seconds = []
    for _ in range(times):
        began = spent()
        work()
        seconds.append(spent() - began)
    return min(seconds)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Observations as `watch` writes them, and a recorded run at either end; written at once."""
    path = tmp_path_factory.mktemp("big") / "ledger.jsonl"
    shown = {
        "labels.zip": {"size": 427804, "version": 1, "modified": "2026-05-26", "md5": "a" * 32, "sha256": "b" * 64}
    }
    seen = {
        "place": "demo/osf",
        "state": "seen",
        "source": "",
        "found": "",
        "shown": shown,
        "licence": "",
        "unread": [],
    }
    claims = [{"id": f"demo/{n}", "verdict": "consistent", "reason": "", "recounted": str(n)} for n in range(1500)]
    run = {"schema": "countback.verdicts/1", "kit": {}, "inputs": [], "summary": {}, "verdicts": claims}
    prev, when = ledger.NOTHING, ledger.now()
    with path.open("wb") as file:
        for n in range(1, ENTRIES + 1):
            first_or_last = n in (1, ENTRIES)
            line = ledger._line(
                Entry(n, when, "check" if first_or_last else "observation", run if first_or_last else seen), prev
            )
            file.write(line + b"\n")
            prev = hashlib.sha256(line).hexdigest()
    ledger._write_head(path, Head(ENTRIES, prev))
    return path


def command(path: Path, *arguments: str) -> str:
    env = {**os.environ, "COUNTBACK_LEDGER": str(path), "COUNTBACK_DATA": str(path.parent / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_verify_beside_hashing_and_parsing(path: Path) -> None:
    data = path.read_bytes()
    ours = best(lambda: open_ledger(path))
    hashing = best(lambda: [hashlib.sha256(line).hexdigest() for line in path.read_bytes().split(b"\n")])
    parsing = best(lambda: [json.loads(line) for line in path.read_bytes().splitlines()])
    print(
        f"\nverify {ENTRIES} entries ({len(data) >> 20} MiB): {ours:.2f} s; hashlib alone {hashing:.2f} s, ratio "
        f"{ours / hashing:.2f}; json.loads of each line {parsing:.2f} s, ratio {ours / parsing:.2f}"
    )
    assert len(open_ledger(path).lines) == ENTRIES


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ledger", "verify"), f"{ENTRIES} entries, the chain is whole"),
        (("predict",), f"{ENTRIES} entries, the chain is whole"),
        (("diff", "@1", "@-1"), "no claim and no input differs"),
    ],
    ids=["verify", "predict", "diff"],
)
def test_a_whole_command(arguments: tuple[str, ...], words: str, path: Path) -> None:
    """Time from the start of Python to its end, beside `countback --help`, which does nothing."""
    assert words in command(path, *arguments)
    began = time.perf_counter()
    command(path, *arguments)
    wall = time.perf_counter() - began
    ours, idle = best(lambda: command(path, *arguments)), best(lambda: command(path, "--help"))
    print(
        f"\ncountback {' '.join(arguments)} on {ENTRIES} entries: {ours:.2f} s of processor, {wall:.2f} s by the "
        f"clock; --help {idle:.2f} s of processor, ratio {ours / idle:.1f}"
    )


def test_append_beside_a_plain_write(path: Path, tmp_path: Path) -> None:
    """Three syncs for each append (line, head, folder), and none of its time grows with the ledger."""
    small = tmp_path / "small.jsonl"
    ledger.append(small, "check", {})

    def written(to: Path) -> float:
        began = time.perf_counter()
        for _ in range(20):
            ledger.append(to, "check", {"text": "x" * 300})
        return (time.perf_counter() - began) / 20

    def plain() -> float:
        began = time.perf_counter()
        for _ in range(20):
            with (tmp_path / "plain").open("ab") as file:
                file.write(b"x" * 300)
                file.flush()
                os.fsync(file.fileno())
        return (time.perf_counter() - began) / 20

    few, many, bare = written(small), written(path), plain()
    print(
        f"\nappend: {1000 * few:.1f} ms to 1 entry, {1000 * many:.1f} ms to {ENTRIES}; a write with one fsync "
        f"{1000 * bare:.1f} ms, ratio {many / bare:.1f}"
    )
