"""What stands in paths and queries: ids that may exist, page sizes, cursors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypeVar

from fastapi import Depends, Query

from api.http import cursors
from api.http.errors import not_found

Found = TypeVar("Found")

LARGEST_PAGE = 200
_LONGEST_CURSOR = 500


def _document(document_id: str) -> str:
    return _id(document_id, "document")


def _run(run_id: str) -> str:
    return _id(run_id, "run")


def _id(text: str, what: str) -> str:
    """What is no id at all is not found, as an id of nothing is."""
    if not cursors.is_uuid(text):
        raise not_found(what)
    return text.lower()


DocumentId: TypeAlias = Annotated[str, Depends(_document)]
RunId: TypeAlias = Annotated[str, Depends(_run)]


@dataclass(frozen=True, kw_only=True)
class Paging:
    """Which page of a list, and whether with totals."""

    limit: int
    cursor: str | None
    count: bool


def _paging(
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
    cursor: str | None = None,
    count: bool = False,
) -> Paging:
    if cursor is not None and len(cursor) > _LONGEST_CURSOR:
        raise cursors.BadCursor
    return Paging(limit=limit, cursor=cursor, count=count)


Page: TypeAlias = Annotated[Paging, Depends(_paging)]


def or_404(found: Found | None, what: str) -> Found:
    if found is None:
        raise not_found(what)
    return found
