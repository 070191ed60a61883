"""Answers as they cross HTTP, field for field as the contract has them.

Fields of `CONTENT` hold what people or models wrote; all others are status. `without_content`
makes the answer of a role that may operate but not read.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from api.wire.progress import Progress
from api.wire.service import KindInfo, Profile, Switches, Worker
from api.wire.types import (
    Event,
    Money,
    NextStep,
    Page,
    Time,
    Wire,
    money,
    timestamp,
    without_content,
)

__all__ = [
    "ActiveStep",
    "Attempt",
    "Call",
    "CallWithBody",
    "Coded",
    "Diff",
    "DiffHunk",
    "DiffPiece",
    "Document",
    "Event",
    "Issue",
    "Item",
    "KindInfo",
    "MadeBy",
    "Money",
    "NextStep",
    "Page",
    "Parts",
    "Profile",
    "ProfileRef",
    "Revision",
    "RevisionInfo",
    "Run",
    "RunningTime",
    "Source",
    "SourceInfo",
    "Step",
    "Switches",
    "Time",
    "Tokens",
    "Wire",
    "Worker",
    "money",
    "timestamp",
    "without_content",
]


class Coded(Wire):
    """A stable code and the facts of its sentence."""

    code: str
    params: dict[str, Any] = Field(default_factory=dict)


class ProfileRef(Wire):
    name: str
    version: int | None


class Tokens(Wire):
    """null where the provider did not say."""

    input: int | None
    output: int | None
    cached: int | None
    reasoning: int | None


class ActiveStep(Wire):
    id: str
    name: str
    round: int
    attempt: int
    started_at: Time


class RunningTime(Wire):
    """What `max_seconds` limits: seconds of the stretches in RUNNING that ended, and since when
    the present one lasts, null when not RUNNING."""

    seconds: int
    since: Time | None


class Run(Wire):
    """A run; the fields are those of CONTRACT 3. `phase` is null unless RUNNING, `next_step` when
    nothing is left to do or a person decides; `scored_revision` is the text `score` is of;
    `fallback` is the profile that made the newest call instead of `profile`; `progress` is there
    while a recording is transcribed. Amounts in two currencies are never added: then `cost` and
    `currency` are null, `costs` has each; so it has what is known beside `unpriced_calls`."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"title"})

    id: str
    document_id: str
    kind: str
    kind_version: str
    title: str
    language: str | None
    tags: list[str]
    status: str
    phase: Coded | None
    stage: str
    reason: Coded | None
    guardrail: str | None
    stopping: bool
    active_step: ActiveStep | None
    progress: Progress | None = None
    next_step: NextStep | None
    current_round: int
    max_rounds: int
    pass_score: int
    score: int | None
    scored_revision: int | None
    open_issues: int
    base_revision: int | None
    working_revision: int | None
    best_revision: int | None
    offered_revision: int | None
    profile: ProfileRef
    fallback: ProfileRef | None = None
    limits: dict[str, Any]
    event_seq: int
    tokens: Tokens
    calls: int
    cost: Money
    currency: str | None
    costs: dict[str, Money] = Field(default_factory=dict)
    unpriced_calls: int = 0
    cost_is_estimate: bool
    running: RunningTime
    signal_due: bool
    actor: str
    confirm_by: Time | None
    created_at: Time
    started_at: Time | None
    ended_at: Time | None
    last_progress_at: Time
    workflow_id: str
    temporal_url: str | None


class Parts(Wire):
    done: int
    total: int


class Step(Wire):
    """One execution of a step; one that was stopped stays as it ended. `result`, in numbers and
    codes: of a review `scope`, `found`, `model_score` by part, `dropped` items by part and
    `unfounded` parts; of a refine `resolved` issues and `refused` edits by code."""

    id: str
    seq: int
    name: str
    round: int
    attempt: int
    status: str
    reason: Coded | None
    parts: Parts
    input_revision: int | None
    output_revision: int | None
    score: int | None
    result: dict[str, Any] | None
    worker: str
    queued_at: Time
    started_at: Time
    ended_at: Time | None


class Item(Wire):
    CONTENT: ClassVar[frozenset[str]] = frozenset({"payload"})

    step: str
    round: int
    part: str
    key: str
    position: int
    payload: Any
    call_id: str
    call_number: int
    created_at: Time


class Call(Wire):
    """One request to a model, without what was said in it.

    `kept_keys` are the items it brought (of a trip its days); `dropped` counts by code what of its
    answer was not kept, `dropped_keys` names those that have a key: of a trip `duplicate` and
    `changed_earlier` are days that were kept already, `out_of_range` is beyond what was asked for.
    """

    id: str
    run_id: str
    step_id: str
    step: str
    round: int
    part: str
    number: int
    status: str
    finish_reason: str | None
    end_cause: str | None
    model: str
    profile: ProfileRef
    kind_version: str
    tokens: Tokens
    usage_source: str
    cost: Money
    currency: str | None
    first_token_ms: int | None
    started_at: Time
    ended_at: Time | None
    provider_request_id: str | None
    http_status: int | None
    items_kept: int
    items_dropped: int
    kept_keys: list[str] = Field(default_factory=list)
    dropped: dict[str, int] = Field(default_factory=dict)
    dropped_keys: dict[str, list[str]] = Field(default_factory=dict)


class Attempt(Wire):
    """One of the calls for the same part."""

    id: str
    number: int
    status: str
    items_kept: int


class CallWithBody(Call):
    """`reply` and `recipe` are null once their retention has run out; `seconds_of_sound` is the
    length of what a call was asked to hear, null where it read."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"reply", "partial_text"})

    seconds_of_sound: float | None = None
    prompt_hash: str
    error: str | None
    recipe: dict[str, Any] | None
    reply: str | None
    partial_text: str | None


class Issue(Wire):
    """`number` 3 is I3 in prompts and pages."""

    CONTENT: ClassVar[frozenset[str]] = frozenset(
        {"quote", "problem", "suggestion", "waived_reason"}
    )

    id: str
    number: int
    category: str
    severity: str
    status: str
    quote: str
    problem: str
    suggestion: str | None
    evidence: list[str]
    raised_by: str
    raised_round: int
    seen_round: int
    fixed_round: int | None
    revision: int
    waived_by: str | None
    waived_reason: str | None
    created_at: Time
    updated_at: Time


class Document(Wire):
    CONTENT: ClassVar[frozenset[str]] = frozenset({"title", "attributes"})

    id: str
    kind: str
    title: str
    language: str | None
    attributes: dict[str, Any]
    tags: list[str]
    newest_revision: int | None
    active_run: str | None
    actor: str
    created_at: Time
    updated_at: Time


class MadeBy(Wire):
    run: str
    step: str | None
    round: int | None


class RevisionInfo(Wire):
    """A revision without its text. `author` is `run` or the person's name. `stale`: a run made it
    from a source that was corrected since, or a person edited it before. `has_original`: it was
    read from a file that is kept."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"comment"})

    document_id: str
    number: int
    characters: int
    sha256: str
    author: str
    made_by: MadeBy | None
    base: int | None
    comment: str | None
    stale: bool
    has_original: bool
    created_at: Time


class Revision(RevisionInfo):
    CONTENT: ClassVar[frozenset[str]] = frozenset({"comment", "body"})

    body: str


class SourceInfo(Wire):
    """A source without its text. `replaced_by` is null for the version in force. `has_original`: it
    was read from a file that is kept."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"name"})

    id: str
    document_id: str
    name: str
    media_type: str
    version: int
    replaces: str | None
    replaced_by: str | None
    position: int
    characters: int
    sha256: str
    has_audio: bool
    has_original: bool
    actor: str
    created_at: Time


class Source(SourceInfo):
    CONTENT: ClassVar[frozenset[str]] = frozenset({"name", "text"})

    text: str


class DiffPiece(Wire):
    """A stretch of text inside a changed hunk."""

    op: Literal["equal", "insert", "delete"]
    text: str


class DiffHunk(Wire):
    """One stretch of the comparison, in reading order.

    `old` and `new` are its first line in each text, counted from 1. `equal`, `insert` and `delete`
    have `text`; `replace` has `pieces` instead, sentences or words.
    """

    op: Literal["equal", "insert", "delete", "replace"]
    old: int
    new: int
    text: str | None = None
    pieces: list[DiffPiece] | None = None


class Diff(Wire):
    """`level` is the finest level of the comparison: `words`, or `sentences` above the size cap."""

    CONTENT: ClassVar[frozenset[str]] = frozenset({"hunks"})

    document_id: str
    from_: int = Field(alias="from", serialization_alias="from")
    to: int
    algorithm: str
    level: Literal["words", "sentences", "blocks"]
    changed: bool
    hunks: list[DiffHunk]
