"""Judges a run by its rows and by what the model server saw: nothing lost, nothing paid twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from activities.owning.death import Identity
from tests.faults.kit.members import Blame
from tests.faults.kit.model import Asked, canonical
from tests.faults.random_rows import Call, Rows
from workflows.transitions import MOVED_BY_EVENT
from workflows.vocabulary import EventType, RunStatus

Say: TypeAlias = Callable[[str, str], None]
"""(kind of violation, facts)"""
LASTING = ("frozen", "parted", "stopped", "at ")
"""What goes on after it began: a worker that was told to end still begins calls in its grace, one
that dies at a point may work for long before it gets there. Beginnings of how a blame says it."""
LAG = 1.0
"""Seconds that the clocks of who blames and who stores may be apart on a busy machine."""


@dataclass(kw_only=True)
class Window:
    """When which fault was done."""

    name: str
    touches: frozenset[str]
    since: float
    until: float = float("inf")


@dataclass(kw_only=True)
class Counted:
    """What was counted over all judged runs; nothing here is a violation by itself."""

    runs: int = 0
    requests: int = 0
    calls: int = 0
    in_the_window: int = 0
    to_the_frozen: int = 0
    to_the_stopped: int = 0
    window_facts: list[str] = field(default_factory=list)
    never_sent: int = 0
    overlaps_excused: int = 0
    lost: Counter[str] = field(default_factory=Counter)


class Case:
    """One run against what its rows say and what was asked for it."""

    def __init__(
        self,
        rows: Rows,
        asked: Sequence[Asked],
        *,
        blames: Sequence[Blame],
        windows: Sequence[Window],
        say: Say,
    ) -> None:
        self.rows, self.asked, self.say = rows, asked, say
        self.blames, self.windows = blames, windows
        self.call_of: dict[int, Call] = {}
        self.counted = Counted(runs=1, requests=len(asked), calls=len(rows.calls))

    def judge(self, wants: str) -> Counted:
        self._rows_agree(wants)
        self._status_never_goes_back()
        self._each_request_has_its_row()
        self._nothing_stored_is_asked_for()
        self._nothing_completed_is_repeated()
        self._one_request_at_a_time()
        self._each_loss_has_its_cause()
        self._money()
        return self.counted

    # rows

    def _rows_agree(self, wants: str) -> None:
        run, rows = self.rows.run, self.rows
        if wants and run["status"] != wants:
            self.say("not what was wanted", f"{run['status']}, wanted {wants}")
        self._counts_up("steps", [row["seq"] for row in rows.steps], 1)
        self._counts_up("events", [row["seq"] for row in rows.events], 1)
        self._counts_up("revisions", [row["number"] for row in rows.revisions], 0)
        if run["event_seq"] != len(rows.events):
            self.say("drift", f"event_seq {run['event_seq']} of {len(rows.events)} events")
        if run["move_seq"] > run["signalled_seq"] and wants:
            self.say("a signal is due for ever", f"{run['move_seq']} > {run['signalled_seq']}")
        reviews = [s for s in rows.steps if s["name"] == "review" and s["status"] == "SUCCEEDED"]
        rounds = [step["round"] for step in reviews]
        if run["current_round"] != len(rounds) or len(set(rounds)) != len(rounds):
            self.say("drift", f"current_round {run['current_round']}, reviews of rounds {rounds}")
        ended = [e["data"]["round"] for e in rows.events if e["type"] == EventType.ROUND_FINISHED]
        if len(ended) != len(set(ended)):
            self.say("drift", f"rounds finished twice: {ended}")
        made = [row["step_id"] for row in rows.revisions if row["step_id"] is not None]
        good = {s["id"]: s["output_revision"] for s in rows.steps if s["status"] == "SUCCEEDED"}
        for row in rows.revisions:
            if row["step_id"] is not None and good.get(row["step_id"]) != row["number"]:
                self.say("drift", f"revision {row['number']} is not what its step says")
        if len(made) != len(set(made)):
            self.say("drift", f"a step made two revisions: {made}")
        if run["working_revision"] not in {row["number"] for row in rows.revisions}:
            self.say("drift", f"no working revision {run['working_revision']}")

    def _counts_up(self, what: str, numbers: list[int], first: int) -> None:
        if numbers != list(range(first, first + len(numbers))):
            self.say("a gap", f"{what}: {numbers}")

    def _status_never_goes_back(self) -> None:
        status = RunStatus.RUNNING
        for event in self.rows.events:
            moved = MOVED_BY_EVENT.get(event["type"])
            if moved is None:
                continue
            if status not in moved[0]:
                self.say("status went back", f"{event['type']} {event['seq']} from {status}")
            status = moved[1]
        if status != self.rows.run["status"]:
            self.say("drift", f"events say {status}, the row says {self.rows.run['status']}")

    # requests

    def _each_request_has_its_row(self) -> None:
        """The row of each: by the id that came back with its answer, else by the same prompt."""
        by_id = {call["provider_request_id"]: call for call in self.rows.calls}
        unused = {call["id"]: call for call in self.rows.calls}
        rest = []
        for asked in self.asked:
            call = by_id.get(f"req-{asked.number}")
            if call is None:
                rest.append(asked)
            else:
                self.call_of[asked.number] = unused.pop(call["id"])
        for asked in rest:
            fitting = [
                call
                for call in unused.values()
                if call["prompt_hash"] == asked.prompt_hash
                and call["started_at"].timestamp() <= asked.at + 0.05
            ]
            if not fitting:
                self.say("a request without a row", f"{asked}")
                continue
            call = max(fitting, key=lambda one: one["started_at"])
            self.call_of[asked.number] = unused.pop(call["id"])
        self.counted.never_sent = len(unused)
        for call in unused.values():
            if call["status"] == "SUCCEEDED":
                self.say("a reply without a request", f"{call['id']}")

    def _nothing_stored_is_asked_for(self) -> None:
        kept: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
        for item in self.rows.items:
            kept[item["plan_id"], item["part"]].append(item)
        for asked in self.asked:
            call = self.call_of.get(asked.number)
            if call is None:
                continue
            for item in kept[call["plan_id"], call["part"]]:
                stored = item["created_at"] < call["started_at"]
                if stored and canonical(item["payload"]) not in asked.already:
                    self.say("asked for a stored item", f"request {asked.number}: {item['key']}")

    def _nothing_completed_is_repeated(self) -> None:
        done = {(p["plan_id"], p["part"]): p["done_at"] for p in self.rows.parts}
        paid: Counter[str] = Counter()
        for asked in self.asked:
            call = self.call_of.get(asked.number)
            if call is None:
                continue
            at = done.get((call["plan_id"], call["part"]))
            if at is not None and call["started_at"] > at:
                self.say("repeat", f"request {asked.number} for a part that was done")
            if call["status"] == "SUCCEEDED":
                paid[call["prompt_hash"]] += 1
            elif asked.outcome == "done" and not asked.spoiled:
                self._in_vain(asked, call)
        for prompt, times in paid.items():
            if times > 1:
                self.say("repeat", f"{times} completed replies to the prompt {prompt[:12]}")

    def _in_vain(self, asked: Asked, call: Call) -> None:
        """A whole reply that was not kept: it came to a process that stood still, to a run that
        was stopped meanwhile, or between its last byte and its commit the process was killed."""
        blames = self._blamed(call, asked.at, asked.ended_at or asked.at)
        if any(blame.how in ("frozen", "parted") for blame in blames):
            self.counted.to_the_frozen += 1
        elif call["status"] == "CANCELLED" and call["end_cause"] != "handed_over":
            self.counted.to_the_stopped += 1
        else:
            self.counted.in_the_window += 1
            ms = (call["ended_at"].timestamp() - (asked.ended_at or asked.at)) * 1000
            self.counted.window_facts.append(
                f"request {asked.number}, closed {ms:.0f} ms after its last byte; "
                + self._facts(call)
            )

    def _one_request_at_a_time(self) -> None:
        by_part: defaultdict[tuple[str, int, str], list[Asked]] = defaultdict(list)
        for asked in self.asked:
            call = self.call_of.get(asked.number)
            if call is not None:
                by_part[call["step_name"], call["round"], call["part"]].append(asked)
        for part, requests in by_part.items():
            requests.sort(key=lambda one: one.at)
            for n, later in enumerate(requests):
                for earlier in requests[:n]:
                    if earlier.ended_at is None or earlier.ended_at > later.at:
                        self._overlap(part, earlier, later)

    def _overlap(self, part: tuple[str, int, str], earlier: Asked, later: Asked) -> None:
        """Only a process that could not be told may still be asking when another has taken over."""
        call = self.call_of[earlier.number]
        taken = call["reason_code"] in ("worker_lost", "superseded")
        ended = later.at
        zombie = later.at > self.call_of[later.number]["started_at"].timestamp() + 5.0
        cut = taken and any(
            window.touches & {"worker", "wire", "postgres"}
            for window in self._during(earlier.at, ended)
        )
        if self._blamed(call, earlier.at, ended) or cut or zombie:
            self.counted.overlaps_excused += 1
        else:
            self.say("two requests at once", f"{part}: {earlier.number} and {later.number}")

    def _during(self, since: float, until: float) -> list[Window]:
        return [w for w in self.windows if w.since <= until + LAG and w.until >= since - LAG]

    def _blamed(self, call: Call, since: float, until: float) -> list[Blame]:
        """Faults that took the call's worker away meanwhile."""
        worker = Identity.parse(call["worker"])
        if worker is None:
            return []
        return [
            blame
            for blame in self.blames
            if blame.pid == worker.pid
            and blame.since <= until + LAG
            and (blame.how.startswith(LASTING) or blame.since >= since - LAG)
            and blame.until >= since - LAG
        ]

    # causes

    def _each_loss_has_its_cause(self) -> None:
        """What nobody did anything to must not have cost a call."""
        stops = [event["at"].timestamp() for event in self.rows.events if event["type"] in STOPS]
        stopped_between = self._stopped_between()
        whole = {self.call_of[a.number]["id"]: a for a in self.asked if a.number in self.call_of}
        for call in self.rows.calls:
            if call["status"] == "SUCCEEDED" or call["ended_at"] is None:
                continue
            cause = call["end_cause"]
            self.counted.lost[cause] += 1
            since, until = call["started_at"].timestamp(), call["ended_at"].timestamp()
            stopped = any(since - LAG <= at <= until + LAG for at in stops)
            stopped = stopped or str(call["id"]) in stopped_between
            if cause in ("worker_lost", "handed_over"):
                if not self._blamed(call, since, until):
                    self.say("a living worker was given up", self._facts(call))
            elif cause in ("superseded", "interrupted"):
                if not stopped and not self._blamed(call, since, until):
                    self.say("a call was stopped by nobody", self._facts(call))
            else:
                asked = whole.get(call["id"])
                if asked is not None and asked.outcome == "done" and not asked.spoiled:
                    self.say("a whole reply was not taken", self._facts(call))

    def _stopped_between(self) -> set[str]:
        """Calls between whose events a move stopped the run: the order of rows, since the time of
        one is when its transaction began, which on a full disk was seconds before."""
        under_way: set[str] = set()
        stopped: set[str] = set()
        for event in self.rows.events:
            if event["type"] == EventType.CALL_STARTED:
                under_way.add(str(event["data"]["call_id"]))
            elif event["type"] == EventType.CALL_ENDED:
                under_way.discard(str(event["data"]["call_id"]))
            elif event["type"] in STOPS:
                stopped |= under_way
        return stopped

    def _facts(self, call: Call) -> str:
        names = [w.name for w in self._during(*(call[n].timestamp() for n in _TIMES))]
        return (
            f"call {call['id']} of {call['step_name']} {call['round']} {call['part']}: "
            f"{call['status']}, {call['end_cause']}, {call['started_at']} to {call['ended_at']}, "
            f"worker {call['worker']}, meanwhile {names}"
        )

    def _money(self) -> None:
        billed = {f"req-{asked.number}": asked for asked in self.asked}
        totals: Counter[str] = Counter()
        for call in self.rows.calls:
            if call["status"] != "STARTED":
                totals["input"] += call["tokens_input"] or 0
                totals["output"] += call["tokens_output"] or 0
            asked = billed.get(call["provider_request_id"])
            if call["usage_source"] == "reported" and asked is not None:
                said = (call["tokens_input"], call["tokens_output"])
                if said != (asked.input, asked.output):
                    self.say("money", f"{said} billed as {asked.input}, {asked.output}")
            if call["status"] == "SUCCEEDED" and call["usage_source"] != "reported":
                self.say("money", f"usage of a whole reply is {call['usage_source']}")
        run = self.rows.run
        if (run["tokens_input"], run["tokens_output"]) != (totals["input"], totals["output"]):
            told = f"{run['tokens_input']}, {run['tokens_output']}"
            self.say("money", f"the run says {told}; its calls {dict(totals)}")
        costs = [c["cost"] for c in self.rows.calls if c["status"] != "STARTED"]
        if None not in costs and costs and run["cost"] != sum(costs):
            self.say("money", f"the run says {run['cost']}, its calls {sum(costs)}")


_TIMES = ("started_at", "ended_at")
STOPS = (EventType.RUN_INTERRUPTED, EventType.RUN_CANCELLED, EventType.RUN_FAILED)
