"""A run's recording: who hears it, where it is cut, and its parts as they are decoded.

Decoders are large and files come from strangers, so both run in child processes that end with
whoever asked: when a stop comes first, or when the step ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from activities.owning.watch import Watch
from activities.record import RunRow
from activities.steps.missing import RecordingMissing
from activities.tools import Tools
from deploy.blobs import BlobStore
from deploy.database import Connection, reading
from workflows.cutting import Span, cut
from workflows.kinds.kind import PartPlan
from workflows.spoken import clock
from workflows.vocabulary import SPEECH_PROFILE, StepName

_ROOT = Path(__file__).resolve().parents[2]
_Result = TypeVar("_Result")


class Undecodable(Exception):
    """The child ended before it gave what was asked for."""


def profile_of(run: RunRow, name: StepName) -> str:
    """Recordings are heard by the profile of that name, whatever model the run has."""
    return SPEECH_PROFILE if name == StepName.TRANSCRIBE else run.profile


def span_of(part: PartPlan) -> Span:
    return Span(start=float(part.spec["start"]), end=float(part.spec["end"]))


def seconds_of(parts: Sequence[PartPlan]) -> float:
    return round(sum(span_of(part).seconds for part in parts), 3)


async def cut_recording(tools: Tools, watch: Watch, run: RunRow) -> tuple[PartPlan, ...] | None:
    """The parts of a new plan; None when a stop came first or the recording is gone.

    Raises Undecodable, RecordingMissing, OSError and ValueError.
    """
    path = await path_of(tools, run)
    levels = None if path is None else await unless_stopped(watch, _levels(path))
    if levels is None:
        return None
    longest = tools.settings.speech_part_seconds
    spans = await asyncio.to_thread(cut, levels, longest=longest)
    return tuple(
        PartPlan(
            part=f"{clock(span.start)}-{clock(span.end)}",
            key=f"{run.unheard_source}:{span.key}",
            spec={"start": span.start, "end": span.end},
        )
        for span in spans
    )


async def path_of(tools: Tools, run: RunRow) -> Path | None:
    """Where the recording stands; None when it was deleted. Raises ValueError without a store, and
    RecordingMissing."""

    async def read(connection: Connection) -> str | None:
        uri: str | None = await connection.fetchval(
            "SELECT b.uri FROM sources s JOIN blobs b ON b.id = s.blob_id WHERE s.id = $1",
            run.unheard_source,
        )
        return uri

    uri = await reading(tools.pool, read, patience=float("inf"))
    if uri is None:
        return None
    path = BlobStore(tools.settings.blob_url).path(uri)
    if path.parent.parent.is_dir() and not path.exists():  # else the folder is away, and may return
        raise RecordingMissing
    return path


async def unless_stopped(watch: Watch, work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """Its result, or None where a stop came first: whatever it holds is let go then."""
    task = asyncio.create_task(work)
    watch.streams.add(task)
    try:
        if watch.stopping is not None:
            task.cancel()
        await asyncio.wait({task})
        return None if task.cancelled() else task.result()
    finally:
        task.cancel()
        watch.streams.discard(task)


async def _levels(path: Path) -> bytes:
    async with _child("levels", str(path)) as child:
        assert child.stdout is not None, "it was asked for"
        levels = await child.stdout.read()
        if await child.wait() != 0 or not levels:
            raise Undecodable
        return levels


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One part: a WAV file, and its loudness."""

    wav: bytes
    levels: bytes


@dataclass(kw_only=True, eq=False)
class Decoder:
    """The parts of one recording in their order, each when it is asked for."""

    path: Path
    spans: Sequence[Span]
    leave: contextlib.AsyncExitStack
    """Ends the child with the step."""
    _pieces: dict[str, Piece] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _child: asyncio.subprocess.Process | None = None
    _read: int = 0

    async def take(self, span: Span) -> Piece:
        """Raises Undecodable."""
        async with self._turn:
            while span.key not in self._pieces:
                self._pieces[self.spans[self._read].key] = await self._next()
                self._read += 1
        return self._pieces.pop(span.key)

    async def _next(self) -> Piece:
        if self._child is None:
            words = (span.key for span in self.spans)
            self._child = await self.leave.enter_async_context(
                _child("parts", str(self.path), *words)
            )
        stream = self._child.stdout
        assert stream is not None, "it was asked for"
        try:
            wav = await stream.readexactly(int.from_bytes(await stream.readexactly(4), "big"))
            levels = await stream.readexactly(int.from_bytes(await stream.readexactly(4), "big"))
        except asyncio.IncompleteReadError:
            raise Undecodable from None
        return Piece(wav=wav, levels=levels)


@dataclass(kw_only=True, eq=False)
class Ear:
    """What the parts of one step share: the decoder, opened by the first that is heard."""

    tools: Tools
    run: RunRow
    open_parts: Sequence[PartPlan]
    leave: contextlib.AsyncExitStack
    _decoder: Decoder | None = None

    async def piece(self, part: PartPlan) -> Piece | None:
        """The part's sound; None when the recording was deleted. Raises Undecodable and
        RecordingMissing."""
        if self._decoder is None:
            path = await path_of(self.tools, self.run)
            if path is None:
                return None
            spans = [span_of(one) for one in self.open_parts]
            self._decoder = self._decoder or Decoder(path=path, spans=spans, leave=self.leave)
        return await self._decoder.take(span_of(part))


@contextlib.asynccontextmanager
async def _child(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "deploy.listening",
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=_ROOT,
        env={"PYTHONPATH": str(_ROOT)},
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.communicate()  # an unread pipe would keep its end from being noticed
