"""The uploaded files behind sources and first revisions."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0006_originals.sql")
