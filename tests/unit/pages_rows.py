"""A run as the API answers it, for tests of what pages say about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from api import wire
from workflows.vocabulary import ENDED, FINAL, Phase, Reason, RunStatus


def a_run(
    *,
    status: RunStatus = RunStatus.RUNNING,
    phase: Phase = Phase.WORKING,
    reason: Reason | None = None,
    params: Mapping[str, Any] | None = None,
    guardrail: str | None = None,
) -> wire.Run:
    """`params` are those of the reason, or of the phase while RUNNING."""
    now = datetime.now(UTC)
    ended = status in (*FINAL, RunStatus.AWAITING_CONFIRMATION)
    running = status == RunStatus.RUNNING
    facts = dict(params or {})
    return wire.Run(
        id="01a22906-aafb-7165-a8dc-e62c02c24117",
        document_id="01a22906-aafb-7165-a8dc-e62c02c24118",
        kind="minutes",
        kind_version="v",
        title="Weekly",
        language="en",
        tags=[],
        status=status,
        phase=wire.Coded(code=phase, params=facts) if running else None,
        stage="review",
        reason=wire.Coded(code=reason, params=facts) if reason else None,
        guardrail=guardrail,
        stopping=False,
        active_step=None,
        next_step=None if ended else wire.NextStep(name="review", round=2),
        current_round=1,
        max_rounds=5,
        pass_score=90,
        score=70,
        scored_revision=0,
        open_issues=2,
        base_revision=0,
        working_revision=0,
        best_revision=0,
        offered_revision=0,
        profile=wire.ProfileRef(name="default", version=1),
        limits={},
        event_seq=1,
        tokens=wire.Tokens(input=10, output=20, cached=0, reasoning=0),
        calls=1,
        cost=None,
        currency=None,
        cost_is_estimate=False,
        running=wire.RunningTime(seconds=0, since=now if running else None),
        signal_due=False,
        actor="local",
        confirm_by=None,
        created_at=now,
        started_at=now,
        ended_at=now if status in ENDED else None,
        last_progress_at=now,
        workflow_id="redraft-run-x",
        temporal_url=None,
    )
