"""Request bodies: JSON read strictly, then laid on a pydantic model.

Strict: valid UTF-8, no NaN, no doubled keys, no deep nesting, nothing Postgres or an encoder cannot
hold (NUL, halves of surrogate pairs). Everything is refused with a pointer, before anything is
stored.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from api.http.errors import Refusal, from_pydantic, pointer_of
from api.http.requests import FORMS
from workflows.vocabulary import ErrorCode

Model = TypeVar("Model", bound=BaseModel)

MAX_DEPTH = 32
MAX_KEYS = 10_000
"""Of one object: more are no request, and each that nobody asked for would be answered."""
LONG = 50_000
"""Bytes of a body from which on it is read beside the loop: streams and other requests go on."""
MODELS: dict[str, type[BaseModel]] = {}
"""Request models by name, for the OpenAPI document."""


class _Doubled(dict[str, Any]):
    """An object that named a key twice; `key` is that one."""

    key: str = ""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled, seen = _Doubled(found), set[str]()
    for key, _ in pairs:
        if key in seen:
            doubled.key = key
        seen.add(key)
    return doubled


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _refuse(pointer: str, code: str, detail: str, **params: Any) -> Refusal:
    return Refusal(
        422, ErrorCode.INVALID_REQUEST, detail, params=params, errors=[(pointer, code, detail)]
    )


def _no_json(detail: str) -> Refusal:
    return Refusal(400, ErrorCode.INVALID_REQUEST, detail, errors=[("", "no_json", detail)])


def check_text(text: str, pointer: str) -> None:
    """Raises 422 when Postgres or an encoder could not hold this text."""
    at = text.find("\0")
    if at >= 0:
        raise _refuse(pointer, "nul", f"holds NUL at character {at}", position=at)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refuse(
            pointer,
            "lone_surrogate",
            f"holds half of a surrogate pair at character {error.start}",
            position=error.start,
        ) from None


def _check(value: Any, path: tuple[int | str, ...]) -> None:
    if len(path) > MAX_DEPTH:
        raise _refuse("", "too_deep", f"nested deeper than {MAX_DEPTH}", limit=MAX_DEPTH)
    if isinstance(value, str):
        check_text(value, pointer_of(path))
    elif isinstance(value, dict):
        if isinstance(value, _Doubled):
            check_text(value.key, pointer_of(path))
            raise _refuse(pointer_of((*path, value.key)), "doubled_key", "this key stands twice")
        if len(value) > MAX_KEYS:
            detail = f"holds {len(value)} keys; at most {MAX_KEYS} are read"
            raise _refuse(pointer_of(path), "too_many_keys", detail, limit=MAX_KEYS)
        for key, entry in value.items():
            check_text(key, pointer_of(path))
            _check(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _check(entry, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        raise _refuse(pointer_of(path), "not_finite", "this number is too large")


def load_json(text: str, *path: int | str) -> Any:
    """One JSON value, from a body or a field of a form at `path`. Raises ValueError or
    RecursionError when it is none, Refusal 422 when it holds what cannot be stored."""
    value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    _check(value, path)
    return value


def parse_json(raw: bytes) -> Any:
    """One JSON value. 400 when it is none, 422 when it holds what cannot be stored."""
    try:
        return load_json(raw.decode())
    except UnicodeDecodeError as error:
        raise _no_json(f"the body is no valid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise _no_json(f"the body is no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise _refuse("", "too_deep", f"nested deeper than {MAX_DEPTH}", limit=MAX_DEPTH) from None
    except ValueError as error:
        raise _no_json(f"the body is no JSON: {error}"[:200]) from None


def fit(model: type[Model], value: Any, *, prefix: tuple[str, ...] = ()) -> Model:
    """The value as this model; 422 with one entry a field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        for entry in found:
            pattern = str(entry.get("ctx", {}).get("pattern"))
            entry["msg"] = FORMS.get(pattern, entry["msg"])
        raise from_pydantic(found, prefix=prefix) from None


def is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").lower().startswith("multipart/form-data")


async def read_json(request: Request, model: type[Model]) -> Model:
    """The request's JSON body as this model; no body at all is `{}`."""
    raw = await request.body()
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if raw and media_type != "application/json" and not media_type.endswith("+json"):
        raise Refusal(
            415,
            ErrorCode.UNSUPPORTED_MEDIA,
            "send the header `Content-Type: application/json`",
            params={"media_type": media_type},
        )
    if len(raw) > LONG:
        return await asyncio.to_thread(_read, raw, model)
    return _read(raw, model)


def _read(raw: bytes, model: type[Model]) -> Model:
    value = parse_json(raw) if raw.strip() else {}
    if not isinstance(value, dict):
        raise _refuse("", "object_type", "the body must be a JSON object")
    return fit(model, value)


def json_body(model: type[Model]) -> Any:
    """The dependency `Annotated[Model, json_body(Model)]`."""

    async def read(request: Request) -> Model:
        return await read_json(request, model)

    return Depends(read)


def filters(*names: str) -> dict[str, Any]:
    """`openapi_extra` of a list whose filters `api.filters` parses."""
    text = {"type": "string"}
    found = [{"name": name, "in": "query", "required": False, "schema": text} for name in names]
    return {"parameters": found}


def accepts(model: type[BaseModel], *, form: Callable[[], dict[str, Any]] | None = None) -> Any:
    """`openapi_extra` of a route that reads this model with `json_body`."""
    MODELS[model.__name__] = model
    content: dict[str, Any] = {
        "application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    }
    if form is not None:
        content["multipart/form-data"] = {"schema": form()}
    required = any(field.is_required() for field in model.model_fields.values())
    return {"requestBody": {"required": required, "content": content}}
