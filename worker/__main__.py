"""`./redraft worker`."""

from __future__ import annotations

import asyncio
import sys

from deploy import logs
from deploy.settings import SettingsError, load
from worker.run import run

SWITCH_SECONDS = 0.001
"""How long a thread that verifies a text may keep the interpreter while commits and streams wait;
the default is five times that, each time one of them wants it back."""


def main() -> int:
    try:
        settings = load()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    logs.configure(style=settings.log_format, level=settings.log_level)
    sys.setswitchinterval(SWITCH_SECONDS)
    return asyncio.run(run(settings))


if __name__ == "__main__":
    sys.exit(main())
