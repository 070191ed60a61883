"""Live streams over real sockets: nothing lost, nothing twice, resumable, ended when it is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import httpx2
import pytest_asyncio

from api.feed import Feed, Subscriber, decode_positions, encode_positions
from deploy.database import new_id
from tests import read_rows as rows
from tests.api.harness import settings_for
from tests.api.streams import Frame, Served, frames, serving_on_a_port
from tests.eventually import eventually
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="module")
async def served(postgres: PostgresServer) -> AsyncIterator[Served]:
    """One server for the module: every test has its own runs."""
    url = await postgres.clone()
    async with serving_on_a_port(settings_for(url, REDRAFT_DATABASE_POOL_SIZE=4)) as served:
        yield served
    await postgres.drop(url)


async def cancelled_run(served: Served, events: int) -> str:
    run_id = await rows.add_ended_run(served.pool, "CANCELLED")
    await rows.add_events(served.pool, run_id, events)
    return run_id


async def next_frame(response: httpx2.Response, event: str | None = None) -> Frame:
    """The next frame (of that type); the iterator goes on where it stopped."""
    if not hasattr(response, "frames"):
        response.frames = frames(response)  # type: ignore[attr-defined]
    async with asyncio.timeout(10):
        async for frame in response.frames:  # type: ignore[attr-defined]
            if event is None or frame.event == event:
                assert isinstance(frame, Frame)
                return frame
    raise AssertionError("the stream ended")


async def test_a_final_run_is_sent_whole_then_ended_and_closed(served: Served) -> None:
    run_id = await cancelled_run(served, 1203)  # more than two batches
    found = await served.whole(f"/api/runs/{run_id}/events")
    assert [frame.id for frame in found[:-1]] == [str(n) for n in range(1, 1204)]
    assert found[-1] == Frame(id=None, event="end", data={"status": "CANCELLED"})
    first = found[0].data
    assert (found[0].event, first["seq"], first["type"], first["n"]) == (
        "progress",
        1,
        "progress",
        1,
    )
    assert first["actor"] == "worker"
    assert first["at"].endswith("Z")


async def test_a_stream_begins_behind_the_larger_of_header_and_query(served: Served) -> None:
    path = f"/api/runs/{await cancelled_run(served, 9)}/events"

    async def ids(after: str, last_id: str | None) -> list[int]:
        return [int(f.id) for f in await served.whole(path + after, last_id) if f.id]

    assert await ids("", "3") == [4, 5, 6, 7, 8, 9]
    assert await ids("?after=7", "3") == [8, 9]
    assert await ids("?after=3", "7") == [8, 9]
    assert await ids("?after=", "") == list(range(1, 10))


async def test_a_reconnect_to_a_final_run_with_nothing_left_is_204(served: Served) -> None:
    path = f"/api/runs/{await cancelled_run(served, 2)}/events"
    assert (await served.get(path, "2")).status_code == 204
    assert (await served.get(path + "?after=2")).status_code == 204


async def test_a_place_that_cannot_be_is_400_and_an_unknown_run_404(served: Served) -> None:
    path = f"/api/runs/{await cancelled_run(served, 2)}/events"
    for last_id in ("x", "-1", "1.5", "0x1", "9" * 30):
        answer = await served.get(path, last_id)
        assert answer.status_code == 400, last_id
        assert answer.json()["code"] == "invalid_cursor"
        assert answer.json()["errors"][0]["pointer"] == "/Last-Event-ID"
    for after in ("x", "3", "99", "-1"):
        answer = await served.get(f"{path}?after={after}")
        assert answer.status_code == 400, after
        assert answer.headers["content-type"] == "application/problem+json"
    for run_id in (new_id(), "x"):
        assert (await served.get(f"/api/runs/{run_id}/events")).status_code == 404


async def test_a_last_event_id_from_the_future_is_reset_to_where_the_run_stands(
    served: Served,
) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id, 2)
    async with served.stream(f"/api/runs/{run_id}/events", "40") as response:
        reset = Frame(id=None, event="reset", data={"event_seq": 2})
        assert await next_frame(response) == reset
        await rows.add_events(served.pool, run_id)
        assert (await next_frame(response)).id == "3"


async def test_a_new_event_arrives_at_once_and_no_proxy_may_hold_it_back(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id)
    async with served.stream(f"/api/runs/{run_id}/events", accept_encoding="gzip") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        assert "no-cache" in response.headers["cache-control"]
        assert "content-encoding" not in response.headers
        assert (await next_frame(response)).id == "1"
        await rows.add_events(served.pool, run_id)
        began = time.monotonic()
        assert (await next_frame(response)).id == "2"
        assert time.monotonic() - began < 2


async def test_a_cancelled_run_is_not_over_while_a_step_or_a_call_is_open(served: Served) -> None:
    run_id = await cancelled_run(served, 1)
    step = await rows.add_step(served.pool, run_id)
    call_id = await rows.add_call(served.pool, run_id, step)
    closed = "ended_at = now(), status ="
    async with served.stream(f"/api/runs/{run_id}/events", "1") as response:
        assert response.status_code == 200
        await served.pool.execute(
            f"UPDATE steps SET {closed} 'FAILED', reason_code = 'interrupted' WHERE id = $1",  # noqa: S608
            step[0],
        )
        await rows.add_events(served.pool, run_id)
        assert (await next_frame(response)).id == "2"
        await rows.add_events(served.pool, run_id)
        assert (await next_frame(response)).id == "3"
        await served.pool.execute(
            f"UPDATE model_calls SET {closed} 'CANCELLED' WHERE id = $1",  # noqa: S608
            call_id,
        )
        assert (await next_frame(response)).event == "end"


async def test_live_text_comes_in_pieces_that_join_and_whole_to_who_comes_later(
    served: Served,
) -> None:
    run_id = await rows.add_run(served.pool)
    step = await rows.add_step(served.pool, run_id)
    call_id = await rows.add_call(
        served.pool, run_id, step, partial_text="周四 on", partial_length=5
    )
    path = f"/api/runs/{run_id}/events"
    async with served.stream(path) as response:
        first = await next_frame(response, "partial")
        assert (first.id, first.data) == (
            None,
            {"call_id": call_id, "offset": 0, "text": "周四 on"},
        )
        await served.pool.execute(
            "UPDATE model_calls SET partial_text = '周四 on time', partial_length = 10"
        )
        second = await next_frame(response, "partial")
        assert second.data == {"call_id": call_id, "offset": 5, "text": " time"}
        async with served.stream(path) as late:
            whole = await next_frame(late, "partial")
            assert (whole.data["offset"], whole.data["text"]) == (0, "周四 on time")


async def test_live_text_of_parts_side_by_side_comes_under_the_call_it_belongs_to(
    served: Served,
) -> None:
    run_id = await rows.add_run(served.pool)
    step = await rows.add_step(served.pool, run_id)
    calls = {
        part: await rows.add_call(
            served.pool, run_id, step, part=part, partial_text=part, partial_length=len(part)
        )
        for part in ("facts:1", "facts:2", "invented")
    }
    async with served.stream(f"/api/runs/{run_id}/events") as response:
        for more in ("", " and more"):
            told = [(await next_frame(response, "partial")).data for _ in calls]
            assert sorted((frame["call_id"], frame["offset"], frame["text"]) for frame in told) == (
                sorted(
                    (call, len(part) if more else 0, more or part) for part, call in calls.items()
                )
            )
            await served.pool.execute(
                "UPDATE model_calls SET partial_text = part || ' and more', "
                "partial_length = length(part) + 9 WHERE run_id = $1",
                run_id,
            )


async def test_a_deleted_run_closes_its_stream_without_an_end(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id)
    async with served.stream(f"/api/runs/{run_id}/events") as response:
        assert (await next_frame(response)).id == "1"
        await served.pool.execute(
            "DELETE FROM documents WHERE id = (SELECT document_id FROM runs WHERE id = $1)", run_id
        )
        async with asyncio.timeout(5):
            rest = [frame async for frame in response.frames]  # type: ignore[attr-defined]
        assert rest == []


async def test_one_stream_for_many_runs_resumes_by_its_last_id(served: Served) -> None:
    over = await cancelled_run(served, 2)
    live = await rows.add_run(served.pool)
    await rows.add_events(served.pool, live, 2)
    path = f"/api/events?runs={over},{live},{new_id()}"
    async with served.stream(path) as response:
        seen = [await next_frame(response) for _ in range(5)]
        last_id = [frame.id for frame in seen if frame.id][-1]
    assert sorted((f.data["run_id"], f.data["seq"]) for f in seen if f.id) == sorted(
        [(over, 1), (over, 2), (live, 1), (live, 2)]
    )
    assert [f.data for f in seen if f.id is None] == [{"run_id": over, "status": "CANCELLED"}]
    await rows.add_events(served.pool, live)
    async with served.stream(path, last_id) as response:
        found = [await next_frame(response) for _ in range(2)]
    assert {(f.event, f.data["run_id"]) for f in found} == {("end", over), ("progress", live)}
    assert [f.data["seq"] for f in found if f.id] == [3]
    async with served.stream(f"/api/events?runs={live}:2") as response:
        assert (await next_frame(response)).data["seq"] == 3
    async with served.stream(f"/api/events?runs={live}:9") as response:
        assert (await next_frame(response)).data == {"run_id": live, "event_seq": 3}


async def test_a_stream_for_many_runs_refuses_what_it_cannot_read(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    for query in ("", "?runs=", "?runs=x", "?runs=" + ",".join(new_id() for _ in range(101))):
        answer = await served.get(f"/api/events{query}")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), query
    for last_id in ("5", "zz", f"{run_id}.1"):
        assert (await served.get(f"/api/events?runs={run_id}", last_id)).status_code == 400
    assert (await served.get(f"/api/events?runs={new_id()}")).status_code == 404


async def test_events_are_a_page_of_json_for_who_asks_for_it(served: Served) -> None:
    run_id = await cancelled_run(served, 3)
    path = f"/api/runs/{run_id}/events"
    page = (await served.get(f"{path}?after=1&limit=1", accept="application/json")).json()
    assert [event["seq"] for event in page["items"]] == [2]
    rest = await served.get(f"{path}?cursor={page['next_cursor']}", accept="application/json")
    assert [event["seq"] for event in rest.json()["items"]] == [3]
    assert rest.json()["next_cursor"] is None
    assert (await served.get(f"{path}?after=3", accept="application/json")).json()["items"] == []
    assert (await served.get(f"{path}?after=4", accept="application/json")).status_code == 400
    assert (await served.get(path, "x", accept="application/json")).status_code == 400


async def test_many_streams_hold_no_connection_and_leave_nothing_behind(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id)

    async def follow() -> None:
        async with served.stream(f"/api/runs/{run_id}/events") as response:
            await next_frame(response)
            ready.release()
            await done.wait()

    ready, done = asyncio.Semaphore(0), asyncio.Event()
    followers = [asyncio.create_task(follow()) for _ in range(12)]  # the pool has 4
    for _ in followers:
        await ready.acquire()
    began = time.monotonic()
    assert (await served.get("/api/runs", accept="application/json")).status_code == 200
    assert time.monotonic() - began < 2
    done.set()
    await asyncio.gather(*followers)

    async def nobody_is_left() -> bool:
        return not served.feed.subscribers and not served.feed.running

    await eventually(nobody_is_left, what="the feed to end")


async def test_a_slow_reader_is_given_a_bounded_amount_and_loses_nothing(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id, 5000)
    feed = Feed(served.pool)
    subscriber = Subscriber({run_id: 0}, many=False, sees_content=False)
    feed.add(subscriber)

    async def is_full() -> bool:
        return subscriber.full

    await eventually(is_full, what="a full buffer")
    taken = b""
    while taken.count(b"id: ") < 5000:
        piece = await subscriber.take(5)
        assert len(piece) < 300_000
        taken += piece
    feed.remove(subscriber)
    ids = [int(line[4:]) for line in taken.splitlines() if line.startswith(b"id: ")]
    assert ids == list(range(1, 5001))


async def test_streams_end_at_once_when_the_process_is_told_to_stop(
    postgres: PostgresServer,
) -> None:
    url = await postgres.clone()
    async with serving_on_a_port(settings_for(url)) as served:
        run_id = await rows.add_run(served.pool)
        await rows.add_events(served.pool, run_id)
        async with served.stream(f"/api/runs/{run_id}/events") as response:
            await next_frame(response)
            began = time.monotonic()
            served.state.stopping.set()
            rest = [frame async for frame in response.frames]  # type: ignore[attr-defined]
            assert rest == []
            assert time.monotonic() - began < 1
    await postgres.drop(url)


def test_positions_of_many_runs_survive_their_writing() -> None:
    positions = {new_id(): 0, new_id(): 12_345_678_901}
    assert decode_positions(encode_positions(positions)) == positions


async def test_streams_go_on_after_the_database_dropped_every_connection(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id)
    async with served.stream(f"/api/runs/{run_id}/events") as response:
        assert (await next_frame(response)).id == "1"
        await served.pool.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await rows.add_events(served.pool, run_id, 2)
        assert [(await next_frame(response)).id for _ in range(2)] == ["2", "3"]


async def test_what_a_person_said_streams_to_readers_of_content_alone(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id)
    comment = new_id()
    await rows.insert(
        served.pool,
        "comments",
        id=comment,
        document_id=await served.pool.fetchval(
            "SELECT document_id FROM runs WHERE id = $1", run_id
        ),
        run_id=run_id,
        text="wrong transcript",
        actor="local",
    )
    await served.pool.execute(
        "UPDATE run_events SET data = $2 WHERE run_id = $1", run_id, {"comment_id": comment}
    )
    async with served.stream(f"/api/runs/{run_id}/events") as response:
        assert (await next_frame(response)).data["comment"] == "wrong transcript"
    feed = Feed(served.pool)
    operator = Subscriber({run_id: 0}, many=False, sees_content=False)
    feed.add(operator)
    taken = await operator.take(5)
    feed.remove(operator)
    assert comment.encode() in taken
    assert b"wrong transcript" not in taken
