"""The door to model providers: one client per worker process, one `ModelCall` per request.

Speaks HTTP itself: per chunk that costs half of what the provider's own library takes, the process
starts a second earlier, and nothing is retried or repaired behind our back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from activities.model.call import CallEnd, ModelCall
from activities.model.formats import Manner, output_limit, prompt_hash
from activities.model.profile import Profile
from activities.model.recogniser import Heard, hear
from activities.model.servers import Servers
from activities.model.tokens import Usage
from deploy.settings import Settings
from workflows.kinds.kind import Prompt

__all__ = ["CallEnd", "Manner", "ModelCall", "ModelClient", "Usage", "output_limit", "prompt_hash"]


class ModelClient:
    """Shared by all calls of a process; belongs to the loop it is first used on."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        self._servers = Servers(settings, environment)

    def start(
        self,
        profile: Profile,
        prompt: Prompt,
        *,
        on_item: Callable[[Mapping[str, Any]], None],
        on_text: Callable[[str], None],
        manner: Manner | None = None,
    ) -> ModelCall:
        """A call that `run` sends; `manner` is what the end of the one before it said (`again`),
        without it what works with this server and model.

        `on_item` gets each item that satisfies the schema, the moment it is whole; `on_text` the
        text as it arrives. Both are called on the loop and must not block; what they raise ends
        the call and comes out of `run`.
        """
        return ModelCall(
            self._servers, profile, prompt, on_item=on_item, on_text=on_text, manner=manner
        )

    async def hear(
        self, profile: Profile, wav: bytes, seconds: float, *, language: str | None
    ) -> Heard:
        """What is said in a part of a recording, by the profile's speech server. Cancelling closes
        the connection."""
        return await hear(self._servers, profile, wav, seconds, language=language)

    async def close(self) -> None:
        await self._servers.close()
