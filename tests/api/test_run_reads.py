"""What pages ask the database, above all that of a run: little where something changed, next to
nothing where nothing did, and once for all who look."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from deploy.database import new_id, prepare_connection
from tests.api.harness import Api
from tests.eventually import eventually
from tests.read_rows import add_call, add_events, add_issue, add_run, add_step, insert

MOST = 8
"""Statements of a refresh after something changed."""


class _Counting(asyncpg.Connection):
    """Notes every statement."""

    asked: list[str]

    async def _execute(self, query: str, *more: Any, **named: Any) -> Any:
        if "AS worker_alive" not in query:  # asked every some seconds, for all runs at once
            self.asked.append(" ".join(query.split()))
        return await super()._execute(query, *more, **named)  # type: ignore[misc]  # untyped there


@contextlib.asynccontextmanager
async def _counted(api: Api) -> AsyncIterator[list[str]]:
    """The statements of the application meanwhile, with a pool of its own."""
    asked = list[str]()
    counting = type("_OfThisTest", (_Counting,), {"asked": asked})
    usual = api.state.pool
    async with asyncpg.create_pool(
        api.state.settings.database_url,
        min_size=1,
        max_size=4,
        init=prepare_connection,
        connection_class=counting,
    ) as pool:
        api.state.pool = pool
        asked.clear()  # those of new connections
        try:
            yield asked
        finally:
            api.state.pool = usual


async def _at_work(api: Api) -> tuple[str, str]:
    """A run in the middle of a step: items kept of a call that dropped others, one call open."""
    run = await add_run(api.pool)
    step = await add_step(api.pool, run, input_revision=0)
    ended = {"status": "FAILED", "ended_at": datetime.now(UTC), "items_dropped": 1}
    call = await add_call(api.pool, run, step, items_kept=1, **ended)
    item = {"plan_id": step[1], "step_id": step[0], "part": "all", "key": "K1", "position": 0}
    payload = {"problem": "It was 21."}
    await insert(api.pool, "step_items", id=new_id(), call_id=call, payload=payload, **item)
    open_call = await add_call(api.pool, run, step, number=2, partial_text="so far")
    await add_issue(api.pool, run, 1)
    await add_events(api.pool, run, 3)
    return run, open_call


async def _refresh(api: Api, run: str, tag: str = "") -> tuple[int, str, str]:
    """Status, tag and text of what the live module asks for."""
    headers = {"accept": "text/html", **({"if-none-match": tag} if tag else {})}
    answer = await api.client.get(f"/runs/{run}?regions=1", headers=headers)
    return answer.status_code, answer.headers.get("etag", ""), answer.text


async def _told_of_the_engine(api: Api, run: str) -> bool:
    """Temporal is not here; that is found beside the pages and changes what they say."""
    return "Temporal does not answer." in (await _refresh(api, run))[2]


async def test_a_refresh_asks_few_statements_and_one_where_nothing_changed(api: Api) -> None:
    run, call = await _at_work(api)
    await eventually(lambda: _told_of_the_engine(api, run), seconds=30, what="the first look at it")
    async with _counted(api) as asked:
        _, tag, text = await _refresh(api, run)
        assert "so far" in text
        assert len(asked) <= MOST + 3, asked  # and sources, texts, profiles
        asked.clear()
        status, same, _ = await _refresh(api, run, tag)
        assert (status, same, len(asked)) == (304, tag, 1), asked
        asked.clear()
        assert (await _refresh(api, run))[:2] == (200, tag)
        assert len(asked) == 1, asked
        await api.pool.execute("UPDATE model_calls SET partial_text = 'more' WHERE id = $1", call)
        await api.pool.execute("UPDATE steps SET score = 3 WHERE run_id = $1", run)
        await api.pool.execute("UPDATE step_items SET position = 1 WHERE call_id <> $1", call)
        await api.pool.execute("UPDATE step_plans SET recut = true WHERE run_id = $1", run)
        await add_issue(api.pool, run, 2)
        await add_events(api.pool, run)
        asked.clear()
        status, newer, text = await _refresh(api, run, tag)
        assert (status, newer != tag) == (200, True)
        assert "more" in text
        assert len(asked) <= MOST, asked


async def test_viewers_of_one_moment_share_what_is_shown_but_no_key_of_a_form(api: Api) -> None:
    run, _ = await _at_work(api)
    await eventually(lambda: _told_of_the_engine(api, run), seconds=30, what="the first look at it")
    shown = [text for _, _, text in await asyncio.gather(*(_refresh(api, run) for _ in range(5)))]
    found = [re.findall(r'name="idempotency_key" value="([^"]+)"', text) for text in shown]
    keys = [key for one in found for key in one]
    assert len(found[0]) > 1
    assert len(keys) == len(set(keys)) == 5 * len(found[0])
    assert len({re.sub("|".join(keys), "", text) for text in shown}) == 1
    await api.pool.execute("UPDATE issues SET quote = 'the green box'")
    assert "the green box" in (await _refresh(api, run))[2]


async def test_a_refresh_brings_what_every_page_says_about_the_service(api: Api) -> None:
    run, _ = await _at_work(api)
    _, tag, text = await _refresh(api, run)
    assert "No new work is taken." not in text
    drain = {"draining": True, "note": "a <deploy>"}
    assert (await api.call("PUT", "/api/switches", drain)).status == 200

    async def told() -> str | None:
        status, _, newer = await _refresh(api, run, tag)
        return newer if status == 200 else None

    text = await eventually(told, seconds=30, what="the notice")
    assert "No new work is taken." in text
    assert "a &lt;deploy&gt;" in text
    whole = (await api.client.get(f"/runs/{run}", headers={"accept": "text/html"})).text
    assert whole.count('id="notices"') == 1


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("UPDATE documents SET title = 'Another <title>'", "Another &lt;title&gt;"),
        ("UPDATE issues SET quote = 'the green box'", "the green box"),
        ('UPDATE step_items SET payload = \'{"problem": "a new one"}\'', "a new one"),
        ("UPDATE model_calls SET partial_text = 'so far and on' WHERE number = 2", "so far and on"),
        ("UPDATE revisions SET body = '# Minutes of May'", "Minutes of May"),
        ("UPDATE runs SET last_progress_at = now() - interval '1 hour'", "No progress since"),
        ("UPDATE model_calls SET model = 'bigger'", "bigger"),
        ("UPDATE run_events SET actor = 'carla', seq = seq + 5", "carla"),
    ],
)
async def test_what_changes_is_in_the_next_refresh(api: Api, change: str, shown: str) -> None:
    run, _ = await _at_work(api)
    _, tag, before = await _refresh(api, run)
    assert shown not in before
    await api.pool.execute(change)
    status, _, text = await _refresh(api, run, tag)
    assert (status, shown in text) == (200, True)


async def test_those_who_look_at_once_share_what_is_read(api: Api) -> None:
    run, _ = await _at_work(api)
    async with _counted(api) as asked:
        answers = await asyncio.gather(*(_refresh(api, run) for _ in range(20)))
        assert len({tag for _, tag, _ in answers}) == 1
        assert len(asked) <= MOST + 4, asked


async def test_a_deleted_run_is_not_shown_from_memory(api: Api) -> None:
    run, _ = await _at_work(api)
    _, tag, _ = await _refresh(api, run)
    await api.pool.execute("DELETE FROM documents")
    assert (await _refresh(api, run, tag))[0] == 404


@pytest.mark.parametrize("asked_for", ["/runs?q=21", "/api/runs?q=21&count=true"])
async def test_a_search_reads_the_texts_once_for_its_rows_and_its_counts(
    api: Api, asked_for: str
) -> None:
    await _at_work(api)
    async with _counted(api) as asked:
        answer = await api.client.get(asked_for, headers={"accept": "text/html"})
        assert answer.status_code == 200
        assert len([statement for statement in asked if "v.body" in statement]) == 1, asked


async def test_stops_and_interrupts_of_a_kind_are_asked_for_at_once(api: Api) -> None:
    runs = [await add_run(api.pool, kind=kind) for kind in ("minutes", "text")]
    stop = {"type": "guardrail_stop", "actor": "worker", "data": {"code": "spinning"}}
    for run in runs:
        event = {"run_id": run, "request_id": None, "at": datetime.now(UTC) - timedelta(seconds=9)}
        await insert(api.pool, "run_events", seq=7, **stop, **event)
        await insert(
            api.pool, "run_events", seq=8, type="run_interrupted", actor="ana", data={}, **event
        )
    for query, count in (("?kind=text", 1), ("?profile=none", 0), ("", 2)):
        async with _counted(api) as asked:
            seen = (await api.get(f"/api/observe{query}")).json
        assert seen["guardrail_stops"] == ({"spinning": count} if count else {})
        assert seen["interrupts"]["count"] == count
        assert sum("run_events" in statement for statement in asked) == 1, asked
