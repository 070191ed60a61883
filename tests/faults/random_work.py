"""Operators at work: each starts a run, disturbs it as its dice say, and wants an end of its own.

They speak to the API as careful clients do: one key for each command, asked again until there is an
answer. What must not happen to them is told to `Told`.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx2

from tests.faults.kit.model import PLANTED, new_tag, run_body
from tests.faults.kit.place import Place
from workflows.vocabulary import GUARDRAILS

Json = dict[str, Any]
PATIENCE = 180.0
"""Seconds within which the API must have answered a command."""
STUCK = 300.0
"""Seconds without any event after which a run that should go on is stuck."""
LOOK = 1.5
FINAL = ("CONFIRMED", "REJECTED", "CANCELLED")
AGAIN = (500, 503, 507)


@dataclass(kw_only=True)
class Life:
    """One run: what its operator wants and has done. `wants` is the status it must end in, DELETED
    when nothing may be left of it."""

    tag: str
    run_id: str = ""
    document_id: str = ""
    wants: str = ""
    ended: bool = False
    event_seq: int = 0
    status: str = ""
    deeds: list[str] = field(default_factory=list)

    def did(self, what: str) -> None:
        self.deeds.append(f"{time.time():.2f} {what}")


Told = Callable[[str, Life, str], None]
"""(kind of violation, whose, the facts)"""


class GaveUp(Exception):
    """The operator cannot go on with this run; it was told why."""


@dataclass(kw_only=True)
class Operator:
    """Lives one run through. `refusals` counts answers of 5xx by status."""

    place: Place
    dice: Random
    told: Told
    hurry: Callable[[], bool] = lambda: False
    life: Life = field(default_factory=lambda: Life(tag=new_tag()))

    async def live(self) -> Life:
        """Until the run is where its operator wants it, or the operator gave up."""
        try:
            await self._create()
            end = self.dice.choices(
                ["confirm", "own text", "reject", "cancel", "delete", "race"],
                [50, 10, 8, 10, 10, 12],
            )[0]
            disturbances = self.dice.choices([0, 1, 2, 3], [35, 35, 20, 10])[0]
            for _ in range(disturbances):
                await self._disturb()
            await self._finish(end)
        except GaveUp:
            await self._abandon()
        self.life.ended = True
        return self.life

    # commands

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One command with one key, until there is an answer that says something."""
        headers = {"Idempotency-Key": uuid.uuid4().hex} if method == "POST" else {}
        give_up, answer = time.monotonic() + PATIENCE, "nothing"
        while time.monotonic() < give_up:
            try:
                got = await self.place.http.request(method, path, json=body, headers=headers)
            except httpx2.HTTPError as error:
                answer = type(error).__name__
                await asyncio.sleep(0.3)
                continue
            said = got.json() if "json" in got.headers.get("content-type", "") else got.text
            if got.status_code == 500:
                self.told("a 500", self.life, f"{method} {path}: {said}")
            code = said.get("code") if isinstance(said, dict) else None
            if got.status_code in AGAIN or code == "idempotency_in_progress":
                answer = f"{got.status_code} {code}"
                await asyncio.sleep(0.3)
                continue
            if isinstance(said, dict) and said.get("id") == self.life.run_id and "status" in said:
                self._seen(said)
            return got.status_code, said
        self.told("no answer", self.life, f"{method} {path} for {PATIENCE:g} s: {answer}")
        raise GaveUp

    def _seen(self, run: Json) -> None:
        """Neither the status nor the events of a run ever go back."""
        life = self.life
        if run["event_seq"] == life.event_seq and life.status and run["status"] != life.status:
            self.told("status moved without event", life, f"{life.status} -> {run['status']}")
        later = run["event_seq"] > life.event_seq and run["status"] != life.status
        if life.status in FINAL and later:
            self.told("left a final status", life, f"{life.status} -> {run['status']}")
        if run["event_seq"] >= life.event_seq:
            life.event_seq, life.status = run["event_seq"], run["status"]

    async def run(self) -> Json:
        code, run = await self.ask("GET", f"/api/runs/{self.life.run_id}")
        if code != 200:
            self.told("a run is gone", self.life, f"{code} {run}")
            raise GaveUp
        assert isinstance(run, dict)
        return run

    async def command(self, what: str, body: Json | None = None, *may: int) -> tuple[int, Json]:
        """A move of this run; anything but these codes is a violation."""
        code, said = await self.ask("POST", f"/api/runs/{self.life.run_id}/{what}", body or {})
        self.life.did(f"{what} {code}")
        if code not in may:
            self.told("a wrong answer", self.life, f"{what}: {code} {str(said)[:300]}")
            raise GaveUp
        return code, said

    # the life of a run

    async def _create(self) -> None:
        body = run_body(self.life.tag, wrong=self.dice.randint(3, 9))
        code, run = await self.ask("POST", "/api/runs", body)
        self.life.did(f"create {code}")
        if code != 201:
            self.told("a wrong answer", self.life, f"create: {code} {str(run)[:300]}")
            raise GaveUp
        self.life.run_id, self.life.document_id = run["id"], run["document_id"]
        self._seen(run)

    async def _pause(self, low: float, high: float) -> None:
        left = self.dice.uniform(low, high)
        while left > 0 and not self.hurry():  # looked at twice a second
            await asyncio.sleep(min(0.5, left))
            left -= 0.5

    async def _disturb(self) -> None:
        """Interrupts, perhaps edits, resumes; nothing of it when the run has come to its end."""
        await self._pause(0.2, 18)
        code, _ = await self.command("interrupt", {}, 202, 409)
        if code == 409:
            return
        wait = self.dice.choice([0.0, 0.005, 0.5, 2.0, 8.0])
        await asyncio.sleep(wait)
        run = await self.run()
        if run["status"] != "INTERRUPTED":
            self.told("did not stay interrupted", self.life, str(run["status"]))
            raise GaveUp
        edit = self.dice.random()
        if edit < 0.2:
            await self._edit(run)
        elif edit < 0.35:
            await self._resume_with_text(run)
            return
        await self.command("resume", {}, 202)

    async def _text(self, number: int) -> str:
        path = f"/api/documents/{self.life.document_id}/revisions/{number}"
        code, revision = await self.ask("GET", path)
        if code != 200:
            self.told("a revision is gone", self.life, f"{number}: {code}")
            raise GaveUp
        return str(revision["body"])

    def _mended(self, text: str) -> str:
        """One planted error less, by a person's hand; else one line twice as long."""
        for bad, good in self.dice.sample(PLANTED, len(PLANTED)):
            if re.search(rf"\b{bad}\b", text):
                return text.replace(bad, good)
        return text + "\n- We ship box 1.\n"

    async def _edit(self, run: Json) -> None:
        """A revision of the working text; when a late reply made a newer one, of that."""
        for _ in range(5):
            base = run["working_revision"]
            body = {"base_revision": base, "body": self._mended(await self._text(base))}
            code, said = await self.ask(
                "POST", f"/api/documents/{self.life.document_id}/revisions", body
            )
            self.life.did(f"edit of {base}: {code}")
            if code == 201:
                return
            if code != 409 or said.get("code") != "stale_base":
                self.told("a wrong answer", self.life, f"edit: {code} {str(said)[:300]}")
                raise GaveUp
            run = await self.run()
        self.told("stale for ever", self.life, "five edits of the working revision were refused")
        raise GaveUp

    async def _resume_with_text(self, run: Json) -> None:
        for _ in range(5):
            base = run["working_revision"]
            body = {"base_revision": base, "body": self._mended(await self._text(base))}
            code, _ = await self.command("resume", body, 202, 409)
            if code == 202:
                return
            run = await self.run()
        self.told("stale for ever", self.life, "five texts on the working revision were refused")
        raise GaveUp

    async def _finish(self, end: str) -> None:
        if end == "cancel":
            await self._pause(0.5, 30)
            self.life.wants = "CANCELLED"
            await self.command("cancel", {}, 202)
        elif end == "delete":
            await self._pause(0.5, 30)
            self.life.wants = "DELETED"
            code, _ = await self.ask("DELETE", f"/api/documents/{self.life.document_id}")
            self.life.did(f"delete {code}")
            if code not in (204, 404):  # 404: the first answer was lost
                self.told("a wrong answer", self.life, f"delete: {code}")
        else:
            run = await self._awaited()
            await self._pause(0.0, 4.0)
            await self._decide(end, run)

    async def _decide(self, end: str, run: Json) -> None:
        offered = run["offered_revision"]
        if end == "reject":
            self.life.wants = "REJECTED"
            await self.command("reject", {"comment": "no"}, 200)
        elif end == "own text":
            self.life.wants = "CONFIRMED"
            text = self._mended(await self._text(offered))
            await self.command("confirm", {"revision": offered, "body": text}, 200)
        elif end == "race":
            await self._race(offered)
        else:
            self.life.wants = "CONFIRMED"
            await self.command("confirm", {"revision": offered}, 200)

    async def _race(self, offered: int) -> None:
        """Several people decide at once: one of them wins, and that is how it stays."""
        ways = {
            "confirm": ({"revision": offered}, "CONFIRMED"),
            "reject": ({}, "REJECTED"),
            "cancel": ({}, "CANCELLED"),
        }
        names = [self.dice.choice(list(ways)) for _ in range(4)]
        answers = await asyncio.gather(
            *(self.command(name, ways[name][0], 200, 202, 409) for name in names)
        )
        won = [name for name, (code, _) in zip(names, answers, strict=True) if code < 300]
        if len(won) != 1:
            self.told("not one winner", self.life, f"{names}: {[code for code, _ in answers]}")
            raise GaveUp
        self.life.wants = ways[won[0]][1]

    async def _awaited(self) -> Json:
        """The run once it waits for a person, by itself; a guardrail's stop is overridden."""
        moved, seq = time.monotonic(), 0
        while True:
            run = await self.run()
            if run["status"] == "AWAITING_CONFIRMATION":
                return run
            if run["status"] == "FAILED" and run["guardrail"] in GUARDRAILS:
                await self.command("resume", {"override_guardrail": True}, 202)
            elif run["status"] != "RUNNING":
                self.told("a wrong status", self.life, f"{run['status']} {run['reason']}")
                raise GaveUp
            if run["event_seq"] != seq:
                moved, seq = time.monotonic(), run["event_seq"]
            elif time.monotonic() - moved > STUCK:
                self.told("stuck", self.life, f"no event for {STUCK:g} s after {seq}")
                raise GaveUp
            await asyncio.sleep(LOOK)

    async def _abandon(self) -> None:
        """Whatever it was, the run must not keep others from their work."""
        self.life.wants = ""
        if self.life.run_id:
            try:
                await self.ask("POST", f"/api/runs/{self.life.run_id}/cancel", {})
            except GaveUp:
                return
