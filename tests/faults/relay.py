"""A relay before a server: a network that is cut and mended, that stands still, or that loses one
answer after what was asked for has been done.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(kw_only=True, eq=False)
class _Link:
    """One connection. `losing`: what comes back from now on is swallowed."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    losing: bool = False

    def abort(self) -> None:
        for end in (self.client, self.server):
            end.transport.abort()


@dataclass(kw_only=True)
class LostAnswer:
    """The next request that holds `asked` is passed on; its answer, known by one of the words in
    `answered`, is not, and the connection ends. `lost` is set when that happened."""

    asked: bytes
    answered: tuple[bytes, ...]
    lost: asyncio.Event


COMMIT = (b"COMMIT;\x00", (b"COMMIT\x00", b"ROLLBACK\x00"))
"""A transaction's end as the driver sends it, and as Postgres answers."""
POST = (b"POST /api/", (b"HTTP/1.1 ",))


class Relay:
    """`async with Relay(port) as relay:` then connect to `relay.port`."""

    def __init__(self, target: int) -> None:
        self.target, self.port = target, 0
        self._links: set[_Link] = set()
        self._waiting: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._losing: LostAnswer | None = None

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.go_on()
        await self.cut()

    async def mend(self) -> None:
        """Listens (again), on the same port."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Ends every connection on both sides and refuses new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for link in list(self._links):
            link.abort()
        for writer in list(self._waiting):
            writer.transport.abort()
        await asyncio.sleep(0)

    def hold(self) -> None:
        """Forwards nothing more, without closing anything: neither side is told."""
        self._flowing.clear()

    def go_on(self) -> None:
        """What was held back is delivered now."""
        self._flowing.set()

    def lose_answer(self, what: tuple[bytes, tuple[bytes, ...]]) -> asyncio.Event:
        """Arms the loss of one answer (COMMIT, POST); the event is set when it was lost."""
        asked, answered = what
        self._losing = LostAnswer(asked=asked, answered=answered, lost=asyncio.Event())
        return self._losing.lost

    def lose_nothing(self) -> None:
        self._losing = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._waiting.add(writer)
        try:
            await self._flowing.wait()
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
            return
        finally:
            self._waiting.discard(writer)
        link = _Link(client=writer, server=back)
        self._links.add(link)
        try:
            await asyncio.gather(self._ask(link, reader), self._answer(link, there))
        except asyncio.CancelledError:
            link.abort()  # the loop ends
        finally:
            self._links.discard(link)
            for end in (writer, back):
                end.close()

    async def _ask(self, link: _Link, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                if self._losing is not None and self._losing.asked in data:
                    link.losing = True
                link.server.write(data)
                await link.server.drain()
        link.server.close()  # also after a reset, or the server keeps its session, and its locks

    async def _answer(self, link: _Link, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                if not link.losing:
                    link.client.write(data)
                    await link.client.drain()
                elif self._losing is None or any(word in data for word in self._losing.answered):
                    self._lose(link)
                    return
        link.client.close()

    def _lose(self, link: _Link) -> None:
        if self._losing is not None:
            self._losing.lost.set()
            self._losing = None
        link.abort()
