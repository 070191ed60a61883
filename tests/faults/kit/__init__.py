"""The fault kit: what can be done to a stack, by name and by seed, and undone again.

**A place.** `async with Place(folder) as place:` starts everything as processes of its own: a
Postgres cluster (on a small disk of its own where root may mount one), a Temporal server, an API,
two workers; and the model server (`tests.fake_llm`), which stays in this process. Every connection
between them goes through a `Relay`.

    place.members["worker-0"]   also worker-1, api, postgres, temporal: start, stop, kill, frozen
    place.wires["api temporal"] by who asks whom; "client" asks the API: cut, mend, hold, go_on
    place.reviewer.spoils       kinds of broken replies for the next requests, one each
    place.ledger                every request the model server saw: when, by which process, asking
                                for what, how it ended, what it billed
    await place.up()            starts what is down and waits until everything answers
    await place.sql(…)          past every relay, waiting while Postgres is away

**A fault** has a name, says what it does and how it is undone, what it touches (two that touch the
same thing are never done at once), and whether it may cost calls that are under way. Everything it
chooses comes from the dice it is given, so a seed tells it all.

    from tests.faults.kit import FAULTS, Place

    async with Place(folder) as place:
        async with FAULTS["freeze-worker-long"].done(place, Random(7)) as who:
            await asyncio.sleep(20)         # somebody else has taken over by now
        await place.up()                    # and here the frozen one came back

`./redraft fault` lists them all. They end processes (now, at a named point of
`activities/hooks.py`, at the n-th request, at the k-th token), freeze them for a moment or for
longer than anybody waits, end them in order; stop, crash, freeze, fill and forget the stores; cut
and freeze the network; lose the answer to a commit or a command; lose, delay and double signals;
cut notifications and life locks; cut, stall, garble and refuse replies.

**A new fault** is an async generator: what stands before its `yield` does it, the yielded text says
to whom, what follows undoes it.

    @fault(about="…", undone="…", touches={"api"}, lasts=(1.0, 5.0))
    async def freeze_api(place: Place, dice: Random) -> AsyncIterator[str]:
        with place.members["api"].frozen(beyond=False):
            yield "api"

A fault that takes a process away says so (`member.blame`): whoever judges holds every lost call
against somebody who was to blame, and a loss without one is a finding.

**Judging.** `tests.faults.random_campaign` keeps many runs going with operators of different minds
while faults are done to them, and `random_judge` holds each run against its rows and against what
the model server saw. Small faults by hand, for a test that needs exactly one, are in `checks`.
"""

from tests.faults.kit import network, processes, stores, streams
from tests.faults.kit.checks import (
    PATIENT,
    cut_listeners,
    ended,
    freeze,
    frozen,
    holder,
    issues,
    nothing_repaid,
    paid,
    planted,
    stored,
    thaw,
    worker_seen,
)
from tests.faults.kit.fault import FAULTS, Fault
from tests.faults.kit.place import Place
from tests.services import own_postgres, own_temporal

__all__ = [
    "FAULTS",
    "PATIENT",
    "Fault",
    "Place",
    "cut_listeners",
    "ended",
    "freeze",
    "frozen",
    "holder",
    "issues",
    "network",
    "nothing_repaid",
    "own_postgres",
    "own_temporal",
    "paid",
    "planted",
    "processes",
    "stored",
    "stores",
    "streams",
    "thaw",
    "worker_seen",
]
