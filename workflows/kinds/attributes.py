"""Attributes of a document, checked field by field; which fields there are is the kind's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from workflows.kinds.kind import Kind, Payload

Check = Callable[[Any], str | None]
"""The problem as an English sentence, or None."""


class Type(StrEnum):
    """What a field holds, for forms and command lines; the check of the field decides."""

    TEXT = "text"
    NUMBER = "number"
    AMOUNT = "amount"
    DATE = "date"
    LIST = "list"


_TYPES: dict[Check, Type] = {}


def of_type(type_: Type) -> Callable[[Check], Check]:
    """Marks a check with what it asks for; one without a mark asks for a text."""

    def mark(check: Check) -> Check:
        _TYPES[check] = type_
        return check

    return mark


_LONGEST = 2000
_MOST = 500
_LONGEST_ZONE = 64


def string(value: Any) -> str | None:
    if not isinstance(value, str):
        return "This must be a text."
    return None if len(value) <= _LONGEST else f"At most {_LONGEST} characters."


@of_type(Type.DATE)
def calendar_date(value: Any) -> str | None:
    try:
        date.fromisoformat(value)
    except (TypeError, ValueError):
        return "This must be a date like 2026-11-29."
    return None


def timezone(value: Any) -> str | None:
    """An IANA name by its form; whether it exists is known where the zone data is."""
    if (
        isinstance(value, str)
        and len(value) <= _LONGEST_ZONE
        and re.fullmatch(r"[A-Za-z][A-Za-z0-9_+\-]*(/[A-Za-z0-9_+\-]+)*", value)
    ):
        return None
    return "This must be a time zone like Europe/Berlin."


@of_type(Type.NUMBER)
def count(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        return "This must be a whole number from 1 to 1000."
    return None


@of_type(Type.NUMBER)
def days(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 60:
        return "This must be a whole number from 1 to 60."
    return None


@of_type(Type.AMOUNT)
def amount(value: Any) -> str | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}(\.\d{1,4})?", value):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        return "This must be an amount that is not negative."
    return None


def currency(value: Any) -> str | None:
    if isinstance(value, str) and re.fullmatch(r"[A-Z]{3}", value):
        return None
    return "This must be a currency like EUR."


def strings(value: Any) -> list[tuple[str, str]]:
    """Problems of a list of texts, with the pointer of each below the field."""
    if not isinstance(value, list):
        return [("", "This must be a list of texts.")]
    if len(value) > _MOST:
        return [("", f"At most {_MOST} entries.")]
    return [(f"/{at}", problem) for at, entry in enumerate(value) if (problem := string(entry))]


ListCheck = Callable[[Any], list[tuple[str, str]]]


def types_of(fields: Mapping[str, Check], lists: Mapping[str, ListCheck]) -> Mapping[str, Type]:
    """What each attribute holds, in the order of the kind."""
    return {name: _TYPES.get(check, Type.TEXT) for name, check in fields.items()} | dict.fromkeys(
        lists, Type.LIST
    )


@runtime_checkable
class TypesAttributes(Protocol):
    """A kind that says what its attributes hold."""

    @property
    def attribute_types(self) -> Mapping[str, Type]:
        """In the order in which forms ask for them."""
        ...


def types_of_kind(kind: Kind) -> Mapping[str, Type]:
    """The same of an installed kind; one that does not say it takes texts."""
    if isinstance(kind, TypesAttributes):
        return kind.attribute_types
    return dict.fromkeys(sorted(kind.attribute_names), Type.TEXT)


def check_fields(
    attributes: Payload, fields: Mapping[str, Check], lists: Mapping[str, ListCheck]
) -> list[tuple[str, str]]:
    """Problems as (pointer below /attributes, sentence). A null counts as not given."""
    problems: list[tuple[str, str]] = []
    for name, value in attributes.items():
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        if name not in fields and name not in lists:
            problems.append((pointer, "This kind has no such attribute."))
        elif value is None:
            continue
        elif name in lists:
            problems += [(pointer + below, problem) for below, problem in lists[name](value)]
        elif (problem := fields[name](value)) is not None:
            problems.append((pointer, problem))
    return problems
