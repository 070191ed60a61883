"""Which tests say that they hold a rule: `@pytest.mark.rule("name", …)`, read from the sources."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.__main__ import TIERS
from tests.architecture.sources import python_files


def files_by_rule() -> dict[str, list[str]]:
    """For each rule that a marker names, the files of its tests, those of quick tiers first."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, text in python_files("tests"):
        if "mark.rule(" not in text or not path.rsplit("/", 1)[1].startswith("test_"):
            continue
        for rule in _named(ast.parse(text)):
            found[rule].add(path)
    return {rule: sorted(paths, key=_tier) for rule, paths in found.items()}


def _tier(path: str) -> tuple[int, str]:
    return TIERS.index(path.split("/")[1]), path


def _named(tree: ast.Module) -> set[str]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        argument.value
        for call in calls
        if ast.unparse(call.func) == "pytest.mark.rule"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }
