"""Sentences of the command line for statuses, reasons, phases, events and refusals.

The API sends codes and parameters, never sentences. What a model, a file or a provider wrote is
cleaned before it reaches a terminal: an escape sequence in a title would act on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.cli.language import page_sentence, sentence, tell, word
from api.http.short_ids import short
from api.texts.codes import N_, STATUS

Json = Mapping[str, Any]

REASONS = {
    "operator": "stopped by the operator",
    "limit_calls": "its limit of model calls is reached",
    "limit_tokens": "the next call may pass its limit of tokens",
    "limit_cost": "the next call may pass its cost limit",
    "limit_seconds": "its time limit is reached",
    "price_unknown": "it has a cost limit, but the price of the model is not known",
    "call_limit": "guardrail: too many model calls for one part",
    "spinning": "guardrail: the model repeats itself or adds nothing",
    "refusal": "guardrail: the model refused",
    "provider_refused": "the model provider refuses (key, quota, model or length)",
    "provider_unavailable": "the model provider was away too long",
    "invalid_reply": "the model's replies cannot be used",
    "internal": "a fault of Redraft; the worker's log says which",
    "workflow_terminated": "its workflow was terminated in Temporal",
    "passed": "the review passed",
    "round_limit": "all rounds are used",
    "no_progress": "another round would bring nothing",
}

NEXT_BY_REASON = {
    "operator": "./redraft resume {id}",
    "limit_calls": N_("./redraft resume {id} --limit {limit}=N, more than now"),
    "limit_tokens": N_("./redraft resume {id} --limit {limit}=N, more than now"),
    "limit_cost": N_("./redraft resume {id} --limit {limit}=N, more than now"),
    "limit_seconds": N_("./redraft resume {id} --limit {limit}=N, more than now"),
    "price_unknown": N_("./redraft resume {id} --profile NAME with a price, or --limit cost=none"),
    "call_limit": N_("./redraft resume {id} --override, perhaps with --profile NAME"),
    "spinning": N_("./redraft resume {id} --override, perhaps with --profile NAME"),
    "refusal": N_("./redraft resume {id} --override, perhaps with --profile NAME"),
    "provider_refused": N_("repair it (./redraft doctor asks it), then ./redraft resume {id}"),
    "provider_unavailable": N_("./redraft doctor, then ./redraft resume {id}"),
    "invalid_reply": N_("./redraft resume {id} --profile NAME with another model"),
    "internal": N_("read the worker's log, then ./redraft resume {id}"),
    "workflow_terminated": "./redraft resume {id}",
}

NEXT_BY_CODE = {
    "invalid_cursor": N_("ask for the list again from its beginning"),
    "unsupported_media": N_("./redraft submit --help names the files that are read"),
    "too_large": N_("split the text"),
    "unpriced_profile": N_("give the profile prices, or leave the cost limit out"),
    "unknown_revision": N_("./redraft show ID names the revisions"),
    "not_found": N_("./redraft runs lists what is there, ./redraft show ID what belongs to one"),
    "deleted": N_("./redraft runs lists what is there"),
    "unauthenticated": N_("set REDRAFT_API_KEY"),
    "forbidden": N_("use a key that may do this (REDRAFT_API_KEY)"),
    "run_active": N_("go on with the active run, or cancel it first"),
    "status_changed": N_("./redraft show ID says where the run is now"),
    "stale_base": N_("./redraft show ID names the newest revision; edit that one"),
    "offered_revision_changed": N_("look at the revision offered now, or add --override"),
    "final_status": N_("submit it anew, or ./redraft fork ID --revision N"),
    "limit_required": N_("raise the limit that stopped it: --limit NAME=VALUE"),
    "guardrail_override_required": N_("add --override to go on once"),
    "idempotency_in_progress": N_("wait a moment; the first request is still at work"),
    "draining": N_("wait until the service takes new work again"),
    "rate_limited": N_("wait a moment and try again"),
    "unavailable": N_("try again soon; ./redraft doctor says what is missing"),
    "disk_full": N_("make room on the disk of the service, then try again"),
    "internal": N_("the API's log has the request id"),
}

LIMITS = {f"limit_{name}": name for name in ("calls", "tokens", "cost", "seconds")}

STATUS_STYLES = {
    "RUNNING": "cyan",
    "INTERRUPTED": "yellow",
    "AWAITING_CONFIRMATION": "magenta",
    "CONFIRMED": "green",
    "REJECTED": "red",
    "FAILED": "bold red",
    "CANCELLED": "dim",
}

_UNSAID = ("seq", "type", "at", "actor", "request_id", "run_id", "from", "to", "keys")
"""Of an event: its frame, and what its type says already."""
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F])
_CONTROLS = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (9, 10)}
_FOREIGN = {**_BIDI, **_CONTROLS}


def status_word(status: str) -> str:
    """What the pages call it."""
    return sentence("status", status) or STATUS.get(status, (status,))[0]


def status_words(status: str) -> str:
    """The code, and the word of the pages where it is another one."""
    named = status_word(status)
    return status if named.upper() == status else f"{status} ({named})"


def clean(value: object) -> str:
    """Text of unknown origin without control characters and direction overrides."""
    return str(value).translate(_FOREIGN)


def one_line(value: object, limit: int = 200) -> str:
    text = " ".join(clean(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def reason_sentence(run: Json) -> str:
    """Why the run stands where it stands; empty when its status needs no reason."""
    reason = run.get("reason") or {}
    code = reason.get("code")
    if not code:
        return ""
    params = reason.get("params") or {}
    if told := sentence("reason", str(code), {**run, **params}):
        return told
    facts = _facts(params)
    return REASONS.get(str(code), str(code)) + (f" ({facts})" if facts else "")


def phase_sentence(run: Json) -> str:
    """What a RUNNING run is doing right now."""
    phase = run.get("phase") or {}
    params = dict(phase.get("params") or {})
    if params.get("worker"):
        params["worker"] = short(str(params["worker"]))
    step = run.get("active_step") or {}
    at_step = {"round": step.get("round"), "step": sentence("step", str(step.get("name")))}
    if told := sentence("waits", str(phase.get("code", "")), {**at_step, **params}):
        return told
    facts = _facts(params)
    return str(phase.get("code", "")).replace("_", " ") + (f" ({facts})" if facts else "")


def next_act(run: Json) -> str:
    """The command that goes on from here."""
    identity, status = str(run["id"]), run["status"]
    if status in ("INTERRUPTED", "FAILED"):
        return _next_by_reason(identity, run.get("reason") or {})
    words = {
        "RUNNING": ("watch", "interrupt"),
        "AWAITING_CONFIRMATION": ("confirm", "rework", "reject", "export"),
        "CONFIRMED": ("export",),
    }.get(status, ())
    return word(N_(", or ")).join(f"./redraft {name} {identity}" for name in words)


def _next_by_reason(identity: str, reason: Json) -> str:
    """After a stop at a limit with the number that is enough for the next call, if it is known."""
    code, params = str(reason.get("code", "")), reason.get("params") or {}
    limit = LIMITS.get(code)
    if limit and params.get("needed") is not None:
        more = N_("./redraft resume {id} --limit {limit}={needed} or more (now {now})")
        return tell(more, id=identity, limit=limit, needed=params["needed"], now=params["limit"])
    act = NEXT_BY_REASON.get(code, "./redraft resume {id}")
    return tell(act, id=identity, limit=limit)


def event_sentence(event: Json) -> str:
    """One event as words: the sentence of the pages, why, its amounts, what a person said."""
    type_ = str(event.get("type", ""))
    told = page_sentence("event", type_, _known(event))
    if told is None:
        facts = {k: v for k, v in event.items() if k not in _UNSAID}
        told = f"{type_.replace('_', ' ')}: {_facts(facts)}".rstrip(": ")
    line = " · ".join([told, *_details(event)])
    if not (said := event.get("comment")):
        return line
    return tell(
        "{what} — {who} said: “{said}”", what=line, who=event.get("actor"), said=one_line(said, 500)
    )


def _known(event: Json) -> dict[str, Any]:
    """The facts of an event as the places of its sentence are named."""
    known = dict(event)
    if isinstance(keys := event.get("keys"), list):
        known["count"] = len(keys)
    if isinstance(change := event.get("max_rounds"), Mapping):
        known |= {"rounds_before": change.get("from"), "rounds_after": change.get("to")}
    if isinstance(worker := event.get("worker"), str):
        known["worker"] = short(worker)
    return {"name": event.get("step"), **known}


def _details(event: Json) -> list[str]:
    """What the sentence leaves out and whoever watches wants to know."""
    found = []
    code = event.get("reason") or event.get("reason_code") or event.get("end_cause")
    if isinstance(code, str):
        found.append(reason_sentence({"reason": {"code": code, "params": _why(event)}}))
    if event.get("type") == "step_succeeded" and event.get("score") is not None:
        found.append(tell("score {score}", score=event["score"]))
    if isinstance(tokens := event.get("tokens"), Mapping):
        used = {name: _short(tokens.get(name) or 0) for name in ("input", "output")}
        found.append(tell("{input} tokens in, {output} out", **used))
    if comments := event.get("comment_ids"):
        found.append(tell("comments: {count}", count=len(comments)))
    if locks := event.get("locks"):
        found.append(tell("locks: {count}", count=locks))
    return found


def _why(event: Json) -> dict[str, Any]:
    """The facts of an event that are those of its reason."""
    named = ("limit", "used", "needed", "calls", "http_status")
    return {name: event[name] for name in named if event.get(name) is not None}


def event_line(event: Json) -> str:
    """Time of day, number and sentence, as `watch` prints them in a pipe."""
    at = str(event.get("at", ""))[11:19]
    return f"{at}  {event.get('seq', ''):>4}  {clean(event_sentence(event))}"


def _facts(params: Json) -> str:
    shown = {k: v for k, v in params.items() if v not in (None, "", [], {}) and k[-3:] != "_id"}
    return one_line(", ".join(f"{k.replace('_', ' ')} {_short(v)}" for k, v in shown.items()))


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{k} {_short(v)}" for k, v in value.items() if v not in (None, ""))
    if isinstance(value, list):
        return ", ".join(_short(entry) for entry in value[:5]) + ("…" if value[5:] else "")
    return str(value)
