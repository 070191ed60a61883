"""`python -m tests.local_llm.serve FOLDER PORT`: llama.cpp's server in a process of its own."""

from __future__ import annotations

import importlib
import signal
import sys
from pathlib import Path
from typing import Any

from tests.local_llm.parts import LocalModel

SLOTS = 2
CONTEXT = 8192
"""Tokens of each slot: what the model was trained for."""


def main(folder: Path, port: int) -> None:
    """Serves until it is ended."""
    model = LocalModel.of(folder)
    sys.path.insert(0, str(model.packages))
    library: Any = importlib.import_module("xllamacpp")
    given = library.CommonParams()
    given.model.path = str(model.file)
    given.n_parallel, given.n_ctx = SLOTS, SLOTS * CONTEXT
    given.hostnames, given.port = ["127.0.0.1"], port
    # On a busy machine two threads wait for each other at every token; one is hardly slower.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.endpoint_metrics = True
    given.ui = False
    server = library.Server(given)
    print(server.listening_address, flush=True)  # noqa: T201
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
