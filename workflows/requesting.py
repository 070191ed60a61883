"""What a kind asks of a request before it is stored: sentences that say what is wrong with it.

A kind that can refuse a whole request (its fields together with its sources) has a function
`check_request(material, today)`. Kinds without one take every request whose fields are right.
"""

from __future__ import annotations

from datetime import date

from workflows.kinds.kind import Material


def request_problems(kind: object, material: Material, today: date) -> list[tuple[str, str]]:
    """Problems as (JSON pointer into the document, English sentence); [] = fine."""
    check = getattr(kind, "check_request", None)
    return [] if check is None else list(check(material, today))
