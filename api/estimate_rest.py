"""`GET /api/runs/{id}/estimate`: what the rest of a run would take, for who sets its next limit.

Made like the estimate before a start, of the text as it is now and the rounds that are left.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Request

from api import queries, wire
from api.estimate import by_currency, counter, planned_steps, sums_of
from api.http.auth import needs
from api.http.errors import not_found
from api.http.paths import RunId
from api.http.principals import Principal, Scope
from api.http.state import State, state_of
from api.moves import inserts
from api.moves.idempotency import web_of
from api.wire.estimate import CostSpan, Rest, Span, TokenSpans
from api.wire.types import money
from workflows import budget
from workflows.estimating import Asked
from workflows.kinds.kind import Material, SourceText
from workflows.vocabulary import StepName

router = APIRouter(tags=["runs"])
_NOTHING = Span(min=0, max=0)


@router.get("/api/runs/{run_id}/estimate", response_model=Rest)
async def estimate_rest(
    run_id: RunId,
    request: Request,
    principal: Annotated[Principal, needs(Scope.READ, content=False)],
) -> Rest:
    """What the rounds that are left may take, and limits that are likely to be enough for them."""
    state = state_of(request)
    run = await queries.run(state.pool, run_id, web=web_of(state))
    if run is None:
        raise not_found("run")
    return await rest_of(state, run)


async def rest_of(state: State, run: wire.Run) -> Rest:
    """Nothing for a run that goes no further. Raises 404, and 422 where its kind is gone."""
    if run.next_step is None:
        return _answer(run, _NOTHING, _NOTHING, TokenSpans(input=_NOTHING, output=_NOTHING), {})
    asked, profile = await _asked(state, run)
    steps = await planned_steps(asked, profile, None)
    calls, tokens = sums_of(steps)
    return _answer(run, Span(min=1, max=asked.max_rounds), calls, tokens, by_currency(steps))


async def _asked(state: State, run: wire.Run) -> tuple[Asked, wire.Profile]:
    kind = inserts.find_kind(state.kinds, run.kind)
    async with state.pool.acquire() as connection:
        document = await queries.document(connection, run.document_id)
        profile = await queries.newest_profile(connection, run.profile.name)
        if document is None or profile is None:
            raise not_found("run")
        sources = await queries.sources_in_force(connection, run.document_id)
        number, body = run.working_revision, None
        if number is not None:
            revision = await queries.revision(connection, run.document_id, number)
            body = None if revision is None else revision.body
        habits = await queries.habits(connection, profile.name, profile.model, kind.name)
    material = Material(
        title=document.title,
        language=document.language,
        attributes={name: v for name, v in document.attributes.items() if v is not None},
        sources=tuple(
            SourceText(id=one.id, name=one.name, media_type=one.media_type, text=one.text)
            for one in sources
        ),
    )
    begun = run.next_step is not None and run.next_step.name == StepName.REFINE
    asked = Asked(
        kind=kind,
        material=material,
        body=body,
        max_rounds=max(1, run.max_rounds - run.current_round + begun),
        prompts=profile.prompts,
        habits=habits,
        part_seconds=state.settings.speech_part_seconds,
        count=counter(),
    )
    return asked, profile


def _answer(
    run: wire.Run, rounds: Span, calls: Span, tokens: TokenSpans, costs: dict[str, CostSpan]
) -> Rest:
    cost = next(iter(costs.values()), None) if len(costs) == 1 else None
    currency = next(iter(costs), None) if cost is not None else None
    used = (run.tokens.input or 0) + (run.tokens.output or 0)
    enough: dict[str, int | str] = {
        budget.CALLS: run.calls + calls.max,
        budget.TOKENS: used + tokens.input.max + tokens.output.max,
    }
    paid = Decimal(0) if not run.costs else None
    if run.cost is not None:
        paid = (
            Decimal(run.cost) if run.currency in (None, currency) or not Decimal(run.cost) else None
        )
    if cost is not None and paid is not None:
        total = money(paid + Decimal(cost.max))
        assert total is not None, "both are known"
        enough[budget.COST] = total
    return Rest(
        rounds=rounds, calls=calls, tokens=tokens, cost=cost, currency=currency, limits=enough
    )
