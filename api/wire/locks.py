"""A locked passage of a document, as it is answered."""

from __future__ import annotations

from typing import ClassVar

from api.wire.types import Time, Wire


class Lock(Wire):
    """A passage that no later round may change. `actor` locked it, or rejected what a round made
    of it; `stands`: these words stand in the newest revision."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"quote"})

    id: str
    document_id: str
    quote: str
    actor: str
    stands: bool
    created_at: Time
