"""The reads behind live streams: one statement for all runs, so a tick costs one round trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api import wire
from api.queries.parts import event
from api.queries.rows import Reader
from workflows.vocabulary import FINAL

BATCH = 500
"""Events of one run that one tick reads at most."""

# Nothing more can come: the status is final and nobody works or is paid on the run's behalf.
_OVER = """
    r.status = ANY ($1::text[])
    AND NOT EXISTS (SELECT FROM steps s WHERE s.run_id = r.id AND s.status = 'RUNNING')
    AND NOT EXISTS (SELECT FROM model_calls c WHERE c.run_id = r.id AND c.status = 'STARTED')
"""


@dataclass(frozen=True, kw_only=True)
class Head:
    """Where a run stands. `over` means that no event will follow `event_seq`."""

    event_seq: int
    status: str
    over: bool


@dataclass(frozen=True, kw_only=True)
class News:
    """What a reader at one seq of one run has not seen; `head` is None when it was deleted."""

    head: Head | None
    events: list[wire.Event]

    @property
    def more(self) -> bool:
        return len(self.events) == BATCH


async def heads(reader: Reader, run_ids: Sequence[str]) -> dict[str, Head]:
    """By run id; runs that do not exist are missing."""
    rows = await reader.fetch(
        f"""
        SELECT r.id, r.event_seq, r.status, ({_OVER}) AS over
        FROM runs r WHERE r.id = ANY ($2::uuid[])
        """,  # noqa: S608
        list(FINAL),
        list(run_ids),
    )
    return {
        row["id"]: Head(event_seq=row["event_seq"], status=row["status"], over=row["over"])
        for row in rows
    }


async def news(reader: Reader, positions: Sequence[tuple[str, int]]) -> dict[tuple[str, int], News]:
    """What lies behind each (run, seq); positions without anything new are missing.

    One snapshot: a head is never newer than the events that came with it.
    """
    rows = await reader.fetch(
        f"""
        SELECT w.run_id, w.seq AS known, r.event_seq, r.status, ({_OVER}) AS over,
            e.seq, e.type, e.at, e.actor, e.request_id, e.data,
            -- Not a join: of many rows that would read all comments at each tick.
            (SELECT c.text FROM comments c
                WHERE c.id = (e.data->>'comment_id')::uuid) AS comment
        FROM unnest($2::uuid[], $3::bigint[]) AS w (run_id, seq)
        LEFT JOIN runs r ON r.id = w.run_id
        LEFT JOIN LATERAL (
            SELECT v.seq, v.type, v.at, v.actor, v.request_id, v.data FROM run_events v
            WHERE v.run_id = w.run_id AND v.seq > w.seq AND r.event_seq > w.seq
            ORDER BY v.seq LIMIT {BATCH:d}
        ) e ON true
        WHERE r.id IS NULL OR r.event_seq > w.seq OR r.status = ANY ($1::text[])
        ORDER BY w.run_id, w.seq, e.seq
        """,  # noqa: S608
        list(FINAL),
        [run_id for run_id, _ in positions],
        [seq for _, seq in positions],
    )
    found: dict[tuple[str, int], News] = {}
    for row in rows:
        key = (row["run_id"], row["known"])
        if key not in found:
            head = None
            if row["event_seq"] is not None:
                head = Head(event_seq=row["event_seq"], status=row["status"], over=row["over"])
            found[key] = News(head=head, events=[])
        if row["seq"] is not None:
            found[key].events.append(event(row))
    return found


@dataclass(frozen=True, kw_only=True)
class OpenCall:
    """A call that is still receiving. `text` is what it has beyond the known characters, '' when
    `length` is as before (`length` is the column's: only a change of it is looked at)."""

    call_id: str
    run_id: str
    text: str
    length: int


async def open_calls(
    reader: Reader, run_ids: Sequence[str], known: Mapping[str, tuple[int, int]]
) -> list[OpenCall]:
    """All open calls of these runs. `known` has (length, characters) by call."""
    rows = await reader.fetch(
        """
        SELECT c.id, c.run_id, c.partial_length,
            CASE WHEN c.partial_length IS DISTINCT FROM k.length
                THEN substr(c.partial_text, coalesce(k.characters, 0) + 1) END AS text
        FROM model_calls c
        LEFT JOIN unnest($2::uuid[], $3::integer[], $4::integer[])
            AS k (call_id, length, characters) ON k.call_id = c.id
        WHERE c.run_id = ANY ($1::uuid[]) AND c.status = 'STARTED'
        """,
        list(run_ids),
        list(known),
        [length for length, _ in known.values()],
        [characters for _, characters in known.values()],
    )
    return [
        OpenCall(
            call_id=row["id"],
            run_id=row["run_id"],
            text=row["text"] or "",
            length=row["partial_length"],
        )
        for row in rows
    ]
