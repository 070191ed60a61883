"""Random faults over many runs at once: one after another, now and then two at a time, every choice
from the seed; each run is judged when it has ended and once more when everything has.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from random import Random

from tests.faults.kit.fault import FAULTS, Fault
from tests.faults.kit.place import Place
from tests.faults.random_judge import Case, Counted, Window
from tests.faults.random_rows import left_of, rows_of, running_elsewhere, still_open
from tests.faults.random_work import Life, Operator

QUIET = 300.0
"""Seconds after the last fault in which every run must have come to its end."""
SETTLE = 120.0
"""Seconds after its end in which a run's steps and calls must be closed, faults or not."""
RECOVERED = 60.0
"""Seconds of waiting for every run to move again; longer is only counted."""
KEPT = 20
"""Violations whose evidence is kept."""


@dataclass(kw_only=True)
class Violation:
    kind: str
    run_id: str
    facts: str
    deeds: list[str]


@dataclass(kw_only=True)
class Done:
    """What was done and what came of it."""

    seed: int
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    recovery: dict[str, float] = field(default_factory=dict)
    counted: Counted = field(default_factory=Counted)
    ends: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)
    exits: list[str] = field(default_factory=list)
    requests: int = 0
    deleted: int = 0

    def of(self, *kinds: str) -> int:
        return sum(violation.kind in kinds for violation in self.violations)


class Campaign:
    """`runs` at all times until `minutes` are over; then no fault any more until all have ended.

    `only`: each of these once, instead of `minutes`. `evidence` is a folder for rows and logs of
    what went wrong. `say` gets a line now and then.
    """

    def __init__(
        self,
        place: Place,
        *,
        seed: int,
        minutes: float,
        runs: int = 20,
        only: Sequence[Fault] = (),
        evidence: Path,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.place, self.seed, self.minutes, self.runs = place, seed, minutes, runs
        self.only, self.evidence, self.say = only, evidence, say
        self.done = Done(seed=seed)
        self.windows: list[Window] = []
        self.lives: list[Life] = []
        self.faults = [one for one in FAULTS.values() if one.lacking(place) is None]
        self.over = False
        self._judging: set[asyncio.Task[None]] = set()
        self._told: set[tuple[str, str, str]] = set()

    async def run(self) -> Done:
        began = time.monotonic()
        operators = [asyncio.create_task(self._operate(n)) for n in range(self.runs)]
        try:
            await self._faults(began + self.minutes * 60)
            self.over = True
            self.say("no more faults; waiting for every run to end")
            await self._ended(operators)
            await self._judge_all()
        finally:
            for task in (*operators, *self._judging):
                task.cancel()
            await asyncio.gather(*operators, *self._judging, return_exceptions=True)
        self.done.seconds = time.monotonic() - began
        self.done.requests = self.place.ledger.count
        self.done.exits = list(self.place.exits)
        return self.done

    # operators

    async def _operate(self, slot: int) -> None:
        await asyncio.sleep(slot * 0.2)
        number = 0
        while not self.over:
            number += 1
            dice = Random(f"{self.seed}/operator/{slot}/{number}")
            operator = Operator(
                place=self.place, dice=dice, told=self.violated, hurry=lambda: self.over
            )
            self.lives.append(life := operator.life)
            try:
                await operator.live()
            except Exception as error:
                self.violated("the tool broke", life, repr(error))
                life.ended = True
            self.done.ends[life.wants or "given up"] += 1
            if life.run_id and life.wants:
                task = asyncio.create_task(self._judge_soon(life))
                self._judging.add(task)
                task.add_done_callback(self._judging.discard)

    async def _ended(self, operators: list[asyncio.Task[None]]) -> None:
        _, late = await asyncio.wait(operators, timeout=QUIET)
        for life in self.lives:
            if late and not life.ended:
                self.violated("stuck", life, f"not at its end {QUIET:g} s after the last fault")
        if self._judging:
            await asyncio.wait(self._judging, timeout=SETTLE + 30)

    # faults

    async def _faults(self, until: float) -> None:
        dice = Random(f"{self.seed}/faults")
        await asyncio.sleep(4)
        for number, chosen in enumerate(self._drawn(dice, until), start=1):
            tasks = [
                self._one(fault, Random(f"{self.seed}/fault/{number}/{n}"), delay=n * 1.5)
                for n, fault in enumerate(chosen)
            ]
            await asyncio.gather(*tasks)
            await self._recover([fault.name for fault in chosen])
            await asyncio.sleep(dice.uniform(1.0, 6.0))

    def _drawn(self, dice: Random, until: float) -> Iterator[list[Fault]]:
        """What is done next: the one fault; each once; or by weight until the time is over, now
        and then with a second one that touches something else."""
        if self.only:
            yield from ([fault] for fault in dice.sample(self.only, len(self.only)))
            return
        while time.monotonic() < until:
            chosen = dice.choices(self.faults, [fault.weight for fault in self.faults])
            if dice.random() < 0.3:
                others = [f for f in self.faults if not f.touches & chosen[0].touches]
                chosen += dice.choices(others, [fault.weight for fault in others])
            yield chosen

    async def _one(self, fault: Fault, dice: Random, *, delay: float) -> None:
        await asyncio.sleep(delay)
        window = Window(name=fault.name, touches=fault.touches, since=time.time())
        self.windows.append(window)
        self.done.faults[fault.name] += 1
        seconds = dice.uniform(*fault.lasts)
        try:
            async with fault.done(self.place, dice) as what:
                self.say(f"{fault.name}: {what}, {seconds:.1f} s")
                await asyncio.sleep(seconds)
        except Exception as error:
            self.violated("the tool broke", Life(tag=""), f"{fault.name}: {error!r}")
        window.until = time.time()

    async def _recover(self, names: list[str]) -> None:
        """Everything up, and every RUNNING run moves again or has waited long enough."""
        began = time.monotonic()
        try:
            await self.place.up()
            before = {row["id"]: row["event_seq"] for row in await running_elsewhere(self.place)}
            while before and time.monotonic() - began < RECOVERED:
                await asyncio.sleep(0.3)
                now = {row["id"]: row["event_seq"] for row in await running_elsewhere(self.place)}
                before = {i: seq for i, seq in before.items() if now.get(i) == seq}
        except AssertionError as error:
            self.violated("does not come up", Life(tag=""), str(error)[-2000:])
        took = time.monotonic() - began
        for name in names:
            self.done.recovery[name] = max(took, self.done.recovery.get(name, 0.0))
        for window in self.windows[-len(names) :]:
            window.until = time.time()
        self.say(f"    moves again after {took:.1f} s; {self._standing()}")

    def _standing(self) -> str:
        return (
            f"{len(self.lives)} runs begun, {self.done.counted.runs} judged, "
            f"{self.place.ledger.count} requests, {len(self.done.violations)} violations"
        )

    # judging

    async def _judge_soon(self, life: Life) -> None:
        """When its steps and calls are closed, which must not take long."""
        try:
            await self._settled(life)
            await self._judge(life, final=False)
        except Exception as error:
            self.violated("the tool broke", life, repr(error))

    async def _settled(self, life: Life) -> None:
        give_up = time.monotonic() + SETTLE
        while await still_open(self.place, life.run_id):
            if time.monotonic() > give_up and not self._during_fault():
                self.violated("open rows", life, f"still open {SETTLE:g} s after the end")
                return
            await asyncio.sleep(1.0)

    def _during_fault(self) -> bool:
        return any(time.time() - window.until < 20 for window in self.windows[-2:])

    async def _judge_all(self) -> None:
        self.done.counted = Counted()
        for life in self.lives:
            if life.run_id and life.wants:
                await self._judge(life, final=True)

    async def _judge(self, life: Life, *, final: bool) -> None:
        rows = await rows_of(self.place, life.run_id)
        if life.wants == "DELETED":
            if final:
                self.done.deleted += 1
                left = await left_of(self.place, [life.run_id, life.document_id])
                if left:
                    self.violated("deleted, and yet there", life, f"{left}")
            return
        if rows is None:
            self.violated("a run is gone", life, "no row")
            return
        asked = self.place.ledger.of.get(life.tag, [])
        case = Case(
            rows,
            list(asked),
            blames=self.place.blames,
            windows=self.windows,
            say=lambda kind, facts: self.violated(kind, life, facts),
        )
        if final and await still_open(self.place, life.run_id):
            self.violated("open rows", life, "at the very end")
        self._count(case.judge(life.wants))

    def _count(self, one: Counted) -> None:
        total = self.done.counted
        for number in fields(Counted):
            if number.name != "lost":  # numbers and lists
                grown = getattr(total, number.name) + getattr(one, number.name)
                setattr(total, number.name, grown)
        total.lost.update(one.lost)

    # evidence

    def violated(self, kind: str, life: Life, facts: str) -> None:
        known = (kind, life.run_id, facts[:60])
        if known in self._told:
            return
        self._told.add(known)
        self.done.violations.append(
            Violation(kind=kind, run_id=life.run_id, facts=facts, deeds=list(life.deeds))
        )
        self.say(f"VIOLATION {kind}: run {life.run_id}: {facts}")
        if len(self.done.violations) <= KEPT:
            task = asyncio.create_task(self._keep(len(self.done.violations), kind, life, facts))
            self._judging.add(task)
            task.add_done_callback(self._judging.discard)

    async def _keep(self, number: int, kind: str, life: Life, facts: str) -> None:
        folder = self.evidence / f"{number:02}-{kind.replace(' ', '-')}"
        folder.mkdir(parents=True, exist_ok=True)
        self.place.keep_logs(folder)
        told = [f"seed {self.seed}", kind, life.run_id, facts, *life.deeds]
        told += [str(window) for window in self.windows[-20:]]
        told += [str(blame) for blame in self.place.blames[-20:]]
        (folder / "facts.txt").write_text("\n".join(told) + "\n", encoding="utf-8")
        asked = [repr(one) for one in self.place.ledger.of.get(life.tag, [])]
        (folder / "requests.txt").write_text("\n".join(asked) + "\n", encoding="utf-8")
        with contextlib.suppress(Exception):  # the rows are a help, not the finding
            rows = await rows_of(self.place, life.run_id) if life.run_id else None
            if rows is not None:
                content = defaultdict(list)
                content["run"] = [dict(rows.run)]
                for name in ("steps", "calls", "parts", "events", "revisions"):
                    content[name] = [dict(row) for row in getattr(rows, name)]
                text = json.dumps(content, indent=1, default=str)
                (folder / "rows.json").write_text(text, encoding="utf-8")
