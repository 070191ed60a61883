"""`--help` of the processes that read nothing but settings: it needs none and starts nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import MISSING, fields

from deploy.settings import Settings, variable

_WIDTH = 36


def only_help(
    command: str, sentence: str, names: Sequence[str], arguments: Sequence[str] | None = None
) -> None:
    """Returns where nothing was asked for. Prints the help and exits 0 on `--help`, exits 2 on
    any other word; `names` are the fields of `Settings` that the process reads first of all."""
    argparse.ArgumentParser(
        prog=f"./redraft {command}",
        description=sentence,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(["variables (README has them all):", *_lines(names)]),
    ).parse_args(sys.argv[1:] if arguments is None else arguments)


def _lines(names: Sequence[str]) -> list[str]:
    known = {entry.name: entry for entry in fields(Settings)}
    found = []
    for name in names:
        entry = known[name]
        default = "needed" if entry.default is MISSING else str(entry.default)
        told = entry.metadata["help"] + (f" ({default})" if default else "")
        found.append(f"  {variable(name, entry.metadata):{_WIDTH}}{told}")
    return found
