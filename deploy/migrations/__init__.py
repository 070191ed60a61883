"""The schema's history: Alembic revisions of hand-written SQL, forward only."""

from __future__ import annotations

HEAD = "0014"
"""The revision this code needs; `/readyz` is red while the database is behind it."""
