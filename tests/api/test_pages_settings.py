"""Settings and calls without script: versions of profiles, filters, one call as it was."""

from __future__ import annotations

import json
import uuid

from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_call, add_run, add_step, add_worker, insert

NAMES = ("here", "gone")
PRICES = {"currency": "USD", "tables": [{"input": "1", "output": "2"}]}


async def test_a_version_of_a_profile_is_looked_at_then_appended(api: Api) -> None:
    browser = Browser(api.client)
    form = await browser.form("/settings/new-profile", "/settings/profiles")
    typed = {"name": "careful", "model": "large", "key_env": "CAREFUL_API_KEY"}
    assert "a text of at most 200,000 characters" in (await browser.open("/settings")).text
    looked = await browser.send(form, look="1", prices=json.dumps(PRICES), **typed)
    assert "A new profile" in looked.text
    assert "&#34;input&#34;: &#34;1&#34;" in looked.text
    assert (await api.get("/api/profiles/careful/versions")).status == 404
    stored = await browser.send(form, prices=json.dumps(PRICES), **typed)
    assert (stored.status_code, stored.headers["location"]) == (303, "/settings/profiles/careful")
    again = await browser.form("/settings/new-profile?from=careful", "/settings/profiles")
    assert again.fields["key_env"] == "CAREFUL_API_KEY"  # an edit does not change it unseen
    assert json.loads(again.fields["prices"]) == PRICES
    same = await browser.send(again)
    assert same.status_code == 200
    assert "What changes against version 1" in same.text
    assert (await browser.send(again, model="larger")).status_code == 303
    shown = (await browser.open("/settings/profiles/careful")).text
    assert "Version 2" in shown
    assert ">large</del>" in shown
    assert ">larger</ins>" in shown


async def test_a_worker_without_a_sign_of_life_is_said_to_do_nothing(api: Api) -> None:
    for name, seconds in zip(NAMES, (0.0, 3600.0), strict=True):
        await add_worker(api.pool, name, silent_for=seconds)
    working = [uuid.uuid4()]
    await api.pool.execute("UPDATE workers SET in_flight = $1", working)
    shown = (await Browser(api.client).open("/settings")).text
    here, gone = (shown.partition(f'title="{name}"')[2].partition("</tr>")[0] for name in NAMES)
    assert 'data-label="At work">1<' in here
    assert 'data-label="At work">–<' in gone


async def test_what_is_wrong_with_a_profile_stands_beside_its_field(api: Api) -> None:
    browser = Browser(api.client)
    form = await browser.form("/settings/new-profile", "/settings/profiles")
    answer = await browser.send(form, name="x", model="m", prices="{not", parameters="<b>")
    assert answer.status_code == 422
    assert 'id="f-prices-error">This is not JSON.' in answer.text
    assert "&lt;b&gt;" in answer.text
    secret = await browser.send(form, name="x", model="m", key_env="sk-secretsecretsecret")
    assert secret.status_code == 422
    assert 'id="f-key_env-error"' in secret.text
    key = "sk-proj-ABCDEFghij0123456789abcdefXYZ"
    at = f"http://h/v1?auth={key}"
    placed = await browser.send(form, name=key, model=key, base_url=at, key_env="KEPT_KEY")
    assert placed.status_code == 422
    assert key not in placed.text  # what was refused there is not shown to the next eyes
    assert "KEPT_KEY" in placed.text
    for prompts in ('{"review":"a\\u0000b"}', '{"review":"\\ud800"}'):
        answer = await browser.send(form, name="x", model="m", prompts=prompts)
        assert answer.status_code == 422
        assert 'id="f-prompts-error"' in answer.text
    long = await browser.send(form, name="x", model="m", idempotency_key="k" * 12_000)
    assert long.status_code == 422
    assert (await api.get("/api/profiles/x/versions")).status == 404


async def test_the_log_of_calls_is_narrowed_by_its_address(api: Api) -> None:
    browser = Browser(api.client)
    run = await add_run(api.pool)
    step = await add_step(api.pool, run)
    await add_call(api.pool, run, step, model="model-a", number=1)
    await add_call(api.pool, run, step, model="model-b", number=2, profile="other")
    both = (await browser.open("/calls")).text
    assert both.count("<tr>") == 3
    one = (await browser.open("/calls?profile=other&status=STARTED")).text
    assert one.count("<tr>") == 2
    assert 'value="other" selected' not in one  # no such profile is stored
    assert "No call fits these filters." in (await browser.open("/calls?step=refine")).text
    assert (await browser.open("/calls?status=NEVER")).status_code == 422
    assert (await api.get("/api/calls?end_cause=cut")).json["items"] == []


async def test_a_call_shows_its_pieces_its_neighbours_and_a_long_reply_on_request(api: Api) -> None:
    browser = Browser(api.client)
    run = await add_run(api.pool)
    step = await add_step(api.pool, run)
    first = await add_call(api.pool, run, step, number=1)
    second = await add_call(api.pool, run, step, number=2)
    recipe = {"input_revision": 0, "issues": [1, 2], "schema": "redraft_refine"}
    reply = "<script>" + "x" * 70_000 + "THE END"
    await insert(api.pool, "model_call_bodies", call_id=second, reply=reply, recipe=recipe)
    shown = (await browser.open(f"/calls/{second}")).text
    assert "&lt;script&gt;" in shown
    assert "I1, I2" in shown
    assert f"/calls/{first}" in shown
    assert "THE END" not in shown
    assert "THE END" in (await browser.open(f"/calls/{second}?whole=1")).text
    assert "no longer kept" in (await browser.open(f"/calls/{first}")).text
