"""Answers about the service itself: profiles, kinds, workers, switches."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.wire.types import Time, Wire


class Profile(Wire):
    """One version. Of the key it says only whether the variable is set in the API's environment."""

    name: str
    version: int
    model: str
    base_url: str | None
    key_set: bool
    parameters: dict[str, Any]
    prices: dict[str, Any] | None
    prompts: dict[str, Any]
    fallback: Any
    rate_limits: dict[str, Any]
    actor: str
    created_at: Time


class KindInfo(Wire):
    """A kind of document; `reply_schemas` by step name, `sample` a body of `POST /api/runs`.

    `attribute_types` says what each attribute holds (text, number, amount, date, list), in the
    order in which forms ask for them; `drafts` whether a run may begin without a body, and
    `templates` by which: name, title, language ('' for all), headings.
    """

    name: str
    version: str
    languages: list[str]
    limits: dict[str, int]
    attributes: list[str]
    attribute_types: dict[str, str] = Field(default_factory=dict)
    drafts: bool = False
    templates: list[dict[str, Any]] = Field(default_factory=list)
    reply_schemas: dict[str, Any]
    sample: dict[str, Any] | None


class Worker(Wire):
    """`alive` is false after its goodbye or 15 s without a sign."""

    id: str
    machine: str
    build: str | None
    slots: int
    in_flight: int
    alive: bool
    registered_at: Time
    seen_at: Time
    goodbye_at: Time | None


class Switches(Wire):
    draining: bool
    note: str | None
    actor: str | None
    updated_at: Time | None
