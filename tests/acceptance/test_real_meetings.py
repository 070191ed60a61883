"""Real meetings with planted errors, reviewed and refined by real processes over HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from deploy.offline_model.server import OfflineModel
from tests.conftest import StartStack
from tests.fake_llm import FakeLLM, good_reviewer
from tests.stack import Stack
from tests.unit.kind_material import DATA, SAMPLE, planted

DOCUMENTS: dict[str, Path] = {
    "ES2004a": SAMPLE,
    "meeting_146": DATA / "planted" / "meeting_146.document.json",
}

pytestmark = pytest.mark.timeout(110)


async def offered(stack: Stack, name: str) -> tuple[dict[str, Any], str, str]:
    """The run once it waits for a person, the body it offers, and what would be right."""
    request = json.loads(DOCUMENTS[name].read_text(encoding="utf-8"))
    run = await stack.create(request)
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", "FAILED", seconds=60)
    assert run["status"] == "AWAITING_CONFIRMATION", run["reason"]
    path = f"/api/documents/{run['document_id']}/revisions/{run['offered_revision']}"
    code, revision = await stack.call("GET", path)
    assert code == 200
    right = request["body"]
    for error in planted(name):
        right = right.replace(error["wrong"], error["right"])
    return run, revision["body"], right


async def known_share(stack: Stack, llm: FakeLLM, run: dict[str, Any]) -> float:
    """Of all input tokens from round 2 on, those a provider knows from an earlier request."""
    calls = [call for call in await stack.rows(run["id"], "calls") if call["round"] >= 2]
    numbers = [int(call["provider_request_id"].removeprefix("req-")) for call in calls]
    asked = [llm.requests[number - 1] for number in numbers]
    known = sum(llm.known_share(request) * request.billed.input for request in asked)
    return known / sum(request.billed.input for request in asked)


def corrected(name: str, body: str) -> str:
    """The body with the errors that are still in it put right."""
    for error in planted(name):
        body = body.replace(error["wrong"], error["right"])
    return body


async def test_the_offline_model_repairs_most_of_what_rules_can_see_and_no_true_statement_changes(
    start_stack: StartStack,
) -> None:
    model = OfflineModel(rate=0)
    port = await model.start()
    try:
        stack = await start_stack({"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"})
        results = await asyncio.gather(*(offered(stack, name) for name in DOCUMENTS))
    finally:
        await model.stop()
    for name, (_, body, right) in zip(DOCUMENTS, results, strict=True):
        visible = [error["wrong"] for error in planted(name) if error["rule_visible"]]
        fixed = [wrong for wrong in visible if wrong not in body]
        assert len(fixed) * 2 >= len(visible), (name, fixed)
        assert corrected(name, body) == right


async def test_a_good_reviewer_gets_every_planted_error_out(stack: Stack, llm: FakeLLM) -> None:
    errors = [(error["wrong"], error["right"]) for name in DOCUMENTS for error in planted(name)]
    llm.script(good_reviewer(errors=errors))
    results = await asyncio.gather(*(offered(stack, name) for name in DOCUMENTS))
    for run, body, right in results:
        assert body == right
        assert run["reason"]["code"] == "passed"
        assert run["score"] == 100
        assert await known_share(stack, llm, run) >= 0.8
