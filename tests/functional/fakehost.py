"""A host on 127.0.0.1 that misbehaves to order: each path has a list of answers, the last of which repeats."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"  # a developer's proxy must not stand in between

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeHost

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        with self.server.guard:
            self.server.log.append((self.path, dict(self.headers)))
            answers = self.server.answers.get(path, [status(404)])
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        self.close_connection = True
        answer(self)

    def start(self, code: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class FakeHost(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.log: list[tuple[str, dict[str, str]]] = []
        self.answers: dict[str, list[Answer]] = {}
        self.guard = threading.Lock()

    def __enter__(self) -> FakeHost:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what many tests want."""

    def on(self, path: str, *answers: Answer) -> str:
        """Answer `path` with these in turn; returns its whole address."""
        self.answers[path] = list(answers)
        return self.url(path)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    """A status with a body and a right Content-Length; header names with _ for -."""

    def answer(handler: Handler) -> None:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.start(code, {"Content-Length": str(len(body)), **fields})
        handler.wfile.write(body)

    return answer


def ok(body: bytes, **headers: str) -> Answer:
    return status(200, body, **headers)


def ranged(body: bytes, etag: str) -> Answer:
    """A server that does Range and If-Range as RFC 9110 says."""

    def answer(handler: Handler) -> None:
        asked = handler.headers.get("Range")
        if asked and handler.headers.get("If-Range") in {None, etag}:
            first = int(asked.removeprefix("bytes=").rstrip("-"))
            if first >= len(body):
                return status(416, b"", Content_Range=f"bytes */{len(body)}")(handler)
            span = f"bytes {first}-{len(body) - 1}/{len(body)}"
            return status(206, body[first:], Content_Range=span, ETag=etag)(handler)
        return ok(body, ETag=etag)(handler)

    return answer


def short(body: bytes, sent: int, *, reset: bool = False, **headers: str) -> Answer:
    """Announces the whole body and sends only a part of it, then closes or resets the connection."""

    def answer(handler: Handler) -> None:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.start(200, {"Content-Length": str(len(body)), **fields})
        handler.wfile.write(body[:sent])
        handler.wfile.flush()
        if reset:
            time.sleep(0.05)  # let what was sent arrive: a reset discards what is still under way
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()

    return answer


def unframed(body: bytes, **headers: str) -> Answer:
    """No Content-Length: the end of the connection is the end of the body."""

    def answer(handler: Handler) -> None:
        handler.start(200, headers)
        handler.wfile.write(body)

    return answer


def chunked(body: bytes, *, finished: bool = True, size: int = 8192) -> Answer:
    def answer(handler: Handler) -> None:
        handler.start(200, {"Transfer-Encoding": "chunked"})
        for at in range(0, len(body), size):
            piece = body[at : at + size]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if finished:
            handler.wfile.write(b"0\r\n\r\n")

    return answer


def endless(head: bytes) -> Answer:
    def answer(handler: Handler) -> None:
        handler.start(200, {"Transfer-Encoding": "chunked"})
        piece = head + bytes(1 << 16)
        with suppress(OSError):
            while True:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    return answer


def drip(body: bytes, step: int, pause: float, **headers: str) -> Answer:
    """The whole body, `step` bytes at a time with a pause between."""

    def answer(handler: Handler) -> None:
        handler.start(200, {"Content-Length": str(len(body)), **headers})
        with suppress(OSError):
            for at in range(0, len(body), step):
                handler.wfile.write(body[at : at + step])
                handler.wfile.flush()
                time.sleep(pause)

    return answer


def redirect(target: str) -> Answer:
    return status(302, b"", Location=target)
