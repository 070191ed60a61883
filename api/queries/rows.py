"""What every read shares: who reads, how a page is cut, how rows become codes and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from api import wire
from deploy.database import Connection, Pool, Row

Entry = TypeVar("Entry")
Reader: TypeAlias = "Pool | Connection"


def page_of(
    rows: Sequence[Row],
    limit: int,
    build: Callable[[Row], Entry],
    cursor: Callable[[Row], str],
) -> wire.Page[Entry]:
    """A page of `limit` rows out of `limit + 1` fetched: the one too many tells there is more."""
    shown = rows[:limit]
    more = len(rows) > limit
    return wire.Page[Entry](
        items=[build(row) for row in shown], next_cursor=cursor(shown[-1]) if more else None
    )


def counted(page: wire.Page[Entry], by_status: Mapping[str, int]) -> wire.Page[Entry]:
    """The page with its counts; rows that have no status count under ''."""
    shown = {status: number for status, number in by_status.items() if status}
    total = sum(by_status.values())
    return page.model_copy(update={"total": total, "by_status": shown})


def grouped(rows: Sequence[Row]) -> dict[str, int]:
    """Rows of (status, number) as a mapping."""
    return {row["status"]: row["number"] for row in rows}


def like(text: str) -> str:
    """A pattern for ILIKE that finds `text` as it stands."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def coded(code: str | None, params: Mapping[str, Any] | None) -> wire.Coded | None:
    return None if code is None else wire.Coded(code=code, params=dict(params or {}))


def tokens(row: Row) -> wire.Tokens:
    """The four counts of a run or a call."""
    return wire.Tokens(
        input=row["tokens_input"],
        output=row["tokens_output"],
        cached=row["tokens_cached"],
        reasoning=row["tokens_reasoning"],
    )
