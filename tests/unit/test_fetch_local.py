"""A folder as it is: files matched to pins by size and digest, whatever their names."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from countback.fetch import obtain
from countback.fetch.errors import UserError
from countback.fetch.obtain import find_local
from countback.fetch.release import Pin


def _pin(content: bytes, name: str = "paper/data.zip", path: str = "") -> Pin:
    return Pin(name, hashlib.sha256(content).hexdigest(), size=len(content), path=path)


def _folder(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def test_a_file_is_found_under_any_name(tmp_path: Path) -> None:
    pin = _pin(b"right")
    folder = _folder(tmp_path, {"deep/down/download (1)": b"right", "other": b"wrong"})
    local = find_local([pin], folder)
    assert local.found["paper/data.zip"].path == folder / "deep/down/download (1)"
    assert local.found["paper/data.zip"].status == "verified"
    assert (local.wrong, local.missing) == ((), ())


@pytest.mark.parametrize("name", ["data.zip", "x/data.zip", "paper/data.zip", "member/inside.zip"])
def test_a_pins_name_with_other_bytes_is_wrong(name: str, tmp_path: Path) -> None:
    pin = _pin(b"right", path="member/inside.zip")
    local = find_local([pin], _folder(tmp_path, {name: b"WRONG"}))
    assert (local.found, local.missing) == ({}, (pin,))
    (wrong,) = local.wrong
    assert (wrong.pin, wrong.path, wrong.size, wrong.status) == (pin, tmp_path / name, 5, "mismatch")
    assert hashlib.sha256(b"WRONG").hexdigest() in wrong.message
    assert pin.expected() in wrong.message


def test_a_wrong_file_is_told_even_where_the_right_one_is_too(tmp_path: Path) -> None:
    local = find_local([_pin(b"right")], _folder(tmp_path, {"data.zip": b"WRONG", "good": b"right"}))
    assert local.found["paper/data.zip"].path == tmp_path / "good"
    assert [file.path for file in local.wrong] == [tmp_path / "data.zip"]


def test_a_name_that_many_pins_share_counts_only_with_its_folders(tmp_path: Path) -> None:
    pins = [_pin(b"1", "a/x/labels.json", "x/labels.json"), _pin(b"2", "a/y/labels.json", "y/labels.json")]
    local = find_local(pins, _folder(tmp_path, {"z/labels.json": b"3", "y/labels.json": b"4"}))
    assert [(file.pin.name, file.path.parent.name) for file in local.wrong] == [("a/y/labels.json", "y")]


def test_swapped_names_are_both_found_and_nothing_is_wrong(tmp_path: Path) -> None:
    pins = [_pin(b"one", "a/one.csv"), _pin(b"two", "a/two.csv")]
    local = find_local(pins, _folder(tmp_path, {"one.csv": b"two", "two.csv": b"one"}))
    assert local.found["a/one.csv"].path.name == "two.csv"
    assert local.found["a/two.csv"].path.name == "one.csv"
    assert local.wrong == ()


def test_a_partial_pin_is_matched_and_said_to_be_partial(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    pin = Pin("p/scores.zip", sha256_prefix=digest[:8], sha256_suffix=digest[-4:], size=5)
    local = find_local([pin], _folder(tmp_path, {"any": b"right"}))
    assert local.found["p/scores.zip"].status == "partial"
    assert find_local([pin], _folder(tmp_path / "b", {"any": b"wrong"})).missing == (pin,)


def test_an_open_pin_is_matched_by_its_name_alone(tmp_path: Path) -> None:
    pin = Pin("p/2610.02622v1.pdf")
    local = find_local([pin], _folder(tmp_path, {"a.pdf": b"1", "2610.02622v1.pdf": b"2"}))
    assert (local.found[pin.name].path.name, local.found[pin.name].status) == ("2610.02622v1.pdf", "partial")


def test_only_files_that_could_be_pinned_are_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []

    def count(path: Path) -> str:
        hashed.append(path.name)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(obtain, "sha256_file", count)
    files = {"long": b"x" * 99, "other": b"yyyyy", "data.zip": b"short"[:3], "empty": b""}
    find_local([_pin(b"right")], _folder(tmp_path, files))
    assert hashed == ["data.zip", "other"]


def test_two_copies_give_the_first_by_name(tmp_path: Path) -> None:
    local = find_local([_pin(b"right")], _folder(tmp_path, {"b": b"right", "a/z": b"right"}))
    assert local.found["paper/data.zip"].path == tmp_path / "a/z"


def test_pipes_and_loops_in_the_folder_do_no_harm(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"sub/good": b"right"})
    os.mkfifo(folder / "data.zip")
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "gone")
    local = find_local([_pin(b"right")], folder)
    assert local.found["paper/data.zip"].path == folder / "sub" / "good"
    assert (local.wrong, local.unreadable) == ((), ())


def test_a_file_that_cannot_be_read_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(obtain, "sha256_file", refuse)
    local = find_local([_pin(b"right")], _folder(tmp_path, {"data.zip": b"right"}))
    assert (local.unreadable, len(local.missing)) == ((tmp_path / "data.zip",), 1)


@pytest.mark.parametrize("name", ["none", "file"])
def test_no_folder_is_a_users_mistake(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="expected a folder with the release's files, found none") as caught:
        find_local([], tmp_path / name)
    assert caught.value.exit_code == 2
