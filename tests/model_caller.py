"""Calls a fake provider the way a worker does, and keeps what came back."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from activities.failures import Failure
from activities.model.client import CallEnd, ModelCall, ModelClient
from activities.model.profile import Profile
from deploy.settings import Settings
from tests.fake_llm import FakeLLM, Reply
from workflows.kinds.kind import Prompt
from workflows.kinds.schemas import REFINE

PROMPT = Prompt(
    system="You refine.",
    user="The secret transcript says twenty five Euros, not twenty six.",
    schema_name="redraft_refine",
    schema=REFINE,
    max_output_tokens=500,
)
EDITS = [{"find": f"a{number} 会议😀", "replace": "b", "resolves": ["I1"]} for number in range(3)]
KEY = "sk-very-secret-key"
PATIENT = Settings(database_url="", first_byte_timeout=10, silence_timeout=10, call_timeout=20)
QUICK = replace(PATIENT, first_byte_timeout=0.3, silence_timeout=0.15)


def profile(base_url: str | None, **fields: Any) -> Profile:
    plain = Profile(
        name="default",
        version=1,
        model="fake",
        base_url=base_url,
        key_env="THE_KEY",
        parameters={},
        prices=None,
        prompts={},
        fallback=None,
        rate_limits={},
    )
    return replace(plain, **fields)


@dataclass
class Ended:
    end: CallEnd
    call: ModelCall
    items: list[Mapping[str, Any]] = field(default_factory=list)
    said: str = ""

    @property
    def failure(self) -> Failure:
        assert self.end.failure is not None
        return self.end.failure


class Caller:
    """A client at a fake provider."""

    def __init__(self, llm: FakeLLM) -> None:
        self.llm = llm
        self.environment = {"THE_KEY": KEY}
        self.settings = PATIENT
        self.client = ModelClient(PATIENT, self.environment)

    def hurry(self, settings: Settings = QUICK) -> None:
        """Short time limits, for replies that go beyond them."""
        self.client = ModelClient(settings, self.environment)

    async def ask(self, *replies: Reply, prompt: Prompt = PROMPT, **fields: Any) -> Ended:
        self.llm.queue(*replies)
        items: list[Mapping[str, Any]] = []
        texts: list[str] = []
        asked = profile(fields.pop("base_url", self.llm.base_url), **fields)
        call = self.client.start(asked, prompt, on_item=items.append, on_text=texts.append)
        end = await call.run()
        assert "".join(texts) == call.text
        return Ended(end=end, call=call, items=items, said=call.text)


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server for what FakeLLM does not play; waits for its connections to end."""
    left: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left.append(asyncio.Event())
        mine = left[-1]
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            mine.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    server.close()
    for event in left:
        await asyncio.wait_for(event.wait(), 5)
