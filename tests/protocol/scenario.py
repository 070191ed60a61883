"""Scenarios: a shape of work, and how often each fault and each move of a person may happen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tests.protocol.rules import ASSUMPTIONS, RULES, Rule
from tests.protocol.state import FAULTS, INDEX, State

SHAPES = {
    "full": ((2, 1), 2),
    "short": ((1, 1), 2),
    "wide": ((2, 1), 1),
    "single": ((1, 1), 1),
    "joined": ((1, 1), 2),
}
"""Parts side by side of a review and of a refine; rounds. Joined: one attempt carries them all."""

SCENARIOS = {
    "no fault": "full",
    "interrupt": "full interrupt resume",
    "kill": "full kill",
    "freeze": "short freeze",
    "two interrupts": "single interrupt:2 resume:2",
    "interrupt, kill": "single interrupt resume kill",
    "interrupt, freeze": "single interrupt resume freeze",
    "parts: kill, restart": "wide kill restart",
    "two kills": "single kill:2",
    "kill, freeze": "single kill freeze",
    "kill, lost marker": "single kill:2 ghost",
    "hand-over": "short handover kill",
    "vanished task": "single interrupt resume vanish",
    "partition, kill": "single partition kill",
    "partition, interrupt": "single interrupt resume partition",
    "backend crash, kill": "single backend kill",
    "backend crash, freeze": "single backend freeze",
    "restart, block": "single restart block unlock",
    "signals lost, doubled": "single interrupt resume loss dup",
    "edits": "short interrupt resume edit page",
    "edit, freeze": "single interrupt edit freeze",
    "another profile": "wide interrupt resume profile",
    "rework": "single rework ghost interrupt resume",
    "delete": "single delete kill loss interrupt",
    "cancel": "single cancel kill loss rework",
    "by hand": "single interrupt resume hand ghost",
    "by hand, reset": "single hand resume reset",
    "workflow cancel": "single interrupt resume stop kill total:3",
    "terminate": "single interrupt resume terminate",
    "terminate, kill": "single terminate kill resume",
    "reset": "single interrupt resume reset",
    "store lost": "single interrupt resume store",
    "wedged": "single interrupt resume wedge",
    "limit: parts, kill": "wide limit:1 resume kill",
    "limit: freeze": "wide limit:1 resume freeze",
    "permanent error": "single error resume freeze",
    "rounds in one attempt": "joined interrupt resume",
    "rounds in one attempt: kill": "joined kill",
    "rounds in one attempt: freeze": "joined freeze",
    "rounds in one attempt: hand-over": "joined handover kill",
    "any two": "single all total:2",
}
_MACHINES = "interrupt resume kill freeze block vanish unlock restart backend partition"
_PEOPLE = "interrupt resume edit page rework cancel hand stop loss ghost error partition"
_TEMPORAL = "interrupt resume kill dup terminate reset store wedge hand stop partition"
DEEP = {
    "two interrupts, kill": "single interrupt:2 resume:2 kill",
    "any three of machines": f"single {_MACHINES} total:3",
    "any three of people": f"single {_PEOPLE} total:3",
    "any three of Temporal": f"single {_TEMPORAL} total:3",
    "two interrupts, lost, doubled": "single interrupt:2 resume:2 loss dup",
    "interrupt, kill, three steps": "short interrupt resume kill",
    "edit, freeze, resume": "single interrupt resume edit freeze",
    "another profile, kill": "wide interrupt resume profile kill",
}
_OFTEN = dict.fromkeys(FAULTS, 1) | {"interrupt": 2, "resume": 2, "kill": 2}


@dataclass(frozen=True)
class Scenario:
    """`text` is a shape and faults, each with the times it may happen: `single kill:2 resume`.

    `all` stands for every fault, `total:2` bounds their sum, `limit:1` is what the run may ask for
    until a person raises it. `without` are rules that do not hold.
    """

    text: str
    without: frozenset[str] = frozenset()

    @cached_property
    def bounds(self) -> dict[str, int]:
        words = self.text.split()[1:]
        bounds = dict(_OFTEN) if "all" in words else {}
        for word in words:
            fault, _, times = word.partition(":")
            if fault != "all":
                bounds[fault] = int(times or 1)
        return bounds

    @cached_property
    def parts(self) -> tuple[int, int]:
        return SHAPES[self.text.split()[0]][0]

    @cached_property
    def goal(self) -> int:
        return SHAPES[self.text.split()[0]][1]

    @cached_property
    def joined(self) -> bool:
        """An attempt goes on with the next round; else it ends with its own."""
        return self.text.startswith("joined")

    @cached_property
    def has(self) -> dict[str, bool]:
        """Whether each rule holds."""
        return {name: name not in self.without for name in (*RULES, *ASSUMPTIONS)}

    @cached_property
    def commanded(self) -> bool:
        """Whether a past load of the workflow can still decide something."""
        return any(self.bounds.get(fault) for fault in ("hand", "stop", "reset"))

    @cached_property
    def limit(self) -> int:
        """Calls the run may make; 0 is no limit."""
        return self.bounds.get("limit", 0)

    @cached_property
    def lossy(self) -> bool:
        return any(self.bounds.get(fault) for fault in ("loss", "dup"))

    @cached_property
    def _limits(self) -> tuple[tuple[int, ...], int]:
        return tuple(self.bounds.get(fault, 0) for fault in FAULTS), self.bounds.get("total", 99)

    def spend(self, s: State, fault: str) -> State | None:
        """The state in which this happened once more; None when the scenario has no more."""
        limits, total = self._limits
        i = INDEX[fault]
        if s.used[i] >= limits[i] or sum(s.used) >= total:
            return None
        return s._replace(used=(*s.used[:i], s.used[i] + 1, *s.used[i + 1 :]))


def without(name: str, rule: Rule) -> Scenario:
    """The scenario in which the removal of a rule shows."""
    return Scenario(rule.shows, frozenset({name, *rule.also}))
