"""The ledger: an append-only file of JSON lines, each of which holds the sha256 of the line before.

    {"prev":"<sha256 of the previous raw line>","n":12,"at":"2026-11-29T10:00:00Z","kind":"check","body":{...}}

The hash is that of the raw bytes without the line's end, so verifying parses nothing. `<ledger>.head` holds the number
and hash of the last line, so that lines missing from the end are seen too. An append first writes the head that will be
into `<ledger>.head.new`, then the line, and then puts the one in the other's place. What the file holds beyond its head
is thus an append that was never reported as written: the one line announced there is adopted by the next append, and a
torn one is moved aside. Everything else that contradicts the chain is an IntegrityError.

A chain shows that nothing was changed after its head became known to somebody else. Whoever can write both files can
rewrite both: commit the head, or have it timestamped, to rule that out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from countback.fetch.errors import IntegrityError, UserError

Kind = Literal["check", "registration", "resolution", "amendment", "observation"]
NOTHING = "0" * 64  # what the first line follows
LOCK_SECONDS = 60.0
_START = re.compile(rb'\{"prev":"([0-9a-f]{64})","n":([0-9]{1,18}),"at":"')
_BEFORE_KIND = (
    len('{"prev":"","n":,"at":"2026-11-29T10:00:00Z') + 64
)  # where a line's kind stands, digits of n not counted
_OTS = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94\x01\x08"  # version 1, over a sha256


@dataclass(frozen=True)
class Head:
    """The last line: its number (0: none yet) and its sha256."""

    n: int
    sha256: str

    def text(self) -> str:
        return f'{{"n": {self.n}, "sha256": "{self.sha256}"}}\n'


@dataclass(frozen=True)
class Entry:
    """A line, parsed."""

    n: int
    at: datetime
    kind: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Proof:
    """An OpenTimestamps file beside the ledger; `n` is the entry whose head it was made for, None when it is for none.

    Only noticed: what it attests is for `ots verify` to say.
    """

    path: Path
    n: int | None


@dataclass(frozen=True)
class Ledger:
    """A ledger whose chain is whole. `adopted`: its last line is beyond the head; `torn`: bytes after the last line."""

    path: Path
    lines: tuple[bytes, ...]
    head: Head
    adopted: bool = False
    torn: bytes = b""

    def entries(self, *kinds: Kind, newest_first: bool = False) -> Iterator[Entry]:
        """Entries of these kinds, in order; only their lines are parsed."""
        wanted = tuple(f'","kind":"{kind}","body":'.encode() for kind in kinds)
        count = len(self.lines)
        for n in range(count, 0, -1) if newest_first else range(1, count + 1):
            line = self.lines[n - 1]
            if line.startswith(wanted, _BEFORE_KIND + len(str(n))):
                yield _entry(self.path, n, line)

    def entry(self, n: int) -> Entry:
        """Entry number n, counted from 1. Raises UserError for a number that it does not have."""
        if not 1 <= n <= len(self.lines):
            raise UserError(f"{self.path}: no entry {n}; it holds {len(self.lines)}")
        return _entry(self.path, n, self.lines[n - 1])


def now() -> datetime:
    """The present instant, in whole seconds UTC."""
    return datetime.now(UTC).replace(microsecond=0)


def ledger_path(given: Path | None = None) -> Path:
    """--ledger, else COUNTBACK_LEDGER, else a file in the user's data folder."""
    if given is not None:
        return given
    from platformdirs import user_data_path

    named = os.environ.get("COUNTBACK_LEDGER")
    return Path(named) if named else user_data_path("countback", appauthor=False) / "ledger.jsonl"


def open_ledger(path: Path) -> Ledger:
    """Read and verify; empty where there is none. Raises IntegrityError naming the entry and what happened to it."""
    before = _read_head(path)
    data = _read(path)
    announced = _read_announced(path)  # in this order: while the head is still the one before, so is what it announces
    after = _read_head(path)  # another process may have appended in between
    if before is None:
        if data and after is None:
            raise IntegrityError(
                f"{path}: {_head_path(path).name} is missing, so lines removed from the end would not be seen; restore "
                "that file from a copy"
            )
        before = Head(0, NOTHING)
    *lines, torn = data.split(b"\n")
    ledger = _verified(path, lines, torn, before, after or before)
    if ledger.adopted and ledger.head != announced:
        raise IntegrityError(
            f"{path}: entry {ledger.head.n} stands beyond the head and no append announced it: it was inserted, or the "
            "head is an old one; restore both from a copy"
        )
    return ledger


def append(path: Path, kind: Kind, body: dict[str, Any], tell: Callable[[str], None] = print) -> Entry:
    """Write one entry, synchronised to the disk before this returns. Raises UserError where it cannot be written.

    `tell` is told what an interrupted append had left behind and what was done about it.
    Only the last line is compared with the head: `open_ledger` verifies the rest.
    """
    with _writing(path):
        head = _recover(path, tell)
        entry = Entry(head.n + 1, now(), kind, body)
        line = _line(entry, head.sha256)
        _announce(path, Head(entry.n, hashlib.sha256(line).hexdigest()))
        with path.open("ab") as file:
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _adopt(path)
    return entry


def verify(path: Path) -> Ledger:
    """`open_ledger` while nobody writes, so that what lies beyond the head was left behind and is not under way."""
    if not path.exists() and not _head_path(path).exists():
        raise UserError(f"{path}: no ledger there; expected one, name it with --ledger or COUNTBACK_LEDGER")
    with _writing(path):
        return open_ledger(path)


def proofs(ledger: Ledger) -> list[Proof]:
    """OpenTimestamps proofs beside the ledger, and for which of its heads each was made."""
    found = sorted(ledger.path.parent.glob(f"{ledger.path.name}*.ots"))
    if not found:
        return []
    heads = {}
    for n, line in enumerate(ledger.lines, 1):
        head = Head(n, hashlib.sha256(line).hexdigest())
        heads[hashlib.sha256(head.text().encode()).digest()] = n
    return [Proof(path, heads.get(_stamped(path))) for path in found]


def _stamped(path: Path) -> bytes:
    content = path.read_bytes()[: len(_OTS) + 32]
    return content[len(_OTS) :] if content.startswith(_OTS) else b""


def _line(entry: Entry, prev: str) -> bytes:
    at = entry.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = json.dumps(entry.body, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f'{{"prev":"{prev}","n":{entry.n},"at":"{at}","kind":"{entry.kind}","body":{body}}}'.encode()


def foreign(path: Path, n: int, why: str) -> IntegrityError:
    """The error for an entry whose hash is right and that says what no append of this kit writes."""
    return IntegrityError(
        f"{path}: entry {n} follows the chain and is not what countback writes ({why}): it was made by hand, or by "
        "another version; restore it from a copy"
    )


def _entry(path: Path, n: int, line: bytes) -> Entry:
    try:
        told = json.loads(line)
        at, body = datetime.fromisoformat(told["at"]), told["body"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise foreign(path, n, f"{type(error).__name__}: {error}") from None
    if at.tzinfo is None or not isinstance(body, dict):
        raise foreign(path, n, "a time without a zone, or a body that is no object")
    return Entry(n, at, told["kind"], body)


# --- files --------------------------------------------------------------------------------------------------------


def _head_path(path: Path) -> Path:
    return path.with_name(path.name + ".head")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name another ledger with --ledger") from None


def _announced_path(path: Path) -> Path:
    return path.with_name(path.name + ".head.new")


def _read_head(path: Path) -> Head | None:
    text = _read(_head_path(path)).decode("utf-8", "replace")
    if not text:
        return None
    head = _parsed_head(text)
    if head is None:
        raise IntegrityError(
            f"{_head_path(path)}: found {text[:80]!r}; expected the number and sha256 of the last entry"
        )
    return head


def _read_announced(path: Path) -> Head | None:
    """The head of an append that is under way or was interrupted; None where that was not yet written out."""
    return _parsed_head(_read(_announced_path(path)).decode("utf-8", "replace"))


def _parsed_head(text: str) -> Head | None:
    match = re.fullmatch(r'\{"n": ([0-9]{1,18}), "sha256": "([0-9a-f]{64})"\}\n', text)
    return Head(int(match[1]), match[2]) if match else None


def _announce(path: Path, head: Head) -> None:
    with _announced_path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(head.text())
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def _adopt(path: Path) -> None:
    """Put the head that was announced in its place."""
    os.replace(_announced_path(path), _head_path(path))
    _sync_folder(path.parent)


def _write_head(path: Path, head: Head) -> None:
    _announce(path, head)
    _adopt(path)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be synchronised there, nor need it be
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(path.name + ".lock"), timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise UserError(
            f"{path}: another process has held it for {LOCK_SECONDS:.0f} seconds; end it, or wait"
        ) from None
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); name another with --ledger") from None


def _recover(path: Path, tell: Callable[[str], None]) -> Head:
    """The head to append after, with what an interrupted append left behind put in order. The lock is held."""
    head = _read_head(path)
    if head is None and not _read(path):
        _write_head(path, Head(0, NOTHING))  # from now on a ledger without its head has lost it
        return Head(0, NOTHING)
    if head is not None and head.sha256 == _last_sha256(path):
        return head
    ledger = open_ledger(path)
    if ledger.torn:
        aside = path.with_name(f"{path.name}.torn-{ledger.head.n + 1}")
        aside.write_bytes(ledger.torn)
        os.truncate(path, sum(len(line) + 1 for line in ledger.lines))
        tell(f"{path}: an append that was interrupted left {len(ledger.torn)} bytes; they were moved to {aside.name}")
    if ledger.adopted:
        _adopt(path)
        tell(f"{path}: entry {ledger.head.n} was written whole and never reported; it is kept")
    return ledger.head


def _last_sha256(path: Path) -> str:
    """The hash of the last line where the file ends with one, else ""; reads no more than that line."""
    try:
        with path.open("rb") as file:
            size, tail = file.seek(0, os.SEEK_END), b""
            while len(tail) < size and tail.count(b"\n") < 2:
                start = max(0, size - max(4096, 2 * len(tail)))
                file.seek(start)
                tail = file.read(size - start)
    except FileNotFoundError:
        return NOTHING
    if not tail:
        return NOTHING
    return hashlib.sha256(tail[:-1].rpartition(b"\n")[2]).hexdigest() if tail.endswith(b"\n") else ""


# --- the chain ----------------------------------------------------------------------------------------------------


def _verified(path: Path, lines: list[bytes], torn: bytes, before: Head, after: Head) -> Ledger:
    """`before` and `after`: the head as it was read before and after the lines."""
    prev, reached, sha256 = NOTHING, before.n == 0, hashlib.sha256
    for n, line in enumerate(lines, 1):
        if not line.startswith(f'{{"prev":"{prev}","n":{n},"at":"'.encode()) or not line.endswith(b"}}"):
            raise IntegrityError(f"{path}: {_trouble(lines, n - 1, before)}; restore it from a copy")
        prev = sha256(line).hexdigest()
        if n == before.n:
            if prev != before.sha256:
                break
            reached = True
    if not reached:
        raise IntegrityError(f"{path}: {_end_trouble(lines, torn, before)}; restore it from a copy")
    if len(lines) > after.n + 1:
        raise IntegrityError(
            f"{path}: entries {after.n + 1} to {len(lines)} stand beyond the head, which says {after.n}: they were "
            "inserted, or the head is an old one; restore both from a copy"
        )
    return Ledger(path, tuple(lines), Head(len(lines), prev), adopted=len(lines) > after.n, torn=torn)


def _trouble(lines: list[bytes], at: int, head: Head) -> str:
    """What happened at the first line that does not follow the one before, in words that name the entry."""
    n = at + 1
    wanted = hashlib.sha256(lines[at - 1]).hexdigest() if at else NOTHING
    starts = [_start(line) for line in lines[at : at + 2]]
    this, following = starts[0], starts[-1] if len(starts) > 1 else None
    right = b'{"prev":"%s","n":%d,"at":"' % (wanted.encode(), n)
    stands = next((later for later in range(n + 1, len(lines) + 1) if lines[later - 1].startswith(right)), None)
    if at and _merged(lines[at - 1]):
        return f"entry {n - 1} (line {n - 1}) was edited: it has run into the entry after it"
    if stands is not None:
        if this is not None and this[1] > n:
            return f"entry {n} is out of order: it stands on line {stands}, and line {n} holds entry {this[1]}"
        return f"line {n} was inserted: entry {n} follows on line {stands}"
    if this is None:
        broken = following is not None and following[1] == n
        return f"entry {n - broken} (line {n - broken}) was edited"
    if this[0] != wanted and this[1] > n:
        return f"entry {n} is missing" if this[1] == n + 1 else f"entries {n} to {this[1] - 1} are missing"
    if this[0] != wanted and this[1] < n:
        return f"line {n} was inserted, or entry {this[1]} moved there"
    said = following[0] if following else head.sha256 if head.n == n else ""
    if at and this[0] != wanted and hashlib.sha256(lines[at]).hexdigest() == said:
        return f"entry {n - 1} (line {n - 1}) was edited: entry {n} holds another hash of it"
    return f"entry {n} (line {n}) was edited"


def _start(line: bytes) -> tuple[str, int] | None:
    """The hash and number that a line begins with, None where it does not begin as an entry."""
    match = _START.match(line)
    return (match[1].decode(), int(match[2])) if match else None


def _merged(line: bytes) -> bool:
    return line.count(b'{"prev":"') > 1


def _end_trouble(lines: list[bytes], torn: bytes, head: Head) -> str:
    """What happened at the end, when every line follows the one before and the head is not reached."""
    held = len(lines)
    if lines and _merged(lines[-1]):
        return f"entry {held} (line {held}) was edited: it has run into the entry after it"
    if held >= head.n:
        return f"entry {head.n} (line {head.n}) was edited: its hash is not the one in the head"
    if torn and held == head.n - 1:
        return f"entry {head.n} (line {head.n}) was edited or cut short: its line does not end"
    missing = f"entry {head.n} is" if held == head.n - 1 else f"entries {held + 1} to {head.n} are"
    return f"{missing} missing from its end: it was cut off after entry {held}"
