"""A study that is killed goes on where it was, and a Dask cluster carries one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from countback.models.studies import run_study
from studies_tasks import draw, slow

TESTS = Path(__file__).resolve().parents[1]


def test_a_killed_study_is_resumed_with_equal_results(tmp_path):
    code = "import sys; from studies_tasks import slow; from countback.models.studies import run_study\n"
    code += "run_study(slow, range(40), sys.argv[1], chunk=2)"
    started = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(TESTS)}
    )
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("seed-*.json"))) < 3 and time.monotonic() < deadline:
        assert started.poll() is None
        time.sleep(0.02)
    started.send_signal(signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    held = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("seed-*.json")}
    assert 3 <= len(held) < 20
    rows = run_study(slow, range(40), tmp_path, chunk=2)
    assert rows == [{"mean": row["mean"], "three": row["three"].tolist()} for row in map(draw, range(40))]
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in held} == held


@pytest.mark.slow
def test_a_dask_cluster_carries_a_study(tmp_path):
    """As the module's docstring says, on a local cluster of two processes; this process alone writes."""
    joblib = pytest.importorskip("joblib")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        rows = run_study(draw, range(20), tmp_path / "dask", chunk=3)
        keys = client.run_on_scheduler(lambda dask_scheduler: [str(name) for name in dask_scheduler.task_prefixes])
    assert any("_run" in name for name in keys), keys
    assert rows == run_study(draw, range(20), tmp_path / "here")
    assert len(list((tmp_path / "dask").glob("seed-*.json"))) == 7
