"""A stormy run of three reviewers: interrupts, a killed worker, errors, cut replies, a limit raised
again and again. Every token is accounted for, and no limit is ever passed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from temporalio.client import Client

from activities.model import tokens
from tests.fake_llm import FakeLLM, Items, Reply, Request, errors, good_reviewer
from tests.faults.rounds import REVIEWERS, all_five_rounds, five_rounds, replanted, three_reviewers
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent

STEP = 20_000
"""Tokens by which the limit is raised each time."""


def storm() -> Callable[[Request], Reply]:
    """A good reviewer whose replies are cut, stopped by length or refused now and then."""
    plays, count = good_reviewer(errors=replanted()), itertools.count(1)

    def play(request: Request) -> Reply:
        reply = plays(request)
        assert isinstance(reply, Reply)
        match next(count) % 14:
            case 2:
                return errors.server_error()
            case 4:
                return replace(reply, cut_after=Items(1))
            case 6:
                return replace(reply, items=list(reply.items or ())[:1], finish_reason="length")
            case 8:
                return errors.rate_limited(retry_after=0.1)
        return reply

    return play


class Operator:
    """Interrupts twice, loses a worker once, and raises the limit whenever the run asks for it."""

    def __init__(self, stack: Stack, llm: FakeLLM, run: Json) -> None:
        self.stack, self.llm, self.run_id = stack, llm, run["id"]
        self.limit: int = run["limits"]["max_tokens"]
        self.interrupts = [5, 14]
        self.kill = 9
        self.raised = 0

    async def until_offered(self) -> Json:
        async with asyncio.timeout(240):
            while True:
                run = await self.stack.run(self.run_id)
                assert sum(run["tokens"][way] for way in ("input", "output")) <= self.limit
                if run["status"] == "AWAITING_CONFIRMATION":
                    return run
                await self._act(run)
                await asyncio.sleep(0.1)

    async def _act(self, run: Json) -> None:
        asked = len(self.llm.requests)
        if run["status"] == "INTERRUPTED" and not run["stopping"]:
            await self._resume(run)
        elif run["status"] == "RUNNING" and self.interrupts and asked >= self.interrupts[0]:
            self.interrupts.pop(0)
            await self.stack.call("POST", f"/api/runs/{self.run_id}/interrupt", {})
        elif run["status"] == "RUNNING" and self.kill and asked >= self.kill and self.llm.in_flight:
            self.kill = 0
            self.stack.kill(self.stack.workers[-1])
            self.stack.worker()
        assert run["status"] != "FAILED", run["reason"]

    async def _resume(self, run: Json) -> None:
        body: Json = {}
        if run["reason"]["code"] == "limit_tokens":
            self.limit += STEP
            self.raised += 1
            body = {"limits": {"max_tokens": self.limit}}
        code, answer = await self.stack.call("POST", f"/api/runs/{self.run_id}/resume", body)
        assert code == 202, answer


@pytest.mark.timeout(400)
async def test_every_token_of_a_stormy_run_is_accounted_for_and_no_limit_is_passed(
    postgres: PostgresServer, temporal: TemporalServer, temporal_client: Client
) -> None:
    async with FakeLLM(storm(), count_tokens=tokens.count) as llm:
        stack = Stack(
            *(postgres, temporal, temporal_client, llm.base_url),
            {"REDRAFT_HEARTBEAT_TIMEOUT": "4"},
        )
        try:
            await stack.start()
            await three_reviewers(stack)
            prices = {"input": "2", "output": "8"}
            await stack.sql(
                "UPDATE profiles SET prices = $2, parameters = $3 WHERE name = $1",
                REVIEWERS,
                prices,
                {"max_tokens": 1500},
            )
            llm.pace(per_chunk=0.005)
            limits = {"max_tokens": STEP, "max_cost": "9"}
            operator = Operator(stack, llm, await stack.create(five_rounds(limits=limits)))
            run = await operator.until_offered()
            assert (operator.interrupts, operator.kill) == ([], 0)
            assert operator.raised > 0
            await consistent(stack, run["id"])
            await all_five_rounds(stack, run["id"])
            await adds_up(stack, llm, run)
        finally:
            await stack.stop()


async def adds_up(stack: Stack, llm: FakeLLM, run: Json) -> None:
    """Each reported call says what its request billed; the run's totals are those of its calls."""
    calls = await stack.rows(run["id"], "calls")
    assert len(calls) >= len(llm.requests)
    asked = {f"req-{request.number}": request for request in llm.requests}
    reported = [call for call in calls if call["usage_source"] == "reported"]
    assert len(reported) > 10
    for call in reported:
        billed = asked[call["provider_request_id"]].billed
        assert (call["tokens"]["input"], call["tokens"]["output"]) == (billed.input, billed.output)
    named = {call["provider_request_id"] for call in calls}
    lost = [call for call in calls if call["status"] == "LOST"]
    unnamed = [request for name, request in asked.items() if name not in named]
    assert len(unnamed) <= len(lost) + sum(call["status"] == "CANCELLED" for call in calls)
    for way in ("input", "output", "cached", "reasoning"):
        assert run["tokens"][way] == sum(call["tokens"][way] or 0 for call in calls)
    costs = [Decimal(call["cost"]) for call in calls if call["cost"] is not None]
    assert Decimal(run["cost"]) == sum(costs)
    assert run["calls"] == len(calls)
