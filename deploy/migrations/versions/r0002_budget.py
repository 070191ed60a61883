"""Limits and guardrails: which warnings were given, and which part a guardrail stopped."""

from __future__ import annotations

from deploy.migrations.statements import run_file

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    run_file("0002_budget.sql")
