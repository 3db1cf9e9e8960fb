"""How long `countback check` takes in a process of its own, beside `python -c "import pandas"`; printed, not asserted.

Processor time of the child (user and system), because a busy machine stretches the other kind; the median of each.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

ROUNDS = 5
CHECK = "from countback.audit.cli import main; main()"


def seconds(arguments: list[str], cache: Path) -> float:
    """Processor time of one such process, after one that warms the disk."""
    env = {**os.environ, "COUNTBACK_DATA": str(cache)}
    times = []
    for _ in range(ROUNDS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", *arguments], env=env, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(times[1:])


@pytest.mark.bench
def test_cold_start_against_pandas(capsys, tmp_path):
    pytest.importorskip("pandas")
    peer = seconds(["import pandas"], tmp_path)
    start = seconds([CHECK, "--help"], tmp_path)
    whole = seconds([CHECK, "check", "--offline"], tmp_path)
    with capsys.disabled():
        print(
            f"\nimport pandas {peer:.2f} s; countback --help {start:.2f} s; "
            f"countback check --offline {whole:.2f} s = {whole / peer:.2f} of pandas (wanted: under 2)"
        )


@pytest.mark.bench
def test_recount_of_the_released_files(capsys, shared, tmp_path):
    without = seconds([CHECK, "check", "--offline"], tmp_path)
    data = shared / "data" / "alttest" / "raw"
    whole = seconds([CHECK, "check", "--offline", "--data", str(data)], tmp_path)
    with capsys.disabled():
        print(f"\nwith the files of alt-test {whole:.2f} s, {whole - without:.2f} s more (wanted: under 3)")
