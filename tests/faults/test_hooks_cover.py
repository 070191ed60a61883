"""Every commit and every external effect of the engine lies between two named points."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from activities.hooks import Hook
from tests.architecture.sources import python_files

EFFECTS = {"start_workflow", "signal", "execute"}
"""Calls of these names reach Temporal, or commit a statement by themselves (on a pool)."""
EXEMPT = ("activities/hooks.py", "worker/doctor", "worker/run.py", "activities/model/")
"""The facility; what touches no run; the process's own signals; calls inside an open call."""


def _engine() -> Iterator[tuple[str, ast.Module]]:
    for name, text in python_files("activities", "worker"):
        if not name.startswith(EXEMPT):
            yield name, ast.parse(text)


def _hook(call: ast.Call) -> str | None:
    first = call.args[0] if call.args else None
    is_hook = isinstance(first, ast.Attribute) and ast.unparse(first.value) == "Hook"
    return first.attr if is_hook and isinstance(first, ast.Attribute) else None


def _named(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _surrounded(module: ast.Module) -> set[int]:
    """The nodes inside `async with effect(Hook.…)`, and what `Step.requests` is given."""
    asked = {
        id(inner)
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and _named(node) == "self.step.requests"
        for inner in ast.walk(node)
    }
    return asked | {
        id(inner)
        for node in ast.walk(module)
        if isinstance(node, ast.AsyncWith)
        for item in node.items
        if isinstance(item.context_expr, ast.Call)
        and _named(item.context_expr) == "effect"
        and _hook(item.context_expr)
        for inner in ast.walk(node)
    }


def _reaches_out(call: ast.Call) -> bool:
    """A request to a provider, a signal, a start, or a statement on a pool."""
    name = _named(call)
    last = name.rpartition(".")[2]
    if last == "execute":
        return name.endswith("pool.execute")
    return last in EFFECTS or name in ("self._stream", "tools.model.hear")


def faults(name: str, module: ast.Module) -> list[str]:
    """Commits and effects of a module that have no named point."""
    covered = _surrounded(module)
    found = []
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        where = f"{name}:{node.lineno}: {_named(node)}"
        if _named(node).rpartition(".")[2] == "transaction":
            found.append(f"{where}: use `committed`")
        elif _named(node) == "committed" and _hook(node) is None:
            found.append(f"{where}: no name")
        elif _reaches_out(node) and id(node) not in covered:
            found.append(f"{where}: no point around it")
    return found


def test_each_commit_and_effect_has_its_points() -> None:
    assert [fault for name, module in _engine() for fault in faults(name, module)] == []


def test_each_name_is_used_exactly_once() -> None:
    used = [
        _hook(node)
        for _, module in _engine()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and _named(node) in ("committed", "effect")
    ]
    assert sorted(str(name) for name in used) == sorted(hook.name for hook in Hook)


def test_the_provider_is_asked_in_one_place() -> None:
    asking = [
        (name, ast.unparse(node))
        for name, module in _engine()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and _named(node).endswith("call.run")
    ]
    assert asking == [("activities/spending/calls.py", "self.call.run()")]


def test_a_commit_without_a_name_is_seen() -> None:
    for source in (
        "transaction(pool, work)",
        "database.transaction(pool, work)",
        "committed(name, pool, work)",
        "tools.pool.execute('…')",
        "handle.signal('resume')",
        "client.start_workflow('x')",
    ):
        assert faults("activities/x.py", ast.parse(source)) != [], source
