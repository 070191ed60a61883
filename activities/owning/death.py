"""Proof that a worker is dead (PROTOCOL 6). Everything that supersedes a step asks here.

Slowness, a lost connection, a restart of Postgres or a missing row prove nothing by themselves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil

from activities.hooks import Hook, effect
from deploy.database import Connection, Pool
from deploy.process_start import start_of

LOOKS_APART = 0.5
"""Seconds between the two looks at which a worker's lock must be free."""
SILENT_APART = 3.0
"""Seconds between the two looks at which the same old beat is the last one. The clock may have been
set, and this machine may have slept with all of us: who lives writes before the second look."""
LOOKS_TOGETHER = 10.0
"""Looks further apart than this do not belong together: the lock may have been held between."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A worker's id describes itself: machine/boot/pid namespace/pid/start time/nonce. `started` is
    what `start_of` says."""

    machine: str
    boot: str
    pid_ns: str
    pid: int
    started: float
    nonce: str

    def __str__(self) -> str:
        return (
            f"{self.machine}/{self.boot}/{self.pid_ns}/{self.pid}/{self.started:.2f}/{self.nonce}"
        )

    @staticmethod
    def parse(worker: str) -> Identity | None:
        parts = worker.split("/")
        try:
            machine, boot, pid_ns, pid, started, nonce = parts
            return Identity(
                machine=machine,
                boot=boot,
                pid_ns=pid_ns,
                pid=int(pid),
                started=float(started),
                nonce=nonce,
            )
        except ValueError:
            return None


def process_gone(other: Identity, mine: Identity) -> bool:
    """Same machine and pid namespace, and another boot, or the pid is gone or reused."""
    if (other.machine, other.pid_ns) != (mine.machine, mine.pid_ns):
        return False
    if other.boot != mine.boot:
        return True
    try:
        process = psutil.Process(other.pid)
        begun = start_of(other.pid), process.create_time()  # that is how older versions count
        reused = all(abs(one - other.started) > 1.0 for one in begun)
        return reused or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def process_lives(other: Identity, mine: Identity) -> bool:
    """Same machine, boot and pid namespace, and the pid is its own: whatever became of its
    connections, only silence tells against it."""
    same = (other.machine, other.boot, other.pid_ns) == (mine.machine, mine.boot, mine.pid_ns)
    return same and not process_gone(other, mine)


class TwoLooks:
    """Remembers what was seen of each worker, for the first and the last time in a row."""

    def __init__(self, apart: float) -> None:
        self.apart = apart
        self.seen: dict[str, tuple[object, float, float]] = {}

    def still(self, worker: str, what: object) -> bool:
        """Looks now: whether the same was seen in every look since one more than `apart` seconds
        ago. What nobody has looked at for a while is forgotten."""
        now = time.monotonic()
        self.seen = {of: look for of, look in self.seen.items() if now - look[2] <= LOOKS_TOGETHER}
        before, first, _ = self.seen.get(worker, (what, now, now))
        if before != what:
            first = now
        self.seen[worker] = (what, first, now)
        return now - first > self.apart

    def forget(self, worker: str) -> None:
        self.seen.pop(worker, None)


class Witness:
    """Remembers, per worker, its lock seen free and the same old beat seen as its last one.

    `prove` makes at most one look a call; callers that poll get their second look by themselves.
    """

    def __init__(self, mine: Identity) -> None:
        self.mine = mine
        self.free = TwoLooks(LOOKS_APART)
        self.silent = TwoLooks(SILENT_APART)

    async def prove(self, connection: Connection, worker: str) -> bool:
        """Whether `worker` is proved dead now. Silence counts only for a session that was there all
        the while, and no session is older than its postmaster."""
        if worker == str(self.mine):
            return False
        other = Identity.parse(worker)
        if other is not None and process_gone(other, self.mine):
            return True
        row = await connection.fetchrow(
            """
            SELECT w.goodbye_at IS NOT NULL AS goodbye,
                   w.seen_at, extract(epoch FROM now() - w.seen_at)::float AS age,
                   w.postmaster_started = pg_postmaster_start_time() AS this_postmaster,
                   EXISTS (SELECT FROM pg_locks l
                           WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
                             AND l.classid::bigint = ((w.lock_key >> 32) & 4294967295)
                             AND l.objid::bigint = (w.lock_key & 4294967295)) AS locked,
                   now() - (SELECT backend_start FROM pg_stat_activity
                            WHERE pid = pg_backend_pid()) > interval '15 s' AS calm
            FROM (SELECT $1::text AS id) wanted LEFT JOIN workers w ON w.id = wanted.id
            """,
            worker,
        )
        assert row is not None, "a left join from one row gives one row"
        if row["goodbye"]:
            return True
        if row["age"] is None or row["age"] > 15:
            self.free.forget(worker)
            if not row["calm"]:
                self.silent.forget(worker)
            return self.silent.still(worker, row["seen_at"])
        self.silent.forget(worker)
        free = not row["locked"] and row["this_postmaster"] and row["age"] > 2
        if not free or (other is not None and process_lives(other, self.mine)):
            self.free.forget(worker)
            return False
        return self.free.still(worker, True)


async def step_dead_inside(connection: Connection, step_id: str) -> bool:
    """Whether a RUNNING step is missing from its living worker's list, written after its start."""
    dead: bool = await connection.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM steps s JOIN workers w ON w.id = s.worker
            WHERE s.id = $1 AND s.status = 'RUNNING'
              AND w.postmaster_started = pg_postmaster_start_time()
              AND w.seen_at > s.started_at + interval '2 s'
              AND NOT s.id = ANY (w.in_flight))
        """,
        step_id,
    )
    return dead


async def living(connection: Connection, witness: Witness, step_id: str, worker: str) -> bool:
    """Whether the holder of a RUNNING step must still be waited for."""
    if await step_dead_inside(connection, step_id):
        return False
    return not await witness.prove(connection, worker)


async def say_goodbye(pool: Pool, worker: str) -> None:
    """An orderly end: nobody has to prove this worker's death."""
    async with effect(Hook.GOODBYE):
        await pool.execute(
            "UPDATE workers SET goodbye_at = now(), in_flight = '{}' WHERE id = $1", worker
        )
