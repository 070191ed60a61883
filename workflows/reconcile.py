"""The scheduled backstop: one sweep as an activity, should no worker's own sweep run."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from workflows.vocabulary import RECONCILE_WORKFLOW


@workflow.defn(name=RECONCILE_WORKFLOW)
class Reconcile:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity(
            "reconcile",
            start_to_close_timeout=timedelta(minutes=2),
            retry_policy=RetryPolicy(maximum_attempts=2),
        )
