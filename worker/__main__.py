"""`./redraft worker`."""

from __future__ import annotations

import asyncio
import sys

from deploy import logs
from deploy.settings import SettingsError, load
from worker.run import run


def main() -> int:
    try:
        settings = load()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    logs.configure(style=settings.log_format, level=settings.log_level)
    return asyncio.run(run(settings))


if __name__ == "__main__":
    sys.exit(main())
