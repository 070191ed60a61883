"""A revision as its kind shows it (a trip day by day), and the ledger of how its draft came."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import markdown, wire
from api.http.state import State
from api.texts.text import Catalogue
from workflows.kinds.kind import Material, SourceText
from workflows.showing import Line, Section, Shows, schedule_of
from workflows.vocabulary import CallStatus, IssueStatus, StepName

OPEN_STATUSES = frozenset({IssueStatus.OPEN, IssueStatus.REOPENED})
_LONGEST = 200_000
_LONGEST_DAY = 600
Pieces = list[Mapping[str, Any]]


async def schedule(
    state: State,
    document: wire.Document,
    shown: wire.Revision | None,
    sources: list[wire.Source],
    issues: Sequence[wire.Issue] = (),
) -> Pieces | None:
    """Days, tables and Markdown in their order, for `schedule.html`, with the open issues at the
    lines they quote; None for a plain text."""
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
    return await asyncio.to_thread(_pieces, kind, material, shown.body, issues)


def schedules(state: State, kind: str) -> bool:
    """Whether revisions of this kind are shown so, as far as their text is one."""
    return isinstance(state.kinds.get(kind), Shows)


def _pieces(
    kind: object, material: Material, body: str, issues: Sequence[wire.Issue]
) -> Pieces | None:
    found = schedule_of(kind, material, body)
    marks: dict[str, list[int]] = {}
    for issue in open_ones(issues):
        marks.setdefault(issue.quote, []).append(issue.number)
    return None if found is None else [_piece(piece, marks) for piece in found.pieces]


def open_ones(issues: Sequence[wire.Issue]) -> list[wire.Issue]:
    return [issue for issue in issues if issue.status in OPEN_STATUSES]


Marks = Mapping[str, Sequence[int]]


def _piece(piece: object, marks: Marks) -> Mapping[str, Any]:
    if isinstance(piece, str):
        return {"markdown": markdown.render(piece)}
    if isinstance(piece, Section):
        lines = [_line(line, marks) for line in piece.pieces]
        return {"day": piece, "lines": lines, "issues": marks.get(piece.text, ())}
    return {"table": piece}


def _line(line: Line | str, marks: Marks) -> Mapping[str, Any]:
    if isinstance(line, str):
        return {"markdown": markdown.render(line)}
    return {"entry": line, "issues": marks.get(line.text, ())}


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
