"""Calls that a dead worker left open."""

from __future__ import annotations

from activities.model.client import Usage
from activities.model.learned import UNTAUGHT
from activities.model.profile import Profile, version
from activities.projection import CallClosing, close_call
from deploy.database import Connection
from workflows.vocabulary import CallStatus, Reason, UsageSource


async def lose_calls(connection: Connection, run_id: str, step_id: str, reason: Reason) -> int:
    """Closes what a dead worker left open, as LOST, with an estimate from stored partial text, or
    from the items kept of it: those are stored at once, the text only each second."""
    rows = await connection.fetch(
        """
        SELECT c.id, c.partial_text, c.tokens_input, c.profile, c.profile_version,
               coalesce(c.tokens_reasoning, 0) AS thought,
               (SELECT count(*) FROM step_items i WHERE i.call_id = c.id) AS kept,
               (SELECT string_agg(i.payload::text, ', ') FROM step_items i WHERE i.call_id = c.id)
                   AS items,
               (SELECT (p.spec ->> 'end')::float - (p.spec ->> 'start')::float FROM step_parts p
                WHERE c.step_name = 'transcribe' AND p.plan_id = c.plan_id AND p.part = c.part)
                   AS sound
        FROM model_calls c WHERE c.step_id = $1 AND c.status = 'STARTED'
        """,
        step_id,
    )
    profiles: dict[tuple[str, int], Profile | None] = {}
    for row in rows:
        key = row["profile"], row["profile_version"]
        if key not in profiles:  # parts side by side have one
            profiles[key] = await version(connection, *key)
        profile = profiles[key]
        learned = profile.learned if profile else UNTAUGHT
        received, thought = row["partial_text"] or "", row["thought"]
        said = max(learned.output(received), learned.output(row["items"] or ""))
        usage = Usage(
            input=row["tokens_input"] or 0,
            output=said + thought,
            reasoning=thought,
        )
        await close_call(
            connection,
            CallClosing(
                call_id=row["id"],
                run_id=run_id,
                status=CallStatus.LOST,
                profile=profile,
                end_cause=reason,
                usage=usage,
                usage_source=UsageSource.ESTIMATED,
                sound=row["sound"],
                items_kept=row["kept"],
                text=received,
            ),
        )
    return len(rows)
