"""The peer that Redraft is in the shared harness: how it is described, and its adapter."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import httpx2
import pytest

from activities.model.formats import Manner, request_body
from activities.model.profile import Profile
from activities.model.replies import ReplyParser
from activities.model.streaming import Frames, Reading
from deploy.offline_model.wire import Connection, listen
from tests.bench.figures import At
from tests.bench.peers.adapter import Adapter
from tests.bench.peers.described import with_redraft
from tests.bench.peers.environment import Impossible, clean
from tests.bench.peers.figures import figures
from tests.bench.peers.program import FILES, check_peers, find_harness, measures_of, turns
from tests.bench.peers.wrapping import Words, choose_quote, wrap
from tests.fake_llm import FakeLLM, Reply, always
from workflows.kinds.kind import Finding, Item, Material, OpenIssue, SourceText, Work
from workflows.kinds.text import KIND
from workflows.vocabulary import Severity, StepName

PROFILE = Profile(
    name="default",
    version=1,
    model="fake",
    base_url=None,
    key_env="OPENAI_API_KEY",
    parameters={},
    prices=None,
    prompts={},
    fallback=None,
    rate_limits={},
)
TAG = "[[tag:0123456789ab]] "
WORDS = "[[tag:0123456789ab]] " + "some words of a plain model " * 30


def document(seed: int = 1) -> str:
    """Words as the harness writes them: one line of 8 KB, many of them often."""
    chosen = random.Random(seed)
    known = ["".join(chosen.choices("etaoinshr", k=chosen.randint(2, 8))) for _ in range(300)]
    return (TAG + " ".join(chosen.choices(known, k=3000)))[:8192]


def work(step: StepName, body: str, *issues: OpenIssue) -> Work:
    source = SourceText(id="s1", name="source", media_type="text/plain", text=document())
    material = Material(title="Bench", language="en", attributes={}, sources=(source,))
    return Work(step=step, round=1, material=material, body=body, issues=issues)


def asked(given: Work, kept: tuple[Item, ...] = ()) -> bytes:
    """The request that Redraft sends for it."""
    [part] = KIND.parts(given)
    body = request_body(PROFILE, KIND.prompt(given, part, kept), Manner())
    return json.dumps(body, ensure_ascii=False, default=dict).encode()


def plain_stream() -> bytes:
    """The harness' answer: frames of 64 characters, the last one with the reason it ended."""
    deltas: list[dict[str, str]] = [
        {"content": WORDS[at : at + 64]} for at in range(0, len(WORDS), 64)
    ]
    ends = [None] * len(deltas) + ["stop"]
    choices = [
        {"index": 0, "delta": delta, "finish_reason": end}
        for delta, end in zip([*deltas, {}], ends, strict=True)
    ]
    frames = [json.dumps({"choices": [one]}, separators=(",", ":")) for one in choices]
    return "".join(f"data: {text}\n\n" for text in (*frames, "[DONE]")).encode()


def read(given: Work, events: bytes) -> tuple[list[Any], Reading, ReplyParser]:
    """What Redraft's own client reads of it."""
    items: list[Any] = []
    parser = ReplyParser(KIND.schemas[given.step.value], items.append)
    reading = Reading(parser, lambda _text: None)
    for frame in Frames().feed(events):
        reading.take(frame)
    reading.finish()
    return items, reading, parser


def answered(given: Work, kept: tuple[Item, ...] = (), *, piece: int = 7) -> list[Any]:
    """The items of the wrapped reply, whose bytes come in small pieces."""
    wrapped, stream = wrap(asked(given, kept)), plain_stream()
    words = Words(wrapped)
    events = b"".join(words.feed(stream[at : at + piece]) for at in range(0, len(stream), piece))
    items, reading, parser = read(given, events)
    assert parser.end().complete
    assert reading.finish_reason == "stop"
    assert reading.usage is not None
    assert reading.usage.output == len(reading.text) // 4
    assert WORDS in reading.text
    return items


def test_five_rounds_have_an_issue_and_an_edit_each_and_keep_the_document_at_its_size() -> None:
    body, quotes = document(), set()
    for number in range(1, 6):
        reviewing = work(StepName.REVIEW, body)
        [part] = KIND.parts(reviewing)
        [issue] = answered(reviewing)
        kept = KIND.accept(reviewing, part, issue, ())
        assert isinstance(kept, Item)
        assert kept.payload["severity"] == "major"
        finding = Finding(**{**kept.payload, "severity": Severity.MAJOR})
        quotes.add(finding.quote)
        refining = work(StepName.REFINE, body, OpenIssue(number=number, finding=finding))
        [part] = KIND.parts(refining)
        [edit] = answered(refining)
        made = KIND.accept(refining, part, edit, ())
        assert isinstance(made, Item)
        refined = KIND.refine(refining, [made])
        assert refined.resolved == (number,)
        assert finding.quote not in refined.body
        assert len(refined.body) == len(body)
        body = refined.body
    assert len(quotes) == 5
    assert body.startswith(TAG)


def test_a_continuation_gets_no_item_again() -> None:
    reviewing = work(StepName.REVIEW, document())
    [part] = KIND.parts(reviewing)
    [issue] = answered(reviewing)
    kept = KIND.accept(reviewing, part, issue, ())
    assert isinstance(kept, Item)
    assert answered(reviewing, (kept,)) == []


def test_requests_go_on_under_the_model_of_the_reply_size_with_their_tag() -> None:
    for step, model in ((StepName.REVIEW, "fake-1k"), (StepName.REFINE, "fake-8k")):
        sent = wrap(asked(work(step, document()))).request
        assert json.loads(sent)["model"] == model
        assert sent.find(b"[[tag:0123456789ab]]") >= 0


def test_what_is_no_review_and_no_refine_is_refused() -> None:
    with pytest.raises(ValueError, match="no request"):
        wrap(b'{"model": "fake", "messages": []}')


def test_a_quote_stands_once_whatever_the_text() -> None:
    for seed in range(50):
        text = document(seed)
        assert text.count(choose_quote(text)) == 1


def completions(server: asyncio.Server) -> str:
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/chat/completions"


async def test_the_adapter_passes_the_reply_and_a_leaving_client_on() -> None:
    reviewing = work(StepName.REVIEW, document())
    body = asked(reviewing)
    async with (
        FakeLLM(always(Reply(text=WORDS, before_headers=0.05))) as llm,
        await listen(Adapter(llm.base_url).serve, "127.0.0.1", 0) as server,
        httpx2.AsyncClient(trust_env=False, timeout=20) as client,
    ):
        answer = await client.post(completions(server), content=body)
        assert answer.status_code == 200
        items, _, parser = read(reviewing, answer.content)
        assert parser.end().complete
        assert len(items) == 1
        llm.script(always(Reply(hang=True)))
        left = asyncio.create_task(client.post(completions(server), content=body))
        await llm.wait_requests(2)
        left.cancel()
        await llm.wait_gone(1)
        assert llm.requests[0].model == "fake-1k"


async def test_the_adapter_breaks_off_when_the_model_does() -> None:
    async def hang_up(connection: Connection, _call: object) -> None:
        connection.close(reset=True)

    body = asked(work(StepName.REVIEW, document()))
    async with await listen(hang_up, "127.0.0.1", 0) as model:
        base = completions(model).removesuffix("/chat/completions")
        async with (
            await listen(Adapter(base).serve, "127.0.0.1", 0) as server,
            httpx2.AsyncClient(trust_env=False, timeout=20) as client,
        ):
            with pytest.raises(httpx2.HTTPError):
                await client.post(completions(server), content=body)


def test_the_file_holds_the_harness_own_peers_and_redraft(tmp_path: Path) -> None:
    given = {"langgraph": {"procs": [{"name": "worker", "cmd": ["x"], "worker": True}]}}
    (tmp_path / "peers.json").write_text(json.dumps(given), encoding="utf-8")
    made = with_redraft(tmp_path, adapter_port=4711)
    assert list(made) == ["langgraph", "redraft"]
    assert made["langgraph"] == given["langgraph"]
    ours = made["redraft"]
    assert [process["name"] for process in ours["procs"]] == ["api", "worker", "adapter"]
    assert [process.get("worker", False) for process in ours["procs"]] == [False, True, False]
    assert ours["env"]["OPENAI_BASE_URL"] == "http://127.0.0.1:4711/v1"
    assert "4711" in ours["procs"][2]["cmd"]
    assert ours["temporal"]["sqlite"]["journal_mode"] == "wal"
    assert ours["temporal"]["config"]["history.workflowIdReuseMinimalInterval"] == "0s"
    assert ours["temporal"]["config"]["frontend.WorkerCommandsEnabled"] is True


def test_without_the_harness_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Impossible, match="--harness DIR"):
        find_harness(tmp_path)
    for name in FILES:
        (tmp_path / name).touch()
    assert find_harness(tmp_path) == tmp_path
    with pytest.raises(Impossible, match="there are redraft"):
        check_peers(["other"], ["redraft"])


def test_groups_stand_for_their_measures() -> None:
    assert measures_of("kill,interrupt,crash") == ["crash", "crash50", "interrupt"]
    with pytest.raises(ValueError, match="no measure 'kil'"):
        measures_of("kil")


def test_peers_take_turns_within_a_measure_and_another_begins_each_repetition() -> None:
    found = [(one.rep, one.measure, one.peer) for one in turns(2, ["crash"], ["a", "b"])]
    assert found == [(0, "crash", "a"), (0, "crash", "b"), (1, "crash", "b"), (1, "crash", "a")]


def test_the_callers_variables_do_not_reach_the_harness() -> None:
    given = {"PATH": "p", "REDRAFT_MODEL": "m", "PYTHONPATH": "x", "HTTPS_PROXY": "y"}
    assert clean(given) == {"PATH": "p"}


def test_ratios_are_of_the_same_repetition_and_targets_are_redrafts() -> None:
    entries = [
        {"measure": "crash", "peer": peer, "rep": rep, "next_call_s": seconds, "repeated": 0}
        for peer, rep, seconds in (
            ("redraft", 0, 1.0),
            ("langgraph", 0, 2.0),
            ("redraft", 1, 3.0),
            ("langgraph", 1, 2.0),
        )
    ]
    made = {figure.name: figure for figure in figures(entries, "langgraph")}
    assert made["crash redraft next_call"].details == {"of langgraph": 1.0}
    assert made["crash redraft next_call"].met
    assert made["crash redraft repeated"].value(At.MAX) == 0
    assert made["crash langgraph next_call"].met is None
