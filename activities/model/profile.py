"""Profiles as rows: which model answers, where, with which key variable, limits and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deploy.database import Connection


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One version. `key_env` names the environment variable of the key, never the key.

    `parameters` are fields of the request body (temperature, max_completion_tokens, …);
    `prices` are those of `workflows.pricing`; `rate_limits` those of `activities.model.limits`.
    """

    name: str
    version: int
    model: str
    base_url: str | None
    key_env: str
    parameters: Mapping[str, Any]
    prices: Mapping[str, Any] | None
    prompts: Mapping[str, Any]
    fallback: Mapping[str, Any] | None
    rate_limits: Mapping[str, Any]


async def newest(connection: Connection, name: str) -> Profile | None:
    """The version that the next step uses, or None when no profile has that name."""
    row = await connection.fetchrow(
        """
        SELECT name, version, model, base_url, key_env, parameters, prices, prompts, fallback,
               rate_limits
        FROM profiles
        WHERE name = $1
        ORDER BY version DESC
        LIMIT 1
        """,
        name,
    )
    return None if row is None else Profile(**dict(row))


async def version(connection: Connection, name: str, number: int) -> Profile | None:
    """The version that a call recorded, or None when it is unknown."""
    row = await connection.fetchrow(
        """
        SELECT name, version, model, base_url, key_env, parameters, prices, prompts, fallback,
               rate_limits
        FROM profiles WHERE name = $1 AND version = $2
        """,
        name,
        number,
    )
    return None if row is None else Profile(**dict(row))
