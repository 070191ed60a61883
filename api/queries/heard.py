"""How far a recording is heard, by its rows: done and total seconds, an estimate of the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from api.wire.progress import Progress

# Looks at parts only of runs whose recording has no transcript yet.
HEARD = """
    CASE WHEN r.unheard_source IS NOT NULL THEN (
        SELECT jsonb_build_object(
            'done', coalesce(sum(l.long) FILTER (WHERE q.done_at IS NOT NULL), 0),
            'total', sum(l.long),
            'lately', sum(l.long) FILTER (WHERE q.done_at >= s.started_at),
            'took', extract(epoch FROM max(q.done_at) - s.started_at),
            'since', extract(epoch FROM now() - max(q.done_at)))
        FROM step_plans p JOIN step_parts q ON q.plan_id = p.id,
            LATERAL (SELECT (q.spec ->> 'end')::float - (q.spec ->> 'start')::float AS long) l
        WHERE p.run_id = r.id AND p.name = 'transcribe' AND p.voided_at IS NULL) END AS heard
"""


def progress_of(heard: Mapping[str, Any] | None, *, working: bool) -> Progress | None:
    """None before the recording is cut, and for runs without one."""
    if heard is None or heard["total"] is None:
        return None
    done, total, rest = heard["done"], heard["total"], None
    if working and heard["lately"] and heard["took"] > 0:
        whole = (total - done) * heard["took"] / heard["lately"]
        rest = math.ceil(max(whole - heard["since"], 0.0))
    return Progress(
        step="transcribe",
        done_seconds=round(done, 1),
        total_seconds=round(total, 1),
        rest_seconds=rest,
    )
