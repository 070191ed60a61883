"""Many runs at once: how many a second, and the CPU of each part."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

from tests.bench.documents import STEPS
from tests.bench.figures import Figure
from tests.bench.measure_steps import cpu_per_step
from tests.bench.rig import Rig, minus


async def throughput(rig: Rig) -> AsyncIterator[Figure]:
    """All at once, a model that answers at once, one worker."""
    count = rig.some(100, 6)
    cpu, wal, began = rig.cpu(), await rig.wal(), time.monotonic()
    runs = await rig.start_runs(count)
    await rig.finish(*runs)
    seconds = time.monotonic() - began
    cpu, wal = minus(rig.cpu(), cpu), await rig.wal() - wal
    calls = sum(len(rig.model.of[run.tag]) for run in runs)
    yield Figure(
        name=f"throughput {count} at once",
        unit="runs/s",
        samples=[count / seconds],
        details={"calls per run": calls / count},
    )
    yield cpu_per_step(f"throughput {count} at once, CPU per step", cpu, count * STEPS)
    yield Figure(name="throughput WAL per run", unit="KB", samples=[wal / count / 1024])
