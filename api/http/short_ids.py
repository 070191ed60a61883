"""Ids as people read them, on pages and in a terminal."""

from __future__ import annotations


def short(value: str) -> str:
    """What tells long ids apart; of a worker's id (machine/boot/.../pid/...) machine and pid."""
    parts = value.split("/")
    if len(parts) == 6:
        return f"{parts[0][:4]}:{parts[3]}"
    return value if len(value) <= 14 else f"…{value[-12:]}"
