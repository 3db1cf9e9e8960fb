"""Asking a host what it shows: one answer or several pages, put into a Listing that says what could not be read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
from countback.fetch.outcome import Fault, Policy
from countback.fetch.release import redact
from countback.fetch.transfer import chunks, connected, retry_after

State = Literal[
    "seen",
    "moved",
    "gone",
    "expired",
    "not ready",
    "disabled",
    "not authorised",
    "rate-limited",
    "server error",
    "unreachable",
    "unreadable",
]
Entry = TypeVar("Entry")
_MOST_BYTES = 8 << 20
_MOST_CALLS = 100
STATES: dict[int, State] = {401: "not authorised", 403: "not authorised", 404: "gone", 410: "gone", 429: "rate-limited"}


@dataclass(frozen=True)
class Listing(Generic[Entry]):
    """What a host showed. `complete` is false where pages or folders are left out; `unread` says what and why.

    `source` and `found` hold no tokens. `until` is when a rate limit ends, where the host says so.
    """

    source: str
    state: State
    entries: tuple[Entry, ...] = ()
    unread: tuple[str, ...] = ()
    found: str = ""
    complete: bool = True
    until: datetime | None = None


@dataclass(frozen=True)
class Reply:
    state: State
    body: bytes = b""
    found: str = ""
    headers: Mapping[str, str] | None = None
    until: datetime | None = None


def ask(url: str, session: requests.Session, policy: Policy, states: Mapping[int, State] = STATES) -> Reply:
    """One GET, tried again after faults that may pass. A redirect to another host is "moved", and not followed."""
    for attempt in range(1, policy.attempts + 1):
        try:
            reply = _follow(url, session, policy, states)
        except Fault as fault:
            reply = Reply("unreachable" if fault.again else "unreadable", found=fault.found)
        if reply.state not in {"unreachable", "server error"} or attempt == policy.attempts:
            break
        time.sleep(min(policy.backoff * 2 ** (attempt - 1), policy.backoff_cap))
    return reply


def _follow(url: str, session: requests.Session, policy: Policy, states: Mapping[int, State]) -> Reply:
    for _ in range(5):
        with connected(session, url, {}, policy, follow=False) as response:
            target = urljoin(url, response.headers.get("Location", ""))
            if not response.is_redirect:
                return _reply(response, policy, states)
            if urlsplit(target).netloc != urlsplit(url).netloc:
                return Reply("moved", found=f"a redirect to {redact(target)}")
            url = target
    return Reply("unreadable", found="the address redirects in a circle")


def _reply(response: requests.Response, policy: Policy, states: Mapping[int, State]) -> Reply:
    code = response.status_code
    body = b""
    for chunk in chunks(response, policy):
        body += chunk
        if len(body) > _MOST_BYTES:
            return Reply("unreadable", found=f"an answer of more than {_MOST_BYTES} bytes")
    found = f"HTTP {code} {response.reason or ''}".rstrip() + _said(body, code)
    wait = retry_after(response)
    if code in {403, 429, 503} and (wait is not None or code == 429):
        until = None if wait is None else datetime.now(UTC) + timedelta(seconds=min(wait, 1e9))
        return Reply("rate-limited", found=found, until=until)
    if code == 200:
        return Reply("seen", body, found, response.headers)
    return Reply(states.get(code, "server error" if code >= 500 else "unreadable"), body, found)


def _said(body: bytes, code: int) -> str:
    """The reason that an error's JSON gives, in brackets."""
    try:
        answer = json.loads(body) if code != 200 else {}
    except (ValueError, RecursionError):
        return ""
    said = answer.get("error") or answer.get("message") or answer.get("errors") if isinstance(answer, dict) else ""
    if isinstance(said, list) and said and isinstance(said[0], dict):  # JSON:API
        said = said[0].get("detail", "")
    return f" ({redact(said[:120])})" if isinstance(said, str) and said.isprintable() and said else ""


def gather(
    start: str,
    answer: Callable[[str], Reply],
    read: Callable[[bytes], tuple[list[Entry], list[str], list[str]]],
) -> Listing[Entry]:
    """Read one page after the other from the same host, each once; `read` also names the next ones.

    A first page of which nothing can be read is "unreadable": an empty listing would say that the files are gone.
    """
    entries: list[Entry] = []
    unread: list[str] = []
    queue, asked = [start], {start}
    while queue:
        url = queue.pop(0)
        reply = answer(url)
        if reply.state != "seen":
            if url == start:
                return Listing(redact(start), reply.state, found=reply.found, complete=False, until=reply.until)
            unread.append(f"{redact(url)}: {reply.state}, {reply.found}")
            continue
        some, problems, further = read(reply.body)
        entries += some
        unread += problems
        for link in further:
            if urlsplit(link)[:2] != urlsplit(start)[:2]:
                unread.append(f"{redact(link)}: a link to another host, not followed")
            elif link not in asked and len(asked) < _MOST_CALLS:
                queue.append(link)
                asked.add(link)
            elif link not in asked:
                unread.append(f"{redact(link)}: left out after {_MOST_CALLS} calls")
    state: State = "unreadable" if unread and not entries else "seen"
    return Listing(redact(start), state, tuple(entries), tuple(unread), complete=not unread)


def decoded(body: bytes, kind: type[Any], unread: list[str]) -> Any:
    """The JSON of an answer, or an empty one of `kind` and a line in `unread` where it is something else."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        unread.append(f"answer: expected JSON, found {body[:40]!r}")
        return kind()
    if not isinstance(answer, kind):
        unread.append(f"answer: expected a JSON {kind.__name__}, found {answer!r:.60}")
        return kind()
    return answer


def take(entry: Any, path: str, kind: type[Any], label: str, unread: list[str]) -> Any:
    """A field of nested objects, or None and a line in `unread` where it is absent or of another kind."""
    value = entry
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    unread.append(f"{label}: {path}: expected {kind.__name__}, found {value!r:.60}")
    return None
