"""Documents spread over all stages lose every process in one moment, and go on from their items.

`await power_cut(mortals, heard, documents=8)`: API, worker, Temporal and Postgres die; raises
AssertionError where a document does not come to its person, stages do not go in their order, or
something stored is asked for again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import cycle, islice

from temporalio.api.enums.v1 import PendingActivityState

from tests import sounds
from tests.eventually import eventually
from tests.fake_llm import Items, Reply, Request, good_reviewer
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from tests.faults.asked import of_run
from tests.faults.everything import EVERYTHING, Mortals
from tests.faults.kit import nothing_repaid, planted, stored
from tests.stack import TRANSCRIPT, Json, Stack, consistent, minutes

PARTS, HEARD = 4, 2
"""Of each recording; so many of them, on the average, are heard before the cut."""
LONG = "\n".join(f"Ana: in line {n} we decided nothing and I will see to it?" for n in range(90))
ONE_AT_A_TIME = {"REDRAFT_WORKER_SLOTS": "1"}
"""Of drafts and rounds: whoever is served next was the first in the queue."""
_PATIENCE = 120.0
_QUEUED = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED


@dataclass(frozen=True, kw_only=True)
class Stands:
    """Where a document stands at the cut: so many items of the first reply of this step that a
    part gets are stored, in so many parts at once. Without a step it waits for its person."""

    document: Json
    schema: str = ""
    items: int = 0
    parts: str = ""
    at_once: int = 1
    before: int = 0
    """Items that are stored already when it stops there."""


RECORDED = Stands(document={})
"""A recording; half of all their parts are heard."""


def places(kind: str) -> Iterator[tuple[str, Stands]]:
    """Names and places without end, each stage in its turn."""
    source = {"name": "t.txt", "media_type": "text/plain"}
    short = {"kind": kind, "sources": [{**source, "text": TRANSCRIPT}]}
    long = {"kind": kind, "profile": "windows", "sources": [{**source, "text": LONG}]}
    wrong = minutes(errors=3, kind=kind)
    turns = cycle(
        {
            "recorded": RECORDED,
            "at once": Stands(document=short, schema="redraft_draft", items=2),
            "noting": Stands(
                document=long, schema="redraft_draft", items=3, parts="notes", at_once=3
            ),
            "composing": Stands(document=long, schema="redraft_draft", items=4, before=3 * 5),
            "also recorded": RECORDED,
            "reviewing": Stands(document=wrong, schema="redraft_review", items=2),
            "refining": Stands(document=wrong, schema="redraft_refine", items=1, before=3),
            "waiting": Stands(document=minutes(errors=0, kind=kind)),
        }.items()
    )
    return ((f"{name} {number}", one) for number, (name, one) in enumerate(turns))


@dataclass(kw_only=True)
class Model:
    """Stops each document where it stands, until the cut; then answers nobody until `goes_on`."""

    stands: dict[str, Stands]
    cut: bool = False
    goes_on: bool = False
    good: Callable[[Request], object] = field(
        default_factory=lambda: good_reviewer(errors=planted(3))
    )

    @property
    def recordings(self) -> int:
        return sum(one is RECORDED for one in self.stands.values())

    def __call__(self, request: Request) -> Reply:
        reply = self.good(request)
        assert isinstance(reply, Reply)
        if self.cut:
            return reply if self.goes_on else replace(reply, hang=True)
        for title in (t for t in self.stands if f'"title":"{t}"' in request.prompt.about):
            one = self.stands[title]
            if one is RECORDED:  # heard whole before another of them was: it goes no further
                return replace(reply, hang=True)
            if request.schema == one.schema and request.part.partition(":")[0] == one.parts:
                return replace(reply, stall_after=Items(one.items))
        return reply

    def hears(self, asked: Asked) -> Says:
        stalls = not self.cut and asked.number > HEARD * self.recordings
        text = {"text": f"We ship box {asked.number}.", "duration": asked.seconds}
        return Says(body=text, wait=None if stalls else 0.0)


async def power_cut(
    mortals: Mortals,
    heard: FakeRecogniser,
    *,
    documents: int = 8,
    kind: str = "minutes",
    template: str = "general",
    meanwhile: Callable[[], object] = lambda: None,
) -> float:
    """On a stack with one worker; seconds from the cut until the last document is there. Recordings
    become minutes by that template; `meanwhile` is done while nothing lives."""
    stack, llm = mortals.stack, mortals.llm
    model = Model(stands=dict(islice(places(kind), documents)))
    llm.script(model)
    heard.script = model.hears
    await _profiles(stack, heard)
    recorded = {"kind": kind, "attributes": json.dumps({"template": template})}
    runs = {title: await _begin(stack, title, one, recorded) for title, one in model.stands.items()}
    await _all_stand(stack, model, runs)
    began, model.cut = time.monotonic(), True
    mortals.kill(EVERYTHING)
    cut_at = datetime.now(UTC)  # what is sent already may reach the recogniser later than this
    meanwhile()
    await mortals.restart(EVERYTHING, **ONE_AT_A_TIME)
    await _all_wait_their_turn(stack, model, runs)
    model.goes_on = True
    llm.release()
    for run in runs.values():
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)
    took = time.monotonic() - began
    await _in_stage_order(stack)
    for title, run in runs.items():
        await consistent(stack, run["id"])
        seen = of_run(llm, {**run, "title": title})
        if model.stands[title].document.get("profile"):
            # Requests of a review do not say which window they are of.
            seen.requests = [one for one in seen.requests if one.schema == "redraft_draft"]
        await nothing_repaid(stack, seen, run["id"])
    heard_then = await _heard_since(stack, cut_at)
    assert len(heard_then) == (PARTS - HEARD) * model.recordings, heard_then
    return took


async def _heard_since(stack: Stack, moment: datetime) -> list[tuple[object, ...]]:
    """Calls of recognisers: run, part, number in it, status, why it ended."""
    rows = await stack.sql(
        """
        SELECT run_id, part, number, status, end_cause FROM model_calls
        WHERE step_name = 'transcribe' AND started_at > $1 ORDER BY started_at
        """,
        moment,
    )
    return [tuple(row.values()) for row in rows]


async def _profiles(stack: Stack, heard: FakeRecogniser) -> None:
    speech = {"name": "speech", "model": "fake", "base_url": heard.base_url}
    windows = {"name": "windows", "model": "fake", "prompts": {"window_tokens": 800}}
    for profile in (speech, windows):
        code, answer = await stack.call("POST", "/api/profiles", profile)
        assert code == 201, answer


async def _begin(stack: Stack, title: str, one: Stands, recorded: Json) -> Json:
    if one is not RECORDED:
        return await stack.create({**one.document, "title": title})
    sound = sounds.wav([(2.3, True), (0.2, False)] * PARTS)
    answer = await stack.http.post(
        "/api/documents",
        data={**recorded, "title": title},
        files={"audio": ("talk.wav", sound, "audio/wav")},
    )
    assert answer.status_code == 201, answer.text
    path = f"/api/documents/{answer.json()['id']}/runs"
    code, run = await stack.call("POST", path, {})
    assert code == 201, run
    return dict(run)


async def _all_stand(stack: Stack, model: Model, runs: dict[str, Json]) -> None:
    for title, one in model.stands.items():
        if one.schema:
            await stored(stack, runs[title]["id"], one.before + one.items * one.at_once)
        elif one is not RECORDED:
            await stack.until(runs[title]["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)

    recorded = [runs[title]["id"] for title, one in model.stands.items() if one is RECORDED]

    async def enough() -> bool:
        [row] = await stack.sql(
            """
            SELECT count(*) AS done FROM step_parts p JOIN step_plans s ON s.id = p.plan_id
            WHERE s.name = 'transcribe' AND p.done_at IS NOT NULL AND s.run_id = ANY ($1::uuid[])
            """,
            recorded,
        )
        return bool(row["done"] == HEARD * model.recordings)

    await eventually(enough, seconds=60, what="half of the parts heard")


async def _all_wait_their_turn(stack: Stack, model: Model, runs: dict[str, Json]) -> None:
    """Every recording is heard, which waits for no model; one document holds the only slot for
    drafts and rounds, and Temporal has all others in its queue."""
    at_work = [run for title, run in runs.items() if not title.startswith("waiting")]

    async def queued() -> bool:
        [row] = await stack.sql(
            "SELECT count(*) AS left FROM runs WHERE unheard_source IS NOT NULL"
        )
        assert row["left"] == 0, f"{row['left']} recordings are not heard"
        states = [await _pending(stack, run) for run in at_work]
        assert sum(_QUEUED in of for of in states) >= len(at_work) - 1, states
        return True

    await eventually(queued, seconds=_PATIENCE, what="a queue of all documents but one")


async def _pending(stack: Stack, run: Json) -> list[int]:
    """States of the activities: beside the one that waits may stand that of the dead worker, which
    is told to end and never will."""
    described = await stack.workflow(run["id"]).describe()
    return [one.state for one in described.raw_description.pending_activities]


async def _in_stage_order(stack: Stack) -> None:
    """Behind the one that held the slot: drafts, those of the recordings too, before checks."""
    rows = await stack.sql(
        """
        SELECT first.name FROM runs r, LATERAL (
            SELECT s.name, s.started_at FROM steps s
            WHERE s.run_id = r.id AND s.worker = (SELECT id FROM workers) AND s.name <> 'transcribe'
            ORDER BY s.seq LIMIT 1) first
        ORDER BY first.started_at
        """
    )
    order = [row["name"] == "draft" for row in rows[1:]]
    assert order == sorted(order, reverse=True), [row["name"] for row in rows]
