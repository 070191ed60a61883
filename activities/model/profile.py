"""Profiles as rows: which model answers, where, with which key variable, limits and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from activities.failures import SENTENCES
from activities.model import learned
from activities.model.learned import UNTAUGHT, Learned
from deploy.database import Connection, Row

REFUSAL_HOLDS = timedelta(days=1)
"""A server may have learned meanwhile what it refused."""


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
    learned: Learned = UNTAUGHT


async def newest(connection: Connection, name: str) -> Profile | None:
    """The version that the next step uses, or None when no profile has that name."""
    return _taught(await _read(connection, name, None))


async def version(connection: Connection, name: str, number: int) -> Profile | None:
    """The version that a call recorded, or None when it is unknown."""
    return _taught(await _read(connection, name, number))


def _taught(row: Row | None) -> Profile | None:
    if row is None:
        return None
    values = dict(row)
    taught = learned.read(values.pop("ratios"), values.pop("manner"))
    return Profile(**values, learned=taught)


async def _read(connection: Connection, name: str, number: int | None) -> Row | None:
    """With what its newest calls taught; what was refused is believed for a day, then tried again.

    Ratios of calls that were too short, or that no vocabulary explains, are left out.
    """
    return await connection.fetchrow(
        """
        WITH profile AS (
            SELECT name, version, model, base_url, key_env, parameters, prices, prompts, fallback,
                   rate_limits
            FROM profiles WHERE name = $1 AND version = coalesce($2, version)
            ORDER BY version DESC LIMIT 1
        ), recent AS (
            SELECT c.started_at, c.wide, c.manner, c.profile_version = p.version AS same,
                   c.estimated_input, c.error LIKE $9 || '%' AS too_long,
                   CASE WHEN c.usage_source = 'reported' THEN c.tokens_input END AS input,
                   CASE WHEN c.usage_source = 'reported' AND c.estimated_input >= $4
                        THEN c.tokens_input::float8 / c.estimated_input END AS by_input,
                   CASE WHEN c.usage_source = 'reported' AND c.estimated_output >= $5
                        THEN (c.tokens_output - c.tokens_reasoning)::float8
                            / c.estimated_output END AS by_output
            FROM profile p, LATERAL (
                SELECT m.started_at, m.wide, m.manner, m.profile_version, m.model,
                       m.usage_source, m.tokens_input, m.tokens_output, m.tokens_reasoning,
                       m.estimated_input, m.estimated_output, m.error
                FROM model_calls m WHERE m.profile = p.name
                ORDER BY m.started_at DESC LIMIT $3) c
            WHERE c.model = p.model
        )
        SELECT p.name, p.version, p.model, p.base_url, p.key_env, p.parameters, p.prices,
               p.prompts, p.fallback, p.rate_limits, (
            SELECT jsonb_agg(s) FROM (
                SELECT wide, max(input) FILTER (WHERE started_at > coalesce((
                           SELECT max(started_at) FROM recent WHERE too_long), '-infinity')
                       ) AS longest, (
                           SELECT jsonb_agg(n) FROM (
                               SELECT jsonb_build_array(extract(epoch FROM l.started_at),
                                                        l.estimated_input, l.input) AS n
                               FROM recent l
                               WHERE l.wide = recent.wide AND l.input IS NOT NULL
                                 AND l.estimated_input >= $10
                               ORDER BY l.started_at DESC LIMIT $11) newest) AS newest,
                       count(*) FILTER (WHERE by_input BETWEEN $6 AND $7) AS inputs,
                       percentile_cont(0.5) WITHIN GROUP (ORDER BY by_input)
                           FILTER (WHERE by_input BETWEEN $6 AND $7) AS input,
                       count(*) FILTER (WHERE by_output BETWEEN $6 AND $7) AS outputs,
                       percentile_cont(0.5) WITHIN GROUP (ORDER BY by_output)
                           FILTER (WHERE by_output BETWEEN $6 AND $7) AS output
                FROM recent WHERE wide IS NOT NULL GROUP BY wide) s) AS ratios, (
            SELECT manner FROM recent
            WHERE same AND manner NOT LIKE 'refused%' AND EXISTS (
                SELECT FROM recent r
                WHERE r.same AND r.manner LIKE 'refused%' AND r.started_at > now() - $8::interval)
            ORDER BY started_at DESC LIMIT 1) AS manner
        FROM profile p
        """,
        *(name, number, learned.RECENT, learned.LEAST_INPUT, learned.LEAST_OUTPUT),
        *(learned.LEAST, learned.MOST, REFUSAL_HOLDS),
        *(SENTENCES["context_too_long"], learned.SHORT_PROMPT, learned.ENDS),
    )
