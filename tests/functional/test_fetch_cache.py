"""What becomes of the files themselves: killed and rival processes, full and read-only disks, good files kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from countback.fetch.checksums import sha256_file
from countback.fetch.errors import UserError
from countback.fetch.lockfile import LOCK_NAME, Locked, add_lock, read_lock
from countback.fetch.obtain import WORK, cache_folder, fetch_releases, obtain
from countback.fetch.outcome import NEXT_STEP, Kind, Outcome, Policy
from countback.fetch.release import Pin, Release
from filelock import FileLock

from tests.functional.fakehost import FakeHost, drip, ok, ranged, short, status

NAME = "paper/table.csv"
BODY = b"item,label\n" + b"".join(b"%d,A\n" % n for n in range(30_000))
OTHER = BODY.replace(b"7,A", b"7,B")
QUICK = Policy(attempts=2, backoff=0.01)


def _pin(url: str, body: bytes = BODY, name: str = NAME) -> Pin:
    return Pin(name, hashlib.sha256(body).hexdigest(), size=len(body), url=url)


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with FakeHost() as server:
        yield server


def _put(cache: Path, body: bytes) -> Path:
    path = cache / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def _files(cache: Path) -> list[str]:
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())


def test_every_kind_of_outcome_has_a_next_step() -> None:
    assert set(NEXT_STEP) == set(get_args(Kind))


# --- good files ----------------------------------------------------------------------------------------------------


def test_a_verified_file_is_never_touched_again(host: FakeHost, tmp_path: Path) -> None:
    path = _put(tmp_path, BODY)
    before = path.stat()
    outcome = obtain(_pin(host.on("/f", ok(OTHER))), tmp_path, policy=QUICK)
    assert (outcome.kind, outcome.status, outcome.path) == ("not needed", "verified", path)
    assert path.stat() == before
    assert host.log == []


def test_a_file_of_an_older_pin_stays_until_the_new_one_is_proved(host: FakeHost, tmp_path: Path) -> None:
    path = _put(tmp_path, OTHER)
    pin = _pin(host.on("/f", ok(BODY + b"junk\n"), status(503), ok(BODY)))
    changed = obtain(pin, tmp_path, policy=Policy(attempts=1))
    assert (changed.kind, changed.path, changed.exit_code) == ("changed upstream", None, 4)
    assert path.read_bytes() == OTHER
    assert changed.aside is not None
    assert changed.aside.read_bytes() == BODY + b"junk\n"
    assert str(changed.aside) in changed.message
    assert obtain(pin, tmp_path, policy=Policy(attempts=1)).kind == "server error"
    assert path.read_bytes() == OTHER
    assert obtain(pin, tmp_path, policy=QUICK).kind == "ok"
    assert path.read_bytes() == BODY
    kept = {path.read_bytes() for path in (tmp_path / "set-aside").iterdir()}
    assert kept == {OTHER, BODY + b"junk\n"}


# --- files that no pin proves --------------------------------------------------------------------------------------


def test_an_unpinned_file_is_locked_to_the_bytes_first_found(host: FakeHost, tmp_path: Path) -> None:
    pin = Pin("paper/table.csv", url=host.on("/f", ok(BODY), ok(OTHER)) + "?token=abc")
    first = obtain(pin, tmp_path, policy=QUICK)
    assert (first.kind, first.status, first.exit_code) == ("ok", "partial", 0)
    assert f"review it in {LOCK_NAME}" in first.message
    entry = tomllib.loads((tmp_path / LOCK_NAME).read_text("utf-8"))["file"]
    assert [(e["name"], e["size"], e["sha256"]) for e in entry] == [(NAME, len(BODY), hashlib.sha256(BODY).hexdigest())]
    assert entry[0]["review"] == "to be reviewed"
    assert "abc" not in entry[0]["source"]
    assert obtain(pin, tmp_path).kind == "not needed"

    (tmp_path / NAME).unlink()
    second = obtain(pin, tmp_path, policy=QUICK)
    assert (second.kind, second.path) == ("changed upstream", None)
    assert second.aside is not None
    assert second.aside.read_bytes() == OTHER
    assert not (tmp_path / NAME).exists()

    _put(tmp_path, OTHER)
    assert obtain(pin, tmp_path, verify_only=True).kind == "damaged"


@pytest.mark.parametrize(
    ("prefix", "suffix", "size", "kind"),
    [(0, 0, 0, "ok"), (1, 0, 0, "changed upstream"), (0, 1, 0, "changed upstream"), (0, 0, 1, "changed upstream")],
)
def test_a_partial_pin_checks_each_part_of_what_it_knows(
    prefix: int, suffix: int, size: int, kind: Kind, host: FakeHost, tmp_path: Path
) -> None:
    digest = hashlib.sha256(BODY).hexdigest()
    wrong = hashlib.sha256(OTHER).hexdigest()
    pin = Pin(
        NAME,
        sha256_prefix=(digest, wrong)[prefix][:8],
        sha256_suffix=(digest, wrong)[suffix][-4:],
        size=len(BODY) + size,
        url=host.on("/f", ok(BODY)),
    )
    outcome = obtain(pin, tmp_path, policy=QUICK)
    assert outcome.kind == kind
    assert (NAME in read_lock(tmp_path)) == (kind == "ok")


def test_a_reviewers_words_stay_in_the_lock_file(host: FakeHost, tmp_path: Path) -> None:
    url = host.on("/f", ok(BODY))
    assert obtain(Pin("a.csv", url=url), tmp_path, policy=QUICK).kind == "ok"
    path = tmp_path / LOCK_NAME
    path.write_text(path.read_text("utf-8").replace("to be reviewed", "compared with é's copy") + "# mine\n", "utf-8")
    assert obtain(Pin("b.csv", url=url), tmp_path, policy=QUICK).kind == "ok"
    assert "# mine" in path.read_text("utf-8")
    assert [entry.review for entry in read_lock(tmp_path).values()] == ["compared with é's copy", "to be reviewed"]


def test_a_file_is_locked_once_whoever_comes_second(tmp_path: Path) -> None:
    first = Locked("a.csv", 1, "a" * 64, "2026-11-01", "https://example.org")
    add_lock(tmp_path, first, tmp_path)
    add_lock(tmp_path, replace(first, sha256="b" * 64), tmp_path)
    assert read_lock(tmp_path) == {"a.csv": first}
    assert (tmp_path / LOCK_NAME).read_text("utf-8").count("[[file]]") == 1


def test_a_message_holds_no_token_wherever_it_came_from() -> None:
    outcome = Outcome(Pin("a.csv"), "gone", "at https://u:secret1@example.org/?view_only=secret2")
    assert "secret" not in outcome.message
    assert "https://REDACTED@example.org/?view_only=REDACTED" in outcome.message


@pytest.mark.parametrize(
    "text", ["[[file]]\nname = ", '[[file]]\nname = "a"\n', "[[file]]\nwhat = 2\n", "\xff", "x = " + "9" * 5000]
)
def test_a_broken_lock_file_is_named(text: str, host: FakeHost, tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=LOCK_NAME):
        obtain(Pin("a.csv", url=host.on("/f", ok(BODY))), tmp_path, policy=QUICK)
    assert _files(tmp_path / "paper") == []


# --- processes -----------------------------------------------------------------------------------------------------

FETCH = """
import sys
from pathlib import Path
from countback.fetch.obtain import obtain
from countback.fetch.release import Pin
name, sha256, size, url, cache = sys.argv[1:]
print(obtain(Pin(name, sha256, size=int(size), url=url), Path(cache)).kind)
"""


def _process(pin: Pin, cache: Path) -> subprocess.Popen[str]:
    arguments = [pin.name, str(pin.sha256), str(pin.size), pin.url, str(cache)]
    return subprocess.Popen([sys.executable, "-c", FETCH, *arguments], stdout=subprocess.PIPE, text=True)


def _until(condition: object, seconds: float = 20) -> None:
    ends = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < ends, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize("resumable", [True, False])
def test_killed_midway_the_next_run_recovers(resumable: bool, host: FakeHost, tmp_path: Path) -> None:
    headers = {"ETag": '"v1"'} if resumable else {}
    pin = _pin(host.on("/f", drip(BODY, 20_000, 0.05, **headers), ranged(BODY, '"v1"')))
    process = _process(pin, tmp_path)
    _until(lambda: any(part.stat().st_size for part in (tmp_path / WORK).glob("*.part")))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / NAME).exists()
    arrived = next((tmp_path / WORK).glob("*.part")).stat().st_size
    assert 0 < arrived < len(BODY)
    outcome = obtain(pin, tmp_path, policy=QUICK)
    assert outcome.kind == "ok"
    assert (tmp_path / NAME).read_bytes() == BODY
    assert host.log[-1][1].get("Range") == (f"bytes={arrived}-" if resumable else None)


CRASHES = """
import os, sys
from pathlib import Path
from countback.fetch.obtain import obtain
from countback.fetch.release import Pin
name, sha256, size, url, root = sys.argv[1:]
pin = Pin(name, sha256, size=int(size), url=url) if sha256 != "None" else Pin(name, url=url)
for last in range(1, 200):
    cache = Path(root) / str(last)
    if os.fork() == 0:
        left = last
        def count(event, arguments):
            global left
            if any(str(argument).startswith(str(cache)) for argument in arguments):
                left -= 1
                if left == 0:
                    os._exit(9)
        sys.addaudithook(count)
        obtain(pin, cache)
        os._exit(0)
    if os.wait()[1] == 0:
        break
"""


@pytest.mark.parametrize("pinned", [True, False])
def test_killed_before_any_call_to_the_file_system_the_next_run_recovers(
    pinned: bool, host: FakeHost, tmp_path: Path
) -> None:
    """One fetch after the other, each killed one file system call later than the last, until one comes through."""
    url = host.on("/f", ranged(BODY, '"v1"'))
    pin = _pin(url) if pinned else Pin(NAME, url=url)
    arguments = [pin.name, str(pin.sha256), str(pin.size), url, str(tmp_path)]
    subprocess.run([sys.executable, "-c", CRASHES, *arguments], check=True)
    caches = list(tmp_path.iterdir())
    assert len(caches) > 15
    for cache in caches:
        visible = [name for name in _files(cache) if not name.startswith(WORK)]
        assert set(visible) <= {NAME, LOCK_NAME}
        assert NAME not in visible or (cache / NAME).read_bytes() == BODY
        assert obtain(pin, cache, policy=QUICK).kind in {"ok", "not needed"}
        assert (cache / NAME).read_bytes() == BODY
        assert (NAME in read_lock(cache)) != pinned


def test_two_processes_fetch_once(host: FakeHost, tmp_path: Path) -> None:
    pin = _pin(host.on("/f", drip(BODY, 20_000, 0.05)))
    rivals = [_process(pin, tmp_path) for _ in range(2)]
    assert sorted(rival.communicate()[0].strip() for rival in rivals) == ["not needed", "ok"]
    assert len(host.log) == 1
    assert (tmp_path / NAME).read_bytes() == BODY


def test_a_file_locked_for_too_long_is_busy(host: FakeHost, tmp_path: Path) -> None:
    pin = _pin(host.on("/f", ok(BODY)))
    assert obtain(pin, tmp_path, policy=QUICK).kind == "ok"
    (tmp_path / NAME).unlink()
    (lock,) = (tmp_path / WORK).glob("*.lock")
    with FileLock(lock):
        assert obtain(pin, tmp_path, policy=Policy(lock_timeout=0.05)).kind == "busy"
    assert obtain(pin, tmp_path, policy=QUICK).kind == "ok"


# --- disks ---------------------------------------------------------------------------------------------------------


def test_a_full_disk(host: FakeHost, tmp_path: Path) -> None:
    """A real one, of 64 kB."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        outcome = obtain(_pin(host.on("/f", ok(BODY))), tmp_path, policy=QUICK)
        assert (outcome.kind, outcome.path, len(host.log)) == ("disk full", None, 1)
        assert "No space left" in outcome.message
        assert [name for name in _files(tmp_path) if not name.endswith(".lock")] == []  # the space is given back
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@contextlib.contextmanager
def _read_only(body: bytes | None = None) -> Iterator[Path]:
    """A cache that this process may read but not write, also when it runs as root."""
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name) / "cache"
        cache.mkdir()
        if body is not None:
            _put(cache, body)
        for path in (Path(name), cache, *cache.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            yield cache
        finally:
            os.seteuid(user)
            for path in (Path(name), cache, *cache.rglob("*")):
                path.chmod(0o755)


def test_a_read_only_cache(host: FakeHost) -> None:
    pin = _pin(host.on("/f", ok(BODY)))
    with _read_only() as cache:
        outcome = obtain(pin, cache, policy=QUICK)
    assert (outcome.kind, outcome.path, host.log) == ("read-only cache", None, [])
    with _read_only(BODY) as cache:
        assert obtain(pin, cache, policy=QUICK).kind == "not needed"


def test_a_cache_that_is_a_file(host: FakeHost, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("not a folder")
    assert obtain(_pin(host.on("/f", ok(BODY))), cache, policy=QUICK).kind == "read-only cache"
    assert cache.read_text() == "not a folder"


def test_a_folder_in_the_files_place(host: FakeHost, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir(parents=True)
    outcome = obtain(_pin(host.on("/f", ok(BODY))), tmp_path, policy=QUICK)
    assert (outcome.kind, outcome.path) == ("read-only cache", None)
    assert "directory" in outcome.message


# --- several releases ----------------------------------------------------------------------------------------------


def _release(id_: str, *pins: Pin, note: str = "") -> Release:
    return Release(id_, id_, "1", "CC BY 4.0", "", "https://example.org/?view_only=abc", pins, note)


def test_releases_in_order_with_licences(host: FakeHost, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    good = _pin(host.on("/f", ok(BODY)), name="a/good.csv")
    gone = _pin(host.url("/none"), name="a/gone.csv")
    lines: list[str] = []
    releases = (_release("first", good, gone), _release("second", note="Nothing is out."))
    outcomes = fetch_releases(releases, tmp_path, policy=QUICK, tell=lines.append)
    assert [(outcome.release, outcome.kind) for outcome in outcomes] == [("first", "ok"), ("first", "gone")]
    assert lines[0] == "first (https://example.org/?view_only=REDACTED): licence: CC BY 4.0"
    assert [line.split(":")[0] for line in lines[1:3]] == ["a/good.csv", "a/gone.csv"]
    assert lines[4] == "second: no file of it is known. Nothing is out."
    assert capfd.readouterr() == ("", "")  # not a terminal: nothing is drawn


def test_a_silent_host_is_not_tried_over_and_over(tmp_path: Path) -> None:
    with FakeHost() as server:
        pins = [_pin(server.on(f"/{n}", lambda handler: None), name=f"{n}.csv") for n in range(3)]
        outcomes = fetch_releases([_release("r", *pins)], tmp_path, policy=Policy(attempts=3, backoff=0.01))
    assert {outcome.kind for outcome in outcomes} == {"unreachable"}
    assert [len([path for path, _ in server.log if path == f"/{n}"]) for n in range(3)] == [3, 1, 1]


def test_progress_is_drawn_on_a_terminal_only(host: FakeHost, tmp_path: Path) -> None:
    """Run on a pseudo-terminal and on pipes; stdout carries the messages alone in both."""
    pin = _pin(host.on("/f", drip(BODY, 20_000, 0.02)))
    script = FETCH.replace("import obtain", "import fetch_releases").replace(
        "print(obtain(Pin(name, sha256, size=int(size), url=url), Path(cache)).kind)",
        "from countback.fetch.release import Release\n"
        "pin = Pin(name, sha256, size=int(size), url=url)\n"
        "fetch_releases([Release('r', 'r', '1', 'MIT', '', 'https://example.org', (pin,))], Path(cache), tell=print)",
    )
    drawn = {}
    for terminal in (True, False):
        master, slave = os.openpty()
        cache = tmp_path / str(terminal)
        arguments = [sys.executable, "-c", script, pin.name, str(pin.sha256), str(pin.size), pin.url, str(cache)]
        stderr = slave if terminal else subprocess.PIPE
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=stderr, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        with contextlib.suppress(OSError):  # the end of a pseudo-terminal is an error
            drawn[terminal] = os.read(master, 1 << 16) if terminal else done.stderr
        os.close(master)
        assert done.stdout.decode().splitlines() == [
            "r (https://example.org): licence: MIT",
            f"{NAME}: ok: fetched, verified",
        ]
    assert NAME.encode() in drawn[True]
    assert drawn[False] == b""


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COUNTBACK_DATA", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    assert not cache_folder().exists()
    monkeypatch.setenv("COUNTBACK_DATA", "~/there")
    assert cache_folder() == Path.home() / "there"
    monkeypatch.setenv("COUNTBACK_DATA", "~no-such-user/there")
    with pytest.raises(UserError, match="COUNTBACK_DATA=~no-such-user/there: there is no such home folder"):
        cache_folder()
    monkeypatch.setenv("COUNTBACK_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "countback"


def test_interrupted_then_whole_is_hashed_from_the_disk(host: FakeHost, tmp_path: Path) -> None:
    pin = _pin(host.on("/f", short(BODY, 10_000, ETag='"v1"'), ranged(BODY, '"v1"')))
    outcome = obtain(pin, tmp_path, policy=QUICK)
    assert outcome.kind == "ok"
    assert outcome.sha256 == sha256_file(tmp_path / NAME) == pin.sha256
    assert outcome.size == len(BODY)
