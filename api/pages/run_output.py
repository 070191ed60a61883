"""What a run writes now: the text of each open call, where it goes on from, and what is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from api import wire
from api.pages.schedule import day_of
from api.queries import Reader
from workflows.vocabulary import FINAL, CallStatus, RunStatus, Severity, StepName, StepStatus

MOST = 1000
_LONGEST_SECTION, _MOST_LINES = 600, 24
"""Of a section that is kept: characters, and names of lines."""
_QUOTE = 160
SETTLED = FINAL | {RunStatus.AWAITING_CONFIRMATION}

Rows = TypeVar("Rows", bound=wire.Wire)


class Pager(Protocol[Rows]):
    """A list of one run, page by page."""

    def __call__(
        self, reader: Reader, run_id: str, limit: int, cursor: str | None, *, known: bool
    ) -> Awaitable[wire.Page[Rows] | None]: ...


@dataclass(frozen=True, kw_only=True)
class KeptItem:
    """An issue, an edit (`find`, `replace`), a day, a section (`heading`, `markdown`) with the
    lines it rests on, or anything else that a step has so far."""

    key: str
    call_id: str = ""
    part: str = ""
    heading: str = ""
    markdown: str = ""
    evidence: str = ""
    severity: str = ""
    category: str = ""
    quote: str = ""
    problem: str = ""
    find: str = ""
    replace: str = ""
    day: str = ""

    @property
    def number(self) -> int:
        """Days stand in their order, whichever came first."""
        return int(self.key) if self.day and self.key.isascii() and self.key.isdigit() else 0


async def all_rows(pager: Pager[Rows], reader: Reader, run_id: str) -> Sequence[Rows]:
    """Every row of a run that exists: the newest come last, and they are the ones that are open."""
    found: list[Rows] = []
    cursor: str | None = None
    while True:
        part = await pager(reader, run_id, MOST, cursor, known=True)
        if part is None:
            return found
        found += part.items
        cursor = part.next_cursor
        if cursor is None:
            return found


def partial(
    calls: Sequence[wire.Call], live: Mapping[str, str], kept: Sequence[KeptItem]
) -> list[Mapping[str, Any]]:
    """What the open calls have written so far; `before` counts the items of the part that earlier
    calls brought, which this one goes on from."""
    found: list[Mapping[str, Any]] = []
    for call in calls:
        if call.status == CallStatus.STARTED:
            before = sum(item.part == call.part and item.call_id != call.id for item in kept)
            found.append({**call.model_dump(), "text": live.get(call.id, ""), "before": before})
    return found


def kept_items(
    run: wire.Run,
    steps: Sequence[wire.Step],
    calls: Sequence[wire.Call],
    items: Sequence[wire.Item],
) -> Sequence[KeptItem]:
    """Items of a step that is not done, newest first: paid for, and not asked for again.

    Those of another input revision belong to a plan that a person's edit made void: a recording's
    alone is of no revision.
    """
    if not steps or steps[-1].status == StepStatus.SUCCEEDED or run.status in SETTLED:
        return []
    last = steps[-1]
    if last.name != StepName.TRANSCRIBE and last.input_revision != run.working_revision:
        return []
    same = {
        step.id
        for step in steps
        if (step.name, step.round, step.input_revision)
        == (last.name, last.round, last.input_revision)
    }
    of_it = {call.id for call in calls if call.step_id in same}
    return [_kept_item(item) for item in reversed(items) if item.call_id in of_it]


def _kept_item(item: wire.Item) -> KeptItem:
    """Only texts are taken from the payload: a model wrote it."""
    given = item.payload if isinstance(item.payload, dict) else {}
    names = ("severity", "category", "quote", "problem", "find", "replace", "heading", "markdown")
    texts = {name: value for name in names if isinstance(value := given.get(name), str)}
    if "markdown" in texts:
        texts["markdown"] = shortened(texts["markdown"], _LONGEST_SECTION)
        lines = given.get("evidence")
        named = [name for name in lines if isinstance(name, str)] if isinstance(lines, list) else []
        texts["evidence"] = ", ".join(named[:_MOST_LINES]) + (" …" if named[_MOST_LINES:] else "")
    if texts.get("severity") not in set(Severity):
        texts.pop("severity", None)
    return KeptItem(key=item.key, call_id=item.call_id, part=item.part, day=day_of(given), **texts)


def shortened(line: str, most: int = _QUOTE) -> str:
    """One line of at most so many characters, cut between words."""
    text = " ".join(line.split())
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0] or text[:most]} …"
