"""What stands between a worker and its model server: a proxy, or an end of TLS."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

TLS = Path(__file__).parent / "data" / "tls"
AUTHORITY = TLS / "authority.pem"
"""Signed the certificate of 127.0.0.1 and model.example beside it, whose key is no secret."""


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Between:
    """An open port; `asked` are the first lines of the requests that came."""

    port: int = 0
    asked: list[str] = field(default_factory=list)


@contextlib.asynccontextmanager
async def proxy(port: int, *, refuse: bool = False) -> AsyncIterator[Between]:
    """An HTTP proxy that finds every host at this port: absolute addresses are passed on, CONNECT
    opens a tunnel. With `refuse` it wants credentials first."""
    seen = Between()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, address, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        seen.asked.append(f"{method} {address}")
        if refuse:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        there, to = await asyncio.open_connection("127.0.0.1", port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            parts = urlsplit(address)
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            to.write(head.replace(address.encode(), path.encode(), 1))
        await _join(reader, writer, there, to)

    async with _open(serve, seen, None):
        yield seen


@contextlib.asynccontextmanager
async def tls_end(port: int) -> AsyncIterator[Between]:
    """HTTPS in front of a server that speaks HTTP at this port."""
    seen = Between()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to = await asyncio.open_connection("127.0.0.1", port)
        await _join(reader, writer, there, to)

    async with _open(serve, seen, context):
        yield seen


@contextlib.asynccontextmanager
async def _open(serve: Serve, seen: Between, context: ssl.SSLContext | None) -> AsyncIterator[None]:
    ended: list[asyncio.Task[None]] = []

    async def watched(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        ended.append(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_server(watched, "127.0.0.1", 0, ssl=context)
    seen.port = server.sockets[0].getsockname()[1]
    yield
    server.close()
    if ended:
        await asyncio.wait(ended, timeout=5)


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    there: asyncio.StreamReader,
    to: asyncio.StreamWriter,
) -> None:
    """Bytes both ways until one side ends."""
    ways = [asyncio.create_task(_pass(reader, to)), asyncio.create_task(_pass(there, writer))]
    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in ways:
        way.cancel()
    await asyncio.wait(ways)
    to.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
