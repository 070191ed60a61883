"""Sentences of the command line for statuses, reasons, phases, events and refusals.

The API sends codes and parameters, never sentences. What a model, a file or a provider wrote is
cleaned before it reaches a terminal: an escape sequence in a title would act on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.cli.language import sentence
from api.text_codes import STATUS

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
    "limit_calls": "./redraft resume {id} --limit calls=N, more than now",
    "limit_tokens": "./redraft resume {id} --limit tokens=N, more than now",
    "limit_cost": "./redraft resume {id} --limit cost=N, more than now",
    "limit_seconds": "./redraft resume {id} --limit seconds=N, more than now",
    "price_unknown": "./redraft resume {id} --profile NAME with a price, or --limit cost=none",
    "call_limit": "./redraft resume {id} --override, perhaps with --profile NAME",
    "spinning": "./redraft resume {id} --override, perhaps with --profile NAME",
    "refusal": "./redraft resume {id} --override, perhaps with --profile NAME",
    "provider_refused": "repair it (./redraft doctor asks it), then ./redraft resume {id}",
    "provider_unavailable": "./redraft doctor, then ./redraft resume {id}",
    "invalid_reply": "./redraft resume {id} --profile NAME with another model",
    "internal": "read the worker's log, then ./redraft resume {id}",
    "workflow_terminated": "./redraft resume {id}",
}

NEXT_BY_CODE = {
    "invalid_cursor": "ask for the list again from its beginning",
    "unsupported_media": "./redraft submit --help names the files that are read",
    "too_large": "split the text",
    "unpriced_profile": "give the profile prices, or leave the cost limit out",
    "unknown_revision": "./redraft show ID names the revisions",
    "not_found": "./redraft runs lists what is there, ./redraft show ID what belongs to one",
    "deleted": "./redraft runs lists what is there",
    "unauthenticated": "set REDRAFT_API_KEY",
    "forbidden": "use a key that may do this (REDRAFT_API_KEY)",
    "run_active": "go on with the active run, or cancel it first",
    "status_changed": "./redraft show ID says where the run is now",
    "stale_base": "./redraft show ID names the newest revision; edit that one",
    "offered_revision_changed": "look at the revision offered now, or add --override",
    "final_status": "submit it anew, or ./redraft fork ID --revision N",
    "limit_required": "raise the limit that stopped it: --limit NAME=VALUE",
    "guardrail_override_required": "add --override to go on once",
    "idempotency_in_progress": "wait a moment; the first request is still at work",
    "draining": "wait until the service takes new work again",
    "rate_limited": "wait a moment and try again",
    "unavailable": "try again soon; ./redraft doctor says what is missing",
    "disk_full": "make room on the disk of the service, then try again",
    "internal": "the API's log has the request id",
}

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
    word = status_word(status)
    return status if word.upper() == status else f"{status} ({word})"


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
    if told := sentence("waits", str(phase.get("code", "")), phase.get("params")):
        return told
    facts = _facts(phase.get("params") or {})
    return str(phase.get("code", "")).replace("_", " ") + (f" ({facts})" if facts else "")


def next_act(run: Json) -> str:
    """The command that goes on from here."""
    identity, status = str(run["id"]), run["status"]
    if status in ("INTERRUPTED", "FAILED"):
        code = (run.get("reason") or {}).get("code", "")
        return NEXT_BY_REASON.get(code, "./redraft resume {id}").format(id=identity)
    words = {
        "RUNNING": ("watch", "interrupt"),
        "AWAITING_CONFIRMATION": ("confirm", "rework", "reject", "export"),
        "CONFIRMED": ("export",),
    }.get(status, ())
    return ", or ".join(f"./redraft {word} {identity}" for word in words)


def event_sentence(event: Json) -> str:
    """One event as words: its type, its facts in the order they came, what a person said."""
    facts = {k: v for k, v in event.items() if k not in _UNSAID}
    said = facts.pop("comment", None)
    if isinstance(keys := event.get("keys"), list):
        facts["count"] = len(keys)
    told = sentence("event", str(event.get("type", "")), event)
    if told is None:
        told = f"{str(event.get('type', '')).replace('_', ' ')}: {_facts(facts)}".rstrip(": ")
    return f"{told} — {event.get('actor')} said: “{one_line(said, 500)}”" if said else told


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
