"""What the model is asked: a tiny meeting with the answers in the prompt, a piece of the sample.

So small a model finds nothing by itself. In the first it is shown what to answer and only has to
copy it, so that there are items to keep; the second is asked with Redraft's own prompts.

The whole sample is 5,000 tokens of transcript: on one core that others use too, this model reads 30
tokens a second and writes 3, so each of its dozens of calls took four minutes. The piece is what
was said about money, word for word, and what the sample's minutes say of it.
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
    "parameters": {"temperature": 0.7, "max_tokens": 160},
    # So small that the piece is cut into windows, as a long transcript is.
    "prompts": {"window_tokens": 500},
}
LIMITS: Json = {"max_calls": 24, "max_seconds": 1500}
"""Of each run: it ends or is stopped and asks, however slow the machine is."""
FIRST, LAST = 132, 172
"""Lines of the sample's transcript."""
HEADINGS = ("# Remote control project: kick-off meeting", "## Summary")
PARAGRAPH = "The Project Manager then presented the finances."


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
        "limits": LIMITS,
    }


def piece() -> Json:
    """Of the real meeting that `./redraft up` shows: its finances, with their planted errors."""
    whole = KIND.sample() or {}
    source, body = whole["sources"][0], str(whole["body"])
    lines = str(source["text"]).splitlines()[FIRST - 1 : LAST]
    told = next(line for line in body.splitlines() if line.startswith(PARAGRAPH))
    return {
        "kind": whole["kind"],
        "title": whole["title"],
        "language": whole["language"],
        "body": "\n\n".join([*HEADINGS, told]) + "\n",
        "sources": [{**source, "text": "\n".join(lines) + "\n"}],
        "profile": OWN_PROFILE["name"],
        "max_rounds": 2,
        "limits": LIMITS,
    }
