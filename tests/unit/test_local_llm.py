"""What `./redraft test --local-llm` says where it cannot be had; the rest of it needs the model."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from activities.model.tokens import count_prompt
from tests.__main__ import TIERS
from tests.local_llm import meetings
from tests.local_llm.parts import MODEL_FILE, Impossible, check_file, check_machine
from tests.local_llm.witness import Exchange
from tests.services import ROOT
from workflows.kinds.kind import Material, SourceText, Work
from workflows.kinds.minutes import KIND
from workflows.vocabulary import StepName

FLAGS = "processor\t: 0\nflags\t\t: fpu sse2 avx avx2 fma bmi1 bmi2\n"


def test_a_processor_without_the_instructions_is_told_which_are_missing() -> None:
    check_machine("linux", "x86_64", "glibc", FLAGS)
    with pytest.raises(Impossible, match="lacks AVX2, BMI2, for which"):
        check_machine("linux", "x86_64", "glibc", "flags : fpu sse2 avx fma bmi1")
    with pytest.raises(Impossible, match="lacks AVX2, FMA, BMI2"):
        check_machine("linux", "x86_64", "glibc", "")


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [("darwin", "arm64", ""), ("linux", "aarch64", "glibc"), ("linux", "x86_64", "")],
)
def test_other_systems_are_told_where_it_was_tried(system: str, machine: str, libc: str) -> None:
    with pytest.raises(Impossible, match="Linux with glibc on an x86-64"):
        check_machine(system, machine, libc, FLAGS)


def test_a_file_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / MODEL_FILE
    with pytest.raises(Impossible, match="sha256 missing"):
        check_file(file)
    file.parent.mkdir()
    file.write_bytes(b"another model")
    with pytest.raises(Impossible, match="is not the pinned one"):
        check_file(file)
    check_file(file, hashlib.sha256(b"another model").hexdigest())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there it is fetched at all")
def test_without_a_network_it_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    """The machine's own index is switched off for pip, whatever it is."""
    words = [sys.executable, "-m", "tests", "--local-llm"]
    more = {"XDG_CACHE_HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    said = done.stderr
    assert "Is there a network" in said or "the local model needs" in said or "lacks" in said
    assert not [path for path in tmp_path.rglob("*") if path.suffix != ".lock" and path.is_file()]


def test_no_other_command_runs_it() -> None:
    assert not [tier for tier in TIERS if "local" in tier]


def test_the_witness_reads_answers_in_chunks_that_cut_anywhere() -> None:
    frames = (
        'data: {"choices": [{"delta": {"role": "assistant", "content": null}}]}\n\n'
        'data: {"choices": [{"delta": {"content": "会"}}]}\n\n'
        'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
        'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}\n\n'
        "data: [DONE]\n\n"
    ).encode()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for size in (1, 7, len(frames)):
        cuts = [frames[at : at + size] for at in range(0, len(frames), size)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(cut), cut) for cut in cuts) + b"0\r\n\r\n"
        seen = Exchange(asked={}, began=0.0, answer=bytearray(head + body))
        assert (seen.status, seen.text, seen.form) == (200, "会", "plain")
        assert seen.usage == {"prompt_tokens": 3, "completion_tokens": 1}


def test_the_piece_of_the_sample_is_small_enough_for_a_busy_core_and_still_cut_into_windows() -> (
    None
):
    """At 30 tokens a second read and 3 written, a call takes less than two minutes."""
    asked = meetings.piece()
    sources = tuple(SourceText(id="1", **source) for source in asked["sources"])
    material = Material(title=asked["title"], language="en", attributes={}, sources=sources)
    parts = []
    for step in (StepName.REVIEW, StepName.REFINE):
        work = Work(
            step=step,
            round=1,
            material=material,
            body=asked["body"],
            prompts=meetings.OWN_PROFILE["prompts"],
        )
        for part in KIND.parts(work):
            parts.append(part.part)
            assert count_prompt(KIND.prompt(work, part, ())) < 2_000, part.part
    assert {"main:1", "main:2"} <= set(parts)
    assert "twenty five Euros" in sources[0].text
    assert "35 Euros" in asked["body"]
    for run in (asked, meetings.tiny()):
        assert run["limits"]["max_seconds"] <= 1_800
        assert run["limits"]["max_calls"] <= 30
