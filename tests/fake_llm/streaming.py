"""Sends a reply over a connection: heads, frames, delays and faults."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from deploy.offline_model.wire import Connection
from tests.fake_llm.recording import Request
from tests.fake_llm.reply import Plan, Reply, plan

EVENT_STREAM = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


def status_line(number: int) -> str:
    try:
        return f"{number} {HTTPStatus(number).phrase}"
    except ValueError:
        return f"{number} Status"


@dataclass(kw_only=True)
class Sending:
    """One reply on its way to one client."""

    connection: Connection
    request: Request
    reply: Reply
    released: Callable[[], bool]
    progress: Callable[[], None]

    async def run(self) -> str:
        """Send all; returns how it ended: "done", "cut" or "error". Raises `ClientLeft`."""
        reply = self.reply
        head = {"x-request-id": f"req-{self.request.number}", **reply.headers}
        if reply.hang:
            await self._hold()
        if reply.before_headers:
            await self.connection.pause(reply.before_headers)
        if reply.status != 200:
            raw = reply.error if isinstance(reply.error, bytes) else json.dumps(reply.error)
            body = raw if isinstance(raw, bytes) else raw.encode()
            self.connection.answer(status_line(reply.status), body, head)
            return "error"
        if reply.garbage is not None:
            self.connection.start("200 OK", {**EVENT_STREAM, **head}, chunked=True)
            self._first_byte()
            self.connection.send(reply.garbage)
            self.connection.finish()
            return "error"
        if reply.whole or not self.request.stream:
            return await self._whole(head)
        self.connection.start("200 OK", {**EVENT_STREAM, **head}, chunked=True)
        if reply.before_first:
            await self.connection.pause(reply.before_first)
        return await self._stream(plan(reply))

    async def _whole(self, head: Mapping[str, str]) -> str:
        reply = self.reply
        if reply.before_first:
            await self.connection.pause(reply.before_first)
        if reply.stall_after is not None:
            await self._hold()
        self._first_byte()
        if reply.cut_after is not None:
            self.connection.start("200 OK", {"Content-Length": "4096", **head})
            self.connection.send(b'{"id": "cut')
            self.connection.close(reset=reply.cut == "reset")
            return "cut"
        self.request.sent, self.request.thought = reply.content, reply.thinking
        message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
        if reply.thinking:
            message[reply.thinking_field] = reply.thinking
        choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
        body = {**self._base("chat.completion"), "choices": [choice]}
        if reply.usage != "none":
            body["usage"] = self.usage()
        self.connection.answer("200 OK", json.dumps(body).encode(), head)
        return "done"

    async def _stream(self, chunks: Plan) -> str:
        reply = self.reply
        self._first_byte()
        self._frame({"role": "assistant", "content": ""}, usage=reply.usage == "first")
        for at in range(0, len(reply.thinking), 24):
            self._think(reply.thinking[at : at + 24])
            await self._pace()
        ended = await self._content(chunks)
        if ended:
            return ended
        if reply.refusal is not None:
            self._frame({"refusal": reply.refusal})
        if reply.finish_reason is not None:
            self._frame({}, finish=reply.finish_reason, usage=reply.usage == "finish")
        if reply.usage in ("last", "cumulative") and self.request.wants_usage:
            self._event({**self._base(), "choices": [], "usage": self.usage()})
        if reply.done_frame:
            self._write(b"data: [DONE]\n\n")
        self.connection.finish()
        return "done"

    async def _content(self, chunks: Plan) -> str:
        """Send the chunks; returns how a fault ended the stream, or "" when all are sent."""
        stop = len(chunks.chunks)
        for number in range(stop + 1):
            if chunks.cut == number:
                self._cut()
                return "cut"
            if chunks.error == number:
                self._event(self.reply.error_frame)
                self.connection.finish()
                return "error"
            if chunks.stall == number:
                await self._hold()
                if self.reply.release_text is not None:
                    self._chunk(self.reply.release_text)
                    return ""
            if number < stop:
                if self.reply.keepalive and number % self.reply.keepalive == 0:
                    self._write(b": keep-alive\n\n")
                self._chunk(chunks.chunks[number])
                await self._pace()
        return ""

    def _chunk(self, text: str) -> None:
        self.request.sent += text
        content = [{"type": "text", "text": text}] if self.reply.parts else text
        self._frame({"content": content}, usage=self.reply.usage == "cumulative")
        self.progress()

    def _think(self, text: str) -> None:
        self.request.thought += text
        part = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        named = {self.reply.thinking_field: text}
        self._frame({"content": [part]} if self.reply.parts else named)
        self.progress()

    def _cut(self) -> None:
        if self.reply.cut == "clean":
            self.connection.finish()
        else:
            self.connection.close(reset=self.reply.cut == "reset")

    async def _pace(self) -> None:
        if self.reply.per_chunk:
            await self.connection.pause(self.reply.per_chunk)
        else:
            await self.connection.drain()

    async def _hold(self) -> None:
        comments = self.reply.stall_comments
        while not self.released():
            await self.connection.pause(comments or None)
            if comments and not self.released():
                self._write(b": keep-alive\n\n")

    def _first_byte(self) -> None:
        self.request.first_byte_at = time.time()

    def usage(self) -> Mapping[str, Any]:
        """Usage as the provider reports it now."""
        counted, reply = self.request.billed, self.reply
        output = counted.output if reply.completion_tokens is None else reply.completion_tokens
        if reply.usage_names == "messages":
            return {
                "input_tokens": counted.input - reply.cached,
                "cache_read_input_tokens": reply.cached,
                "output_tokens": output,
            }
        plain = {
            "prompt_tokens": counted.input,
            "completion_tokens": output,
            "total_tokens": counted.input + output,
        }
        if reply.usage_names == "plain":
            return plain
        if reply.usage_names == "hits":
            return {**plain, "prompt_cache_hit_tokens": reply.cached}
        return {
            **plain,
            "prompt_tokens_details": {"cached_tokens": reply.cached},
            "completion_tokens_details": {"reasoning_tokens": reply.reasoning},
        }

    def _base(self, kind: str = "chat.completion.chunk") -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.request.number}",
            "object": kind,
            "created": int(self.request.at),
            "model": self.request.model or "fake",
        }

    def _frame(
        self, delta: Mapping[str, Any], *, finish: str | None = None, usage: bool = False
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        frame = {**self._base(), "choices": [choice]}
        if usage:
            frame["usage"] = self.usage()
        self._event(frame)

    def _event(self, frame: Mapping[str, Any]) -> None:
        # Lone surrogates have no UTF-8; as escapes they travel the way real providers send them.
        plain = json.dumps(frame, ensure_ascii=self.reply.split_surrogates)
        self._write(b"data: " + plain.encode("utf-8") + b"\n\n")

    def _write(self, data: bytes) -> None:
        size = self.reply.write_bytes or len(data)
        for at in range(0, len(data), size):
            self.connection.send(data[at : at + size])
