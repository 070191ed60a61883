"""Rows for `bench pages`: runs of a month with ten steps and ten calls each, made by SQL alone.

The newest 50 are at work, with an open call; the newest 2,000 have texts as long as real ones.
"""

from __future__ import annotations

from pathlib import Path

import asyncpg

WATCHED = 50
_SQL = Path(__file__).with_suffix(".sql")


def document_id(number: int) -> str:
    """Of the `number`th newest run, from 1, as the ones below."""
    return f"01a22906-aafb-7160-a8dc-{number:012x}"


def run_id(number: int) -> str:
    return f"01a22907-aafb-7160-a8dc-{number:012x}"


def call_id(number: int, step: int = 0) -> str:
    return f"01a2290a-aafb-716{step}-a8dc-{number:012x}"


async def seed(connection: asyncpg.Connection[asyncpg.Record], runs: int) -> None:
    """About three minutes for 100,000."""
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("SET synchronous_commit = off")
    text = _SQL.read_text(encoding="utf-8").replace(":runs", str(runs))
    for statement in filter(str.strip, text.split(";\n")):
        await connection.execute(statement, timeout=900)
    await connection.execute("RESET session_replication_role")
    await connection.execute("VACUUM ANALYZE", timeout=900)
    await connection.execute("CHECKPOINT", timeout=900)
