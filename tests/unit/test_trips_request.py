"""What a trip is asked to be: fields, sentences, reference data; what is refused at the door."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from tests.unit.kind_material import DATA
from tests.unit.trips import ITINERARY, NAMES, fields, material, reference_text
from workflows.kinds.itinerary.request import request_of
from workflows.kinds.kind import Material, SourceText
from workflows.requesting import request_problems, title_of
from workflows.vocabulary import Severity

TODAY = date(2026, 11, 30)


def asked(*texts: str, **attributes: Any) -> Material:
    sources = tuple(
        SourceText(id=str(at), name=f"{at}", media_type="text/plain", text=text)
        for at, text in enumerate(texts)
    )
    return Material(title="Trip", language=None, attributes=attributes, sources=sources)


@pytest.mark.parametrize(
    "words", ["5 days in Rome from 9999-12-31", "9999年12月31日出发去西安玩5天"]
)
def test_a_day_at_the_end_of_all_calendars_is_told(words: str) -> None:
    problems = request_problems(ITINERARY, asked(words), TODAY)
    assert [text for _, text in problems if "too far away" in text]


def test_wishes_that_a_plan_does_not_show_are_told_once_and_hold_up_no_round() -> None:
    given = asked("3 days in Lisbon in May for two people with 1500 dollars.")
    body = "# Lisbon\n\n## Day 1 · Lisbon\n\n- sight: Castle, Lisbon (–)\n"
    told = [one for one in ITINERARY.verify(given, body) if one.category == "unchecked"]
    assert [(one.severity, one.problem) for one in told] == [
        (
            Severity.MINOR,
            "Asked for, and not to be seen in the plan: people: 2, a budget of 1500 USD, May.",
        )
    ]
    dear = body.replace("(–)", "(1600 USD)")
    assert "budget" in {one.category for one in ITINERARY.verify(given, dear)}


@pytest.mark.parametrize(
    ("words", "budget", "currency"),
    [
        ("4 days in Vienna for at most 1200 EUR", 1200, "EUR"),
        ("4 days in Vienna, under €1,200", 1200, "EUR"),
        ("3 days in Rome for $100 a night", None, None),
        ("3 days in Rome for 100 EUR per person", None, None),
        ("去维也纳玩四天，最多1200欧元", 1200, "EUR"),
        ("去杭州玩两天，不超过1万元", 10_000, "CNY"),
        ("去杭州玩两天，3000元以内", 3000, "CNY"),
        ("去杭州玩两天，人均3000元以内", None, None),
    ],
)
def test_an_amount_that_bounds_the_whole_trip_is_its_budget(
    words: str, budget: float | None, currency: str | None
) -> None:
    read = request_of(asked(words))
    assert (read.budget, read.currency) == (budget, currency)


@pytest.mark.parametrize(
    "words",
    [
        "4 days from 10 May 2027",
        "4 days starting on May 10th, 2027",
        "starting the 10th of May 2027",
    ],
)
def test_a_first_day_is_read_in_either_order(words: str) -> None:
    assert request_of(asked(words)).first == date(2027, 5, 10)


def test_each_place_named_in_one_breath_and_the_first_day_are_looked_for_in_the_plan() -> None:
    given = asked("4 days from Berlin to Vienna, Graz and Salzburg, starting on 10 May 2027")
    assert (request_of(given).to, request_of(given).others) == ("Vienna", ("Graz", "Salzburg"))
    body = "# Vienna\n\n## Day 1 · Vienna\n\n- sight: Prater, Vienna (–)\n\n## Day 2 · Graz\n"
    [told] = [one.problem for one in ITINERARY.verify(given, body) if one.category == "unchecked"]
    assert told == "Asked for, and not to be seen in the plan: Salzburg, a start on 2027-05-10."
    assert request_of(asked("3 days in Rome and May is fine")).others == ()
    assert request_of(asked("3 days in Rome and Florence", to="Oslo")).others == ()
    assert request_of(asked("5 days from Boston to Austin, Texas")).others == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_is_read_as_its_fields_say(name: str) -> None:
    said, given = (request_of(material(name, in_words=words)) for words in (True, False))
    for wish in ("days", "start", "to", "first", "last", "people", "budget", "currency"):
        assert getattr(said, wish) == getattr(given, wish), wish
    for wish in ("room_rule", "room_type", "transport"):
        assert getattr(said, wish) == getattr(given, wish), wish
    assert set(said.cuisine) == set(given.cuisine)
    assert (said.cities or 1) == given.cities


def test_chinese_sentences_are_read() -> None:
    rows = json.loads((DATA / "chinatravel" / "queries_zh.json").read_text(encoding="utf-8"))
    read = [request_of(asked(row["nature_language"])) for row in rows]
    assert [(one.start, one.to, one.days, one.people, one.budget) for one in read] == [
        ("上海", "苏州", 2, 2, 1300),
        ("重庆", "杭州", 2, 1, 3000),
        ("上海", "杭州", 1, 1, 1500),
        ("上海", "北京", 3, 2, 6000),
        ("广州", "成都", 3, 3, None),
    ]
    assert [one.transport for one in read] == [None, "train", "train", None, "flight"]


def test_a_field_wins_over_words_and_the_difference_is_told() -> None:
    given = asked("A 5-day trip for 2 people.", days=3, people=2)
    request = request_of(given)
    assert request.days == 3
    assert request.conflicts == (
        "The request contradicts itself: days is 3 in one place and 5 in another.",
    )
    assert request_of(asked("The museum is closed for 2 days.", days=3)).conflicts == ()


@pytest.mark.parametrize(
    ("attributes", "pointer", "said"),
    [
        ({"days": 0}, "/days", "1 to 30"),
        ({"days": 60}, "/days", "1 to 30"),
        ({"days": "five"}, "/days", "whole number"),
        ({"days": 2.5}, "/days", "whole number"),
        ({"budget": 0}, "/budget", "more than 0"),
        ({"budget": "0.00"}, "/budget", "more than 0"),
        ({"budget": -5}, "/budget", "not negative"),
        ({"start_date": "16.3.2027"}, "/start_date", "date like"),
        ({"start_date": "2027-03-18", "end_date": "2027-03-16"}, "/end_date", "before it begins"),
        (
            {"start_date": "2027-03-16", "end_date": "2027-03-18", "days": 5},
            "/days",
            "are 3 days, not 5",
        ),
        ({"start_date": "2027-03-16", "end_date": "2027-06-18"}, "/end_date", "95 days"),
        ({"people": 0}, "/people", "from 1"),
        ({"planet": "Mars"}, "/planet", "no such attribute"),
    ],
)
def test_fields_that_cannot_be_are_refused_with_a_sentence(
    attributes: dict[str, Any], pointer: str, said: str
) -> None:
    ((at, sentence),) = ITINERARY.check_attributes(attributes)
    assert at == pointer
    assert said in sentence


REFERENCE = reference_text("00")


@pytest.mark.parametrize(
    ("request_", "pointer", "said"),
    [
        (asked(REFERENCE, to="Atlantis"), "/attributes/to", "it has Rockford"),
        (asked(REFERENCE, **{"from": "Atlantis"}), "/attributes/from", "no Atlantis"),
        (asked("{}"), "/sources/0/text", "empty"),
        (asked("Go.", "[]"), "/sources/1/text", "empty"),
        (
            asked('{"Attractions in X": [], "Taxi from X to Y": "No valid information."}'),
            "/sources/0/text",
            "empty",
        ),
        (asked(start_date="2022-03-16"), "/attributes/start_date", "is past"),
        (asked("From 2022-03-16 to 2022-03-18."), "/sources/0/text", "is past"),
        (asked("A 60-day trip."), "/sources/0/text", "asks for 60"),
        (replace(asked(), title="0 days in Rome"), "/title", "asks for 0"),
        (asked("From 2027-03-18 to 2027-03-16."), "/sources/0/text", "before it begins"),
        (asked("2027年3月18日到2027年3月16日"), "/sources/0/text", "before it begins"),
        (asked("去杭州玩三天，预算0元"), "/sources/0/text", "more than 0"),
        (replace(asked("A 60-day trip."), title="A 60-day trip."), "/sources/0/text", "for 60"),
    ],
)
def test_requests_that_cannot_be_planned_are_refused_with_a_sentence(
    request_: Material, pointer: str, said: str
) -> None:
    ((at, sentence),) = request_problems(ITINERARY, request_, TODAY)
    assert at == pointer
    assert said in sentence


@pytest.mark.parametrize("name", NAMES)
def test_real_requests_come_in_though_their_data_is_of_the_past(name: str) -> None:
    for words in (False, True):
        assert request_problems(ITINERARY, material(name, in_words=words), TODAY) == []
    assert ITINERARY.check_attributes(fields(name)) == []


def test_a_request_without_anything_and_texts_that_are_no_data_come_in() -> None:
    for given in (asked(), asked("Somewhere warm"), asked('{"a": 1}'), asked("{broken")):
        assert request_problems(ITINERARY, given, TODAY) == []
    assert request_problems(object(), asked("{}"), TODAY) == []
    for city in ("Rockford, IL", "rockford(Illinois)", "Rock"):
        assert request_problems(ITINERARY, asked(REFERENCE, to=city), TODAY) == []
    assert request_problems(ITINERARY, asked(start_date="2026-11-29"), TODAY) == []


def test_a_request_of_three_megabytes_is_more_than_a_trip_may_bring() -> None:
    assert ITINERARY.limits.source_characters < 3_000_000


@pytest.mark.parametrize(
    "text",
    [
        *("to A " * 800, "no " * 1300, "A " * 2000, "from St. " * 400, "去" * 4000),
        json.dumps({"flight from " + "a to " * 50_000: [], "Taxi from A to B": "1 day " * 50_000}),
        '{"Attractions in A": ' + "[" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_texts_made_to_be_slow_are_read_at_once(text: str) -> None:
    started = time.process_time()
    request_problems(ITINERARY, asked(text), TODAY)
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (
            "5 days from Beijing to Xi'an from 2026-12-01 for 2 people",
            "Beijing → Xi'an, 5 days, from 2026-12-01",
        ),
        ("我想从北京去西安玩5天，2026年12月1日出发", "北京 → 西安，5 天，2026-12-01 起"),
        ("A quiet week by the sea", "A quiet week by the sea"),
        ("1 day in Rome.", "Rome, 1 day"),
    ],
)
def test_a_request_is_named_in_a_line(words: str, title: str) -> None:
    source = SourceText(id="1", name="request", media_type="text/plain", text=words)
    trip = Material(title="", language=None, attributes={}, sources=(source,))
    assert title_of(ITINERARY, trip) == title
    named = replace(trip, title=title)  # and its own name changes nothing of what it asks
    assert request_of(named).told() == request_of(trip).told()
