"""What a list may be asked for, from a query string; unknown names and values are refused.

Words may be repeated or joined by commas: `?tag=a,b` is `?tag=a&tag=b`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from starlette.datastructures import QueryParams

from api.http import cursors, times
from api.http.errors import Refusal
from api.queries.calls import CallFilter
from api.queries.observe import Scope
from api.queries.run_filters import RunFilter
from deploy.database import clean
from workflows.vocabulary import CallStatus, ErrorCode, Phase, Reason, RunStatus, StepName

PAGE_NAMES = frozenset({"limit", "cursor", "count"})
_RUN_NAMES = frozenset(
    {"status", "kind", "phase", "tag", "actor", "document_id", "q", "from", "to"}
)
_CALL_NAMES = frozenset({"run_id", "status", "model", "profile", "step", "end_cause", "from", "to"})
_OBSERVE_NAMES = frozenset({"from", "to", "kind", "profile", "simulated"})
_LONGEST = 300
_LONGEST_RANGE = timedelta(days=400)


def run_filter(params: QueryParams) -> RunFilter:
    """The filter of `GET /api/runs`; raises Refusal 422 with the name of what does not fit."""
    _check_names(params, _RUN_NAMES)
    return RunFilter(
        statuses=_words(params, "status", RunStatus),
        kinds=_words(params, "kind"),
        phases=_words(params, "phase", Phase),
        tags=_words(params, "tag"),
        actors=_words(params, "actor"),
        document_id=_id(params, "document_id"),
        q=clean(_short("q", params.get("q", ""))).strip(),
        from_=_time(params, "from"),
        to=_time(params, "to"),
    )


def call_filter(params: QueryParams) -> CallFilter:
    """The filter of `GET /api/calls`; raises Refusal 422."""
    _check_names(params, _CALL_NAMES)
    return CallFilter(
        run_id=_id(params, "run_id"),
        status=_word(params, "status", CallStatus),
        model=_one(params, "model"),
        profile=_one(params, "profile"),
        step=_word(params, "step", StepName),
        end_cause=_word(params, "end_cause", Reason),
        from_=_time(params, "from"),
        to=_time(params, "to"),
    )


def observe_scope(params: QueryParams, earliest: datetime, latest: datetime) -> Scope:
    """The range of `GET /api/observe`, where nothing is said from `earliest` to `latest`; raises
    Refusal 422."""
    _check_names(params, _OBSERVE_NAMES)
    to = _time(params, "to") or latest
    from_ = _time(params, "from") or min(earliest, to - (latest - earliest))
    if not from_ < to:
        raise _refused("from", "before `to`")
    if to - from_ > _LONGEST_RANGE:
        raise _refused("from", f"at most {_LONGEST_RANGE.days} days before `to`")
    return Scope(from_=from_, to=to, kind=_one(params, "kind"), profile=_one(params, "profile"))


def _refused(name: str, wanted: str) -> Refusal:
    code = ErrorCode.INVALID_REQUEST
    return Refusal(
        422,
        code,
        f"{name}: must be {wanted}",
        params={"name": name},
        errors=[(f"/{name}", str(code), f"must be {wanted}")],
    )


def _check_names(params: QueryParams, known: frozenset[str]) -> None:
    for name in params:
        if name not in known | PAGE_NAMES:
            raise _refused(name, "left out, it is no filter of this list")


def _short(name: str, value: str) -> str:
    if len(value) > _LONGEST:
        raise _refused(name, f"at most {_LONGEST} characters")
    return value


def _one(params: QueryParams, name: str) -> str | None:
    return clean(_short(name, params.get(name, ""))) or None


def _words(params: QueryParams, name: str, known: type[StrEnum] | None = None) -> tuple[str, ...]:
    given: Iterable[str] = (
        word.strip() for value in params.getlist(name) for word in _short(name, value).split(",")
    )
    words = tuple(dict.fromkeys(clean(word) for word in given if word))
    if known is not None and not set(words) <= set(known):
        raise _refused(name, "one of " + ", ".join(known))
    return words


def _word(params: QueryParams, name: str, known: type[StrEnum]) -> str | None:
    words = _words(params, name, known)
    if len(words) > 1:
        raise _refused(name, "one word")
    return words[0] if words else None


def _id(params: QueryParams, name: str) -> str | None:
    value = params.get(name)
    if value and not cursors.is_uuid(value):
        raise _refused(name, "an id")
    return value or None


def _time(params: QueryParams, name: str) -> datetime | None:
    value = params.get(name)
    if not value:
        return None
    try:
        written = value.upper().replace(" ", "+")  # `+` in a query string is a space
        at = datetime.fromisoformat(written)
        if at.tzinfo is None or "T" not in written:
            raise ValueError(value)
    except ValueError as error:
        raise _refused(name, "an RFC 3339 time such as 2026-01-31T12:00:00Z") from error
    try:
        return times.within(at)
    except ValueError as error:
        raise _refused(name, times.WANTED) from error
