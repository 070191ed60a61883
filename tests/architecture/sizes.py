"""Files and functions stay small enough to be read whole."""

from __future__ import annotations

import ast
import re

from tests.architecture.sources import ROOT, lifted, parsed, python_files, tracked

FILE, FUNCTION, SCRIPT, WORKFLOW = 400, 60, 300, 200
_HEAD = re.compile(r"\s*(async def|def|class) ")


def problems() -> list[str]:
    return [*_files(), *_functions()]


def _files() -> list[str]:
    found = []
    for name in tracked():
        limit = {"py": FILE, "js": SCRIPT}.get(name.rsplit(".", 1)[-1])
        if name == "workflows/review_run.py":
            limit = WORKFLOW
        if limit is None or name.startswith("tests/data/") or lifted(name):
            continue
        length = len((ROOT / name).read_text(encoding="utf-8").splitlines())
        if length > limit:
            found.append(f"{name}: {length} lines, at most {limit}")
    return found


def _functions() -> list[str]:
    found = []
    for name, text in python_files():
        if lifted(name) or not _may_be_long(text):
            continue
        for node in ast.walk(parsed(ROOT / name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION:
                    found.append(
                        f"{name}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION}"
                    )
    return found


def _may_be_long(text: str) -> bool:
    """Whether any function is long enough up to the next one that stands no deeper: parsing takes
    nearly all of the check's time."""
    open_: list[tuple[int, int]] = []
    lines = text.splitlines()
    for at, line in enumerate([*lines, "def end"]):
        if _HEAD.match(line):
            depth = len(line) - len(line.lstrip())
            while open_ and open_[-1][0] >= depth:
                if at - open_.pop()[1] > FUNCTION:
                    return True
            open_.append((depth, at))
    return False
