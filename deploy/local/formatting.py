"""`./redraft format`: sorts imports and formats, with the ruff of the lock."""

from __future__ import annotations

import subprocess
import sys


def main(paths: list[str]) -> int:
    """The exit code of the first step that fails."""
    for step in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *step, *paths], check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
