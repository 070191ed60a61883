"""One command: its effect and its idempotency key in one transaction, then the signal it owes.

A key is scoped to principal, method and full path and kept for 24 hours; it is bound to a hash over
the parsed fields and the digests of files. Only answers of commands that took effect are kept: a
refusal changed nothing, so the same key may be tried again and finds the state as it is then. After
its document was deleted a replay is 404 `deleted`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import asyncpg
from fastapi import Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from api import queries
from api.http.errors import Refusal
from api.http.state import Caller, State, caller_of, state_of
from api.moves.signals import Due
from api.queries import TemporalWeb
from deploy.database import AWAY, Connection, Row, transaction
from workflows.vocabulary import ErrorCode

LONGEST_KEY = 255


@dataclass(frozen=True, kw_only=True)
class Done:
    """What a command did. `body` is read in its own transaction, so a replay answers the same."""

    status: int
    body: BaseModel | None
    location: str | None = None
    document_id: str | None = None
    due: tuple[Due, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What goes out. `replayed` when an earlier request with the same key made it."""

    status: int
    body: dict[str, Any] | None
    location: str | None = None
    replayed: bool = False
    due: tuple[Due, ...] = ()

    def response(self) -> Response:
        headers = {"Location": self.location} if self.location else {}
        if self.replayed:
            headers["Idempotent-Replay"] = "true"
        if self.body is None:
            return Response(status_code=self.status, headers=headers)
        return JSONResponse(self.body, self.status, headers=headers)


@dataclass(frozen=True, kw_only=True)
class Once:
    """A key and what it is bound to."""

    principal: str
    method: str
    path: str
    key: str
    request_hash: str

    @property
    def lock(self) -> int:
        scope = json.dumps([self.principal, self.method, self.path, self.key])
        digest = hashlib.blake2b(scope.encode(), digest_size=8).digest()
        return int.from_bytes(digest, signed=True)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a command gets besides its connection."""

    state: State
    caller: Caller
    web: TemporalWeb = field(default=queries.NO_WEB)


Work: TypeAlias = Callable[[Connection], Awaitable[Done]]


def web_of(state: State) -> TemporalWeb:
    return TemporalWeb(
        base=state.settings.temporal_web_url, namespace=state.settings.temporal_namespace
    )


def tools_of(request: Request) -> Tools:
    state = state_of(request)
    return Tools(state=state, caller=caller_of(request), web=web_of(state))


def is_key(text: str) -> bool:
    """Whether it can be a key, from a header or from a form."""
    return 1 <= len(text) <= LONGEST_KEY and all("!" <= letter <= "~" for letter in text)


def once_of(request: Request, fields: BaseModel | None) -> Once | None:
    """The request's key; None when it sent none. Raises 400 for one that cannot be used."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not is_key(key):
        raise Refusal(
            400,
            ErrorCode.INVALID_REQUEST,
            "Idempotency-Key must be 1 to 255 visible ASCII characters",
            params={"header": "Idempotency-Key"},
        )
    parsed = fields.model_dump_json() if fields is not None else ""
    return Once(
        principal=caller_of(request).actor,
        method=request.method,
        path=request.url.path,
        key=key,
        request_hash=hashlib.sha256(parsed.encode()).hexdigest(),
    )


async def perform(tools: Tools, work: Work, once: Once | None = None) -> Answer:
    """Runs the command in one transaction (repeated when another was in the way), then signals.

    A refusal about a run leaves with that run as it is now.
    """
    try:
        answer = await transaction(tools.state.pool, lambda c: _run(c, work, once))
    except Refusal as refusal:
        if refusal.run_id is not None:
            run = await queries.run(tools.state.pool, refusal.run_id, web=tools.web)
            refusal.run = None if run is None else run.model_dump(mode="json", by_alias=True)
        raise
    except asyncpg.UniqueViolationError:
        raise Refusal(
            409,
            ErrorCode.RUN_ACTIVE,
            "the document has an active run",
            headers={"Retry-After": "1"},
        ) from None
    if not answer.due or not await tools.state.signals.send(answer.due):
        return answer
    return await _settled(tools.state, answer, once)


async def respond(request: Request, work: Work, fields: BaseModel | None = None) -> Response:
    """`perform` for a route: the key from the headers, the answer as a response."""
    answer = await perform(tools_of(request), work, once_of(request, fields))
    return answer.response()


async def _run(connection: Connection, work: Work, once: Once | None) -> Answer:
    if once is not None:
        earlier = await _earlier(connection, once)
        if earlier is not None:
            return earlier
    done = await work(connection)
    body = None if done.body is None else done.body.model_dump(mode="json", by_alias=True)
    if once is not None:
        await _keep(connection, once, done, body)
    return Answer(status=done.status, body=body, location=done.location, due=done.due)


async def _earlier(connection: Connection, once: Once) -> Answer | None:
    """The kept answer. The lock lasts as long as the transaction of the first, so a second one
    that cannot get it knows that the first is still under way."""
    if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", once.lock):
        raise Refusal(
            409,
            ErrorCode.IDEMPOTENCY_IN_PROGRESS,
            "the first request with this key is still under way",
            headers={"Retry-After": "1"},
        )
    row = await _find(connection, once)
    if row is None:
        return None
    if row["request_hash"] != once.request_hash:
        raise Refusal(422, ErrorCode.IDEMPOTENCY_MISMATCH, "this key was used with another request")
    if row["body"] is None:
        raise Refusal(404, ErrorCode.DELETED, "what this request made has been deleted")
    return Answer(
        status=row["status"],
        body=row["body"],
        location=row["headers"].get("Location"),
        replayed=True,
    )


async def _find(connection: Connection, once: Once) -> Row | None:
    return await connection.fetchrow(
        """
        SELECT request_hash, status, headers, body FROM idempotency_keys
        WHERE principal = $1 AND method = $2 AND path = $3 AND key = $4
          AND created_at > now() - interval '24 hours'
        """,
        once.principal,
        once.method,
        once.path,
        once.key,
    )


async def _keep(
    connection: Connection, once: Once, done: Done, body: dict[str, Any] | None
) -> None:
    await connection.execute(
        """
        INSERT INTO idempotency_keys
            (principal, method, path, key, request_hash, status, headers, body, document_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (principal, method, path, key) DO UPDATE SET
            request_hash = excluded.request_hash, status = excluded.status,
            headers = excluded.headers, body = excluded.body,
            document_id = excluded.document_id, created_at = now()
        """,
        once.principal,
        once.method,
        once.path,
        once.key,
        once.request_hash,
        done.status,
        {"Location": done.location} if done.location else {},
        body,
        done.document_id,
    )
    await _forget_expired(connection)


async def _forget_expired(connection: Connection) -> None:
    """A few at a time with each new key, so the table needs no keeper."""
    await connection.execute(
        """
        DELETE FROM idempotency_keys k USING (
            SELECT principal, method, path, key FROM idempotency_keys
            WHERE created_at < now() - interval '24 hours'
            ORDER BY created_at LIMIT 20 FOR UPDATE SKIP LOCKED) old
        WHERE (k.principal, k.method, k.path, k.key)
            = (old.principal, old.method, old.path, old.key)
        """
    )


async def _settled(state: State, answer: Answer, once: Once | None) -> Answer:
    """The answer once Temporal took the signal: no longer due, here and in replays."""
    if answer.body is None or "signal_due" not in answer.body:
        return answer
    if once is not None:
        await _settle_kept(state, once)
    return Answer(
        status=answer.status,
        body={**answer.body, "signal_due": False},
        location=answer.location,
    )


async def _settle_kept(state: State, once: Once) -> None:
    with contextlib.suppress(*AWAY):  # the command took effect; a replay may show it as due
        await state.pool.execute(
            """
            UPDATE idempotency_keys SET body = jsonb_set(body, '{signal_due}', 'false')
            WHERE principal = $1 AND method = $2 AND path = $3 AND key = $4
              AND body IS NOT NULL
            """,
            once.principal,
            once.method,
            once.path,
            once.key,
        )
