"""The notes of a draft after a button of the review: what was typed, and what the button adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from api.differences import ALGORITHM
from api.http.errors import misfit
from api.pages.forms import Form, number
from api.pages.review import Asked
from api.pages.review_own import Own

Notes: TypeAlias = dict[str, Any]


def noted(form: Form, mine: Own, asked: Asked) -> Notes:
    """As the JSON of `requests.DraftNotes`. Raises 422 for a button without its words."""
    notes: Notes = mine.notes.model_dump(by_alias=True, mode="json")
    for name in ("instructions", "comment"):
        if name in form:
            notes[name] = form[name].strip() or None
    if form["extra_rounds"].strip():
        rounds = number(form["extra_rounds"])
        notes["extra_rounds"] = rounds if rounds != 2 else None
    verb, _, subject = form["do"].partition(":")
    if "say" in form:
        _pend(notes, form, verb, subject)
    elif verb == "rework" and notes["pending"] is not None:
        notes["comments"].append(notes["pending"])
        notes["pending"] = None
    if verb in _BUTTONS:
        _BUTTONS[verb](notes, form, subject)
    if verb == "rebase":
        notes["decisions"] = []
    return notes


def _pend(notes: Notes, form: Form, verb: str, subject: str) -> None:
    """A comment typed but not added comes back in its field; with a round it is sent, and beside
    another passage it is added, since that one's field takes its place."""
    said = {"quote": form["quote"].strip() or None, "text": form["say"].strip()}
    moves = verb == "rework" or (verb == "at" and subject not in ("", form["say_at"]))
    notes["pending"] = None
    if said["text"] and moves:
        notes["comments"].append(said)
    elif said["text"] and verb != "comment" and (verb, subject) != ("at", ""):
        notes["pending"] = said


def _comment(notes: Notes, form: Form, subject: str) -> None:
    """`quote` is empty for a comment on the whole."""
    text = form["say"].strip()
    if not text:
        raise misfit("/say", "say something about it", kind="blank")
    notes["comments"].append({"quote": form["quote"].strip() or None, "text": text})


def _lock(notes: Notes, form: Form, subject: str) -> None:
    quote = form["quote"].strip()
    if not quote:
        raise misfit("/quote", "choose the passage to lock", kind="blank")
    if all(lock["quote"] != quote for lock in notes["locks"]):
        notes["locks"].append({"quote": quote})


def _without(name: str) -> Callable[[Notes, Form, str], None]:
    def take_out(notes: Notes, form: Form, subject: str) -> None:
        at = number(subject.partition(".")[2] or subject)
        if isinstance(at, int) and at < len(notes[name]):
            del notes[name][at]

    return take_out


def _decision(accept: bool | None) -> Callable[[Notes, Form, str], None]:
    def decide(notes: Notes, form: Form, subject: str) -> None:
        """`subject` is passage and change; the comparison is the one that was shown."""
        hunk = number(subject.partition(".")[2])
        change = {
            "from": number(form["shown_from"]),
            "to": number(form["shown_to"]),
            "hunk": hunk,
            "algorithm": ALGORITHM,
        }
        others = [one for one in notes["decisions"] if one["change"]["hunk"] != hunk]
        fresh = [] if accept is None else [{"change": change, "accept": accept}]
        notes["decisions"] = sorted(others + fresh, key=lambda one: _place(one["change"]))

    return decide


def _place(change: Mapping[str, Any]) -> int:
    hunk = change["hunk"]
    return hunk if isinstance(hunk, int) else 0


_BUTTONS: Mapping[str, Callable[[Notes, Form, str], None]] = {
    "comment": _comment,
    "lock": _lock,
    "uncomment": _without("comments"),
    "unlock": _without("locks"),
    "accept": _decision(True),
    "refuse": _decision(False),
    "undo": _decision(None),
}
