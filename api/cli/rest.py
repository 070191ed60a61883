"""After a stop at a limit: what is likely to be enough for all that follows, asked of the API."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from api.cli.client import Client, Refused, Unreachable
from api.cli.language import tell
from api.cli.words import LIMITS

_ESTIMATED = frozenset({"calls", "tokens", "cost"})


def rest_line(client: Client, run: Mapping[str, Any]) -> str:
    """'' where no such limit stopped it, or nobody can say. The limit that is named after the stop
    is enough for one call."""
    limit = LIMITS.get(str((run.get("reason") or {}).get("code")))
    if run.get("status") != "INTERRUPTED" or limit not in _ESTIMATED:
        return ""
    # An API that is older, or a key that may not read: the advice is one line shorter.
    with contextlib.suppress(Refused, Unreachable):
        enough = client.get(f"/api/runs/{run['id']}/estimate")["limits"].get(f"max_{limit}")
        if enough is not None:
            return tell(
                "probably enough for all rounds that may follow: --limit {limit}={enough}",
                limit=limit,
                enough=enough,
            )
    return ""
