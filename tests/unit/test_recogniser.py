"""Parts of a recording over HTTP: what is sent, what a failure means, how a cancel ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from activities.failures import Verdict
from activities.model.recogniser import Heard, hear
from activities.model.servers import Servers
from deploy.settings import load
from tests import sounds
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says, segments
from tests.model_caller import KEY, profile
from workflows.vocabulary import SPEECH_KEY, Reason

SOUND = sounds.wav([(0.5, True)])


@pytest.fixture
async def server() -> AsyncIterator[FakeRecogniser]:
    async with FakeRecogniser() as found:
        yield found


@pytest.fixture
async def servers(server: FakeRecogniser) -> AsyncIterator[Servers]:
    given = {"REDRAFT_DATABASE_URL": "postgresql://nowhere/x"}
    environment = {"THE_KEY": KEY, SPEECH_KEY: "here", "OPENAI_BASE_URL": server.base_url}
    found = Servers(load(given), environment)
    yield found
    await found.close()


async def heard(servers: Servers, *, language: str | None = None) -> Heard:
    return await hear(servers, profile(None, model="ears"), SOUND, 0.5, language=language)


async def test_a_part_is_sent_as_a_form_and_its_segments_come_back(
    server: FakeRecogniser, servers: Servers
) -> None:
    found = await heard(servers, language="zh-CN")
    assert found.failure is None
    assert found.reply is not None
    assert found.reply["segments"][0]["text"] == " Part 1, line 1."
    assert found.request_id == "heard-1"
    asked = server.asked[0]
    assert asked.seconds == pytest.approx(0.5)
    assert asked.fields["model"] == "ears"
    assert asked.fields["language"] == "zh"
    assert asked.fields["timestamp_granularities[]"] == "segment"


async def test_the_recogniser_here_is_known_by_its_key_wherever_it_listens(
    server: FakeRecogniser, servers: Servers
) -> None:
    servers.settings = replace(servers.settings, speech_url="http://127.0.0.1:9/v1")
    mine, any_other = profile(None, key_env=SPEECH_KEY), profile(None)
    assert (await servers.endpoint(mine)).port == 9
    assert (await servers.endpoint(any_other)).port == server.port
    named = profile("http://127.0.0.1:7/v1", key_env=SPEECH_KEY)
    assert (await servers.endpoint(named)).port == 7


async def test_a_key_that_a_server_repeats_is_not_heard(
    server: FakeRecogniser, servers: Servers
) -> None:
    """What is heard becomes a transcript, and the reply is kept with its call."""
    server.script = lambda _: Says(body={"text": KEY, "segments": [{"text": f"We {KEY}", KEY: 1}]})
    assert (await heard(servers)).reply == {"text": "…", "segments": [{"text": "We …", "…": 1}]}


async def test_a_server_without_times_is_asked_again_for_the_plain_form(
    server: FakeRecogniser, servers: Servers
) -> None:
    def plain(asked: Asked) -> Says:
        if asked.fields["response_format"] != "json":
            return Says(status="400 Bad Request", body={"error": {"message": "verbose_json"}})
        return Says(body={"text": "Only words."})

    server.script = plain
    refused = await heard(servers)
    assert refused.failure is not None
    assert refused.failure.verdict == Verdict.AGAIN
    for _ in range(2):
        found = await heard(servers)
        assert found.reply == {"text": "Only words."}
    assert len(server.asked) == 3, "one a call, and what was refused is remembered"


@pytest.mark.parametrize(
    ("says", "verdict", "cause"),
    [
        (
            Says(status="401 Unauthorized", body={"error": {"message": "no"}}),
            Verdict.FINAL,
            Reason.PROVIDER_REFUSED,
        ),
        (
            Says(status="429 Too Many Requests", body={"error": {"message": "slow"}}),
            Verdict.RETRY,
            Reason.RATE_LIMITED,
        ),
        (Says(status="503 Unavailable", body={}), Verdict.RETRY, Reason.SERVER_ERROR),
        (Says(body=b"<html>"), Verdict.RETRY, Reason.SERVER_ERROR),
        (Says(body={"task": "transcribe"}), Verdict.RETRY, Reason.SERVER_ERROR),
    ],
)
async def test_failures_mean_what_those_of_models_mean(
    server: FakeRecogniser, servers: Servers, says: Says, verdict: Verdict, cause: Reason
) -> None:
    server.script = lambda _asked: says
    found = await heard(servers)
    assert found.failure is not None
    assert (found.failure.verdict, found.failure.cause) == (verdict, cause)
    assert KEY not in found.failure.message


async def test_the_recogniser_here_may_take_long_and_no_other(
    server: FakeRecogniser, servers: Servers
) -> None:
    """On a busy machine it was cut off, began the same part again, and was cut off."""
    servers.settings = replace(
        servers.settings, first_byte_timeout=0.05, speech_url=server.base_url
    )
    server.script = lambda asked: Says(body=segments(asked).body, wait=0.6)
    other = await hear(servers, profile(None, model="ears"), SOUND, 0.05)
    assert other.failure is not None
    assert other.failure.cause == Reason.CONNECTION
    here = profile(None, model="ears", key_env=SPEECH_KEY)
    assert (await hear(servers, here, SOUND, 0.05)).failure is None


async def test_a_cancel_closes_the_connection(server: FakeRecogniser, servers: Servers) -> None:
    server.script = lambda asked: Says(body=segments(asked).body, wait=None)
    asking = asyncio.create_task(heard(servers))
    async with asyncio.timeout(10):
        await server.arrived.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.gone.wait()
