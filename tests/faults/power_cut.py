"""Documents spread over all stages lose their worker in one moment, and go on from their items.

`await power_cut(stack, llm, heard, copies=1)`: eight documents, or so many times eight; raises
AssertionError where one does not come to its person or something stored is asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tests import sounds
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, Request, good_reviewer
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from tests.faults.asked import of_run
from tests.faults.kit import nothing_repaid, planted, stored, worker_seen
from tests.stack import TRANSCRIPT, Json, Stack, consistent, minutes

PARTS, HEARD = 4, 2
"""Of each recording; so many of them are heard before the cut."""
LONG = "\n".join(f"Ana: in line {n} we decided nothing and I will see to it?" for n in range(90))
_PATIENCE = 120.0


@dataclass(frozen=True, kw_only=True)
class Stands:
    """Where a document stands at the cut: so many items of the first reply of this step that a
    part gets are stored, in so many parts at once."""

    document: Json
    schema: str
    items: int
    parts: str = ""
    at_once: int = 1
    before: int = 0
    """Items that are stored already when it stops there."""


def documents(copies: int, kind: str) -> dict[str, Stands]:
    source = {"name": "t.txt", "media_type": "text/plain"}
    short = {"kind": kind, "sources": [{**source, "text": TRANSCRIPT}]}
    long = {"kind": kind, "profile": "windows", "sources": [{**source, "text": LONG}]}
    kinds = {
        "at once": Stands(document=short, schema="redraft_draft", items=2),
        "noting": Stands(document=long, schema="redraft_draft", items=3, parts="notes", at_once=3),
        "composing": Stands(document=long, schema="redraft_draft", items=4, parts="", before=3 * 5),
        "reviewed": Stands(document=minutes(errors=3, kind=kind), schema="redraft_review", items=1),
        "reviewing": Stands(
            document=minutes(errors=3, kind=kind), schema="redraft_review", items=2
        ),
        "refining": Stands(
            document=minutes(errors=3, kind=kind), schema="redraft_refine", items=1, before=3
        ),
    }
    return {f"{name} {copy}": one for copy in range(copies) for name, one in kinds.items()}


@dataclass(kw_only=True)
class Model:
    """Stops each document where it stands, until the cut."""

    stands: Mapping[str, Stands]
    cut: bool = False
    good: Callable[[Request], object] = field(
        default_factory=lambda: good_reviewer(errors=planted(3))
    )

    def __call__(self, request: Request) -> Reply:
        reply = self.good(request)
        assert isinstance(reply, Reply)
        titles = [t for t in self.stands if f'"title":"{t}"' in request.prompt.about]
        for title in () if self.cut else titles:
            one = self.stands[title]
            if request.schema == one.schema and request.part.partition(":")[0] == one.parts:
                return replace(reply, stall_after=Items(one.items))
        return reply

    def hears(self, copies: int) -> Callable[[Asked], Says]:
        def script(asked: Asked) -> Says:
            stalls = not self.cut and asked.number > HEARD * 2 * copies
            text = {"text": f"We ship box {asked.number}.", "duration": asked.seconds}
            return Says(body=text, wait=None if stalls else 0.0)

        return script


async def power_cut(
    stack: Stack, llm: FakeLLM, heard: FakeRecogniser, *, copies: int = 1, kind: str = "minutes"
) -> float:
    """On a stack with a worker and with `environment`; seconds from the restart to the last."""
    model = Model(stands=documents(copies, kind))
    llm.script(model)
    heard.script = model.hears(copies)
    await _profiles(stack, heard)
    runs = {
        f"recorded {n}": await _recorded(stack, f"recorded {n}", kind) for n in range(2 * copies)
    }
    for title, one in model.stands.items():
        runs[title] = await stack.create({**one.document, "title": title})
    for title, one in model.stands.items():
        await stored(stack, runs[title]["id"], one.before + one.items * one.at_once)
    await _parts_heard(stack, HEARD * 2 * copies)
    stack.kill(stack.workers[-1])
    model.cut = True
    asked = len(heard.asked)
    began = time.monotonic()
    await worker_seen(stack, stack.worker())
    for run in runs.values():
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)
    took = time.monotonic() - began
    for title, run in runs.items():
        await consistent(stack, run["id"])
        seen = of_run(llm, {**run, "title": title})
        if "profile" in (model.stands[title].document if title in model.stands else {}):
            # Requests of a review do not say which window they are of.
            seen.requests = [one for one in seen.requests if one.schema == "redraft_draft"]
        await nothing_repaid(stack, seen, run["id"])
    assert len(heard.asked) - asked == (PARTS - HEARD) * 2 * copies
    return took


async def _profiles(stack: Stack, heard: FakeRecogniser) -> None:
    speech = {"name": "speech", "model": "fake", "base_url": heard.base_url}
    windows = {"name": "windows", "model": "fake", "prompts": {"window_tokens": 800}}
    for profile in (speech, windows):
        code, answer = await stack.call("POST", "/api/profiles", profile)
        assert code == 201, answer


async def _recorded(stack: Stack, title: str, kind: str) -> Json:
    sound = sounds.wav([(2.3, True), (0.2, False)] * PARTS)
    answer = await stack.http.post(
        "/api/documents",
        data={"kind": kind, "title": title},
        files={"audio": ("talk.wav", sound, "audio/wav")},
    )
    assert answer.status_code == 201, answer.text
    path = f"/api/documents/{answer.json()['id']}/runs"
    code, run = await stack.call("POST", path, {})
    assert code == 201, run
    return dict(run)


async def _parts_heard(stack: Stack, count: int) -> None:
    async def enough() -> bool:
        [row] = await stack.sql(
            """
            SELECT count(*) AS done FROM step_parts p JOIN step_plans s ON s.id = p.plan_id
            WHERE s.name = 'transcribe' AND p.done_at IS NOT NULL
            """
        )
        return bool(row["done"] >= count)

    await eventually(enough, seconds=60, what=f"{count} parts heard")
