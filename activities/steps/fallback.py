"""Which profile a step uses: the run's own, or the fallback that this names, never in silence.

The rule: a step that is claimed while `after` errors of the provider in a row stand on the run uses
the newest version of the fallback. Anything received ends that row, so the next step begins with
the run's own profile again, and so does a resume, which may have repaired it. A fallback's own
fallback is not followed. Each change is an event, every call records the profile it used.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from activities.model.profile import Profile, newest
from activities.record import Event, append_event
from deploy.database import Connection
from workflows.profiles import fallback_of
from workflows.vocabulary import Actor, EventType, Reason

log = logging.getLogger("redraft.fallback")


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """`falls_back_after`: so many errors in a row bring the fallback, None when they do not (there
    is none, or this is it). `change`: what the event says when another answers than did last."""

    profile: Profile
    falls_back_after: int | None = None
    change: Mapping[str, Any] | None = None


async def choose(connection: Connection, run_id: str, name: str) -> Chosen:
    """Newest versions. Asks nothing more where the profile has no fallback. Raises LookupError."""
    own = await newest(connection, name)
    if own is None:
        raise LookupError(f"profile {name!r} has no version")
    fallback = fallback_of(own.fallback)
    if fallback is None or fallback.profile == own.name:
        return Chosen(profile=own)
    row = await connection.fetchrow(
        """
        SELECT r.failures, r.last_error_code, r.failing_since IS NOT NULL AS failing, (
            SELECT c.profile FROM model_calls c WHERE c.run_id = r.id
            ORDER BY c.started_at DESC, c.id DESC LIMIT 1) AS answered
        FROM runs r WHERE r.id = $1
        """,
        run_id,
    )
    if row is None:
        return Chosen(profile=own)
    away = row["failing"] and row["last_error_code"] not in (None, Reason.INTERNAL)
    other = None
    if away and fallback.due(row["failures"]):
        other = await newest(connection, fallback.profile)
        if other is None:
            log.warning("fallback not there", extra={"run_id": run_id, "profile": own.name})
    if other is not None:
        facts = {"reason": "fallback", "errors": row["failures"], "code": row["last_error_code"]}
        change = {"from": own.name, "to": other.name, **facts}
        return Chosen(profile=other, change=None if row["answered"] == other.name else change)
    back = {"from": fallback.profile, "to": own.name, "reason": "fallback_over"}
    return Chosen(
        profile=own,
        falls_back_after=fallback.after,
        change=back if row["answered"] == fallback.profile else None,
    )


async def tell_change(connection: Connection, run_id: str, step_id: str, chosen: Chosen) -> None:
    """In the transaction that opens the step."""
    if chosen.change is not None:
        event = Event(
            type=EventType.PROFILE_CHANGED,
            actor=Actor.WORKER,
            data={**chosen.change, "step_id": step_id},
        )
        await append_event(connection, run_id, event)
