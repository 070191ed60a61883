"""Faults between processes: cut, frozen, an answer lost after the commit, signals that are lost,
late or come twice, notifications that do not arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from random import Random

from temporalio.service import RPCError

from tests.faults.kit.fault import fault
from tests.faults.kit.place import Place
from tests.faults.relay import COMMIT, POST
from workflows.vocabulary import workflow_id

FREEZE = (2.0, 8.0)
"""Seconds; a worker that Postgres has not heard of for 15 s counts as dead."""


def _worker(place: Place, dice: Random, to: str) -> str:
    return f"{dice.choice(place.worker_names)} {to}"


@fault(
    about="the connections between a worker and Postgres break, new ones are refused",
    undone="the network is mended",
    touches={"worker", "wire"},
    lasts=FREEZE,
    weight=1.5,
)
async def cut_worker_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    name = _worker(place, dice, "postgres")
    await place.wires[name].cut()
    yield name
    await place.wires[name].mend()


@fault(
    about="the network between a worker and Postgres stands still; nobody is told",
    undone="what was held back is delivered",
    touches={"worker", "wire"},
    lasts=FREEZE,
    weight=2,
)
async def freeze_worker_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    name = _worker(place, dice, "postgres")
    place.wires[name].hold()
    yield name
    place.wires[name].go_on()


@fault(
    about="the same for so long that the worker counts as dead, while it lives and receives",
    undone="what was held back is delivered",
    touches={"worker", "wire"},
    lasts=(19.0, 24.0),
    costly=True,
)
async def part_worker_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    name = _worker(place, dice, "postgres")
    member = place.members[name.split()[0]]
    blame = member.blame("parted")
    place.wires[name].hold()
    yield name
    place.wires[name].go_on()
    blame.until = time.time()


@fault(
    about="the connections between a worker and Temporal break, new ones are refused",
    undone="the network is mended",
    touches={"worker", "wire"},
    lasts=(3.0, 16.0),
)
async def cut_worker_temporal(place: Place, dice: Random) -> AsyncIterator[str]:
    name = _worker(place, dice, "temporal")
    await place.wires[name].cut()
    yield name
    await place.wires[name].mend()


@fault(
    about="the network between a worker and Temporal stands still",
    undone="what was held back is delivered",
    touches={"worker", "wire"},
    lasts=(3.0, 16.0),
)
async def freeze_worker_temporal(place: Place, dice: Random) -> AsyncIterator[str]:
    name = _worker(place, dice, "temporal")
    place.wires[name].hold()
    yield name
    place.wires[name].go_on()


@fault(
    about="the network between the API and Postgres stands still, or breaks",
    undone="the network is mended",
    touches={"api", "wire"},
    lasts=FREEZE,
)
async def break_api_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    wire = place.wires["api postgres"]
    if dice.random() < 0.5:
        await wire.cut()
    else:
        wire.hold()
    yield "api postgres"
    wire.go_on()
    await wire.mend()


@fault(
    about="a worker's transaction commits, the answer is lost and the connection with it",
    undone="it connects again by itself",
    touches={"worker", "wire"},
    lasts=(1.0, 4.0),
    weight=4,
)
async def lose_commit_answer(place: Place, dice: Random) -> AsyncIterator[str]:
    name = _worker(place, dice, "postgres")
    times = dice.randint(1, 5)
    losing = asyncio.create_task(_lose(place, name, times))
    try:
        yield f"{name}, {times} times"
    finally:
        losing.cancel()
        place.wires[name].lose_nothing()


async def _lose(place: Place, name: str, times: int) -> None:
    for _ in range(times):
        await place.wires[name].lose_answer(COMMIT).wait()


@fault(
    about="the API's transaction commits, Postgres's answer is lost",
    undone="it connects again by itself",
    touches={"api", "wire"},
    lasts=(3.0, 8.0),
    weight=2,
)
async def lose_commit_answer_of_api(place: Place, dice: Random) -> AsyncIterator[str]:
    times = dice.randint(1, 3)
    losing = asyncio.create_task(_lose(place, "api postgres", times))
    try:
        yield f"{times} times"
    finally:
        losing.cancel()
        place.wires["api postgres"].lose_nothing()


@fault(
    about="the API did what it was asked, its answer to the client is lost",
    undone="the client asks again with the same key",
    touches={"client"},
    lasts=(3.0, 8.0),
    weight=2,
)
async def lose_api_answer(place: Place, dice: Random) -> AsyncIterator[str]:
    wire, times = place.wires["client"], dice.randint(1, 3)

    async def lose() -> None:
        for _ in range(times):
            await wire.lose_answer(POST).wait()

    losing = asyncio.create_task(lose())
    try:
        yield f"{times} times"
    finally:
        losing.cancel()
        wire.lose_nothing()


@fault(
    about="signals of the API are lost: its connections to Temporal break",
    undone="the network is mended; the sweep sends what is due",
    touches={"signals"},
    lasts=(3.0, 12.0),
    weight=2,
)
async def drop_signals(place: Place, dice: Random) -> AsyncIterator[str]:
    await place.wires["api temporal"].cut()
    yield "api temporal"
    await place.wires["api temporal"].mend()


@fault(
    about="signals of the API come late, all at once and after newer moves",
    undone="what was held back is delivered",
    touches={"signals"},
    lasts=(3.0, 12.0),
    weight=2,
)
async def delay_signals(place: Place, dice: Random) -> AsyncIterator[str]:
    place.wires["api temporal"].hold()
    yield "api temporal"
    place.wires["api temporal"].go_on()


@fault(
    about="the last signal of every run comes again, in any order, some of them twice",
    undone="nothing to undo",
    touches={"signals"},
    lasts=(0.0, 1.0),
    weight=2,
)
async def double_signals(place: Place, dice: Random) -> AsyncIterator[str]:
    rows = list(
        await place.sql(
            "SELECT id, move_seq FROM runs WHERE status NOT IN"
            " ('CONFIRMED', 'REJECTED', 'CANCELLED') ORDER BY id"
        )
    )
    client = await place.temporal_client()
    sent = [row for row in rows for _ in range(dice.randint(1, 2))]
    dice.shuffle(sent)
    for row in sent:
        with contextlib.suppress(RPCError):
            await client.get_workflow_handle(workflow_id(row["id"])).signal(
                dice.choice(["resume", "interrupt", "decide"]), {"seq": row["move_seq"]}
            )
    yield f"{len(sent)} signals"


@fault(
    about="connections that listen for moves end, again and again",
    undone="they come back by themselves",
    touches={"listen"},
    lasts=(2.0, 6.0),
)
async def cut_listen(place: Place, dice: Random) -> AsyncIterator[str]:
    async def cut() -> None:
        while True:
            await place.sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND query ILIKE 'listen%'
                """
            )
            await asyncio.sleep(0.3)

    cutting = asyncio.create_task(cut())
    try:
        yield "all listeners"
    finally:
        cutting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await cutting


@fault(
    about="sessions that hold life locks end again and again: a free lock alone proves no death",
    undone="they come back by themselves",
    touches={"listen"},
    lasts=(2.0, 6.0),
)
async def free_life_locks(place: Place, dice: Random) -> AsyncIterator[str]:
    async def free() -> None:
        while True:
            await place.sql(
                """
                SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN workers w
                  ON l.classid::bigint = (w.lock_key >> 32) & 4294967295
                 AND l.objid::bigint = w.lock_key & 4294967295
                WHERE l.locktype = 'advisory'
                """
            )
            await asyncio.sleep(0.2)

    freeing = asyncio.create_task(free())
    try:
        yield "all life locks"
    finally:
        freeing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await freeing
