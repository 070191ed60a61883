"""Files of deleted documents, and files that never got their row, are removed from the store; one
that several documents name goes with the last of them.

The outbox row goes after the file, and a name is never used twice: a remover that was killed, or
thaws late, removes the same file once more and nothing else.
"""

from __future__ import annotations

import asyncio
import logging

from deploy.blobs import BlobStore, NoStore
from deploy.database import Connection, Row

log = logging.getLogger("redraft.blobs")

BATCH = 50


def _store(url: str) -> BlobStore | None:
    try:
        return BlobStore(url)
    except NoStore:
        return None


async def remove_owed(connection: Connection, url: str) -> int:
    """One batch of the outbox; how many are gone. One that cannot be removed is tried again, each
    time later, and without a folder (`url`) it stays owed."""
    store, removed = _store(url), 0
    if store is None:
        return 0
    for row in await _owed(connection):
        try:
            if not await _is_named(connection, row["uri"]):
                await asyncio.to_thread(store.remove, row["uri"])
        except (OSError, ValueError) as error:
            await _failed(connection, row, type(error).__name__)
            continue
        await connection.execute("DELETE FROM blob_deletions WHERE id = $1", row["id"])
        removed += 1
    return removed


async def _owed(connection: Connection) -> list[Row]:
    return await connection.fetch(
        """
        SELECT id, uri FROM blob_deletions
        WHERE what = 'blob' AND created_at + attempts * interval '1 minute' <= now()
        ORDER BY attempts, id LIMIT $1
        """,
        BATCH,
    )


async def _is_named(connection: Connection, uri: str) -> bool:
    """Whether a fork still has the file: its deletion will owe it once more. Who makes a fork holds
    the other document until its rows are committed, so none can appear later."""
    return bool(await connection.fetchval("SELECT EXISTS (SELECT FROM blobs WHERE uri = $1)", uri))


async def _failed(connection: Connection, row: Row, error: str) -> None:
    log.warning("file not removed", extra={"error": error})
    await connection.execute(
        "UPDATE blob_deletions SET attempts = attempts + 1, last_error = $2 WHERE id = $1",
        row["id"],
        error,
    )


async def remove_unsettled(connection: Connection, url: str) -> int:
    """Files whose process ended before anybody knew of a row: those without one are removed."""
    store = _store(url)
    if store is None:
        return 0
    try:
        uris = await asyncio.to_thread(store.unsettled)
        rowless = await _rowless(connection, uris) if uris else []
        for uri in uris:
            await asyncio.to_thread(store.remove if uri in rowless else store.settle, uri)
    except OSError as error:
        log.warning("folder of recordings not swept", extra={"error": type(error).__name__})
        return 0
    return len(rowless)


async def _rowless(connection: Connection, uris: list[str]) -> list[str]:
    rows = await connection.fetch(
        """
        SELECT f.uri FROM unnest($1::text[]) AS f (uri)
        WHERE NOT EXISTS (SELECT FROM blobs b WHERE b.uri = f.uri)
        """,
        uris,
    )
    return [row["uri"] for row in rows]
