"""README's table of settings, made from `deploy/settings.py`."""

from __future__ import annotations

from dataclasses import MISSING, fields

from deploy.settings import Settings, variable
from tests.architecture.sources import ROOT

README = "README.md"
HEAD = "| variable | default | what it is |\n|---|---|---|\n"


def table() -> str:
    rows = []
    for entry in fields(Settings):
        name = variable(entry.name, entry.metadata)
        rows.append(f"| `{name}` | {_default(entry.default)} | {entry.metadata['help']} |\n")
    return HEAD + "".join(rows)


def _default(value: object) -> str:
    if value is MISSING:
        return "needed"
    if value is True or value is False:
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def with_table(text: str) -> str:
    """The README with its table renewed."""
    before, head, rest = text.partition(HEAD)
    if not head:
        raise ValueError(f"{README} has no table of settings")
    lines = rest.splitlines(keepends=True)
    after = next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return before + table() + "".join(lines[after:])


def current() -> str:
    return with_table((ROOT / README).read_text(encoding="utf-8"))
