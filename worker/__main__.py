"""`./redraft worker`: one worker until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from activities import hooks
from deploy import logs
from deploy.settings import SettingsError, load
from deploy.usage import only_help
from worker.run import run
from workflows.kinds.templates import BadTemplate

SWITCH_SECONDS = 0.001
"""How long a thread that verifies a text may keep the interpreter while commits and streams wait;
the default is five times that, each time one of them wants it back."""

_SENTENCE = """Runs one worker until SIGTERM or SIGINT: it takes steps of runs and asks the models.
It joins a stack by its variables; `./redraft up` writes them into the file `env`."""
_READS = (
    *("database_url", "temporal_address", "temporal_namespace", "openai_base_url", "model"),
    *("worker_slots", "worker_health_port", "kinds_dir", "templates_dir", "log_level"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    only_help("worker", _SENTENCE, _READS, arguments)
    try:
        settings = load()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    logs.configure(style=settings.log_format, level=settings.log_level)
    hooks.arm(os.environ)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        return asyncio.run(run(settings))
    except BadTemplate as problem:
        sys.stderr.write(f"REDRAFT_TEMPLATES_DIR: {problem}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
