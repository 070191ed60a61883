"""The sample meeting: loaded once per data directory, through the API like anybody's document."""

from __future__ import annotations

import json

from deploy.local.ask import request
from deploy.local.data import DataDirectory
from deploy.local.options import ROOT
from deploy.local.services import Wiring

_BODY = ROOT / "workflows" / "kinds" / "minutes" / "sample" / "document.json"


async def load(data: DataDirectory, wiring: Wiring) -> tuple[str, str]:
    """(address of the sample's run or "", what went wrong or ""). Never stops the stack."""
    known = data.read("state.json").get("sample")
    if known:
        return f"{wiring.url}/runs/{known}", ""
    try:
        body = json.loads(_BODY.read_text(encoding="utf-8"))
        status, answer = await request(
            "POST",
            wiring.local_host,
            wiring.api_port,
            "/api/runs",
            body=body,
            headers={"Idempotency-Key": "sample", "Authorization": f"Bearer {wiring.api_key}"},
            seconds=15.0,
        )
        if status != 201:
            raise ValueError(f"answer {status}: {answer[:200].decode(errors='replace')}")
        run = str(json.loads(answer)["id"])
    except (OSError, ValueError, KeyError) as error:
        return "", f"The sample could not be loaded ({error or type(error).__name__})."
    data.note(sample=run)
    return f"{wiring.url}/runs/{run}", ""
