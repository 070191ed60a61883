"""Serves the rules as chat completions: streamed at a pace, stopped when the client leaves."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from deploy.offline_model.extract import draft
from deploy.offline_model.planner import itinerary
from deploy.offline_model.planner_review import refine, review
from deploy.offline_model.prompt import Prompt, read_prompt
from deploy.offline_model.wire import BadRequest, Call, Connection, listen

MODEL = "offline"
RULES: Mapping[str, Callable[[Prompt], Mapping[str, Any]]] = {
    "redraft_review": review,
    "redraft_refine": refine,
    "redraft_draft": draft,
    "redraft_itinerary": itinerary,
}
NOTHING = (
    "This is the simulated model of Redraft. It answers only requests for a review, a refinement, "
    "a draft or an itinerary, by rule."
)
PER_FRAME = 0.05
"""Seconds between two frames at most; a fast pace sends several tokens in one."""
READING = 30
"""The prompt is read this many times faster than the answer is written, as models do."""
AT_ONCE = 2
"""Answers are thought of, one by a core or so: more would come no sooner, and for clients that gave
up meanwhile."""
_TOKEN = re.compile(r"\s?[A-Za-z]{1,6}|\s?\d{1,3}|\s+|.", re.DOTALL)
_STREAM = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


def tokens(text: str) -> Sequence[str]:
    """A text in pieces about as long as a tokenizer's."""
    return _TOKEN.findall(text)


def count_tokens(text: str) -> int:
    """Tokens of a text, counted as `tokens` cuts it."""
    return len(_TOKEN.findall(text))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is sent: the pieces, why they end, and the usage."""

    id: str
    created: int
    pieces: Sequence[str]
    finish: str
    prompt_tokens: int

    @property
    def usage(self) -> Mapping[str, Any]:
        output = len(self.pieces)
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": output,
            "total_tokens": self.prompt_tokens + output,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }

    def head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": MODEL}

    def chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _frame({**self.head("chat.completion.chunk"), "choices": [choice]})


def _frame(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def reply(body: Mapping[str, Any]) -> str:
    """The content of the answer to a request, by the name of its reply schema."""
    given = body.get("response_format")
    schema = given.get("json_schema") if isinstance(given, dict) else None
    rule = RULES.get(str(schema.get("name"))) if isinstance(schema, dict) else None
    if rule is None:
        return NOTHING
    return json.dumps(rule(read_prompt(body.get("messages"))), ensure_ascii=False)


@dataclass(kw_only=True)
class OfflineModel:
    """The server. `rate` in tokens a second; 0 sends everything at once.

    `in_flight` counts answers under way; `idle` is set whenever it falls to none.
    """

    rate: float = 30
    in_flight: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _server: asyncio.Server | None = None
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def start(self, *, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen; returns the port. Raises OSError when it is taken."""
        self._server = await listen(self._serve, host, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, connection: Connection, call: Call) -> None:
        path = call.path.partition("?")[0].rstrip("/")
        if call.method == "GET" and path == "/v1/models":
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "redraft"}
            connection.answer("200 OK", {"object": "list", "data": [model]})
        elif call.method == "GET" and path == f"/v1/models/{MODEL}":
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "redraft"}
            connection.answer("200 OK", model)
        elif call.method == "GET" and path == "/healthz":
            connection.answer("200 OK", {"status": "ok"})
        elif call.method == "POST" and path == "/v1/chat/completions":
            await self._counted(connection, call)
        else:
            connection.answer("404 Not Found", _error("no such path"))

    async def _counted(self, connection: Connection, call: Call) -> None:
        self.in_flight += 1
        self.idle.clear()
        try:
            await self._complete(connection, call)
        finally:
            self.in_flight -= 1
            if not self.in_flight:
                self.idle.set()

    async def _complete(self, connection: Connection, call: Call) -> None:
        try:
            body = call.json()
            async with self.turns:
                await connection.pause(0)  # who left meanwhile is not answered any more
                answer = await self._answer(body)
        except BadRequest as error:
            connection.answer("400 Bad Request", _error(str(error)))
            return
        if body.get("stream"):
            await self._stream(connection, body, answer)
            return
        if self.rate:
            await connection.pause(self._reading(answer) + len(answer.pieces) / self.rate)
        message = {"role": "assistant", "content": "".join(answer.pieces)}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish}
        whole = {**answer.head("chat.completion"), "choices": [choice], "usage": answer.usage}
        connection.answer("200 OK", json.dumps(whole, ensure_ascii=False).encode())

    async def _answer(self, body: Mapping[str, Any]) -> Answer:
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequest("messages must be a list that is not empty")
        most = body.get("max_completion_tokens") or body.get("max_tokens")
        if most is not None and (not isinstance(most, int) or most < 1):
            raise BadRequest("max_tokens must be a positive number")
        # A long transcript takes a second of work, in which other streams must not stand still.
        text = await asyncio.to_thread(reply, body)
        pieces = tokens(text)
        prompt_tokens = await asyncio.to_thread(_prompt_tokens, messages)
        return Answer(
            id=f"chatcmpl-offline-{next(self._numbers)}",
            created=int(time.time()),
            pieces=pieces[:most] if most else pieces,
            finish="length" if most and len(pieces) > most else "stop",
            prompt_tokens=prompt_tokens,
        )

    def _reading(self, answer: Answer) -> float:
        return answer.prompt_tokens / (self.rate * READING)

    async def _stream(
        self, connection: Connection, body: Mapping[str, Any], answer: Answer
    ) -> None:
        connection.start("200 OK", _STREAM, chunked=True)
        connection.send(answer.chunk({"role": "assistant", "content": ""}))
        size = max(1, round(self.rate * PER_FRAME)) if self.rate else 64
        if self.rate:
            await connection.pause(self._reading(answer))
        for at in range(0, len(answer.pieces), size):
            pieces = answer.pieces[at : at + size]
            if self.rate:
                await connection.pause(len(pieces) / self.rate)
            else:
                await connection.drain()
            connection.send(answer.chunk({"content": "".join(pieces)}))
        connection.send(answer.chunk({}, answer.finish))
        options = body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            last = {**answer.head("chat.completion.chunk"), "choices": [], "usage": answer.usage}
            connection.send(_frame(last))
        connection.send(b"data: [DONE]\n\n")
        connection.finish()


def _prompt_tokens(messages: Sequence[object]) -> int:
    return count_tokens(read_prompt(messages).text) + 4 * len(messages)


def _error(message: str) -> Mapping[str, Any]:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return {"error": error}
