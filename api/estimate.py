"""`POST /api/estimate`: what a run would take, by the plans and prompts that the engine would make.

Everything that would be refused at the start is refused here, with the same pointers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Request

from activities.model.tokens import count
from api import queries, wire
from api.http import requests
from api.http.auth import needs
from api.http.bodies import accepts, json_body
from api.http.principals import Principal, Scope
from api.http.state import State, state_of
from api.moves import inserts
from api.moves.checks import require_price
from api.wire.estimate import CostSpan, Estimate, PlannedStep, Span, TokenSpans
from api.wire.types import money
from workflows import budget, pricing
from workflows.estimating import NOTHING, Asked, Range, StepEstimate, estimate
from workflows.kinds.kind import Kind, Material, SourceText
from workflows.vocabulary import SPEECH_PROFILE, StepName

router = APIRouter(tags=["documents"])


@router.post("/api/estimate", response_model=Estimate, openapi_extra=accepts(requests.Planned))
async def estimate_run(
    request: Request,
    principal: Annotated[Principal, needs(Scope.WRITE, content=True)],
    wanted: Annotated[requests.Planned, json_body(requests.Planned)],
) -> Estimate:
    """Calls, tokens and cost of the run that this would start, as ranges. Nothing is stored."""
    return await estimated(state_of(request), wanted)


async def estimated(state: State, wanted: requests.Planned) -> Estimate:
    """Raises what the start of such a run would raise."""
    document = wanted.planned()
    kind = inserts.check_document(state.kinds, document, recorded=wanted.audio_seconds is not None)
    async with state.pool.acquire() as connection:
        await inserts.require_profile(connection, wanted.profile, kind)
        limits = budget.changed({}, wanted.limits.named() if wanted.limits is not None else {})
        at, hears = f"/limits/{budget.COST}", wanted.audio_seconds is not None
        await require_price(connection, wanted.profile, limits, at, hears=hears)
        profile = await queries.newest_profile(connection, wanted.profile)
        assert profile is not None, "it was required"
        habits = await queries.habits(connection, profile.name, profile.model, kind.name)
        speech = await queries.newest_profile(connection, SPEECH_PROFILE)
    asked = Asked(
        kind=kind,
        material=_material(document),
        body=wanted.body,
        max_rounds=wanted.max_rounds,
        prompts=profile.prompts,
        habits=habits,
        recorded_seconds=wanted.audio_seconds,
        part_seconds=state.settings.speech_part_seconds,
        count=counter(),
    )
    return _answer(kind, profile, wanted, await planned_steps(asked, profile, speech))


_WHOLE = 100_000
"""Characters that are counted to the last; of a longer text as many, in pieces from all over it."""
_PIECES = 40


def counter() -> Callable[[str], int]:
    """Counts for one estimate, whose steps plan over the same lines."""
    return lru_cache(maxsize=100_000)(_count_some)


def _count_some(text: str) -> int:
    """Of a long text what its pieces let expect: an estimate is a range, and while a text of
    millions is counted the other requests wait."""
    if len(text) <= _WHOLE:
        return count(text)
    size = _WHOLE // _PIECES
    starts = [(len(text) - size) * at // (_PIECES - 1) for at in range(_PIECES)]
    return sum(count(text[at : at + size]) for at in starts) * len(text) // _WHOLE


async def planned_steps(
    asked: Asked, profile: wire.Profile, speech: wire.Profile | None
) -> list[PlannedStep]:
    """The steps with what they cost today, worked out in a thread."""
    steps, today = await asyncio.to_thread(estimate, asked), datetime.now(UTC).date()
    return [
        _heard(step, speech, asked.recorded_seconds or 0, today)
        if step.name is StepName.TRANSCRIBE
        else _step(step, profile, today)
        for step in steps
    ]


def _material(document: requests.NewDocument) -> Material:
    return Material(
        title=document.title,
        language=document.language,
        attributes={name: v for name, v in document.attributes.items() if v is not None},
        sources=tuple(
            SourceText(id=str(at), name=source.name, media_type=source.media_type, text=source.text)
            for at, source in enumerate(document.sources)
        ),
    )


def _heard(
    step: StepEstimate, speech: wire.Profile | None, seconds: float, today: date
) -> PlannedStep:
    """Sound is paid by the minute; what is silent is not sent."""
    prices, again = None if speech is None else speech.prices, step.repeats.high / step.parts.high
    least = pricing.sound(prices, seconds=seconds, at=today)
    most = pricing.sound(prices, seconds=seconds * (1 + again), at=today)
    return _planned(step, _cost(least, most), prices)


def _step(step: StepEstimate, profile: wire.Profile, today: date) -> PlannedStep:
    prices = profile.prices
    least = pricing.price(
        prices, input=step.input.low, output=step.output.low, cached=step.shared, at=today
    )
    most = pricing.price(prices, input=step.input.high, output=step.output.high, at=today)
    return _planned(step, _cost(least, most), prices)


def _planned(
    step: StepEstimate, cost: CostSpan | None, prices: Mapping[str, Any] | None
) -> PlannedStep:
    return PlannedStep(
        name=step.name,
        times=_span(step.times),
        parts=_span(step.parts),
        calls=_span(step.calls),
        repeats=_span(step.repeats),
        tokens=TokenSpans(input=_span(step.input), output=_span(step.output)),
        cost=cost,
        currency=pricing.currency(prices),
        replies="measured" if step.measured else "assumed",
    )


def _answer(
    kind: Kind, profile: wire.Profile, wanted: requests.Planned, steps: list[PlannedStep]
) -> Estimate:
    calls, tokens = sums_of(steps)
    costs = by_currency(steps)
    cost = next(iter(costs.values()), None) if len(costs) == 1 else None
    most = {
        budget.CALLS: Decimal(calls.max),
        budget.TOKENS: Decimal(tokens.input.max + tokens.output.max),
        **({budget.COST: Decimal(cost.max)} if cost is not None else {}),
    }
    limits = budget.read(wanted.limits.named() if wanted.limits is not None else {})
    return Estimate(
        kind=kind.name,
        profile=wire.ProfileRef(name=profile.name, version=profile.version),
        model=profile.model,
        begins_with=steps[0].name,
        rounds=Span(min=1, max=wanted.max_rounds),
        steps=steps,
        calls=calls,
        tokens=tokens,
        cost=cost,
        currency=next(iter(costs), pricing.currency(profile.prices)) if len(costs) < 2 else None,
        costs=costs,
        may_stop_at=[name for name, limit in limits.items() if most.get(name, limit) > limit],
    )


def sums_of(steps: list[PlannedStep]) -> tuple[Span, TokenSpans]:
    """Calls and tokens of all steps."""
    tokens = TokenSpans(
        input=_sum([step.tokens.input for step in steps]),
        output=_sum([step.tokens.output for step in steps]),
    )
    return _sum([step.calls for step in steps]), tokens


def _span(given: Range) -> Span:
    return Span(min=given.low, max=given.high)


def _sum(spans: list[Span]) -> Span:
    return _span(sum((Range(low=one.min, high=one.max) for one in spans), NOTHING))


def _cost(least: Decimal | None, most: Decimal | None) -> CostSpan | None:
    low, high = money(least), money(most)
    return None if low is None or high is None else CostSpan(min=low, max=high)


def by_currency(steps: list[PlannedStep]) -> dict[str, CostSpan]:
    """The sum in each; {} where a price is unknown. What is free costs nothing in any."""
    priced = [(step.currency, step.cost) for step in steps if step.currency and step.cost]
    if len(priced) < len(steps):
        return {}
    paid = [(name, cost) for name, cost in priced if Decimal(cost.max)] or priced[-1:]
    found = dict[str, CostSpan]()
    for name, cost in sorted(paid, key=lambda one: one[0]):
        before = found.get(name, CostSpan(min="0", max="0"))
        least, most = (Decimal(before.min), Decimal(before.max))
        total = _cost(least + Decimal(cost.min), most + Decimal(cost.max))
        assert total is not None, "both are known"
        found[name] = total
    return found
