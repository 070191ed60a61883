"""Children under watch: real processes, no service."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from deploy.local.errors import PartFailed
from deploy.local.options import ROOT
from deploy.local.processes import Command, ProcessTable, Running, rotate, size_of, tail
from deploy.local.supervise import Child, Part
from deploy.process_start import start_of
from tests.eventually import eventually

QUICK = (0.01, 0.02, 0.03, 0.04, 0.05)


def command(folder: Path, script: str) -> Command:
    return Command(
        argv=(sys.executable, "-c", script),
        environment={**os.environ},
        directory=folder,
        log=folder / "child.log",
    )


async def answers() -> None:
    return None


async def refuses() -> None:
    raise OSError("no answer")


async def test_child_that_keeps_ending_is_given_up_with_its_last_words(tmp_path: Path) -> None:
    said: list[str] = []
    part = Part(
        name="Broken",
        command=lambda: command(tmp_path, "import sys; sys.exit('the disk is on fire')"),
        check=refuses,
        delays=QUICK,
    )
    child = Child(part, ProcessTable(), said.append)
    with pytest.raises(PartFailed, match="the disk is on fire"):
        await asyncio.wait_for(child.watch(), 30)
    assert len(said) == child.restarts == 5
    assert "exit code 1" in said[0]


def test_of_a_log_only_what_was_written_since_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "migrate.log"
    assert (size_of(log), tail(log)) == (0, "")
    log.write_text("an earlier failure\n")
    before = size_of(log)
    with log.open("a") as file:
        file.write("one\ntwo\n")
    assert tail(log, since=before) == "one\ntwo"
    assert tail(log) == "an earlier failure\none\ntwo"


@pytest.mark.parametrize(
    ("script", "said"),
    [("import sys; sys.exit('now')", "since this start:\nnow"), ("raise SystemExit(3)", "nothing")],
)
async def test_what_an_earlier_start_wrote_is_not_quoted(
    tmp_path: Path, script: str, said: str
) -> None:
    (tmp_path / "child.log").write_text("yesterday's failure\n")
    part = Part(
        name="Broken",
        command=lambda: command(tmp_path, script),
        check=refuses,
        delays=QUICK[:1],
    )
    with pytest.raises(PartFailed) as failed:
        await asyncio.wait_for(Child(part, ProcessTable(), lambda _: None).watch(), 30)
    assert said in str(failed.value)
    assert "yesterday" not in str(failed.value)


async def test_killed_child_is_started_again_and_its_end_is_reported(tmp_path: Path) -> None:
    reaped: list[tuple[int, float]] = []

    async def note(pid: int, created: float) -> None:
        reaped.append((pid, created))

    part = Part(
        name="Sleeper",
        command=lambda: command(tmp_path, "import time; time.sleep(60)"),
        check=answers,
        reaped=note,
        delays=QUICK,
    )
    child = Child(part, ProcessTable(), lambda _: None)
    watch = asyncio.create_task(child.watch())
    await child.ready.wait()
    assert child.running is not None
    first, created = child.running.pid, start_of(child.running.pid)

    async def restarted() -> bool:
        return child.running is not None and child.running.pid != first

    os.kill(first, signal.SIGKILL)
    await eventually(restarted, what="another process")
    assert reaped == [(first, created)]
    watch.cancel()
    await child.end()
    assert child.running is None


async def test_child_that_stops_answering_is_replaced_even_when_frozen(tmp_path: Path) -> None:
    said: list[str] = []
    part = Part(
        name="Frozen",
        command=lambda: command(tmp_path, "import time; time.sleep(60)"),
        check=refuses,
        start_patience=0.2,
        stop_signals=((signal.SIGTERM, 0.1),),
        delays=QUICK[:1],
    )
    child = Child(part, ProcessTable(), said.append)
    watch = asyncio.create_task(child.watch())

    async def started() -> Running | None:
        return child.running

    async def given_up_on() -> bool:
        return child.restarts == 1

    frozen = await eventually(started, what="a process")
    os.kill(frozen.pid, signal.SIGSTOP)
    await eventually(given_up_on, what="a restart")
    assert frozen.process.returncode == -signal.SIGKILL
    assert "did not answer" in said[0]
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
    await child.end()


SUPERVISOR = """
import asyncio, os, sys
from pathlib import Path
from deploy.local.processes import Command, ProcessTable

async def main():
    nap = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    child = ProcessTable().spawn(Command(
        argv=(sys.executable, "-c", nap), environment=dict(os.environ),
        directory=Path(sys.argv[1]), log=Path(sys.argv[1]) / "child.log"))
    print(child.pid, flush=True)
    await child.exited.wait()

asyncio.run(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux sends a death signal")
def test_killed_supervisor_takes_its_children_along(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as supervisor:
        assert supervisor.stdout is not None
        child = psutil.Process(int(supervisor.stdout.readline()))
        supervisor.kill()
        end = time.monotonic() + 5
        while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end, "the child outlived its supervisor"


def test_log_is_cut_and_one_older_part_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    with log.open("ab") as child:  # as the child holds it
        child.write(b"old\n" * 100)
        child.flush()
        rotate(log, limit=100)
        child.write(b"new\n")
    assert log.read_bytes() == b"new\n"
    assert (tmp_path / "child.1.log").stat().st_size == 100
