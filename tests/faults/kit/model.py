"""The model server's side of a place: a reviewer that takes several rounds, replies that it spoils
when told to, and a short record of every request (whole ones would not fit an hour).
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from deploy.offline_model.prompt import Prompt
from tests.fake_llm import FakeLLM, Items, Reply, Request, errors, good_reviewer

PLANTED = [(f"E{n}x", f"box {n}") for n in range(1, 16)]
_TAG = re.compile(r"faults-([0-9a-f]{12})")
_PART = re.compile(r"^Part: (\w+)$", re.MULTILINE)
_NOTHING = Prompt(system="", text="", delimiter="", blocks=())
SPOILED_AT_MOST = 2
"""Replies of one step that are spoiled: more in a row are a guardrail's business, not ours."""
Spoil = Callable[[Reply, Random], Reply]

SPOILS: Mapping[str, Spoil] = {
    "cut": lambda reply, dice: replace(
        reply, cut_after=Items(dice.randint(0, 2)), cut=dice.choice(["close", "clean", "reset"])
    ),
    "stalled": lambda reply, dice: replace(reply, stall_after=Items(dice.randint(0, 2))),
    "garbled": lambda reply, dice: replace(
        reply, text=reply.content[: dice.randint(20, 60)] + f'"\\x{dice.random()}}}]'
    ),
    "error in the stream": lambda reply, dice: replace(
        reply, error_frame_after=Items(dice.randint(0, 2))
    ),
    "no stream": lambda _reply, _dice: errors.garbage(),
    "server error": lambda _reply, dice: errors.server_error(dice.choice([500, 502, 503, 529])),
    "rate limited": lambda _reply, dice: errors.rate_limited(retry_after=dice.randint(1, 4)),
}


def new_tag() -> str:
    """Marks a run in its source, so that its requests are known."""
    return uuid.uuid4().hex[:12]


def run_body(tag: str, *, wrong: int) -> dict[str, Any]:
    """The body of a `POST /api/runs` with so many planted errors."""
    lines = [f"- We ship {bad}." for bad, _ in PLANTED[:wrong]]
    said = [f"Ana: we ship {bad}, that is {good}." for bad, good in PLANTED]
    return {
        "kind": "minutes",
        "title": f"Faults {tag}",
        "body": "# Minutes\n\n## Decisions\n\n" + "\n".join(lines) + "\n",
        "sources": [
            {
                "name": "transcript",
                "media_type": "text/plain",
                "text": "\n".join([f"Ana: this is faults-{tag}.", *said]),
            }
        ],
    }


class Reviewer:
    """Reports the first few planted errors that still stand, so that a run takes several rounds.

    `spoils` are done to the next replies, one each. `slow` makes every reply that much slower.
    """

    def __init__(self, *, per_round: int = 3, chunk_seconds: float = 0.12) -> None:
        self.per_round, self.chunk_seconds = per_round, chunk_seconds
        self.spoils: deque[str] = deque()
        self.slow = 1.0
        self.spoiled: set[int] = set()
        self._spoiled: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        dice = Random(f"{request.number}")
        reply = self._reply(request)
        if self.spoils:
            step = f"{tag_of(request.text)} {request.schema} {hash(request.document)}"
            self._spoiled[step] += 1
            if self._spoiled[step] <= SPOILED_AT_MOST:
                reply = SPOILS[self.spoils.popleft()](reply, dice)
                self.spoiled.add(request.number)
        return replace(
            reply,
            before_first=dice.uniform(0.1, 0.5) * self.slow,
            per_chunk=self.chunk_seconds * dice.uniform(0.5, 1.5) * self.slow,
            chunk_chars=20,
        )

    def _reply(self, request: Request) -> Reply:
        if request.schema == "redraft_refine":
            told = " ".join(issue.quote for issue in request.issues)
            wrong = [pair for pair in PLANTED if pair[0] in told]
        else:
            standing = [pair for pair in PLANTED if f"{pair[0]}." in request.document]
            part = _part(request)
            at = 0 if part == "main" else zlib.crc32(part.encode())
            at %= max(1, len(standing))
            wrong = [*standing[at:], *standing[:at]][: self.per_round]
        reply = good_reviewer(errors=wrong)(request)
        assert isinstance(reply, Reply)
        return reply

    def forget(self) -> None:
        """What is spoiled is counted anew; called now and then, so that nothing grows."""
        self._spoiled.clear()
        self.spoils.clear()


def tag_of(text: str) -> str:
    found = _TAG.search(text)
    return found.group(1) if found else "-"


def _part(request: Request) -> str:
    """Its reviewer: said in the task when there are several."""
    found = _PART.findall(request.text)
    return found[-1] if found else request.part or "main"


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _prompt_hash(body: Mapping[str, Any]) -> str:
    """What the product stores beside each call: equal for equal requests."""
    said = {message["role"]: message["content"] for message in body["messages"]}
    named = body["response_format"]["json_schema"]
    limit = next(body[name] for name in ("max_completion_tokens", "max_tokens") if name in body)
    parts = {
        "base_url": None,
        "model": body["model"],
        "parameters": {},
        "system": said.get("system", ""),
        "user": said["user"],
        "schema_name": named["name"],
        "schema": named["schema"],
        "max_output_tokens": limit,
    }
    return hashlib.sha256(canonical(parts).encode("utf-8", "replace")).hexdigest()


@dataclass(slots=True, kw_only=True)
class Asked:
    """One request as the judge needs it. `already`: the kept items it named, as canonical JSON."""

    number: int
    at: float
    tag: str
    step: str
    part: str
    prompt_hash: str
    already: frozenset[str]
    key: str
    outcome: str = "open"
    ended_at: float | None = None
    input: int = 0
    output: int = 0
    spoiled: bool = False


class Ledger:
    """Every request, by run. `waiting` are told of the next ones."""

    def __init__(self) -> None:
        self.of: defaultdict[str, list[Asked]] = defaultdict(list)
        self.count = 0
        self.last_at = 0.0
        self.on_request: list[Callable[[Request], None]] = []
        self._open: dict[int, Asked] = {}
        self._spoiled: set[int] = set()

    def attach(self, llm: FakeLLM, spoiled: set[int]) -> None:
        """`spoiled`: numbers of requests whose reply is not whole."""
        self._spoiled = spoiled
        llm.on_event = self._happened

    def _happened(self, event: str, request: Request) -> None:
        if event == "request":
            self._arrived(request)
            return
        asked = self._open.pop(request.number, None)
        if asked is None:
            return
        billed = request.billed
        asked.outcome, asked.spoiled = request.outcome, request.number in self._spoiled
        asked.ended_at = request.gone_at or request.done_at
        asked.input, asked.output = billed.input, billed.output
        request.body, request.prompt, request.headers = {}, _NOTHING, {}
        request.reply, request.sent = None, ""

    def _arrived(self, request: Request) -> None:
        asked = Asked(
            number=request.number,
            at=request.at,
            tag=tag_of(request.text),
            step=request.schema.removeprefix("redraft_"),
            part=_part(request),
            prompt_hash=_prompt_hash(request.body),
            already=frozenset(canonical(item) for item in request.already),
            key=request.authorization.removeprefix("Bearer "),
        )
        self.count += 1
        self.last_at = request.at
        self._open[request.number] = asked
        self.of[asked.tag].append(asked)
        for hear in list(self.on_request):
            hear(request)
