"""`countback twin`: a stand-in that is called synthetic everywhere and from which nothing is reproduced."""

from __future__ import annotations

import json
import zipfile

import pytest


@pytest.mark.slow
def test_a_twin_is_synthetic_and_reproduces_nothing(countback, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    twin = folder / "cube_judge_alignment.zip"
    done = countback("twin", twin)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SYNTHETIC")
    assert any("synthetic" in name.lower() for name in zipfile.ZipFile(twin).namelist())
    refused = countback("check", "cubes", "--data", folder)
    assert refused.returncode == 4
    done = countback("check", "cubes", "--data", folder, "--unverified", "--json", "-")
    result = json.loads(done.stdout)
    assert result["summary"]["reproduced"] == result["summary"]["differs"] == 0
    headline = next(v for v in result["verdicts"] if v["id"] == "cubes/title-gemini")
    assert (headline["verdict"], headline["reason"], headline["agrees"]) == ("unchecked", "synthetic data", True)


def test_a_file_that_is_no_twin_is_not_overwritten(countback, tmp_path):
    mine = tmp_path / "mine.zip"
    mine.write_bytes(b"mine")
    done = countback("twin", mine)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert mine.read_bytes() == b"mine"
