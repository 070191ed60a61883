"""A recogniser over HTTP: tells from the length of the sound what it "hears", records what came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from deploy.offline_model.wire import Call, ClientLeft, Connection, listen
from deploy.recogniser.form import read_form


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request. `seconds` is the length of the sound that came; only a script gets the samples
    (16-bit mono at 16 kHz)."""

    number: int
    fields: Mapping[str, str]
    seconds: float
    samples: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True)
class Says:
    """One answer, after `wait` seconds (None: never)."""

    body: Any
    status: str = "200 OK"
    wait: float | None = 0.0


def segments(asked: Asked) -> Says:
    """A line each ten seconds."""
    found = [
        {
            "start": float(at),
            "end": min(at + 8.0, asked.seconds),
            "text": f" Part {asked.number}, line {at // 10 + 1}.",
        }
        for at in range(0, max(1, int(asked.seconds)), 10)
    ]
    text = "".join(str(entry["text"]) for entry in found)
    return Says(body={"text": text, "duration": asked.seconds, "segments": found})


class FakeRecogniser:
    """`async with FakeRecogniser() as server`: answers at `server.base_url`."""

    def __init__(self, script: Callable[[Asked], Says] = segments) -> None:
        self.script, self.asked, self.left = script, list[Asked](), 0
        self.arrived, self.gone = asyncio.Event(), asyncio.Event()
        self.port = 0
        self._server: asyncio.Server | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await listen(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, connection: Connection, call: Call) -> None:
        if not call.path.endswith("/audio/transcriptions"):
            connection.answer("404 Not Found", {"error": {"message": "no such path"}})
            return
        asked = _read(call, len(self.asked) + 1)
        self.asked.append(replace(asked, samples=b""))
        self.arrived.set()
        says = self.script(asked)
        try:
            await connection.pause(says.wait)
        except ClientLeft:
            self.left += 1
            self.gone.set()
            raise
        connection.answer(says.status, says.body, {"x-request-id": f"heard-{asked.number}"})


def _read(call: Call, number: int) -> Asked:
    form = read_form(call.headers["content-type"], call.body)
    samples = (form.file or b"")[44:]  # behind the head
    seconds = len(samples) / 32_000
    return Asked(number=number, fields=form.fields, seconds=seconds, samples=samples)
