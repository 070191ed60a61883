"""What the fake provider remembers of each request."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deploy.offline_model.prompt import Block, OpenIssue, Prompt, read_prompt
from deploy.offline_model.wire import Call
from tests.fake_llm.reply import Reply

CountTokens = Callable[[str], int]
_WRITTEN_SCHEMA = re.compile(r"JSON Schema \((redraft_\w+)\):")


def rough_tokens(text: str) -> int:
    """A deterministic count, roughly a tokenizer's: four ASCII characters or one other a token."""
    ascii_count = sum(char < "\x80" for char in text)
    return -(-ascii_count // 4) + len(text) - ascii_count


def _common(text: str, other: str) -> int:
    """Length of the common beginning, found by halves: comparing slices costs next to nothing."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, kw_only=True)
class Billed:
    """Tokens a provider would charge, whether or not it told them."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Billed") -> "Billed":
        return Billed(input=self.input + other.input, output=self.output + other.output)


@dataclass(kw_only=True, eq=False)
class Request:
    """One request for a completion, and what became of it. Times are `time.time()`."""

    number: int
    at: float
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    path: str = ""
    prompt: Prompt
    count_tokens: CountTokens
    reply: Reply | None = None
    outcome: str = "open"
    sent: str = ""
    thought: str = ""
    first_byte_at: float | None = None
    done_at: float | None = None
    gone_at: float | None = None
    _input: int | None = field(default=None, repr=False)

    @classmethod
    def of(cls, call: Call, *, number: int, at: float, count_tokens: CountTokens) -> "Request":
        body = call.json()
        return cls(
            number=number,
            at=at,
            headers=call.headers,
            body=body,
            path=call.path,
            prompt=read_prompt(body.get("messages")),
            count_tokens=count_tokens,
        )

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def schema(self) -> str:
        """The name of the reply schema, such as "redraft_review"; "" when none was given.

        A client that may send no json_schema writes name and schema into the prompt.
        """
        given = self.body.get("response_format")
        inner = given.get("json_schema") if isinstance(given, dict) else None
        if isinstance(inner, dict):
            return str(inner.get("name", ""))
        written = _WRITTEN_SCHEMA.search(self.text)
        return written[1] if written else ""

    @property
    def part(self) -> str:
        """What system message or task say after `Part:`, else `metadata.part`, else ""."""
        metadata = self.body.get("metadata")
        named = metadata.get("part", "") if isinstance(metadata, dict) else ""
        return self.prompt.part or str(named)

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def wants_usage(self) -> bool:
        options = self.body.get("stream_options")
        return isinstance(options, dict) and bool(options.get("include_usage"))

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def authorization(self) -> str:
        return self.headers.get("authorization", "")

    @property
    def text(self) -> str:
        """The whole prompt, all messages joined."""
        return self.prompt.text

    @property
    def document(self) -> str:
        """The DOCUMENT block; the whole prompt when it has none."""
        return self.prompt.document or self.prompt.text

    @property
    def sources(self) -> Sequence[Block]:
        return self.prompt.sources

    @property
    def issues(self) -> Sequence[OpenIssue]:
        return self.prompt.issues

    @property
    def wants(self) -> Mapping[str, Any]:
        """The REQUEST block of an itinerary."""
        return self.prompt.request

    @property
    def already(self) -> Sequence[Mapping[str, Any]]:
        """Items the prompt listed as kept: a continuation asks for the rest only."""
        return self.prompt.already

    def shares(self, earlier: "Request") -> float:
        """Which share of this prompt's tokens a provider knows from that one: a prefix of the
        messages in their order, nothing behind the first difference."""
        known = 0
        for mine, theirs in zip(self.messages, earlier.messages, strict=False):
            text, other = str(mine.get("content", "")), str(theirs.get("content", ""))
            same = _common(text, other)
            known += self.count_tokens(text[:same])
            if same < len(text) or same < len(other):
                break
        return known / max(1, self.count_tokens(self.text))

    def already_keys(self, field_name: str) -> Sequence[Any]:
        """That field of each kept item, such as the days of an itinerary."""
        return [item.get(field_name) for item in self.already]

    @property
    def billed(self) -> Billed:
        """Input counts when an answer began; output is what was sent, also of a broken stream."""
        if self.reply is None or self.reply.status != 200 or self.first_byte_at is None:
            return Billed()
        if self._input is None:
            self._input = self.count_tokens(self.text)
        given = self.reply.prompt_tokens
        thinking = self.count_tokens(self.thought) if self.thought else 0
        output = self.count_tokens(self.sent) + max(thinking, self.reply.reasoning)
        if self.outcome == "done" and self.reply.completion_tokens is not None:
            output = self.reply.completion_tokens
        return Billed(input=self._input if given is None else given, output=output)
