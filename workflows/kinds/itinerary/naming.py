"""A trip in a line, for a request that brings no title."""

from __future__ import annotations

from .request import TripRequest

_LONGEST_PLACE = 60


def name_of(request: TripRequest, *, chinese: bool) -> str:
    """`Beijing → Xi'an, 5 days, from 2027-03-16`; '' where nobody said where to."""
    if not request.to:
        return ""
    places = [place[:_LONGEST_PLACE] for place in (request.start, request.to) if place]
    way = " → ".join(places)
    first = request.first.isoformat() if request.first else ""
    if chinese:
        return f"{way}，{request.days} 天" + (f"，{first} 起" if first else "")
    days = "1 day" if request.days == 1 else f"{request.days} days"
    return f"{way}, {days}" + (f", from {first}" if first else "")
