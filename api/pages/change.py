"""The comparison of two revisions as a page shows it: hunks, long unchanged stretches folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api import wire

_EDGE = 2
"""Unchanged lines shown beside a change; longer stretches are folded."""
_WORTH_FOLDING = 4


def shown(diff: wire.Diff, links: tuple[Mapping[str, str], ...] = ()) -> Mapping[str, Any]:
    """Facts for the template; `places` counts what changed."""
    last = len(diff.hunks) - 1
    return {
        "from": diff.from_,
        "to": diff.to,
        "changed": diff.changed,
        "level": diff.level,
        "places": sum(hunk.op != "equal" for hunk in diff.hunks),
        "links": links,
        "hunks": [
            _hunk(hunk, is_first=index == 0, is_last=index == last)
            for index, hunk in enumerate(diff.hunks)
        ],
    }


def _hunk(hunk: wire.DiffHunk, *, is_first: bool, is_last: bool) -> Mapping[str, Any]:
    text = hunk.text or ""
    if hunk.op != "equal":
        return {"op": hunk.op, "text": text, "pieces": hunk.pieces or []}
    lines = text.splitlines(keepends=True)
    head = [] if is_first else lines[:_EDGE]
    tail = [] if is_last else lines[max(len(head), len(lines) - _EDGE) :]
    middle = lines[len(head) : len(lines) - len(tail)]
    if len(middle) < _WORTH_FOLDING:
        return {"op": "equal", "text": text, "folded": False}
    return {
        "op": "equal",
        "folded": True,
        "head": "".join(head),
        "middle": "".join(middle),
        "tail": "".join(tail),
        "lines": len(middle),
    }
