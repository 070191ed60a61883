"""What proves a worker's death, each proof alone, and what proves nothing (PROTOCOL 6)."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta

import psutil
import pytest
import pytest_asyncio

from activities.owning.death import (
    LOOKS_APART,
    SILENT_APART,
    Identity,
    Witness,
    process_gone,
    say_goodbye,
)
from activities.owning.presence import Presence, lock_key, write_presence
from deploy.database import Connection
from deploy.process_start import start_of
from tests.attempts import HERE, Shop
from tests.eventually import eventually

ELSEWHERE = replace(HERE, machine="elsewhere", nonce="n1")
"""Of another machine: no pid of ours tells anything about it."""
CALM = 15.0


@pytest_asyncio.fixture
async def session(shop: Shop) -> AsyncIterator[Connection]:
    """A session of a moment ago."""
    async with shop.pool.acquire() as connection:
        yield connection


@pytest_asyncio.fixture
async def calm(shop: Shop, oldest_session: Connection) -> Connection:
    """A session, and so a postmaster, older than fifteen seconds."""
    age = await oldest_session.fetchval(
        "SELECT extract(epoch FROM clock_timestamp() - backend_start)::float "
        "FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    )
    await asyncio.sleep(max(0.0, CALM + 0.2 - age))
    return oldest_session


async def _seen(connection: Connection, seconds: float, identity: Identity = ELSEWHERE) -> str:
    """Its row, last written so many seconds ago; its id."""
    await write_presence(connection, Presence(identity=identity), frozenset())
    await connection.execute("UPDATE workers SET seen_at = now() - $1::interval", _span(seconds))
    return str(identity)


def _span(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


async def _looks(
    connection: Connection,
    worker: str,
    *,
    apart: float = LOOKS_APART,
    witness: Witness | None = None,
) -> list[bool]:
    """What two looks say, one long enough after the other."""
    witness = witness or Witness(HERE)
    first = await witness.prove(connection, worker)
    await asyncio.sleep(apart + 0.05)
    return [first, await witness.prove(connection, worker)]


@pytest.mark.rule("lock_free_twice")
async def test_a_lock_that_is_free_at_two_looks_proves_a_death_and_one_look_nothing(
    session: Connection,
) -> None:
    worker = await _seen(session, 5)
    assert await _looks(session, worker) == [False, True]


async def test_a_lock_that_was_held_between_two_looks_begins_the_count_anew(
    session: Connection,
) -> None:
    worker, witness = await _seen(session, 5), Witness(HERE)
    assert not await witness.prove(session, worker)
    async with _locked(session):
        assert not await witness.prove(session, worker)
    await asyncio.sleep(LOOKS_APART + 0.05)
    assert not await witness.prove(session, worker)


@pytest.mark.rule("looks_together")
async def test_a_look_of_long_ago_is_no_first_look(session: Connection) -> None:
    worker, witness = await _seen(session, 5), Witness(HERE)
    long_ago = time.monotonic() - 60
    witness.free.seen[worker] = (True, long_ago, long_ago)
    assert not await witness.prove(session, worker)
    await asyncio.sleep(LOOKS_APART + 0.05)
    assert await witness.prove(session, worker)


@contextlib.asynccontextmanager
async def _locked(connection: Connection) -> AsyncIterator[None]:
    """The worker's lock is held, here by our own session."""
    await connection.execute("SELECT pg_advisory_lock($1)", lock_key(ELSEWHERE))
    try:
        yield
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", lock_key(ELSEWHERE))


@pytest.mark.rule("lock_free")
async def test_a_worker_that_holds_its_lock_lives_although_its_loop_stands_still(
    session: Connection,
) -> None:
    worker = await _seen(session, 5)
    async with _locked(session):
        assert await _looks(session, worker) == [False, False]


@pytest.mark.rule("seen_over_2s")
async def test_a_worker_seen_a_moment_ago_lives_although_its_lock_is_free(
    session: Connection,
) -> None:
    worker = await _seen(session, -2)
    assert await _looks(session, worker) == [False, False]


@pytest.mark.rule("this_postmaster")
async def test_a_lock_freed_by_a_restart_of_postgres_proves_nothing(session: Connection) -> None:
    worker = await _seen(session, 5)
    await session.execute("UPDATE workers SET postmaster_started = now() - interval '1 day'")
    assert await _looks(session, worker) == [False, False]


@pytest.mark.rule("both_over_15s")
async def test_a_young_session_takes_no_missing_and_no_silent_row_for_a_proof(
    session: Connection,
) -> None:
    assert not await Witness(HERE).prove(session, str(ELSEWHERE))
    worker = await _seen(session, 60)
    assert await _looks(session, worker, apart=SILENT_APART) == [False, False]


@pytest.mark.rule("proof_by_goodbye")
async def test_who_said_goodbye_is_dead_until_it_writes_again(
    shop: Shop, session: Connection
) -> None:
    worker, witness = await _seen(session, 0), Witness(HERE)
    assert not await witness.prove(session, worker)
    await say_goodbye(shop.pool, worker)
    assert await witness.prove(session, worker)
    await _seen(session, 0)
    assert not await witness.prove(session, worker)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def _of(process: subprocess.Popen[bytes]) -> Identity:
    return replace(HERE, pid=process.pid, started=round(start_of(process.pid), 2))


@pytest.mark.rule("proof_by_pid", "proof_by_zombie")
async def test_a_process_of_this_machine_is_dead_when_its_pid_says_so_without_any_row(
    session: Connection, child: subprocess.Popen[bytes]
) -> None:
    other, witness = _of(child), Witness(HERE)
    assert not await witness.prove(session, str(other))
    child.kill()

    async def zombie() -> bool:
        return psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE

    await eventually(zombie, what="a process that nobody has reaped")
    assert await witness.prove(session, str(other))
    child.communicate()
    assert await witness.prove(session, str(other))


@pytest.mark.rule("proof_by_reuse", "proof_by_boot")
async def test_a_pid_of_an_earlier_process_or_boot_proves_a_death(
    child: subprocess.Popen[bytes],
) -> None:
    other = _of(child)
    assert not process_gone(other, HERE)
    assert process_gone(replace(other, started=other.started - 60), HERE)
    assert process_gone(replace(other, boot="another"), HERE)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no start since the boot")
async def test_setting_the_clock_makes_no_process_another_one(
    child: subprocess.Popen[bytes],
) -> None:
    """It moves the boot, and so every start that is counted from the epoch."""
    since_boot, since_epoch = start_of(child.pid), psutil.Process(child.pid).create_time()
    assert since_boot < since_epoch - 365 * 86400
    for started in (since_boot, since_epoch):  # older versions wrote the second
        assert not process_gone(replace(HERE, pid=child.pid, started=started), HERE)


@pytest.mark.rule("pid_lives")
async def test_a_free_lock_is_no_proof_against_a_process_that_is_seen_to_live(
    session: Connection,
) -> None:
    """Its connections were cut, and come back, or do not for a while."""
    alive = replace(HERE, nonce="another id of this process")
    assert await _looks(session, await _seen(session, 3, alive)) == [False, False]


@pytest.mark.rule("pid_of_this_namespace")
async def test_a_pid_of_another_machine_or_namespace_proves_nothing() -> None:
    gone = replace(HERE, pid=2**22 + 1, boot="another")
    assert process_gone(gone, HERE)
    assert not process_gone(replace(gone, machine="elsewhere"), HERE)
    assert not process_gone(replace(gone, pid_ns="another"), HERE)


async def test_a_worker_never_takes_itself_for_dead(calm: Connection) -> None:
    worker = await _seen(calm, 60, HERE)
    assert not await Witness(HERE).prove(calm, worker)


@pytest.mark.rule("row_missing")
async def test_a_row_that_stays_away_proves_a_death_to_a_session_of_fifteen_seconds(
    calm: Connection,
) -> None:
    assert await _looks(calm, str(ELSEWHERE), apart=SILENT_APART) == [False, True]


async def test_an_old_beat_proves_nothing_to_who_has_just_woken(calm: Connection) -> None:
    """The machine slept, or its clock was set: who lives writes before the second look."""
    witness = Witness(HERE)
    async with _locked(calm):
        for asleep in (3600, 60):
            worker = await _seen(calm, asleep)
            assert not await witness.prove(calm, worker)
            await asyncio.sleep(SILENT_APART + 0.05)
        worker = await _seen(calm, 0)
        assert not await witness.prove(calm, worker)
        await asyncio.sleep(SILENT_APART + 0.05)
        assert await _looks(calm, await _seen(calm, 60), witness=witness) == [False, False]


@pytest.mark.rule("seen_over_15s")
async def test_a_silence_of_fifteen_seconds_proves_a_death_although_the_lock_is_held(
    calm: Connection,
) -> None:
    worker = await _seen(calm, 14)
    async with _locked(calm):
        assert not await Witness(HERE).prove(calm, worker)
        await _seen(calm, 16)
        assert await _looks(calm, worker, apart=SILENT_APART) == [False, True]
