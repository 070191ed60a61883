"""A revision as its kind shows it (a trip day by day), and the ledger of how its draft came."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import markdown, wire
from api.state import State
from api.text import Catalogue
from workflows.kinds.kind import Material, SourceText
from workflows.showing import Line, Section, schedule_of
from workflows.vocabulary import CallStatus, StepName

_LONGEST = 200_000
_LONGEST_DAY = 600
Pieces = list[Mapping[str, Any]]


async def schedule(
    state: State, document: wire.Document, shown: wire.Revision | None, sources: list[wire.Source]
) -> Pieces | None:
    """Days, tables and Markdown in their order, for `schedule.html`; None for a plain text."""
    kind = state.kinds.get(document.kind)
    if kind is None or shown is None or len(shown.body) > _LONGEST:
        return None
    material = Material(
        title=document.title,
        language=document.language,
        attributes={name: v for name, v in document.attributes.items() if v is not None},
        sources=tuple(
            SourceText(id=s.id, name=s.name, media_type=s.media_type, text=s.text) for s in sources
        ),
    )
    return await asyncio.to_thread(_pieces, kind, material, shown.body)


def schedules(state: State, kind: str) -> bool:
    """Whether revisions of this kind are shown so, as far as their text is one."""
    return getattr(state.kinds.get(kind), "schedule", None) is not None


def _pieces(kind: object, material: Material, body: str) -> Pieces | None:
    found = schedule_of(kind, material, body)
    return None if found is None else [_piece(piece) for piece in found.pieces]


def _piece(piece: object) -> Mapping[str, Any]:
    if isinstance(piece, str):
        return {"markdown": markdown.render(piece)}
    if isinstance(piece, Section):
        return {"day": piece, "lines": [_line(line) for line in piece.pieces]}
    return {"table": piece}


def _line(line: Line | str) -> Mapping[str, Any]:
    return {"markdown": markdown.render(line)} if isinstance(line, str) else {"entry": line}


def day_of(payload: Mapping[str, Any]) -> str:
    """Where a day of a trip is and what it brings; '' for any other item. Only texts are taken: a
    model wrote it."""
    entries, city = payload.get("entries"), payload.get("city")
    if not isinstance(entries, list) or not isinstance(city, str):
        return ""
    names = [entry.get("name") for entry in entries if isinstance(entry, dict)]
    return " · ".join([city, *(name for name in names if isinstance(name, str))])[:_LONGEST_DAY]


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """One call of the draft: what it brought, why it ended, what was dropped as (what, why)."""

    call: wire.Call
    kept: str
    why: str
    dropped: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """`word` is what the kind's items are called."""

    word: str
    lines: tuple[LedgerLine, ...]


def ledger(run: wire.Run, calls: Sequence[wire.Call], words: Catalogue) -> Ledger | None:
    """None when no call of a draft brought or lost anything."""
    drafts = [call for call in calls if call.step == StepName.DRAFT]
    if not any(call.kept_keys or call.items_dropped for call in drafts):
        return None
    lines = tuple(
        LedgerLine(
            call=call,
            kept=", ".join(call.kept_keys),
            why=_why(call, words),
            dropped=tuple(
                {
                    "what": ", ".join(call.dropped_keys.get(code, ())) or str(count),
                    "why": words.sentence("dropped", code),
                }
                for code, count in sorted(call.dropped.items())
            ),
        )
        for call in drafts
    )
    known = words.sentence("items", run.kind)
    return Ledger(word=known if known != run.kind else words.text("Items"), lines=lines)


def _why(call: wire.Call, words: Catalogue) -> str:
    if call.status == CallStatus.STARTED:
        return words.text("It is at work.")
    if call.end_cause:
        return words.sentence("reason", call.end_cause, {"http_status": call.http_status})
    if call.finish_reason == "stop":
        return words.text("The model ended its reply.")
    return call.finish_reason or "–"
