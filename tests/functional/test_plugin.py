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


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_select_by_brackets_and_node_id(run, paper):
    assert "1 passed, 6 deselected" in run(paper, "-k", "demo/row-mean[A]").stdout
    done = run("-v", f"{paper / 'claims.toml'}::demo/row-mean[A]")
    assert "1 passed" in done.stdout


def test_last_failed_runs_those_that_failed(run, paper, tmp_path):
    edit(paper / "tables" / "t1.csv", "3.80,4.60,4.20", "3.80,4.60,4.30")
    command = [sys.executable, "-m", "pytest", "-q", str(paper)]
    first = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "2 failed, 5 passed" in first.stdout
    again = subprocess.run([*command, "--lf"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "2 failed" in again.stdout
    assert "passed" not in again.stdout


PROJECT = """[pytest]
addopts = --strict-markers --strict-config
xfail_strict = true
filterwarnings = error
"""
CONFTEST = """import pytest


@pytest.fixture(autouse=True)
def every_test():
    yield
"""


@pytest.mark.parametrize("more", [(), ("-n", "2")])
def test_in_a_project_with_strict_markers_and_warnings_as_errors(run, paper, tmp_path, more):
    (tmp_path / "pytest.ini").write_text(PROJECT)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    paper.rename(tmp_path / "_odd name (2)")  # the marker is made of the paper's id, not of its folder
    done = run(*more)
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout


def test_a_paper_called_as_a_marker_of_pytest_is_not_skipped(run, paper):
    edit(paper / "paper.toml", 'id = "demo"', 'id = "skip"')
    assert "7 passed" in run(paper, "--strict-markers").stdout
    assert "7 passed" in run(paper, "-m", "paper_skip").stdout


def test_a_project_without_papers_does_not_pay_for_the_plugin(run, tmp_path):
    (tmp_path / "test_own.py").write_text(
        "import sys\n\n\ndef test_own(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.has_plugin('countback')\n"
        "    kit = [name for name in sys.modules if name.startswith('countback.') and name.count('.') > 1]\n"
        "    assert kit == ['countback.audit.plugin']\n"
        "    assert 'pydantic' not in sys.modules\n"
        "    assert not any('arithmetic' in line for line in pytestconfig.getini('markers'))\n"
    )
    done = run()
    assert "1 passed" in done.stdout, done.stdout


def test_a_known_finding_that_could_no_longer_fail_is_red(run, paper):
    known = '\n[[known]]\nclaims = ["row-mean[A]"]\nverdict = "inconsistent"\nsince = 2026-11-29\nwhy = "slip"\n'
    claims = paper / "claims.toml"
    claims.write_text(claims.read_text() + known)
    edit(paper / "paper.toml", 'key = "Model"', 'key = "Model"\ndomain = { All = ["4.20", "4.20"] }')
    done = run(paper)
    assert done.returncode == 1
    assert "recorded as inconsistent, is uninformative" in done.stdout


def test_warnings_of_a_recipe_do_not_change_a_verdict(run, paper, tmp_path):
    write_recipe(paper, "import warnings\n    warnings.warn('old')\n    print('hello')")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.json").write_text("abc")
    done = run(paper, "-W", "error", "-k", "models", "--countback-data", tmp_path / "data")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def write_recipe(paper: Path, body: str) -> None:
    """Recount the text's number from a pinned file of three bytes."""
    edit(paper / "claims.toml", 'reported = "2"', 'reported = "2"\nrecipe = "tally"\nneeds = ["rel"]')
    (paper / "releases.toml").write_text(RELEASES)
    (paper / "recipes.py").write_text(
        "from countback.claims.verdict import Recount\n\n\n"
        f"def tally(data):\n    data.path('x.json')\n    {body}\n    return Recount(2)\n"
    )


RELEASES = """[[release]]
id = "rel"
title = "made up"
version = "1"
licence = ""
retrieved = ""
landing = "https://example.org"
[[release.file]]
name = "x.json"
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
size = 3
"""


def test_a_file_with_a_wrong_hash_fails_every_claim_that_rests_on_it(run, paper, tmp_path):
    write_recipe(paper, "pass")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.json").write_text("abd")
    done = run(paper, "--countback-data", tmp_path / "data")
    assert done.returncode == 1
    assert "expected sha256" in done.stdout
    assert "1 failed, 7 passed" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_broken_recipe_is_one_sentence(run, paper, tmp_path):
    write_recipe(paper, "raise KeyError('country')")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.json").write_text("abc")
    done = run(paper, "--countback-data", tmp_path / "data")
    assert done.returncode == 1
    assert (
        "recipes.py: recipe \"tally\", claim demo/models: KeyError at line 6: 'country'; mend the recipe" in done.stdout
    )


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
