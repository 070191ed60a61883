"""From what a person types to whole ids: a unique beginning of the id of a run or a document."""

from __future__ import annotations

from typing import Any

from api.cli.client import Client, Refused, UsageError

Json = dict[str, Any]
WHOLE_ID = 36
LEAST_PREFIX = 4


def find(client: Client, given: str) -> str:
    """The whole id of a run from a unique beginning of it."""
    return _complete(client, "/api/runs", given)


def find_document(client: Client, given: str) -> tuple[str, Json | None]:
    """The document, and the run if it was a run that was named."""
    try:
        run = client.get(f"/api/runs/{find(client, given)}")
        return str(run["document_id"]), run
    except Refused as refused:
        if refused.code != "not_found":
            raise
    return _complete(client, "/api/documents", given), None


def _complete(client: Client, path: str, given: str) -> str:
    wanted = given.strip().lower()
    if not set(wanted) <= set("0123456789abcdef-"):
        raise UsageError(f"{given!r} is no id; ./redraft runs lists them")
    if len(wanted) >= WHOLE_ID:
        return wanted
    if len(wanted) < LEAST_PREFIX:
        raise UsageError(
            f"{given!r} is too short: give {LEAST_PREFIX} characters of the id or more"
        )
    ids = (str(row["id"]) for row in client.pages(path, limit=200))
    found = [identity for identity in ids if identity.startswith(wanted)]
    if not found:
        word = path.rsplit("/", 1)[1].rstrip("s")
        raise Refused(404, {"code": "not_found", "detail": f"No {word} begins with {wanted}."})
    if len(found) > 1:
        shown = ", ".join(found[:4]) + (", …" if found[4:] else "")
        raise UsageError(f"{wanted} is the beginning of several: {shown}")
    return found[0]
