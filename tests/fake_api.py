"""A small real HTTP server that answers like the API: for tests of the command line alone.

It keeps what it was asked, answers each path with what a test put there, and can drop a connection
before the answer or in the middle of the event stream.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

RUN_ID = "0192aaaa-0000-7000-8000-000000000001"
DOCUMENT_ID = "0192bbbb-0000-7000-8000-000000000002"


def make_run(**changes: Any) -> dict[str, Any]:
    """A RUNNING run as the API answers it."""
    return {
        "id": RUN_ID,
        "document_id": DOCUMENT_ID,
        "kind": "minutes",
        "title": "Minutes of Monday",
        "status": "RUNNING",
        "phase": {"code": "working", "params": {}},
        "reason": None,
        "stopping": False,
        "current_round": 0,
        "max_rounds": 5,
        "pass_score": 90,
        "score": None,
        "open_issues": 0,
        "working_revision": 0,
        "best_revision": 0,
        "offered_revision": None,
        "event_seq": 1,
        "tokens": {"input": 0, "output": 0, "cached": 0, "reasoning": 0},
        "calls": 0,
        "cost": None,
        "currency": None,
        "cost_is_estimate": False,
        "created_at": "2026-03-01T10:00:00Z",
        **changes,
    }


def make_event(seq: int, type_: str, **facts: Any) -> dict[str, Any]:
    at = f"2026-03-01T10:00:{seq:02}Z"
    return {"seq": seq, "type": type_, "at": at, "actor": "local", "request_id": None, **facts}


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    def form(self) -> list[tuple[str, str | None, str, bytes]]:
        """The parts of a form: field, file name, media type, content."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        found = []
        for part in message_from_bytes(head + self.body, policy=HTTP).iter_parts():
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            place = part["content-disposition"].params
            media_type = str(part["content-type"] or "")
            found.append((str(place["name"]), place.get("filename"), media_type, content))
        return found

    def fields(self) -> dict[str, bytes]:
        """Contents of a form by field."""
        return {name: content for name, _, _, content in self.form()}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """`drop` closes the connection without an answer."""

    body: Any = None
    status: int = 200
    drop: bool = False
    content_type: str = "application/json"


def problem(status: int, code: str, detail: str, **more: Any) -> Reply:
    body = {"status": status, "code": code, "detail": detail, "title": code, **more}
    return Reply(body=body, status=status, content_type="application/problem+json")


def _read(raw: bytes, content_type: str) -> Any:
    """A form stays as it is."""
    if content_type.startswith("multipart/"):
        return raw
    return json.loads(raw) if raw else None


Answer = Callable[[Asked], Reply]


@dataclass
class FakeApi:
    """`answers` by (method, path); `streams` are the frames of each connection to the events."""

    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    streams: list[list[str]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def on(self, method: str, path: str, *replies: Reply) -> None:
        """Answers in this order; the last one stays."""
        left = list(replies)
        self.answers[method, path] = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def of(self, method: str, ending: str) -> list[Asked]:
        return [one for one in self.asked if one.method == method and one.path.endswith(ending)]

    def __enter__(self) -> Self:
        fake: FakeApi = self

        class Requests(_Requests):
            api = fake

        self._server = _Server(("127.0.0.1", 0), Requests)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves early is what some tests are about."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Requests(BaseHTTPRequestHandler):
    api: FakeApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Silence: the test looks at `asked`."""

    def _take(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        parts = urlsplit(self.path)
        asked = Asked(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=_read(raw, self.headers.get("Content-Type", "")),
        )
        self.api.asked.append(asked)
        answer = self.api.answers.get((self.command, parts.path))
        if parts.path.endswith("/events") and not answer:
            self._stream(self.api.streams.pop(0) if self.api.streams else None)
            return
        self._send(answer(asked) if answer else problem(404, "not_found", "There is none."))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _take

    def _send(self, reply: Reply) -> None:
        if reply.drop:
            self.close_connection = True
            self.connection.close()
            return
        content = reply.body
        if not isinstance(content, bytes):
            content = b"" if content is None else json.dumps(content).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, frames: list[str] | None) -> None:
        """These frames and an end; None is a stream on which nothing happens."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may leave at any frame
            for frame in frames or ():
                self.wfile.write(frame.encode())
            if frames is None:
                self.wfile.flush()
                self.api.closing.wait(30)
        self.close_connection = True


def frame(event: dict[str, Any]) -> str:
    """An event as the stream sends it."""
    return f"id: {event['seq']}\nevent: {event['type']}\ndata: {json.dumps(event)}\n\n"
