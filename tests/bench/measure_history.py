"""What a run leaves in Temporal."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload

from tests.bench.figures import Figure, Target
from tests.bench.rig import Rig


async def history(rig: Rig) -> AsyncIterator[Figure]:
    """Of a run of five rounds: events, bytes, the largest payload."""
    run = await rig.start_run()
    await rig.finish(run)
    told = await rig.stack.workflow(run.id).fetch_history()
    events: list[Any] = list(told.events)
    sizes = [event.ByteSize() for event in events]
    largest = max(len(data) for event in events for data in payloads(event))
    kinds = Counter(event.WhichOneof("attributes") for event in events)
    yield Figure(
        name="history events",
        unit="",
        samples=[len(events)],
        targets=(Target(bound=249),),
        details={"by kind": {kind[:-17]: count for kind, count in kinds.most_common()}},
    )
    yield Figure(
        name="history size", unit="KB", samples=[sum(sizes) / 1024], targets=(Target(bound=255),)
    )
    yield Figure(name="history largest payload", unit="bytes", samples=[largest])


def payloads(message: Message) -> Iterator[bytes]:
    """The data of every payload inside, however deep."""
    if isinstance(message, Payload):
        yield message.data
        return
    for _, value in message.ListFields():
        if isinstance(value, Message):
            inner = [value]
        elif hasattr(value, "values"):
            inner = list(value.values())
        else:
            inner = list(value) if isinstance(value, Iterable) else []
        for one in inner:
            if isinstance(one, Message):
                yield from payloads(one)
