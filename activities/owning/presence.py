"""A worker's own row in `workers`: written each second, and with every claim."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from activities.owning.death import Identity
from deploy.database import Connection


def lock_key(identity: Identity) -> int:
    """The advisory lock this process holds while it lives; positive, 62 bits."""
    digest = hashlib.sha256(str(identity).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 2


@dataclass(frozen=True, kw_only=True)
class Presence:
    """What a worker writes about itself beside the list of its steps."""

    identity: Identity
    build: str | None = None
    slots: int = 0


async def write_presence(
    connection: Connection, presence: Presence, in_flight: frozenset[str]
) -> None:
    """Upserts the row with the present postmaster's start time; takes back a goodbye."""
    mine = presence.identity
    await connection.execute(
        """
        INSERT INTO workers (id, machine, boot, pid_ns, pid, started, lock_key,
                             postmaster_started, in_flight, build, slots)
        VALUES ($1, $2, $3, $4, $5, $6, $7, pg_postmaster_start_time(), $8, $9, $10)
        ON CONFLICT (id) DO UPDATE SET
            seen_at = now(), in_flight = EXCLUDED.in_flight, goodbye_at = NULL,
            postmaster_started = EXCLUDED.postmaster_started
        """,
        str(mine),
        mine.machine,
        mine.boot,
        mine.pid_ns,
        mine.pid,
        mine.started,
        lock_key(mine),
        sorted(in_flight),
        presence.build,
        presence.slots,
    )


async def forget_old_workers(connection: Connection) -> None:
    """Rows nobody needs as proof any more: no run names them and they are an hour old."""
    await connection.execute(
        """
        DELETE FROM workers w WHERE w.seen_at < now() - interval '1 hour'
          AND NOT EXISTS (SELECT FROM runs r WHERE r.owner_worker = w.id)
        """
    )
