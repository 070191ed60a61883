"""Reads a reply while it arrives: `{"items": [{…}, …], …}`, each item handed on when it is whole.

Every character is looked at once. What is not a plain reply, and what becomes of it:
- text, a code fence or one leading `<think>` block around the object: skipped; only text: no
  object, so the reply is not complete;
- a list, or two objects, at the top level; nesting deeper than 64; `items` missing, twice, or no
  list; broken JSON: a fault, items handed on before it stay;
- an item with NaN, Infinity, a duplicate key, or that does not satisfy its schema: not handed on,
  the others are, the reply has a fault;
- a list that is not closed: never complete, whatever could be made of it;
- line breaks inside strings: taken as they are. NUL is removed, lone surrogates become U+FFFD;
- other top-level fields that do not satisfy their schema: left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NoReturn

from activities.model.schema import InvalidItemError, Schema, fitted, item_schema
from deploy.database import clean

DEEPEST = 64
_STRUCTURE = re.compile(r'["{}\[\]:,]')
_IN_STRING = re.compile(r'["\\]')
_FIRST = re.compile(r"[{\[]")
_BRACKET = re.compile(r"[{}\[\]]")
_THINKING = ("<think>", "<thinking>")


class _Place(Enum):
    BEFORE = auto()
    THINKING = auto()
    PROSE = auto()
    INSIDE = auto()
    AFTER = auto()


@dataclass(frozen=True, kw_only=True)
class ReplyEnd:
    """`complete` = the whole object closed properly and every item in it was good."""

    complete: bool
    fault: str | None
    extras: Mapping[str, Any] = field(default_factory=dict)


class ReplyParser:
    """Feed it cleaned text in any pieces. Errors of `on_item` pass through."""

    def __init__(self, schema: Schema, on_item: Callable[[Mapping[str, Any]], None]) -> None:
        self.items = 0
        self.invalid = 0
        self.broken: str | None = None
        """Set when nothing that still arrives can make this a reply."""
        self._schema = schema
        self._item_schema = item_schema(schema)
        self._on_item = on_item
        self._place = _Place.BEFORE
        self._head = ""
        self._close_tag = ""
        self._depth = 0
        self._string = self._escaped = False
        self._key_next = self._in_items = False
        self._key: list[str] | None = None
        self._last_key = ""
        self._item: list[str] | None = None
        self._frame: list[str] = []
        """The object without its items, each of which is a 0 here: small, and parsed once."""

    def feed(self, text: str) -> None:
        if not text or self.broken:
            return
        if self._place in (_Place.BEFORE, _Place.THINKING, _Place.PROSE):
            text = self._before(text)
        if text and self._place is _Place.INSIDE:
            text = text[self._inside(text) :]
        if text and self._place is _Place.AFTER and _BRACKET.search(text):
            self.broken = "two_objects"

    @property
    def closed(self) -> bool:
        return self._place is _Place.AFTER

    @property
    def thinking(self) -> bool:
        """All that came so far is a block of thinking that is still open."""
        return self._place is _Place.THINKING

    def end(self) -> ReplyEnd:
        if self.broken or not self.closed:
            return ReplyEnd(complete=False, fault=self.broken or self._unclosed())
        try:
            whole = _loads("".join(self._frame))
        except ValueError:
            return ReplyEnd(complete=False, fault="broken_json")
        listed = whole.get("items") if isinstance(whole, dict) else None
        if not isinstance(listed, list):
            return ReplyEnd(complete=False, fault="no_items")
        extras = self._extras(whole)
        if self.invalid or len(listed) != self.items or any(entry != 0 for entry in listed):
            return ReplyEnd(complete=False, fault="invalid_item", extras=extras)
        return ReplyEnd(complete=True, fault=None, extras=extras)

    def _unclosed(self) -> str:
        return "unclosed" if self._place is _Place.INSIDE else "no_object"

    def _extras(self, whole: Mapping[str, Any]) -> Mapping[str, Any]:
        properties = self._schema.get("properties", {})
        extras = {}
        for name, value in whole.items():
            if name == "items":
                continue
            try:
                extras[name] = fitted(value, properties.get(name, {}))
            except InvalidItemError:
                continue
        return extras

    def _before(self, text: str) -> str:
        """Skips what stands before the object; returns the rest, beginning with its brace."""
        text = self._head + text
        self._head = ""
        if self._place is _Place.BEFORE:
            text = text.lstrip()
            tag = next((tag for tag in _THINKING if text.startswith(tag)), None)
            if tag:
                self._place, self._close_tag = _Place.THINKING, tag.replace("<", "</")
            elif any(tag.startswith(text) for tag in _THINKING):
                self._head = text
                return ""
            else:
                self._place = _Place.PROSE
        if self._place is _Place.THINKING:
            end = text.find(self._close_tag)
            if end < 0:
                self._head = text[-len(self._close_tag) + 1 :]
                return ""
            text = text[end + len(self._close_tag) :]
            self._place = _Place.PROSE
        first = _FIRST.search(text)
        if first is None:
            return ""
        if first[0] == "[":
            self.broken = "not_an_object"
            return ""
        self._place = _Place.INSIDE
        return text[first.start() :]

    def _inside(self, text: str) -> int:
        """Looks at every character once; returns how many belong to the object."""
        at = kept = 0
        if self._escaped:
            at, self._escaped = 1, False
        while self._place is _Place.INSIDE and not self.broken:
            if self._string:
                at = self._through_string(text, at)
                if self._string:
                    break
            match = _STRUCTURE.search(text, at)
            if match is None:
                break
            at = match.end()
            kept = self._structure(match[0], text, at, kept)
        end = len(text) if self._place is _Place.INSIDE else at
        (self._frame if self._item is None else self._item).append(text[kept:end])
        return end

    def _through_string(self, text: str, at: int) -> int:
        """To behind the closing quote, or to the end of the text while `_string` stays set."""
        begin = at
        while match := _IN_STRING.search(text, at):
            at = match.end()
            if match[0] == '"':
                self._string = False
                if self._key is not None:
                    self._last_key = "".join(self._key) + text[begin : at - 1]
                    self._key = None
                return at
            if at == len(text):
                self._escaped = True
                break
            at += 1
        if self._key is not None:
            self._key.append(text[begin:])
        return len(text)

    def _structure(self, char: str, text: str, at: int, kept: int) -> int:
        """One structural character that ends at `at`; returns from where text is not kept yet."""
        if char == '"':
            self._string = True
            if self._depth == 1 and self._key_next:
                self._key, self._key_next = [], False
        elif char == ",":
            self._key_next = self._key_next or self._depth == 1
        elif char in "{[":
            return self._open(char, text, at, kept)
        elif char in "}]":
            return self._close(char, text, at, kept)
        return kept

    def _open(self, char: str, text: str, at: int, kept: int) -> int:
        self._depth += 1
        if self._depth > DEEPEST:
            self.broken = "too_deep"
        elif self._depth == 1:
            self._key_next = True
        elif self._depth == 2:
            self._in_items = char == "[" and self._last_key == "items"
        elif self._depth == 3 and char == "{" and self._in_items:
            self._frame.append(text[kept : at - 1])
            self._item = []
            return at - 1
        return kept

    def _close(self, char: str, text: str, at: int, kept: int) -> int:
        self._depth -= 1
        if self._depth == 0:
            self._place = _Place.AFTER
        elif self._depth == 1:
            self._in_items = False
        elif self._depth == 2 and self._item is not None:
            self._item.append(text[kept:at])
            raw, self._item = "".join(self._item), None
            self._frame.append("0")
            self._finish(raw)
            return at
        return kept

    def _finish(self, raw: str) -> None:
        try:
            item = fitted(_loads(raw), self._item_schema)
        except (ValueError, RecursionError, InvalidItemError):
            self.items += 1
            self.invalid += 1
            return
        self.items += 1
        self._on_item(item)


def _loads(raw: str) -> Any:
    """Strict JSON but for line breaks in strings. Raises ValueError."""
    value = json.loads(
        raw,
        strict=False,
        object_pairs_hook=_unique,
        parse_constant=_refuse,
        parse_float=_finite,
    )
    return _cleaned(value) if "\\u" in raw else value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("duplicate key")
    return made


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("too large")
    return number


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(entry) for entry in value]
    if isinstance(value, dict):
        return {clean(name): _cleaned(entry) for name, entry in value.items()}
    return value
