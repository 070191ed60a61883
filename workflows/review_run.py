"""The workflow of one run: load the row, do the next piece of work, load again.

It decides by the row alone. Signals say "look", an activity's end says "look"; none of them says
what to do, so lost, doubled, late and reordered messages are harmless. It knows no kind.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from workflows import policy
    from workflows.contract import (
        CancelMove,
        ConcludeInput,
        HandMove,
        Loaded,
        Moved,
        Next,
        Outcome,
        Progress,
        RunInput,
        TakeOver,
        WorkInput,
    )
    from workflows.starting import search_updates
    from workflows.vocabulary import WORKFLOW_NAME, Actor, Signal


@workflow.defn(name=WORKFLOW_NAME)
class ReviewRun:
    """`news` counts signals; a wait ends when it differs from the count at the last load."""

    @workflow.init
    def __init__(self, given: RunInput) -> None:
        self.run_id = given.run_id
        self.news = 0
        self.loaded: Loaded | None = None
        self.told: Loaded | None = None
        self.by_hand: deque[HandMove] = deque()
        self.take_overs: deque[TakeOver] = deque()
        self.shown: tuple[Any, ...] = ()

    @workflow.run
    async def run(self, given: RunInput) -> None:
        body = asyncio.create_task(self.loop(given))
        try:
            await asyncio.shield(body)  # a plain await would hand the cancel to the activity
        except asyncio.CancelledError:
            await self.local("cancel_run", CancelMove(run_id=self.run_id), Moved)
            self.news += 1
            await workflow.wait([body], timeout=policy.STOP_WAIT.total_seconds() + 5)
            raise

    async def loop(self, given: RunInput) -> None:
        while True:
            seen = self.news
            await self.obey()
            now = await self.load()
            if self.news != seen or self.by_hand:
                continue
            if now.next == Next.END:
                return
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(given)
            if now.next == Next.WAIT:
                if not await self.signalled(seen, timedelta(seconds=now.parking_seconds)):
                    return  # parked: the row stays, a later signal-with-start goes on
            elif now.next == Next.CONCLUDE:
                wanted = ConcludeInput(run_id=self.run_id, epoch=now.epoch)
                await self.local("conclude", wanted, Moved)
            else:
                await self.work(now, seen)

    async def work(self, now: Loaded, begun: int) -> None:
        """One activity. Whatever it ends with, the caller loads the row and decides; what its last
        commit left is such a load, where nobody signalled since it began."""
        handle = workflow.start_activity(
            now.next,
            WorkInput(run_id=self.run_id, epoch=now.epoch, round=now.round),
            result_type=Outcome,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=f"{now.next} {now.round}" if now.round else now.next,
            **policy.work_options(now),
        )
        handle.add_done_callback(lambda task: task.cancelled() or task.exception())  # heard
        seen = begun
        while not await self.ended_or_news(handle, seen):
            if self.take_overs:
                if (await self.local("take_over", self.take_overs.popleft(), Moved)).moved:
                    handle.cancel()  # its worker is dead: no end to wait for
                    return
                continue
            await self.obey()
            seen = self.news
            later = await self.load()
            if (later.status, later.epoch) != (now.status, now.epoch):
                handle.cancel()  # waited for a while, then abandoned: the fence holds
                await workflow.wait([handle], timeout=policy.STOP_WAIT.total_seconds())
                return
        row = None if handle.cancelled() or handle.exception() else handle.result().row
        if row and not self.pending(begun) and workflow.patched(policy.ROW_TOLD):
            self.told = row

    async def ended_or_news(self, handle: workflow.ActivityHandle[Any], seen: int) -> bool:
        """True when the activity ended, in whatever way."""
        await workflow.wait_condition(lambda: handle.done() or self.pending(seen))
        return handle.done()

    async def signalled(self, seen: int, patience: timedelta) -> bool:
        try:
            await workflow.wait_condition(
                lambda: self.pending(seen), timeout=patience, timeout_summary="waits for a person"
            )
        except TimeoutError:
            return self.pending(seen)
        self.take_overs.clear()
        return True

    def pending(self, seen: int) -> bool:
        return self.news != seen or bool(self.by_hand) or bool(self.take_overs)

    async def obey(self) -> None:
        """Makes the moves that people asked for by hand, each against the load it was made on."""
        while self.by_hand:
            await self.local("move_by_hand", self.by_hand.popleft(), Moved)

    async def load(self) -> Loaded:
        told, self.told = self.told, None
        now: Loaded = told or await self.local("load", RunInput(run_id=self.run_id), Loaded)
        self.loaded = now
        shown = (now.status, now.current_round, now.score)
        if shown != self.shown:
            self.shown = shown
            workflow.set_current_details(policy.details(now))
            if now.searchable:
                workflow.upsert_search_attributes(search_updates(now))
        return now

    async def local(self, name: str, given: Any, result: type[Any]) -> Any:
        """A local activity, tried until the database answers."""
        for tries in itertools.count():
            try:
                return await workflow.execute_local_activity(
                    name, given, result_type=result, **policy.LOCAL
                )
            except FailureError:  # of the last try, as it is: no ActivityError is around it
                await workflow.sleep(policy.pause_before(tries), summary="database away")

    def arrived(self, command: Signal, given: tuple[Any, ...]) -> None:
        """The API's signals carry a seq and only wake; others are commands sent by hand.

        Anything may have been typed in Temporal Web, in any number: it must not wedge the run.
        """
        self.news += 1
        facts = given[0] if given and isinstance(given[0], dict) else {}
        if "seq" in facts or self.loaded is None or command == Signal.DECIDE:
            return
        self.by_hand.append(
            HandMove(
                run_id=self.run_id,
                command=command,
                loaded_status=self.loaded.status,
                epoch=self.loaded.epoch,
                actor=str(facts.get("actor") or Actor.TEMPORAL)[:200],
                reason=str(facts["reason"])[:500] if facts.get("reason") else None,
            )
        )

    @workflow.signal(name=Signal.INTERRUPT)
    def interrupt(self, *given: Any) -> None:
        self.arrived(Signal.INTERRUPT, given)

    @workflow.signal(name=Signal.RESUME)
    def resume(self, *given: Any) -> None:
        self.arrived(Signal.RESUME, given)

    @workflow.signal(name=Signal.DECIDE)
    def decide(self, *given: Any) -> None:
        self.arrived(Signal.DECIDE, given)

    @workflow.signal(name=Signal.TAKE_OVER)
    def take_over(self, *given: Any) -> None:
        """Internal: the reaper proved a worker dead."""
        told = TakeOver.read(self.run_id, given[0] if given else None)
        if told is not None:
            self.take_overs.append(told)

    @workflow.query
    def progress(self) -> Progress:
        return Progress.of(self.loaded or Loaded(status="", epoch=0, next="load"))
