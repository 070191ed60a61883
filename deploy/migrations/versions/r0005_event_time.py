"""Events are dated when they are written, under the lock that orders them."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0005_event_time.sql")
