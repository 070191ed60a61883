"""How the harness starts Redraft: the file of peers with one more in it.

The processes are those of `./redraft up`, joined by variables; the Temporal server gets the flags
that `up` gives its own.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from deploy.local.data import DataDirectory
from deploy.local.temporal import Temporal
from tests.services import ROOT

NAME = "redraft"
NAMESPACE = "default"
"""The one that the harness' Temporal server makes."""


def with_redraft(harness: Path, *, adapter_port: int) -> dict[str, Any]:
    """The harness' peers and Redraft."""
    given: dict[str, Any] = json.loads((harness / "peers.json").read_text(encoding="utf-8"))
    return {**given, NAME: redraft(adapter_port=adapter_port)}


def redraft(*, adapter_port: int) -> dict[str, Any]:
    """The first process is the one that is asked whether it is ready; `worker` is killed."""
    port = str(adapter_port)
    adapter = _module("tests.bench.peers.adapter", "--port", port, "--model", "{model_url}/v1")
    return {
        "temporal": _temporal(),
        "setup": [_module("deploy.migrations")],
        "env": {
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": sys.pycache_prefix or str(ROOT / ".venv" / "pycache"),
            "REDRAFT_DATABASE_URL": "{db_url}",
            "REDRAFT_API_PORT": "{port}",
            "REDRAFT_MODEL": "fake",
            "TEMPORAL_ADDRESS": "{temporal}",
            "TEMPORAL_NAMESPACE": NAMESPACE,
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_API_KEY": "none",
        },
        "procs": [
            {"name": "api", "cmd": _module("api")},
            {"name": "worker", "cmd": _module("worker"), "worker": True},
            {"name": "adapter", "cmd": adapter},
        ],
        "api": {
            "ready": "/readyz",
            "create": "/api/runs",
            "body": {
                "kind": "text",
                "title": "Bench",
                "language": "en",
                "body": "{document}",
                "sources": [{"name": "source", "media_type": "text/plain", "text": "{document}"}],
                "max_rounds": 5,
            },
            "get": "/api/runs/{id}",
            "done": ["AWAITING_CONFIRMATION"],
            "interrupted": ["INTERRUPTED"],
            "interrupt": "/api/runs/{id}/interrupt",
            "resume": "/api/runs/{id}/resume",
        },
    }


def _module(name: str, *words: str) -> list[str]:
    return [sys.executable, "-P", "-m", name, *words]


def _temporal() -> dict[str, Any]:
    """What `up` tells its server, read from the command that it would run."""
    nowhere = Path("nowhere")
    server = Temporal(
        data=DataDirectory(nowhere),
        program=nowhere,
        port=0,
        web_port=0,
        http_port=0,
        metrics_port=0,
    )
    argv = server.command().argv
    pairs = list(pairwise(argv))

    def given(flag: str) -> dict[str, str]:
        return dict(value.split("=", 1) for name, value in pairs if name == flag)

    config = {name: json.loads(value) for name, value in given("--dynamic-config-value").items()}
    return {"store": "file", "sqlite": given("--sqlite-pragma"), "config": config}
