"""Where SQL may stand, what it may not say, and who may move a run.

Statements stand inside their function, with their columns listed; modules that declare routes or
render pages hold none; reading modules write nothing; only `activities/record.py` moves a status.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import python_files

MOVES = "activities/record.py"
NO_SQL_BESIDE = ("fastapi.APIRouter", "jinja2", "rich", "argparse")

_STATEMENT = re.compile(
    r"^\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+(?:\w+\s+)?SET\s|DELETE\s+FROM\s|WITH\s+\w+.*?AS\s*\()",
    re.DOTALL,
)
_WRITE = re.compile(r"\b(INSERT\s+INTO|UPDATE\s+\w+\s+(?:\w+\s+)?SET|DELETE\s+FROM)\b")
_STAR = re.compile(r"(\bSELECT\s+|\bRETURNING\s+|,\s*|\.)\*(?!\s*\d)(?!\s*[a-z(])")
_STATUS = re.compile(r"\bUPDATE\s+runs\b.*?\bSET\b[^$]*?\bstatus\s*=", re.DOTALL)


def problems() -> list[str]:
    files = python_files("workflows", "activities", "worker", "api")
    return [fault for name, text in files for fault in faults_of(name, text)]


def faults_of(name: str, text: str) -> list[str]:
    """What is wrong with the SQL of one module; nothing when it has none."""
    module = ast.parse(text, filename=name)
    statements = list(_statements(module))
    if not statements:
        return []
    found = []
    if name.startswith("workflows/"):
        found.append(f"{name}: workflows decide and never ask a database")
    if beside := sorted(_imported(module) & set(NO_SQL_BESIDE)):
        found.append(f"{name}: SQL beside {', '.join(beside)}; move it to a query module")
    for line, statement, inside in statements:
        found += (f"{name}:{line}: {what}" for what in _faults(name, statement, inside=inside))
    return found


def _faults(name: str, text: str, *, inside: bool) -> Iterator[str]:
    if not inside:
        yield "the statement stands outside its function"
    if _STAR.search(text):
        yield "columns are listed, never *"
    reads_only = name.startswith(("api/queries/", "worker/"))
    if reads_only and _WRITE.search(text):
        yield "a reading module writes"
    if name != MOVES and _STATUS.search(text):
        yield f"only {MOVES} moves the status of a run"


def _statements(module: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it stands in a function, of each string that is a statement."""
    inside = {
        id(node)
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    parts = {
        id(part)
        for node in ast.walk(module)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            text = "".join(_piece(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in parts:
                continue
            text = node.value
        else:
            continue
        if _STATEMENT.match(text):
            yield node.lineno, text, id(node) in inside


def _piece(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else " x "


def _imported(module: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found
