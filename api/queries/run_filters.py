"""Which runs a list shows: its filter, and the SQL that finds and counts them.

Text search: titles of all runs (trigram index), bodies of the newest `TEXT_WINDOW` runs under the
other filters, because no index serves words of two Chinese characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from api.queries.rows import Reader, like

TEXT_WINDOW = 1000
COUNT_WINDOW = 10_000
"""A search counts at most this many titles: "10000" then means so many or more."""
RARE = 5000
"""Titles up to which a search begins with them."""
_CASELESS = re.compile(r"[\x20-\x40\x5b-\x60\x7b-\x7e\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff]+")
"""Signs that are neither capital nor small."""
# A worker is lost after its goodbye or 15 s without a sign; a missing row proves no life either.
PHASE = """
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
    LEFT JOIN assessments o ON o.run_id = r.id AND o.revision = r.offered_revision AND o.reviewed
"""
"""`o` is how the offered revision stands, where it was reviewed: another may be the last one."""


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


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """A filter as SQL. Written out per filter: `$1 IS NULL OR …` would keep indexes from use."""

    clauses: tuple[str, ...] = ()
    arguments: tuple[Any, ...] = ()
    keyset: str = ""
    search: str = ""
    caseless: str = ""
    """The longest piece of the search without letters that have two cases. Texts are looked through
    for it first: where case is ignored, each text is made small before, at ten times the cost."""
    texts: str = ""
    """Ids of runs in whose text the search was found: texts are read once for a page and counts."""
    kept: bool = False
    """Nothing but kinds, actors and statuses is asked for: their counts are kept by triggers."""
    by_phase: bool = False
    rare: bool = False
    """So few titles match that they are looked up first; else the newest runs are walked through
    until enough of them match. The planner cannot know which is quicker."""
    order: str = "DESC"

    @classmethod
    def of(cls, wanted: RunFilter) -> Conditions:
        counted = RunFilter(statuses=wanted.statuses, kinds=wanted.kinds, actors=wanted.actors)
        made = cls(by_phase=bool(wanted.phases), kept=wanted == counted)
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
            (f"{PHASE} = ANY ($::text[])", list(wanted.phases)),
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
            if pieces := _CASELESS.findall(wanted.q):
                arguments = (*arguments, max(pieces, key=len))
                made = replace(made, arguments=arguments, caseless=f"${len(arguments)}")
        return made

    def _with(self, clause: str, *argument: Any) -> Conditions:
        arguments = (*self.arguments, *argument)
        numbered = clause.replace("$", f"${len(arguments)}") if argument else clause
        return replace(self, clauses=(*self.clauses, numbered), arguments=arguments)

    def after(self, at: datetime, last: str) -> Conditions:
        arguments = (*self.arguments, at, last)
        number = len(arguments)
        keyset = f"(r.created_at, r.id) < (${number - 1}, ${number})"
        return replace(self, arguments=arguments, keyset=keyset)

    def before(self, at: datetime, last: str) -> Conditions:
        made = self.after(at, last)
        return replace(made, keyset=made.keyset.replace("<", ">"), order="ASC")

    def _where(self, *more: str) -> str:
        return " AND ".join(("true", *self.clauses, *filter(None, more)))

    def _source(self) -> str:
        return f"runs r {STEP_AND_WORKER if self.by_phase else ''}"

    def _titles(self) -> str:
        if self.rare:
            return f"""
                SELECT r.id, r.created_at, r.status FROM {self._source()}
                JOIN (SELECT id FROM documents WHERE title ILIKE {self.search} OFFSET 0) d
                    ON d.id = r.document_id
                WHERE {self._where(self.keyset)}
            """  # noqa: S608
        return f"""
            SELECT r.id, r.created_at, r.status FROM {self._source()}
            JOIN documents d ON d.id = r.document_id
            WHERE {self._where(self.keyset)} AND d.title ILIKE {self.search}
        """  # noqa: S608

    def _found_in(self, text: str) -> str:
        found = f"{text} ILIKE {self.search}"
        if not self.caseless:
            return found
        return f"CASE WHEN strpos({text}, {self.caseless}) = 0 THEN false ELSE {found} END"

    def texts_sql(self) -> str:
        return f"""
            SELECT r.id FROM (
                SELECT r.id, r.document_id, coalesce(r.working_revision, r.base_revision) AS number
                FROM {self._source()} WHERE {self._where()}
                ORDER BY r.created_at DESC, r.id DESC LIMIT {TEXT_WINDOW}
            ) r JOIN revisions v ON v.document_id = r.document_id AND v.number = r.number
            WHERE {self._found_in("v.body")}
        """  # noqa: S608

    def looked_up(self, texts: Sequence[str], *, rare: bool) -> Conditions:
        """With what `texts_sql` found; `caseless` was for that alone."""
        arguments = (*(self.arguments[:-1] if self.caseless else self.arguments), list(texts))
        at = f"${len(arguments)}"
        return replace(self, arguments=arguments, caseless="", texts=at, rare=rare)

    def _texts(self) -> str:
        return f"""
            SELECT r.id, r.created_at, r.status FROM {self._source()}
            WHERE {self._where(f"r.id = ANY ({self.texts}::uuid[])", self.keyset)}
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
        if self.kept:
            return f"""
                SELECT r.status, sum(r.number)::bigint AS number FROM run_counts r
                WHERE {self._where()} GROUP BY r.status
            """  # noqa: S608
        if not self.search:
            found = f"SELECT r.id, r.status FROM {self._source()} WHERE {self._where()}"  # noqa: S608
        else:
            newest = f"ORDER BY r.created_at DESC, r.id DESC LIMIT {COUNT_WINDOW:d}"
            found = f"({self._titles()} {newest}) UNION ({self._texts()})"
        return f"SELECT status, count(*) AS number FROM ({found}) f GROUP BY status"  # noqa: S608


LookedUp: TypeAlias = dict[RunFilter, Conditions]


async def conditions_of(
    reader: Reader, wanted: RunFilter, once: LookedUp | None = None
) -> Conditions:
    """Of a search with what was looked up for it; in `once`, what this request did so far."""
    conditions = Conditions.of(wanted)
    if not wanted.q:
        return conditions
    if once is not None and wanted in once:
        return once[wanted]
    titles = await reader.fetchval(
        "SELECT count(*) FROM (SELECT FROM documents WHERE title ILIKE $1 LIMIT $2) d",
        like(wanted.q),
        RARE,
    )
    rows = await reader.fetch(conditions.texts_sql(), *conditions.arguments)
    conditions = conditions.looked_up([str(row["id"]) for row in rows], rare=titles < RARE)
    if once is not None:
        once[wanted] = conditions
    return conditions
