"""What the forms of the pages share: fields as typed, once per key, refusals beside fields.

Each form carries a key made by the server, so that sending it twice does the thing once. What a
person typed comes back with a refusal; nothing is lost.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from api.http import requests
from api.http.bodies import check_text
from api.http.errors import Refusal, misfit
from api.http.state import caller_of
from api.moves.idempotency import Answer, Done, Once, Tools, is_key, perform, tools_of
from api.pages import errors as pages_errors
from api.pages.render import HEADERS, Refused, words_of
from deploy.database import Connection, new_id
from workflows.vocabulary import ErrorCode

Command: TypeAlias = Callable[[Connection, Tools], Coroutine[Any, Any, Done]]

_FIELD_BYTES = 2 * requests.TEXT_BYTES
_PATIENCE = 5.0
_DIGITS = 15
"""More than any number here has; the conversion of thousands of digits fails by itself."""


class Form(dict[str, str]):
    """The fields as typed, with line breaks as documents have them; one that is missing is ''."""

    def __missing__(self, key: str) -> str:
        return ""


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Why a form did nothing: for the page, and by field."""

    status: int
    notice: Refused
    errors: Mapping[str, str]


async def read_form(request: Request) -> Form:
    """Raises 413 and 422 as the JSON routes do. The place where a CSRF token is checked, too."""
    return typed_in(await request.form(max_part_size=_FIELD_BYTES, max_files=0))


def typed_in(fields: FormData) -> Form:
    """What was typed; files are left aside."""
    found = Form()
    for name, value in fields.multi_items():
        if isinstance(value, UploadFile):
            continue
        text = value.replace("\r\n", "\n")
        check_text(text, f"/{name}")
        found[name] = text
    return found


def _once(request: Request, form: Form) -> Once:
    """Bound to all that was typed: the same key with another text is another request."""
    key = form["idempotency_key"] or new_id()
    if not is_key(key):
        raise misfit("/idempotency_key", "must be 1 to 255 visible ASCII characters")
    typed = {name: value for name, value in form.items() if name != "idempotency_key"}
    return Once(
        principal=caller_of(request).actor,
        method="POST",
        path=request.url.path,
        key=key,
        request_hash=hashlib.sha256(repr(sorted(typed.items())).encode()).hexdigest(),
    )


async def perform_once(request: Request, form: Form, command: Command) -> Answer:
    """Runs the command once for this form. A second click while the first is at work waits for
    its answer: the browser shows only the last one."""
    tools, once = tools_of(request), _once(request, form)
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while True:
        try:
            return await perform(tools, lambda connection: command(connection, tools), once)
        except Refusal as refusal:
            if refusal.code != ErrorCode.IDEMPOTENCY_IN_PROGRESS or loop.time() > until:
                raise
        await asyncio.sleep(0.05)


def go(path: str) -> Response:
    """After a form: a reload must not send it again."""
    return RedirectResponse(path, 303, headers=HEADERS)


_FIELD_OF = {"sources": "source", "limits": "limit", "base_revision": "body"}


def failed(
    request: Request,
    refusal: Refusal,
    fields: frozenset[str],
    places: Mapping[str, str] | None = None,
) -> Failed:
    """The refusal for the page; errors of unknown fields stand in the notice. `places` names the
    fields of pointers of two steps, such as `sources/0`."""
    words, errors, lines = words_of(request), dict[str, str](), list[str]()
    for entry in refusal.errors:
        steps = str(entry["pointer"]).strip("/").split("/")
        pointer, two = steps[0], "/".join(steps[:2])
        name = (places or {}).get(two) or _FIELD_OF.get(pointer, pointer)
        if pointer == "attributes" and len(steps) > 1:
            name = f"attribute-{steps[1]}"
        facts = {**refusal.params, **entry, "detail": words.told(str(entry["detail"]))}
        sentence = words.sentence("field", entry["code"], facts)
        if name in fields and pointer != "base_revision":
            errors.setdefault(name, sentence)
        else:
            lines.append(f"{pointer}: {sentence}" if pointer else sentence)
    notice = pages_errors.refused(request, refusal, lines=tuple(lines))
    return Failed(status=refusal.status_code, notice=notice, errors=errors)


def number(text: str) -> int | str:
    """A whole number, or the text as it is, which the model then refuses beside its field."""
    stripped = text.strip()
    plain = stripped.isascii() and stripped.isdigit() and len(stripped) <= _DIGITS
    return int(stripped) if plain else stripped


LIMITS = ("max_calls", "max_tokens", "max_cost", "max_seconds")


def limits(form: Form) -> dict[str, Any]:
    """The limits that were filled in; one that `no_limit` names is removed."""
    found: dict[str, Any] = {
        name: form[name].strip() if name == "max_cost" else number(form[name])
        for name in LIMITS
        if form[name].strip()
    }
    return found | {name: None for name in LIMITS if form["no_limit"] == name}


def given(form: Form, *names: str) -> dict[str, Any]:
    """The named fields that are not empty."""
    return {name: form[name] for name in names if form[name].strip()}


def run_path(answer: Answer) -> str:
    """The page of the run that was made."""
    assert answer.body is not None, "a run was made"
    return f"/runs/{answer.body['id']}"
