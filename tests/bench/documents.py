"""The work: an 8 KB document that takes five rounds, and a player that reviews it.

One planted error a round: the player reports the first that still stands and edits that one away,
so that every round has a review, a refine and a revision, and the sixth is never reached.
"""

from __future__ import annotations

import re
import uuid
from typing import Any

from tests.fake_llm import Player, Reply, Request, good_reviewer

ROUNDS, STEPS = 5, 10
DOCUMENT_BYTES = 8192
ERRORS = [(f"E{n}x", f"box {n}") for n in range(1, ROUNDS + 3)]
_TAG = re.compile(r"bench-([0-9a-f]{12})")
_THINGS = ("the gate", "the report", "the pump", "the roof", "the fence", "the budget", "the van")
_ACTS = ("was checked", "stays as it is", "needs paint", "is with the team", "was left alone")


def new_tag() -> str:
    """Marks a run in its source text, so that the model server can tell runs apart."""
    return uuid.uuid4().hex[:12]


def tag_of(text: str) -> str:
    found = _TAG.search(text)
    return found.group(1) if found else "-"


def run_body(tag: str, *, rounds: int = ROUNDS) -> dict[str, Any]:
    """The body of a `POST /api/runs`."""
    lines = [f"- We ship {wrong}." for wrong, _ in ERRORS]
    size = 0
    for number in range(1000):
        place = f"place {chr(97 + number % 26)}{chr(97 + number // 26)}"
        line = f"- In {place}, {_THINGS[number % 7]} {_ACTS[number % 5]}."
        size += len(line) + 1
        if size > DOCUMENT_BYTES - 200:
            break
        lines.append(line)
    said = "\n".join(f"Ana: {line.removeprefix('- ')}" for line in lines)
    return {
        "kind": "minutes",
        "title": "Bench",
        "body": "# Minutes\n\n## Decisions\n\n" + "\n".join(lines) + "\n",
        "sources": [
            {
                "name": "transcript",
                "media_type": "text/plain",
                "text": f"Ana: this is bench-{tag}.\n{said}",
            }
        ],
        "max_rounds": rounds,
    }


def one_error_a_round() -> Player:
    def play(request: Request) -> Reply:
        first = [error for error in ERRORS if error[0] in request.document][:1]
        answer = good_reviewer(errors=first)(request)
        assert isinstance(answer, Reply)
        return answer

    return play


def long_text() -> str:
    """A review that never ends in time: one item whose text goes on and on."""
    words = "and so on " * 4000
    return '{"items": [{"category": "wrong_fact", "severity": "major", "problem": "' + words
