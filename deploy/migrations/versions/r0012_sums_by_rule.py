"""Sums of calls are named by the rule they follow; those of the old rule are made anew."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0012"
down_revision: str | None = "0011"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0012_sums_by_rule.sql")
