"""One document on a real stack, and what the table of moves says about every answer and event.

`World` sends commands and does faults; after each it reads rows and events in one snapshot and
holds them against the model: the statuses a run went through are a path of `workflows.transitions`,
an answer fits a status the run had meanwhile, what was refused left no event.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import asyncpg

from deploy.database import prepare_connection
from tests.fake_llm import FakeLLM, Reply, good_reviewer
from tests.fake_llm.recording import Request
from tests.faults.kit import planted
from tests.stack import Stack, minutes
from workflows.transitions import MOVED_BY_EVENT, allowed
from workflows.vocabulary import ACTIVE, FINAL, ErrorCode, EventType, RunStatus

Json = dict[str, Any]

MOVES: dict[str, EventType] = {
    "interrupt": EventType.RUN_INTERRUPTED,
    "resume": EventType.RUN_RESUMED,
    "confirm": EventType.RUN_CONFIRMED,
    "reject": EventType.RUN_REJECTED,
    "rework": EventType.RUN_REWORK,
    "cancel": EventType.RUN_CANCELLED,
}
"""What a command of a person does to a run."""
ANYWHERE = {ErrorCode.STALE_BASE, ErrorCode.OFFERED_REVISION_CHANGED}
"""Refusals about numbers; each needs a number that was not the newest."""


@dataclass(kw_only=True)
class Seen:
    """A run as the last look saw it. `path` are all its statuses, `told` its events."""

    id: str
    path: list[RunStatus] = field(default_factory=lambda: [RunStatus.RUNNING])
    told: list[tuple[int, str]] = field(default_factory=list)
    requests: dict[str, list[str]] = field(default_factory=dict)
    """Types of events by the request that made them."""
    row: Json = field(default_factory=dict)

    @property
    def status(self) -> RunStatus:
        return self.path[-1]


@dataclass(frozen=True, kw_only=True)
class Command:
    """One request. `fits`: it names the newest numbers."""

    name: str
    path: str
    body: Mapping[str, Any]
    run_id: str | None
    key: str
    fits: bool = True


class Model:
    """The fake model: finds the planted errors, and stumbles as it is told, once each."""

    def __init__(self, llm: FakeLLM) -> None:
        self.stumbles: list[Mapping[str, Any]] = []
        self.good = good_reviewer(errors=planted(2), pace={"before_first": 0.1, "per_chunk": 0.01})
        llm.script(self.play)

    def play(self, request: Request) -> Reply:
        reply = self.good(request)
        assert isinstance(reply, Reply)
        return replace(reply, **self.stumbles.pop(0)) if self.stumbles else reply


class World:
    def __init__(self, stack: Stack, llm: FakeLLM, watcher: asyncpg.Connection[Any]) -> None:
        self.stack, self.llm, self.watcher = stack, llm, watcher
        self.model = Model(llm)
        self.document = ""
        self.runs: list[Seen] = []
        self.last: tuple[Command, int] | None = None
        self.journal: list[str] = []
        self.asked_before = len(llm.requests)
        self.deleted = False

    @classmethod
    async def of(cls, stack: Stack, llm: FakeLLM) -> World:
        watcher = await asyncpg.connect(stack.url)
        await prepare_connection(watcher)
        return cls(stack, llm, watcher)

    def says(self, words: str) -> str:
        return words + "\n" + "\n".join(self.journal[-40:])

    # operators

    async def create(self) -> None:
        run = await self.stack.create(minutes(errors=2))
        self.document, self.runs, self.last = run["document_id"], [Seen(id=run["id"])], None
        self.deleted = False
        self.journal.append(f"create {run['id']}")
        await self.look()

    async def send(self, command: Command) -> None:
        """One command, judged by what its run went through while it was under way."""
        request_id = uuid.uuid4().hex
        before = {seen.id: len(seen.path) for seen in self.runs}
        headers = {"X-Request-Id": request_id, "Idempotency-Key": command.key}
        method = "DELETE" if command.name == "delete" else "POST"
        answer = await self.stack.http.request(
            method, command.path, json=None if method == "DELETE" else command.body, headers=headers
        )
        told: Json = answer.json() if answer.content else {}
        replayed = answer.headers.get("idempotent-replay") == "true"
        self.journal.append(
            f"{command.name} {dict(command.body)} -> {answer.status_code} {told.get('code', '')}"
        )
        if command.name == "start" and answer.status_code == 201 and not replayed:
            self.runs.append(Seen(id=told["id"]))
        self.last = (command, answer.status_code)
        if command.name == "delete":
            self.deleted = answer.status_code == 204 or self.deleted
        await self.look()
        if self.deleted:
            assert answer.status_code in (204, 404, 501), self.says("after a deletion")
        elif not replayed:
            self.judge(command, answer.status_code, told, request_id, before)

    async def repeat(self) -> None:
        """The same request under the same key: what took effect is told again and not done."""
        assert self.last is not None
        command, first = self.last
        events = [len(seen.told) for seen in self.runs]
        statuses = [seen.status for seen in self.runs]
        await self.send(command)
        assert self.last is not None
        if first < 300 and not self.deleted:
            assert self.last[1] == first, self.says("another answer under the same key")
            made = [seen.told[n:] for seen, n in zip(self.runs, events, strict=True)]
            moves = {str(event) for event in MOVES.values()}
            persons = [type_ for told in made for _, type_ in told if type_ in moves]
            assert not persons, self.says(f"done twice: {persons}, from {statuses}")

    # the model

    def judge(
        self, command: Command, code: int, told: Json, request_id: str, before: Mapping[str, int]
    ) -> None:
        assert code < 500 or told.get("code") == "not_built", self.says(f"{code}: {told}")
        made = [type_ for seen in self.runs for type_ in seen.requests.get(request_id, [])]
        if code < 300:
            if command.name in MOVES:
                moves = [type_ for type_ in made if type_ in set(MOVES.values())]
                assert moves == [MOVES[command.name]], self.says(f"{command.name}: {made}")
            return
        assert made == [], self.says(f"refused, and yet {made}")
        assert code in (409, 501), self.says(f"{code}: {told}")
        if code == 409:
            why = ErrorCode(told["code"])
            assert self.may_refuse(command, why, before), self.says(f"{command.name}: {why}")

    def may_refuse(self, command: Command, why: ErrorCode, before: Mapping[str, int]) -> bool:
        """Whether the table, or a number, gives this reason."""
        if why in ANYWHERE:
            return not command.fits or command.name == "edit"
        others = [seen for seen in self.runs if seen.id != command.run_id]
        if why == ErrorCode.RUN_ACTIVE:
            return any(ACTIVE & set(self.passed(seen, before)) for seen in others)
        seen = next(seen for seen in self.runs if seen.id == command.run_id)
        statuses = set(self.passed(seen, before))
        if why == ErrorCode.FINAL_STATUS:
            return bool(statuses & FINAL)
        if why == ErrorCode.GUARDRAIL_OVERRIDE_REQUIRED:
            return RunStatus.FAILED in statuses
        sources = MOVED_BY_EVENT[MOVES[command.name]][0]
        return why == ErrorCode.STATUS_CHANGED and bool(statuses - sources - FINAL)

    def passed(self, seen: Seen, before: Mapping[str, int]) -> list[RunStatus]:
        """Its statuses from the last look before the command to the first after it."""
        return seen.path[max(before.get(seen.id, 1) - 1, 0) :]

    # what must hold at any time

    async def look(self) -> None:
        """Every run in one snapshot each, held against what was seen before."""
        for seen in self.runs:
            row = await self.watcher.fetchrow(
                """
                SELECT r.status, r.epoch, r.event_seq, r.working_revision, r.offered_revision,
                    (SELECT count(*) FROM steps s
                        WHERE s.run_id = r.id AND s.status = 'RUNNING') AS running,
                    (SELECT count(*) FROM model_calls c JOIN steps s ON s.id = c.step_id
                        WHERE c.run_id = r.id AND c.status = 'STARTED'
                          AND s.status <> 'RUNNING') AS astray,
                    (SELECT array_agg(v.number ORDER BY v.number) FROM revisions v
                        WHERE v.document_id = r.document_id) AS numbers,
                    (SELECT jsonb_agg(jsonb_build_array(
                            e.seq, e.type, e.request_id, e.data->'from', e.data->'to')
                        ORDER BY e.seq) FROM run_events e WHERE e.run_id = r.id) AS events
                FROM runs r WHERE r.id = $1
                """,
                seen.id,
            )
            assert (row is None) == self.deleted, self.says("a deleted run is there, or one is not")
            if row is not None:
                self.hold(seen, dict(row.items()))

    def hold(self, seen: Seen, row: Json) -> None:
        events = row.pop("events")
        told = [(seq, type_) for seq, type_, *_ in events]
        assert told[: len(seen.told)] == seen.told, self.says("events were rewritten")
        assert [seq for seq, _ in told] == list(range(1, row["event_seq"] + 1)), self.says("gaps")
        path, requests = [RunStatus.RUNNING], dict[str, list[str]]()
        for _, type_, request_id, from_, to in events:
            requests.setdefault(request_id or "", []).append(type_)
            if to is not None:
                assert from_ == path[-1], self.says(f"{type_} from {from_} after {path}")
                assert allowed(path[-1], RunStatus(to)), self.says(f"{from_} to {to}")
                path.append(RunStatus(to))
        assert row["status"] == path[-1], self.says(f"{row['status']} after {path}")
        epochs = path.count(RunStatus.RUNNING)
        assert row["epoch"] == epochs, self.says(f"epoch {row['epoch']} after {path}")
        assert row["running"] <= 1, self.says("two steps at once")
        assert row["astray"] == 0, self.says("an open call of a closed step")
        assert row["numbers"] == list(range(len(row["numbers"]))), self.says(str(row["numbers"]))
        seen.path, seen.told, seen.requests, seen.row = path, told, requests, row
