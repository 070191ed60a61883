"""The network between a browser and the API: it can be cut, and a stream on it can die unsaid."""

from __future__ import annotations

import asyncio
import contextlib


class _Line:
    """One connection. `dead`: nothing passes any more, and nobody is told."""

    def __init__(self, *ends: asyncio.StreamWriter) -> None:
        self.ends = ends
        self.streams = self.dead = False

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.streams = self.streams or data.startswith(b"GET /api/events?")
                if not self.dead:
                    writer.write(data)
                    await writer.drain()
        if not self.dead:
            self.close()

    def close(self) -> None:
        for end in self.ends:
            end.close()


class Wire:
    """Carries everything to a port of this machine; `port` is where a browser comes in."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lines: list[_Line] = []
        self._is_cut = False
        self.port = 0

    async def __aenter__(self) -> Wire:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self.cut()
        self._server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.close()
            return
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._target)
        line = _Line(writer, to_writer)
        self._lines.append(line)
        await asyncio.gather(line.carry(reader, to_writer), line.carry(to_reader, writer))

    def cut(self) -> None:
        """Every connection ends, and none comes about until `mend`."""
        self._is_cut = True
        for line in self._lines:
            line.close()
        self._lines.clear()

    def mend(self) -> None:
        self._is_cut = False

    def deafen_streams(self) -> None:
        """The streams of events stand, as after a sleep, but nothing comes of them any more."""
        for line in self._lines:
            line.dead = line.dead or line.streams
