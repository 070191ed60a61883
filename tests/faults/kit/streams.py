"""Faults of the model server: replies cut, stalled, garbled, refused; the server away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

from tests.faults.kit.fault import fault
from tests.faults.kit.place import Place


def _spoil(place: Place, dice: Random, *names: str) -> str:
    count = dice.randint(1, 6)
    place.reviewer.spoils.extend(dice.choice(names) for _ in range(count))
    return f"{count} replies"


@fault(
    about="replies end in the middle: cleanly, within a chunk, or by a reset",
    undone="later replies are whole",
    touches={"model"},
    lasts=(2.0, 5.0),
    costly=True,
    weight=1.5,
)
async def cut_streams(place: Place, dice: Random) -> AsyncIterator[str]:
    yield _spoil(place, dice, "cut")
    place.reviewer.forget()


@fault(
    about="replies fall silent and stay so",
    undone="later replies are whole",
    touches={"model"},
    lasts=(8.0, 14.0),
    costly=True,
    weight=1.5,
)
async def stall_streams(place: Place, dice: Random) -> AsyncIterator[str]:
    yield _spoil(place, dice, "stalled")
    place.reviewer.forget()


@fault(
    about="replies are no JSON, or no event stream at all, or hold an error",
    undone="later replies are whole",
    touches={"model"},
    lasts=(2.0, 5.0),
    costly=True,
    weight=1.5,
)
async def garble_streams(place: Place, dice: Random) -> AsyncIterator[str]:
    yield _spoil(place, dice, "garbled", "no stream", "error in the stream")
    place.reviewer.forget()


@fault(
    about="the model server answers with 429 and 5xx",
    undone="it answers again",
    touches={"model"},
    lasts=(2.0, 5.0),
    costly=True,
    weight=1.5,
)
async def refuse_requests(place: Place, dice: Random) -> AsyncIterator[str]:
    yield _spoil(place, dice, "server error", "rate limited")
    place.reviewer.forget()


@fault(
    about="the model server is gone: every stream is reset, nobody can connect",
    undone="it listens again",
    touches={"model"},
    lasts=(1.0, 5.0),
    costly=True,
)
async def model_away(place: Place, dice: Random) -> AsyncIterator[str]:
    await place.llm.refuse()
    yield "the model server"
    await place.llm.accept()
