"""Reads of runs: one, and the list with its filters; `phase` is derived here from rows alone.

Text search: titles of all runs (trigram index), bodies of the newest `TEXT_WINDOW` runs under the
other filters, because no index serves words of two Chinese characters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from api import cursors, wire
from api.queries.heard import HEARD, progress_of
from api.queries.rows import Reader, coded, like, page_of, tokens
from deploy.database import Row
from workflows.policy import next_step
from workflows.vocabulary import Phase, RunStatus, workflow_id

TEXT_WINDOW = 1000
COUNT_WINDOW = 10_000
"""A search counts at most this many titles: "10000" then means so many or more."""
_SCOPE = "runs"

# A worker is lost after its goodbye or 15 s without a sign; a missing row proves no life either.
_PHASE = """
    CASE WHEN r.status <> 'RUNNING' THEN NULL
        WHEN s.id IS NOT NULL AND s.epoch < r.epoch THEN 'stopping'
        WHEN s.id IS NOT NULL AND w.goodbye_at IS NULL AND w.seen_at > now() - interval '15 s'
            THEN 'working'
        WHEN s.id IS NOT NULL THEN 'worker_lost'
        WHEN r.retry_at > now() AND r.last_error_code = 'bucket' THEN 'rate_limited'
        WHEN r.retry_at > now() THEN 'waiting_retry'
        ELSE 'queued' END
"""

STEP_AND_WORKER = """
    LEFT JOIN steps s ON s.run_id = r.id AND s.status = 'RUNNING'
    LEFT JOIN workers w ON w.id = s.worker
"""

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
    r.score, r.base_revision, r.working_revision, r.best_revision, r.offered_revision, r.profile,
    r.limits, r.event_seq, r.tokens_input, r.tokens_output, r.tokens_cached, r.tokens_reasoning,
    r.calls, r.cost, r.currency, r.cost_is_estimate, r.move_seq > r.signalled_seq AS signal_due,
    r.actor, r.confirm_by, r.created_at, r.started_at, r.ended_at, r.last_progress_at,
    r.seconds_running, r.running_since, r.retry_at, r.last_error_code, r.pending_review_step,
    r.outcome, r.unheard_source IS NOT NULL AS unheard,
    s.id AS step_id, s.name AS step_name, s.round AS step_round,
    s.attempt AS step_attempt, s.started_at AS step_started_at, s.worker, w.seen_at,
    {_PHASE} AS phase,
    r.status <> 'RUNNING' AND (s.id IS NOT NULL OR EXISTS (
        SELECT FROM model_calls c WHERE c.run_id = r.id AND c.status = 'STARTED')) AS stopping,
    (SELECT count(*) FROM issues i
        WHERE i.run_id = r.id AND i.status IN ('open', 'reopened')) AS open_issues,
    (SELECT t.input_revision FROM steps t
        WHERE t.run_id = r.id AND t.name = 'review' AND t.status = 'SUCCEEDED'
        ORDER BY t.seq DESC LIMIT 1) AS scored_revision,
    (SELECT max(p.version) FROM profiles p WHERE p.name = r.profile) AS profile_version,
    {_FALLBACK} AS fallback, {HEARD},
    CASE WHEN {_PHASE} = 'queued' THEN (SELECT count(*) FROM waiting
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


@dataclass(frozen=True, kw_only=True)
class RunFilter:
    """What `GET /api/runs` may be asked for; empty means any."""

    statuses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    document_id: str | None = None
    q: str = ""
    from_: datetime | None = None
    to: datetime | None = None
    ids: tuple[str, ...] = ()


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
) -> wire.Page[wire.Run]:
    """Newest first. With `count`, `by_status` counts under all filters but the statuses'.

    Raises BadCursor.
    """
    conditions = _Conditions.of(wanted)
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
    by_status = await counts_by_status(reader, replace(wanted, statuses=()))
    chosen = wanted.statuses or tuple(by_status)
    total = sum(by_status.get(status, 0) for status in chosen)
    return found.model_copy(update={"total": total, "by_status": by_status})


async def newest_ids(reader: Reader, wanted: RunFilter, limit: int) -> list[str]:
    """Ids of at most `limit` runs under the filter, newest first."""
    conditions = _Conditions.of(wanted)
    rows = await reader.fetch(conditions.page_sql(limit), *conditions.arguments)
    return [str(row["id"]) for row in rows]


async def newer_ids(reader: Reader, wanted: RunFilter, limit: int, cursor: str) -> list[str]:
    """Ids of the `limit` runs that stand before the cursor's row, the nearest first."""
    conditions = _Conditions.of(wanted).before(*cursors.decode_moment(_SCOPE, cursor))
    rows = await reader.fetch(conditions.page_sql(limit), *conditions.arguments)
    return [str(row["id"]) for row in rows]


def cursor_at(run: wire.Run) -> str:
    """The cursor of the list at this run."""
    return cursors.encode_moment(_SCOPE, run.created_at, run.id)


async def counts_by_status(reader: Reader, wanted: RunFilter | None = None) -> dict[str, int]:
    """How many runs stand in each status (all seven, 0 included) under the filter."""
    conditions = _Conditions.of(wanted or RunFilter())
    rows = await reader.fetch(conditions.count_sql(), *conditions.arguments)
    found = {row["status"]: row["number"] for row in rows}
    return {str(status): found.get(status, 0) for status in RunStatus}


@dataclass(frozen=True, kw_only=True)
class _Conditions:
    """A filter as SQL. Written out per filter: `$1 IS NULL OR …` would keep indexes from use."""

    clauses: tuple[str, ...] = ()
    arguments: tuple[Any, ...] = ()
    keyset: str = ""
    search: str = ""
    by_phase: bool = False
    order: str = "DESC"

    @classmethod
    def of(cls, wanted: RunFilter) -> _Conditions:
        made = cls(by_phase=bool(wanted.phases))
        for column, values in (
            ("r.status", wanted.statuses),
            ("r.kind", wanted.kinds),
            ("r.actor", wanted.actors),
        ):
            if len(values) == 1:  # equality keeps the index's order
                made = made._with(f"{column} = $", values[0])
            elif values:
                made = made._with(f"{column} = ANY ($::text[])", list(values))
        if wanted.phases:
            made = made._with("r.status = 'RUNNING'")
        for clause, given in (
            (f"{_PHASE} = ANY ($::text[])", list(wanted.phases)),
            ("r.tags @> $::text[]", list(wanted.tags)),
            ("r.document_id = $", wanted.document_id),
            ("r.id = ANY ($::uuid[])", list(wanted.ids)),
            ("r.created_at >= $", wanted.from_),
            ("r.created_at < $", wanted.to),
        ):
            if given:
                made = made._with(clause, given)
        if wanted.q:
            arguments = (*made.arguments, like(wanted.q))
            made = replace(made, arguments=arguments, search=f"${len(arguments)}")
        return made

    def _with(self, clause: str, *argument: Any) -> _Conditions:
        arguments = (*self.arguments, *argument)
        numbered = clause.replace("$", f"${len(arguments)}") if argument else clause
        return replace(self, clauses=(*self.clauses, numbered), arguments=arguments)

    def after(self, at: datetime, last: str) -> _Conditions:
        arguments = (*self.arguments, at, last)
        number = len(arguments)
        keyset = f"(r.created_at, r.id) < (${number - 1}, ${number})"
        return replace(self, arguments=arguments, keyset=keyset)

    def before(self, at: datetime, last: str) -> _Conditions:
        made = self.after(at, last)
        return replace(made, keyset=made.keyset.replace("<", ">"), order="ASC")

    def _where(self, *more: str) -> str:
        return " AND ".join(("true", *self.clauses, *filter(None, more)))

    def _source(self) -> str:
        return f"runs r {STEP_AND_WORKER if self.by_phase else ''}"

    def _titles(self) -> str:
        return f"""
            SELECT r.id, r.created_at, r.status FROM {self._source()}
            JOIN documents d ON d.id = r.document_id
            WHERE {self._where(self.keyset)} AND d.title ILIKE {self.search}
        """  # noqa: S608

    def _texts(self) -> str:
        return f"""
            SELECT r.id, r.created_at, r.status FROM (
                SELECT r.id, r.created_at, r.status, r.document_id,
                    coalesce(r.working_revision, r.base_revision) AS number
                FROM {self._source()} WHERE {self._where()}
                ORDER BY r.created_at DESC, r.id DESC LIMIT {TEXT_WINDOW}
            ) r JOIN revisions v ON v.document_id = r.document_id AND v.number = r.number
            WHERE v.body ILIKE {self.search} {self.keyset and f"AND {self.keyset}"}
        """  # noqa: S608

    def page_sql(self, limit: int) -> str:
        newest = f"ORDER BY created_at {self.order}, id {self.order} LIMIT {limit:d}"
        if not self.search:
            return f"""
                SELECT r.id, r.created_at FROM {self._source()} WHERE {self._where(self.keyset)}
                ORDER BY r.created_at {self.order}, r.id {self.order} LIMIT {limit:d}
            """  # noqa: S608
        # Each branch stops at the limit by its own index; what is newest of both is the page.
        return f"""
            (SELECT id, created_at FROM ({self._titles()}) t {newest})
            UNION (SELECT id, created_at FROM ({self._texts()}) t {newest})
            {newest}
        """  # noqa: S608

    def count_sql(self) -> str:
        if not self.search:
            found = f"SELECT r.id, r.status FROM {self._source()} WHERE {self._where()}"  # noqa: S608
        else:
            newest = f"ORDER BY r.created_at DESC, r.id DESC LIMIT {COUNT_WINDOW:d}"
            found = f"({self._titles()} {newest}) UNION ({self._texts()})"
        return f"SELECT status, count(*) AS number FROM ({found}) f GROUP BY status"  # noqa: S608


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
        cost=wire.money(row["cost"]),
        currency=row["currency"],
        cost_is_estimate=row["cost_is_estimate"],
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
