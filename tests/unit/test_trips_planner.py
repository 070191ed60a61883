"""The offline model plans trips that its own verifiers pass, and stops where it is told to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from deploy.offline_model.planner import itinerary
from deploy.offline_model.planner_review import refine, review
from deploy.offline_model.prompt import Prompt, read_prompt
from tests.loop import Loop
from tests.unit.kind_material import DATA
from tests.unit.trips import ITINERARY, NAMES, material, trip
from workflows.issues import merged
from workflows.kinds.itinerary.plan import parse_plan
from workflows.kinds.itinerary.sorts import Sort
from workflows.kinds.kind import Item, Material, OpenIssue, SourceText, Work
from workflows.kinds.kind import Prompt as Asked
from workflows.vocabulary import Reason, Severity, StepName

SUZHOU = {
    "Attractions in 苏州": [{"Name": "拙政园", "Price": 70}, {"Name": "虎丘", "Price": 60}],
    "Restaurants in 苏州": [
        {"Name": "松鹤楼", "Average Cost": 90, "Cuisines": "Chinese"},
        {"Name": "同得兴", "Average Cost": 30, "Cuisines": "Chinese"},
        {"Name": "得月楼", "Average Cost": 80, "Cuisines": "Chinese"},
        {"Name": "绿杨馄饨", "Average Cost": 20, "Cuisines": "Chinese"},
    ],
    "Accommodations in 苏州": [
        {"NAME": "平江客栈", "price": 320, "room type": "Private room", "maximum occupancy": 2}
    ],
    "Train from 上海 to 苏州": [
        {"Train Number": "G7002", "Price": 40, "DepTime": "08:00", "ArrTime": "08:25"}
    ],
    "Train from 苏州 to 上海": [
        {"Train Number": "G7021", "Price": 40, "DepTime": "18:00", "ArrTime": "18:25"}
    ],
}


def read(prompt: Asked) -> Prompt:
    return read_prompt(
        [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
    )


def drafted(given: Material) -> tuple[str, Sequence[Sequence[str]]]:
    """The body, and the days that each call brought."""
    step = Work(step=StepName.DRAFT, round=0, material=given)
    (part,) = ITINERARY.parts(step)
    expected = set(ITINERARY.expected(step, part) or ())
    kept: list[Item] = []
    calls: list[list[str]] = []
    while {item.key for item in kept} != expected:
        answer = itinerary(read(ITINERARY.prompt(step, part, kept)))["items"]
        items = [ITINERARY.accept(step, part, day, kept) for day in answer]
        fresh = [item for item in items if isinstance(item, Item)]
        assert fresh, answer
        kept += fresh
        calls.append([item.key for item in fresh])
    return ITINERARY.draft(step, kept), calls


@pytest.mark.parametrize("in_words", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_real_requests_are_planned_without_an_issue(name: str, in_words: bool) -> None:
    given = material(name, in_words=in_words)
    body, _ = drafted(given)
    assert ITINERARY.verify(given, body) == ()
    step = Work(step=StepName.REVIEW, round=1, material=given, body=body)
    (part,) = ITINERARY.parts(step)
    assert review(read(ITINERARY.prompt(step, part, []))) == {"items": [], "score": 100}


def test_a_plan_that_is_stopped_after_two_days_goes_on_and_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, calls = drafted(material("23"))
    assert calls == [["1", "2", "3", "4", "5"]]
    monkeypatch.setenv("OFFLINE_STOP_AFTER_ITEMS", "2")
    assert drafted(material("23")) == (whole, [["1", "2"], ["3", "4"], ["5"]])


def test_days_that_somebody_else_planned_are_gone_on_from() -> None:
    real = trip("00")
    step = Work(step=StepName.DRAFT, round=0, material=real.material)
    (part,) = ITINERARY.parts(step)
    kept: list[Item] = []
    for day in real.days[:2]:
        item = ITINERARY.accept(step, part, day, kept)
        assert isinstance(item, Item)
        kept.append(item)
    (last,) = itinerary(read(ITINERARY.prompt(step, part, kept)))["items"]
    body = ITINERARY.draft(step, [*kept, Item(key="3", payload=last)])
    assert ITINERARY.verify(real.material, body) == ()


def chinese(reference: Mapping[str, Any] | None) -> Material:
    rows = json.loads((DATA / "chinatravel" / "queries_zh.json").read_text(encoding="utf-8"))
    texts = [rows[0]["nature_language"]]
    texts += [json.dumps(reference, ensure_ascii=False, indent=1)] if reference else []
    sources = tuple(
        SourceText(id=str(at), name=f"{at}.txt", media_type="text/plain", text=text)
        for at, text in enumerate(texts)
    )
    return Material(title="苏州两日", language=None, attributes={}, sources=sources)


def test_a_chinese_sentence_becomes_a_chinese_plan() -> None:
    given = chinese(SUZHOU)
    body, _ = drafted(given)
    assert ITINERARY.verify(given, body) == ()
    assert "## 第1天 · 苏州" in body
    assert "- 08:00–08:25 火车: G7002, 上海 → 苏州 (80 CNY)" in body
    assert "| 合计 |" in body
    assert body.index("G7021") > body.index("## 第2天 · 上海")


@pytest.mark.parametrize(
    "sentence",
    [
        "3 days in Rome for 2 people, budget 900 EUR.",
        "A 5-day trip from Memphis to two cities in Pennsylvania for 2 people.",
        "一天去苏州玩",
        "我一个人从上海去杭州玩三天，预算3000元",
    ],
)
def test_without_reference_data_the_days_are_laid_out_plainly(sentence: str) -> None:
    """Plainly and without a fault, though nothing is known: a night for each day but the last."""
    words = SourceText(id="1", name="request", media_type="text/plain", text=sentence)
    given = Material(title=sentence, language=None, attributes={}, sources=(words,))
    body, _ = drafted(given)
    found = ITINERARY.verify(given, body)  # what nobody can see in it is told, and no more
    assert {(one.category, one.severity) for one in found} <= {("unchecked", Severity.MINOR)}
    nights = len(parse_plan(body).days) - 1
    assert sum(entry.sort is Sort.STAY for _, entry in parse_plan(body).entries()) == nights


def test_places_are_visited_when_they_are_open() -> None:
    closed = {**SUZHOU, "Attractions in 苏州": [dict(one) for one in SUZHOU["Attractions in 苏州"]]}
    closed["Attractions in 苏州"][0]["Opening Hours"] = "13:00-17:00"
    given = replace(chinese(closed), attributes={"start_date": "2027-05-03"})
    body, _ = drafted(given)
    assert ITINERARY.verify(given, body) == ()
    assert "- 14:00–16:30 景点: 拙政园" in body


def test_cities_may_be_named_with_their_state() -> None:
    given = material("00")
    named = {**given.attributes, "from": "St. Petersburg, FL", "to": "Rockford (Illinois)"}
    given = replace(given, attributes=named)
    body, _ = drafted(given)
    assert ITINERARY.verify(given, body) == ()
    assert "F3573120" in body


def test_one_day_there_and_back_is_planned() -> None:
    given = chinese(SUZHOU)
    whole = replace(given, sources=given.sources[1:], title="一日", language="zh")
    whole = replace(whole, attributes={"from": "上海", "to": "苏州", "days": 1})
    body, _ = drafted(whole)
    assert ITINERARY.verify(whole, body) == ()
    assert body.index("G7002") < body.index("松鹤楼" if "松鹤楼" in body else "绿杨馄饨")


def test_a_correction_that_an_issue_brings_is_made_and_the_table_follows() -> None:
    given = material("00")
    right, _ = drafted(given)
    wrong = right.replace("(20 USD)", "(90 USD)")
    found = merged(ITINERARY.verify(given, wrong), wrong)
    issues = tuple(
        OpenIssue(number=number, finding=finding)
        for number, finding in enumerate(found.values(), start=1)
    )
    step = Work(step=StepName.REFINE, round=1, material=given, body=wrong, issues=issues)
    (part,) = ITINERARY.parts(step)
    kept: list[Item] = []
    for edit in refine(read(ITINERARY.prompt(step, part, [])))["items"]:
        item = ITINERARY.accept(step, part, edit, kept)
        assert isinstance(item, Item)
        kept.append(item)
    assert ITINERARY.refine(step, kept).body == right


@pytest.mark.parametrize("wishes", [{"budget": 100}, {"transport": "train"}, {"people": 3}])
def test_a_contradiction_is_left_to_the_person_after_one_round(wishes: dict[str, Any]) -> None:
    given = material("00", in_words=True)
    given = replace(given, attributes=wishes)
    body, _ = drafted(given)

    def answer(prompt: Asked) -> Sequence[Mapping[str, Any]]:
        reply = review if prompt.schema_name == "redraft_review" else refine
        items: Sequence[Mapping[str, Any]] = reply(read(prompt))["items"]
        return items

    loop = Loop(kind=ITINERARY, material=given, answer=answer)
    offered, end = loop.run(body)
    assert (offered, end) == (body, Reason.NO_PROGRESS)
    assert [step for _, step, _ in loop.asked] == ["review", "refine"]
    assert {known.finding.raised_by for known in loop.known} == {"verifier:request"}
