"""A worker that has imported everything and begins at SIGUSR1, which whoever starts it blocks."""

from __future__ import annotations

import signal
import sys

from worker.__main__ import main

if __name__ == "__main__":
    signal.sigwait({signal.SIGUSR1})
    sys.exit(main())
