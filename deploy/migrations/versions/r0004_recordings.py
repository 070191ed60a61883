"""Runs that begin with a recording."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0004_recordings.sql")
