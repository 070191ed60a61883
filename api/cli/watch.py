"""`redraft watch`: follows a run until it waits for a person or is final.

A thread reads the event stream and resumes it by `Last-Event-ID` when the API goes away; the main
thread draws. The screen shows rows, read again when an event says that they changed; events are
only the reason to look (and the lines of the plain form).
"""

from __future__ import annotations

import contextlib
import json
import queue
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from api.cli.client import OK, RUN_FAILED, Client, Refused, Unreachable
from api.cli.language import next_line, tell, word
from api.cli.rest import rest_line
from api.cli.show import (
    OPEN,
    console,
    issues_table,
    run_lines,
    say,
    say_json,
    steps_table,
)
from api.cli.words import (
    STATUS_STYLES,
    clean,
    event_line,
    event_sentence,
    next_act,
    one_line,
    reason_sentence,
    status_words,
)
from api.texts.codes import N_

if TYPE_CHECKING:
    from rich.console import RenderableType

Json = Mapping[str, Any]

PATIENCE = 120.0
"""Seconds the API may be away (a restart, an upgrade) before watching gives up."""
REFRESH = 0.4
"""Least seconds between two readings of the rows."""
SETTLE = 10.0
"""Longest wait for the last events and the last step of a run that stopped."""
TAIL = 8
_END, _LOST, _ANSWERED = "end", "lost", "answered"
_WAITS = {
    "INTERRUPTED": N_("It is not done and waits for you: nothing goes on by itself."),
    "AWAITING_CONFIRMATION": N_("It waits for your decision."),
}


@dataclass
class _Frame:
    """One thing the reader has to say."""

    kind: str
    data: dict[str, Any] = field(default_factory=dict)


class _Reader(threading.Thread):
    """Puts frames into the queue and connects again, after what it has, until told to stop."""

    def __init__(self, client: Client, run_id: str, after: int, patience: float) -> None:
        super().__init__(daemon=True, name="redraft-events")
        self.frames: queue.Queue[_Frame] = queue.Queue()
        self.stopped = threading.Event()
        self._client, self._run_id, self._seen = client, run_id, after
        self._patience = patience

    def run(self) -> None:
        away_since: float | None = None
        pause = 0.3
        while not self.stopped.is_set():
            before = time.monotonic()
            try:
                if self._read_once():
                    self.frames.put(_Frame(_END))
                    return
                away_since, pause = None, 0.3
            except Refused as refused:
                if refused.status < 500:
                    self.frames.put(_Frame(_LOST, {"error": refused}))
                    return
                away_since = away_since or before
            except Unreachable as error:
                away_since = away_since or before
                if time.monotonic() - away_since > self._patience:
                    self.frames.put(_Frame(_LOST, {"error": error}))
                    return
            except RuntimeError:
                if self.stopped.is_set():  # the client was closed under it
                    return
                raise
            self.stopped.wait(pause)
            pause = min(pause * 1.6, 2.0)

    def _read_once(self) -> bool:
        """True when there is nothing more to come."""
        received = False
        for frame in self._client.events(self._run_id, self._seen):
            received = True
            if self.stopped.is_set():
                return True
            if frame.event == "end":
                return True
            data = _facts(frame.data)
            if data is None:
                continue
            self._note(frame.event, data)
            self.frames.put(_Frame(frame.event, data))
        if not received:
            self.frames.put(_Frame(_ANSWERED))
        return not received and self._is_final()

    def _note(self, event: str, data: dict[str, Any]) -> None:
        if event == "reset":
            self._seen = int(data.get("event_seq", 0))
        elif event != "partial" and isinstance(data.get("seq"), int):
            self._seen = max(self._seen, data["seq"])

    def _is_final(self) -> bool:
        """An empty answer of a final run is its 204; of a living one a restart in between."""
        status = self._client.get(f"/api/runs/{self._run_id}")["status"]
        return status in ("CONFIRMED", "REJECTED", "CANCELLED")


def _facts(data: str) -> dict[str, Any] | None:
    """None for a frame that tells nothing, as the one with the time to wait before a reconnect."""
    try:
        found = json.loads(data)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


class LiveText:
    """What the model writes right now, put together from `partial` frames."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, data: Json) -> None:
        """Appends at the offset and drops what is there already; a gap begins the text anew."""
        call, offset = str(data.get("call_id", "")), int(data.get("offset", 0))
        text, known = str(data.get("text", "")), self._texts.pop(call, "")
        if offset > len(known):
            known, offset = "", 0
        self._texts[call] = known[:offset] + text if len(known) < offset + len(text) else known

    def ended(self, call: str) -> None:
        self._texts.pop(call, None)

    def tail(self, lines: int, width: int) -> str:
        """The last lines of the call that wrote last."""
        if not self._texts:
            return ""
        text = clean(next(reversed(self._texts.values())))
        folded = [
            line[start : start + width]
            for line in text.splitlines()
            for start in range(0, max(len(line), 1), width)
        ]
        return "\n".join(folded[-lines:])


@dataclass
class _State:
    """What is known of the run; `dirty` = an event came after the rows were read."""

    run: Json
    steps: list[Json] = field(default_factory=list)
    issues: list[Json] = field(default_factory=list)
    live: LiveText = field(default_factory=LiveText)
    seen: int = 0
    dirty: bool = True
    read_at: float = 0.0
    note: str = ""
    stopped_at: float | None = None

    def finished(self, stream_over: bool) -> bool:
        """The run does not go on by itself and everything about it was said."""
        if self.run["status"] == "RUNNING" and not stream_over:
            self.stopped_at = None
            return False
        now = time.monotonic()
        self.stopped_at = self.stopped_at or now
        told = stream_over or self.seen >= int(self.run.get("event_seq") or 0)
        settled = told and not self.run.get("stopping") and not self.dirty
        return settled or now - self.stopped_at > SETTLE


def watch(client: Client, run_id: str, *, as_json: bool, patience: float = PATIENCE) -> int:
    """Exit code: 4 when the run failed, else 0, also when it was stopped and waits: that is no
    failure, and `--json` has its status. Raises Unreachable when the API stays away."""
    state = _State(run=client.get(f"/api/runs/{run_id}"))
    reader = _Reader(client, run_id, 0, patience)
    reader.start()
    try:
        if as_json or not sys.stdout.isatty():
            _follow(client, reader, state, lambda event: _line(event, as_json=as_json))
        else:
            _draw(client, reader, state)
    finally:
        reader.stopped.set()
    _say_end(client, state.run, as_json=as_json)
    return RUN_FAILED if state.run["status"] == "FAILED" else OK


def _line(event: Json, *, as_json: bool) -> None:
    if as_json:
        say_json(event)
        return
    say(event_line(event))


def _say_end(client: Client, run: Json, *, as_json: bool) -> None:
    if as_json:
        say_json({"run": run})
        return
    why, status = reason_sentence(run), str(run["status"])
    say(f"{status_words(status)}{': ' + why if why else ''}")
    if status in _WAITS:
        say(word(_WAITS[status]))
    if rest := rest_line(client, run):
        say(rest)
    if act := next_act(run):
        say(next_line(act))


def _follow(client: Client, reader: _Reader, state: _State, on_event: Any) -> None:
    """Takes frames until the run has stopped; `on_event` gets every event once, in order."""
    over = False
    while not state.finished(over):
        with contextlib.suppress(queue.Empty):
            frame = reader.frames.get(timeout=0.2)
            over = over or _take(frame, state, on_event)
        if reader.frames.empty() and state.dirty and time.monotonic() - state.read_at > REFRESH:
            _read_rows(client, state)


def _take(frame: _Frame, state: _State, on_event: Any) -> bool:
    """True when the stream is over. Raises what made the reader give up."""
    if frame.kind == _LOST:
        raise frame.data["error"]
    if frame.kind == "partial":
        state.live.add(frame.data)
        return False
    state.dirty = True
    if frame.kind == "reset":
        state.seen = int(frame.data.get("event_seq", 0))
        state.note = tell("the database was restored to an earlier moment")
    elif frame.kind not in (_END, _ANSWERED):
        state.seen = max(state.seen, int(frame.data.get("seq", 0)))
        if frame.kind == "call_ended":
            state.live.ended(str(frame.data.get("call_id", "")))
        on_event(frame.data)
    return frame.kind == _END


def _read_rows(client: Client, state: _State) -> None:
    """Reads the run again; while the API is away the old rows stay on the screen."""
    path = f"/api/runs/{state.run['id']}"
    state.read_at = time.monotonic()
    try:
        run = client.get(path)
        steps = client.get(f"{path}/steps", limit=200)["items"]
        issues = client.get(f"{path}/issues", limit=200)["items"]
    except Unreachable as error:
        state.note = tell("{error}; trying again", error=error)
        return
    state.run, state.steps, state.issues = run, steps, issues
    state.note, state.dirty = "", False


def _draw(client: Client, reader: _Reader, state: _State) -> None:
    from rich.live import Live

    screen = console()
    latest: list[str] = []

    def note(event: Json) -> None:
        latest[:] = [*latest[-3:], f"{event.get('seq', '')} {event_sentence(event)}"]

    with Live(
        get_renderable=lambda: _picture(state, latest, screen.width),
        console=screen,
        refresh_per_second=8,
        transient=False,
    ):
        _follow(client, reader, state, note)


def _picture(state: _State, latest: list[str], width: int) -> RenderableType:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    run = state.run
    first, *others = run_lines(run)
    parts: list[RenderableType] = [
        Text(one_line(run.get("title") or "", 100), style="bold"),
        Text(first, style=STATUS_STYLES.get(str(run["status"]), "")),
        *(Text(line) for line in others),
        Text(),
        steps_table(state.steps[-10:]),
    ]
    still_open = [issue for issue in state.issues if issue.get("status") in OPEN]
    if still_open:
        parts += [Text(), issues_table(still_open, limit=6)]
    if run["status"] == "RUNNING" and (text := state.live.tail(TAIL, max(20, width - 4))):
        parts += [Panel(Text(text), title=tell("the model writes"), border_style="dim")]
    parts += [Text(clean(line), style="dim", no_wrap=True, overflow="ellipsis") for line in latest]
    if state.note:
        parts.append(Text(clean(state.note), style="yellow"))
    return Group(*parts)
