"""What the model is asked: a tiny meeting with the answers in the prompt, and the real sample.

So small a model finds nothing by itself. In the first it is shown what to answer and only has to
copy it, so that there are items to keep; the second is asked with Redraft's own prompts.
"""

from __future__ import annotations

import json
from typing import Any

from workflows.kinds.minutes import KIND

Json = dict[str, Any]

SOURCE = """\
Ana: We ship the blue box on Friday.
Ben: Carla writes the manual.
Ana: The budget is 900 Euros."""
BODY = """\
# Minutes

- The red box ships on Friday.
- Carla writes the manual until May.
- The budget is 500 Euros.
"""


def _issue(quote: str, problem: str, suggestion: str, line: str) -> Json:
    return {
        "category": "number",
        "severity": "major",
        "quote": quote,
        "problem": problem,
        "suggestion": suggestion,
        "evidence": [line],
    }


ISSUES = [
    _issue("The red box", "It is the blue box.", "The blue box", "T1"),
    _issue("until May", "Nobody said until when.", "", "T2"),
    _issue("500 Euros", "The budget is 900 Euros.", "900 Euros", "T3"),
]
EDITS = [
    {"find": "The red box", "replace": "The blue box", "resolves": ["I1"]},
    {"find": "500 Euros", "replace": "900 Euros", "resolves": ["I3"]},
]


def _copy(reply: Json) -> str:
    return f"Answer with exactly this JSON and nothing else:\n{json.dumps(reply)}"


TOLD_PROMPTS: Json = {
    "review": "You check minutes. Answer with JSON.",
    "review_task": _copy({"items": ISSUES, "score": 60}),
    "refine": "You correct minutes. Answer with JSON.",
    "refine_task": _copy({"items": EDITS}),
}
TOLD_PROFILE: Json = {
    "name": "told",
    "model": "the-server-serves-what-it-has",
    "parameters": {"temperature": 0, "max_tokens": 400},
    "prompts": TOLD_PROMPTS,
}
OWN_PROFILE: Json = {
    "name": "own",
    "model": "smollm2",
    "parameters": {"temperature": 0.7, "max_tokens": 300},
    # The transcript and Redraft's prompt are longer than this model's context in one piece.
    "prompts": {"window_tokens": 2500},
}


def tiny() -> Json:
    """The body of a `POST /api/runs`."""
    return {
        "kind": "minutes",
        "title": "Weekly",
        "language": "en",
        "body": BODY,
        "sources": [{"name": "transcript", "media_type": "text/plain", "text": SOURCE}],
        "profile": TOLD_PROFILE["name"],
        "max_rounds": 2,
    }


def sample() -> Json:
    """The real meeting that `./redraft up` shows, with its planted errors."""
    return {**(KIND.sample() or {}), "profile": OWN_PROFILE["name"], "max_rounds": 2}
