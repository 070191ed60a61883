"""What the verifiers of a trip look at together: the plan, the request, the reference data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from workflows.kinds.checked import Verifier
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

from .plan import Day, Entry, Plan, parse_plan
from .reference import (
    Place,
    Reference,
    city_key,
    reference_of,
)
from .request import TripRequest, request_of
from .sorts import LEGS, Sort


@dataclass(frozen=True)
class Trip:
    """One body, read."""

    plan: Plan
    request: TripRequest
    reference: Reference
    body: str

    @cached_property
    def days(self) -> tuple[Day, ...]:
        """By number; of a day that stands twice the first."""
        seen: dict[int, Day] = {}
        for day in self.plan.days:
            seen.setdefault(day.number, day)
        return tuple(seen[number] for number in sorted(seen))

    @cached_property
    def home(self) -> str:
        """The key of where the trip begins; empty when nobody says it."""
        return city_key(self.request.start or "")

    def legs(self, day: Day) -> Iterator[tuple[Entry, str, str]]:
        """The legs of a day from one city to another, with the keys of both."""
        for entry in day.of(*LEGS):
            if entry.ends is None:
                continue
            start, end = city_key(entry.ends[0]), city_key(entry.ends[1])
            if start != end and (start in self.cities or end in self.cities):
                yield entry, start, end

    @cached_property
    def cities(self) -> frozenset[str]:
        """Keys of all cities that request, reference and headings name."""
        named = {self.home, city_key(self.request.to or ""), *(city_key(d.city) for d in self.days)}
        return frozenset((named | self.reference.known) - {""})

    @cached_property
    def travels(self) -> bool:
        """Whether it says at all how one gets from city to city."""
        return any(True for day in self.days for _ in self.legs(day))

    def place(self, entry: Entry) -> Place | None:
        """What the reference data says of an entry; of its sort, if there is one."""
        found = self.reference.find(entry.name)
        same = [place for place in found if place.sort is entry.sort]
        return next(iter(same or found), None)

    def stays(self) -> Iterator[tuple[Entry, Place, int]]:
        """Each stay where it begins, with its place and the nights in a row spent there."""
        last: tuple[Entry, Place] | None = None
        nights = 0
        for day in self.days:
            entry = next(iter(day.of(Sort.STAY)), None)
            place = self.place(entry) if entry else None
            if last is not None and place == last[1]:
                nights += 1
                continue
            if last is not None:
                yield *last, nights
            last, nights = (entry, place) if entry and place else None, 1
        if last is not None:
            yield *last, nights


Check = Callable[[Trip], Iterable[Finding]]


def on_trip(check: Check) -> Verifier:
    """A verifier that reads the body as a plan; a quote that is empty raises nothing."""

    def verify(material: Material, body: str) -> list[Finding]:
        trip = Trip(parse_plan(body), request_of(material), reference_of(material), body)
        return [finding for finding in check(trip) if finding.quote]

    return verify


def issue(
    category: str,
    quote: str,
    problem: str,
    *,
    severity: Severity = Severity.MAJOR,
    suggestion: str | None = None,
) -> Finding:
    return Finding(
        category=category,
        severity=severity,
        quote=quote,
        problem=problem,
        suggestion=suggestion,
    )
