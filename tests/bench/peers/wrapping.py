"""Makes a review or an edit of a reply that is plain text: pure functions of one call.

The harness' model answers with words, sized by the model's name. Redraft wants items: so the words
become the problem of one issue, whose quote stands once in the document, or stand beside the one
edit that resolves it, in a field that Redraft drops. A refine changes that quote and nothing else,
so the document keeps its size and each round finds another.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MODELS = {"redraft_review": "fake-1k", "redraft_refine": "fake-8k"}
"""The harness' models whose replies have the sizes that the peers get."""
_QUOTED = 40
_ISSUE = re.compile(r'^I(\d+) \|[^\n]*?\| quote: ("(?:[^"\\]|\\.)*")', re.MULTILINE)
_LAST = re.compile(rb'"finish_reason":\s*"')


@dataclass(frozen=True, kw_only=True)
class Wrapped:
    """The request that goes on, and what stands before and after the words of its reply."""

    request: bytes
    before: str
    after: str


def wrap(body: bytes) -> Wrapped:
    """For the body of one of Redraft's requests. Raises ValueError for any other."""
    asked = json.loads(body)
    try:
        step = asked["response_format"]["json_schema"]["name"]
        asked["model"] = MODELS[step]
        system, user = (str(message["content"]) for message in asked["messages"])
    except (KeyError, TypeError, ValueError):
        raise ValueError("no request for a review or a refine") from None
    token = system.rsplit(" ", 1)[-1]
    before, after = '{"items":[],"words":"', '"}'
    if step == "redraft_review":
        if not _block(user, "ALREADY", token):
            before, after = _issue(_block(user, "DOCUMENT", token))
    elif found := _ours(_block(user, "ISSUES", token)):
        before, after = _edit(found[1], json.loads(found[2]))
    return Wrapped(request=json.dumps(asked).encode(), before=before, after=after)


def choose_quote(document: str) -> str:
    """Some words that stand once in it: always the same of one text, others after an edit."""
    text = document[document.find("]]") + 2 :]
    first = zlib.crc32(document.encode()) % max(1, len(text) - 3 * _QUOTED)
    for at in range(first, first + len(text), _QUOTED):
        start = text.find(" ", at % len(text)) + 1
        end = text.find(" ", start + _QUOTED)
        quote = text[start:end]
        if end > 0 and document.count(quote) == 1 and turned(quote) != quote:
            return quote
    raise ValueError("no passage of the document stands only once in it")


def turned(quote: str) -> str:
    """The same words, the first of them last."""
    first, _, others = quote.partition(" ")
    return f"{others} {first}"


def _issue(document: str) -> tuple[str, str]:
    quote = choose_quote(document)
    known = {"category": "wording", "severity": "major", "quote": quote}
    rest = {"suggestion": turned(quote), "evidence": []}
    return (
        f'{{"items":[{json.dumps(known)[:-1]}, "problem": "',
        f'", {json.dumps(rest)[1:]}], "score": 60}}',
    )


def _ours(issues: str) -> re.Match[str] | None:
    """The issue that a review's words made; verifiers find small ones in random words too."""
    found = list(_ISSUE.finditer(issues))
    return next((one for one in found if "major" in one[0]), found[0] if found else None)


def _edit(number: str, quote: str) -> tuple[str, str]:
    edit = {"find": quote, "replace": turned(quote), "resolves": [f"I{number}"]}
    return f'{{"items":[{json.dumps(edit)[:-1]}, "words": "', '"}]}'


def _block(text: str, name: str, token: str) -> str:
    """What stands between the delimiters of a prompt; empty where there is no such block."""
    opening = f"<<<{name} {token}>>>\n"
    start = text.find(opening)
    if start < 0:
        return ""
    return text[start + len(opening) : text.find(f"\n<<<END {name} {token}>>>", start)]


class Words:
    """Server-sent events of the plain reply in, those of the wrapped one out.

    Words are passed on as they are written, so they must hold nothing that JSON escapes.
    """

    def __init__(self, wrapped: Wrapped) -> None:
        self._wrapped = wrapped
        self._rest = b""
        self._begun = False
        self._characters = len(wrapped.before) + len(wrapped.after)

    def feed(self, data: bytes) -> bytes:
        """The events that are whole now."""
        *events, self._rest = (self._rest + data).split(b"\n\n")
        return b"".join(event + b"\n\n" for event in self._events(events))

    def _events(self, events: list[bytes]) -> Iterator[bytes]:
        for event in events:
            if event == b"data: [DONE]":
                yield self._usage()
            elif not self._begun:
                self._begun = True
                yield _event(_said(self._wrapped.before))
            if _LAST.search(event):
                yield _event(_said(self._wrapped.after))
            self._characters += len(event.partition(b'"content":"')[2].partition(b'"}')[0])
            yield event

    def _usage(self) -> bytes:
        """As servers tell it that are asked to; four characters a token."""
        tokens = {
            "prompt_tokens": len(self._wrapped.request) // 4,
            "completion_tokens": self._characters // 4,
        }
        return _event({"choices": [], "usage": tokens})


def _said(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode()
