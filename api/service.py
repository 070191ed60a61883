"""Routes of the service itself: kinds, profiles, switches, codes, version, health, metrics."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import version as installed
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from api import queries, wire
from api.commands import set_draining
from api.http import cursors, health, metrics, requests
from api.http.auth import needs
from api.http.bodies import accepts, json_body
from api.http.openapi import PRODUCT_VERSION
from api.http.paths import Page, or_404
from api.http.principals import Principal, Scope
from api.http.state import state_of
from api.moves.idempotency import perform, respond, tools_of
from api.profiles import NewProfile, append_version
from api.wire.profiles import ProfileBody, SwitchesBody
from deploy.migrations import HEAD
from workflows.kinds.attributes import types_of_kind
from workflows.kinds.kind import Kind
from workflows.kinds.templates import templates_of_kind
from workflows.vocabulary import ErrorCode, EventType, Reason

DATA_FORMAT = 1

router = APIRouter(tags=["service"])
Reads = Annotated[Principal, needs(Scope.READ, content=False)]
Open = needs(Scope.HEALTH, content=False)


class Codes(BaseModel):
    """The closed lists of codes."""

    items: list[str]
    next_cursor: None = None
    reasons: list[str]
    events: list[str]


class Version(BaseModel):
    """What runs here. `engine` is null while Temporal does not answer, `schema` while the database
    does not."""

    product: str
    schema_: str | None = Field(serialization_alias="schema")
    schema_needed: str
    data_format: int
    engine: str | None
    python: str
    sdk: dict[str, str]
    offline_model: bool


class Health(BaseModel):
    status: str
    problems: list[str] = []


def _kind(kind: Kind) -> wire.KindInfo:
    sample = kind.sample()
    return wire.KindInfo(
        name=kind.name,
        version=kind.version,
        languages=list(kind.languages),
        limits=asdict(kind.limits),
        attributes=sorted(kind.attribute_names),
        attribute_types=dict(types_of_kind(kind)),
        drafts=kind.drafts_without_body(),
        templates=[template.told() for template in templates_of_kind(kind)],
        reply_schemas={str(step): dict(schema) for step, schema in kind.schemas.items()},
        sample=None if sample is None else dict(sample),
    )


@router.get("/api/kinds", response_model=wire.Page[wire.KindInfo])
async def list_kinds(request: Request, page: Page, principal: Reads) -> wire.Page[wire.KindInfo]:
    """The kinds that are installed, by name, each with a sample to post."""
    kinds = state_of(request).kinds
    behind = "" if page.cursor is None else cursors.decode_name("kinds", page.cursor)
    names = [name for name in sorted(kinds) if name > behind]
    shown, more = names[: page.limit], len(names) > page.limit
    return wire.Page[wire.KindInfo](
        items=[_kind(kinds[name]) for name in shown],
        next_cursor=cursors.encode("kinds", (shown[-1],)) if more else None,
        total=len(kinds) if page.count else None,
    )


@router.get("/api/profiles", response_model=wire.Page[wire.Profile])
async def list_profiles(request: Request, page: Page, principal: Reads) -> wire.Page[wire.Profile]:
    """The newest version of each."""
    pool = state_of(request).pool
    return await queries.profiles_page(pool, page.limit, page.cursor, page.count)


@router.post(
    "/api/profiles",
    status_code=201,
    response_model=wire.Profile,
    openapi_extra=accepts(ProfileBody),
)
async def create_profile(
    request: Request,
    principal: Annotated[Principal, needs(Scope.ADMIN, content=False)],
    wanted: Annotated[NewProfile, json_body(NewProfile)],
) -> Response:
    """A new version, or version 1 of a new profile. `key_set` says whether the key is there for the
    API; a profile whose key is not set yet is taken."""
    tools = tools_of(request)
    return await respond(request, lambda c: append_version(c, tools, wanted), wanted)


@router.get("/api/profiles/{name}/versions", response_model=wire.Page[wire.Profile])
async def list_profile_versions(
    name: str, request: Request, page: Page, principal: Reads
) -> wire.Page[wire.Profile]:
    """Newest first."""
    pool = state_of(request).pool
    found = await queries.profile_versions(
        pool, name.replace("\0", ""), page.limit, page.cursor, page.count
    )
    return or_404(found, "profile")


@router.get("/api/switches", response_model=wire.Switches)
async def get_switches(request: Request, principal: Reads) -> wire.Switches:
    return await queries.switches(state_of(request).pool)


@router.put(
    "/api/switches",
    response_model=wire.Switches,
    openapi_extra=accepts(SwitchesBody),
)
async def put_switches(
    request: Request,
    principal: Annotated[Principal, needs(Scope.ADMIN, content=False)],
    wanted: Annotated[requests.SwitchesChange, json_body(requests.SwitchesChange)],
) -> Response:
    """While draining nothing starts or resumes; what is in flight is not touched."""
    tools = tools_of(request)
    answer = await perform(tools, lambda c: set_draining(c, tools, wanted))
    return answer.response()


@router.get("/api/codes", response_model=Codes)
async def list_codes(principal: Reads) -> Codes:
    """Codes of refusals; beside them reasons of runs, steps and calls, and types of events."""
    return Codes(
        items=[str(code) for code in ErrorCode],
        reasons=[str(reason) for reason in Reason],
        events=[str(event) for event in EventType],
    )


@router.get("/api/version", response_model=Version)
async def get_version(request: Request, principal: Reads) -> Version:
    """Versions of product, schema, data format, engine and SDKs."""
    state = state_of(request)
    return Version(
        product=PRODUCT_VERSION,
        schema_=await health.schema_version(state.pool),
        schema_needed=HEAD,
        data_format=DATA_FORMAT,
        engine=await state.signals.server_version(),
        python=platform.python_version(),
        sdk={name: installed(name) for name in ("temporalio", "openai", "fastapi")},
        offline_model=state.settings.offline_model,
    )


@router.get("/healthz", dependencies=[Open], response_model=Health)
async def healthz() -> Health:
    """The process answers. No store is asked."""
    return Health(status="ok")


@router.get("/readyz", dependencies=[Open], response_model=Health)
async def readyz(request: Request) -> JSONResponse:
    """Whether commands can be taken: database there and writable, schema not behind."""
    state = state_of(request)
    problems = await health.problems(state)
    found = Health(status="unready" if problems else "ok", problems=problems)
    return JSONResponse(found.model_dump(), 503 if problems else 200)


@router.get("/metrics", include_in_schema=False, dependencies=[needs(Scope.READ, content=False)])
async def get_metrics() -> Response:
    """Counters of this process, as Prometheus reads them."""
    return Response(metrics.render(), media_type=metrics.MEDIA_TYPE)
