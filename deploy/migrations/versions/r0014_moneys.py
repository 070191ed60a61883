"""What a run paid in several currencies has no sum: sums made before of both are taken away."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0014"
down_revision: str | None = "0013"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0014_moneys.sql")
