"""Members of a zip archive, read into memory and checked first: nothing is extracted to the disk.

An archive from the net is an input like any other. Everything in it is looked at before the first member is read: one
member that could do harm condemns the archive, and the error names that member. Sizes are in bytes.
"""

from __future__ import annotations

import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from countback.fetch.errors import IntegrityError, UserError
from countback.fetch.release import is_reserved

_ENCRYPTED = 0x1 | 0x40 | 0x2000  # one member, strong encryption, masked directory
_LOCAL_HEADER = 30
# What zipfile raises for one broken field or another.
_UNREADABLE: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError)
_UNREADABLE += (IndexError, NotImplementedError, RuntimeError, ValueError)
with suppress(ImportError):  # some builds of Python are without it, and zipfile then refuses such members
    from lzma import LZMAError

    _UNREADABLE += (LZMAError,)


class ArchiveError(IntegrityError):
    """An archive that is broken or could do harm; the message names the member."""


@dataclass(frozen=True)
class Limits:
    """What an archive may ask for. `ratio` is the most that a member larger than `ratio_from` may have been shrunk."""

    members: int = 10_000
    member: int = 1 << 30
    total: int = 4 << 30
    ratio: int = 200
    ratio_from: int = 1 << 20
    depth: int = 2


@dataclass
class _Budget:
    """Bytes that may still be unpacked from an archive and from those inside it, together."""

    left: int


@dataclass(frozen=True)
class Archive:
    """An open archive whose directory has been found harmless. `label` names it in errors."""

    label: str
    infos: dict[str, zipfile.ZipInfo]
    zip: zipfile.ZipFile
    limits: Limits
    budget: _Budget = field(repr=False)
    depth: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files, folders left out, in the order of the directory."""
        return tuple(self.infos)

    def read(self, name: str) -> bytes:
        """The bytes of one member, proved by its CRC.

        Raises UserError where there is no such member, ArchiveError where its data are not what the directory says.
        """
        info = self.infos.get(name)
        if info is None:
            held = ", ".join(sorted(self.infos)[:20]) or "nothing"
            raise UserError(f"{self.label}: expected a member {name!r}, found {held}; check which archive it is.")
        if info.file_size > self.budget.left:
            raise self._refused(name, "the archive and those inside it unpack to more than its total limit")
        self.budget.left -= info.file_size
        try:
            data = self.zip.read(info)
        except _UNREADABLE as error:
            raise self._refused(name, f"its data cannot be read: {error}") from error
        if len(data) != info.file_size:
            raise self._refused(name, f"{info.file_size} bytes are announced and {len(data)} came")
        return data

    @contextmanager
    def nested(self, name: str) -> Iterator[Archive]:
        """The archive that is a member of this one, under the same total limit."""
        if self.depth + 1 >= self.limits.depth:
            raise self._refused(name, f"archives stand more than {self.limits.depth} deep in one another")
        stream, label = io.BytesIO(self.read(name)), f"{self.label}/{name}"
        with _opened(stream, label, self.limits, self.budget, self.depth + 1) as inner:
            yield inner

    def _refused(self, name: str, why: str) -> ArchiveError:
        return _refused(self.label, name, why)


@contextmanager
def open_archive(path: Path, limits: Limits = Limits()) -> Iterator[Archive]:
    """Open a zip file and check every entry of its directory.

    Raises ArchiveError where the archive is broken or could do harm, UserError where the file cannot be read.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise UserError(f"{path}: expected a zip archive that can be read, found: {error.strerror}.") from error
    with stream, _opened(stream, str(path), limits, _Budget(limits.total), 0) as archive:
        yield archive


@contextmanager
def _opened(stream: IO[bytes], label: str, limits: Limits, budget: _Budget, depth: int) -> Iterator[Archive]:
    try:
        opened = zipfile.ZipFile(stream)
    except _UNREADABLE as error:
        raise ArchiveError(f"{label}: expected a whole zip archive, found: {error}; fetch it anew.") from error
    with opened:
        infos = opened.infolist()
        if len(infos) > limits.members:
            raise ArchiveError(f"{label}: expected up to {limits.members} members, found {len(infos)}.")
        _check_members(label, infos, limits)
        _check_overlap(label, infos, opened.start_dir)
        files = {info.filename: info for info in infos if not info.is_dir()}
        yield Archive(label, files, opened, limits, budget, depth)


def _refused(label: str, name: str, why: str) -> ArchiveError:
    return ArchiveError(
        f"{label}: expected harmless members, found {name!r}: {why}; do not unpack it, and tell whoever published it."
    )


def _check_members(label: str, infos: list[zipfile.ZipInfo], limits: Limits) -> None:
    """Raise ArchiveError for the first member that is harmful by itself or beside the others."""
    seen: dict[str, str] = {}
    total = 0
    for info in infos:
        total += info.file_size
        why = _name_fault(info) or _kind_fault(info) or _size_fault(info, limits)
        if total > limits.total:
            why = why or f"with it the members unpack to more than {limits.total} bytes"
        folded = unicodedata.normalize("NFC", info.filename).casefold().rstrip("/")
        if folded in seen:
            why = why or f"it collides with {seen[folded]!r} where case or accents are not told apart"
        seen[folded] = info.filename
        if why:
            raise _refused(label, info.orig_filename, why)
    folders = {folded: name for folded, name in seen.items() if not name.endswith("/")}
    for folded, name in seen.items():
        for parent in _parents(folded):
            if parent in folders:
                raise _refused(label, name, f"{folders[parent]!r} is a file and its folder at once")


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _name_fault(info: zipfile.ZipInfo) -> str:
    """What is wrong with a name, on any platform, or ""."""
    name = info.orig_filename
    parts = name.removesuffix("/").split("/")
    if any(ord(char) < 32 or ord(char) == 127 for char in name):
        return "a control character in its name"
    if "\\" in name:
        return "a backslash in its name, a folder on some platforms"
    if name.startswith("/") or name[1:2] == ":":
        return "an absolute path"
    if ".." in parts:
        return "a path that leaves its folder"
    if "" in parts or "." in parts:
        return "an empty part or a dot in its path"
    for part in parts:
        if is_reserved(part) or ":" in part:
            return "a name that is reserved on some platforms"
    return ""


def _kind_fault(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "a device, pipe or socket"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    return ""


def _size_fault(info: zipfile.ZipInfo, limits: Limits) -> str:
    if info.file_size > limits.member:
        return f"it unpacks to {info.file_size} bytes, more than {limits.member}"
    if info.file_size > limits.ratio_from and info.file_size > limits.ratio * max(info.compress_size, 1):
        return f"{info.compress_size} bytes unpack to {info.file_size}, more than {limits.ratio} to one"
    return ""


def _check_overlap(label: str, infos: list[zipfile.ZipInfo], directory: int) -> None:
    """Raise ArchiveError where two members share bytes, or one reaches into the directory: the flat bomb."""
    end, last = 0, ""
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise _refused(label, info.filename, f"its data overlap those of {last!r}")
        end, last = info.header_offset + _LOCAL_HEADER + info.compress_size, info.filename
        if end > directory:
            raise _refused(label, info.filename, "its data reach into the directory of the archive")
