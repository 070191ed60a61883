"""A strict check of one item against the part of JSON Schema that reply schemas use.

type (one or several), properties, required, additionalProperties, items, enum, const, minimum,
maximum, minLength, maxLength, minItems, maxItems, anyOf. Two leniencies, both without guessing: a
property that is not in the schema is dropped, and a missing one that may be null is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any]


class InvalidItemError(Exception):
    """The value does not satisfy the schema. Holds a JSON pointer, no content."""


def item_schema(reply: Schema) -> Schema:
    """The schema of one item in the schema of a whole reply; {} takes any object."""
    found: Any = reply
    for name in ("properties", "items", "items"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def fitted(value: Any, schema: Schema, pointer: str = "") -> Any:
    """The value without unknown properties. Raises InvalidItemError with the first misfit."""
    if "anyOf" in schema:
        return _any_of(value, schema["anyOf"], pointer)
    _check(_has_type(value, schema.get("type")), pointer)
    _check("enum" not in schema or value in schema["enum"], pointer)
    _check("const" not in schema or value == schema["const"], pointer)
    if isinstance(value, dict):
        return _object(value, schema, pointer)
    if isinstance(value, list):
        _within(len(value), schema, "minItems", "maxItems", pointer)
        inner = schema.get("items", {})
        return [fitted(entry, inner, f"{pointer}/{at}") for at, entry in enumerate(value)]
    if isinstance(value, str):
        _within(len(value), schema, "minLength", "maxLength", pointer)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _within(value, schema, "minimum", "maximum", pointer)
    return value


def _object(value: dict[str, Any], schema: Schema, pointer: str) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return value
    fit = {} if schema.get("additionalProperties") is False else dict(value)
    for name, inner in properties.items():
        if name in value:
            fit[name] = fitted(value[name], inner, f"{pointer}/{name}")
        elif name in schema.get("required", ()):
            _check(inner.get("type") is not None and _has_type(None, inner["type"]), pointer)
            fit[name] = None
    return fit


def _any_of(value: Any, choices: Any, pointer: str) -> Any:
    for schema in choices:
        try:
            return fitted(value, schema, pointer)
        except InvalidItemError:
            continue
    raise InvalidItemError(pointer or "/")


def _check(holds: bool, pointer: str) -> None:
    if not holds:
        raise InvalidItemError(pointer or "/")


def _within(size: float, schema: Schema, low: str, high: str, pointer: str) -> None:
    _check(low not in schema or size >= schema[low], pointer)
    _check(high not in schema or size <= schema[high], pointer)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, float) and value.is_integer())
    ),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def _has_type(value: Any, types: Any) -> bool:
    if types is None:
        return True
    names = (types,) if isinstance(types, str) else types
    return any(name in _TYPES and _TYPES[name](value) for name in names)
