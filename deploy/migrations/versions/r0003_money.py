"""What calls teach about their profile, and plans that are cut anew for a smaller context."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0003_money.sql")
