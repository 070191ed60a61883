"""Runs a file of hand-written SQL inside the migration's own transaction."""

from __future__ import annotations

from pathlib import Path

from alembic import op
from sqlalchemy.util import await_only

SQL = Path(__file__).parent / "versions" / "sql"


def run_file(name: str) -> None:
    """The driver's own `execute`, because a prepared statement takes one command only."""
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "migrations run on a live connection"
    await_only(connection.execute((SQL / name).read_text(encoding="utf-8")))
