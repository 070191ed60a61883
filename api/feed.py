"""The one reader of events in a process, and the subscribers it fills.

A tick asks the database once for all streams; no stream holds a connection, and none depends on
LISTEN, which dies silently with its connection. A subscriber that has not taken what it was given
is left out of the ticks, so a slow client costs a bounded buffer and loses nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Mapping

from api import wire
from api.queries import stream as queries_stream
from api.queries.stream import Head, News
from deploy.database import AWAY, Pool

log = logging.getLogger("redraft.api.feed")

TICK = 0.125
"""Eight statements a second, and one for live text: all that any number of viewers cost at rest."""
PARTIAL_EVERY = 1.0
BUFFER_BYTES = 256 * 1024
"""A subscriber with more than this waiting is not given anything."""


def frame(name: str, data: str, *, id_: str | None = None) -> bytes:
    """One SSE frame; `data` is JSON and so without line breaks."""
    head = "" if id_ is None else f"id: {id_}\n"
    return f"{head}event: {name}\ndata: {data}\n\n".encode()


def encode_positions(positions: Mapping[str, int]) -> str:
    """The `id:` of a stream over many runs: every run's seq, opaque to clients."""
    return "-".join(f"{run_id.replace('-', '')}.{seq:x}" for run_id, seq in positions.items())


def decode_positions(text: str) -> dict[str, int]:
    """Raises ValueError for anything that `encode_positions` did not make."""
    found = {}
    for entry in text.split("-"):
        plain, _, seq = entry.partition(".")
        if len(plain) != 32 or not seq or len(seq) > 15:
            raise ValueError("not the id of a stream over many runs")
        parts = (plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:])
        int(plain, 16)
        found["-".join(parts)] = int(seq, 16)
    if encode_positions(found) != text:
        raise ValueError("not the id of a stream over many runs")
    return found


class Subscriber:
    """One stream: where it stands in each run, and what waits to be sent.

    `many` makes ids that hold all positions and data that names its run. Only with `sees_content`
    it gets live text and what people said.
    """

    def __init__(self, positions: Mapping[str, int], *, many: bool, sees_content: bool) -> None:
        self.positions = dict(positions)
        self.live = set(positions)
        self.many, self.sees_content = many, sees_content
        self.offsets: dict[str, int] = {}
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._changed = asyncio.Event()

    @property
    def full(self) -> bool:
        return self._bytes > BUFFER_BYTES

    @property
    def over(self) -> bool:
        """Nothing will follow what waits."""
        return not self.live

    @property
    def waiting(self) -> bool:
        return bool(self._frames)

    def put(self, data: bytes) -> None:
        self._frames.append(data)
        self._bytes += len(data)
        self._changed.set()

    async def take(self, patience: float) -> bytes:
        """All that waits, as soon as anything does; b"" after `patience` seconds or at the end."""
        if not self._frames and not self.over:
            try:
                async with asyncio.timeout(patience):
                    await self._changed.wait()
            except TimeoutError:
                return b""
        self._changed.clear()
        data = b"".join(self._frames)
        self._frames.clear()
        self._bytes = 0
        return data

    def tell(self, run_id: str, name: str, facts: Mapping[str, object]) -> None:
        """A frame that is no row and therefore has no id."""
        named = {"run_id": run_id, **facts} if self.many else facts
        self.put(frame(name, json.dumps(named, ensure_ascii=False, separators=(",", ":"))))

    def give(self, run_id: str, found: News) -> None:
        """The events behind this subscriber's position, then the end when it is reached."""
        for event in found.events:
            if self.full:
                return  # the rest is read again once this was taken
            self.positions[run_id] = event.seq
            self.put(self._event(run_id, event))
        if found.head is None:
            self._leave(run_id)
        elif self.reached(run_id, found.head):
            self.tell(run_id, "end", {"status": found.head.status})
            self._leave(run_id)

    def give_text(self, call_id: str, run_id: str, text: str) -> None:
        """What an open call has received beyond what this subscriber has; offsets count
        characters (code points)."""
        offset = self.offsets.get(call_id, 0)
        if offset < len(text):
            self.offsets[call_id] = len(text)
            facts = {"call_id": call_id, "offset": offset, "text": text[offset:]}
            self.tell(run_id, "partial", facts)

    def reached(self, run_id: str, head: Head) -> bool:
        return head.over and self.positions[run_id] >= head.event_seq

    def _event(self, run_id: str, event: wire.Event) -> bytes:
        shown = event if self.sees_content else event.model_copy(update={"comment": None})
        data = shown.model_dump_json()
        if not self.many:
            return frame(event.type, data, id_=str(event.seq))
        data = f'{{"run_id":"{run_id}",{data[1:]}'
        return frame(event.type, data, id_=encode_positions(self.positions))

    def _leave(self, run_id: str) -> None:
        self.live.discard(run_id)
        self._changed.set()


class Feed:
    """Reads for all subscribers of this process; its task lives as long as there is one."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.subscribers: set[Subscriber] = set()
        self._task: asyncio.Task[None] | None = None
        self._arrived = asyncio.Event()
        self._texts: dict[str, _LiveText] = {}

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def add(self, subscriber: Subscriber) -> None:
        self.subscribers.add(subscriber)
        self._arrived.set()
        if not self.running:
            self._task = asyncio.create_task(self._run(), name="feed")

    def remove(self, subscriber: Subscriber) -> None:
        self.subscribers.discard(subscriber)
        self._arrived.set()  # the last one out ends the task

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        partial_at, delay = loop.time(), TICK
        while self.subscribers:
            self._arrived.clear()
            began = loop.time()
            try:
                more = await self._tick()
                if began >= partial_at:
                    await self._partials()
                    partial_at = began + PARTIAL_EVERY
                delay = TICK
            except AWAY as error:
                more, delay = False, min(delay * 2, 2.0)
                log.warning("database away, streams wait", extra={"error": type(error).__name__})
            except Exception as error:
                more, delay = False, 2.0
                log.exception("events not read", extra={"error": type(error).__name__})
            if not more:
                await self._pause(began + delay - loop.time())
        self._texts.clear()

    async def _pause(self, seconds: float) -> None:
        """Until the next tick is due, or somebody came or went."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._arrived.wait()
        except TimeoutError:
            return

    def _waiting(self) -> list[Subscriber]:
        return [one for one in self.subscribers if not one.full and not one.over]

    async def _tick(self) -> bool:
        """Gives every subscriber its next events; True when there was more than one batch."""
        waiting = self._waiting()
        positions = {(run, one.positions[run]) for one in waiting for run in one.live}
        if not positions:
            return False
        found = await queries_stream.news(self._pool, sorted(positions))
        for one in waiting:
            for run_id in tuple(one.live):
                new = found.get((run_id, one.positions[run_id]))
                if new is not None:
                    one.give(run_id, new)
        return any(new.more for new in found.values())

    async def _partials(self) -> None:
        """Live text of open calls: only what is new, at most once a second."""
        readers = [one for one in self._waiting() if one.sees_content]
        runs = {run for one in readers for run in one.live}
        if not runs:
            self._texts.clear()
            return
        known = {call: (text.length, len(text.text)) for call, text in self._texts.items()}
        found = await queries_stream.open_calls(self._pool, sorted(runs), known)
        read = self._texts
        self._texts = {}  # what is not open any more, or not looked at, is forgotten
        for call in found:
            text = read.get(call.call_id) or _LiveText(call.run_id)
            text.text, text.length = text.text + call.text, call.length
            self._texts[call.call_id] = text
        for one in readers:
            one.offsets = {c: n for c, n in one.offsets.items() if c in self._texts}
            for call_id, text in self._texts.items():
                if text.run_id in one.live:
                    one.give_text(call_id, text.run_id, text.text)


class _LiveText:
    """What this process has read of an open call's text so far."""

    def __init__(self, run_id: str) -> None:
        self.run_id, self.text, self.length = run_id, "", -1
