"""What a kind asks of a request before it is stored: sentences that say what is wrong with it.

A kind that can refuse a whole request (its fields together with its sources) has a function
`check_request(material, today)`. Kinds without one take every request whose fields are right. One
that has `begins_with_request` is asked for in words, of which a title can be made.
"""

from __future__ import annotations

import re
from datetime import date

from workflows.kinds.kind import Material

_LONGEST_TITLE = 80


def request_problems(kind: object, material: Material, today: date) -> list[tuple[str, str]]:
    """Problems as (JSON pointer into the document, English sentence); [] = fine."""
    check = getattr(kind, "check_request", None)
    return [] if check is None else list(check(material, today))


def begins_with_request(kind: object) -> bool:
    """Whether forms ask "what do you want" instead of for a draft and its source."""
    return bool(getattr(kind, "begins_with_request", False))


def beginning(request: str) -> str:
    """The first words of a request, as a title; whole words where it has any."""
    line = re.sub(r"\s+", " ", request).strip()
    if len(line) <= _LONGEST_TITLE:
        return line
    head = line[:_LONGEST_TITLE]
    return f"{head.rpartition(' ')[0] or head} …"
