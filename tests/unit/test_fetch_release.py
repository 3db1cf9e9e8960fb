"""Pins, releases, and the errors of a releases.toml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from countback.fetch.errors import UserError
from countback.fetch.release import Pin, load_releases

A, B = "a" * 64, "b" * 64
PARTIAL = "aa" + "b" * 60 + "cc"


@pytest.mark.parametrize(
    ("pin", "digest", "size", "status"),
    [
        (Pin("f", A, size=3), A, 3, "verified"),
        (Pin("f", A), A, 3, "verified"),
        (Pin("f", A, size=3), B, 3, "mismatch"),
        (Pin("f", A, size=3), A, 4, "mismatch"),
        (Pin("f", sha256_prefix="aa", sha256_suffix="cc", size=3), PARTIAL, 3, "partial"),
        (Pin("f", sha256_prefix="aa", sha256_suffix="cc", size=3), PARTIAL, 4, "mismatch"),
        (Pin("f", sha256_prefix="ab", sha256_suffix="cc", size=3), PARTIAL, 3, "mismatch"),
        (Pin("f", sha256_prefix="aa", sha256_suffix="bc", size=3), PARTIAL, 3, "mismatch"),
        (Pin("f", sha256_suffix="cc"), PARTIAL, 3, "partial"),
        (Pin("f"), A, 3, "partial"),
        (Pin("f", size=3), A, 4, "mismatch"),
    ],
)
def test_what_a_file_is_to_a_pin(pin: Pin, digest: str, size: int, status: str) -> None:
    assert pin.status(digest, size) == status


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "name: expected a plain relative path"),
        ({"name": "a/nul.csv"}, "reserved on some platforms"),
        ({"name": "COM1"}, "reserved on some platforms"),
        ({"name": "a.csv."}, "reserved on some platforms"),
        ({"name": "/etc/passwd"}, "absolute"),
        ({"name": "../up"}, "name"),
        ({"name": "a//b"}, "shortest form"),
        ({"name": "a/./b"}, "shortest form"),
        ({"name": ".countback/x"}, "hidden"),
        ({"name": "a/-rf"}, "hyphen"),
        ({"name": "C:x"}, "platforms refuse"),
        ({"name": "a\nb"}, "platforms refuse"),
        ({"name": "a\\b"}, "platforms refuse"),
        ({"sha256": "A" * 64}, "sha256: expected 64 lower-case hex digits"),
        ({"sha256": "a" * 63}, "sha256: expected 64 lower-case hex digits"),
        ({"sha256_prefix": "xy"}, "sha256_prefix: expected fewer than 64"),
        ({"sha256_suffix": A}, "sha256_suffix: expected fewer than 64"),
        ({"sha256": A, "sha256_prefix": "aa"}, "a full digest or a partial one, found both"),
        ({"size": -1}, "size: expected a number of bytes, found -1"),
        ({"url": "ftp://example.org/f"}, "url: expected an http or https address"),
        ({"url": "file:///etc/passwd"}, "url: expected an http or https address"),
        ({"url": "http://[x/y"}, "url: expected an http or https address"),
        ({"url": "https://example.org:x/y"}, "url: expected an http or https address"),
        ({"url": "https://"}, "url: expected an http or https address"),
        ({"name": "a/" * 60 + "\u00e9" * 41}, "longer than 200 bytes"),
        ({"name": "countback.lock"}, "the cache itself uses"),
        ({"name": "Set-Aside/a.csv"}, "the cache itself uses"),
    ],
)
def test_a_pin_that_cannot_be(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        Pin(**({"name": "f"} | fields))


GOOD = """\
[[release]]
id = "one"
title = "One"
version = "1"
licence = "MIT"
retrieved = 2026-10-07
landing = "https://example.org"

[[release.file]]
name = "one/f.zip"
size = 3
"""


def test_a_good_file_with_a_date_of_toml(tmp_path: Path) -> None:
    path = tmp_path / "releases.toml"
    path.write_text(GOOD)
    (release,) = load_releases(path)
    assert (release.id, release.retrieved, release.note) == ("one", "2026-10-07", "")
    assert release.files == (Pin("one/f.zip", size=3),)
    assert release.licence_line == "one (https://example.org): licence: MIT"


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ('id = "one"', "", "release 1 (no id), id: expected a value, found none"),
        ('id = "one"', 'id = "One"', "release 1 (One), id: expected lower-case letters"),
        ('title = "One"', "title = 1", "release 1 (one), title: expected a valid string, found 1"),
        ('title = "One"', 'titel = "One"', "titel: expected one of the known fields, found this one"),
        ("2026-10-07", '"7 Oct"', "retrieved: expected a date as YYYY-MM-DD, found '7 Oct'"),
        ("size = 3", 'size = "3"', "release 1 (one), file 1, size: expected a valid integer, found '3'"),
        ("size = 3", "size = true", "file 1, size: expected a valid integer, found True"),
        ("size = 3", "sise = 3", "file 1, sise: expected one of the known fields"),
        ('name = "one/f.zip"', 'name = "../f.zip"', "file 1, name: expected a plain relative path, found '../f.zip'"),
        ("size = 3", '[[release.file]]\nname = "one/F.ZIP"', "file: expected each name once, found 'one/f.zip' 2"),
        ("[[release]]", "[release]", "expected [[release]] tables and nothing beside them, found: release"),
        ("[[release]]", "extra = 1\n[[release]]", "found: extra, release"),
        (GOOD, "", "found: an empty file"),
        (GOOD, "release = [1]", "expected [[release]] tables"),
        (GOOD, "release = 1", "expected [[release]] tables"),
        (GOOD, "release = []", "expected [[release]] tables"),
        (GOOD, "[[release]]\nfile = 3\n", "release 1 (no id)"),
        ("size = 3", "size = ", "expected TOML in UTF-8, found: Invalid value (at line 11, column 8)"),
        (GOOD, GOOD + GOOD, "expected each release id once, found: one, one"),
        (GOOD, GOOD + GOOD.replace('"one"', '"two"'), "expected each file name once, found 'one/f.zip' twice"),
        (GOOD, "x = " + "[" * 3000 + "]" * 3000, "expected"),
        ("size = 3", "size = " + "[" * 3000 + "]" * 3000, "expected"),
        ("size = 3", "size = " + "9" * 5000, "expected TOML in UTF-8"),
    ],
)
def test_a_wrong_file_is_told_where_what_and_what_for(change: str, to: str, said: str, tmp_path: Path) -> None:
    assert change in GOOD
    path = tmp_path / "releases.toml"
    path.write_text(GOOD.replace(change, to, 1))
    with pytest.raises(UserError) as caught:
        load_releases(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    path = tmp_path / "releases.toml"
    with pytest.raises(UserError, match="expected a readable releases file"):
        load_releases(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="expected TOML in UTF-8"):
        load_releases(path)
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())  # as some editors save it
    assert [release.id for release in load_releases(path)] == ["one"]
    path.unlink()
    os.mkfifo(path)  # reading it would wait for ever
    with pytest.raises(UserError, match="expected a file, found a folder, a pipe or a device"):
        load_releases(path)
