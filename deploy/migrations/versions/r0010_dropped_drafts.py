"""Drafts of reviews: versions go on over a draft that was sent or thrown away."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0010"
down_revision: str | None = "0009"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0010_dropped_drafts.sql")
