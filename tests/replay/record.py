"""`python -m tests.replay.record`: runs one workflow to every kind of wait and stores its history.

Run it when a kind of wait was added, or a workflow's shape was released (then give the new
histories names of their own): what is stored is never replaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from temporalio.client import WorkflowExecutionStatus

from tests import sounds
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Reply, errors, good_reviewer
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack, minutes

HISTORIES = Path(__file__).parent / "histories"
Scene: TypeAlias = Callable[[Stack, FakeLLM], Awaitable[None]]


async def store(stack: Stack, run_id: str, name: str) -> None:
    history = await stack.workflow(run_id).fetch_history()
    file = HISTORIES / f"{name}.json"
    if not file.exists():
        file.write_text(history.to_json(), encoding="utf-8")


async def until_ended(stack: Stack, run_id: str) -> None:
    async def ended() -> bool:
        described = await stack.workflow(run_id).describe()
        return bool(described.status != WorkflowExecutionStatus.RUNNING)

    await eventually(ended, seconds=60, what="the workflow's end")


async def finished(stack: Stack, llm: FakeLLM) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await store(stack, run["id"], "waiting_for_a_person")
    revision = {"revision": run["offered_revision"]}
    await stack.call("POST", f"/api/runs/{run['id']}/confirm", revision)
    await until_ended(stack, run["id"])
    await store(stack, run["id"], "confirmed")


async def stopped(stack: Stack, llm: FakeLLM) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1)
    await store(stack, run["id"], "mid_round")
    await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
    await llm.wait_gone(1)
    llm.script(good_reviewer())
    await stack.call("POST", f"/api/runs/{run['id']}/resume", {})
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await store(stack, run["id"], "interrupted_and_resumed")


async def by_hand(stack: Stack, llm: FakeLLM) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1)
    handle = stack.workflow(run["id"])
    await handle.signal("interrupt")
    await stack.until(run["id"], "INTERRUPTED")
    await handle.signal("resume")
    await stack.until(run["id"], "RUNNING")
    await llm.wait_requests(2)
    await store(stack, run["id"], "by_hand")
    await handle.cancel()
    await until_ended(stack, run["id"])
    await store(stack, run["id"], "cancelled")


async def retried(stack: Stack, llm: FakeLLM) -> None:
    llm.script(good_reviewer())
    llm.queue(errors.server_error(), errors.server_error())
    run = await stack.create(minutes(errors=0))
    await llm.wait_requests(2)
    await store(stack, run["id"], "waiting_for_a_retry")
    await stack.until(run["id"], "AWAITING_CONFIRMATION")


async def taken_over(stack: Stack, llm: FakeLLM) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1)
    stack.kill(stack.workers[-1])
    llm.script(good_reviewer())
    stack.worker()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await store(stack, run["id"], "taken_over")


async def parked(stack: Stack, llm: FakeLLM) -> None:
    """A person takes longer than the workflow waits; a later answer finds only the row."""
    run = await stack.create(minutes(errors=0))
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await until_ended(stack, run["id"])
    await store(stack, run["id"], "parked")


async def told(stack: Stack, llm: FakeLLM) -> None:
    """No load stands between two rounds: the first one's activity says how it left the row."""
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    run = await stack.create()
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await store(stack, run["id"], "row_told")


async def interrupted(stack: Stack, llm: FakeLLM) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1)
    await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
    await llm.wait_gone(1)

    async def waits() -> bool:
        progress = await stack.workflow(run["id"]).query("progress")
        return bool(progress["status"] == "INTERRUPTED")

    await eventually(waits, what="the wait of an interrupted run")
    await store(stack, run["id"], "interrupted")


async def recorded(stack: Stack, llm: FakeLLM) -> None:
    """A recording is heard, interrupted, heard on, drafted and reviewed."""
    llm.script(good_reviewer())
    stands = True

    def says(asked: Asked) -> Says:
        wait = None if stands and asked.number > 1 else 0.0
        return Says(body={"text": "We ship the blue box on Friday."}, wait=wait)

    async with FakeRecogniser(says) as heard:
        speech = {"name": "speech", "model": "fake", "base_url": heard.base_url}
        await stack.call("POST", "/api/profiles", speech)
        audio = {"audio": ("talk.wav", sounds.wav([(2.3, True), (0.2, False)] * 3), "audio/wav")}
        given = {"kind": "minutes", "title": "Weekly"}
        document = (await stack.http.post("/api/documents", data=given, files=audio)).json()
        _, run = await stack.call("POST", f"/api/documents/{document['id']}/runs", {})

        async def one_stands() -> bool:
            return len(heard.asked) > 1

        await eventually(one_stands, seconds=60, what="a request that stands still")
        await store(stack, run["id"], "mid_transcription")
        await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
        async with asyncio.timeout(30):
            await heard.gone.wait()
        stands = False
        await stack.call("POST", f"/api/runs/{run['id']}/resume", {})
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
        await store(stack, run["id"], "from_a_recording")


SCENES: dict[Scene, tuple[str, ...]] = {
    finished: ("waiting_for_a_person", "confirmed"),
    stopped: ("mid_round", "interrupted_and_resumed"),
    interrupted: ("interrupted",),
    by_hand: ("by_hand", "cancelled"),
    retried: ("waiting_for_a_retry",),
    taken_over: ("taken_over",),
    parked: ("parked",),
    told: ("row_told",),
    recorded: ("mid_transcription", "from_a_recording"),
}
MORE: dict[Scene, Callable[[Stack], dict[str, str]]] = {
    parked: lambda _: {"REDRAFT_PARKING_SECONDS": "5"},
    recorded: lambda stack: {
        "REDRAFT_BLOB_URL": stack.folder.as_uri(),
        "REDRAFT_SPEECH_PART_SECONDS": "3",
    },
}
"""Settings that a scene needs."""


def missing() -> list[Scene]:
    there = {file.stem for file in HISTORIES.glob("*.json")}
    return [scene for scene, names in SCENES.items() if not there.issuperset(names)]


async def main() -> None:
    HISTORIES.mkdir(exist_ok=True)
    postgres, temporal = PostgresServer(), TemporalServer()
    try:
        postgres.make()
        postgres.start()
        temporal.start()
        await postgres.ready()
        await postgres.make_template()
        client = await temporal.ready()
        for scene in missing():
            async with FakeLLM() as llm:
                stack = Stack(postgres, temporal, client, llm.base_url)
                stack.more |= MORE[scene](stack) if scene in MORE else {}
                await stack.start()
                try:
                    await scene(stack, llm)
                finally:
                    await stack.stop()
    finally:
        temporal.remove()
        postgres.remove()


if __name__ == "__main__":
    asyncio.run(main())
