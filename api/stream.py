"""The answer that is a live stream: Server-Sent Events from one subscriber's buffer.

It ends when nothing can follow, when the client leaves, when the process stops (which
`api.http.edge` shows as a client that left), and when a client takes nothing for `STALL` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.feed import Feed, Subscriber

HEARTBEAT = 10.0
STALL = 30.0
HEADERS = {
    "Cache-Control": "no-cache, no-transform",  # no-transform: a proxy's gzip would hold it back
    "X-Accel-Buffering": "no",
}
_FIRST = b"retry: 2000\n\n"
_ALIVE = b": alive\n\n"


class EventStream(Response):
    """Subscribes when it starts to send and leaves the feed however it ends."""

    media_type = "text/event-stream"

    def __init__(self, feed: Feed, subscriber: Subscriber) -> None:
        super().__init__(None, 200, HEADERS)
        del self.headers["content-length"]
        self._feed, self._subscriber = feed, subscriber

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._feed.add(self._subscriber)
        writing = asyncio.ensure_future(self._write(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._feed.remove(self._subscriber)
            ended = writing.done()
            for task in (writing, leaving):
                task.cancel()
            await asyncio.gather(writing, leaving, return_exceptions=True)
        if not ended:
            await _close(send)
        elif not writing.cancelled() and (error := writing.exception()) is not None:
            raise error

    async def _write(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        data = _FIRST
        while True:
            if data:
                async with asyncio.timeout(STALL):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            if self._subscriber.over and not self._subscriber.waiting:
                break
            data = await self._subscriber.take(HEARTBEAT) or self._pulse()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _pulse(self) -> bytes:
        return b"" if self._subscriber.over else _ALIVE


async def _close(send: Send) -> None:
    """Ends the answer properly for a client that still reads; one that does not is not waited
    for, or it would hold the shutdown up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.3):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
