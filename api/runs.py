"""Routes of runs: what stands in their rows, and the moves that people make."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import commands, queries, wire
from api.files import run_form
from api.filters import call_filter, run_filter
from api.http import requests
from api.http.auth import needs
from api.http.bodies import accepts, filters, is_form, json_body, read_json
from api.http.paths import Page, RunId, or_404
from api.http.principals import Principal, Scope
from api.http.state import state_of
from api.moves import bulk, forks, issues, resume, rework
from api.moves.idempotency import respond, tools_of, web_of
from api.wire import bulk as wire_bulk
from api.wire.reading import RunRead

router = APIRouter(tags=["runs"])
Reads = Annotated[Principal, needs(Scope.READ, content=False)]
ReadsContent = Annotated[Principal, needs(Scope.READ, content=True)]
Operates = Annotated[Principal, needs(Scope.OPERATE, content=False)]
Decides = Annotated[Principal, needs(Scope.DECIDE, content=True)]


@router.post(
    "/api/runs",
    status_code=201,
    response_model=RunRead,
    openapi_extra=accepts(requests.NewDocumentRun, form=run_form.run_schema),
)
async def create(
    request: Request, principal: Annotated[Principal, needs(Scope.WRITE, content=True)]
) -> Response:
    """A document and its run at once, as JSON or as a form with files."""
    tools = tools_of(request)
    if is_form(request):
        async with run_form.reading(request) as sent:
            return await respond(request, lambda c: sent.create(c, tools), sent.bound())
    wanted = await read_json(request, requests.NewDocumentRun)
    return await respond(
        request, lambda c: commands.create_document_and_run(c, tools, wanted), wanted
    )


@router.get(
    "/api/runs",
    response_model=wire.Page[wire.Run],
    openapi_extra=filters(
        "status", "kind", "phase", "tag", "actor", "document_id", "q", "from", "to"
    ),
)
async def list_runs(request: Request, page: Page, principal: Reads) -> wire.Page[wire.Run]:
    """Newest first. Filters may be repeated or joined by commas; `q` searches titles and texts."""
    state = state_of(request)
    return await queries.runs_page(
        state.pool,
        run_filter(request.query_params),
        page.limit,
        page.cursor,
        page.count,
        web=web_of(state),
    )


@router.post("/api/runs/bulk", response_model=wire_bulk.Bulk, openapi_extra=accepts(requests.Bulk))
async def bulk_runs(
    request: Request,
    principal: Operates,
    wanted: Annotated[requests.Bulk, json_body(requests.Bulk)],
) -> Response:
    """Interrupts, resumes or cancels the runs named, or those a filter finds. `more`: the filter
    matches further runs; send it again."""
    tools = tools_of(request)
    return await respond(request, lambda c: bulk.bulk(c, tools, wanted), wanted)


@router.get("/api/runs/{run_id}", response_model=wire.Run)
async def get_run(run_id: RunId, request: Request, principal: Reads) -> wire.Run:
    state = state_of(request)
    return or_404(await queries.run(state.pool, run_id, web=web_of(state)), "run")


@router.get("/api/runs/{run_id}/steps", response_model=wire.Page[wire.Step])
async def list_steps(
    run_id: RunId, request: Request, page: Page, principal: Reads
) -> wire.Page[wire.Step]:
    """By seq: every execution, also those that were stopped."""
    pool = state_of(request).pool
    found = await queries.steps_page(pool, run_id, page.limit, page.cursor, page.count)
    return or_404(found, "run")


@router.get("/api/runs/{run_id}/items", response_model=wire.Page[wire.Item])
async def list_items(
    run_id: RunId, request: Request, page: Page, principal: ReadsContent
) -> wire.Page[wire.Item]:
    """What was kept of the steps, in the order of arrival."""
    pool = state_of(request).pool
    found = await queries.items_page(pool, run_id, page.limit, page.cursor, page.count)
    return or_404(found, "run")


@router.get("/api/runs/{run_id}/calls", response_model=wire.Page[wire.Call])
async def list_calls(
    run_id: RunId, request: Request, page: Page, principal: Reads
) -> wire.Page[wire.Call]:
    """The run's requests to models, in the order they began."""
    pool = state_of(request).pool
    found = await queries.calls_page(pool, run_id, page.limit, page.cursor, page.count)
    return or_404(found, "run")


@router.get("/api/runs/{run_id}/issues", response_model=wire.Page[wire.Issue])
async def list_issues(
    run_id: RunId, request: Request, page: Page, principal: ReadsContent
) -> wire.Page[wire.Issue]:
    """By number, the order in which they were raised."""
    pool = state_of(request).pool
    found = await queries.issues_page(pool, run_id, page.limit, page.cursor, page.count)
    return or_404(found, "run")


@router.patch(
    "/api/runs/{run_id}/issues/{issue_id}",
    response_model=wire.Issue,
    openapi_extra=accepts(requests.IssueChange),
)
async def change_issue(
    run_id: RunId,
    issue_id: str,
    request: Request,
    principal: Decides,
    wanted: Annotated[requests.IssueChange, json_body(requests.IssueChange)],
) -> Response:
    """Waives an issue, or opens one that is waived or counts as fixed; the next step goes by it."""
    tools = tools_of(request)
    return await respond(
        request, lambda c: issues.change_issue(c, tools, run_id, issue_id, wanted), wanted
    )


@router.get(
    "/api/calls",
    response_model=wire.Page[wire.Call],
    openapi_extra=filters("run_id", "status", "model", "profile", "step", "from", "to"),
)
async def all_calls(request: Request, page: Page, principal: Reads) -> wire.Page[wire.Call]:
    """The call log, newest first."""
    pool = state_of(request).pool
    wanted = call_filter(request.query_params)
    return await queries.calls_all_page(pool, wanted, page.limit, page.cursor, page.count)


@router.get("/api/calls/{call_id}", response_model=wire.CallWithBody)
async def get_call(call_id: str, request: Request, principal: ReadsContent) -> wire.CallWithBody:
    """One call with what was said in it, as far as it is still kept."""
    return or_404(await queries.call(state_of(request).pool, call_id), "call")


@router.post(
    "/api/runs/{run_id}/interrupt",
    status_code=202,
    response_model=wire.Run,
    openapi_extra=accepts(requests.Interrupt),
)
async def interrupt(
    run_id: RunId,
    request: Request,
    principal: Operates,
    wanted: Annotated[requests.Interrupt, json_body(requests.Interrupt)],
) -> Response:
    """RUNNING -> INTERRUPTED; what was paid for stays."""
    tools = tools_of(request)
    return await respond(request, lambda c: commands.interrupt(c, tools, run_id, wanted), wanted)


@router.post(
    "/api/runs/{run_id}/resume",
    status_code=202,
    response_model=wire.Run,
    openapi_extra=accepts(requests.Resume),
)
async def resume_run(
    run_id: RunId,
    request: Request,
    principal: Operates,
    wanted: Annotated[requests.Resume, json_body(requests.Resume)],
) -> Response:
    """INTERRUPTED or FAILED -> RUNNING, from the checkpoint or from a text that comes with it."""
    tools = tools_of(request)
    return await respond(request, lambda c: resume.resume(c, tools, run_id, wanted), wanted)


@router.post(
    "/api/runs/{run_id}/confirm",
    response_model=wire.Run,
    openapi_extra=accepts(requests.Confirm),
)
async def confirm(
    run_id: RunId,
    request: Request,
    principal: Decides,
    wanted: Annotated[requests.Confirm, json_body(requests.Confirm)],
) -> Response:
    """AWAITING_CONFIRMATION -> CONFIRMED, naming the revision."""
    tools = tools_of(request)
    return await respond(request, lambda c: commands.confirm(c, tools, run_id, wanted), wanted)


@router.post(
    "/api/runs/{run_id}/reject",
    response_model=wire.Run,
    openapi_extra=accepts(requests.Reject),
)
async def reject(
    run_id: RunId,
    request: Request,
    principal: Decides,
    wanted: Annotated[requests.Reject, json_body(requests.Reject)],
) -> Response:
    """AWAITING_CONFIRMATION -> REJECTED."""
    tools = tools_of(request)
    return await respond(request, lambda c: commands.reject(c, tools, run_id, wanted), wanted)


@router.post(
    "/api/runs/{run_id}/rework",
    status_code=202,
    response_model=wire.Run,
    openapi_extra=accepts(requests.Rework),
)
async def rework_run(
    run_id: RunId,
    request: Request,
    principal: Decides,
    wanted: Annotated[requests.Rework, json_body(requests.Rework)],
) -> Response:
    """AWAITING_CONFIRMATION -> RUNNING, with what the person wants changed, kept and decided."""
    tools = tools_of(request)
    return await respond(request, lambda c: rework.rework(c, tools, run_id, wanted), wanted)


@router.post(
    "/api/runs/{run_id}/cancel",
    status_code=202,
    response_model=wire.Run,
    openapi_extra=accepts(requests.Cancel),
)
async def cancel(
    run_id: RunId,
    request: Request,
    principal: Operates,
    wanted: Annotated[requests.Cancel, json_body(requests.Cancel)],
) -> Response:
    """Any status that is not final -> CANCELLED."""
    tools = tools_of(request)
    return await respond(request, lambda c: commands.cancel(c, tools, run_id, wanted), wanted)


@router.post(
    "/api/runs/{run_id}/fork",
    status_code=201,
    response_model=wire.Document,
    openapi_extra=accepts(requests.Fork),
)
async def fork(
    run_id: RunId,
    request: Request,
    principal: Annotated[Principal, needs(Scope.WRITE, content=True)],
    wanted: Annotated[requests.Fork, json_body(requests.Fork)],
) -> Response:
    """A new document that begins with one of this document's revisions."""
    tools = tools_of(request)
    return await respond(request, lambda c: forks.fork(c, tools, run_id, wanted), wanted)
