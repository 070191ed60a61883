"""Calls whose provider never said what they cost are estimated within 5 % of what arrived."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.fake_llm import Chars, FakeLLM, Reply
from tests.model_caller import PROMPT, QUICK, Caller
from tests.unit.kind_material import meetings

NEAR = 0.05
EDITS_OF = 40
"""Statements in a reply."""


@functools.cache
def encoder() -> Callable[[str], int]:
    """The vocabulary's own encoder: it makes the tokens, which the counter under test does not."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


def reply_of(name: str) -> tuple[str, Reply]:
    """A source in this language, and a long reply made of statements about it."""
    meeting = next(one for one in meetings() if one.name == name)
    texts = [statement.strip() for statement in meeting.statements][:EDITS_OF]
    items = [{"find": text, "replace": text[::2], "resolves": ["I1"]} for text in texts]
    return meeting.material.sources[0].text, Reply(items=items, usage="none", chunk_chars=7)


@pytest.mark.parametrize("how", ["cut", "stalled", "whole", "thinking"])
@pytest.mark.parametrize("name", ["ES2004a", "146"])
async def test_an_estimate_is_near_what_the_provider_bills(name: str, how: str) -> None:
    source, reply = reply_of(name)
    length = len(reply.content)
    faults: Mapping[str, Mapping[str, Any]] = {
        "cut": {"cut_after": Chars(length * 2 // 3), "cut": "clean"},
        "stalled": {"stall_after": Chars(length // 3)},
        "whole": {},
        "thinking": {"thinking": source[:3000], "finish_reason": "length"},
    }
    async with FakeLLM(count_tokens=encoder()) as llm:
        caller = Caller(llm)
        caller.hurry(QUICK)
        fields = {**vars(PROMPT), "user": source}
        ended = await caller.ask(
            Reply(**{**vars(reply), **faults[how]}), prompt=type(PROMPT)(**fields)
        )
        await caller.client.close()
        billed = llm.requests[0].billed
    assert ended.call.usage is None
    estimate = ended.call.estimate()
    assert estimate is not None
    assert billed.output > 300
    assert estimate.output == pytest.approx(billed.output, rel=NEAR)
    assert estimate.input == pytest.approx(billed.input, rel=NEAR)
