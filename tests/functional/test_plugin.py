"""pytest as a claims check: collection, findings as strict xfail, skips, JUnit, xdist, an under-selected registry."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path):
    def pytest_in(*arguments: object) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "COUNTBACK_DATA": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)

    return pytest_in


def test_one_test_per_claim(run, paper):
    done = run(paper, "-v")
    assert done.returncode == 0, done.stdout
    assert "demo/row-mean[A] PASSED" in done.stdout
    assert "7 passed" in done.stdout  # six claims and the registry


def test_select_by_id_and_marker(run, paper):
    assert "2 passed, 5 deselected" in run(paper, "-k", "row-mean").stdout
    assert "6 passed, 1 deselected" in run(paper, "-m", "arithmetic").stdout
    assert "7 passed" in run(paper, "-m", "demo").stdout


def test_a_new_finding_fails_with_its_arithmetic(run, paper):
    table = paper / "tables" / "t1.csv"
    table.write_text(table.read_text().replace("3.80,4.60,4.20", "3.80,4.60,4.30"))
    done = run(paper)
    assert done.returncode == 1
    assert "Reported 4.30, recounted 4.2" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_known_finding_is_a_strict_xfail(run, paper):
    claims = paper / "claims.toml"
    claims.write_text(
        claims.read_text()
        + '\n[[known]]\nclaims = ["row-mean[A]"]\nverdict = "inconsistent"\nsince = 2026-11-29\nwhy = "slip"\n'
    )
    done = run(paper)
    assert done.returncode == 1
    assert "[XPASS(strict)] slip" in done.stdout
    table = paper / "tables" / "t1.csv"
    table.write_text(table.read_text().replace("3.80,4.60,4.20", "3.80,4.60,4.30").replace("4.00", "4.05"))
    done = run(paper, "-rx")
    assert done.returncode == 0, done.stdout
    assert "1 xfailed" in done.stdout
    assert "slip" in done.stdout


def test_under_selected_registry_fails(run, paper):
    toml = paper / "paper.toml"
    toml.write_text(toml.read_text().replace("requires = 3", "requires = 7"))
    done = run(paper)
    assert done.returncode == 1
    assert "6 claims collected, paper.toml requires 7" in done.stdout


def test_an_empty_registry_fails(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty").returncode == 5


def test_a_broken_registry_is_one_sentence(run, paper):
    (paper / "claims.toml").write_text("[[claim]\n")
    done = run(paper)
    assert done.returncode == 2
    assert "not valid TOML" in done.stdout
    assert "Traceback" not in done.stdout


def test_junit_and_xdist(run, paper, tmp_path):
    report = tmp_path / "junit.xml"
    done = run(paper, "-n", "2", f"--junitxml={report}")
    assert done.returncode == 0, done.stdout
    cases = {case.get("name"): case for case in ET.parse(report).iter("testcase")}
    properties = {p.get("name"): p.get("value") for p in cases["demo/row-mean[A]"].iter("property")}
    assert properties["countback_verdict"] == "consistent"
    assert properties["countback_reported"] == "4.20"


def test_installed_registry_from_anywhere(run):
    done = run("--pyargs", "countback.claims", "-m", "alt_test", "-q", "-rs")
    assert done.returncode == 0, done.stdout
    assert "156 skipped" in done.stdout
    assert "archive absent" in done.stdout


def test_installed_registry_with_data(run, shared: Path):
    raw = shared / "data" / "alttest" / "raw"
    done = run("--pyargs", "countback.claims", "-m", "alt_test", "-q", "--countback-data", raw)
    assert done.returncode == 0, done.stdout
    assert "157 passed" in done.stdout
