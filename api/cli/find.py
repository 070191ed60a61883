"""From what a person types to whole ids: a unique beginning of the id of a run or a document."""

from __future__ import annotations

from typing import Any

from api.cli.client import Client, Refused, UsageError
from api.cli.language import tell
from api.texts.codes import N_

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
        raise UsageError(tell("{given} is no id; ./redraft runs lists them", given=repr(given)))
    if len(wanted) >= WHOLE_ID:
        return wanted
    if len(wanted) < LEAST_PREFIX:
        told = N_("{given} is too short: give {least} characters of the id or more")
        raise UsageError(tell(told, given=repr(given), least=LEAST_PREFIX))
    ids = (str(row["id"]) for row in client.pages(path, limit=200))
    found = [identity for identity in ids if identity.startswith(wanted)]
    if not found:
        told = N_("No run begins with {given}.")
        if path.endswith("documents"):
            told = N_("No document begins with {given}.")
        detail = tell(told, given=wanted)
        raise Refused(404, {"code": "not_found", "detail": detail, "told": True, "of_id": True})
    if len(found) > 1:
        shown = ", ".join(found[:4]) + (", …" if found[4:] else "")
        told = N_("{given} is the beginning of several: {ids}")
        raise UsageError(tell(told, given=wanted, ids=shown))
    return found[0]
