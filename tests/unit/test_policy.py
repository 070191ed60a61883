"""Options of activities as a workflow gives them."""

from __future__ import annotations

from workflows.contract import Loaded, Next
from workflows.policy import work_options
from workflows.vocabulary import RunStatus


def test_an_attempt_that_timed_out_is_repeated_at_once_however_many_went_before() -> None:
    """Death is to cost the heartbeat's timeout and two seconds; a row of failures before it, each
    of which said how long to wait, must not make it a minute."""
    loaded = Loaded(status=RunStatus.RUNNING, epoch=1, next=Next.ROUND, heartbeat_seconds=30)
    retry = work_options(loaded)["retry_policy"]
    after_ten = retry.initial_interval.total_seconds() * retry.backoff_coefficient**10
    assert after_ten <= 2
    assert retry.maximum_attempts == 0


def test_work_that_waits_for_a_slot_goes_in_the_order_of_the_stages() -> None:
    stages = (Next.TRANSCRIBE, Next.DRAFT, Next.ROUND)
    loaded = [Loaded(status=RunStatus.RUNNING, epoch=1, next=stage) for stage in stages]
    keys = [work_options(one)["priority"].priority_key for one in loaded]
    assert keys == sorted(keys)
    assert len(set(keys)) == 3
