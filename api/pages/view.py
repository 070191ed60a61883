"""What pages say about a run, decided from its answer alone: word, tone, sentences, offers.

Pure: no request, no row, no clock but the one given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.http.short_ids import short
from api.texts import codes
from api.texts.text import Catalogue
from api.wire import Run
from workflows.vocabulary import ACTIVE, LIMITS, Actor, EventType, Phase, Reason, RunStatus, Stage

TONES: Mapping[str, str] = {
    RunStatus.RUNNING: "running",
    RunStatus.INTERRUPTED: "interrupted",
    RunStatus.AWAITING_CONFIRMATION: "waiting",
    RunStatus.CONFIRMED: "done",
    RunStatus.REJECTED: "neutral",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "neutral",
    Phase.QUEUED: "neutral",
    Phase.WAITING_RETRY: "waiting",
    Phase.RATE_LIMITED: "waiting",
    Phase.WORKER_LOST: "failed",
    Phase.STOPPING: "interrupted",
}
"""Colour and shape of a status or phase; never the only sign, the word stands beside it."""

_OFFERS: Mapping[str, tuple[str, ...]] = {
    RunStatus.RUNNING: ("interrupt", "cancel"),
    RunStatus.INTERRUPTED: ("resume", "cancel"),
    RunStatus.FAILED: ("resume", "cancel"),
    RunStatus.AWAITING_CONFIRMATION: ("confirm", "rework", "reject", "cancel"),
}


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A run in plain words. `since` is when the present status or phase began, if known."""

    word: str
    tone: str
    headline: str
    reason: str
    waits: str
    can: str
    since: datetime
    offers: tuple[str, ...]
    needs_override: bool
    raised_limit: str | None
    next_at: datetime | None
    is_live: bool


@dataclass(frozen=True, kw_only=True)
class Badge:
    """The status word of one row."""

    word: str
    tone: str


def badge(run: Run, words: Catalogue) -> Badge:
    """A running run is named by its phase, a stop at a limit by the limit."""
    if run.phase is not None and run.phase.code != Phase.WORKING:
        code = run.phase.code
        return Badge(word=words.sentence("phase", code), tone=TONES.get(code, "running"))
    tone = TONES.get(run.status, "neutral")
    if run.status == RunStatus.INTERRUPTED and run.reason and run.reason.code in LIMITS:
        return Badge(word=words.text("Stopped by limit"), tone=tone)
    return Badge(word=words.sentence("status", run.status), tone=tone)


def situation(run: Run, words: Catalogue, *, by: str | None = None) -> Situation:
    """Everything the head of a run's page says. `by` is who interrupted it, if anybody did."""
    shown = badge(run, words)
    stopping = run.phase is not None and run.phase.code == Phase.STOPPING
    offers = _OFFERS.get(run.status, ())
    reason_code = run.reason.code if run.reason else None
    return Situation(
        word=shown.word,
        tone=shown.tone,
        headline=headline(run, words),
        reason=reason(run, words, by=by),
        waits=_waits(run, words),
        can=words.sentence("can", "stopping" if stopping else _can(run)),
        since=_since(run),
        offers=offers,
        needs_override=run.guardrail is not None and "resume" in offers,
        raised_limit=_limit_to_raise(reason_code),
        next_at=_next_at(run),
        is_live=run.status == RunStatus.RUNNING or run.stopping,
    )


def _can(run: Run) -> str:
    """Without a text so far there is none to edit."""
    if run.status in (RunStatus.INTERRUPTED, RunStatus.FAILED) and run.working_revision is None:
        return f"{run.status}_textless"
    return run.status


def _limit_to_raise(reason_code: str | None) -> str | None:
    """The limit that a resume must name."""
    if reason_code == Reason.PRICE_UNKNOWN:
        return Reason.LIMIT_COST
    return reason_code if reason_code in LIMITS else None


def reason(run: Run, words: Catalogue, *, by: str | None = None) -> str:
    """Why it stands where it stands, '' when the status needs no reason."""
    if run.reason is None:
        return ""
    code = run.reason.code
    if code == Reason.OPERATOR and by == Actor.TEMPORAL:
        code = "operator_temporal"
    params = {"score": run.score, "max_rounds": run.max_rounds, **run.reason.params, "by": by}
    if code == Reason.LIMIT_COST and run.currency:
        params |= {
            name: words.money(str(params[name]), run.currency)
            for name in ("limit", "used", "needed")
            if params.get(name) is not None
        }
    told = words.sentence("reason", code, params)
    cause = run.reason.params.get("code")
    if not isinstance(cause, str) or not cause:
        return told
    return words.text("%(sentence)s %(further)s") % {
        "sentence": told,
        "further": provider(cause, words),
    }


def at_round(run: Run) -> int:
    """The round at work or next; when nothing is left to do, the last one."""
    step = run.active_step or run.next_step
    return step.round if step is not None else run.current_round


def scored_before(run: Run) -> int | None:
    """The revision the score is of, if it is not the text that is offered or worked on."""
    shown = run.working_revision if run.offered_revision is None else run.offered_revision
    return None if run.score is None or run.scored_revision == shown else run.scored_revision


def rounds_of(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """A change of the limit of rounds in flat names, for sentences."""
    change = facts.get("max_rounds")
    if not isinstance(change, Mapping):
        return {}
    return {"rounds_before": change.get("from"), "rounds_after": change.get("to")}


def rounds_why(event: Mapping[str, Any] | None, most: int, words: Catalogue) -> str:
    """Why the limit of rounds is `most` and no more what it was at the start; '' when it is not."""
    if event is None:
        return ""
    more = event.get("extra_rounds")
    if event["type"] == EventType.RUN_REWORK and isinstance(more, int):
        told = words.text("sent back after round %(done)s: at most %(count)s more")
        return told % {"done": most - more, "count": more}
    return words.sentence("event", str(event["type"]), {**event, **rounds_of(event)})


def provider(code: str, words: Catalogue) -> str:
    """What a model server or the way to it did, as a sentence."""
    name, _, status = code.partition("_")
    if name == "http" and status.isdigit():
        return words.sentence("provider", "http", {"status": status})
    if code in codes.PROVIDER:
        return words.sentence("provider", code)
    return words.sentence("reason", code)


def headline(run: Run, words: Catalogue) -> str:
    """The step at work or next, in words."""
    step = run.active_step or run.next_step
    stage = step.name if step is not None else Stage.CONFIRM
    params: dict[str, Any] = {"max_rounds": run.max_rounds, "rounds": run.current_round}
    params["round"] = at_round(run)
    if run.status in (RunStatus.INTERRUPTED, RunStatus.FAILED) and stage in codes.STOPPED:
        return words.sentence("stopped", stage, params)
    if run.status not in ACTIVE and run.status != RunStatus.FAILED:
        stage = Stage.ENDED
    if stage in (Stage.CONFIRM, Stage.ENDED) and run.current_round == 1:
        return words.text("The loop has ended after one round")
    return words.sentence("stage", stage, params)


_HELD = frozenset({Phase.WAITING_RETRY, Phase.RATE_LIMITED, Phase.WORKER_LOST})


def held(run: Run, words: Catalogue) -> str:
    """What keeps a running run from its work, '' while nothing does."""
    return _waits(run, words) if run.phase is not None and run.phase.code in _HELD else ""


def _waits(run: Run, words: Catalogue) -> str:
    if run.phase is None:
        offered = run.offered_revision
        return words.sentence("waits", run.status, {"revision": offered})
    params = dict(run.phase.params)
    if params.get("worker"):
        params["worker"] = short(str(params["worker"]))
    error = params.get("last_error")
    if error:
        params["last_error_sentence"] = provider(str(error), words)
    if run.active_step is not None:
        params.setdefault("round", run.active_step.round)
        params.setdefault("step", words.sentence("step", run.active_step.name))
    return words.sentence("waits", run.phase.code, params)


def _next_at(run: Run) -> datetime | None:
    raw = run.phase.params.get("next_at") if run.phase is not None else None
    if isinstance(raw, datetime):
        return raw
    if not isinstance(raw, str):
        return None
    try:
        return datetime.fromisoformat(raw)
    except ValueError:
        return None


def _since(run: Run) -> datetime:
    if run.ended_at is not None:
        return run.ended_at
    if run.status == RunStatus.RUNNING:
        step = run.active_step
        return step.started_at if step is not None else run.last_progress_at
    return run.last_progress_at


def seconds(began: datetime | None, ended: datetime | None, now: datetime) -> float | None:
    """How long something took, or has taken so far."""
    if began is None:
        return None
    return ((ended or now) - began).total_seconds()
