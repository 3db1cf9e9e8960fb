"""The bytes of one address into one partial file: retries, waiting, resuming, and what went wrong otherwise.

Nothing here decides whether the bytes are the pinned ones; `obtain` does, from what is on the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import requests
import urllib3
from countback.fetch.outcome import Fault, Policy, Tick, disk_fault
from countback.fetch.release import Pin

_CHUNK = 1 << 20
_HEAD = 1024  # bytes looked at before the first one is written
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_GONE = frozenset({404, 410, 451})
_REFUSED = frozenset({401, 402, 403, 407})


def transfer(pin: Pin, part: Path, session: requests.Session, policy: Policy, tick: Tick) -> bool:
    """Bring the bytes of `pin.url` into `part`, going on from what is there if the server proves it the same content.

    Returns whether it did go on from older bytes. Raises Fault when it cannot bring them; `part` then holds only bytes
    that a later call may go on from.
    """
    for attempt in range(1, policy.attempts + 1):
        try:
            return _attempt(pin, part, session, policy, tick)
        except Fault as fault:
            wait = fault.wait
            if wait is None:
                wait = min(policy.backoff * 2 ** (attempt - 1), policy.backoff_cap)
            if not fault.again or attempt == policy.attempts or wait > policy.patience:
                raise
            time.sleep(wait)
    raise AssertionError("a policy needs at least one attempt")


def discard(part: Path) -> None:
    """Remove a partial file and what was noted about it."""
    part.unlink(missing_ok=True)
    part.with_suffix(".json").unlink(missing_ok=True)


def _attempt(pin: Pin, part: Path, session: requests.Session, policy: Policy, tick: Tick) -> bool:
    try:
        offset, etag = _resumable(pin, part)
        headers = {"Accept-Encoding": "identity"}
        if offset:
            headers |= {"Range": f"bytes={offset}-", "If-Range": etag}
        with connected(session, pin.url, headers, policy) as response:
            if offset and response.status_code in {206, 416} and not _proves(response, offset, etag):
                discard(part)  # the server has other content now, or cannot say: start over
                raise Fault("truncated", "the server could not go on from where it stopped", again=True, wait=0)
            _check_status(response, pin, bool(offset))
            offset = offset if response.status_code == 206 else 0
            _save(response, pin, part, policy, tick, offset)
            return offset > 0
    except OSError as error:
        if disk_fault(error).kind == "disk full":
            with contextlib.suppress(OSError):
                discard(part)  # give the space back
        raise disk_fault(error) from error


@contextlib.contextmanager
def connected(
    session: requests.Session, url: str, headers: dict[str, str], policy: Policy, *, follow: bool = True
) -> Iterator[requests.Response]:
    """The answer to a GET, its body not yet read. Raises Fault where there is none."""
    headers = {"User-Agent": f"countback/{version('countback')}"} | headers
    try:
        timeout = (policy.connect_timeout, policy.read_timeout)
        response = session.get(url, headers=headers, stream=True, timeout=timeout, allow_redirects=follow)
    except requests.TooManyRedirects as error:
        raise Fault("expired or wrong link", "the address redirects in a circle") from error
    except requests.exceptions.SSLError as error:
        raise Fault("unreachable", f"no trusted connection: {_cause(error)}") from error
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        raise Fault("unreachable", f"no answer from {urlsplit(url).hostname}: {_cause(error)}", again=True) from error
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise Fault("expired or wrong link", f"the address leads nowhere: {error}") from error
    with response:
        yield response


def _cause(error: Exception) -> str:
    """What lies beneath the wrapping of requests and urllib3, which would repeat the whole address and the host."""
    inner = error.args[0] if error.args else error
    return re.sub(r"^HTTPS?Connection(?:Pool)?\([^)]*\): ", "", str(getattr(inner, "reason", inner)))


def _resumable(pin: Pin, part: Path) -> tuple[int, str]:
    """Bytes already here and the strong ETag they came under; (0, "") where there is nothing to go on from."""
    try:
        note = json.loads(part.with_suffix(".json").read_text("utf-8"))
        size = part.stat().st_size
    except (FileNotFoundError, ValueError):
        return 0, ""
    if note.get("url") != _fingerprint(pin.url) or not size:
        return 0, ""
    return size, str(note["etag"])


def _fingerprint(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()  # not the address itself: it may hold a token


def _proves(response: requests.Response, offset: int, etag: str) -> bool:
    """Whether a 206 answer goes on from `offset` of the very content that the ETag named."""
    span = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", response.headers.get("Content-Range", ""))
    same = response.headers.get("ETag") == etag and "Content-Encoding" not in response.headers
    return response.status_code == 206 and span is not None and int(span[1]) == offset and same


def _check_status(response: requests.Response, pin: Pin, asked_range: bool) -> None:
    """Raise the Fault that a status other than success stands for."""
    code = response.status_code
    if code == 200 or (code == 206 and asked_range):
        return
    found = f"HTTP {code} {response.reason or ''}".rstrip() + _lost_parameters(pin.url, response.url)
    wait = retry_after(response)
    if code == 429 or (wait is not None and code in {403, 503}):
        raise Fault("rate-limited", found, again=True, wait=wait)
    if code in _REFUSED:
        raise Fault("not authorised", found)
    if code in _GONE:
        raise Fault("gone", found)
    if code in _AGAIN or code >= 500 or code == 206:  # a part that nobody asked for
        raise Fault("server error", found, again=True, wait=wait)
    raise Fault("expired or wrong link", found)


def _lost_parameters(asked: str, answered: str) -> str:
    before, after = (dict(parse_qsl(urlsplit(url).query)) for url in (asked, answered))
    lost = sorted(set(before) - set(after))
    return f", after a redirect that dropped {', '.join(lost)}" if lost and asked != answered else ""


def retry_after(response: requests.Response) -> float | None:
    """Seconds that the server asks to wait: Retry-After in either form, or GitHub's x-ratelimit-reset."""
    value = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,12}", value):
        return float(value)
    now = _date(response.headers.get("Date", "")) or datetime.now(UTC)  # the server's clock, which set the date
    when = _date(value)
    reset = response.headers.get("X-RateLimit-Reset", "")
    if when is None and response.headers.get("X-RateLimit-Remaining") == "0" and re.fullmatch(r"\d{1,11}", reset):
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(reset))
    return None if when is None else max(0.0, (when - now).total_seconds())


def _date(value: str) -> datetime | None:
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def _save(response: requests.Response, pin: Pin, part: Path, policy: Policy, tick: Tick, offset: int) -> None:
    """Write the body after `offset`, or from the start once its first bytes look like what the pin names."""
    limit = policy.max_bytes if pin.size is None else 2 * pin.size + (1 << 20)
    length = response.headers.get("Content-Length", "")
    announced = re.fullmatch(r"[0-9]{1,18}", length) and "Content-Encoding" not in response.headers
    total = int(length) + offset if announced else pin.size
    if total is not None and total > limit:
        raise Fault("too large", f"{total} bytes are announced")
    body = chunks(response, policy)
    head = b"" if offset else _head(body)
    if not offset:
        _check_head(head, pin, response)
        _start_over(response, pin, part)
    done = offset
    with part.open("ab") as stream:
        for chunk in _joined(head, body):
            done += len(chunk)
            if done > limit:
                raise Fault("too large", f"more than {limit} bytes came")
            stream.write(chunk)
            tick(done, total)
    _check_end(response, pin, part, done)


def _start_over(response: requests.Response, pin: Pin, part: Path) -> None:
    """Empty the partial file, and note the ETag if it is a strong one of the bytes themselves: they can be resumed."""
    discard(part)
    part.touch()
    etag = response.headers.get("ETag", "")
    if etag.startswith('"') and "Content-Encoding" not in response.headers:
        note = json.dumps({"url": _fingerprint(pin.url), "etag": etag})
        part.with_suffix(".json").write_text(note, "utf-8")


def chunks(response: requests.Response, policy: Policy) -> Iterator[bytes]:
    """The decoded body as it arrives; Fault when it stops short, stalls or trickles.

    `read1` and not `iter_content`: the latter waits for a whole chunk, so that a trickle would never be seen.
    """
    began, came = time.monotonic(), 0
    while True:
        try:
            chunk = response.raw.read1(_CHUNK, decode_content=True)
        except urllib3.exceptions.DecodeError as error:
            raise Fault("wrong type", f"the body is not what its Content-Encoding says: {error}", again=True) from error
        except urllib3.exceptions.ReadTimeoutError as error:
            raise Fault("unreachable", f"no byte came for {policy.read_timeout:g} s", again=True) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Fault("truncated", f"the connection ended early: {error}", again=True) from error
        if not chunk:
            return
        yield chunk
        came += len(chunk)
        if (elapsed := time.monotonic() - began) >= policy.window:
            if came < policy.min_rate * elapsed:
                raise Fault("unreachable", f"only {came} bytes came in {elapsed:.0f} s", again=True)
            began, came = time.monotonic(), 0


def _head(body: Iterator[bytes]) -> bytes:
    head = b""
    while len(head) < _HEAD and (chunk := next(body, b"")):
        head += chunk
    return head


def _joined(head: bytes, body: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from body


def _check_head(head: bytes, pin: Pin, response: requests.Response) -> None:
    """Raise Fault where the first bytes cannot be those of a file of the pin's type."""
    suffix = pin.name.rpartition(".")[2].lower()
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise Fault("truncated", "an empty body", again=True)
    markup = re.match(rb"(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", text, re.I | re.S)
    if markup and suffix not in {"html", "htm"}:
        lost = _lost_parameters(pin.url, response.url)
        raise Fault("expired or wrong link", f"an HTML page{_title(text)} came in place of the file{lost}")
    fits = {
        "zip": head.startswith((b"PK\x03\x04", b"PK\x05\x06")),
        "pdf": b"%PDF-" in head,  # readers allow some bytes before it
        "json": text[:1] in (b"{", b"["),
    }
    if not fits.get(suffix, True):
        raise Fault("wrong type", f"the first bytes {head[:16]!r} are not those of a {suffix} file")


def _title(markup: bytes) -> str:
    match = re.search(rb"<title[^>]*>([^<]{1,80})", markup, re.I)
    words = " ".join(match[1].decode("utf-8", "replace").split()) if match else ""
    return f" ({''.join(char for char in words if char.isprintable())!r})" if words else ""


def _check_end(response: requests.Response, pin: Pin, part: Path, size: int) -> None:
    """Raise Fault where the body ended before the file did.

    Content-Length and chunked framing prove the end of the body; without them only the pin or the format can.
    """
    framed = "Content-Length" in response.headers or "chunked" in response.headers.get("Transfer-Encoding", "").lower()
    if not framed and pin.size is not None and size < pin.size:
        raise Fault("truncated", f"{size} bytes came before the connection closed", again=True)
    with part.open("rb") as stream:
        stream.seek(max(0, size - (1 << 16) - 22))
        tail = stream.read()
    suffix = pin.name.rpartition(".")[2].lower()
    ended = {"zip": b"PK\x05\x06" in tail, "pdf": b"%%EOF" in tail[-2048:], "json": tail.rstrip()[-1:] in (b"}", b"]")}
    if not ended.get(suffix, True) and pin.size != size:
        discard(part)
        raise Fault("truncated", f"{size} bytes came, and they do not end as a {suffix} file does", again=True)
