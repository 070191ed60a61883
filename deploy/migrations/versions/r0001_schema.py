"""The whole schema: content, runs, service. Later revisions only add to it."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    for part in ("content", "runs", "service"):
        run_file(f"0001_{part}.sql")
