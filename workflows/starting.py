"""How a run's workflow is started or woken: the options, as a pure function for every starter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    SearchAttributeUpdate,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)

from workflows.contract import Loaded, RunInput
from workflows.vocabulary import QUEUE, RunStatus, Signal, workflow_id

STATUS = SearchAttributeKey.for_keyword("RedraftStatus")
KIND = SearchAttributeKey.for_keyword("RedraftKind")
DOCUMENT = SearchAttributeKey.for_keyword("RedraftDocument")
ROUND = SearchAttributeKey.for_int("RedraftRound")
SCORE = SearchAttributeKey.for_int("RedraftScore")

TASK_TIMEOUT = timedelta(seconds=5)
"""Bounds what a workflow task lost with its worker costs."""
SUMMARY_LENGTH = 100


@dataclass(frozen=True, kw_only=True)
class Start:
    """What Temporal Web shows of a run from its start: ids, a short title, numbers."""

    run_id: str
    kind: str
    document_id: str
    title: str
    round: int = 0
    score: int | None = None
    seq: int = 0


def start_options(
    start: Start, *, searchable: bool = True, replace: bool = False
) -> dict[str, Any]:
    """Keyword arguments of `Client.start_workflow`: signal-with-start of `resume`.

    An open workflow is only woken; with `replace` it is terminated and started anew.
    """
    line = " ".join(f"{start.kind}: {start.title}".split())
    summary = line if len(line) <= SUMMARY_LENGTH else line[: SUMMARY_LENGTH - 1] + "…"
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(STATUS, str(RunStatus.RUNNING)),
        SearchAttributePair(KIND, start.kind),
        SearchAttributePair(DOCUMENT, start.document_id),
        SearchAttributePair(ROUND, start.round),
    ]
    if start.score is not None:
        pairs.append(SearchAttributePair(SCORE, start.score))
    options: dict[str, Any] = {
        "arg": RunInput(run_id=start.run_id),
        "id": workflow_id(start.run_id),
        "task_queue": QUEUE,
        "task_timeout": TASK_TIMEOUT,
        "id_reuse_policy": WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        "memo": {"document_id": start.document_id, "kind": start.kind},
        "search_attributes": TypedSearchAttributes(pairs) if searchable else None,
        "static_summary": summary,
        "static_details": f"Run `{start.run_id}` of document `{start.document_id}`",
    }
    if replace:
        options["id_conflict_policy"] = WorkflowIDConflictPolicy.TERMINATE_EXISTING
    else:
        options["id_conflict_policy"] = WorkflowIDConflictPolicy.USE_EXISTING
        options["start_signal"] = Signal.RESUME
        options["start_signal_args"] = [{"seq": start.seq}]
    return options


def search_updates(now: Loaded) -> list[SearchAttributeUpdate[Any]]:
    """Attributes that change while a run goes on."""
    updates: list[SearchAttributeUpdate[Any]] = [
        STATUS.value_set(now.status),
        ROUND.value_set(now.current_round),
    ]
    if now.score is not None:
        updates.append(SCORE.value_set(now.score))
    return updates
