"""Two runs side by side: each kind of difference, and what is none."""

from __future__ import annotations

import copy
import json

import pytest
from countback.audit.diff import SCHEMA, Moved, compare_runs, load_run, present
from countback.fetch.errors import UserError


def verdict(name: str, **changes: object) -> dict:
    whole = {
        "id": f"demo/{name}",
        "verdict": "consistent",
        "reported": "4.20",
        "recounted": "4.2",
        "recounted_interval": ["4.195", "4.205"],
        "gap": "0",
        "n": 2,
        "agrees": True,
        "known": False,
        "reason": "",
    }
    return whole | changes


def run(*verdicts: dict, inputs: tuple[dict, ...] = (), **more: object) -> dict:
    return {"schema": SCHEMA, "kit": {"countback": "1"}, "inputs": list(inputs), "verdicts": list(verdicts)} | more


def file(sha256: str, status: str = "verified") -> dict:
    return {"paper": "demo", "release": "r", "file": "a.zip", "sha256": sha256, "status": status}


def test_the_same_run_twice():
    one = run(verdict("a"), verdict("b"), inputs=(file("0" * 64),))
    found = compare_runs(one, copy.deepcopy(one))
    assert not found
    assert present(found) == "no claim and no input differs"


def test_new_and_gone():
    found = compare_runs(run(verdict("a"), verdict("b")), run(verdict("c"), verdict("a")))
    assert (found.new, found.gone) == (("demo/c",), ("demo/b",))
    assert bool(found)


def test_another_verdict():
    found = compare_runs(run(verdict("a")), run(verdict("a", verdict="inconsistent", gap="-0.09", agrees=False)))
    assert found.verdict == (Moved("demo/a", "verdict", "consistent", "inconsistent"),)
    assert found.value == ()  # told once
    assert "demo/a: consistent -> inconsistent" in present(found)


def test_no_longer_checked():
    gone = verdict("a", verdict="unchecked", reason="archive absent: a.zip: not here", recounted=None, agrees=None)
    found = compare_runs(run(verdict("a")), run(gone))
    assert found.not_run == (Moved("demo/a", "verdict", "consistent", "archive absent: a.zip: not here"),)
    assert (found.verdict, found.value) == ((), ())
    back = compare_runs(run(gone), run(verdict("a")))
    assert back.verdict == (Moved("demo/a", "verdict", "unchecked", "consistent"),)
    assert back.not_run == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recounted", "4.21"),
        ("recounted_interval", ["4.19", "4.205"]),
        ("gap", "0.01"),
        ("n", 3),
        ("reported", "4.21"),
        ("agrees", None),
        ("known", True),
    ],
)
def test_another_value_within_the_verdict(key, value):
    found = compare_runs(run(verdict("a")), run(verdict("a", **{key: value})))
    assert found.value == (Moved("demo/a", key, {key: verdict("a")[key]}, {key: value}),)
    assert found.verdict == ()


def test_the_last_bit_of_a_float_is_no_difference():
    one, two = (run(verdict("a", recounted=x, recounted_interval=[x, 2.0])) for x in (0.1 + 0.2, 0.3))
    assert not compare_runs(one, two)
    assert compare_runs(one, run(verdict("a", recounted=0.3000001, recounted_interval=[0.3, 2.0]))).value


def test_another_reason_alone_is_no_difference():
    assert not compare_runs(run(verdict("a", reason="x")), run(verdict("a", reason="y")))


def test_inputs():
    old, new = file("a" * 64), file("b" * 64)
    name = "demo/r: a.zip"
    assert compare_runs(run(inputs=(old,)), run(inputs=(new,))).inputs == (
        Moved(name, "input", f"verified {'a' * 64}", f"verified {'b' * 64}"),
    )
    assert compare_runs(run(inputs=(old,)), run()).inputs == (Moved(name, "input", f"verified {'a' * 64}", "not used"),)
    assert compare_runs(run(), run(inputs=(file("", "absent"),))).inputs == (
        Moved(name, "input", "not used", "absent"),
    )
    assert compare_runs(run(inputs=(old,)), run(inputs=(file("a" * 64, "unverified"),))).inputs


def test_versions_are_told_and_are_no_difference_by_themselves():
    found = compare_runs(run(kit={"numpy": "1", "scipy": "1"}), run(kit={"numpy": "2", "scipy": "1"}))
    assert found.kit == (Moved("numpy", "version", "1", "2"),)
    assert not found
    assert "numpy: 1 -> 2" in present(found)


def test_every_difference_at_once_stands_once():
    one = run(verdict("a"), verdict("b"), verdict("c"), verdict("d"), inputs=(file("a" * 64),))
    two = run(
        verdict("e"), verdict("a", gap="1"), verdict("b", verdict="inconsistent"), verdict("c", verdict="unchecked"),
        inputs=(file("b" * 64),),
    )  # fmt: skip
    told = compare_runs(one, two).as_json()
    assert {key: len(value) for key, value in told.items() if key != "schema"} == {
        "new": 1, "gone": 1, "not_run": 1, "verdict": 1, "value": 1, "inputs": 1, "kit": 0,
    }  # fmt: skip
    assert told["schema"] == "countback.diff/1"
    json.dumps(told, allow_nan=False)


BROKEN = {
    "no JSON": ("{", "not JSON"),
    "a list": ("[]", "found schema 'list'"),
    "no schema": ("{}", "found schema None"),
    "another schema": ('{"schema": "countback.verdicts/2"}', "found schema 'countback.verdicts/2'"),
    "no verdicts": (json.dumps({"schema": SCHEMA, "inputs": []}), "expected lists of verdicts and inputs"),
    "verdicts that are none": (json.dumps(run({"id": "a"})), "expected lists of verdicts and inputs"),
    "inputs that are none": (json.dumps(run(inputs=({"file": "a"},))), "expected lists of verdicts and inputs"),
    "a claim twice": (json.dumps(run(verdict("b"), verdict("a"), verdict("a"))), 'the claim "demo/a" stands twice'),
    "an id that is no text": (json.dumps(run(verdict("a", id=["a"]))), "expected lists of verdicts and inputs"),
    "no verdict in a verdict": (json.dumps(run(verdict("a", verdict=None))), "expected lists of verdicts and inputs"),
    "an input without a name": (json.dumps(run(inputs=(file("0") | {"file": 7},))), "expected lists of verdicts"),
    "versions that are a list": (json.dumps(run(kit=["1"])), "and the kit's versions"),
    "a number that JSON does not know": (json.dumps(run(verdict("a", gap=float("nan")))), "NaN is no JSON number"),
    "too deep": ("[" * 100_000, "not JSON"),
}


@pytest.mark.parametrize("mistake", BROKEN)
def test_a_file_that_is_no_run(mistake, tmp_path):
    text, sentence = BROKEN[mistake]
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        load_run(str(path), tmp_path / "ledger.jsonl")
    assert sentence in str(error.value)
    assert error.value.exit_code == 2


def test_no_such_file(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        load_run(str(tmp_path / "nowhere.json"), tmp_path / "ledger.jsonl")


@pytest.mark.parametrize("name", ["@1", "@-1", "@0"])
def test_no_such_entry(name, tmp_path):
    with pytest.raises(UserError, match=r"it holds 0|fewer recorded runs"):
        load_run(name, tmp_path / "ledger.jsonl")
