"""Commands at once: one takes effect, the others say why not, and no status goes backwards (issue
4.1f). More of them are in `test_moves`, `test_deletion` and `tests/workflow/test_races`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from activities import record
from tests.api.harness import MINUTES, Answered, Api, serving, settings_for, with_profile
from tests.conftest import StartStack
from tests.faults.relay import COMMIT, Relay
from tests.services import PostgresServer
from workflows.transitions import allowed
from workflows.vocabulary import EventType, Reason, RunStatus

STOPPABLE = (
    RunStatus.RUNNING,
    RunStatus.INTERRUPTED,
    RunStatus.FAILED,
    RunStatus.AWAITING_CONFIRMATION,
)


def path_of(events: Sequence[dict[str, Any]]) -> list[RunStatus]:
    """The statuses a run went through; each move begins where the last one led."""
    statuses = [RunStatus.RUNNING]
    for event in events:
        if "to" in event:
            assert event["from"] == statuses[-1], events
            assert allowed(RunStatus(event["from"]), RunStatus(event["to"])), events
            statuses.append(RunStatus(event["to"]))
    return statuses


async def one_wins(api: Api, run: dict[str, Any], answers: Sequence[Answered]) -> Answered | None:
    """At most one 2xx, all others 409 with the run; the events are one legal path."""
    won = [answer for answer in answers if answer.status < 300]
    lost = [answer for answer in answers if answer.status >= 300]
    assert len(won) <= 1, answers
    assert {answer.status for answer in lost} <= {409}, answers
    for answer in lost:
        assert answer.code in ("status_changed", "final_status", "run_active"), answer
        assert answer.json["run"]["document_id"] == run["document_id"]
    path_of(await api.events(run["id"]))
    return won[0] if won else None


async def offer(api: Api, run_id: str) -> bool:
    """The engine's last move, by the epoch its work was started under; whether it was made."""
    async with api.pool.acquire() as connection, connection.transaction():
        await record.lock_run(connection, run_id)
        wanted = record.Move(
            event=EventType.RUN_AWAITING_CONFIRMATION,
            actor="worker",
            from_=RunStatus.RUNNING,
            epoch=1,
            reason=Reason.PASSED,
        )
        return await record.move(connection, run_id, wanted) is not None


@pytest.mark.rule("conditional_update")
async def test_of_twenty_interrupts_and_the_finishing_write_one_wins(api: Api) -> None:
    """Every other time the write comes after the first answer, among the interrupts that follow."""
    moments = random.Random(20)
    for trial in range(6):
        run = await api.run()
        place, answered = f"/api/runs/{run['id']}", asyncio.Event()

        async def interrupt(
            delay: float, place: str = place, answered: asyncio.Event = answered
        ) -> Answered:
            await asyncio.sleep(delay)
            answer = await api.post(f"{place}/interrupt")
            answered.set()
            return answer

        async def finish(
            late: bool, run_id: str = run["id"], answered: asyncio.Event = answered
        ) -> bool:
            if late:
                await answered.wait()
            return await offer(api, run_id)

        finishing = asyncio.create_task(finish(trial % 2 == 1))
        delays = [moments.uniform(0.0, 0.02) for _ in range(20)]
        answers = await asyncio.gather(*(interrupt(delay) for delay in delays))
        finished = await finishing
        won = await one_wins(api, run, answers)
        assert (won is None) == finished
        expected = RunStatus.AWAITING_CONFIRMATION if finished else RunStatus.INTERRUPTED
        assert (await api.get(place)).json["status"] == expected
        assert path_of(await api.events(run["id"])) == [RunStatus.RUNNING, expected]
        await api.call("DELETE", f"/api/documents/{run['document_id']}")


async def test_of_a_resume_and_a_start_of_the_same_document_one_wins(api: Api) -> None:
    for _ in range(3):
        failed = await api.failed_run()
        document = f"/api/documents/{failed['document_id']}"
        answers = await asyncio.gather(
            *(api.post(f"/api/runs/{failed['id']}/resume") for _ in range(5)),
            *(api.post(f"{document}/runs") for _ in range(5)),
        )
        assert await one_wins(api, failed, answers) is not None
        active = await api.pool.fetchval(
            "SELECT count(*) FROM runs WHERE document_id = $1 AND status = 'RUNNING'",
            failed["document_id"],
        )
        assert active == 1


@pytest.mark.rule("confirm_names_revision")
async def test_of_a_confirmation_and_an_edit_the_second_hears_of_the_first(api: Api) -> None:
    for _ in range(4):
        run = await api.waiting_run()
        edit = {"base_revision": 1, "body": "# Hers\n"}
        confirmed, edited = await asyncio.gather(
            api.post(f"/api/runs/{run['id']}/confirm", {"revision": 1}),
            api.post(f"/api/documents/{run['document_id']}/revisions", edit),
        )
        assert edited.status == 201
        now = (await api.get(f"/api/runs/{run['id']}")).json
        if confirmed.status == 200:  # the text she wrote stands beside what was confirmed
            assert (now["status"], now["offered_revision"]) == ("CONFIRMED", 1)
            types = await api.types(run["id"])
            assert "revision_created" not in types[: types.index("run_confirmed")]
        else:
            assert (confirmed.status, confirmed.code) == (409, "offered_revision_changed")
            assert (now["status"], now["offered_revision"]) == ("AWAITING_CONFIRMATION", 2)


async def test_of_confirmations_and_reworks_one_wins(api: Api) -> None:
    for _ in range(6):
        run = await api.waiting_run()
        place = f"/api/runs/{run['id']}"
        answers = await asyncio.gather(
            *(api.post(f"{place}/confirm", {"revision": 1}) for _ in range(3)),
            *(api.post(f"{place}/rework", {"comments": [{"text": "again"}]}) for _ in range(3)),
        )
        won = await one_wins(api, run, answers)
        assert won is not None
        now = (await api.get(place)).json
        assert now["status"] == won.json["status"]
        comments = await api.pool.fetchval(
            "SELECT count(*) FROM comments WHERE run_id = $1", run["id"]
        )
        assert comments == (now["status"] == "RUNNING"), "a refused rework leaves nothing"


@pytest.mark.parametrize("status", STOPPABLE)
async def test_deletion_against_every_command_leaves_nothing(api: Api, status: RunStatus) -> None:
    """2xx before it, 404 after it, 409 where the command does not fit; never a fault of ours."""
    shuffle = random.Random(status)
    for _ in range(3):
        run = await api.run_in(status)
        document, place = f"/api/documents/{run['document_id']}", f"/api/runs/{run['id']}"
        commands = [
            api.post(f"{place}/interrupt"),
            api.post(f"{place}/resume"),
            api.post(f"{place}/resume", {"body": "# B\n"}),
            api.post(f"{place}/confirm", {"revision": 1}),
            api.post(f"{place}/confirm", {"revision": 1, "body": "# C\n"}),
            api.post(f"{place}/reject"),
            api.post(f"{place}/rework", {"extra_rounds": 1}),
            api.post("/api/runs/bulk", {"action": "cancel", "ids": [run["id"]]}),
            api.post(f"{place}/cancel"),
            api.post(f"{place}/fork", {"revision": 0}),
            api.post(f"{document}/runs"),
            api.post(f"{document}/revisions", {"base_revision": 0, "body": "# A\n"}),
            api.call("PATCH", document, {"title": "Other"}),
        ]
        shuffle.shuffle(commands)
        half = len(commands) // 2
        answers = await asyncio.gather(
            *commands[:half],
            api.call("DELETE", document),
            *commands[half:],
            api.call("DELETE", document),
        )
        deletions = [answers[half], answers[-1]]
        assert sorted(answer.status for answer in deletions) == [204, 404]
        assert {answer.status for answer in answers} <= {200, 201, 202, 204, 404, 409}, answers
        left = await api.pool.fetchval(
            "SELECT count(*) FROM runs WHERE document_id = $1", run["document_id"]
        )
        assert left == 0
        assert (await api.get(document)).status == (await api.get(place)).status == 404


@pytest_asyncio.fixture
async def lossy(postgres: PostgresServer) -> AsyncIterator[tuple[Api, Relay]]:
    """An API whose database can lose an answer."""
    url = await postgres.clone()
    async with Relay(postgres.port) as relay:
        through = url.replace(f":{postgres.port}/", f":{relay.port}/")
        async with serving(settings_for(through)) as served:
            yield await with_profile(served), relay
    await postgres.drop(url)


async def test_a_command_whose_commit_lost_its_answer_is_done_once_under_its_key(
    lossy: tuple[Api, Relay],
) -> None:
    api, relay = lossy
    run: dict[str, Any] = {}
    for name, path, body in (
        ("run_created", "/api/runs", MINUTES),
        ("run_interrupted", "/api/runs/{id}/interrupt", {"reason": "look"}),
        ("run_resumed", "/api/runs/{id}/resume", {"body": "# Mine\n"}),
        ("run_cancelled", "/api/runs/{id}/cancel", {}),
    ):
        place = path.format_map(run)
        lost = relay.lose_answer(COMMIT)
        first = await api.post(place, body, idempotency_key="k")
        assert lost.is_set()
        assert first.status == 503, (name, first)
        again = await api.post(place, body, idempotency_key="k")
        assert again.status in (201, 202), again
        assert again.headers["idempotent-replay"] == "true"
        run = run or again.json
        assert (await api.types(run["id"])).count(name) == 1
    assert await api.pool.fetchval("SELECT count(*) FROM runs") == 1
    assert await api.pool.fetchval("SELECT count(*) FROM revisions WHERE author = 'local'") == 2


@pytest.mark.timeout(240)
async def test_an_api_killed_between_commit_and_answer_is_asked_again_in_vain(
    start_stack: StartStack, postgres: PostgresServer
) -> None:
    """kill -9 while the answer of a commit is on its way; the same key finds what was done."""
    async with Relay(postgres.port) as relay:
        stack = await start_stack(workers=0, api=False)
        through = stack.url.replace(f":{postgres.port}/", f":{relay.port}/")
        stack.more["REDRAFT_DATABASE_URL"] = through
        dying = stack.api()
        await stack.until_ready()
        run = await stack.create()
        for command, seq in (("interrupt", 2), ("resume", 3)):
            lost = relay.lose_answer(COMMIT)
            place, key = f"/api/runs/{run['id']}/{command}", {"Idempotency-Key": command}
            asking = asyncio.create_task(stack.call("POST", place, {}, key))
            await asyncio.wait_for(lost.wait(), 30)
            stack.kill(dying)
            await asyncio.gather(asking, return_exceptions=True)
            dying = stack.api()
            await stack.until_ready()
            code, again = await stack.call("POST", place, {}, key)
            assert (code, again["event_seq"]) == (202, seq)
        types = [event["type"] for event in await stack.events(run["id"])]
        assert types == ["run_created", "run_interrupted", "run_resumed"]
