"""A person's unsent edit as it crosses HTTP."""

from __future__ import annotations

from typing import Any, ClassVar

from api.wire.types import Time, Wire


class Draft(Wire):
    """`body` is null where only notes were made. `stale`: the base is no longer what a new text
    may be made of; `newest` is. `version` grows with every save."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"body", "notes"})

    document_id: str
    principal: str
    base_revision: int
    body: str | None
    notes: dict[str, Any]
    version: int
    stale: bool
    newest: int | None
    updated_at: Time
