"""Who may ask, and what for: a principal has scopes, and sees texts or not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workflows.vocabulary import Actor


class Scope(StrEnum):
    """What a principal may do. `health` is open to everybody."""

    HEALTH = "health"
    READ = "read"
    WRITE = "write"
    OPERATE = "operate"
    DECIDE = "decide"
    ADMIN = "admin"


@dataclass(frozen=True, kw_only=True)
class Principal:
    """A person or program. `sees_content` is what separates operating from reading."""

    name: str
    scopes: frozenset[Scope]
    sees_content: bool = True


LOCAL = Principal(name=Actor.LOCAL, scopes=frozenset(Scope))
KEY_HOLDER = Principal(name="api_key", scopes=frozenset(Scope))
NOBODY = Principal(name="nobody", scopes=frozenset({Scope.HEALTH}), sees_content=False)
