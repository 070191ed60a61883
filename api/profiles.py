"""New versions of profiles: which model answers, where, under which key, with what limits.

Append-only: a version is never changed, the newest holds from the next step on. Everything that is
wrong with one is told at once, each with its pointer, before anything is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, TypeAlias
from urllib.parse import SplitResult, quote, urlsplit

from pydantic import Field, StringConstraints

from activities import record
from api import queries
from api.files.secret_texts import is_marked, looks_secret
from api.http.errors import Refusal
from api.http.requests import StrictRequest
from api.moves.idempotency import Done, Tools
from deploy.database import Connection
from deploy.settings import Settings, variable
from workflows import profiles
from workflows.kinds.kind import Kind
from workflows.kinds.reviewers import REVIEWERS
from workflows.kinds.scopes import WINDOW_TOKENS
from workflows.vocabulary import ErrorCode

LARGEST = 200_000
"""Characters of one of a profile's objects as JSON; prompts are the longest."""
_OWN = frozenset(variable(entry.name, entry.metadata) for entry in fields(Settings))
_FOREIGN = ("PG", "AWS_", "TEMPORAL_", "OTEL_", "REDRAFT_DATABASE")
_QUERY = re.compile(r"api-version=[\w.-]{1,20}")
"""The one that some servers need in the address of a model; others are where keys are put."""
_PATH_KEY = re.compile(
    r"(?i:sk|pk|rk|hf|gsk|xai|ghp|key|token|bearer|api[-_]?key)[-_:.=][\w.~%-]{12,}|AIza[\w-]{20,}"
    r"|(?=[^/]*[a-z])(?=[^/]*[A-Z])(?=[^/]*\d)[\w-]{32,}"
)
"""A step of a path that looks like one; numbers of accounts and deployments do not."""
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_WORD = re.compile(r"[A-Z]{2,}")
_ADVICE = "Put the key into an environment variable of the worker and name it in key_env"
_CODE = str(ErrorCode.INVALID_REQUEST)

Found: TypeAlias = list[tuple[str, str, str]]
"""(pointer, code, detail)"""


class NewProfile(StrictRequest):
    """Body of `POST /api/profiles`: the next version of that name, whole; nothing is taken over
    from the one before. Prices are per million tokens."""

    name: Annotated[str, StringConstraints(pattern=r"^\w[\w .-]*$", max_length=64)]
    model: Annotated[str, StringConstraints(pattern=r"^[!-~][ -~]*$", max_length=200)]
    base_url: Annotated[str, StringConstraints(min_length=1, max_length=2000)] | None = None
    key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$", max_length=100)] = (
        "OPENAI_API_KEY"
    )
    parameters: dict[str, Any] = Field(default_factory=dict)
    prices: dict[str, Any] | None = None
    prompts: dict[str, Any] = Field(default_factory=dict)
    fallback: dict[str, Any] | None = None
    rate_limits: dict[str, Any] = Field(default_factory=dict)


async def append_version(connection: Connection, tools: Tools, wanted: NewProfile) -> Done:
    """201: the version, with a line in the audit log; 200: the newest one, where it says the same
    already. Raises 422 with everything that is wrong."""
    found = problems(wanted, tools.state.kinds)
    if not found and wanted.fallback is not None:
        found = await _fallback_missing(connection, wanted.fallback["profile"])
    if found:
        code = ErrorCode(found[0][1])
        raise Refusal(422, code, f"{found[0][0]}: {found[0][2]}", errors=found)
    location = f"/api/profiles/{quote(wanted.name)}/versions"
    # Two at once wait for each other, so each gets its own number, or finds the other's version.
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('redraft profiles'))")
    if await _is_newest(connection, wanted):
        known = await queries.profile_versions(connection, wanted.name, 1)
        assert known is not None, "it was found in this transaction"
        return Done(status=200, body=known.items[0], location=location)
    number = await _insert(connection, wanted, tools.caller.actor)
    await record.insert_audit(
        connection,
        actor=tools.caller.actor,
        action="profile_written",
        object_type="profile",
        object_id=wanted.name,
        request_id=tools.caller.request_id,
        params={"version": number},
    )
    versions = await queries.profile_versions(connection, wanted.name, 1)
    assert versions is not None, "it was inserted in this transaction"
    return Done(status=201, body=versions.items[0], location=location)


def problems(wanted: NewProfile, kinds: Mapping[str, Kind]) -> Found:
    """Everything that can be told without a row."""
    checks = (
        ("/name", _name(wanted.name)),
        ("/model", _name(wanted.model)),
        ("/base_url", _address(wanted.base_url)),
        ("/key_env", _key_variable(wanted.key_env)),
        ("/parameters", profiles.parameter_problems(wanted.parameters)),
        ("/prices", profiles.price_problems(wanted.prices)),
        ("/prompts", _prompts(wanted.prompts, kinds)),
        ("/fallback", profiles.fallback_problems(wanted.fallback, wanted.name)),
        ("/rate_limits", profiles.rate_limit_problems(wanted.rate_limits)),
    )
    found = [(field + at, _CODE, detail) for field, some in checks for at, detail in some]
    for name in ("parameters", "prices", "prompts", "fallback", "rate_limits"):
        size = len(json.dumps(getattr(wanted, name), ensure_ascii=False))
        if size > LARGEST:
            found.append((f"/{name}", _CODE, f"at most {LARGEST} characters as JSON"))
    return found


def _name(given: str) -> profiles.Problems:
    if not looks_secret(given):
        return []
    return [("", "must be a name; this looks like a key. " + _ADVICE)]


def _address(given: str | None) -> profiles.Problems:
    """Whoever may read a profile sees its address, so nothing secret may stand in it."""
    if given is None:
        return []
    must = "must be the http or https address of a model server"
    if not given.isprintable() or " " in given:
        return [("", must)]
    try:
        parts = urlsplit(given)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return [("", must)]
    if not fits:
        return [("", must)]
    return _secrets(parts)


def _secrets(parts: SplitResult) -> profiles.Problems:
    if "@" in parts.netloc:
        return [("", "must not hold a user name or password; put the key into the environment")]
    steps = parts.path.split("/")
    if any(_PATH_KEY.fullmatch(step) or is_marked(step) for step in steps):
        return [("", "must not hold a key in its path; put it into the environment")]
    if parts.fragment:
        return [("", "must not have a fragment")]
    if parts.query and not _QUERY.fullmatch(parts.query):
        return [
            ("", "must not have a query, other than api-version; put keys into the environment")
        ]
    return []


def _key_variable(name: str) -> profiles.Problems:
    """A variable that is not a key would be sent to the model server, and a key that is taken for
    a name would stand in rows and on pages: most of them have small letters."""
    words = _VARIABLE.fullmatch(name) and _WORD.search(name)
    if not words or looks_secret(name):
        return [("", "must be the name of an environment variable, in capitals; never the key")]
    if name in _OWN or name.upper().startswith(_FOREIGN):
        return [("", "is a variable of the service itself; name one that holds a model key")]
    return []


def _prompts(given: Mapping[str, Any], kinds: Mapping[str, Kind]) -> profiles.Problems:
    """Fine if any kind can use them: whether the run's kind can is asked when a run is made. A name
    that no kind has would be a text that silently never holds."""
    found = _texts(given, frozenset().union(*(kind.prompt_names for kind in kinds.values())))
    if found:
        return found
    for kind in kinds.values():
        mine = kind.check_prompts(given)
        if not mine:
            return []
        found = found or mine
    return found


def _texts(given: Mapping[str, Any], known: frozenset[str]) -> profiles.Problems:
    found: profiles.Problems = []
    for name, text in given.items():
        at = "/" + name.replace("~", "~0").replace("/", "~1")
        if name in (REVIEWERS, WINDOW_TOKENS):
            continue
        if name not in known:
            there = ", ".join([REVIEWERS, WINDOW_TOKENS, *sorted(known)])
            found.append((at, f"is no prompt of any kind; there are {there}"))
        elif not isinstance(text, str) or not text.strip():
            found.append((at, "must be a text"))
    return found


async def _fallback_missing(connection: Connection, name: str) -> Found:
    if await connection.fetchval("SELECT true FROM profiles WHERE name = $1 LIMIT 1", name):
        return []
    return [("/fallback/profile", str(ErrorCode.UNKNOWN_PROFILE), "no such profile")]


async def _is_newest(connection: Connection, wanted: NewProfile) -> bool:
    return bool(
        await connection.fetchval(
            """
            SELECT (p.model, p.key_env, p.parameters, p.prompts, p.rate_limits)
                    = ($2::text, $3::text, $4::jsonb, $5::jsonb, $6::jsonb)
                AND p.base_url IS NOT DISTINCT FROM $7 AND p.prices IS NOT DISTINCT FROM $8::jsonb
                AND p.fallback IS NOT DISTINCT FROM $9::jsonb
            FROM profiles p WHERE p.name = $1 ORDER BY p.version DESC LIMIT 1
            """,
            wanted.name,
            wanted.model,
            wanted.key_env,
            wanted.parameters,
            wanted.prompts,
            wanted.rate_limits,
            wanted.base_url,
            wanted.prices,
            wanted.fallback,
        )
    )


async def _insert(connection: Connection, wanted: NewProfile, actor: str) -> int:
    number: int = await connection.fetchval(
        """
        INSERT INTO profiles (name, version, model, base_url, key_env, parameters, prices, prompts,
            fallback, rate_limits, actor)
        SELECT $1, coalesce(max(p.version), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10
        FROM profiles p WHERE p.name = $1
        RETURNING version
        """,
        wanted.name,
        wanted.model,
        wanted.base_url,
        wanted.key_env,
        wanted.parameters,
        wanted.prices,
        wanted.prompts,
        wanted.fallback,
        wanted.rate_limits,
        actor,
    )
    return number
