"""What must hold of a run, by its rows, against what the witness saw on the wire."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from activities.model.schema import fitted
from tests.local_llm.witness import Exchange
from tests.stack import Stack
from workflows.kinds.minutes import KIND
from workflows.vocabulary import GUARDRAILS, LIMITS

Json = dict[str, Any]

ENDS = ("passed", "no_progress", "round_limit")
_EARLY = ("length", "cut", "stall", "garbled")


async def each_request_has_its_row(
    stack: Stack, run_id: str, exchanges: Sequence[Exchange]
) -> list[Json]:
    """As many rows as requests; their usage is what the server said, to the token; the run's
    totals are their sums. The rows."""
    run, calls = await stack.run(run_id), await stack.rows(run_id, "calls")
    assert len(calls) == len(exchanges) == run["calls"], (len(calls), len(exchanges), run["calls"])
    reported = [call for call in calls if call["usage_source"] == "reported"]
    answered = [exchange.usage for exchange in exchanges if exchange.usage]
    assert Counter(map(_of_row, reported)) == Counter(map(_of_server, answered))
    for call in calls:
        if call["usage_source"] == "unknown":  # stopped while the server had said nothing yet
            assert (call["status"], call["http_status"]) == ("CANCELLED", None), call
        elif call["usage_source"] == "estimated":
            assert call["status"] == "CANCELLED" or call["http_status"] != 200, call
    for name in ("input", "output", "cached"):
        assert run["tokens"][name] == sum(call["tokens"][name] or 0 for call in calls), name
    return calls


def each_reply_is_in_form(exchanges: Sequence[Exchange]) -> Counter[str]:
    """Whatever ended with `stop` satisfies the schema that was asked for. Forms and how often."""
    schemas = {f"redraft_{step}": schema for step, schema in KIND.schemas.items()}
    for exchange in exchanges:
        reasons = [c.get("finish_reason") for f in exchange.frames for c in f.get("choices", ())]
        if exchange.form == "json_schema" and "stop" in reasons:
            fitted(json.loads(exchange.text), schemas[exchange.schema])
    return Counter(exchange.form for exchange in exchanges if exchange.status == 200)


async def is_a_right_end(stack: Stack, run: Json) -> str:
    """One of the loop's own ends, the run's limit, or a guardrail that its calls give a reason for.
    Which."""
    reason = run["reason"] or {}
    if run["status"] == "INTERRUPTED":
        assert reason["code"] in LIMITS, reason
        if reason["code"] == "limit_calls":
            assert run["calls"] >= run["limits"]["max_calls"], run
        return f"stopped by its own {reason['code']}, which asks"
    if run["status"] == "AWAITING_CONFIRMATION":
        assert reason["code"] in ENDS, reason
        return str(reason["code"])
    assert run["status"] == "FAILED", run["status"]
    assert reason["code"] in GUARDRAILS, (reason, stack.logs())
    assert run["guardrail"] == reason["code"], run
    calls = await _calls_of(stack, run["id"], reason["params"])
    if reason["code"] == "spinning":
        assert calls[-1]["items_kept"] == 0, calls[-1]
    else:
        assert reason["code"] == "call_limit", reason
        early = [call for call in calls if call["end_cause"] in _EARLY]
        assert len(early) >= 5 or len(calls) >= 20, calls
    return f"guardrail {reason['code']}"


async def _calls_of(stack: Stack, run_id: str, where: Json) -> list[Json]:
    """The calls of the part that was stopped, in order."""
    calls = await stack.rows(run_id, "calls")
    mine = [
        call
        for call in calls
        if all(call[name] == where[name] for name in ("step", "round", "part"))
    ]
    return sorted(mine, key=lambda call: int(call["number"]))


def _of_row(call: Json) -> tuple[int, int, int]:
    tokens = call["tokens"]
    return tokens["input"], tokens["output"], tokens["cached"] or 0


def _of_server(usage: Json) -> tuple[int, int, int]:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return usage["prompt_tokens"], usage["completion_tokens"], cached
