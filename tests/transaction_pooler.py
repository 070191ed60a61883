"""A small transaction pooler before a Postgres: what session state does behind one, for tests.

A client keeps a server session for one transaction only; whoever asks next gets the session given
back last. Trust authentication on both sides, no TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeAlias
from urllib.parse import urlsplit

_SSL_REQUEST, _STARTUP = 80877103, 196608
_READY, _TERMINATE = b"Z", b"X"
_Message: TypeAlias = tuple[bytes, bytes]
"""Its kind, and all of it."""


@dataclass
class _Server:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass
class TransactionPooler:
    """`async with TransactionPooler(url) as pooler:` then connect to `pooler.url`."""

    target: str
    url: str = ""
    _idle: list[_Server] = field(default_factory=list)
    _all: list[_Server] = field(default_factory=list)
    _clients: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._listener.sockets[0].getsockname()[1]
        parts = urlsplit(self.target)
        self.url = f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        for task in list(self._clients):
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        for server in self._all:
            server.writer.close()
        await self._listener.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        startup = await _startup(reader, writer)
        server, greeting = await self._open(startup)
        self._idle.append(server)
        writer.write(greeting)
        incoming: asyncio.Future[_Message] = asyncio.ensure_future(_message(reader))
        try:
            while (await asyncio.shield(incoming))[0] != _TERMINATE:
                incoming = await self._transaction(incoming, reader, writer)
        finally:
            incoming.cancel()

    async def _open(self, startup: bytes) -> tuple[_Server, bytes]:
        parts = urlsplit(self.target)
        server = _Server(*await asyncio.open_connection(parts.hostname, parts.port))
        self._all.append(server)
        server.writer.write(startup)
        greeting = b""
        while True:
            kind, message = await _message(server.reader)
            greeting += message
            if kind == _READY:
                return server, greeting

    async def _transaction(
        self,
        incoming: asyncio.Future[_Message],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> asyncio.Future[_Message]:
        """Until the server says that no transaction is open; the client's next message."""
        server, unanswered = self._idle.pop(), 0
        answer = asyncio.ensure_future(_message(server.reader))
        while True:
            await asyncio.wait({incoming, answer}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                kind, message = answer.result()
                writer.write(message)
                unanswered -= kind == _READY
                if kind == _READY and message[-1:] == b"I" and not unanswered:
                    self._idle.append(server)
                    return incoming
                answer = asyncio.ensure_future(_message(server.reader))
            elif incoming.done():
                kind, message = incoming.result()
                server.writer.write(message)
                unanswered += kind in (b"S", b"Q")  # only these are answered by ReadyForQuery
                incoming = asyncio.ensure_future(_message(reader))


async def _startup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    while True:
        length = await reader.readexactly(4)
        body = await reader.readexactly(struct.unpack("!i", length)[0] - 4)
        if struct.unpack("!i", body[:4])[0] == _STARTUP:
            return length + body
        if struct.unpack("!i", body[:4])[0] != _SSL_REQUEST:
            raise ConnectionError("a request to cancel is of no interest here")
        writer.write(b"N")


async def _message(reader: asyncio.StreamReader) -> _Message:
    head = await reader.readexactly(5)
    body = await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
    return head[:1], head + body
