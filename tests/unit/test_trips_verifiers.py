"""Each verifier of a trip: real plans raise nothing, one break of one of them raises one issue."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.trips import (
    ITINERARY,
    NAMES,
    body_of,
    material,
    reference_of_text,
    reference_text,
    trip,
)
from workflows.kinds.itinerary.costs import price_of_place
from workflows.kinds.itinerary.reference import Place
from workflows.kinds.itinerary.sorts import Sort
from workflows.kinds.itinerary.verifiers import VERIFIERS
from workflows.kinds.itinerary.wishes import is_room_type, keeps_rule
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

Days = list[dict[str, Any]]


def days_of(name: str) -> Days:
    return copy.deepcopy([dict(day) for day in trip(name).days])


def asking(name: str, **wishes: Any) -> Material:
    given = material(name)
    return replace(given, attributes={**given.attributes, **wishes})


def verified(given: Material, days: Days) -> tuple[Finding, ...]:
    return ITINERARY.verify(given, body_of(given, days))


def only(findings: tuple[Finding, ...], verifier: str) -> Finding:
    assert [finding.raised_by for finding in findings] == [f"verifier:{verifier}"], findings
    return findings[0]


@pytest.mark.parametrize("in_words", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_plans_that_people_made_raise_nothing(name: str, in_words: bool) -> None:
    real = trip(name, in_words=in_words)
    assert ITINERARY.verify(real.material, real.body) == ()


def entry(days: Days, day: int, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(e for e in days[day - 1]["entries"] if e["kind"] == kind)
    return found


def test_a_missing_day_is_found() -> None:
    found = only(verified(material("08"), days_of("08")[:-1]), "days")
    assert found.severity is Severity.BLOCKER
    assert "5" in found.problem


def test_a_day_that_stands_twice_or_in_the_wrong_place_is_found() -> None:
    body = trip("08").body
    first, second = body.index("## Day 1"), body.index("## Day 2")
    costs = body.index("## Costs")
    again = f"{body[:costs]}## Day 5 · 2022-03-26 · Memphis\n\n- other: rest\n\n{body[costs:]}"
    assert only(ITINERARY.verify(material("08"), again), "days").category == "day_twice"
    moved = body[:first] + body[second:costs] + body[first:second] + body[costs:]
    assert only(ITINERARY.verify(material("08"), moved), "days").category == "day_order"
    more = f"{body[:costs]}## Day 6 · 2022-03-27 · Memphis\n\n- other: rest\n\n{body[costs:]}"
    assert only(ITINERARY.verify(material("08"), more), "days").category == "day_beyond"


def test_a_wrong_date_is_found_and_put_right() -> None:
    body = trip("00").body.replace("Day 2 · 2022-03-17", "Day 2 · 2022-03-19")
    found = only(ITINERARY.verify(material("00"), body), "dates")
    assert found.suggestion == "## Day 2 · 2022-03-17 · Rockford"


def test_a_night_without_a_stay_is_found() -> None:
    days = days_of("08")
    days[1]["entries"].remove(entry(days, 2, "stay"))
    assert "Day 2" in only(verified(material("08"), days), "nights").problem


def test_a_stay_after_the_way_home_is_found() -> None:
    days = days_of("08")
    days[4]["entries"].append({**entry(days, 4, "stay"), "cost": None})
    given = material("08", reference=json.dumps({"Taxi from Memphis to Johnstown": "none"}))
    assert only(verified(given, days), "nights").category == "night"


def test_entries_that_overlap_are_found() -> None:
    days = days_of("00")
    entry(days, 1, "dinner").update(start="16:30", end="17:30")
    assert only(verified(material("00"), days), "times").category == "overlap"


def test_a_place_that_is_closed_on_that_date_is_found() -> None:
    data = json.loads(reference_text("00"))
    museum = data["Attractions in Rockford"][0]
    for hours, is_open in (
        ("10:00-17:00", True),
        ({"Thursday": "closed", "daily": "09:00-17:00"}, False),
        ({"2022-03-17": "closed"}, False),
        ({"Friday": "closed"}, True),
    ):
        museum["Opening Hours"] = hours
        found = verified(material("00", reference=json.dumps(data)), days_of("00"))
        assert bool(found) is not is_open
        if not is_open:
            assert "Burpee" in only(found, "hours").quote


def test_visiting_hours_are_compared_with_the_clock() -> None:
    data = json.loads(reference_text("00"))
    data["Attractions in Rockford"][0]["Opening Hours"] = "10:00-17:00"
    days = days_of("00")
    entry(days, 2, "sight").update(start="16:30", end="17:30")
    found = verified(material("00", reference=json.dumps(data)), days)
    assert "10:00–17:00" in only(found, "hours").problem


def test_a_flight_at_another_hour_and_a_drive_too_fast_are_found() -> None:
    days = days_of("00")
    entry(days, 1, "flight").update(end="19:04")
    assert "15:40–17:04" in only(verified(material("00"), days), "travel_time").problem
    days = days_of("32")
    entry(days, 1, "drive").update(start="08:00", end="10:00")
    assert "277 minutes" in only(verified(material("32"), days), "travel_time").problem


def test_two_places_too_far_apart_for_the_clock_are_found() -> None:
    data = json.loads(reference_text("00"))
    data["Attractions in Rockford"][1].update(Latitude=43.2, Longitude=-88.9)
    days = days_of("00")
    sights = [e for e in days[1]["entries"] if e["kind"] == "sight"]
    sights[0].update(start="09:00", end="10:00")
    sights[1].update(start="10:15", end="11:00")
    found = verified(material("00", reference=json.dumps(data)), days)
    assert "Midway" in only(found, "travel_time").quote


def test_legs_that_do_not_join_are_found() -> None:
    days = days_of("08")
    days[2]["entries"].remove(entry(days, 3, "drive"))
    assert "leads to Johnstown" in only(verified(material("08"), days), "legs").problem
    days = days_of("32")
    days[2]["entries"].remove(entry(days, 3, "drive"))
    days[2]["city"] = "Minneapolis"
    assert "back to Grand Forks" in only(verified(material("32"), days), "legs").problem


def test_another_number_of_cities_than_asked_for_is_found() -> None:
    given = asking("39", cities=3)
    assert only(verified(given, days_of("39")), "cities").category == "cities"


def test_a_flight_where_none_was_wanted_is_found() -> None:
    days = days_of("32")
    flight = reference_of_text(reference_text("32")).legs[0]
    assert flight.sort is Sort.FLIGHT
    name = f"{flight.number}, Grand Forks → Minneapolis"
    entry(days, 1, "drive").update(
        kind="flight", name=name, start="08:46", end="09:53", cost=flight.price * 2
    )
    assert only(verified(asking("32", budget=2000), days), "transport").quote.endswith("(142 USD)")


def test_a_flight_that_is_not_in_the_data_is_found() -> None:
    days = days_of("00")
    flight = entry(days, 1, "flight")
    flight["name"] = flight["name"].replace("F3573659", "F3573650")
    assert "2022-03-16" in only(verified(material("00"), days), "connections").problem


def test_a_place_that_is_not_in_the_data_is_found() -> None:
    days = days_of("00")
    entry(days, 2, "breakfast")["name"] = "Dial A Pie, Rockford"
    found = only(verified(material("00"), days), "places")
    assert "Dial A Pie" in found.problem
    assert found.suggestion is None
    entry(days, 2, "breakfast")["name"] = "Dial A Cakes, Rockford"  # a slip of the pen
    found = next(one for one in verified(material("00"), days) if one.raised_by.endswith("places"))
    assert found.suggestion == "- breakfast: Dial A Cake, Rockford (29 USD)"


def test_a_wrong_price_is_found_and_put_right() -> None:
    days = days_of("00")
    entry(days, 1, "dinner")["cost"] = 60
    found = only(verified(material("00"), days), "prices")
    assert found.suggestion == "- dinner: Coco Bambu, Rockford (72 USD)"
    data = json.loads(reference_text("00"))
    data["Attractions in Rockford"][0]["Price"] = 0
    free = material("00", reference=json.dumps(data))
    assert ITINERARY.verify(free, trip("00").body) == ()  # what costs nothing needs no price
    entry(days, 1, "dinner")["cost"] = None
    found = only(verified(material("00"), days), "prices")
    assert (found.severity, found.suggestion) == (
        Severity.MINOR,
        "- dinner: Coco Bambu, Rockford (72 USD)",
    )


def test_a_table_that_does_not_add_up_is_found() -> None:
    body = trip("00").body.replace("| 1608 USD |", "| 1508 USD |")
    found = only(ITINERARY.verify(material("00"), body), "sums")
    assert found.suggestion == found.quote.replace("1508", "1608")


def test_a_plan_above_its_budget_is_found() -> None:
    found = only(verified(asking("00", budget=1500), days_of("00")), "budget")
    assert "1608 USD" in found.problem


def swapped(name: str, fits: Callable[[Place], bool]) -> Days:
    """The plan with another stay of the same city on each of its nights."""
    days = days_of(name)
    party = trip(name).material.attributes.get("people", 1)
    city = entry(days, 1, "stay")["name"].rpartition(", ")[2]
    places = reference_of_text(reference_text(name)).places
    stay = next(place for place in places if place.sort is Sort.STAY and fits(place))
    for day in days:
        for one in day["entries"]:
            if one["kind"] == "stay":
                one.update(name=f"{stay.name}, {city}", cost=price_of_place(stay, party))
    return days


def test_a_house_whose_rules_forbid_what_was_asked_for_is_found() -> None:
    days = swapped(
        "32",
        lambda place: (
            not keeps_rule(place, "parties")
            and is_room_type(place, "entire room")
            and place.minimum_nights <= 2
        ),
    )
    assert "No parties" in only(verified(asking("32", budget=9000), days), "room_rule").problem


def test_a_room_of_another_type_is_found() -> None:
    days = swapped(
        "32",
        lambda place: (
            keeps_rule(place, "parties")
            and not is_room_type(place, "entire room")
            and place.minimum_nights <= 2
        ),
    )
    assert "entire room" in only(verified(asking("32", budget=9000), days), "room_type").problem


def test_a_stay_below_its_minimum_of_nights_is_found() -> None:
    days = swapped("00", lambda place: place.minimum_nights == 3)
    assert "3 nights" in only(verified(asking("00", budget=9000), days), "minimum_nights").problem
    wished = asking("08", minimum_nights=3)
    found = verified(wished, days_of("08"))
    assert {one.raised_by for one in found} == {"verifier:minimum_nights"}


def test_a_cuisine_that_nobody_eats_is_found() -> None:
    days = days_of("23")
    data = reference_of_text(reference_text("23"))
    names = [one["name"] for day in days for one in day["entries"]]
    eaten = {cuisine for name in names for place in data.find(name) for cuisine in place.cuisines}
    served = {cuisine for place in data.places for cuisine in place.cuisines}
    (missing, *_) = sorted(served - eaten) or ["Greek"]
    given = asking("23", cuisine=["Mexican", missing])
    assert missing in only(verified(given, days), "cuisine").problem


def test_a_restaurant_that_is_visited_twice_is_found() -> None:
    days = days_of("00")
    entry(days, 2, "lunch").update(name="Coco Bambu, Rockford", cost=72)
    assert "day 1" in only(verified(material("00"), days), "repeats").problem


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"budget": 100}, "budget of 100 USD"),
        ({"room_type": "shared room"}, "shared room"),
        ({"cuisine": ["Martian"]}, "Martian"),
        ({"transport": "train"}, "with train"),
    ],
)
def test_what_no_plan_can_meet_is_one_issue_for_the_person(
    wishes: dict[str, Any], said: str
) -> None:
    assert said in only(verified(asking("00", **wishes), days_of("00")), "request").problem


def test_a_city_that_the_data_does_not_know_is_one_issue_for_the_person() -> None:
    given = replace(material("00", in_words=True), title="A trip", attributes={})
    data = given.sources[1]
    sentence = "3 days from St. Petersburg to Atlantis, March 16th to 18th, 2022, budget $1,700."
    lost = replace(given, sources=(replace(given.sources[0], text=sentence), data))
    found = only(ITINERARY.verify(lost, trip("00").body), "request")
    assert found.problem == "The reference data knows no Atlantis; it has Rockford, " + (
        "St. Petersburg."
    )
    near = sentence.replace("Atlantis", "Winnebago, near Rockford")
    known = replace(given, sources=(replace(given.sources[0], text=near), data))
    assert ITINERARY.verify(known, trip("00").body) == ()


def test_fields_and_words_that_differ_are_one_issue_for_the_person() -> None:
    given = replace(material("00", in_words=True), attributes={"people": 3, "budget": 9000})
    found = ITINERARY.verify(given, trip("00").body)
    told = [one.problem for one in found if one.raised_by == "verifier:request"]
    assert len(told) == 2
    assert "people is 3 in one place and 1 in another" in told[0]


def test_every_verifier_has_its_breaking_case() -> None:
    source = open(__file__, encoding="utf-8").read()  # noqa: SIM115
    for name in VERIFIERS:
        assert f', "{name}")' in source, name
