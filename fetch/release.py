"""Releases and pins: which bytes a paper's authors published, and what is known of their identity.

A `Pin` is full (64 hex digits of sha256), partial (the first and last digits, as an article may print them) or open
(no digest known). Only a full pin proves a file; the other two accept it for a person to review (`obtain`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from countback.fetch import toml
from countback.fetch.errors import UserError

Status = Literal["verified", "partial", "mismatch"]

_HEX64 = re.compile(r"[0-9a-f]{64}")
_HEX = re.compile(r"[0-9a-f]{0,63}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
LOCK_NAME = "countback.lock"  # in the cache, beside the files
ASIDE = "set-aside"
OWN = (LOCK_NAME, ASIDE)
_LONGEST = 200  # bytes of a name: set aside, all of it and a digest make one part, and file systems take 255
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"}
_DEVICES |= {device + number for device in ("com", "lpt") for number in "123456789¹²³"}

# A token may stand in a query, in a fragment, or percent-encoded inside another parameter (a login page's "next=").
_SECRET_NAME = (
    r"(?:[\w.-]|%5F)*(?:token|secret|passw(?:or)?d|signature|credential|view(?:_|%5F)only|api_?key|auth)(?:[\w.-]|%5F)*"
    r"|sig|key|code|session|sid"
)
_SECRET = re.compile(
    rf"(?P<name>(?:\A|[?&;#\s\"'({{,]|%(?:25)*(?:3F|26|23))(?:{_SECRET_NAME})(?:=|%(?:25)*3D))"
    r"(?P<value>(?:(?!%(?:25)*(?:26|23)|[)\].,:]*(?:[\s\"'<>]|\Z))[^&#;\s\"'<>])+)",  # a sentence's last marks stay
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^/\s?#\"'<>]+@", re.IGNORECASE)
REDACTED = "REDACTED"


def redact(text: str) -> str:
    """`text` (a URL, or a message with URLs in it) without the tokens, keys and passwords of its URLs."""
    text = _USERINFO.sub(rf"\g<scheme>{REDACTED}@", text)
    return _SECRET.sub(rf"\g<name>{REDACTED}", text)


@dataclass(frozen=True)
class Pin:
    """One file of a release; `name` is where it stands in the cache, as a relative path with forward slashes.

    `path` is where its source keeps it (a member path), when that differs from the name. `size` is in bytes.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    name: str
    sha256: str | None = None
    sha256_prefix: str = ""
    sha256_suffix: str = ""
    size: int | None = None
    url: str = ""
    path: str = ""

    def __post_init__(self) -> None:
        problem = _name_problem(self.name)
        if problem:
            raise ValueError(f"name: expected a plain relative path, found {self.name!r} ({problem})")
        if self.sha256 is not None and not _HEX64.fullmatch(self.sha256):
            raise ValueError(f"sha256: expected 64 lower-case hex digits, found {self.sha256!r}")
        for field, value in (("sha256_prefix", self.sha256_prefix), ("sha256_suffix", self.sha256_suffix)):
            if not _HEX.fullmatch(value):
                raise ValueError(f"{field}: expected fewer than 64 lower-case hex digits, found {value!r}")
        if self.sha256 and (self.sha256_prefix or self.sha256_suffix):
            raise ValueError("sha256: expected a full digest or a partial one, found both")
        if self.size is not None and self.size < 0:
            raise ValueError(f"size: expected a number of bytes, found {self.size}")
        if self.url and not _is_address(self.url):
            raise ValueError(f"url: expected an http or https address, found {redact(self.url)!r}")

    @property
    def kind(self) -> Literal["full", "partial", "open"]:
        """How much of the digest is known."""
        if self.sha256:
            return "full"
        return "partial" if self.sha256_prefix or self.sha256_suffix else "open"

    def status(self, sha256: str, size: int) -> Status:
        """What a file of this digest and size is to the pin; "partial" means that nothing contradicts it."""
        if self.size is not None and size != self.size:
            return "mismatch"
        if self.sha256 is not None:
            return "verified" if sha256 == self.sha256 else "mismatch"
        fits = sha256.startswith(self.sha256_prefix) and sha256.endswith(self.sha256_suffix)
        return "partial" if fits else "mismatch"

    def expected(self) -> str:
        """The pin in words, for messages."""
        if self.kind == "partial":
            digest = f"sha256 {self.sha256_prefix}...{self.sha256_suffix}"
        else:
            digest = f"sha256 {self.sha256}" if self.sha256 else "a file whose sha256 is not published"
        return digest if self.size is None else f"{digest}, {self.size} bytes"


@dataclass(frozen=True)
class Release:
    """What the authors published, where, and under which licence. `retrieved` is an ISO date, or "" when never seen.

    `mapping` names a file that a user writes, where the authors state no schema: which files of the release are what,
    and what their columns are called. Nothing pins it or the files it points at.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    id: str
    title: str
    version: str
    licence: str
    retrieved: str
    landing: str
    files: tuple[Pin, ...] = ()
    note: str = ""
    mapping: str = ""

    def __post_init__(self) -> None:
        problem = _name_problem(self.mapping) if self.mapping else ""
        if problem:
            raise ValueError(f"mapping: expected a plain file name, found {self.mapping!r} ({problem})")
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", self.id):
            raise ValueError(f"id: expected lower-case letters, digits and hyphens, found {self.id!r}")
        if self.retrieved and not _DATE.fullmatch(self.retrieved):
            raise ValueError(f"retrieved: expected a date as YYYY-MM-DD, found {self.retrieved!r}")
        names = [pin.name.casefold() for pin in self.files]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"file: expected each name once, found {name!r} {names.count(name)} times")

    @property
    def licence_line(self) -> str:
        """The line shown before anything of this release is fetched."""
        return f"{self.id} ({redact(self.landing)}): licence: {self.licence or 'none stated'}"


def load_releases(path: Path) -> tuple[Release, ...]:
    """The releases of one releases.toml: [[release]] tables with nested [[release.file]] tables.

    Raises UserError naming the file, the place in it, what was expected and what stands there.
    """
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: expected a file, found a folder, a pipe or a device; check the path.")
        table = toml.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UserError(f"{path}: expected a readable releases file, found: {error.strerror}.") from error
    except ValueError as error:
        raise UserError(f"{path}: expected TOML in UTF-8, found: {error}; correct that line.") from error
    entries: Any = table.get("release")
    tables = isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)
    if set(table) != {"release"} or not tables:
        found = ", ".join(sorted(table)) or "an empty file"
        raise UserError(f"{path}: expected [[release]] tables and nothing beside them, found: {found}.")
    # [[release.file]] reads better in TOML, `files` in Python.
    return _validated(path, [{"files" if key == "file" else key: entry[key] for key in entry} for entry in entries])


def _validated(path: Path, entries: list[Any]) -> tuple[Release, ...]:
    from pydantic import TypeAdapter, ValidationError

    try:  # by way of JSON: strict there takes a list for a tuple, but no "5" for 5
        releases = TypeAdapter(tuple[Release, ...]).validate_json(json.dumps(entries, default=str), strict=True)
    except ValidationError as error:
        raise UserError(f"{path}: " + "; ".join(_problem(entries, e) for e in error.errors())) from error
    ids = [release.id for release in releases]
    if len(set(ids)) < len(ids):
        raise UserError(f"{path}: expected each release id once, found: {', '.join(ids)}.")
    names = [pin.name.casefold() for release in releases for pin in release.files]
    if twice := next((name for name in names if names.count(name) > 1), None):  # the cache and recipes know names only
        raise UserError(f"{path}: expected each file name once, found {twice!r} twice; name a folder before it.")
    return releases


def _problem(entries: list[Any], error: Any) -> str:
    """One validation error as "release 2 (id), file 1: expected ..., found ..."."""
    place, loc = "", error["loc"]
    if loc:
        place = f"release {loc[0] + 1} ({entries[loc[0]].get('id', 'no id')})"
    if len(loc) > 2:
        place += f", file {loc[2] + 1}"
    field = loc[-1] if loc and isinstance(loc[-1], str) else ""
    if error["type"] == "value_error":
        return f"{place}, {error['ctx']['error']}"
    if error["type"] == "missing":
        return f"{place}, {field}: expected a value, found none"
    if error["type"] == "unexpected_keyword_argument":
        return f"{place}, {field}: expected one of the known fields, found this one"
    return f"{place}, {field}: {error['msg'].replace('Input should be', 'expected')}, found {error['input']!r}"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket of an IPv6 address left open, a port that is no number
        return False


def _name_problem(name: str) -> str:
    """Why a name cannot stand in the cache on every platform, or ""."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or str(path) != name:
        return "empty, absolute or not in its shortest form"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"longer than {_LONGEST} bytes"
    if any(part in {".", ".."} or part.startswith((".", "-")) or part != part.strip() for part in path.parts):
        return "a part is hidden, starts with a hyphen or has outer spaces"
    if any(ord(char) < 32 or char in '\\:*?"<>|' for char in name):
        return "a character that some platforms refuse"
    if any(map(is_reserved, path.parts)):
        return "a name that is reserved on some platforms"
    if path.parts[0].casefold() in OWN:
        return "a name that the cache itself uses"
    return ""


def is_reserved(part: str) -> bool:
    """Whether a file or folder of this name means a device on Windows, or loses its last characters there."""
    stem = part.split(".")[0].rstrip().casefold()
    return stem in _DEVICES or part != part.rstrip(". ")
