"""Whatever stands in the files of a CuBEs archive, reading ends in a table and a report, or in one clear sentence."""

from __future__ import annotations

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from countback.claims.papers.cubes.read import read_judge_alignment, read_rollouts
from countback.fetch.errors import UserError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HUMANS = {
    country: {
        "annotator_count": 2,
        "task_count": 2,
        "tasks": [
            {
                "pod_title": f"shutdown {n}",
                "options": {"A": f"{country} {n}", "B": "b", "C": "c"},
                "annotations": [
                    {"annotator": who, "choice": choice, "lead_time_seconds": 3.5}
                    for who, choice in ((1, "A"), ("p", None))
                ],
            }
            for n in (1, 2)
        ],
    }
    for country in ("Pakistan", "Nigeria")
}
JUDGED = {
    country: {
        "tasks": [
            {
                "data": {"option_a": f"{country} {n}", "question": "q"},
                "annotations": [
                    {
                        "completed_by": {"username": "judge"},
                        "result": [{"from_name": "vignette_label", "value": {"choices": ["A"]}}],
                    }
                ],
            }
            for n in (1, 2)
        ]
    }
    for country in ("Pakistan", "Nigeria")
}
SCORES = "behavior,culture,domain,target_model,variation,repetition,behavior_presence\nb,none,Health,m,1,1,4\n"
LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["A", "a ", "", "\ufffd"])
    | st.text(max_size=8)
)
JSON = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, held in inner for found in places(held, (*path, key)))]


def changed(document: Any, path: tuple[Any, ...], new: Any, how: str) -> Any:
    """The document with what stands at a path replaced, removed, or put there twice."""
    if not path:
        return new
    document = copy.deepcopy(document)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if how == "remove":
        del holder[path[-1]]
    elif how == "twice" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[path[-1]]))
    else:
        holder[path[-1]] = new
    return document


def read(folder: Path, humans: bytes, judged: bytes) -> None:
    path = folder / "fuzz.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("human_annotations.json", humans)
        out.writestr("llm_annotations.json", judged)
    try:
        table, report = read_judge_alignment(path)
    except UserError:
        return
    assert report.total() == int((table.kind == 0).sum())
    assert (
        sum(report.labels_per_item[c][n] * n for c in report.items for n in report.labels_per_item[c]) == report.total()
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


EDIT = st.tuples(st.sampled_from(["replace", "remove", "twice"]), JSON)


def fuzz(folder: Path, edits: list[tuple[str, Any]], which: bool, data: st.DataObject) -> None:
    document = JUDGED if which else HUMANS
    for how, new in edits:
        document = changed(document, data.draw(st.sampled_from(places(document))), new, how)
    raw = json.dumps(document).encode("utf-8", "surrogatepass")
    read(folder, *((json.dumps(HUMANS).encode(), raw) if which else (raw, json.dumps(JUDGED).encode())))


QUIET = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large)


@settings(max_examples=300, deadline=None, suppress_health_check=QUIET)
@given(edits=st.lists(EDIT, min_size=1, max_size=3), which=st.booleans(), data=st.data())
def test_changed_documents(folder: Path, edits: list[tuple[str, Any]], which: bool, data: st.DataObject) -> None:
    fuzz(folder, edits, which, data)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None, suppress_health_check=QUIET)
@given(edits=st.lists(EDIT, min_size=1, max_size=3), which=st.booleans(), data=st.data())
def test_ten_thousand_changed_documents(
    folder: Path, edits: list[tuple[str, Any]], which: bool, data: st.DataObject
) -> None:
    fuzz(folder, edits, which, data)


@settings(max_examples=200, deadline=None, suppress_health_check=QUIET)
@given(raw=st.binary(max_size=60))
def test_bytes_that_are_no_json(folder: Path, raw: bytes) -> None:
    read(folder, raw, json.dumps(JUDGED).encode())


@settings(max_examples=300, deadline=None, suppress_health_check=QUIET)
@given(
    at=st.integers(0, len(SCORES)),
    cut=st.integers(0, 9),
    new=st.text(max_size=5) | st.sampled_from([",", "\n", '"', "\r"]),
)
def test_changed_scores(folder: Path, at: int, cut: int, new: str) -> None:
    path = folder / "scores.csv"
    path.write_bytes((SCORES[:at] + new + SCORES[at + cut :]).encode("utf-8", "surrogatepass"))
    try:
        table = read_rollouts(path)
    except UserError:
        return
    assert len(table) == table.culture.size
