"""`countback check cubes` as a user runs it: without data, on a synthetic archive, on a file that is no release."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from countback.claims.papers.cubes.twin import write_twin


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("twin") / "twin.zip"
    write_twin(path, 0, walks=False)
    return path


def test_without_data_arithmetic_is_checked_and_recounts_say_what_is_missing(countback) -> None:
    done = countback("check", "cubes", "--offline", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    verdicts = {v["id"]: v for v in result["verdicts"]}
    assert verdicts["cubes/short-hash"]["verdict"] == "inconsistent"
    assert verdicts["cubes/short-hash"]["known"]
    recounts = [v for v in verdicts.values() if v["kind"] == "recount"]
    assert len(recounts) >= 90
    assert {v["verdict"] for v in recounts} == {"unchecked"}
    assert all(v["reason"].startswith("archive absent") for v in recounts)
    assert result["summary"]["reproduced"] == 0


def test_a_twin_is_recounted_and_proves_nothing(countback, tmp_path: Path, twin: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("cube_judge_alignment.zip", "cube_cross_cultural_evaluation.zip"):
        shutil.copy(twin, data / name)
    refused = countback("check", "cubes", "--offline", "--data", data)
    assert refused.returncode == 4
    assert "Traceback" not in refused.stderr
    done = countback("check", "cubes", "--offline", "--data", data, "--unverified", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["summary"]["reproduced"] == result["summary"]["differs"] == 0
    verdicts = {v["id"].removeprefix("cubes/"): v for v in result["verdicts"]}
    synthetic = Counter(v["agrees"] for v in verdicts.values() if v["reason"] == "synthetic data")
    assert synthetic[True] >= 85
    headline = ("title-human", "title-gemini", "s3-sonnet", "f1-opus", "s3-gpt", "s3-n", "s3-pk-lead", "s4-lean-pk")
    assert all(verdicts[name]["agrees"] for name in headline)
    assert not any(verdicts[name]["agrees"] for name in ("s2-ja-size", "s7-hash"))


def test_a_page_in_place_of_the_archive_is_one_sentence(countback, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "cube_judge_alignment.zip").write_text("<html>sign in</html>", encoding="utf-8")
    done = countback("check", "cubes", "--offline", "--data", data)
    assert done.returncode == 4
    assert "Traceback" not in done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
