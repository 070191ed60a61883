"""The words of Python are the words of SQL and of the contract."""

from __future__ import annotations

import re
from enum import StrEnum

import pytest

from tests.architecture.sources import ROOT
from workflows.transitions import MOVED_BY_EVENT
from workflows.vocabulary import (
    ACTIVE,
    ENDED,
    CallStatus,
    ErrorCode,
    EventType,
    IssueStatus,
    RunStatus,
    Severity,
    StepStatus,
    UsageSource,
)

SCHEMA = (ROOT / "deploy" / "schema.sql").read_text(encoding="utf-8")

CODES = """
invalid_request invalid_cursor unsupported_media too_large unknown_kind unknown_profile
unpriced_profile unknown_revision not_found deleted unauthenticated forbidden csrf bad_origin
run_active status_changed stale_base offered_revision_changed final_status limit_required
guardrail_override_required idempotency_mismatch idempotency_in_progress draining rate_limited
unavailable disk_full not_built internal
"""
EVENTS = """
run_created run_interrupted run_resumed run_failed run_awaiting_confirmation run_confirmed
run_rejected run_rework run_cancelled limits_raised profile_changed step_started step_succeeded
step_failed round_finished item_kept revision_created issue_raised issue_fixed issue_reopened
issue_waived call_started call_ended budget_warning guardrail_stop worker_lost source_added
lock_removed progress
"""


def checked(table: str, column: str) -> list[set[str]]:
    """The lists of words that CHECK constraints of this column allow."""
    body = re.search(rf"CREATE (?:UNLOGGED )?TABLE public\.{table} \((.*?)\n\);", SCHEMA, re.DOTALL)
    assert body is not None, table
    lists = re.findall(rf"CHECK \(\({column} = ANY \(ARRAY\[(.*?)\]\)\)\)", body[1])
    return [set(re.findall(r"'([^']*)'", words)) for words in lists]


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("runs", "status", RunStatus),
        ("steps", "status", StepStatus),
        ("model_calls", "status", CallStatus),
        ("model_calls", "usage_source", UsageSource),
        ("issues", "severity", Severity),
        ("issues", "status", IssueStatus),
    ],
)
def test_a_column_allows_exactly_the_words_of_its_enum(
    table: str, column: str, words: type[StrEnum]
) -> None:
    assert checked(table, column) == [set(words)]


def test_an_end_time_stands_exactly_at_ended_statuses() -> None:
    rule = re.search(r"ended_at IS NOT NULL\) = \(status = ANY \(ARRAY\[(.*?)\]", SCHEMA)
    assert rule is not None
    assert set(re.findall(r"'([^']*)'", rule[1])) == set(ENDED)


def test_one_active_run_of_a_document_means_the_active_statuses() -> None:
    rule = re.search(
        r"UNIQUE INDEX \w+ ON public\.runs .*?WHERE \(status = ANY \((.*?)\)\)", SCHEMA
    )
    assert rule is not None
    assert set(re.findall(r"'([^']*)'", rule[1])) == set(ACTIVE)


def test_the_moves_of_python_are_the_moves_of_sql() -> None:
    in_sql = set(re.findall(r"'([A-Z_]+)>([A-Z_]+)'", SCHEMA))
    in_python = {(str(s), str(to)) for from_, to in MOVED_BY_EVENT.values() for s in from_}
    assert in_python == in_sql


def test_codes_and_events_are_those_of_the_contract() -> None:
    assert sorted(ErrorCode) == sorted(CODES.split())
    assert sorted(EventType) == sorted(EVENTS.split())
