"""`./redraft format`: sorts imports and formats, with the ruff of the lock."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the first step that fails."""
    parser = argparse.ArgumentParser(prog="./redraft format", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="default: everything")
    paths = parser.parse_args(arguments).paths
    for step in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *step, *paths], check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
