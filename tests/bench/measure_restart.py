"""kill -9 of a worker: how soon the next request of its run reaches the model server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

from tests.bench.figures import At, Figure, Target
from tests.bench.rig import Rig
from tests.eventually import eventually

_SOON = (Target(bound=3.0, at=At.MAX),)


async def restart(rig: Rig) -> AsyncIterator[Figure]:
    """The same worker started again at once; then with a second one alive."""
    count = rig.some(5, 1)
    alone = [await _killed(rig, second=False) for _ in range(count)]
    yield Figure(name="restart of the worker", unit="s", samples=alone, targets=_SOON)
    aside = [await _killed(rig, second=True) for _ in range(count)]
    yield Figure(name="restart with a second worker", unit="s", samples=aside, targets=_SOON)


async def _killed(rig: Rig, *, second: bool) -> float:
    """One call under way in the first worker, which is killed. Leaves one worker."""
    stack, model = rig.stack, rig.model
    await model.pace(hang=True)
    run = await rig.start_run()
    await model.call(run.tag, 1)
    if second:
        await _second(rig)
    killed = time.time()
    stack.kill(stack.workers.pop(0))
    if not second:
        stack.worker()
    call = await model.call(run.tag, 2)
    await rig.cancel_all()
    return call.at - killed


async def _second(rig: Rig) -> None:
    """A further worker that polls, as its log says."""
    log = rig.stack.folder / f"worker{len(rig.stack.workers)}.log"
    said = _polls(log)
    rig.stack.worker()

    async def says_so() -> bool:
        return _polls(log) > said

    await eventually(says_so, seconds=30, what="a second worker")


def _polls(log: Path) -> int:
    return log.read_text(errors="replace").count("worker polls") if log.exists() else 0
