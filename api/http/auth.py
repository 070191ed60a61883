"""Who asks, what they may do, and what each route demands: scope and content class.

One principal for now: `local` without configuration, `api_key` behind REDRAFT_API_KEY. Every route
declares `needs(scope, content=...)`; a test walks all routes and fails where one does not.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, Request

from api.http.errors import Refusal
from api.http.principals import KEY_HOLDER, LOCAL, NOBODY, Principal, Scope
from api.http.state import principal_of
from deploy.settings import Settings
from workflows.vocabulary import ErrorCode


@dataclass(frozen=True, kw_only=True)
class Need:
    """The dependency that `needs` makes: checks the principal that `api.http.edge` found."""

    scope: Scope
    content: bool

    def __call__(self, request: Request) -> Principal:
        principal = principal_of(request)
        if self.scope not in principal.scopes or (self.content and not principal.sees_content):
            if principal is NOBODY:
                raise unauthenticated()
            raise Refusal(
                403,
                ErrorCode.FORBIDDEN,
                f"{principal.name} has no right to {self.scope} here",
                params={"scope": str(self.scope)},
            )
        return principal


def needs(scope: Scope, *, content: bool) -> Any:
    """What a route demands: `Annotated[Principal, needs(Scope.READ, content=True)]`, or in its
    `dependencies`. `content` says whether it shows texts of documents."""
    return Depends(Need(scope=scope, content=content))


def unauthenticated() -> Refusal:
    return Refusal(
        401,
        ErrorCode.UNAUTHENTICATED,
        "send the header `Authorization: Bearer KEY` with the value of REDRAFT_API_KEY",
        headers={"WWW-Authenticate": 'Bearer, Basic realm="Redraft"'},
    )


def _sent_key(authorization: str) -> str | None:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":  # a browser's own dialogue: any name, the key as password
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return None
    return None


def authenticate(settings: Settings, authorization: str | None) -> Principal:
    """The principal of a request; NOBODY when a key is configured and another or none was sent."""
    if not settings.api_key:
        return LOCAL
    sent = _sent_key(authorization or "")
    if sent is not None and hmac.compare_digest(sent.encode(), settings.api_key.encode()):
        return KEY_HOLDER
    return NOBODY


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_open_door(settings: Settings) -> str | None:
    """Why the API must not start with these settings, or None."""
    if settings.api_key or is_loopback(settings.api_host):
        return None
    return (
        f"api: REDRAFT_API_HOST is {settings.api_host}, which other machines can reach; "
        "set REDRAFT_API_KEY to a long random text, or bind 127.0.0.1."
    )
