"""The server: one recording after the other, and a child that ends when its client leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.offline_model.wire import Call, ClientLeft, Connection, listen
from deploy.recogniser.form import read_form

log = logging.getLogger("redraft.recogniser")

_ROOT = Path(__file__).resolve().parent.parent.parent
_LONGEST_ANSWER = 50_000_000
ENGLISH = ("", "en", "eng", "english")


class Broken(Exception):
    """The child died, or said that it could not read the sound."""


class RecogniserServer:
    """`model`: a folder, or `-` for the wheel's; `child`: the module that recognises. `heard`
    counts requests."""

    def __init__(self, model: str, name: str, child: str = "deploy.recogniser.hearing") -> None:
        self.model, self.name, self.module = model, name, child
        self.multilingual = False
        self.heard = 0
        self._turn = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Listens when the model was loaded once. Raises Broken and OSError."""
        async with self._turn:
            await self._ready()
        self._server = await listen(self._serve, host, port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._end_child()

    async def _serve(self, connection: Connection, call: Call) -> None:
        path = call.path.partition("?")[0]
        if path.endswith("/models"):
            entry = {"id": self.name, "object": "model", "owned_by": "redraft"}
            connection.answer("200 OK", {"object": "list", "data": [entry]})
        elif path.endswith("/audio/transcriptions") and call.method == "POST":
            await self._transcription(connection, call)
        else:
            connection.answer("404 Not Found", _error("no such path"))

    async def _transcription(self, connection: Connection, call: Call) -> None:
        try:
            form = read_form(call.headers.get("content-type", ""), call.body)
        except ValueError as error:
            connection.answer("400 Bad Request", _error(str(error)))
            return
        language = form.fields.get("language", "").lower()
        if form.file is None:
            connection.answer("400 Bad Request", _error("the form has no file"))
        elif language not in ENGLISH and not self.multilingual:
            connection.answer("400 Bad Request", _error("this model knows English only"))
        else:
            await self._answer(connection, form.file, language, form.fields)

    async def _answer(
        self, connection: Connection, wav: bytes, language: str, fields: Mapping[str, str]
    ) -> None:
        hearing = asyncio.create_task(self.hear(wav, language))

        def left() -> None:
            hearing.cancel()

        connection.on_gone = left
        try:
            told = await hearing
        except asyncio.CancelledError:
            raise ClientLeft from None
        except Broken:
            connection.answer("500 Internal Server Error", _error("the sound was not recognised"))
            return
        if fields.get("response_format") not in ("verbose_json", None):
            told = {"text": told["text"]}
        connection.answer("200 OK", dict(told))

    async def hear(self, wav: bytes, language: str = "") -> Mapping[str, Any]:
        """One after the other. A cancel ends the child, and the next request gets another."""
        async with self._turn:
            child = await self._ready()
            began = time.monotonic()
            try:
                told = await self._ask(child, wav, language)
            except BaseException:
                await asyncio.shield(self._end_child())
                raise
            self.heard += 1
            facts = {"seconds": round(time.monotonic() - began, 2), "bytes": len(wav)}
            log.info("part recognised", extra=facts)
            return told

    async def _ask(
        self, child: asyncio.subprocess.Process, wav: bytes, language: str
    ) -> Mapping[str, Any]:
        assert child.stdin is not None, "it was asked for"
        assert child.stdout is not None, "it was asked for"
        head = len(wav).to_bytes(8, "big") + language.encode("ascii", "replace")[:8].ljust(8, b"\0")
        try:
            child.stdin.write(head + wav)
            await child.stdin.drain()
        except OSError:
            raise Broken from None
        return _read(await child.stdout.readline())

    async def _ready(self) -> asyncio.subprocess.Process:
        """The child, started where there is none. The caller holds the turn."""
        if self._child is not None and self._child.returncode is None:
            return self._child
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            self.module,
            self.model,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            limit=_LONGEST_ANSWER,
        )
        assert self._child.stdout is not None, "it was asked for"
        try:
            first = _read(await self._child.stdout.readline())
        except BaseException:
            await asyncio.shield(self._end_child())
            raise
        self.multilingual = bool(first.get("multilingual"))
        return self._child

    async def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.communicate()


def _read(line: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(line)
    except ValueError:
        raise Broken from None
    if not isinstance(told, dict) or "error" in told:
        raise Broken
    return told


def _error(message: str) -> dict[str, object]:
    return {"error": {"message": message, "type": "invalid_request_error"}}
