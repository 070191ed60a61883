"""The OpenAPI document, its snapshot (`deploy/openapi.json`), and `/docs` made of it.

The snapshot is held equal to the document by `check`.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic.json_schema import models_json_schema
from starlette.responses import HTMLResponse

from api.http import docs_page as docs_page_of
from api.http.auth import Need
from api.http.bodies import MODELS
from workflows.vocabulary import ErrorCode

PRODUCT_VERSION = "0.1.0"
_REF = "#/components/schemas/{model}"
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "1 to 255 visible ASCII characters, kept 24 hours. Answers of commands that "
    "took effect are kept and replayed; refusals and 5xx are not, so the key may be tried again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "request_id", "params", "errors"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "English; pages translate by code"},
        "code": {"$ref": "#/components/schemas/ErrorCode"},
        "request_id": {"type": "string"},
        "params": {"type": "object"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string", "description": "JSON pointer"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
        "run": {"$ref": "#/components/schemas/Run"},
    },
}


def build(app: FastAPI) -> dict[str, Any]:
    """The document of this application; made once a process."""
    if app.openapi_schema is None:
        document = get_openapi(
            title="Redraft",
            version=PRODUCT_VERSION,
            description="Durable review and refinement of documents that matter.",
            routes=app.routes,
        )
        _complete(document)
        app.openapi_schema = document
    return app.openapi_schema


def _complete(document: dict[str, Any]) -> None:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    models = [(model, "validation") for _, model in sorted(MODELS.items())]
    _, definitions = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]
    schemas.update(definitions.get("$defs", {}))
    schemas["ErrorCode"] = {"type": "string", "enum": [str(code) for code in ErrorCode]}
    schemas["Problem"] = _PROBLEM
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operations in document["paths"].values():
        for method, operation in operations.items():
            _complete_operation(method, operation)


def _complete_operation(method: str, operation: dict[str, Any]) -> None:
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = {
        "description": "Refused",
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    if method == "post":
        operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)


def docs_page(app: FastAPI, style: str) -> HTMLResponse:
    """The document for people."""
    return HTMLResponse(docs_page_of.render(build(app), [str(code) for code in ErrorCode], style))


def _routes(app: FastAPI) -> list[APIRoute]:
    found = (context.original_route for context in iter_route_contexts(app.routes))
    return [route for route in found if isinstance(route, APIRoute)]


def count_routes(app: FastAPI) -> int:
    return len(_routes(app))


def unscoped(app: FastAPI) -> list[str]:
    """Routes that declare no scope; the list must be empty."""
    found = []
    for route in _routes(app):
        calls = [dependency.call for dependency in route.dependant.dependencies]
        if not any(isinstance(call, Need) for call in calls):
            found.append(f"{' '.join(sorted(route.methods or ()))} {route.path}")
    return found
