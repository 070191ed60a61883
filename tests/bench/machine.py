"""`./redraft bench machine --minutes N`: random steps against the table of moves, longer.

Each round of histories has a seed of its own, which is said before it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import pytest


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="redraft bench machine", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default 10)")
    given = parser.parse_args(arguments)
    os.environ["REDRAFT_LONG"] = str(given.minutes)
    return int(pytest.main(["-q", "-s", "tests/api/test_status_machine.py"]))
