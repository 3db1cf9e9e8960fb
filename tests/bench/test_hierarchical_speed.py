"""The human model from process start to gated summary, beside bambi and PyMC's own sampler; CPU-seconds, printed.

bambi is run by the Python that COUNTBACK_BAMBI_PYTHON names, or by this one where it is installed.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.models.simulate import Truth, crossed, simulate

pytestmark = [pytest.mark.bench, pytest.mark.slow, pytest.mark.nuts]
PEERS = Path(__file__).parent / "hierarchical_peers.py"


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """620 synthetic labels: 31 items, 4 countries, 5 of 8 annotators."""
    truth = Truth({"country": 0.4, "item": 0.6, "annotator": 0.4, "item:country": 0.3}, (-1.0, 1.0))
    made = simulate(crossed(4, 1, 31, pool=8, labels=5), truth, np.random.default_rng(1))
    path = tmp_path_factory.mktemp("bench") / "synthetic.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "item", "country", "annotator"])
        writer.writerows(np.column_stack([made.label, made.item, made.country, made.annotator]).tolist())
    return path


def run(peer: str, path: Path, python: str = sys.executable, **environment: str) -> dict[str, Any]:
    """What the process printed, and its CPU-seconds, children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    where = os.environ | {"OMP_NUM_THREADS": "1"} | environment
    done = subprocess.run(
        [python, str(PEERS), peer, str(path)], capture_output=True, text=True, env=where, check=False, timeout=1800
    )
    assert done.returncode == 0, done.stderr[-2000:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu} | json.loads(done.stdout.splitlines()[-1])


def test_cold_beside_bambi(labels: Path, tmp_path: Path) -> None:
    python = os.environ.get("COUNTBACK_BAMBI_PYTHON") or (sys.executable if find_spec("bambi") else "")
    if not python:
        pytest.skip("needs bambi: pip install 'countback[bench]', or COUNTBACK_BAMBI_PYTHON")
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "numba"), "PYTENSOR_FLAGS": f"base_compiledir={tmp_path / 'pytensor'}"}
    found = {}  # in a first process nothing is kept from before; in the second what the first compiled is
    for name, by in (("countback", sys.executable), ("bambi", python)):
        for when in ("first", "again"):
            found[name, when] = told = run(name, labels, by, **kept)
            sds = ", ".join(f"{key} {sd:.3f}" for key, sd in told["sd"].items())
            print(
                f"{name}, {when}: {told['cpu']:.1f} CPU-s, r-hat {told['rhat']:.3f}, least effective draws "
                f"{told['ess']:.0f}, sds {sds}"
            )
    ratios = {when: found["countback", when]["cpu"] / found["bambi", when]["cpu"] for when in ("first", "again")}
    print(f"countback of bambi's time: first {ratios['first']:.2f}, again {ratios['again']:.2f}")
    ours, peer = (found[name, "again"]["sd"].values() for name in ("countback", "bambi"))
    assert list(ours) == pytest.approx(list(peer), abs=0.15)


def test_effective_draws_beside_the_sampler_of_pymc(labels: Path) -> None:
    ours, peer = run("countback", labels), run("pymc", labels)
    rates = [found["ess"] / found["cpu"] for found in (ours, peer)]
    print(f"effective draws a CPU-s: countback {rates[0]:.1f}, PyMC {rates[1]:.1f}, {rates[0] / rates[1]:.1f} times")
    assert list(ours["sd"].values()) == pytest.approx(list(peer["sd"].values()), abs=0.15)


def test_refit_on_new_labels(labels: Path) -> None:
    """Labels shuffled over the same rows: nothing is compiled, and the effects of items and countries are gone."""
    found = run("refit", labels)
    print(f"refit on new labels: {found['cpu']:.1f} CPU-s, {found['wall']:.1f} s")
    assert found["sd"]["item"] < 0.5
