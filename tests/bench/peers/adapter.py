"""Between Redraft and the harness' model: `python -m tests.bench.peers.adapter`.

Each request goes on as one to a plain model, and what it answers goes back wrapped, piece by piece.
Whoever leaves, the other side is left in the same moment. One connection a call, none kept.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from urllib.parse import urlsplit

from deploy.offline_model.wire import Call, Connection, listen
from tests.bench.peers.wrapping import Words, Wrapped, wrap

_END_OF_HEAD = b"\r\n\r\n"


class Chunks:
    """The body of a chunked answer; `ended` after its last chunk."""

    def __init__(self) -> None:
        self.ended = False
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """What the chunks hold that are whole now."""
        data, at, pieces = self._rest + data, 0, []
        while not self.ended:
            line = data.find(b"\r\n", at)
            if line < 0:
                break
            size = int(data[at:line].split(b";")[0], 16)
            if len(data) < line + 4 + size:
                break
            pieces.append(data[line + 2 : line + 2 + size])
            at = line + 4 + size
            self.ended = size == 0
        self._rest = data[at:]
        return b"".join(pieces)


class Upstream(asyncio.Protocol):
    """One call to the plain model, answered into `client`; `ended` when either side is done."""

    def __init__(self, client: Connection, wrapped: Wrapped) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._client = client
        self._words, self._chunks = Words(wrapped), Chunks()
        self._head: bytes | None = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def leave(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._client.gone_at is not None:
            self.leave()
            return
        if self._head is not None:
            self._head += data
            head, found, data = self._head.partition(_END_OF_HEAD)
            if not found:
                return
            if b" 200 " not in head.split(b"\r\n")[0]:
                self.leave()
                return
            self._head = None
            self._client.start("200 OK", {"Content-Type": "text/event-stream"}, chunked=True)
        if events := self._words.feed(self._chunks.feed(data)):
            self._client.send(events)
        if self._chunks.ended:
            self._client.finish()
            self.leave()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self._chunks.ended:
            self._client.close(reset=True)
        if not self.ended.done():
            self.ended.set_result(None)


class Adapter:
    """`serve` answers one request of Redraft by one of the model at `base`."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._path = f"{parts.path.rstrip('/')}/chat/completions"

    async def serve(self, client: Connection, call: Call) -> None:
        try:
            wrapped = wrap(call.body)
        except ValueError as error:
            client.answer("400 Bad Request", {"error": {"message": str(error)}})
            return
        loop = asyncio.get_running_loop()
        try:
            transport, upstream = await loop.create_connection(
                lambda: Upstream(client, wrapped), self._host, self._port
            )
        except OSError:
            client.close(reset=True)
            return
        client.on_gone = upstream.leave
        if client.gone_at is not None:
            upstream.leave()
            return
        head = f"POST {self._path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
        head += "Content-Type: application/json\r\nConnection: close\r\n"
        head += f"Content-Length: {len(wrapped.request)}\r\n\r\n"
        transport.write(head.encode() + wrapped.request)
        await upstream.ended


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers.adapter")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", required=True, help="where completions are: http://host:port/v1")
    given = parser.parse_args()
    async with await listen(Adapter(given.model).serve, "127.0.0.1", given.port) as server:
        await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
