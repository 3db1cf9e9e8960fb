"""`countback check culture-converse` with a copy of the release that a mapping describes; all data are made up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
import converse_data as made

RECOUNTS = 674


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a user has it who does not call the data synthetic."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("copy") / "data"
    return made.write(folder, made.make_episodes(rng, seeds=60), made.make_ratings(rng, 40), synthetic=False)


def test_without_a_mapping_the_archive_is_absent_and_the_way_out_is_named(countback, tmp_path):
    done = countback("check", "culture-converse", "--kind", "recount")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert f"{RECOUNTS} archive absent: culture-converse-mapping.toml: not in a folder named with --data" in words
    assert "mapping.toml in the paper's folder shows how" in words
    done = countback("check", "culture-converse", "--kind", "recount", "--data", tmp_path, "--strict", "--json", "-")
    assert done.returncode == 3
    result = json.loads(done.stdout)
    assert f"not in {tmp_path}; nothing of the release is pinned" in result["verdicts"][0]["reason"]
    absent = {"file": "culture-converse-mapping.toml", "sha256": "", "status": "absent"}
    assert result["inputs"] == [{"paper": "culture-converse", "release": "culture-converse", **absent}]


def test_a_copy_is_recounted_and_proves_nothing(countback, copy):
    done = countback("check", "culture-converse", "--data", copy, "--json", "-")
    assert done.returncode == 0, done.stderr  # the paper's known findings, and nothing that differs
    result = json.loads(done.stdout)
    found = [v for v in result["verdicts"] if v["kind"] == "recount"]
    assert Counter((v["verdict"], v["reason"]) for v in found) == {("unchecked", "unverified data"): RECOUNTS}
    assert all(v["agrees"] in (True, False) and v["recounted"] is not None for v in found)
    assert sum(v["agrees"] for v in found) < RECOUNTS / 10  # made-up data are not the paper's
    mean = next(v for v in found if v["id"] == "culture-converse/t4-recount[GPT-5 mini, Help]")
    names = {file["file"] for file in mean["evidence"]["files"]}
    assert names == {made.MAPPING, "gold.jsonl", *(f"benchmark/{path.name}" for path in (copy / "benchmark").iterdir())}
    assert {file["status"] for file in mean["evidence"]["files"]} == {"unverified"}
    assert all(len(file["sha256"]) == 64 for file in mean["evidence"]["files"])
    assert [file["status"] for file in result["inputs"]] == ["unverified"]


def test_the_text_says_why_nothing_is_proved(countback, copy):
    words = " ".join(countback("check", "culture-converse", "--kind", "recount", "--data", copy).stdout.split())
    assert f"{RECOUNTS} unverified data; " in words
    assert "agree, which proves nothing: no pin says what the released files are" in words


def test_a_mapping_without_ratings_leaves_only_those_unchecked(countback, copy, tmp_path):
    folder = tmp_path / "part"
    folder.mkdir()
    for name in ("benchmark", "gold.jsonl"):
        (folder / name).symlink_to(copy / name)
    text = (copy / made.MAPPING).read_text("utf-8")
    (folder / made.MAPPING).write_text(
        text[: text.index("[[ratings]]")] + text[text.index("[values.model]") :], "utf-8"
    )
    done = countback("check", "culture-converse", "--kind", "recount", "--data", folder, "--json", "-")
    assert done.returncode == 0
    found = json.loads(done.stdout)["verdicts"]
    lost = [v for v in found if v["agrees"] is None]
    assert len(lost) == 5 + 45 + 35 + 50 + 5  # Tables 3, 11, 12 and 13, and the names of the best judges and ensembles
    assert all("has no [[ratings]] block, so no file of ratings is known" in v["reason"] for v in lost)
