"""The last known facts of lists, for the time in which the database does not answer.

Held by this process alone, for few addresses; a page made of them says how old they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import Request

from api.http.state import principal_of, state_of
from api.pages.viewer import viewer_of

MOST = 32


@dataclass(frozen=True, kw_only=True)
class Known:
    """Facts of a page, and when they were read."""

    facts: Mapping[str, Any]
    at: datetime


class _Kept(OrderedDict[tuple[str, ...], Known]):
    """By address, language and person; the oldest first."""


def _name(request: Request) -> tuple[str, ...]:
    url = request.url
    return (url.path, url.query, viewer_of(request).locale, principal_of(request).name)


def remember(request: Request, facts: Mapping[str, Any]) -> None:
    """What this address showed to this person in this language."""
    kept, name = state_of(request).one(_Kept), _name(request)
    kept[name] = Known(facts=facts, at=datetime.now(UTC))
    kept.move_to_end(name)
    while len(kept) > MOST:
        kept.popitem(last=False)


def recall(request: Request) -> Known | None:
    return state_of(request).one(_Kept).get(_name(request))
