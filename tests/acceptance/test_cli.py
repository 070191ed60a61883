"""The command line as a person uses it: processes against a real API and worker."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from api.reading.drafts import read_draft
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, good_reviewer
from tests.services import ROOT, end
from tests.stack import TRANSCRIPT, Stack, minutes
from worker.doctor_findings import Level

_LINES = TRANSCRIPT.splitlines()
pytestmark = pytest.mark.timeout(120)


class Terminal:
    """Runs client commands with the address of one stack."""

    def __init__(self, stack: Stack) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("REDRAFT_")}
        self.environment = {**kept, "REDRAFT_URL": f"http://127.0.0.1:{stack.api_port}"}

    async def start(self, *words: str, module: str = "api.cli") -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            *words,
            cwd=ROOT,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        process = await self.start(*words)
        out, err = await process.communicate(stdin.encode())
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()


async def test_a_document_goes_from_a_pipe_to_a_confirmed_file(
    stack: Stack, llm: FakeLLM, tmp_path: Path
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    terminal = Terminal(stack)
    cues = [f"00:{n:02}.000 --> 00:{n + 1:02}.000\n{line}" for n, line in enumerate(_LINES)]
    transcript = tmp_path / "transcript.vtt"
    transcript.write_text("\n\n".join(["WEBVTT", *cues, "NOTE end"]), encoding="utf-16")
    body = minutes()["body"]
    code, out, err = await terminal.run(
        "submit", "-", "--source", str(transcript), "--watch", stdin=body
    )
    assert code == 0, err
    assert "left out, note: NOTE end" in err
    identity = out.split()[0]
    assert "Ready for a decision" in out
    _, run = await stack.call("GET", f"/api/runs/{identity}")
    path = f"/api/documents/{run['document_id']}/sources"
    _, listed = await stack.call("GET", path)
    _, stored = await stack.call("GET", f"{path}/{listed['items'][0]['id']}")
    assert stored["text"].splitlines()[1] == f"[00:00:01] {_LINES[1]}"
    seqs = [int(line.split()[1]) for line in out.splitlines() if line[2:3] == ":"]
    assert seqs == list(range(1, len(seqs) + 1))

    code, out, err = await terminal.run("confirm", identity)
    assert (code, err) == (0, "")
    assert "(the offered one)" in out
    code, out, err = await terminal.run("confirm", identity)
    assert code == 3
    assert "final_status" in err
    target = tmp_path / "result.md"
    code, _, err = await terminal.run("export", identity, "-o", str(target))
    assert code == 0, err
    assert target.read_text(encoding="utf-8").startswith("# Minutes")
    assert "E1x" not in target.read_text(encoding="utf-8")
    word = tmp_path / "result.docx"
    code, _, err = await terminal.run("export", identity, "-o", str(word))
    assert code == 0, err
    again = read_draft(word.read_bytes(), name=word.name).text
    assert again.split() == target.read_text(encoding="utf-8").split()


async def test_watching_goes_on_over_a_restart_of_the_api_and_repeats_nothing(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue"), ("E2x", "blue")]))
    run = await stack.create(minutes(errors=2))
    watching = await Terminal(stack).start("watch", run["id"], "--json")
    assert watching.stdout is not None
    first = json.loads(await asyncio.wait_for(watching.stdout.readline(), 30))
    assert first["type"] == "run_created"
    assert stack.api_process is not None
    end(stack.api_process, signal.SIGKILL)
    stack.api()
    await stack.until_ready()
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    rest, errors = await asyncio.wait_for(watching.communicate(), 60)
    assert watching.returncode == 0, errors
    lines = [first, *(json.loads(line) for line in rest.splitlines())]
    seqs = [line["seq"] for line in lines[:-1]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert lines[-1]["run"]["status"] == "AWAITING_CONFIRMATION"


async def test_the_doctor_has_nothing_to_say_about_a_stack_that_runs(stack: Stack) -> None:
    terminal = Terminal(stack)
    terminal.environment.update(stack.environment())
    # Its worker provides what the namespace needs; before that the doctor would say so.

    async def healthy() -> bool:
        process = await terminal.start("--json", module="worker.doctor")
        out, err = await process.communicate()
        findings = json.loads(out or "[]")
        failed = [one for one in findings if one["level"] == Level.FAIL]
        assert not failed, (failed, err.decode())
        return process.returncode == 0

    assert await eventually(healthy, seconds=30, what="the doctor")
