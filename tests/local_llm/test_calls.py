"""Single calls: the boundary against llama.cpp's own server, without rows and runs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from activities.failures import Verdict
from activities.model.client import CallEnd, Manner, ModelCall, ModelClient
from activities.model.formats import Format
from activities.model.tokens import Usage
from deploy.settings import Settings
from tests.eventually import eventually
from tests.local_llm import meetings
from tests.local_llm.serve import SLOTS
from tests.local_llm.server import LocalServer
from tests.local_llm.telling import Telling
from tests.local_llm.witness import Witness
from tests.model_caller import profile
from workflows.kinds.kind import Material, Prompt, SourceText, Work
from workflows.kinds.minutes import KIND
from workflows.vocabulary import Reason, StepName

pytestmark = pytest.mark.timeout(1800)
PATIENT = Settings(database_url="", first_byte_timeout=900, silence_timeout=300, call_timeout=1700)
A_SECOND = 1.0


class Client:
    """Asks through the witness; keeps the items."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.model = ModelClient(PATIENT, {"THE_KEY": "any"})
        self.items: list[Mapping[str, Any]] = []

    def call(
        self, prompt: Prompt, *, tokens: int, manner: Manner | None = None, seed: int = 1
    ) -> ModelCall:
        parameters = {"max_tokens": tokens, "temperature": 0, "seed": seed}
        return self.model.start(
            profile(self.base_url, model="a-name-nobody-knows", parameters=parameters),
            prompt,
            on_item=self.items.append,
            on_text=lambda _: None,
            manner=manner,
        )


@pytest_asyncio.fixture
async def client(witness: Witness) -> AsyncIterator[Client]:
    client = Client(witness.base_url)
    yield client
    await client.model.close()


def review() -> Prompt:
    """The review of the tiny meeting, with its answer in it."""
    source = SourceText(id="t", name="transcript", media_type="text/plain", text=meetings.SOURCE)
    work = Work(
        step=StepName.REVIEW,
        round=1,
        material=Material(title="Weekly", language="en", attributes={}, sources=(source,)),
        body=meetings.BODY,
        prompts=meetings.TOLD_PROMPTS,
    )
    return KIND.prompt(work, KIND.parts(work)[0], ())


async def test_while_the_model_is_loaded_every_answer_is_to_be_tried_again(
    starting: LocalServer,
) -> None:
    client = Client(starting.base_url)

    async def answered() -> CallEnd | None:
        end = await client.call(review(), tokens=1).run()
        if end.failure is None:
            return end
        assert end.failure.verdict is Verdict.RETRY, end.failure
        assert end.failure.code in ("http_503", "unreachable", "connection_lost")
        return None

    end = await eventually(answered, seconds=300, what="a loaded model")
    assert end.cause is Reason.LENGTH
    await client.model.close()


async def test_a_reply_follows_the_schema_and_its_usage_is_what_the_server_counted(
    client: Client, witness: Witness, server: LocalServer, telling: Telling
) -> None:
    before = await server.tokens()
    call = client.call(review(), tokens=400)
    end = await call.run()
    after = await server.tokens()
    assert (end.cause, end.failure, end.finish_reason) == (None, None, "stop")
    assert call.form == "json_schema"
    assert client.items == json.loads(witness.exchanges[0].text)["items"]
    assert client.items
    assert call.usage is not None
    read, cached, made = (now - then for now, then in zip(after, before, strict=True))
    assert call.usage == Usage(input=read + cached, output=made, cached=cached)
    telling.head("One call, asked by json_schema")
    telling.say(f"{len(client.items)} items; tokens as reported: {call.usage}")
    telling.say(f"first token after {call.first_token_ms} ms")


async def test_what_was_read_before_comes_from_the_servers_cache(client: Client) -> None:
    for _ in range(2):
        call = client.call(review(), tokens=2)
        await call.run()
    assert call.usage is not None
    assert call.usage.cached >= 0.8 * call.usage.input


async def test_a_request_beyond_the_context_is_final_and_says_what_to_do(
    client: Client, server: LocalServer
) -> None:
    before = await server.tokens()
    call = client.call(replace(review(), user="We ship the blue box. " * 4000), tokens=5)
    end = await call.run()
    assert end.failure is not None
    assert (end.failure.verdict, end.failure.code) == (Verdict.FINAL, "context_too_long")
    assert "context size (8192 tokens)" in end.failure.message
    assert call.estimate() == Usage(input=0, output=0)
    assert await server.tokens() == before


async def test_a_schema_that_the_server_cannot_take_is_asked_for_in_a_plainer_form(
    client: Client, witness: Witness
) -> None:
    item = {"type": "object", "properties": {"find": {"$ref": "#/nowhere"}}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    prompt = replace(review(), schema=schema)
    first = await client.call(prompt, tokens=5).run()
    assert first.again == Manner(format=Format.JSON_OBJECT)
    second = client.call(prompt, tokens=5, manner=first.again)
    assert (await second.run()).failure is None
    assert [exchange.form for exchange in witness.exchanges] == ["json_schema", "json_object"]
    assert [exchange.status for exchange in witness.exchanges] == [400, 200]
    assert witness.exchanges[1].text.lstrip().startswith("{")


async def test_a_cancel_in_the_middle_of_a_reply_frees_the_slot_within_a_second(
    client: Client, witness: Witness, server: LocalServer, telling: Telling
) -> None:
    call = client.call(review(), tokens=400)
    running = asyncio.create_task(call.run())

    async def in_the_middle() -> bool:
        return bool(witness.exchanges) and len(witness.exchanges[0].pieces) > 10

    await eventually(in_the_middle, seconds=600, what="the middle of a reply")
    assert await server.busy() == 1
    began = time.monotonic()
    running.cancel()

    async def free() -> bool:
        return await server.busy() == 0

    await eventually(free, seconds=60, what="a free slot")
    took = time.monotonic() - began
    telling.say(f"a cancelled call's slot was free after {took * 1000:.0f} ms")
    assert took < A_SECOND
    await asyncio.wait({running})
    assert running.cancelled()
    assert witness.exchanges[0].left
    assert call.usage is None
    estimate, made = call.estimate(), len(witness.exchanges[0].pieces)
    assert estimate is not None
    assert 0.5 * made <= estimate.output <= 1.5 * made
    telling.say(f"of it {made} tokens had been made, {estimate.output} were estimated")


async def test_a_request_more_than_there_are_slots_waits_for_one(client: Client) -> None:
    calls = [client.call(review(), tokens=8, seed=number) for number in range(SLOTS + 1)]
    ends = await asyncio.gather(*(call.run() for call in calls))
    assert [end.failure for end in ends] == [None] * (SLOTS + 1)
    assert all(call.usage for call in calls)


async def test_requests_that_fill_a_shared_context_together_are_asked_again_and_then_fit(
    server: LocalServer, telling: Telling
) -> None:
    """Each of three fits; the server ends them all in the middle, with an error frame."""
    narrow = LocalServer(server.model, shared=1536)
    client = Client(narrow.base_url)
    try:
        narrow.start()
        await narrow.ready()
        ends = await asyncio.gather(*(client.call(review(), tokens=400).run() for _ in range(3)))
        codes = [end.failure.code if end.failure else end.fault for end in ends]
        assert "context_shared" in codes, codes
        assert all(end.failure is None or end.failure.verdict is Verdict.RETRY for end in ends)
        alone = await client.call(review(), tokens=400).run()
    finally:
        await client.model.close()
        await narrow.stop()
    assert (alone.cause, alone.failure) == (None, None)
    told = ", ".join(str(code or "whole") for code in codes)
    telling.say(f"three at once in a shared context that is too small for three: {told}")
