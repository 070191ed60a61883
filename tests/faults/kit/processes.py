"""Faults of processes: killed now, at a named point, at a request or token; frozen; ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from random import Random

from tests.fake_llm import Request
from tests.faults.kit.fault import fault
from tests.faults.kit.members import Member
from tests.faults.kit.place import Place

POINTS = (
    "claim.written",
    "claim.committed",
    "open_call.written",
    "open_call.committed",
    "request.before",
    "request.after",
    "items.written",
    "items.committed",
    "settle.written",
    "settle.committed",
    "stopped.written",
    "stopped.committed",
    "later.written",
    "take_over.written",
    "take_over.committed",
    "close_dead.written",
    "tell_workflow.before",
    "tell_workflow.after",
    "release.written",
    "release.committed",
    "conclude.written",
    "conclude.committed",
    "signal.before",
    "signal.after",
    "start.before",
    "start.after",
)
"""Points of `activities/hooks.py` that a campaign comes by."""
LONG = (19.0, 25.0)
"""Seconds beyond every proof of death by silence."""
SHORT = (1.0, 7.0)
"""Seconds that prove nothing."""


def _one(place: Place, dice: Random) -> Member:
    return dice.choice(place.workers)


def _of_request(place: Place, request: Request) -> Member | None:
    """Who sent it, by its key."""
    name = request.authorization.removeprefix("Bearer sk-").rpartition("-")[0]
    return place.members.get(name)


@fault(
    about="kill -9 of a worker, now",
    undone="started again",
    touches={"worker"},
    lasts=(0.0, 4.0),
    costly=True,
    weight=2,
)
async def kill_worker(place: Place, dice: Random) -> AsyncIterator[str]:
    member = _one(place, dice)
    await member.kill()
    yield member.name
    member.start()


@fault(
    about="kill -9 of all workers",
    undone="started again",
    touches={"worker"},
    lasts=(0.0, 6.0),
    costly=True,
)
async def kill_workers(place: Place, dice: Random) -> AsyncIterator[str]:
    await asyncio.gather(*(member.kill() for member in place.workers))
    yield "all workers"
    for member in place.workers:
        member.start()


@fault(
    about="a worker dies, as by kill -9, at a named point before or after a commit or an effect",
    undone="started again",
    touches={"worker"},
    lasts=(14.0, 18.0),
    costly=True,
    weight=4,
)
async def kill_at_point(place: Place, dice: Random) -> AsyncIterator[str]:
    member, point, times = _one(place, dice), dice.choice(POINTS), dice.randint(1, 4)
    await member.kill()
    member.start(REDRAFT_FAULT=f"{point}:{times}")
    member.wanted = False
    blame = member.blame(f"at {point}")
    yield f"{member.name} at {point}:{times}"
    if not member.alive:
        blame.how += " (reached)"
        await member.reaped()
    else:
        await member.kill()
    member.start()


@contextlib.contextmanager
def _at_request(place: Place, number: int, then: Callable[[Request], None]) -> Iterator[None]:
    left = [number]

    def hear(request: Request) -> None:
        left[0] -= 1
        if left[0] == 0:
            then(request)

    place.ledger.on_request.append(hear)
    try:
        yield
    finally:
        place.ledger.on_request.remove(hear)


@fault(
    about="kill -9 of the worker whose request is the n-th from now, the moment it arrives",
    undone="started again",
    touches={"worker"},
    lasts=(4.0, 8.0),
    costly=True,
    weight=2,
)
async def kill_at_request(place: Place, dice: Random) -> AsyncIterator[str]:
    number, killed = dice.randint(1, 8), list[Member]()

    def then(request: Request) -> None:
        member = _of_request(place, request)
        if member is not None and member.alive:
            member.kill_now()
            killed.append(member)

    with _at_request(place, number, then):
        yield f"request {number} from now"
    for member in killed:
        await member.reaped()
        member.start()


@fault(
    about="kill -9 of the worker that receives it, at the k-th token of the n-th reply from now",
    undone="started again",
    touches={"worker"},
    lasts=(6.0, 10.0),
    costly=True,
    weight=2,
)
async def kill_at_token(place: Place, dice: Random) -> AsyncIterator[str]:
    number, characters, seen = dice.randint(1, 4), dice.randint(1, 500), list[Request]()

    async def kill() -> Member | None:
        def reached() -> bool:
            return bool(seen) and (len(seen[0].sent) >= characters or seen[0].outcome != "open")

        await place.llm.wait_until(reached, seconds=60)
        member = _of_request(place, seen[0]) if seen[0].headers else None
        if member is not None and member.alive:
            member.kill_now()
        return member

    killing = asyncio.create_task(kill())
    try:
        with _at_request(place, number, seen.append):
            yield f"character {characters} of reply {number} from now"
    finally:
        if not killing.done():
            killing.cancel()
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            member = await killing
            if member is not None:
                await member.reaped()
                member.start()


@fault(
    about="SIGTERM to a worker: calls finish within the grace or are handed over",
    undone="started again",
    touches={"worker"},
    lasts=(0.0, 3.0),
    costly=True,
    weight=2,
)
async def stop_worker(place: Place, dice: Random) -> AsyncIterator[str]:
    member = _one(place, dice)
    await member.stop()
    yield member.name
    member.start()


@fault(
    about="SIGSTOP of a worker for a few seconds: nothing may come of it",
    undone="SIGCONT",
    touches={"worker"},
    lasts=SHORT,
)
async def freeze_worker(place: Place, dice: Random) -> AsyncIterator[str]:
    member = _one(place, dice)
    with member.frozen(beyond=False):
        yield member.name


@fault(
    about="SIGSTOP of a worker until others have taken over; it comes back as a zombie",
    undone="SIGCONT",
    touches={"worker"},
    lasts=LONG,
    costly=True,
    weight=2,
)
async def freeze_worker_long(place: Place, dice: Random) -> AsyncIterator[str]:
    member = _one(place, dice)
    with member.frozen(beyond=True):
        yield member.name


@fault(
    about="kill -9 of the API",
    undone="started again",
    touches={"api"},
    lasts=(0.0, 4.0),
    weight=2,
)
async def kill_api(place: Place, dice: Random) -> AsyncIterator[str]:
    member = place.members["api"]
    await member.kill()
    yield "api"
    member.start()


@fault(about="SIGTERM to the API", undone="started again", touches={"api"}, lasts=(0.0, 3.0))
async def stop_api(place: Place, dice: Random) -> AsyncIterator[str]:
    member = place.members["api"]
    await member.stop()
    yield "api"
    member.start()


@fault(about="SIGSTOP of the API", undone="SIGCONT", touches={"api"}, lasts=(2.0, 12.0))
async def freeze_api(place: Place, dice: Random) -> AsyncIterator[str]:
    with place.members["api"].frozen(beyond=False):
        yield "api"


@fault(
    about="kill -9 of everything at once: API, workers, Temporal, Postgres",
    undone="everything started again",
    touches={"worker", "api", "postgres", "temporal"},
    lasts=(0.0, 5.0),
    costly=True,
    weight=1.5,
)
async def kill_everything(place: Place, dice: Random) -> AsyncIterator[str]:
    names = list(place.members)
    dice.shuffle(names)
    for name in names:
        place.members[name].strike()
    await asyncio.gather(*(place.members[name].reaped() for name in names))
    yield "everything"
    for name in names:
        place.members[name].start()
