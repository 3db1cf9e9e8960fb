"""How patient a fetch is and how it ended: separate outcomes, each with its own message and next step.

Nothing here touches the network; the words are here so that the command, the tests and the README say the same.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from countback.fetch.release import Pin, Status, redact

Kind = Literal[
    "ok",
    "not needed",
    "expired or wrong link",
    "not authorised",
    "rate-limited",
    "gone",
    "truncated",
    "wrong type",
    "too large",
    "changed upstream",
    "damaged",
    "absent",
    "no link",
    "offline",
    "unreachable",
    "server error",
    "disk full",
    "read-only cache",
    "busy",
]

NEXT_STEP: dict[Kind, str] = {
    "ok": "nothing to do",
    "not needed": "nothing to do",
    "expired or wrong link": "open the landing page in a browser; if the file is there, download it and pass "
    "its folder with --data, and report the new link",
    "not authorised": "ask the authors for access, or check whether the view-only link was withdrawn; a copy you "
    "already hold can be passed with --data",
    "rate-limited": "wait until then and run the same command again; what has arrived is kept",
    "gone": "look at the landing page for a new address; a copy you already hold can be passed with --data",
    "truncated": "run the same command again; it goes on from where it stopped when the server allows it",
    "wrong type": "open the landing page in a browser and see what the address serves now",
    "too large": "open the landing page in a browser and see what the address serves now",
    "changed upstream": "compare the file set aside with the pin before trusting either; nothing was replaced",
    "damaged": "run countback fetch without --verify to get a good copy; the bad one will be set aside",
    "absent": "run countback fetch to get it, or pass the folder that holds it with --data",
    "no link": "no address is known for this file; pass the folder that holds it with --data",
    "offline": "run again without --offline, or pass the folder that holds the file with --data",
    "unreachable": "check the network, a proxy or the host's status page, and run the same command again",
    "server error": "the host has a fault of its own; run the same command again later",
    "disk full": "free some space, or point COUNTBACK_DATA to a larger disk, and run the same command again",
    "read-only cache": "make the cache folder writable, or point COUNTBACK_DATA to a folder that is",
    "busy": "another countback fetches this file now; wait for it, or end it, and run the same command again",
}

Tick = Callable[[int, int | None], None]
"""Called with the bytes on disk so far and the bytes expected, or None."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_INTEGRITY: frozenset[Kind] = frozenset({"changed upstream", "damaged"})


@dataclass(frozen=True)
class Outcome:
    """How one pin ended. `path` is the usable file or None; `found` says what was met, without tokens.

    `status` says what the file is to its pin ("" without a file); `aside` is where unexpected bytes were kept;
    `until` is when a rate limit ends, where the host said so. Sizes in bytes.
    """

    pin: Pin
    kind: Kind
    found: str
    release: str = ""
    path: Path | None = None
    status: Status | Literal[""] = ""
    sha256: str = ""
    size: int | None = None
    aside: Path | None = None
    until: datetime | None = None

    @property
    def usable(self) -> bool:
        """Whether a file that nothing contradicts stands at `path`."""
        return self.path is not None

    @property
    def exit_code(self) -> int:
        """0 with a usable file, 4 where bytes contradict the pin, else 3 (incomplete)."""
        if self.kind in _INTEGRITY:
            return 4
        return 0 if self.usable else 3

    @property
    def message(self) -> str:
        """One line: what was found, and for anything but success what was expected and the next step."""
        line = f"{self.pin.name}: {self.kind}"
        if self.kind == "rate-limited" and self.until is not None:
            line += f" until {self.until.isoformat(timespec='seconds')}"
        line += f": {redact(self.found)}"
        if self.usable:
            return line if self.status == "verified" else f"{line}; no pin proves it: review it in countback.lock"
        kept = f"; set aside at {self.aside}" if self.aside else ""
        return f"{line}; expected {self.pin.expected()}{kept}; {NEXT_STEP[self.kind]}."


@dataclass(frozen=True)
class Policy:
    """How patient a transfer is. Times in seconds, rates in bytes a second."""

    attempts: int = 5
    backoff: float = 1.0  # before the second attempt; doubled for each further one
    backoff_cap: float = 30.0
    patience: float = 120.0  # the longest Retry-After that is waited out
    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    window: float = 60.0  # a connection must bring min_rate on average over each window
    min_rate: float = 256.0
    max_bytes: int = 2 << 30  # for a file whose size is not known
    lock_timeout: float = 600.0


class Fault(Exception):
    """Why a transfer stopped. `wait` is what the server asked for; `again` says whether another attempt may help."""

    def __init__(
        self, kind: Kind, found: str, *, again: bool = False, wait: float | None = None, at: float | None = None
    ) -> None:
        super().__init__(found)
        self.kind, self.found, self.again, self.wait = kind, redact(found), again, wait
        known = None if wait is None else (time.time() if at is None else at) + min(wait, 1e9)
        self.until = None if known is None else datetime.fromtimestamp(known, UTC)


def disk_fault(error: OSError) -> Fault:
    """The outcome of an operating system error in the cache folder."""
    if error.errno in _FULL:
        return Fault("disk full", f"writing failed: {error.strerror}")
    return Fault("read-only cache", f"{error.strerror or error} ({error.filename or 'the cache folder'})")
