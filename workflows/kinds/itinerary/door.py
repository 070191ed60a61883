"""What a request is refused for before anything is stored, each with a sentence that says why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from workflows.kinds import attributes
from workflows.kinds.kind import Material, Payload

from . import saying
from .reference import read, reference_of, requests_of
from .request import LATEST, MOST_DAYS, request_of
from .wishes import knows, unknown_city

_NO_BUDGET = "The budget must be more than 0; leave it out when there is none."
_TOO_FAR = f"This day is too far away; give one up to {LATEST}."
_SPANS = frozenset({"days", "end_date"})
Problem = tuple[str, str]
"""JSON pointer and English sentence."""


@attributes.of_type(attributes.Type.NUMBER)
def days(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_DAYS:
        return f"This must be a whole number of days from 1 to {MOST_DAYS}."
    return None


@attributes.of_type(attributes.Type.AMOUNT)
def budget(value: Any) -> str | None:
    problem = attributes.amount(value)
    if problem is None and float(value) == 0:
        return _NO_BUDGET
    return problem


@attributes.of_type(attributes.Type.DATE)
def day(value: Any) -> str | None:
    problem = attributes.calendar_date(value)
    if problem is None and date.fromisoformat(value) > LATEST:
        return _TOO_FAR
    return problem


def check_together(given: Payload) -> list[Problem]:
    """Fields that cannot both be; each is fine by itself."""
    first, last = _date(given.get("start_date")), _date(given.get("end_date"))
    if first is None or last is None:
        return []
    if last < first:
        return [("/end_date", "The trip would end before it begins; give a later day.")]
    spanned = (last - first).days + 1
    wanted = given.get("days")
    if isinstance(wanted, int) and wanted != spanned:
        text = f"From {first} to {last} are {spanned} days, not {wanted}."
        return [("/days", text)]
    if spanned > MOST_DAYS:
        return [("/end_date", f"These are {spanned} days; a trip has at most {MOST_DAYS}.")]
    return []


def _date(value: object) -> date | None:
    return date.fromisoformat(value) if isinstance(value, str) else None


def check_request(material: Material, today: date) -> list[Problem]:
    """Problems of the request as a whole; `today` may be a day behind the traveller's."""
    return [*_words(material), *_data(material), *_over(material, today)]


def _words(material: Material) -> Iterator[Problem]:
    """What the sentences ask for, where no field says it; each thing once, though a title may
    repeat what a source says."""
    found: dict[str, str] = {}
    for at, text in _texts(material):
        for problem in _said(saying.read(text), material.attributes):
            found.setdefault(problem, at)
    for problem, at in found.items():
        yield at, problem


def _said(said: saying.Said, given: Payload) -> Iterator[str]:
    if said.first and said.last and said.last < said.first and "start_date" not in given:
        yield f"The trip would end on {said.last}, before it begins on {said.first}; say later."
    if said.first and said.first > LATEST and "start_date" not in given:
        yield _TOO_FAR
    if said.budget == 0 and "budget" not in given:
        yield _NO_BUDGET
    if said.days is not None and not 1 <= said.days <= MOST_DAYS and not given.keys() & _SPANS:
        yield f"A trip has 1 to {MOST_DAYS} days; this asks for {said.days}."


def _texts(material: Material) -> Iterator[tuple[str, str]]:
    """Sources that are no data, and the title, with their pointers."""
    for at, source in enumerate(material.sources):
        if read(source.text) is None:
            yield f"/sources/{at}/text", source.text[:4000]
    yield "/title", material.title


def _data(material: Material) -> Iterator[Problem]:
    """Reference data that is empty or does not know the cities."""
    found = [read(source.text) for source in material.sources]
    for at, one in enumerate(found):
        if one is not None and not one:
            text = (
                "This reference data is empty: it names no place, no flight and no road. "
                "Leave it out, or give data as in the sample of this kind."
            )
            yield f"/sources/{at}/text", text
    reference = reference_of(material)
    if not reference or any(one is not None and not one for one in found):
        return
    request = request_of(material)
    named = ("from", request.start), ("to", request.to)
    for name, city in named:
        if name in material.attributes and city and not knows(reference, request, name, city):
            yield f"/attributes/{name}", unknown_city(reference, city)


def _over(material: Material, today: date) -> Iterator[Problem]:
    """A first day that is past, unless the reference data was made for it."""
    first = request_of(material).first
    if first is None or first >= today - timedelta(days=1):
        return
    if any(leg.date == first.isoformat() for leg in reference_of(material).legs):
        return
    if any(first.isoformat() in s.text for s in material.sources if read(s.text) is not None):
        return
    pointer = "/attributes/start_date"
    if "start_date" not in material.attributes:
        names = [s.name for s in requests_of(material)]
        at = next((i for i, s in enumerate(material.sources) if s.name in names), None)
        pointer = "/title" if at is None else f"/sources/{at}/text"
    yield (
        pointer,
        f"The trip would begin on {first.isoformat()}, which is past; give one from today on.",
    )
