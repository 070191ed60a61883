"""The model server in a process of its own, and its log as it happens.

`python -m tests.bench.model` reads paces (JSON, fields of `Reply`) from standard input, one a line,
and writes one line an event: `listening PORT`, `paced`, `request N TAG TIME`, `done N TAG TIME`,
`gone N TAG TIME`. Times are `time.time()`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from deploy.local.processes import _tie_to_parent
from tests.bench.documents import one_error_a_round, tag_of
from tests.fake_llm import FakeLLM, Request
from tests.services import ROOT


@dataclass(kw_only=True, eq=False)
class Call:
    """One request as the model server saw it."""

    number: int
    tag: str
    at: float
    done_at: float | None = None
    gone_at: float | None = None

    @property
    def open(self) -> bool:
        return self.done_at is None and self.gone_at is None


class ModelServer:
    """`async with ModelServer() as model`; `calls` and `of` are kept up to date."""

    def __init__(self) -> None:
        self.calls: dict[int, Call] = {}
        self.of: defaultdict[str, list[Call]] = defaultdict(list)
        self.port = 0
        self.process: asyncio.subprocess.Process | None = None
        self._news = asyncio.Event()
        self._paced = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.bench.model",
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            preexec_fn=_tie_to_parent(9),
        )
        self._reader = asyncio.create_task(self._read())
        await self.until(lambda: self.port > 0, "the model server")
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        if self._reader is not None:
            await self._reader

    async def pace(self, **fields: Any) -> None:
        """Every later answer has these fields of `Reply`; without fields, it comes at once."""
        assert self.process is not None
        assert self.process.stdin is not None
        self._paced.clear()
        self.process.stdin.write(json.dumps(fields).encode() + b"\n")
        await asyncio.wait_for(self._paced.wait(), 20)

    async def until(self, holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
        """Looked at after each event of the server. Raises TimeoutError."""
        try:
            async with asyncio.timeout(seconds):
                while not holds():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise TimeoutError(f"waited {seconds:g} s for {what}") from None

    async def call(self, tag: str, number: int, *, seconds: float = 60) -> Call:
        """The n-th request of a run (from 1), when it has come."""
        await self.until(lambda: len(self.of[tag]) >= number, f"request {number}", seconds)
        return self.of[tag][number - 1]

    async def gone(self, call: Call, *, seconds: float = 60) -> float:
        """When the client of this call left before its answer had ended."""
        await self.until(lambda: not call.open, f"the end of call {call.number}", seconds)
        if call.gone_at is None:
            raise AssertionError("the answer ended before the client left")
        return call.gone_at

    async def _read(self) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            word, *rest = line.decode().split()
            if word == "listening":
                self.port = int(rest[0])
            elif word == "paced":
                self._paced.set()
            else:
                self._take(word, int(rest[0]), rest[1], float(rest[2]))
            self._news.set()

    def _take(self, word: str, number: int, tag: str, at: float) -> None:
        if word == "request":
            call = self.calls[number] = Call(number=number, tag=tag, at=at)
            self.of[tag].append(call)
        elif word == "gone":
            self.calls[number].gone_at = at
        else:
            self.calls[number].done_at = at


async def main() -> None:
    """Serves until its standard input ends."""
    out = sys.stdout

    def tell(event: str, request: Request) -> None:
        at = {"request": request.at, "gone": request.gone_at}.get(event, request.done_at)
        out.write(f"{event} {request.number} {tag_of(request.text)} {at}\n")
        out.flush()

    async with FakeLLM(one_error_a_round()) as llm:
        llm.on_event = tell
        out.write(f"listening {llm.port}\n")
        out.flush()
        while line := await asyncio.to_thread(sys.stdin.readline):
            llm.pace(**json.loads(line))
            out.write("paced\n")
            out.flush()


if __name__ == "__main__":
    asyncio.run(main())
