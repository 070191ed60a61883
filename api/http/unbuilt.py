"""Routes of the contract whose issue has not built them yet: 501 `not_built`.

They are not in the OpenAPI document; when one is built, its line here goes.
"""

from __future__ import annotations

from fastapi import APIRouter

from api.http.auth import needs
from api.http.errors import Refusal
from api.http.principals import Scope
from workflows.vocabulary import ErrorCode

NOT_BUILT: tuple[tuple[str, str, Scope], ...] = (
    ("GET", "/api/keys", Scope.ADMIN),
    ("POST", "/api/keys", Scope.ADMIN),
    ("DELETE", "/api/keys", Scope.ADMIN),
    ("DELETE", "/api/keys/{key_id}", Scope.ADMIN),
    ("GET", "/api/me", Scope.READ),
    ("GET", "/api/audit", Scope.ADMIN),
    ("GET", "/api/webhook-deliveries", Scope.ADMIN),
    ("POST", "/api/webhook-deliveries/{delivery_id}/redeliver", Scope.ADMIN),
)

router = APIRouter(include_in_schema=False)


async def _not_built() -> None:
    raise Refusal(501, ErrorCode.NOT_BUILT, "this route is not built yet")


for _method, _path, _scope in NOT_BUILT:
    router.add_api_route(
        _path, _not_built, methods=[_method], dependencies=[needs(_scope, content=True)]
    )
