"""What the fake provider answers: content, timing and faults, and how content becomes chunks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal


@dataclass(frozen=True)
class Items:
    """The point in a reply right behind its n-th item (0: before the first)."""

    n: int


@dataclass(frozen=True)
class Chars:
    """The point in a reply behind its n-th character."""

    n: int


Point = int | Items | Chars


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer. Without arguments: an empty list of items, at once, well formed.

    items, extra: become `{"items": [...], **extra}`; floats may be NaN, strings may hold NUL.
    text: the raw content instead of items.
    finish_reason: None sends no finish reason.
    before_headers, before_first, per_chunk: seconds.
    chunk_chars: characters of content in a chunk.
    cut_after: the connection ends after that many chunks, without finish reason and `[DONE]`;
        `cut` says how: "close" (within the chunked body), "clean" (the body ends as if complete) or
        "reset" (TCP reset).
    stall_after: silence after that many chunks, until `llm.release()` or the client leaves; with
        `stall_comments` a keep-alive comment every so many seconds.
    error_frame_after, error_frame: an error object inside the stream, then the stream ends.
    hang: the request is read and nothing is ever sent, until `llm.release()`.
    status, headers, error: an HTTP status other than 200 sends `error` as JSON.
    garbage: raw bytes in place of the whole stream, under status 200.
    usage: where usage stands: a last frame (only if asked for by `stream_options`), in the first
        chunk, growing in every chunk, in the frame of the finish reason, or nowhere.
    usage_names: the names of its counts: those of OpenAI, "messages" (input_tokens, the cached ones
        beside them), "hits" (prompt_cache_hit_tokens) or "plain" (no details).
    prompt_tokens, completion_tokens: override the counted ones. cached, reasoning: their shares.
    keepalive: a comment frame before every n-th chunk (0: none).
    done_frame: whether `[DONE]` is sent.
    split_surrogates: characters beyond the BMP are cut into two halves in two frames.
    write_bytes: frames are written in pieces of that many bytes, so UTF-8 is cut anywhere.
    refusal: sent as `delta.refusal` instead of content.
    thinking: sent before the content, in chunks, as the field `thinking_field` of the delta.
    parts: content is a list of typed parts, and so is thinking.
    whole: the answer is one JSON object, whatever was asked for: a server that does not stream.
    release_text: content sent after a stall was released, instead of the rest.
    """

    items: Sequence[Mapping[str, Any]] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    finish_reason: str | None = "stop"
    before_headers: float = 0
    before_first: float = 0
    per_chunk: float = 0
    chunk_chars: int = 12
    cut_after: Point | None = None
    cut: Literal["close", "clean", "reset"] = "close"
    stall_after: Point | None = None
    stall_comments: float = 0
    error_frame_after: Point | None = None
    error_frame: Mapping[str, Any] = field(
        default_factory=lambda: {"error": {"message": "overloaded", "type": "server_error"}}
    )
    hang: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | bytes = b""
    garbage: bytes | None = None
    usage: Literal["last", "first", "cumulative", "finish", "none"] = "last"
    usage_names: Literal["openai", "messages", "hits", "plain"] = "openai"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached: int = 0
    reasoning: int = 0
    keepalive: int = 0
    done_frame: bool = True
    split_surrogates: bool = False
    write_bytes: int = 0
    refusal: str | None = None
    thinking: str = ""
    thinking_field: str = "reasoning_content"
    parts: bool = False
    whole: bool = False
    release_text: str | None = None

    @property
    def content(self) -> str:
        """The whole content, as if nothing went wrong."""
        if self.text is not None:
            return self.text
        return self._render(len(self.items or ()))

    def offset(self, point: Point) -> int | None:
        """The character offset of a point, or None for a number of chunks."""
        if isinstance(point, Chars):
            return point.n
        if isinstance(point, Items):
            head = self._render(point.n, whole=False)
            return len(head)
        return None

    def _render(self, count: int, *, whole: bool = True) -> str:
        items = [json.dumps(item, ensure_ascii=False) for item in (self.items or ())[:count]]
        text = '{"items": [' + ", ".join(items)
        if not whole:
            return text
        extra = "".join(
            f", {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in self.extra.items()
        )
        return text + "]" + extra + "}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The chunks of a reply and after how many of them each fault strikes (None: never)."""

    chunks: Sequence[str]
    cut: int | None
    stall: int | None
    error: int | None


def plan(reply: Reply) -> Plan:
    """Cut the content into chunks so that every named point lies between two of them."""
    content = reply.content
    text = "".join(_halves(char) for char in content) if reply.split_surrogates else content
    points = (reply.cut_after, reply.stall_after, reply.error_frame_after)
    offsets = [None if point is None else reply.offset(point) for point in points]
    borders = {0, len(text), *range(0, len(text), max(1, reply.chunk_chars))}
    borders |= {min(offset, len(text)) for offset in offsets if offset is not None}
    if reply.split_surrogates:
        borders |= {at for at, char in enumerate(text) if "\udc00" <= char <= "\udfff"}
    ordered = sorted(borders)
    chunks = [text[a:b] for a, b in pairwise(ordered)]
    counts = [
        ordered.index(min(offset, len(text))) if offset is not None else point
        for point, offset in zip(points, offsets, strict=True)
    ]
    cut, stall, error = (count if isinstance(count, int) else None for count in counts)
    return Plan(chunks=chunks, cut=cut, stall=stall, error=error)


def _halves(char: str) -> str:
    """A character beyond the BMP as the two surrogates that UTF-16 has for it."""
    if ord(char) < 0x10000:
        return char
    offset = ord(char) - 0x10000
    return chr(0xD800 + (offset >> 10)) + chr(0xDC00 + (offset & 0x3FF))
