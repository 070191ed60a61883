"""Reads of what the service itself needs: profiles, workers, switches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from api import wire
from api.http import cursors
from api.queries.rows import Reader, counted, page_of
from deploy.database import Row


async def profiles_page(
    reader: Reader, limit: int = 50, cursor: str | None = None, count: bool = False
) -> wire.Page[wire.Profile]:
    """The newest version of each profile, by name."""
    after = "" if cursor is None else cursors.decode_name("profiles", cursor)
    rows = await reader.fetch(
        """
        SELECT p.name, p.version, p.model, p.base_url, p.key_env, p.parameters, p.prices,
            p.prompts, p.fallback, p.rate_limits, p.actor, p.created_at
        FROM profiles p
        WHERE NOT EXISTS (
                SELECT FROM profiles q WHERE q.name = p.name AND q.version > p.version)
          AND p.name > $1
        ORDER BY p.name LIMIT $2
        """,
        after,
        limit + 1,
    )
    page = page_of(rows, limit, _profile, lambda row: cursors.encode("profiles", (row["name"],)))
    if not count:
        return page
    return counted(page, {"": await reader.fetchval("SELECT count(DISTINCT name) FROM profiles")})


async def newest_profile(reader: Reader, name: str) -> wire.Profile | None:
    """The version that the next step uses."""
    row = await reader.fetchrow(
        """
        SELECT name, version, model, base_url, key_env, parameters, prices, prompts, fallback,
            rate_limits, actor, created_at
        FROM profiles WHERE name = $1 ORDER BY version DESC LIMIT 1
        """,
        name,
    )
    return None if row is None else _profile(row)


async def profile_versions(
    reader: Reader,
    name: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
) -> wire.Page[wire.Profile] | None:
    """All versions, newest first; None when there is no such profile."""
    total = await reader.fetchval("SELECT count(*) FROM profiles WHERE name = $1", name)
    if not total:
        return None
    before = None if cursor is None else cursors.decode_seq("versions", cursor)
    rows = await reader.fetch(
        """
        SELECT name, version, model, base_url, key_env, parameters, prices, prompts, fallback,
            rate_limits, actor, created_at
        FROM profiles WHERE name = $1 AND ($2::bigint IS NULL OR version < $2)
        ORDER BY version DESC LIMIT $3
        """,
        name,
        before,
        limit + 1,
    )
    page = page_of(rows, limit, _profile, lambda row: cursors.encode("versions", (row["version"],)))
    return counted(page, {"": total}) if count else page


async def key_variable(reader: Reader, name: str) -> str | None:
    """The environment variable that the newest version of a profile takes its key from."""
    found: str | None = await reader.fetchval(
        "SELECT key_env FROM profiles WHERE name = $1 ORDER BY version DESC LIMIT 1", name
    )
    return found


def _profile(row: Row) -> wire.Profile:
    values: dict[str, Any] = dict(row)
    key = values.pop("key_env")
    return wire.Profile(**values, key_set=bool(os.environ.get(key)))


async def workers(reader: Reader) -> list[wire.Worker]:
    """All that registered since the table was last emptied, newest first."""
    rows = await reader.fetch(
        """
        SELECT id, machine, build, slots, cardinality(in_flight) AS in_flight,
            goodbye_at IS NULL AND seen_at > now() - interval '15 s' AS alive,
            registered_at, seen_at, goodbye_at
        FROM workers ORDER BY registered_at DESC, id
        """
    )
    return [wire.Worker(**dict(row)) for row in rows]


async def switches(reader: Reader) -> wire.Switches:
    """A switch that was never set is off."""
    row = await reader.fetchrow(
        "SELECT value, note, actor, updated_at FROM switches WHERE name = 'draining'"
    )
    if row is None:
        return wire.Switches(draining=False, note=None, actor=None, updated_at=None)
    return wire.Switches(
        draining=row["value"] is True,
        note=row["note"],
        actor=row["actor"],
        updated_at=row["updated_at"],
    )


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What every page says of the service; `waiting` runs wait for a person."""

    worker_alive: bool
    draining: bool
    drain_note: str | None
    waiting: int


async def frame(reader: Reader) -> Frame:
    row = await reader.fetchrow(
        """
        SELECT EXISTS (SELECT FROM workers WHERE goodbye_at IS NULL
                AND seen_at > now() - interval '15 s') AS worker_alive,
            coalesce(s.value = 'true', false) AS draining, s.note AS drain_note,
            (SELECT count(*) FROM runs WHERE status = 'AWAITING_CONFIRMATION') AS waiting
        FROM (SELECT) one LEFT JOIN switches s ON s.name = 'draining'
        """
    )
    assert row is not None, "the left side has a row"
    return Frame(**dict(row))
