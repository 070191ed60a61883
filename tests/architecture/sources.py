"""The files that rules are about: what git tracks, or would track."""

from __future__ import annotations

import ast
import gc
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE_FOLDERS = ("workflows", "activities", "worker", "api", "deploy", "tests")


@cache
def tracked() -> tuple[str, ...]:
    """Paths from the root, also of files not added yet; without git every file that is source."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
        return tuple(sorted(name for name in set(names) if name and (ROOT / name).is_file()))
    found = (path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*"))
    return tuple(sorted(str(path.relative_to(ROOT)) for path in found if path.is_file()))


def python_files(*folders: str) -> Iterator[tuple[str, str]]:
    """Path and text of each Python file under these folders (all when none is named)."""
    for name in tracked():
        chosen = not folders or name.split("/", 1)[0] in folders
        if chosen and name.endswith(".py") and not name.startswith("tests/data/"):
            yield name, (ROOT / name).read_text(encoding="utf-8")


def parsed(path: Path) -> ast.Module:
    """Python 3.11 counts the depth of a tree once a process: other code that runs in the middle of
    it, as a collection of garbage may, upsets the count ("recursion depth mismatch")."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    finally:
        if was_on:
            gc.enable()


@cache
def decisions() -> str:
    """DECISIONS.md: a limit is lifted only there, by a line `Limit lifted: path`."""
    path = ROOT / "DECISIONS.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def lifted(name: str) -> bool:
    return f"Limit lifted: `{name}`" in decisions()
