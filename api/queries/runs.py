"""Reads of runs: one, and the list with its filters; `phase` is derived from rows alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from api import wire
from api.http import cursors
from api.queries.heard import HEARD, progress_of
from api.queries.rows import Reader, coded, page_of, tokens
from api.queries.run_filters import PHASE, STEP_AND_WORKER, LookedUp, RunFilter, conditions_of
from api.queries.spent import SPENT, spent_of
from deploy.database import Row
from workflows.policy import next_step
from workflows.vocabulary import Phase, RunStatus, workflow_id

_SCOPE = "runs"

# Evaluated once, and only when a row of the answer is queued.
WAITING = """
    waiting AS MATERIALIZED (
        SELECT coalesce(q.queued_at, q.created_at) AS queued_at FROM runs q
        WHERE q.status = 'RUNNING' AND (q.retry_at IS NULL OR q.retry_at <= now())
          AND NOT EXISTS (SELECT FROM steps t WHERE t.run_id = q.id AND t.status = 'RUNNING')
    )
"""

# Looks at calls only of runs whose profile names a fallback.
_FALLBACK = """
    (SELECT jsonb_build_object('name', c.profile, 'version', c.profile_version)
        FROM profiles p CROSS JOIN LATERAL (
            SELECT c.profile, c.profile_version FROM model_calls c WHERE c.run_id = r.id
            ORDER BY c.started_at DESC, c.id DESC LIMIT 1) c
        WHERE p.name = r.profile AND c.profile = p.fallback ->> 'profile'
          AND p.version = (SELECT max(v.version) FROM profiles v WHERE v.name = r.profile))
"""

COLUMNS = f"""
    r.id, r.document_id, r.kind, r.kind_version, d.title, d.language, r.tags, r.status, r.stage,
    r.reason_code, r.reason_params, r.guardrail, r.current_round, r.max_rounds, r.pass_score,
    coalesce(o.score, r.score) AS score, r.base_revision, r.working_revision, r.best_revision,
    r.offered_revision, r.profile,
    r.limits, r.event_seq, r.tokens_input, r.tokens_output, r.tokens_cached, r.tokens_reasoning,
    r.calls, r.cost, r.currency, r.cost_is_estimate, r.move_seq > r.signalled_seq AS signal_due,
    r.actor, r.confirm_by, r.created_at, r.started_at, r.ended_at, r.last_progress_at,
    r.seconds_running, r.running_since, r.retry_at, r.last_error_code, r.pending_review_step,
    r.outcome, r.unheard_source IS NOT NULL AS unheard,
    s.id AS step_id, s.name AS step_name, s.round AS step_round,
    s.attempt AS step_attempt, s.started_at AS step_started_at, s.worker, w.seen_at,
    {PHASE} AS phase,
    r.status <> 'RUNNING' AND (s.id IS NOT NULL OR EXISTS (
        SELECT FROM model_calls c WHERE c.run_id = r.id AND c.status = 'STARTED')) AS stopping,
    (SELECT count(*) FROM issues i
        WHERE i.run_id = r.id AND i.status IN ('open', 'reopened')) AS open_issues,
    coalesce(o.revision, (SELECT t.input_revision FROM steps t
        WHERE t.run_id = r.id AND t.name = 'review' AND t.status = 'SUCCEEDED'
        ORDER BY t.seq DESC LIMIT 1)) AS scored_revision,
    (SELECT max(p.version) FROM profiles p WHERE p.name = r.profile) AS profile_version,
    {_FALLBACK} AS fallback, {HEARD}, {SPENT},
    CASE WHEN {PHASE} = 'queued' THEN (SELECT count(*) FROM waiting
        WHERE waiting.queued_at < coalesce(r.queued_at, r.created_at)) END AS ahead
"""  # noqa: S608


@dataclass(frozen=True, kw_only=True)
class TemporalWeb:
    """Where Temporal Web is, for links; an empty `base` makes none."""

    base: str = ""
    namespace: str = ""

    def link(self, run_id: str) -> str | None:
        if not self.base:
            return None
        namespace, workflow = quote(self.namespace, safe=""), quote(workflow_id(run_id), safe="")
        return f"{self.base.rstrip('/')}/namespaces/{namespace}/workflows/{workflow}"


NO_WEB = TemporalWeb()


async def run(reader: Reader, run_id: str, *, web: TemporalWeb = NO_WEB) -> wire.Run | None:
    """The run as it is now; None when there is none."""
    if not cursors.is_uuid(run_id):
        return None
    row = await reader.fetchrow(
        f"""
        WITH {WAITING}
        SELECT {COLUMNS}
        FROM runs r JOIN documents d ON d.id = r.document_id {STEP_AND_WORKER}
        WHERE r.id = $1
        """,  # noqa: S608
        run_id,
    )
    return None if row is None else run_of(row, web)


async def runs_page(
    reader: Reader,
    wanted: RunFilter,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
    *,
    web: TemporalWeb = NO_WEB,
    once: LookedUp | None = None,
) -> wire.Page[wire.Run]:
    """Newest first. With `count`, `by_status` counts under all filters but the statuses'.

    Raises BadCursor.
    """
    once = {} if once is None else once
    conditions = await conditions_of(reader, wanted, once)
    if cursor is not None:
        at, last = cursors.decode_moment(_SCOPE, cursor)
        conditions = conditions.after(at, last)
    rows = await reader.fetch(
        f"""
        WITH {WAITING},
        page AS ({conditions.page_sql(limit + 1)})
        SELECT {COLUMNS}
        FROM page JOIN runs r ON r.id = page.id
        JOIN documents d ON d.id = r.document_id {STEP_AND_WORKER}
        ORDER BY r.created_at DESC, r.id DESC
        """,  # noqa: S608
        *conditions.arguments,
    )
    found = page_of(
        rows,
        limit,
        lambda row: run_of(row, web),
        lambda row: cursors.encode_moment(_SCOPE, row["created_at"], row["id"]),
    )
    if not count:
        return found
    by_status = await counts_by_status(reader, replace(wanted, statuses=()), once)
    chosen = wanted.statuses or tuple(by_status)
    total = sum(by_status.get(status, 0) for status in chosen)
    return found.model_copy(update={"total": total, "by_status": by_status})


async def newest_ids(reader: Reader, wanted: RunFilter, limit: int) -> list[str]:
    """Ids of at most `limit` runs under the filter, newest first."""
    conditions = await conditions_of(reader, wanted)
    rows = await reader.fetch(conditions.page_sql(limit), *conditions.arguments)
    return [str(row["id"]) for row in rows]


async def newer_ids(reader: Reader, wanted: RunFilter, limit: int, cursor: str) -> list[str]:
    """Ids of the `limit` runs that stand before the cursor's row, the nearest first."""
    conditions = await conditions_of(reader, wanted)
    conditions = conditions.before(*cursors.decode_moment(_SCOPE, cursor))
    rows = await reader.fetch(conditions.page_sql(limit), *conditions.arguments)
    return [str(row["id"]) for row in rows]


def cursor_at(run: wire.Run) -> str:
    """The cursor of the list at this run."""
    return cursors.encode_moment(_SCOPE, run.created_at, run.id)


async def counts_by_status(
    reader: Reader, wanted: RunFilter | None = None, once: LookedUp | None = None
) -> dict[str, int]:
    """How many runs stand in each status (all seven, 0 included) under the filter."""
    conditions = await conditions_of(reader, wanted or RunFilter(), once)
    rows = await reader.fetch(conditions.count_sql(), *conditions.arguments)
    found = {row["status"]: row["number"] for row in rows}
    return {str(status): found.get(status, 0) for status in RunStatus}


def run_of(row: Row, web: TemporalWeb) -> wire.Run:
    return wire.Run(
        id=row["id"],
        document_id=row["document_id"],
        kind=row["kind"],
        kind_version=row["kind_version"],
        title=row["title"],
        language=row["language"],
        tags=row["tags"],
        status=row["status"],
        phase=_phase(row),
        stage=row["stage"],
        reason=coded(row["reason_code"], row["reason_params"]),
        guardrail=row["guardrail"],
        stopping=row["stopping"],
        active_step=_active_step(row),
        progress=progress_of(row["heard"], working=row["phase"] == Phase.WORKING),
        next_step=_next_step(row),
        current_round=row["current_round"],
        max_rounds=row["max_rounds"],
        pass_score=row["pass_score"],
        score=row["score"],
        scored_revision=row["scored_revision"],
        open_issues=row["open_issues"],
        base_revision=row["base_revision"],
        working_revision=row["working_revision"],
        best_revision=row["best_revision"],
        offered_revision=row["offered_revision"],
        profile=wire.ProfileRef(name=row["profile"], version=row["profile_version"]),
        fallback=None if row["fallback"] is None else wire.ProfileRef(**row["fallback"]),
        limits=row["limits"],
        event_seq=row["event_seq"],
        tokens=tokens(row),
        calls=row["calls"],
        **spent_of(row),
        running=wire.RunningTime(seconds=int(row["seconds_running"]), since=row["running_since"]),
        signal_due=row["signal_due"],
        actor=row["actor"],
        confirm_by=row["confirm_by"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        last_progress_at=row["last_progress_at"],
        workflow_id=workflow_id(row["id"]),
        temporal_url=web.link(row["id"]),
    )


def _phase(row: Row) -> wire.Coded | None:
    code = row["phase"]
    if code is None:
        return None
    params: dict[str, Any] = {}
    if code == Phase.QUEUED:
        params = {"ahead": row["ahead"]}
    elif code in (Phase.WAITING_RETRY, Phase.RATE_LIMITED):
        params = {"next_at": wire.timestamp(row["retry_at"])}
        if code == Phase.WAITING_RETRY:
            params["last_error"] = row["last_error_code"]
    elif code == Phase.WORKER_LOST:
        seen = row["seen_at"]
        params = {"worker": row["worker"], "last_seen": seen and wire.timestamp(seen)}
    return wire.Coded(code=code, params=params)


def _active_step(row: Row) -> wire.ActiveStep | None:
    if row["step_id"] is None:
        return None
    return wire.ActiveStep(
        id=row["step_id"],
        name=row["step_name"],
        round=row["step_round"],
        attempt=row["step_attempt"],
        started_at=row["step_started_at"],
    )


def _next_step(row: Row) -> wire.NextStep | None:
    """By the engine's own rule, so that no page promises another step than comes."""
    if row["status"] not in (RunStatus.RUNNING, RunStatus.INTERRUPTED, RunStatus.FAILED):
        return None
    found = next_step(
        working_revision=row["working_revision"],
        current_round=row["current_round"],
        pending_review=row["pending_review_step"] is not None,
        outcome=row["outcome"],
        max_rounds=row["max_rounds"],
        unheard=row["unheard"],
    )
    return None if found is None else wire.NextStep(round=found[0], name=found[1])
