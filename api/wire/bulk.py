"""Answers about many runs at once."""

from __future__ import annotations

from api.wire import Wire


class BulkItem(Wire):
    """What became of one run; `code` is that of the refusal."""

    id: str
    ok: bool
    code: str | None = None


class Bulk(Wire):
    """`more`: the filter matches further runs than one request moves."""

    items: list[BulkItem]
    more: bool = False
