"""Settings: profiles with their versions and what changed between them, switches, kinds, workers.

A key is never shown and never asked for: a profile names the variable that holds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import queries, wire
from api.files.secret_texts import looks_secret
from api.http.auth import needs
from api.http.bodies import fit, load_json
from api.http.errors import Refusal, not_found
from api.http.principals import Scope
from api.http.state import state_of
from api.moves.idempotency import Tools
from api.pages.errors import PageRoute
from api.pages.forms import Form, failed, go, perform_once, read_form
from api.pages.render import page, words_of
from api.profiles import NewProfile, append_version, problems
from api.texts.fields import KIND_LIMIT
from deploy.database import Connection
from workflows.kinds.kind import KindLimits
from workflows.vocabulary import ErrorCode

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READS = [needs(Scope.READ, content=False)]
CHANGES = [needs(Scope.ADMIN, content=False)]
_MOST = 200
PLAIN = ("model", "base_url", "key_env")
_NAMED = frozenset({"name", *PLAIN})
OBJECTS = ("parameters", "prices", "prompts", "fallback", "rate_limits")
FIELDS = frozenset({"name", *PLAIN, *OBJECTS})
_COMPARED = ("name", "model", "base_url", *OBJECTS)


@dataclass(frozen=True, kw_only=True)
class Change:
    """One field that differs between two versions."""

    field: str
    before: str
    after: str


@router.get("/settings", dependencies=READS)
async def settings(request: Request) -> Response:
    state = state_of(request)
    async with state.pool.acquire() as connection:
        profiles = await queries.profiles_page(connection, _MOST)
        workers = await queries.workers(connection)
        switches = await queries.switches(connection)
    return await page(
        request,
        "settings.html",
        section="/settings",
        profiles=profiles.items,
        workers=workers,
        switches=switches,
        kinds=[(kind, _sizes(kind.limits)) for _, kind in sorted(state.kinds.items())],
        retention=state.settings.body_retention_days,
    )


def _sizes(limits: KindLimits) -> dict[str, int]:
    """The limits that something holds, each with a sentence."""
    return {name: size for name, size in asdict(limits).items() if name in KIND_LIMIT}


@router.get("/settings/new-profile", dependencies=CHANGES)
async def new_profile(request: Request) -> Response:
    """An empty form, or the newest version of `?from=` to go on from."""
    name = request.query_params.get("from", "")
    newest = await _newest(request, name) if name else None
    typed = {} if newest is None else _shown(newest)
    if newest is not None:
        typed["key_env"] = await queries.key_variable(state_of(request).pool, newest.name) or ""
    return await _form_page(request, typed)


@router.get("/settings/profiles/{name}", dependencies=READS)
async def one_profile(request: Request, name: str) -> Response:
    """Every version with what changed in it."""
    found = await queries.profile_versions(state_of(request).pool, name.replace("\0", ""), _MOST)
    if found is None:
        raise not_found("profile")
    versions = found.items
    before: list[wire.Profile | None] = [*versions[1:], None]
    return await page(
        request,
        "profile.html",
        section="/settings",
        profile=versions[0],
        key_env=await queries.key_variable(state_of(request).pool, versions[0].name),
        versions=[
            {"version": version, "changes": changes(_shown(earlier), _shown(version))}
            for version, earlier in zip(versions, before, strict=True)
        ],
    )


@router.post("/settings/profiles", dependencies=CHANGES)
async def save_profile(request: Request) -> Response:
    """`look` shows what would change and stores nothing."""
    form = await read_form(request)
    try:
        wanted = _wanted(request, form)
        if found := problems(wanted, state_of(request).kinds):
            detail = f"{found[0][0]}: {found[0][2]}"
            raise Refusal(422, ErrorCode(found[0][1]), detail, errors=found)
        newest = await _newest(request, wanted.name)
        looked = changes(_shown(newest), _shown_new(wanted))
        if form["look"] or (not looked and await _same_key(request, newest, wanted)):
            return await _form_page(request, form, looked=looked, newest=newest)

        async def save(connection: Connection, tools: Tools) -> Any:
            return await append_version(connection, tools, wanted)

        await perform_once(request, form, save)
    except Refusal as refusal:
        if refusal.status_code not in (409, 422):
            raise
        why = failed(request, refusal, FIELDS)
        typed = _unrepeated(form, why.errors)
        return await _form_page(
            request, typed, status=why.status, refusal=why.notice, errors=why.errors
        )
    return go(f"/settings/profiles/{quote(wanted.name, safe='')}")


async def _same_key(request: Request, newest: wire.Profile | None, wanted: NewProfile) -> bool:
    """Also the variable of the key is that of the newest version: a save would change nothing."""
    if newest is None:
        return False
    return await queries.key_variable(state_of(request).pool, newest.name) == wanted.key_env


def _unrepeated(form: Form, errors: Mapping[str, str]) -> Mapping[str, str]:
    """What was typed, without what was refused where a key may have been put by mistake: a page
    that shows it again puts it before other eyes, and into the browser's memory."""
    return {
        name: value
        for name, value in form.items()
        if not (name in errors and (name in _NAMED or looks_secret(value)))
    }


async def _newest(request: Request, name: str) -> wire.Profile | None:
    found = await queries.profile_versions(state_of(request).pool, name.replace("\0", ""), 1)
    return found.items[0] if found is not None else None


async def _form_page(
    request: Request, typed: Mapping[str, str], *, status: int = 200, **more: Any
) -> Response:
    facts = {"looked": None, "newest": None, **more}
    return await page(
        request,
        "profile_new.html",
        status=status,
        section="/settings",
        typed=typed,
        objects=OBJECTS,
        **facts,
    )


def _wanted(request: Request, form: Form) -> NewProfile:
    """Raises 422 with each field whose JSON cannot be read, or that does not fit."""
    fields: dict[str, Any] = {"name": form["name"].strip(), "model": form["model"].strip()}
    fields |= {name: form[name].strip() for name in PLAIN[1:] if form[name].strip()}
    wrong = []
    for name in OBJECTS:
        if not form[name].strip():
            continue
        try:
            fields[name] = load_json(form[name], name)
        except (ValueError, RecursionError):
            told = words_of(request).text("This is not JSON.")
            wrong.append((f"/{name}", str(ErrorCode.INVALID_REQUEST), told))
    if wrong:
        raise Refusal(422, ErrorCode.INVALID_REQUEST, "not JSON", errors=wrong)
    return fit(NewProfile, fields)


def _as_text(value: Any) -> str:
    if value in (None, {}, ""):
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def _shown(profile: wire.Profile | None) -> dict[str, str]:
    if profile is None:
        return {}
    return {name: _as_text(getattr(profile, name)) for name in _COMPARED}


def _shown_new(wanted: NewProfile) -> dict[str, str]:
    return {
        name: _as_text(getattr(wanted, name)) for name in ("name", "model", "base_url", *OBJECTS)
    }


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Fields that are new, gone or different; prompts one by one."""
    found = []
    for field in after:
        if field == "prompts":
            found += _prompts(before.get(field, ""), after[field])
        elif before.get(field, "") != after[field] and field != "name":
            found.append(Change(field=field, before=before.get(field, ""), after=after[field]))
    return found


def _prompts(before: str, after: str) -> list[Change]:
    old, new = json.loads(before or "{}"), json.loads(after or "{}")
    return [
        Change(
            field=f"prompts: {name}", before=_as_text(old.get(name)), after=_as_text(new.get(name))
        )
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
