"""CHECKSUMS against sha256sum itself: each reads what the other writes, whatever the names are."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from countback.fetch.checksums import (
    format_checksums,
    format_line,
    parse_checksums,
    read_checksums,
    sha256_file,
    verify_checksums,
    write_checksums,
)
from countback.fetch.errors import UserError
from hypothesis import given, settings
from hypothesis import strategies as st

needs_sha256sum = pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum of GNU coreutils")

# Names as the system has them: bytes without a slash and a null byte, among them newlines, backslashes and no UTF-8.
ODD = st.sampled_from([b"\n", b"\r", b"\\", b"\\n", b" ", b"*", b"#", b"\xff", "\u00e9".encode(), b"a", b"-", b"\t"])
PART = st.lists(ODD, min_size=1, max_size=8).map(b"".join) | st.binary(min_size=1, max_size=20)
PLAIN = PART.filter(lambda part: part not in {b".", b"..", b"-"} and not {b"/", b"\0"} & {bytes([n]) for n in part})
NAME = PLAIN.map(os.fsdecode)
FILES = st.dictionaries(NAME, st.binary(max_size=50), min_size=1, max_size=4)


def _write(folder: Path, files: dict[str, bytes]) -> dict[str, str]:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return {name: sha256_file(folder / name) for name in files}


@needs_sha256sum
@settings(max_examples=150, deadline=None)
@given(FILES)
def test_what_sha256sum_writes_is_read_and_what_is_written_it_verifies(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        digests = _write(folder, files)
        printed = subprocess.run(["sha256sum", "--", *files], cwd=folder, capture_output=True, check=True).stdout
        assert parse_checksums(os.fsdecode(printed)) == digests

        with tempfile.NamedTemporaryFile() as checksums:
            path = Path(checksums.name)
            write_checksums(path, digests)
            assert read_checksums(path) == digests
            check = ["sha256sum", "--check", "--strict", "--status", str(path)]
            assert subprocess.run(check, cwd=folder, check=False).returncode == 0
            assert set(verify_checksums(digests, folder).values()) == {"ok"}

            changed = next(iter(files))
            (folder / changed).write_bytes(files[changed] + b"x")
            assert subprocess.run(check, cwd=folder, check=False).returncode == 1
            assert verify_checksums(digests, folder)[changed] == "failed"
            (folder / changed).unlink()
            assert verify_checksums(digests, folder)[changed] == "missing"


@given(st.dictionaries(NAME, st.binary(min_size=32, max_size=32).map(bytes.hex)))
def test_reading_what_is_written_gives_it_back(digests: dict[str, str]) -> None:
    assert parse_checksums(format_checksums(digests)) == digests
    assert list(parse_checksums(format_checksums(digests))) == list(digests)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_by_line(text: str) -> None:
    try:
        digests = parse_checksums(text, "file")
    except UserError:
        return
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    assert len(digests) <= len(lines)
    assert bool(digests) == bool(lines)


@pytest.mark.parametrize(
    "line",
    ["0" * 63 + "  a", "0" * 64 + " a", "0" * 64 + "  ", "0" * 64, "g" * 64 + "  a", "\\" + "0" * 64 + "  a\\t"],
)
def test_a_line_of_another_form_is_named(line: str) -> None:
    with pytest.raises(UserError, match=r"CHECKSUMS, line 2: expected .*, found "):
        parse_checksums(f"# a comment\n{line}\n")


def test_one_name_with_two_digests_is_refused() -> None:
    lines = format_line("0" * 64, "a") + "\n" + format_line("1" * 64, "a")
    with pytest.raises(UserError, match="line 2: expected one digest for 'a'"):
        parse_checksums(lines)


def test_what_sha256sum_also_takes_is_read() -> None:
    digest = "AB" * 32
    assert parse_checksums(f"# comment\n\n  {digest} *a b\n") == {"a b": digest.lower()}


def test_a_missing_checksums_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a readable checksums file"):
        read_checksums(tmp_path / "CHECKSUMS")


def test_a_folder_in_a_files_place_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert verify_checksums({"a": "0" * 64}, tmp_path) == {"a": "unreadable"}
