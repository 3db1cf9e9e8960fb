"""CHECKSUMS: the format of `sha256sum -c` (GNU coreutils), read, written and verified.

A line is 64 hex digits, a space, a space or an asterisk, and a name to the end of the line. Where a name holds a
backslash, a newline or a carriage return the line starts with a backslash and the name is escaped. Lines that start
with "#" are comments. Names are bytes: what is not UTF-8 travels as surrogates, as `os.fsdecode` does it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from countback.fetch.errors import UserError

Check = Literal["ok", "failed", "missing", "unreadable"]

_LINE = re.compile(r"[ \t]*(\\?)([0-9a-fA-F]{64}) [ *](.+)", re.DOTALL)
_ESCAPES = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}


def sha256_file(path: Path) -> str:
    """The sha256 of a file, as 64 lower-case hex digits. Raises OSError as opening does."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def format_line(digest: str, name: str) -> str:
    """One line, as sha256sum prints it (without the newline)."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return ("" if escaped == name else "\\") + f"{digest}  {escaped}"


def format_checksums(digests: Mapping[str, str]) -> str:
    """The whole text for {name: sha256}, in the order given."""
    return "".join(format_line(digest, name) + "\n" for name, digest in digests.items())


def parse_checksums(text: str, source: str = "CHECKSUMS") -> dict[str, str]:
    """{name: sha256} in the order of the lines.

    Raises UserError naming the source and the line where a line has another form, or a name has two digests.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise UserError(
                f"{source}, line {number}: expected 64 hex digits, two spaces and a name, found {line[:80]!r}; "
                "write the line as sha256sum prints it."
            )
        escaped, digest, name = match[1], match[2].lower(), match[3]
        if escaped:
            name = _unescape(name, source, number)
        if digests.get(name, digest) != digest:
            raise UserError(f"{source}, line {number}: expected one digest for {name!r}, found a second; keep one.")
        digests[name] = digest
    return digests


def _unescape(name: str, source: str, number: int) -> str:
    if not re.fullmatch(r"(?:[^\\]|\\[\\nr])*", name, re.DOTALL):
        raise UserError(
            f"{source}, line {number}: expected \\\\, \\n or \\r after a leading backslash, found {name!r}; "
            "write the line as sha256sum prints it."
        )
    return re.sub(r"\\[\\nr]", lambda match: _ESCAPES[match[0]], name)


def read_checksums(path: Path) -> dict[str, str]:
    """{name: sha256} of a CHECKSUMS file. Raises UserError where it cannot be read."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UserError(f"{path}: expected a readable checksums file, found: {error.strerror}.") from error
    return parse_checksums(text, str(path))


def write_checksums(path: Path, digests: Mapping[str, str]) -> None:
    """Write {name: sha256} as `sha256sum -c` reads it."""
    path.write_bytes(format_checksums(digests).encode("utf-8", "surrogateescape"))


def verify_checksums(digests: Mapping[str, str], root: Path) -> dict[str, Check]:
    """What stands under `root` for each name: as `sha256sum -c` run there, without stopping."""
    return {name: _check(root / name, digest) for name, digest in digests.items()}


def _check(path: Path, digest: str) -> Check:
    try:
        return "ok" if sha256_file(path) == digest else "failed"
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "unreadable"
