"""What the command says at its end: figures, and the model's work as it is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from tests.stack import Stack

Json = dict[str, Any]

WHAT_IT_IS = """\
SmolLM2-135M-Instruct, four bits a weight, 93 MB: about the smallest model that can be told
anything. It keeps to a schema and does not understand a meeting, so what it wrote is worthless as
a review. It is shown so that nobody takes these tests for a proof of quality: what they prove is
that requests, replies, usage, cancel and limits are understood on both ends of a real wire."""
_WIDTH = 100


class Telling:
    """Lines for the end of the session, in the order in which they were told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def head(self, text: str) -> None:
        self.lines += ["", f"== {text}", ""]

    def say(self, text: str) -> None:
        self.lines.append(text)

    def text(self, name: str, body: str) -> None:
        self.lines += [f"-- {name}", *(f"   | {line}" for line in _folded(body)), ""]

    async def run(self, stack: Stack, run: Json) -> None:
        """The document before and after, and every issue, by whom it was raised."""
        before, after = await _body(stack, run, 0), await _body(stack, run, _last(run))
        self.text("the document before", before)
        if after == before:
            self.say("-- the document after: not a character changed")
        else:
            self.text(f"the document after (revision {_last(run)})", after)
        issues = await stack.rows(run["id"], "issues")
        self.say(f"-- {len(issues)} issues")
        for issue in issues:
            told = f"{issue['raised_by']}, {issue['severity']}, {issue['status']}: "
            told += f"{issue['quote']!r}: {issue['problem']}"
            self.lines += textwrap.wrap(told, _WIDTH - 3, initial_indent=" * ")
        dropped: dict[str, int] = {}
        for event in await stack.events(run["id"]):
            for code, count in (event.get("dropped") or {}).items():
                dropped[code] = dropped.get(code, 0) + count
        if dropped:
            codes = ", ".join(f"{count} {code}" for code, count in sorted(dropped.items()))
            self.say(f"-- dropped because they stood on nothing: {codes}")
        self.say("")


def _last(run: Json) -> int:
    number = run["offered_revision"] if run["offered_revision"] is not None else None
    return int(number if number is not None else run["working_revision"] or 0)


async def _body(stack: Stack, run: Json, number: int) -> str:
    path = f"/api/documents/{run['document_id']}/revisions/{number}"
    code, revision = await stack.call("GET", path)
    assert code == 200, revision
    return str(revision["body"])


def _folded(body: str) -> Sequence[str]:
    lines: list[str] = []
    for line in body.splitlines():
        lines += textwrap.wrap(line, _WIDTH - 5) or [""]
    return lines
