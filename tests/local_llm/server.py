"""llama.cpp's server as tests see it: started, asked about itself, ended."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

from tests.eventually import eventually
from tests.local_llm.parts import LocalModel
from tests.services import end, free_port, spawn

_LOADING = 120.0


class LocalServer:
    """`start()`, `await ready()`, `await stop()`. It is asked past every witness.

    `shared`: tokens of a context that all its slots share; 0 = each has its own.
    """

    def __init__(self, model: LocalModel, *, shared: int = 0) -> None:
        self.model, self.shared, self.port = model, shared, free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="redraft-llm-"))
        self.process: subprocess.Popen[bytes] | None = None
        self._http = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}", timeout=60, trust_env=False
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def start(self) -> None:
        """Returns at once; the model is loaded afterwards."""
        words = [sys.executable, "-m", "tests.local_llm.serve", str(self.model.packages.parent)]
        self.process = spawn([*words, str(self.port), str(self.shared)], log=self.log)

    async def ready(self) -> float:
        """Waits until the model is loaded; how long that took."""
        began = time.monotonic()

        async def healthy() -> bool:
            if self.process is None or self.process.poll() is not None:
                raise RuntimeError(self.log.read_text(errors="replace")[-2000:])
            try:
                return (await self._http.get("/health")).status_code == 200
            except httpx2.HTTPError:
                return False

        await eventually(healthy, seconds=_LOADING, what="the loaded model")
        return time.monotonic() - began

    async def busy(self) -> int:
        """Slots that are at work."""
        slots = (await self._http.get("/slots")).json()
        return sum(bool(slot["is_processing"]) for slot in slots)

    async def tokens(self) -> tuple[int, int, int]:
        """Prompt tokens read, prompt tokens taken from its cache, tokens made, since it began."""
        lines = (await self._http.get("/metrics")).text.splitlines()
        found = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
        names = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total")
        read, cached, made = (int(float(found[f"llamacpp:{name}"])) for name in names)
        return read, cached, made

    async def stop(self) -> None:
        await self._http.aclose()
        if self.process is not None:
            end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)
