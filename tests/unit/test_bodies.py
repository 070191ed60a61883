"""Request bodies are read without keeping others from the loop."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.requests import Request

from api.http.bodies import read_json
from api.http.errors import Refusal
from api.http.requests import NewRun


async def test_a_long_body_is_read_beside_the_loop() -> None:
    body = json.dumps({"tags": [[n] for n in range(100_000)]}).encode()
    done = asyncio.Event()

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def turns() -> int:
        turns = 0
        while not done.is_set():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    counting = asyncio.create_task(turns())
    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    with pytest.raises(Refusal):
        await read_json(Request(scope, receive), NewRun)
    done.set()
    assert await counting > 10
