"""The little HTTP/1.1 that a model server on loopback needs: one asyncio protocol a connection.

A framework would do; but this one starts at once, is cheap with a thousand open streams, and learns
of a client that leaves at the moment the socket says so, which is what an interrupt is measured by.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LOG = logging.getLogger("redraft.offline_model")
MAX_BODY = 64 * 1024 * 1024
MAX_HEAD = 64 * 1024


class ClientLeft(ConnectionError):
    """The other side closed the connection before the answer was complete."""


class BadRequest(ValueError):
    """What came is no HTTP request this server answers."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One HTTP request. Header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; raises `BadRequest` when it is none."""
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise BadRequest("the body is no JSON") from error
        if not isinstance(value, dict):
            raise BadRequest("the body is no JSON object")
        return value


@dataclass(kw_only=True)
class _Incoming:
    """A request while its bytes arrive."""

    method: str
    path: str
    headers: dict[str, str]
    missing: int
    body: bytearray = field(default_factory=bytearray)


class Connection(asyncio.Protocol):
    """One client. `serve(connection, call)` is run for each request, one after the other."""

    def __init__(self, serve: Callable[["Connection", Call], Awaitable[None]]) -> None:
        self._serve = serve
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._incoming: _Incoming | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._paused = False
        self._chunked = False
        self._transport: asyncio.Transport | None = None
        self.gone_at: float | None = None
        self.on_gone: Callable[[], None] | None = None

    # what a serving function uses

    def start(self, status: str, headers: Mapping[str, str], *, chunked: bool = False) -> None:
        """Send the head of an answer. With `chunked`, `send` frames and `finish` ends the body."""
        self._chunked = chunked
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
        if chunked:
            lines.append("Transfer-Encoding: chunked")
        self._write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def send(self, data: bytes) -> None:
        self._write(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    def finish(self) -> None:
        if self._chunked:
            self._write(b"0\r\n\r\n")

    def answer(self, status: str, body: object, headers: Mapping[str, str] | None = None) -> None:
        """Send a whole JSON answer."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = {"Content-Type": "application/json", "Content-Length": str(len(raw))}
        self.start(status, {**head, **(headers or {})})
        self._write(raw)

    def close(self, *, reset: bool = False) -> None:
        """Close; with `reset` at once and without the bytes that still wait."""
        if self._transport is not None:
            (self._transport.abort if reset else self._transport.close)()

    def drop(self) -> None:
        """Reset it while something is being answered: whoever writes on finds the client gone."""
        self.close(reset=True)
        self._left()

    async def pause(self, seconds: float | None) -> None:
        """Wait (None: for ever) and raise `ClientLeft` at the moment the client leaves."""
        self._check()
        waiter = self._waiter = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, _resolve, waiter)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()
        self._check()

    async def drain(self) -> None:
        """Let a slow reader catch up, and let others run."""
        while self._paused:
            await self.pause(0.05)
        await asyncio.sleep(0)
        self._check()

    def wake(self) -> None:
        """End a `pause` that is under way."""
        if self._waiter is not None:
            _resolve(self._waiter)

    def _check(self) -> None:
        if self.gone_at is not None:
            raise ClientLeft

    def _write(self, data: bytes) -> None:
        self._check()
        if self._transport is not None:
            self._transport.write(data)

    # what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def eof_received(self) -> bool:
        self._left()
        return False

    def connection_lost(self, _error: Exception | None) -> None:
        self._left()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False

    def _left(self) -> None:
        if self.gone_at is not None:
            return
        self.gone_at = time.time()
        if self.on_gone is not None:
            self.on_gone()
        self.wake()

    def _next(self) -> None:
        """Start the next request when all of it is there and none is being answered."""
        if self._task is not None:
            return
        try:
            call = self._take()
        except BadRequest as error:
            self.answer("400 Bad Request", {"error": {"message": str(error)}})
            self.close()
            return
        if call is not None:
            self._task = self._loop.create_task(self._run(call))

    async def _run(self, call: Call) -> None:
        try:
            await self._serve(self, call)
        except ClientLeft:
            pass
        except Exception as error:
            # Only the kind of the fault: its message may hold pieces of a document.
            LOG.error("request failed", extra={"error": type(error).__name__})
            self.close(reset=True)
        finally:
            self._task = None
            self.on_gone = None
        if self.gone_at is None:
            self._next()

    def _take(self) -> Call | None:
        if self._incoming is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > MAX_HEAD:
                    raise BadRequest("the head is too long")
                return None
            self._incoming = _head(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
        incoming = self._incoming
        piece = self._buffer[: incoming.missing]
        del self._buffer[: len(piece)]
        incoming.body += piece
        incoming.missing -= len(piece)
        if incoming.missing:
            return None
        self._incoming = None
        return Call(
            method=incoming.method,
            path=incoming.path,
            headers=incoming.headers,
            body=bytes(incoming.body),
        )


def _head(raw: bytes) -> _Incoming:
    first, *rest = raw.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        raise BadRequest("no HTTP request line")
    headers = {}
    for line in rest:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MAX_BODY:
        raise BadRequest("the body needs a length of at most 64 MiB")
    if "transfer-encoding" in headers:
        raise BadRequest("a request body must have a length")
    return _Incoming(method=words[0], path=words[1], headers=headers, missing=int(length))


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


async def listen(
    serve: Callable[[Connection, Call], Awaitable[None]], host: str, port: int
) -> asyncio.Server:
    """Listen; port 0 lets the system choose one."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(serve), host, port, backlog=2048)
