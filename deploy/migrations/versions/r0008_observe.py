"""Indexes by the time at which things ended, for the observability centre."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0008_observe.sql")
