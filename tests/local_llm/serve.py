"""`python -m tests.local_llm.serve FOLDER PORT SHARED`: llama.cpp's server as a process.

SHARED 0: two slots, each with the context the model was trained for. Else: four slots that share a
context of so many tokens, as the server does it where nobody says how many slots it should have.
"""

from __future__ import annotations

import importlib
import signal
import sys
from pathlib import Path
from typing import Any

from tests.local_llm.parts import LocalModel

SLOTS = 2
CONTEXT = 8192


def main(folder: Path, port: int, shared: int) -> None:
    """Serves until it is ended."""
    model = LocalModel.of(folder)
    sys.path.insert(0, str(model.packages))
    library: Any = importlib.import_module("xllamacpp")
    given = library.CommonParams()
    given.model.path = str(model.file)
    given.n_parallel = 4 if shared else SLOTS
    given.n_ctx, given.kv_unified = shared or SLOTS * CONTEXT, bool(shared)
    given.hostnames, given.port = ["127.0.0.1"], port
    # On a busy machine two threads wait for each other at every token; one is hardly slower.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    # Between two batches nothing is heard: a cancel would wait for 2,048 tokens of a prompt.
    given.n_batch = given.n_ubatch = 128
    given.endpoint_metrics = True
    given.ui = False
    server = library.Server(given)
    print(server.listening_address, flush=True)  # noqa: T201
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
