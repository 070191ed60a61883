"""The comparison of two revisions as a page shows it: hunks, long unchanged stretches folded."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from api import differences, wire
from api.differences import Difference, Hunk

_EDGE = 2
"""Unchanged lines shown beside a change; longer stretches are folded."""
_WORTH_FOLDING = 4


async def compared(
    old: wire.Revision, new: wire.Revision, links: tuple[Mapping[str, str], ...] = ()
) -> Mapping[str, Any]:
    """Both revisions as facts for the template, compared in a thread."""
    found = await asyncio.to_thread(differences.difference, old.body, new.body)
    return {"from": old.number, "to": new.number, "links": links, **shown(found)}


def shown(found: Difference) -> Mapping[str, Any]:
    """`places` counts what changed."""
    last = len(found.hunks) - 1
    hunks = [
        _hunk(hunk, is_first=index == 0, is_last=index == last)
        for index, hunk in enumerate(found.hunks)
    ]
    places = sum(hunk["op"] != "equal" for hunk in hunks)
    return {"level": found.level, "places": places, "changed": places > 0, "hunks": hunks}


def _hunk(hunk: Hunk, *, is_first: bool, is_last: bool) -> Mapping[str, Any]:
    if len(hunk.pieces) != 1:
        return {"op": "replace", "pieces": hunk.pieces}
    (only,) = hunk.pieces
    text = only.text
    if only.op != "equal":
        return {"op": only.op, "text": text}
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
