"""Faults of the two stores: Postgres and Temporal end, crash, stand still, forget, have no room."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from random import Random

from deploy.local.data import DataDirectory
from tests.faults.kit.fault import fault
from tests.faults.kit.place import Place


async def _gone(place: Place, name: str, how: int | None) -> None:
    member = place.members[name]
    if how is None:
        await member.kill()
    else:
        await member.stop(how)


@fault(
    about="Postgres ends in order (SIGINT) and starts again: every lock is free at once",
    undone="started again",
    touches={"postgres"},
    lasts=(0.0, 2.0),
    weight=1.5,
)
async def restart_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    await _gone(place, "postgres", signal.SIGINT)
    yield "postgres"
    place.members["postgres"].start()


@fault(
    about="kill -9 of Postgres, all of its processes",
    undone="started again",
    touches={"postgres"},
    lasts=(0.0, 3.0),
    weight=1.5,
)
async def kill_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    await _gone(place, "postgres", None)
    yield "postgres"
    place.members["postgres"].start()


@fault(
    about="Postgres is away for a long while",
    undone="started again",
    touches={"postgres"},
    lasts=(15.0, 22.0),
)
async def postgres_away(place: Place, dice: Random) -> AsyncIterator[str]:
    await _gone(place, "postgres", dice.choice([signal.SIGINT, signal.SIGQUIT]))
    yield "postgres"
    place.members["postgres"].start()


@fault(
    about="one backend of Postgres is killed: the server ends all sessions and empties `workers`",
    undone="Postgres does it",
    touches={"postgres"},
    lasts=(0.0, 2.0),
)
async def crash_backend(place: Place, dice: Random) -> AsyncIterator[str]:
    rows = await place.sql(
        """
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid
        """
    )
    pid = dice.choice([row["pid"] for row in rows]) if rows else 0
    if pid:
        _kill(pid)
    yield f"backend {pid}"


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@fault(
    about="SIGSTOP of all of Postgres",
    undone="SIGCONT",
    touches={"postgres"},
    lasts=(1.0, 8.0),
)
async def freeze_postgres(place: Place, dice: Random) -> AsyncIterator[str]:
    with place.members["postgres"].frozen(beyond=False):
        yield "postgres"


@fault(
    about="the disk of the cluster is full to the last page",
    undone="room is made; Postgres is started again if it ended itself",
    touches={"postgres"},
    lasts=(2.0, 8.0),
    lacking=lambda place: place.postgres.lacking,
)
async def full_disk(place: Place, dice: Random) -> AsyncIterator[str]:
    await asyncio.to_thread(place.postgres.fill)
    try:
        yield "the disk of postgres"
    finally:
        place.postgres.empty()


@fault(
    about="kill -9 of Temporal",
    undone="started again",
    touches={"temporal"},
    lasts=(0.0, 3.0),
    weight=1.5,
)
async def kill_temporal(place: Place, dice: Random) -> AsyncIterator[str]:
    await _gone(place, "temporal", None)
    yield "temporal"
    place.members["temporal"].start()


@fault(
    about="Temporal is away for a long while",
    undone="started again",
    touches={"temporal"},
    lasts=(15.0, 22.0),
)
async def temporal_away(place: Place, dice: Random) -> AsyncIterator[str]:
    await _gone(place, "temporal", signal.SIGTERM)
    yield "temporal"
    place.members["temporal"].start()


@fault(about="SIGSTOP of Temporal", undone="SIGCONT", touches={"temporal"}, lasts=(2.0, 10.0))
async def freeze_temporal(place: Place, dice: Random) -> AsyncIterator[str]:
    with place.members["temporal"].frozen(beyond=False):
        yield "temporal"


@fault(
    about="Temporal's store is deleted: no workflow is known any more",
    undone="Temporal starts with an empty store",
    touches={"temporal"},
    lasts=(0.0, 1.0),
    weight=0.7,
)
async def forget_temporal(place: Place, dice: Random) -> AsyncIterator[str]:
    await _gone(place, "temporal", None)
    for file in DataDirectory(place.temporal.folder).temporal_file.parent.glob("*.db*"):
        file.unlink()
    yield "temporal"
    place.members["temporal"].start()
