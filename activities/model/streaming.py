"""The stream of one reply: bytes to frames, frames to text, items, usage and finish reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from activities.failures import ProviderError
from activities.model.replies import ReplyParser
from activities.model.tokens import Usage
from deploy.database import clean

LONGEST_LINE = 8_000_000
MOST_TOKENS = 100_000_000
"""No call has as many; a server that says so counts wrong, and its price might fit no column."""
LONGEST_FINISH = 1000
"""Characters of a finish reason; known ones have twenty."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""Fields of a delta, and types of content parts, that hold what a model thinks aloud."""


class Frames:
    """Server-sent events, of which only whole `data` lines matter. Cuts may fall anywhere.

    A body that begins with a brace is one JSON value, whatever its header says: a server that does
    not stream, or an error under status 200.
    """

    def __init__(self) -> None:
        self.done = False
        self._whole: bool | None = None
        self._rest: list[bytes] = []
        self._length = 0
        self._error_next = False

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """The JSON values of the lines that are whole now. Raises ProviderError on other data."""
        if self._whole is None and (begun := chunk.lstrip()):
            self._whole = begun.startswith(b"{")
        if self._whole or b"\n" not in chunk:
            self._keep(chunk)
            return
        lines = (b"".join(self._rest) + chunk).split(b"\n")
        self._rest, self._length = [], 0
        self._keep(lines.pop())
        for line in lines:
            value = self._line(line)
            if value is not None:
                yield value

    def end(self) -> Iterator[Any]:
        """What stands behind the last line break."""
        rest, self._rest = b"".join(self._rest), []
        value = _parse(rest) if self._whole else self._line(rest)
        self.done = self.done or bool(self._whole)
        if value is not None:
            yield value

    def _keep(self, rest: bytes) -> None:
        self._length += len(rest)
        if self._length > LONGEST_LINE:
            raise ProviderError(status=None, body="a line without end")
        if rest:
            self._rest.append(rest)

    def _line(self, line: bytes) -> Any:
        if line.startswith(b"error:"):  # llama.cpp, before it said `data:` here too
            value = _parse(line[6:].strip())
            raise ProviderError(status=None, body=value if isinstance(value, dict) else "")
        if not line.startswith(b"data:"):
            self._error_next = line.startswith(b"event:") and line[6:].strip() == b"error"
            return None
        data = line[5:].strip()
        if data == b"[DONE]":
            self.done = True
        if self.done or not data:
            return None
        value = _parse(data)
        if self._error_next:
            raise ProviderError(status=None, body=value if isinstance(value, dict) else "")
        return value


def _parse(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ProviderError(status=None, body="a frame that is no JSON") from None


class Reading:
    """What has arrived of one reply. All attributes are valid at any time."""

    def __init__(self, parser: ReplyParser, on_text: Callable[[str], None]) -> None:
        self.parser = parser
        self.finish_reason: str | None = None
        self.refused = False
        self.frames = 0
        self.characters = 0
        self.size = 0
        """Characters of content and reasoning together."""
        self._on_text = on_text
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._held = ""
        self._usage: dict[str, int] = {}
        self._usage_size = 0
        """`size` when usage was last told."""

    @property
    def text(self) -> str:
        if len(self._text) > 1:
            self._text = ["".join(self._text)]
        return self._text[0] if self._text else ""

    @property
    def thinking(self) -> str:
        return clean("".join(self._thinking))

    @property
    def received(self) -> bool:
        return bool(self._text or self._thinking or self._held)

    @property
    def usage(self) -> Usage | None:
        """What the provider reported; None while it cannot be meant for all that has arrived."""
        known = self._usage
        if "input" not in known or "output" not in known:
            return None
        if self.size > self._usage_size or (self.received and known["output"] == 0):
            return None  # sent before the reply, or in the middle of one that was cut
        return Usage(**known)

    @property
    def reported(self) -> Mapping[str, int]:
        """Of usage what was told so far, by the names of `Usage`."""
        return self._usage

    def take(self, frame: Any) -> bool:
        """Takes one frame; True if it brought the reply forward. Raises ProviderError."""
        if not isinstance(frame, dict):
            raise ProviderError(status=None, body="a frame that is no object")
        if frame.get("error"):
            raise ProviderError(status=None, body=frame)
        self.frames += 1
        forward = self._choice(frame)
        if usage := frame.get("usage"):
            self._usage.update(read_usage(usage))
            self._usage_size = self.size
        return forward

    def _choice(self, frame: Mapping[str, Any]) -> bool:
        choices = frame.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index", 0) != 0:
            return False
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish_reason = clean(finish)[:LONGEST_FINISH]
        delta = choice.get("delta") or choice.get("message")
        return isinstance(delta, dict) and self._delta(delta)

    def _delta(self, delta: Mapping[str, Any]) -> bool:
        forward = False
        content = delta.get("content")
        thought = next((t for name in _THOUGHTS if (t := delta.get(name))), None)
        if content and isinstance(content, list):
            thought = thought or "".join(_part_text(part, thinking=True) for part in content)
            content = "".join(_part_text(part) for part in content)
        if thought and isinstance(thought, str):
            self._thinking.append(thought)
            self.size += len(thought)
            forward = True
        if delta.get("refusal"):
            self.refused = forward = True
        if content and isinstance(content, str):
            self._say(content)
            forward = True
        return forward

    def finish(self) -> None:
        """No more text comes: half a character that was held back is let go."""
        held, self._held = self._held, ""
        self._emit(clean(held))

    def _say(self, text: str) -> None:
        if self._held:
            text, self._held = self._held + text, ""
        if text.isascii():
            self._emit(text.replace("\x00", ""))
            return
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        self._emit(clean(text))

    def _emit(self, text: str) -> None:
        if text:
            self._text.append(text)
            self.characters += len(text)
            self.size += len(text)
            self._on_text(text)
            self.parser.feed(text)


def read_usage(usage: Any) -> dict[str, int]:
    """Token counts in the shapes servers send them; what is missing is left out."""
    if not isinstance(usage, Mapping):
        return {}
    details_in = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    details_out = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    apart = _first(usage, "cache_read_input_tokens")
    found = {
        "input": _first(usage, "prompt_tokens", "input_tokens", "prompt_eval_count"),
        "output": _first(usage, "completion_tokens", "output_tokens", "eval_count"),
        "cached": _first(details_in, "cached_tokens")
        or _first(usage, "prompt_cache_hit_tokens", "cached_tokens")
        or apart,
        "reasoning": _first(details_out, "reasoning_tokens") or _first(usage, "reasoning_tokens"),
    }
    if apart is not None and "prompt_tokens" not in usage and found["input"] is not None:
        # This dialect counts what came from the cache, or went there, beside its input.
        found["input"] += apart + (_first(usage, "cache_creation_input_tokens") or 0)
    return {name: value for name, value in found.items() if value is not None}


def _first(fields: Any, *names: str) -> int | None:
    if not isinstance(fields, Mapping):
        return None
    for name in names:
        value = fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if 0 <= value <= MOST_TOKENS:
            return int(value)
    return None


def _part_text(part: Any, *, thinking: bool = False) -> str:
    """The text of a content part: a string, or one more list of parts."""
    if not isinstance(part, dict) or (part.get("type") in _THOUGHTS) is not thinking:
        return ""
    text = part.get(str(part["type"])) if thinking else None
    text = part.get("text") if text is None else text
    if isinstance(text, list):
        text = "".join(str(inner.get("text", "")) for inner in text if isinstance(inner, dict))
    return text if isinstance(text, str) else ""
