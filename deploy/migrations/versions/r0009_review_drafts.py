"""Drafts of reviews: versions against overwriting unseen, and notes beside the text."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0009"
down_revision: str | None = "0008"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0009_review_drafts.sql")
