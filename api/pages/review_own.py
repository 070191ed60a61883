"""What the person at the review has not sent yet: notes, decisions, an edited text."""

from __future__ import annotations

from dataclasses import dataclass, field

from api import wire
from api.differences import ALGORITHM
from api.http import requests
from api.http.errors import Refusal
from api.moves import rework
from api.wire.drafts import Draft
from workflows.vocabulary import RunStatus


@dataclass(frozen=True, kw_only=True)
class Own:
    """`text` is what would be confirmed with "my edits": the text edited by hand, or the offered
    one with the refused changes taken back; None where that is the offered text itself. `apart`:
    it was made of another revision than the one offered now, or its changes were counted in a way
    that is no more."""

    draft: Draft | None = None
    notes: requests.DraftNotes = field(default_factory=requests.DraftNotes)
    text: str | None = None
    apart: bool = False

    @property
    def version(self) -> int:
        return 0 if self.draft is None else self.draft.version

    @property
    def edited(self) -> bool:
        """By hand; then single changes are not decided any more."""
        return self.draft is not None and self.draft.body is not None

    @property
    def refused(self) -> int:
        return sum(not decision.accept for decision in self.notes.decisions)

    @property
    def anything(self) -> bool:
        return self.draft is not None and (self.edited or self.notes != requests.DraftNotes())

    def decided(self, old: int | None, new: int | None) -> dict[int, bool]:
        """Which changes of this comparison are decided, and how."""
        return {
            decision.change.hunk: decision.accept
            for decision in self.notes.decisions
            if (decision.change.from_, decision.change.to) == (old, new)
        }

    @property
    def compares_with(self) -> int | None:
        """The revision whose changes were decided; all must be of one."""
        return self.notes.decisions[0].change.from_ if self.notes.decisions else None


def own(draft: Draft | None, run: wire.Run, texts: dict[int, wire.Revision]) -> Own:
    """`texts` holds the offered revision and the one its changes were decided against."""
    if draft is None:
        return Own()
    notes = requests.DraftNotes.model_validate(draft.notes)
    apart = run.status == RunStatus.AWAITING_CONFIRMATION and (
        draft.base_revision != run.offered_revision
        or any(one.change.to != run.offered_revision for one in notes.decisions)
        or any(one.change.algorithm != ALGORITHM for one in notes.decisions)
    )
    text = draft.body
    if text is None and not apart and notes.decisions:
        text = _decided(notes, texts)
    offered = texts.get(run.offered_revision) if run.offered_revision is not None else None
    if offered is not None and text == offered.body:
        text = None
    return Own(draft=draft, notes=notes, text=text, apart=apart)


def _decided(notes: requests.DraftNotes, texts: dict[int, wire.Revision]) -> str | None:
    change = notes.decisions[0].change
    old, new = texts.get(change.from_), texts.get(change.to)
    if old is None or new is None:
        return None
    try:
        return rework.decide(old.body, new.body, notes.decisions)
    except Refusal:  # decided by another program, about changes that are none
        return None
