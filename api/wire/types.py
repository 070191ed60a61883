"""What the models of answers are made of: times, money, pages, and the filter of content.

Fields of `CONTENT` hold what people or models wrote; all others are status.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

Entry = TypeVar("Entry")


def money(amount: Decimal | None) -> str | None:
    """A decimal string without trailing zeros; None stays None: an unknown price is not 0."""
    if amount is None:
        return None
    plain = f"{amount:f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) or "0"


def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC with `Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


Time: TypeAlias = Annotated[datetime, PlainSerializer(timestamp, return_type=str, when_used="json")]
Money: TypeAlias = Annotated[
    str | None, Field(description="decimal string, null when the price is unknown")
]


class Wire(BaseModel):
    """What every answer is: frozen, and nothing unknown slips in."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    CONTENT: ClassVar[frozenset[str]] = frozenset()


def without_content(answer: BaseModel) -> dict[str, Any]:
    """The answer as JSON values with every content field null, also in the rows of a page."""
    hidden: frozenset[str] = getattr(answer, "CONTENT", frozenset())
    dumped = answer.model_dump(mode="json", by_alias=True)
    for name, field in type(answer).model_fields.items():
        key, value = field.serialization_alias or name, getattr(answer, name)
        if name in hidden:
            if key in dumped:  # a field may be left out while it says nothing
                dumped[key] = None
        elif isinstance(value, BaseModel):
            dumped[key] = without_content(value)
        elif isinstance(value, list) and value and isinstance(value[0], BaseModel):
            dumped[key] = [without_content(row) for row in value]
    return dumped


class NextStep(Wire):
    """What a run does next, or on resume."""

    name: str
    round: int


class Event(BaseModel):
    """Code and facts of what happened; the facts stand beside the fixed fields. `comment` is what a
    person said with it: only there when something was said."""

    model_config = ConfigDict(frozen=True, extra="allow")
    CONTENT: ClassVar[frozenset[str]] = frozenset({"comment"})

    seq: int
    type: str
    at: Time
    actor: str
    request_id: str | None
    comment: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Page(Wire, Generic[Entry]):
    """One page of a list. `total` and `by_status` are there only with `?count=true`."""

    items: list[Entry]
    next_cursor: str | None = None
    total: int | None = Field(default=None, exclude_if=lambda value: value is None)
    by_status: dict[str, int] | None = Field(default=None, exclude_if=lambda value: value is None)
