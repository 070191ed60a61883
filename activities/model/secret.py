"""The key of a server that repeats it: it stays out of items, rows, pages and exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHORTEST_SECRET = 16
"""Servers that ask for no key get any word, and a word may stand in a reply."""


def without(value: Any, secret: str) -> Any:
    """A text, or JSON with texts in it, without the secret."""
    return _without(value, secret) if len(secret) >= SHORTEST_SECRET else value


def _without(value: Any, secret: str) -> Any:
    if isinstance(value, str):
        return value.replace(secret, "…")
    if isinstance(value, Mapping):
        return {_without(name, secret): _without(inner, secret) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, secret) for inner in value]
    return value
