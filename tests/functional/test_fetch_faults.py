"""The fault matrix: what a host, a network or a disk can do to a download, and the outcome that each must end in.

Every case is a real HTTP exchange. After each, the cache shows the whole file or nothing at all.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from countback.fetch.obtain import ASIDE, obtain
from countback.fetch.outcome import NEXT_STEP, Kind, Outcome, Policy
from countback.fetch.release import Pin

from tests.functional.fakehost import (
    Answer,
    FakeHost,
    chunked,
    drip,
    endless,
    ok,
    ranged,
    redirect,
    short,
    status,
    unframed,
)

NAME = "paper/data.zip"
TOKEN = "0123456789abcdef"
QUICK = Policy(attempts=3, backoff=0.01, patience=2)
HASTY = replace(QUICK, read_timeout=0.4, window=0.3, min_rate=5000)  # for hosts that are slow on purpose


def _zip() -> bytes:
    """A stored archive of 120 kB whose bytes do not depend on the clock."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("labels.json"), bytes(range(256)) * 480)
    return buffer.getvalue()


BODY = _zip()
OTHER = BODY[:5000] + bytes([BODY[5000] ^ 1]) + BODY[5001:]  # same size, same type, one bit away
LOGIN = b"<!DOCTYPE html><html><head><title>OSF | Sign in</title></head><body>Sign in</body></html>"
TAG = '"v1"'
NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def _at(seconds: int) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


def _pin(url: str, body: bytes = BODY, name: str = NAME, **fields: object) -> Pin:
    known: dict[str, object] = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
    return Pin(name=name, url=url, **(known | fields))  # type: ignore[arg-type]


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with FakeHost() as server:
        yield server


def _visible(cache: Path) -> list[str]:
    """Everything a person sees in the cache: no hidden folder, nothing set aside."""
    files = (path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())
    return sorted(name for name in files if not name.startswith((".countback/", f"{ASIDE}/")))


@dataclass(frozen=True)
class Case:
    """Answers in turn, the outcome, and how many requests may have been made."""

    id: str
    answers: tuple[Answer, ...]
    kind: Kind
    requests: int
    says: str = ""
    pin: dict[str, object] = field(default_factory=dict)
    policy: Policy = QUICK


CASES = [
    Case("plain", (ok(BODY),), "ok", 1),
    Case("another name in Content-Disposition", (ok(BODY, Content_Disposition="attachment; filename=x.exe"),), "ok", 1),
    Case("chunked", (chunked(BODY),), "ok", 1),
    Case("no length, whole", (unframed(BODY),), "ok", 1),
    Case("a length of 5,000 digits", (ok(BODY, Content_Length="9" * 5000),), "ok", 1),
    Case("a length that only looks like digits", (ok(BODY, Content_Length="\u00b2"),), "ok", 1),
    Case("gzip on the wire", (ok(gzip.compress(BODY), Content_Encoding="gzip"),), "ok", 1),
    Case("gzip that is none", (ok(BODY, Content_Encoding="gzip"),), "wrong type", 3, "Content-Encoding"),
    Case("login page with 200", (ok(LOGIN, Content_Type="text/html"),), "expired or wrong link", 1, "Sign in"),
    Case("login page labelled a zip", (ok(LOGIN, Content_Type="application/zip"),), "expired or wrong link", 1),
    Case("login page behind BOM and comment", (ok(b"\xef\xbb\xbf<!-- x -->\n" + LOGIN),), "expired or wrong link", 1),
    Case("pdf for a zip", (ok(b"%PDF-1.7\n" + bytes(5000)),), "wrong type", 1, "zip"),
    Case("json error with 200", (ok(b'{"message": "try later"}'),), "wrong type", 1, "message"),
    Case("empty body", (ok(b""),), "truncated", 3, "empty"),
    Case("short of its length, always", (short(BODY, 50_000),), "truncated", 3, "ended early"),
    Case("short of its length, once", (short(BODY, 50_000), ok(BODY)), "ok", 2),
    Case("short without length, always", (unframed(BODY[:50_000]),), "truncated", 3, "50000 bytes"),
    Case("short without length, once", (unframed(BODY[:50_000]), ok(BODY)), "ok", 2),
    Case("chunks broken off", (chunked(BODY[:50_000], finished=False),), "truncated", 3),
    Case("short, size unknown", (unframed(BODY[:50_000]),), "truncated", 3, "end as a zip", {"size": None}),
    Case("reset once", (short(BODY, 50_000, reset=True), ok(BODY)), "ok", 2),
    Case("reset always", (short(BODY, 50_000, reset=True),), "truncated", 3),
    Case("500 then ok", (status(500), ok(BODY)), "ok", 2),
    Case("502 for ever", (status(502),), "server error", 3, "502"),
    Case("404", (status(404, LOGIN),), "gone", 1, "404"),
    Case("410", (status(410),), "gone", 1, "410"),
    Case("401", (status(401),), "not authorised", 1, "401"),
    Case("403", (status(403),), "not authorised", 1, "403"),
    Case("400", (status(400),), "expired or wrong link", 1, "400"),
    Case("a part unasked", (status(206, BODY[:10]),), "server error", 3),
    Case("429, seconds, then ok", (status(429, Retry_After="1"), ok(BODY)), "ok", 2),
    Case("503, seconds, then ok", (status(503, Retry_After="1"), ok(BODY)), "ok", 2),
    Case("429 without a word", (status(429),), "rate-limited", 3),
    Case("429 with a broken word", (status(429, Retry_After="soon"), ok(BODY)), "ok", 2),
    Case("429 for long", (status(429, Retry_After="3600"),), "rate-limited", 1),
    Case("429 for ages", (status(429, Retry_After="999999999999"),), "rate-limited", 1),
    Case("same size, other bytes", (ok(OTHER),), "changed upstream", 1, hashlib.sha256(OTHER).hexdigest()),
    Case("another size", (ok(BODY + b"x"),), "changed upstream", 1, f"{len(BODY) + 1} bytes"),
    Case("too large by its length", (short(bytes(10 << 20), 2048),), "too large", 1),
    Case("without end", (endless(BODY[:1000]),), "too large", 1),
    Case("a trickle", (drip(BODY, 200, 0.1),), "unreachable", 3, "only", policy=HASTY),
    Case("a stall", (drip(BODY, 60_000, 1.0),), "unreachable", 3, "no byte", policy=HASTY),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_fault_ends_in_its_outcome(case: Case, host: FakeHost, tmp_path: Path) -> None:
    pin = _pin(host.on("/f", *case.answers) + f"?view_only={TOKEN}", **case.pin)
    outcome = obtain(pin, tmp_path, policy=case.policy)
    assert outcome.kind == case.kind, outcome.message
    assert len(host.log) == case.requests
    assert case.says in outcome.message
    _check_cache(outcome, tmp_path)


def _check_cache(outcome: Outcome, cache: Path) -> None:
    """The whole file or none; the message holds no token and tells the next step."""
    assert TOKEN not in outcome.message + outcome.found
    if outcome.kind == "ok":
        assert _visible(cache) == [NAME]
        assert (cache / NAME).read_bytes() == BODY
        assert outcome.path == cache / NAME
        assert (outcome.status, outcome.exit_code) == ("verified", 0)
        assert not list((cache / ".countback").glob("*.part"))
        return
    assert _visible(cache) == []
    assert outcome.path is None
    assert outcome.exit_code == (4 if outcome.kind == "changed upstream" else 3)
    assert NEXT_STEP[outcome.kind] in outcome.message
    assert outcome.pin.expected() in outcome.message
    assert (outcome.aside is not None) == (outcome.kind == "changed upstream")


# --- redirects -----------------------------------------------------------------------------------------------------


def test_a_redirect_that_keeps_the_query_is_followed(host: FakeHost, tmp_path: Path) -> None:
    host.on("/store", ok(BODY))
    url = host.on("/f", redirect(host.url(f"/store?view_only={TOKEN}")))
    outcome = obtain(_pin(f"{url}?view_only={TOKEN}"), tmp_path, policy=QUICK)
    assert outcome.kind == "ok"
    assert host.log[-1][0] == f"/store?view_only={TOKEN}"


@pytest.mark.parametrize(
    ("answer", "kind"), [(status(403), "not authorised"), (ok(LOGIN), "expired or wrong link"), (status(404), "gone")]
)
def test_a_redirect_that_loses_the_query_is_named(answer: Answer, kind: Kind, host: FakeHost, tmp_path: Path) -> None:
    host.on("/store", answer)
    url = host.on("/f", redirect(host.url("/store")))
    outcome = obtain(_pin(f"{url}?view_only={TOKEN}"), tmp_path, policy=QUICK)
    assert outcome.kind == kind
    assert "a redirect that dropped view_only" in outcome.message
    _check_cache(outcome, tmp_path)


def test_a_circle_of_redirects_is_a_wrong_link(host: FakeHost, tmp_path: Path) -> None:
    url = host.on("/f", redirect(host.url("/f")))
    outcome = obtain(_pin(url), tmp_path, policy=QUICK)
    assert outcome.kind == "expired or wrong link"
    assert "circle" in outcome.message
    _check_cache(outcome, tmp_path)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "http://", "http://[::1", f"https://{'a' * 64}.example/"])
def test_a_redirect_to_nowhere_ends_quietly(target: str, host: FakeHost, tmp_path: Path) -> None:
    outcome = obtain(_pin(host.on("/f", redirect(target))), tmp_path, policy=QUICK)
    assert outcome.kind in {"expired or wrong link", "unreachable"}, outcome.message
    _check_cache(outcome, tmp_path)


# --- waiting -------------------------------------------------------------------------------------------------------


def test_retry_after_as_a_date_is_waited_out_by_the_servers_clock(host: FakeHost, tmp_path: Path) -> None:
    def answer(handler: object) -> None:  # a server whose clock is far from ours
        handler.date_time_string = lambda timestamp=None: _at(0)  # type: ignore[attr-defined]
        status(429, Retry_After=_at(1))(handler)  # type: ignore[arg-type]

    url = host.on("/f", answer, ok(BODY))
    began = datetime.now(UTC)
    assert obtain(_pin(url), tmp_path, policy=QUICK).kind == "ok"
    assert timedelta(seconds=1) <= datetime.now(UTC) - began


def test_a_rate_limit_says_when_it_ends(host: FakeHost, tmp_path: Path) -> None:
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    url = host.on("/f", status(429, Retry_After=format_datetime(ends, usegmt=True)))
    outcome = obtain(_pin(url), tmp_path, policy=QUICK)
    assert outcome.kind == "rate-limited"
    assert outcome.until is not None
    assert abs(outcome.until - ends) < timedelta(seconds=5)
    assert outcome.until.isoformat(timespec="seconds") in outcome.message


def test_githubs_403_with_nothing_remaining_is_a_rate_limit(host: FakeHost, tmp_path: Path) -> None:
    ends = datetime.now(UTC) + timedelta(hours=1)
    headers = {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": str(int(ends.timestamp()))}
    outcome = obtain(_pin(host.on("/f", status(403, **headers))), tmp_path, policy=QUICK)
    assert outcome.kind == "rate-limited"
    assert outcome.until is not None
    assert abs(outcome.until - ends) < timedelta(seconds=5)
    assert len(host.log) == 1


# --- resuming ------------------------------------------------------------------------------------------------------


def _interrupted(host: FakeHost, cache: Path, then: Answer, *more: Answer) -> Outcome:
    """50,000 bytes arrive with a strong ETag, then the connection ends; a new run meets `then`."""
    pin = _pin(host.on("/f", short(BODY, 50_000, ETag=TAG)))
    first = obtain(pin, cache, policy=Policy(attempts=1))
    assert first.kind == "truncated"
    assert _visible(cache) == []
    host.on("/f", then, *more)
    return obtain(pin, cache, policy=QUICK)


def test_a_proved_range_goes_on_from_where_it_stopped(host: FakeHost, tmp_path: Path) -> None:
    outcome = _interrupted(host, tmp_path, ranged(BODY, TAG))
    assert outcome.kind == "ok"
    _check_cache(outcome, tmp_path)
    assert (host.log[-1][1]["Range"], host.log[-1][1]["If-Range"]) == ("bytes=50000-", TAG)


def test_a_range_ignored_starts_over(host: FakeHost, tmp_path: Path) -> None:
    outcome = _interrupted(host, tmp_path, ok(BODY, ETag=TAG))
    assert outcome.kind == "ok"
    _check_cache(outcome, tmp_path)


RESTARTS = {
    "another offset": status(206, BODY[49_999:], Content_Range=f"bytes 49999-{len(BODY) - 1}/{len(BODY)}", ETag=TAG),
    "another ETag": status(206, BODY[50_000:], Content_Range=f"bytes 50000-{len(BODY) - 1}/{len(BODY)}", ETag='"v2"'),
    "no ETag": status(206, BODY[50_000:], Content_Range=f"bytes 50000-{len(BODY) - 1}/{len(BODY)}"),
    "no Content-Range": status(206, BODY[50_000:], ETag=TAG),
    "416": status(416),
    "same ETag, other bytes": status(
        206, OTHER[4000:4001] * (len(BODY) - 50_000), Content_Range=f"bytes 50000-{len(BODY) - 1}/{len(BODY)}", ETag=TAG
    ),
}


@pytest.mark.parametrize("answer", RESTARTS.values(), ids=RESTARTS)
def test_a_range_not_proved_starts_over(answer: Answer, host: FakeHost, tmp_path: Path) -> None:
    outcome = _interrupted(host, tmp_path, answer, ok(BODY))
    assert outcome.kind == "ok"
    _check_cache(outcome, tmp_path)
    assert "Range" not in host.log[-1][1]


@pytest.mark.parametrize("which", ["another offset", "another ETag", "no ETag", "no Content-Range", "416"])
def test_a_file_that_no_digest_proves_is_not_put_together_of_two(which: str, host: FakeHost, tmp_path: Path) -> None:
    pin = Pin(NAME, url=host.on("/f", short(BODY, 50_000, ETag=TAG), RESTARTS[which], ok(BODY)))
    outcome = obtain(pin, tmp_path, policy=QUICK)
    assert (outcome.kind, outcome.status) == ("ok", "partial")
    assert (tmp_path / NAME).read_bytes() == BODY


def test_bytes_of_another_address_are_not_gone_on_from(host: FakeHost, tmp_path: Path) -> None:
    assert obtain(_pin(host.on("/old", short(BODY, 50_000, ETag=TAG))), tmp_path, policy=QUICK).kind == "truncated"
    assert obtain(_pin(host.on("/new", ranged(BODY, TAG))), tmp_path, policy=QUICK).kind == "ok"
    assert "Range" not in host.log[-1][1]


@pytest.mark.parametrize("etag", ['W/"v1"', ""])
def test_without_a_strong_etag_nothing_is_resumed(etag: str, host: FakeHost, tmp_path: Path) -> None:
    pin = _pin(host.on("/f", short(BODY, 50_000, ETag=etag), ok(BODY)))
    assert obtain(pin, tmp_path, policy=QUICK).kind == "ok"
    assert "Range" not in host.log[-1][1]


def test_an_interrupted_file_that_changed_is_changed_upstream(host: FakeHost, tmp_path: Path) -> None:
    outcome = _interrupted(host, tmp_path, ranged(OTHER, '"v2"'))
    assert outcome.kind == "changed upstream"
    _check_cache(outcome, tmp_path)


def test_a_login_page_in_between_does_not_cost_what_has_arrived(host: FakeHost, tmp_path: Path) -> None:
    assert _interrupted(host, tmp_path, ok(LOGIN)).kind == "expired or wrong link"
    host.on("/f", ranged(BODY, TAG))
    assert obtain(_pin(host.url("/f")), tmp_path, policy=QUICK).kind == "ok"
    assert host.log[-1][1]["Range"] == "bytes=50000-"


# --- no host at all ------------------------------------------------------------------------------------------------


def test_nobody_listens(tmp_path: Path) -> None:
    with FakeHost() as gone:
        url = gone.url("/f")
    outcome = obtain(_pin(url), tmp_path, policy=QUICK)
    assert outcome.kind == "unreachable"
    assert "no answer from 127.0.0.1: Failed to establish a new connection" in outcome.message
    assert "refused" in outcome.message
    _check_cache(outcome, tmp_path)


def test_a_connection_that_closes_without_a_word(host: FakeHost, tmp_path: Path) -> None:
    outcome = obtain(_pin(host.on("/f", lambda handler: None)), tmp_path, policy=QUICK)
    assert (outcome.kind, len(host.log)) == ("unreachable", 3)


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a socket was made")

    monkeypatch.setattr("socket.socket.__init__", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)


@pytest.mark.usefixtures("no_sockets")
def test_offline_and_verifying_touch_no_socket(tmp_path: Path) -> None:
    pin = _pin("http://127.0.0.1:9/f")
    assert obtain(pin, tmp_path, offline=True).kind == "offline"
    assert obtain(pin, tmp_path, verify_only=True).kind == "absent"
    assert obtain(_pin(""), tmp_path).kind == "no link"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "paper").mkdir()
    (tmp_path / NAME).write_bytes(BODY)
    for choice in ({"offline": True}, {"verify_only": True}, {}):
        assert obtain(pin, tmp_path, **choice).kind == "not needed"
    (tmp_path / NAME).write_bytes(OTHER)
    for choice in ({"offline": True}, {"verify_only": True}):
        outcome = obtain(pin, tmp_path, **choice)
        assert (outcome.kind, outcome.exit_code, outcome.path) == ("damaged", 4, None)
    assert (tmp_path / NAME).read_bytes() == OTHER
