"""Stands between the boundary and a server, passes every byte on, and remembers what it saw.

One request a connection, as the boundary makes them. What it counted owes nothing to our reading of
streams: usage is found in the raw answer by its own few lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(kw_only=True, eq=False)
class Exchange:
    """One request and what came back; times are those of `time.monotonic`."""

    asked: Mapping[str, Any]
    began: float
    answer: bytearray = field(default_factory=bytearray)
    ended: float | None = None
    left: bool = False
    """The client closed before the server had answered everything."""

    @property
    def status(self) -> int | None:
        head = bytes(self.answer[:64]).split(b" ", 2)
        return int(head[1]) if len(head) > 1 and head[1].isdigit() else None

    @property
    def form(self) -> str:
        """How the reply was asked for."""
        return str((self.asked.get("response_format") or {}).get("type", "plain"))

    @property
    def schema(self) -> str:
        named = (self.asked.get("response_format") or {}).get("json_schema") or {}
        return str(named.get("name", ""))

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The data frames that came whole."""
        lines = _body(bytes(self.answer)).decode("utf-8", "replace").splitlines()
        data = [line[5:].strip() for line in lines if line.startswith("data:")]
        found = []
        for text in data:
            with contextlib.suppress(ValueError):
                found.append(json.loads(text))
        return [frame for frame in found if isinstance(frame, dict)]

    @property
    def usage(self) -> dict[str, Any] | None:
        """As the server said it last."""
        said = [frame["usage"] for frame in self.frames if frame.get("usage")]
        return said[-1] if said else None

    @property
    def pieces(self) -> list[str]:
        """The contents of the deltas: of this server, one a token."""
        deltas = [
            choice.get("delta", {}).get("content")
            for frame in self.frames
            for choice in frame.get("choices", ())
        ]
        return [delta for delta in deltas if delta]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Witness:
    """`async with Witness(port) as witness:` then ask at `witness.base_url`."""

    def __init__(self, target: int) -> None:
        self.target, self.port = target, 0
        self.exchanges: list[Exchange] = []
        self._server: asyncio.Server | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back: asyncio.StreamWriter | None = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(_length(head))
            exchange = Exchange(asked=json.loads(body), began=time.monotonic())
            self.exchanges.append(exchange)
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            back.write(head + body)
            await self._pass_on(exchange, there, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for end in filter(None, (back, writer)):
                end.close()

    async def _pass_on(
        self,
        exchange: Exchange,
        there: asyncio.StreamReader,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Until one side closes; then the other is closed too, or a cancel would end here."""
        gone = asyncio.create_task(reader.read())
        answered = asyncio.create_task(_copy(there, writer, exchange.answer))
        try:
            await asyncio.wait({gone, answered}, return_when=asyncio.FIRST_COMPLETED)
            exchange.left = not answered.done() and b"[DONE]" not in exchange.answer[-200:]
        finally:
            exchange.ended = time.monotonic()
            for task in (gone, answered):
                task.cancel()


async def _copy(
    there: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: bytearray
) -> None:
    with contextlib.suppress(OSError):
        while data := await there.read(65536):
            answer += data
            writer.write(data)
            await writer.drain()


def _body(answer: bytes) -> bytes:
    """What was answered, without its head and the sizes of its chunks."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return rest
    body = b""
    while b"\r\n" in rest:
        size, _, rest = rest.partition(b"\r\n")
        number = int(size or b"0", 16)
        body, rest = body + rest[:number], rest[number + 2 :]
    return body


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0
