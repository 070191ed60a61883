"""`--help` of the processes that read nothing but settings: it needs none and starts nothing."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields

from deploy import terminal
from deploy.help_zh import HELP
from deploy.settings import Settings, variable

_WIDTH = 36
_HEAD = ("variables (README has them all):", "变量（README 列有全部）：")


def only_help(
    command: str, sentence: str, names: Sequence[str], arguments: Sequence[str] | None = None
) -> None:
    """Returns where nothing was asked for. Prints the help and exits 0 on `--help`, exits 2 on
    any other word; `names` are the fields of `Settings` that the process reads first of all."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    made = terminal.Parser(prog=f"./redraft {command}")
    made.description, made.formatter_class = sentence, argparse.RawDescriptionHelpFormatter
    made.add_argument("--lang", help="en or zh (default: as LC_ALL or LANG says)")
    if chinese := terminal.wants_chinese(words, os.environ):
        terminal.say_in_chinese(made, terminal.RawChinese)
    made.epilog = "\n".join([_HEAD[chinese], *_lines(names, HELP if chinese else {})])
    made.parse_args(words)


def _lines(names: Sequence[str], in_words: Mapping[str, str]) -> list[str]:
    known = {entry.name: entry for entry in fields(Settings)}
    found = []
    for name in names:
        entry = known[name]
        default = "needed" if entry.default is MISSING else str(entry.default)
        told = in_words.get(entry.metadata["help"], entry.metadata["help"])
        told += f" ({in_words.get(default, default)})" if default else ""
        found.append(f"  {variable(name, entry.metadata):{_WIDTH}}{told}")
    return found
