"""FakeLLM as an own process: `python -m tests.fake_llm --port N --script FILE --log FILE`.

SCRIPT is JSON, read again for each request, so a test may change it (write a new file, rename it):
  {"errors": [[wrong, right], …], "per_call": n, "days_per_call": n, "sections": [{…}],
   "pace": {fields of Reply for every answer},
   "replies": {"redraft_review": [{fields of Reply}, …]}}     n-th answer to that schema
What `replies` does not answer, a good reviewer does. Points are numbers of chunks, or {"items": n},
or {"chars": n}; `"fault": "rate_limited"` with `"arguments": {"retry_after": 2}` takes a reply of
`tests.fake_llm.errors`.

LOG gets one JSON line per event: {"event": "listening", "port"}, then "request" {n, t, schema,
part, authorization, body}, and "done", "gone", "cut" or "error" {n, t, schema, sent (characters),
input, output (tokens billed)}.
"""

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from tests.fake_llm import Chars, FakeLLM, Items, Reply, Request, errors, good_reviewer

POINTS = ("cut_after", "stall_after", "error_frame_after")
PLAYER = ("per_call", "days_per_call", "sections", "severity", "category", "pace")


def reply_of(fields: Mapping[str, Any]) -> Reply:
    """A Reply from its JSON form."""
    given = dict(fields)
    if "fault" in given:
        fault = getattr(errors, str(given["fault"]))
        made = fault(**given.get("arguments", {}))
        assert isinstance(made, Reply)
        return made
    for name in POINTS:
        point = given.get(name)
        if isinstance(point, dict):
            given[name] = Items(point["items"]) if "items" in point else Chars(point["chars"])
    return Reply(**given)


class ScriptFile:
    """A player that follows a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answered: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        script = json.loads(self._path.read_text("utf-8")) if self._path.exists() else {}
        planned = script.get("replies", {}).get(request.schema, [])
        count = self._answered[request.schema]
        self._answered[request.schema] += 1
        if count < len(planned):
            return reply_of(planned[count])
        options = {name: script[name] for name in PLAYER if name in script}
        pairs = [(wrong, right) for wrong, right in script.get("errors", [])]
        answer = good_reviewer(errors=pairs, **options)(request)
        assert isinstance(answer, Reply)
        return answer


def log_line(log: TextIO, event: str, request: Request) -> None:
    facts: dict[str, Any] = {"event": event, "n": request.number, "schema": request.schema}
    if event == "request":
        facts |= {
            "t": request.at,
            "part": request.part,
            "authorization": request.authorization,
            "body": request.body,
        }
    else:
        billed = request.billed
        facts |= {
            "t": request.gone_at or request.done_at or time.time(),
            "sent": len(request.sent),
            "input": billed.input,
            "output": billed.output,
        }
    log.write(json.dumps(facts) + "\n")


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_llm")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    given = parser.parse_args()
    with given.log.open("a", buffering=1, encoding="utf-8") as log:
        llm = FakeLLM(ScriptFile(given.script), port=given.port)
        llm.on_event = lambda event, request: log_line(log, event, request)
        async with llm:
            log.write(json.dumps({"event": "listening", "port": llm.port}) + "\n")
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
