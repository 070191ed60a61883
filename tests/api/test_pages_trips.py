"""Pages of trips: the form with its fields and refusals, the plan day by day, the ledger."""

from __future__ import annotations

import re

import pytest

from deploy.database import new_id
from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_call, add_issue, add_step, insert
from tests.unit.trips import queries, reference_text, trip

SENTENCE = "3 days in Rockford for 2 people, budget 800 USD."


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def test_a_trip_is_started_from_a_sentence_fields_and_reference_data(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs/new?kind=itinerary", "/runs/new")
    answer = await browser.send(
        form,
        source=SENTENCE,
        reference=reference_text("00"),
        **{
            "attribute-to": "Rockford",
            "attribute-days": "3",
            "attribute-start_date": "2027-03-16",
            "attribute-budget": "800",
            "attribute-cuisine": "Thai, Greek",
        },
    )
    assert answer.status_code == 303
    row = await api.pool.fetchrow("SELECT kind, title, attributes FROM documents")
    assert row is not None
    assert dict(row) == {
        "kind": "itinerary",
        "title": "Rockford, 3 days, from 2027-03-16",
        "attributes": {
            **{"to": "Rockford", "days": 3, "start_date": "2027-03-16", "budget": "800"},
            "cuisine": ["Thai", "Greek"],
        },
    }
    sources = await api.pool.fetch("SELECT name, media_type FROM sources ORDER BY position")
    assert [tuple(source) for source in sources] == [
        ("request", "text/plain"),
        ("reference.json", "application/json"),
    ]
    assert await api.pool.fetchval("SELECT count(*) FROM revisions") == 0


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({"attribute-days": "0"}, "attribute-days", "from 1 to 30"),
        ({"attribute-days": "60"}, "attribute-days", "from 1 to 30"),
        ({"attribute-days": "five"}, "attribute-days", "a whole number of days"),
        ({"attribute-budget": "0"}, "attribute-budget", "more than 0; leave it out"),
        ({"attribute-start_date": "2020-01-01"}, "attribute-start_date", "which is past"),
        (
            {"attribute-start_date": "2027-03-18", "attribute-end_date": "2027-03-16"},
            "attribute-end_date",
            "end before it begins",
        ),
        (
            {"attribute-to": "Atlantis", "reference": reference_text("00")},
            "attribute-to",
            "knows no Atlantis; it has Rockford",
        ),
        ({"reference": "{}"}, "reference", "reference data is empty"),
        ({"source": "", "title": "x", "reference": "[]"}, "reference", "is empty"),
        ({"source": "60 days in Rome"}, "source", "this asks for 60"),
        ({"source": "x" * 3_000_000}, "source", "too large"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
async def test_what_cannot_be_planned_is_told_beside_its_field(
    api: Api, browser: Browser, typed: dict[str, str], field: str, said: str
) -> None:
    form = await browser.form("/runs/new?kind=itinerary", "/runs/new")
    answer = await browser.send(form, **{"source": "A trip.", **typed})
    assert answer.status_code in (413, 422)
    told = re.search(rf'id="f-{field}-error">([^<]*)<', answer.text)
    assert told, answer.text[:2000]
    assert said in told[1]
    assert 'aria-current="true"><b>Itinerary of a trip' in answer.text
    if field == "attribute-days":
        assert f'value="{typed[field]}"' in answer.text
    assert await api.pool.fetchval("SELECT count(*) FROM documents") == 0


async def test_the_sample_trip_is_one_click(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new?kind=itinerary", "/runs/sample")
    assert (await browser.send(form)).status_code == 303
    assert await api.pool.fetchval("SELECT kind FROM documents") == "itinerary"


async def test_a_plan_is_shown_day_by_day_with_its_costs(api: Api, browser: Browser) -> None:
    body = trip("00").body.replace("Dial A Cake", "<b>Dial</b> A Cake")
    words = {"name": "request", "media_type": "text/plain", "text": queries()["00"]["query"]}
    run = await api.run(kind="itinerary", title="A trip", body=body, sources=[words])
    for path in (f"/runs/{run['id']}", f"/documents/{run['document_id']}?revision=0"):
        shown = (await browser.open(path)).text
        assert shown.count('class="day"') == 3
        assert re.search(r"<h3><span>Day 2</span> <span class=\"day-fact\">2022-03-17 Thu", shown)
        assert '<span class="entry-cost">474 USD</span>' in shown
        assert "<bdi>&lt;b&gt;Dial&lt;/b&gt; A Cake, Rockford</bdi>" in shown
        assert '<td class="num">1608 USD</td>' in shown
        assert "Budget 1700 USD, 92 USD left" in shown
    quote = "- dinner: Coco Bambu, Rockford (72 USD)"
    await add_issue(api.pool, run["id"], 7, quote=quote)
    shown = (await browser.open(f"/runs/{run['id']}")).text
    assert re.search(r'Coco Bambu, Rockford</bdi> <a class="mark"[^>]*>I7</a>', shown)
    assert "format=ics" in shown
    regions = await browser.open(f"/runs/{run['id']}?regions=1&have=text 0 False I7")
    assert 'class="trip"' not in regions.text


async def test_a_plan_without_dates_has_no_link_to_a_calendar(api: Api, browser: Browser) -> None:
    body = "# A trip\n\n## Day 1 · Rockford\n\n- sight: Museum, Rockford (–)\n"
    run = await api.run(kind="itinerary", title="A trip", body=body, sources=[])
    for path in (f"/runs/{run['id']}", f"/documents/{run['document_id']}"):
        shown = (await browser.open(path)).text
        assert "format=docx" in shown
        assert "format=ics" not in shown


async def test_the_page_says_which_call_brought_which_day_and_what_was_dropped(
    api: Api, browser: Browser
) -> None:
    run = await api.run(kind="itinerary", title="A trip", body=None, sources=[])
    step = await add_step(api.pool, run["id"], name="draft", round=0)
    kept = {"1": {"day": 1, "city": "Rome", "entries": [{"name": "Forum"}]}, "2": {}}
    first = await add_call(api.pool, run["id"], step, step_name="draft", round=0, items_dropped=2)
    for at, (key, payload) in enumerate(kept.items(), start=1):
        row = {"key": key, "position": at, "payload": payload, "part": "all"}
        ids = {"id": new_id(), "plan_id": step[1], "step_id": step[0], "call_id": first}
        await insert(api.pool, "step_items", **ids, **row)
    dropped = {"dropped": {"changed_earlier": 1, "invalid": 1}}
    await insert(
        api.pool,
        "run_events",
        run_id=run["id"],
        seq=90,
        type="call_ended",
        actor="worker",
        data={"call_id": first, **dropped, "dropped_keys": {"changed_earlier": ["1"]}},
    )
    (call,) = (await api.get(f"/api/runs/{run['id']}/calls")).json["items"]
    assert call["kept_keys"] == ["1", "2"]
    assert call["dropped"] == {"changed_earlier": 1, "invalid": 1}
    shown = (await browser.open(f"/runs/{run['id']}")).text
    ledger = re.sub(r"(?:<[^>]*>|\s)+", " ", shown[shown.index('id="ledger"') :])
    assert (
        " 1 1, 2 It is at work. 1 : kept already; another version was offered; "
        "1 : not in the form that was asked for " in ledger
    )
    assert "<strong>Day 1</strong> <bdi>Rome · Forum</bdi>" in shown
