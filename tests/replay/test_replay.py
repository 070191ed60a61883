"""A change of workflow code that a run in flight could not follow fails here, not at 2 a.m.

Histories are exported by `python -m tests.replay.record`, one for every kind of wait.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from workflows.review_run import ReviewRun

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))
TEXTS = {path: path.read_text("utf-8") for path in HISTORIES}


def test_every_kind_of_wait_has_a_history() -> None:
    assert {path.stem for path in HISTORIES} >= {
        "confirmed",
        "interrupted_and_resumed",
        "by_hand",
        "waiting_for_a_person",
        "mid_round",
        "cancelled",
        "waiting_for_a_retry",
        "taken_over",
        "interrupted",
        "parked",
    }


@pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])
async def test_a_stored_history_replays(path: Path) -> None:
    await replayed(path.stem, TEXTS[path])


async def replayed(name: str, text: str) -> None:
    replayer = Replayer(
        workflows=[ReviewRun],
        workflow_runner=SandboxedWorkflowRunner(
            restrictions=SandboxRestrictions.default.with_passthrough_modules("workflows")
        ),
    )
    history = WorkflowHistory.from_json(f"redraft-run-{name}", text)
    await replayer.replay_workflow(history)


@pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])
def test_histories_are_small_and_hold_no_text(path: Path) -> None:
    text = TEXTS[path]
    assert len(text) < 256_000
    assert "blue box" not in text
    assert "sk-test" not in text
