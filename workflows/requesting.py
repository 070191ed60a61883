"""What a kind asks of a request before it is stored: sentences that say what is wrong with it.

A kind that can refuse a whole request (its fields together with its sources) is `ChecksRequests`;
any other takes every request whose fields are right. One that `BeginsWithRequest` is asked for in
words, of which a title can be made.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Protocol, runtime_checkable

from workflows.kinds.kind import Material

_LONGEST_TITLE = 80


@runtime_checkable
class ChecksRequests(Protocol):
    """A kind that can refuse a request as a whole."""

    def check_request(self, material: Material, today: date) -> list[tuple[str, str]]:
        """Problems as (JSON pointer into the document, English sentence); [] = fine."""
        ...


@runtime_checkable
class BeginsWithRequest(Protocol):
    """A kind whose forms may ask "what do you want" instead of for a draft and its source."""

    @property
    def begins_with_request(self) -> bool: ...


@runtime_checkable
class NamesRequests(Protocol):
    """A kind that says in a line what is asked for."""

    def title_of(self, material: Material) -> str:
        """'' where it cannot tell."""
        ...


def title_of(kind: object, material: Material) -> str:
    """A title for a request that has none: what is asked for, else its first words."""
    named = kind.title_of(material) if isinstance(kind, NamesRequests) else ""
    return named or beginning(material.sources[0].text if material.sources else "")


def request_problems(kind: object, material: Material, today: date) -> list[tuple[str, str]]:
    """Problems as (JSON pointer into the document, English sentence); [] = fine."""
    return kind.check_request(material, today) if isinstance(kind, ChecksRequests) else []


def begins_with_request(kind: object) -> bool:
    """Whether forms ask "what do you want" instead of for a draft and its source."""
    return isinstance(kind, BeginsWithRequest) and kind.begins_with_request


def beginning(request: str) -> str:
    """The first words of a request, as a title; whole words where it has any."""
    line = re.sub(r"\s+", " ", request).strip()
    if len(line) <= _LONGEST_TITLE:
        return line
    head = line[:_LONGEST_TITLE]
    return f"{head.rpartition(' ')[0] or head} …"
