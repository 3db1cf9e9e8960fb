"""Files of a release, from a folder, from the cache or from their host, and the proof of what they are.

In the cache a file stands under its pin's name only once its bytes have been checked there; everything unfinished is
in the hidden folder `.countback`, everything unexpected in `set-aside`. A verified file is never touched again.

What only a download needs is imported where it is needed: most runs find their files in the cache or in a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from countback.fetch.checksums import sha256_file
from countback.fetch.errors import UserError
from countback.fetch.lockfile import Locked, add_lock, read_lock
from countback.fetch.outcome import Fault, Kind, Outcome, Policy, Tick, disk_fault
from countback.fetch.release import ASIDE, Pin, Release, Status, redact

if TYPE_CHECKING:
    import requests

WORK = ".countback"


def cache_folder() -> Path:
    """COUNTBACK_DATA, or the platform's cache folder for the user. Not created here."""
    chosen = os.environ.get("COUNTBACK_DATA", "")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError:  # ~nobody
            raise UserError(f"COUNTBACK_DATA={chosen}: there is no such home folder; write it in full.") from None
    import platformdirs

    return platformdirs.user_cache_path("countback")


@dataclass(frozen=True)
class LocalFile:
    """A file and what it is to the pin; `size` in bytes."""

    pin: Pin
    path: Path
    sha256: str
    size: int
    status: Status

    @property
    def message(self) -> str:
        """What stands there and what was expected, for a file that is not what its name says."""
        return f"{self.path}: expected {self.pin.expected()}, found sha256 {self.sha256}, {self.size} bytes"


@dataclass(frozen=True)
class LocalFiles:
    """What a folder holds of some pins: `found` by pin name; `wrong` files have a pin's name but not its bytes.

    `closed` are the folders below it that could not be looked into, as the errors that said so.
    """

    found: dict[str, LocalFile]
    wrong: tuple[LocalFile, ...]
    missing: tuple[Pin, ...]
    unreadable: tuple[Path, ...]
    closed: tuple[OSError, ...]


def find_local(pins: Iterable[Pin], folder: Path) -> LocalFiles:
    """Match the files below `folder` to pins by size and sha256, whatever their names.

    Only a pin without any digest is matched by its name. Files are hashed only where their size fits a pin or their
    name is a pin's. Raises UserError where the folder is none.
    """
    pins = tuple(pins)
    if not folder.is_dir():
        raise UserError(f"{folder}: expected a folder with the release's files, found none; check the path.")
    found: dict[str, LocalFile] = {}
    wrong: list[LocalFile] = []
    unreadable: list[Path] = []
    closed: list[OSError] = []
    below = [Path(root, name) for root, _, names in os.walk(folder, onerror=closed.append) for name in names]
    for path in sorted(path for path in below if path.is_file()):
        try:
            matches, mismatches = _match(pins, path, path.absolute())
        except OSError:
            unreadable.append(path)
            continue
        for match in matches:
            found.setdefault(match.pin.name, match)
        if not matches:  # a pinned file under another pin's name is still a proved file
            wrong.extend(mismatches)
    missing = tuple(pin for pin in pins if pin.name not in found)
    return LocalFiles(found, tuple(wrong), missing, tuple(unreadable), tuple(closed))


def _match(pins: tuple[Pin, ...], path: Path, relative: Path) -> tuple[list[LocalFile], list[LocalFile]]:
    size = path.stat().st_size
    named = [pin for pin in pins if _has_name(pins, pin, relative)]
    fitting = [pin for pin in pins if pin.kind != "open" and pin.size in {None, size}]
    if not named and not fitting:
        return [], []
    digest = sha256_file(path)
    local = [LocalFile(pin, path, digest, size, pin.status(digest, size)) for pin in pins if pin in named + fitting]
    return [file for file in local if file.status != "mismatch"], [
        file for file in local if file.status == "mismatch" and file.pin in named
    ]


def _has_name(pins: tuple[Pin, ...], pin: Pin, relative: Path) -> bool:
    """Whether a path ends as the pin's name or member path does; its last part counts if no other pin has it too."""
    tails = [tuple(Path(text).parts) for text in (pin.name, pin.path) if text]
    if [Path(other.name).name for other in pins].count(relative.name) == 1:
        tails.append((Path(pin.name).name,))
    return any(relative.parts[-len(tail) :] == tail for tail in tails)


def obtain(
    pin: Pin,
    cache: Path,
    *,
    session: requests.Session | None = None,
    offline: bool = False,
    verify_only: bool = False,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    tick: Tick = lambda done, total: None,
    release: str = "",
) -> Outcome:
    """See that the pinned file stands in the cache, fetching it where needed, and say how that ended.

    Every failure of the network, the host or the disk is an Outcome; only a lock file that cannot be read raises
    (UserError). Offline and verifying, no socket is touched.
    """
    keeper = _Keeper(pin, cache, release)
    try:
        standing = keeper.standing()
        if standing is not None and standing.usable:
            return standing
        if verify_only:
            return standing or keeper.ended("absent", "there is no such file in the cache")
        if offline:
            return standing or keeper.ended("offline", "the file is not in the cache, and --offline was given")
        if not pin.url:
            return standing or keeper.ended("no link", "the file is not in the cache")
        with keeper.locked(policy):
            standing = keeper.standing()
            if standing is not None and standing.usable:  # another process was faster
                return standing
            with _session(session) as opened:
                return keeper.fetch(opened, policy, tick)
    except Fault as fault:
        return keeper.ended(fault.kind, fault.found, fault)
    except OSError as error:
        disk = disk_fault(error)
        return keeper.ended(disk.kind, disk.found)


@contextlib.contextmanager
def _session(given: requests.Session | None) -> Iterator[requests.Session]:
    """The session given, left open, or one of our own."""
    if given is not None:
        yield given
        return
    import requests

    with requests.Session() as session:
        yield session


class _Keeper:
    """One pin's places in the cache, and the only code that puts a file there."""

    def __init__(self, pin: Pin, cache: Path, release: str) -> None:
        self.pin, self.cache, self.release = pin, cache, release
        self.target = cache / pin.name
        self.work = cache / WORK
        self.part = self.work / (hashlib.sha256(pin.name.encode()).hexdigest()[:16] + ".part")

    def ended(self, kind: Kind, found: str, fault: Fault | None = None) -> Outcome:
        """An outcome without a file."""
        return Outcome(self.pin, kind, found, self.release, until=fault.until if fault else None)

    def standing(self) -> Outcome | None:
        """What stands under the pin's name: None without a file, "not needed" or "damaged"."""
        try:
            digest, size = sha256_file(self.target), self.target.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None
        status = self._status(digest, size)
        if status == "mismatch":
            found = f"the file in the cache has sha256 {digest}, {size} bytes"
            return Outcome(self.pin, "damaged", found, self.release, sha256=digest, size=size)
        if status == "partial":
            self._lock(digest, size)
        return self._here("not needed", "in the cache", digest, size, status)

    def _here(self, kind: Kind, found: str, digest: str, size: int, status: Status) -> Outcome:
        return Outcome(self.pin, kind, f"{found}, {status}", self.release, self.target, status, digest, size)

    def _status(self, digest: str, size: int) -> Status:
        """What the pin says, and for a file that no pin proves what the lock file says of the first one."""
        status = self.pin.status(digest, size)
        locked = read_lock(self.cache).get(self.pin.name) if status == "partial" else None
        return "mismatch" if locked is not None and locked.sha256 != digest else status

    def _lock(self, digest: str, size: int) -> None:
        if self.pin.name not in read_lock(self.cache):
            self.work.mkdir(parents=True, exist_ok=True)
            today = date.today().isoformat()
            add_lock(self.cache, Locked(self.pin.name, size, digest, today, redact(self.pin.url)), self.work)

    @contextlib.contextmanager
    def locked(self, policy: Policy) -> Iterator[None]:
        """Alone with this file, among threads and processes; the system frees the lock of a killed process."""
        from filelock import FileLock, Timeout

        self.work.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.part.with_suffix(".lock"))
        try:
            lock.acquire(timeout=policy.lock_timeout)
        except Timeout as error:
            raise Fault("busy", f"another process held the file for {policy.lock_timeout:g} s") from error
        try:
            yield
        finally:
            lock.release()

    def fetch(self, session: requests.Session, policy: Policy, tick: Tick) -> Outcome:
        """Transfer, prove, place. Called under the lock."""
        from countback.fetch.transfer import discard, transfer

        for _ in range(2):
            resumed = transfer(self.pin, self.part, session, policy, tick)
            digest, size = sha256_file(self.part), self.part.stat().st_size
            status = self._status(digest, size)
            if status != "mismatch" or not resumed:
                break
            discard(self.part)  # the older bytes may be to blame: once more, from the start
        if status == "mismatch":
            kept = self._set_aside(self.part, digest)
            discard(self.part)
            found = f"the host now serves sha256 {digest}, {size} bytes"
            return replace(self.ended("changed upstream", found), sha256=digest, size=size, aside=kept)
        if status == "partial":
            self._lock(digest, size)
        self._place()
        discard(self.part)  # what was noted about it
        return self._here("ok", "fetched", digest, size, status)

    def _place(self) -> None:
        with self.part.open("rb") as stream:
            os.fsync(stream.fileno())
        self.target.parent.mkdir(parents=True, exist_ok=True)
        if self.target.exists():
            self._set_aside(self.target, sha256_file(self.target))
        os.replace(self.part, self.target)

    def _set_aside(self, path: Path, digest: str) -> Path:
        """Move unexpected bytes where a person can look at them, under a name that says which they are."""
        kept = self.cache / ASIDE / f"{digest[:12]}-{self.pin.name.replace('/', '-')}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, kept)
        return kept


def fetch_releases(
    releases: Iterable[Release],
    cache: Path | None = None,
    *,
    offline: bool = False,
    verify_only: bool = False,
    progress: bool | None = None,
    session: requests.Session | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    tell: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Obtain every file of the releases, one after the other; one Outcome a pin, in order.

    `tell` is given each release's licence line before its first file and each outcome's message after it. A progress
    bar appears on a terminal's stderr (progress=None), always (True) or never (False). A host that did not answer is
    tried only once for each further file.
    """
    cache = cache_folder() if cache is None else cache
    outcomes: list[Outcome] = []
    silent: set[str | None] = set()
    with contextlib.ExitStack() as stack:
        shared = session if offline or verify_only else stack.enter_context(_session(session))
        ticker = stack.enter_context(_progress(sys.stderr.isatty() if progress is None else progress))
        for release in releases:
            tell(release.licence_line)
            if not release.files:
                tell(f"{release.id}: no file of it is known. {release.note}".rstrip())
            for pin in release.files:
                host = urlsplit(pin.url).netloc
                outcome = obtain(
                    pin,
                    cache,
                    session=shared,
                    offline=offline,
                    verify_only=verify_only,
                    policy=replace(policy, attempts=1) if host in silent else policy,
                    tick=ticker(pin.name),
                    release=release.id,
                )
                if outcome.kind == "unreachable":
                    silent.add(host)
                outcomes.append(outcome)
                tell(outcome.message)
    return outcomes


@contextlib.contextmanager
def _progress(shown: bool) -> Iterator[Callable[[str], Tick]]:
    """A maker of ticks, one a file; drawn by rich on stderr, or not at all."""
    if not shown:
        yield lambda name: lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    piped = not sys.stdout.isatty()  # rich would otherwise draw what is printed there on stderr
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=not piped) as bar:

        def ticker(name: str) -> Tick:
            task = bar.add_task(name, total=None, visible=False)
            return lambda done, total: bar.update(task, completed=done, total=total, visible=True)

        yield ticker
