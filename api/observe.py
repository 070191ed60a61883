"""`GET /api/observe`: runs, times, tokens, cost, waste and stops of a range of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams

from api.filters import observe_scope
from api.http.auth import needs
from api.http.principals import Principal, Scope
from api.http.state import State, state_of
from api.observing import observe
from api.wire.observe import Observed

router = APIRouter(tags=["service"])
_DAY = timedelta(days=1)


@router.get("/api/observe", response_model=Observed)
async def get_observe(
    request: Request,
    principal: Annotated[Principal, needs(Scope.READ, content=False)],
) -> Observed:
    """`?from=` and `?to=` are RFC 3339 times (default: the last 24 hours), `?kind=` and `?profile=`
    narrow it, `?simulated=true` counts calls of the offline model too."""
    return await observed(state_of(request), request.query_params)


async def observed(state: State, params: QueryParams) -> Observed:
    """The answer for a query string; raises Refusal 422 with what does not fit."""
    now = datetime.now(UTC)
    scope = observe_scope(params, now - _DAY, now)
    simulated = state.settings.offline_model or params.get("simulated") == "true"
    return await observe(state.pool, scope, simulated=simulated)
