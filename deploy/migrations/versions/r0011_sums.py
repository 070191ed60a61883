"""Sums of calls and of steps of the past, with marks that a change of it takes away."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0011_sums.sql")
