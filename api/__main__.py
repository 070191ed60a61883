"""`python -m api`: the API process. Prints nothing; logs go to standard error."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from types import FrameType

import uvicorn

from api.http.auth import refuse_open_door
from deploy import logs
from deploy.settings import Settings, SettingsError, load
from deploy.usage import only_help
from workflows.kinds.templates import BadTemplate

GRACE_SECONDS = 2
_SENTENCE = """Serves the API and the pages until SIGTERM or SIGINT.
It joins a stack by its variables; `./redraft up` writes them into the file `env`."""
_READS = (
    *("database_url", "api_host", "api_port", "api_key", "api_hosts"),
    *(
        "temporal_address",
        "temporal_namespace",
        "temporal_web_url",
        "kinds_dir",
        "templates_dir",
        "log_level",
    ),
)


class _Server(uvicorn.Server):
    """Tells open streams to end as soon as the process is told to."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        self._loop = asyncio.get_running_loop()
        await super().serve()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # a clean end is 0, not death by the signal


def run(settings: Settings) -> int:
    """Serves until SIGTERM or SIGINT; 0 after a clean end."""
    from api.app import create_app, state_in

    try:
        app = create_app(settings)
    except BadTemplate as problem:
        sys.stderr.write(f"REDRAFT_TEMPLATES_DIR: {problem}\n")
        return 2
    config = uvicorn.Config(
        app,
        host=settings.api_host,
        port=settings.api_port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="on",
    )
    server = _Server(config, state_in(app).stopping)
    try:
        asyncio.run(server.serve())
    except KeyboardInterrupt:
        return 0
    return 0 if server.started else 1


def main(arguments: Sequence[str] | None = None) -> int:
    only_help("api", _SENTENCE, _READS, arguments)
    try:
        settings = load()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    refusal = refuse_open_door(settings)
    if refusal is not None:
        sys.stderr.write(f"{refusal}\n")
        return 2
    logs.configure(style=settings.log_format, level=settings.log_level)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    # A thread that reads a file or plans an estimate hands over after 1 ms and not after 5: each
    # answer of the loop waits for it a dozen times.
    sys.setswitchinterval(0.001)
    return run(settings)


if __name__ == "__main__":
    sys.exit(main())
