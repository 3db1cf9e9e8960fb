"""The attack matrix: archives made byte by byte to do harm, each refused with the member named."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from countback.fetch.archive import ArchiveError, Limits, open_archive
from countback.fetch.errors import UserError

GOOD = {"judge_alignment/human_annotations.json": b'{"NG": {}}', "judge_alignment/llm_annotations.json": b"{}"}


def _write(path: Path, members: dict[str, bytes], **fields: int) -> Path:
    """A zip whose members come in order; `fields` are set on the entry of the last one."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if name == list(members)[-1]:
                for field, value in fields.items():
                    setattr(info, field, value)
            archive.writestr(info, data)
    return path


def _patched(path: Path, change: Callable[[bytearray], None]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def _read_all(path: Path, limits: Limits) -> None:
    with open_archive(path, limits) as archive:
        for name in archive.names:
            archive.read(name)


def _refusal(path: Path, limits: Limits = Limits()) -> str:  # noqa: B008
    """The message with which the archive, or the reading of all its members, is refused."""
    with pytest.raises(ArchiveError) as caught:
        _read_all(path, limits)
    assert caught.value.exit_code == 4
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_good_archive_is_read_without_touching_the_disk(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"judge_alignment/": b"", **GOOD})
    with open_archive(path) as archive:
        assert archive.names == tuple(GOOD)
        assert {name: archive.read(name) for name in archive.names} == GOOD
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil", "leaves its folder"),
        ("a/../../evil", "leaves its folder"),
        ("a/..", "leaves its folder"),
        ("..\\evil", "backslash"),
        ("/etc/passwd", "absolute"),
        ("//host/share", "absolute"),
        ("C:/evil", "absolute"),
        ("C:evil", "absolute"),
        ("a//b", "empty part"),
        ("a/./b", "empty part or a dot"),
        ("con", "reserved"),
        ("a/NUL.json", "reserved"),
        ("com1.txt/b", "reserved"),
        ("LPT¹", "reserved"),
        ("labels:stream", "reserved"),
        ("evil.json.", "reserved"),
        ("evil ", "reserved"),
        ("a\x1b[2J", "control"),
        ("a\nb", "control"),
    ],
)
def test_a_name_that_leads_elsewhere(name: str, why: str, tmp_path: Path) -> None:
    message = _refusal(_write(tmp_path / "a.zip", {**GOOD, name: b"x"}))
    assert why in message
    assert repr(name) in message


def test_a_name_cut_short_by_a_null_byte(tmp_path: Path) -> None:
    """zipfile itself would show "safe.json" and hide the rest."""
    path = _write(tmp_path / "a.zip", {**GOOD, "safe.jsonX/../evil": b"x"})
    _patched(path, lambda data: data.__setitem__(slice(None), data.replace(b"safe.jsonX", b"safe.json\0")))
    message = _refusal(path)
    assert "control" in message
    assert "safe.json\\x00/../evil" in message


@pytest.mark.parametrize(
    ("mode", "why"),
    [(stat.S_IFLNK, "link"), (stat.S_IFIFO, "pipe"), (stat.S_IFCHR, "device"), (stat.S_IFSOCK, "socket")],
)
def test_a_member_that_is_no_file(mode: int, why: str, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {**GOOD, "labels": b"/etc/passwd"}, external_attr=(mode | 0o777) << 16)
    message = _refusal(path)
    assert why in message
    assert "'labels'" in message


@pytest.mark.parametrize(
    ("first", "second"),
    [("a/Ab.json", "a/aB.JSON"), ("stra\u00dfe", "STRASSE"), ("caf\u00e9", "cafe\u0301"), ("a/x", "A/x"), ("x", "X/")],
)
def test_two_members_that_collide(first: str, second: str, tmp_path: Path) -> None:
    message = _refusal(_write(tmp_path / "a.zip", {first: b"1", second: b"2"}))
    assert f"{second!r}: it collides with {first!r}" in message


def test_a_file_that_is_a_folder_too(tmp_path: Path) -> None:
    assert "'a/b': 'a' is a file" in _refusal(_write(tmp_path / "a.zip", {"a/b": b"1", "a": b"2"}))


def test_the_same_name_twice(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"a": b"1", "b": b"2"})
    _patched(path, lambda data: data.__setitem__(slice(None), data.replace(b"b", b"a")))
    assert "'a': it collides with 'a'" in _refusal(path)


@pytest.mark.parametrize("bit", [0x1, 0x40, 0x2000])
def test_an_encrypted_member(bit: int, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"secret": b"x" * 100})

    def encrypt(data: bytearray) -> None:
        for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = data.index(signature) + offset
            data[at : at + 2] = struct.pack("<H", bit)

    assert "'secret': it is encrypted" in _refusal(_patched(path, encrypt))


def test_a_large_member_is_no_bomb(tmp_path: Path) -> None:
    data = random.Random(2).randbytes(3 << 20)  # over a mebibyte, and packed to as much
    with open_archive(_write(tmp_path / "a.zip", {"large": data})) as archive:
        assert archive.read("large") == data


def test_a_bomb_by_ratio(tmp_path: Path) -> None:
    message = _refusal(_write(tmp_path / "a.zip", {**GOOD, "bomb": bytes(20 << 20)}))
    assert "'bomb'" in message
    assert "more than 200 to one" in message


def test_bombs_by_the_size_of_one_and_of_all(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"a": b"a" * 600, "b": b"b" * 600})
    assert "'a': it unpacks to 600 bytes, more than 500" in _refusal(path, Limits(member=500))
    assert "'b': with it the members unpack to more than 1000 bytes" in _refusal(path, Limits(total=1000))
    with open_archive(path, Limits(member=600, total=1200)) as archive:
        assert archive.read("b") == b"b" * 600


def test_too_many_members(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {str(n): b"" for n in range(11)})
    assert "expected up to 10 members, found 11" in _refusal(path, Limits(members=10))


def test_a_size_that_lies(tmp_path: Path) -> None:
    """10 MB behind an entry that says 1,000 bytes: no more than those are ever unpacked."""
    path = _write(tmp_path / "a.zip", {"liar": bytes(10 << 20)})

    def lie(data: bytearray) -> None:
        at = data.index(b"PK\x01\x02") + 24
        data[at : at + 4] = struct.pack("<I", 1000)

    assert "'liar': its data cannot be read" in _refusal(_patched(path, lie))


def test_a_size_that_promises_more_than_comes(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"liar": b"x" * 100})

    def lie(data: bytearray) -> None:
        at = data.index(b"PK\x01\x02") + 24
        data[at : at + 4] = struct.pack("<I", 1000)

    assert "'liar'" in _refusal(_patched(path, lie))


def test_a_wrong_crc(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("labels.json", b'{"label": "A"}')
    _patched(path, lambda data: data.__setitem__(data.index(b'"A"') + 1, ord("B")))
    message = _refusal(path)
    assert "'labels.json'" in message
    assert "CRC" in message


def test_a_nested_bomb_shares_one_limit(tmp_path: Path) -> None:
    """Two inner archives of 600 bytes each, 1,500 bytes in all allowed: the inner bytes count with the outer ones."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels", b"x" * 600)
    size = len(inner.getvalue())
    path = _write(tmp_path / "a.zip", {"one.zip": inner.getvalue(), "two.zip": inner.getvalue()})
    with open_archive(path, Limits(total=2 * (size + 600))) as archive:
        for name in archive.names:
            with archive.nested(name) as nested:
                assert nested.read("labels") == b"x" * 600
    with open_archive(path, Limits(total=2 * (size + 600) - 1)) as archive:
        with archive.nested("one.zip") as nested:
            nested.read("labels")
        with archive.nested("two.zip") as nested, pytest.raises(ArchiveError, match=r"two\.zip.*'labels'.*total limit"):
            nested.read("labels")


def test_an_archive_too_deep_in_archives(tmp_path: Path) -> None:
    data = b"{}"
    for name in ("labels", "inner.zip", "middle.zip"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(name, data)
        data = stream.getvalue()
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    with open_archive(path) as outer, outer.nested("middle.zip") as middle:
        assert middle.names == ("inner.zip",)
        with pytest.raises(ArchiveError, match=r"'inner\.zip': archives stand more than 2"), middle.nested("inner.zip"):
            pass


def test_members_that_share_their_bytes(tmp_path: Path) -> None:
    """The flat bomb: every entry points at the same compressed data."""
    path = _write(tmp_path / "a.zip", {"a": b"x" * 5000, "b": b"x" * 5000})

    def overlap(data: bytearray) -> None:
        at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1) + 42
        data[at : at + 4] = struct.pack("<I", 0)

    assert "'b': its data overlap those of 'a'" in _refusal(_patched(path, overlap))


def test_data_that_reach_into_the_directory(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"a": b"x" * 5000})

    def stretch(data: bytearray) -> None:
        at = data.index(b"PK\x01\x02") + 20
        data[at : at + 4] = struct.pack("<I", 4000)

    assert "'a': its data reach into the directory" in _refusal(_patched(path, stretch))


def test_a_name_that_differs_between_directory_and_member(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"shown": b"1"})
    _patched(path, lambda data: data.__setitem__(slice(30, 35), b"other"))
    assert "'shown'" in _refusal(path)


def test_an_unknown_compression(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", {"odd": b"1"})

    def method(data: bytearray) -> None:
        for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            at = data.index(signature) + offset
            data[at : at + 2] = struct.pack("<H", 97)

    assert "'odd': its data cannot be read" in _refusal(_patched(path, method))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_bytes_that_are_broken(method: int, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("odd", random.Random(1).randbytes(400))
    at = path.read_bytes().index(b"odd") + len(b"odd")
    broken = _patched(path, lambda data: data.__setitem__(slice(at + 20, at + 60), b"\xff" * 40))
    assert "'odd': its data cannot be read" in _refusal(broken)


@pytest.mark.parametrize("cut", [0, 10, 100, -1])
def test_no_whole_archive(cut: int, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", GOOD)
    _patched(path, lambda data: data.__delitem__(slice(cut, None)))
    assert "expected a whole zip archive" in _refusal(path)


def test_members_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zip", GOOD)
    with open_archive(path) as archive, pytest.raises(UserError, match=r"member 'scores\.csv', found judge_al"):
        archive.read("scores.csv")
    with pytest.raises(UserError, match="expected a zip archive that can be read"), open_archive(tmp_path / "none.zip"):
        pass
