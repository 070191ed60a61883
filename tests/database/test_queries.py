"""Reads over real rows: what `phase` says, what lists hold, in which order, and how they page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest_asyncio

from api import queries, wire
from deploy.database import Pool, new_id, open_pool
from deploy.settings import load
from tests import read_rows as rows
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="module")
async def shared_pool(postgres: PostgresServer) -> AsyncIterator[Pool]:
    """One database for the module: reads leave nothing behind, so emptying it is enough."""
    url = await postgres.clone()
    pool = await open_pool(load({"REDRAFT_DATABASE_URL": url}), name="redraft-tests")
    yield pool
    await pool.close()
    await postgres.drop(url)


@pytest_asyncio.fixture
async def pool(shared_pool: Pool) -> Pool:
    for table in ("documents", "workers", "profiles", "switches"):
        await shared_pool.execute(f"DELETE FROM {table}")  # noqa: S608
    return shared_pool


async def read(pool: Pool, run_id: str) -> wire.Run:
    found = await queries.run(pool, run_id)
    assert found is not None
    return found


async def phase(pool: Pool, run_id: str) -> wire.Coded | None:
    return (await read(pool, run_id)).phase


async def test_a_run_no_step_works_on_is_queued_behind_those_that_wait_longer(pool: Pool) -> None:
    now = datetime.now(UTC)
    first = await rows.add_run(pool, queued_at=now - timedelta(minutes=3))
    working = await rows.add_run(pool, queued_at=now - timedelta(minutes=2))
    last = await rows.add_run(pool, queued_at=now - timedelta(minutes=1))
    await rows.add_worker(pool)
    await rows.add_step(pool, working)
    assert await phase(pool, first) == wire.Coded(code="queued", params={"ahead": 0})
    assert await phase(pool, last) == wire.Coded(code="queued", params={"ahead": 1})
    assert await phase(pool, working) == wire.Coded(code="working")


async def test_a_step_of_a_silent_departed_or_unknown_worker_is_lost(pool: Pool) -> None:
    run_id = await rows.add_run(pool)
    await rows.add_step(pool, run_id)
    lost = await phase(pool, run_id)
    assert lost == wire.Coded(code="worker_lost", params={"worker": "w1", "last_seen": None})
    await rows.add_worker(pool, silent_for=16)
    lost = await phase(pool, run_id)
    assert lost is not None
    assert lost.code == "worker_lost"
    assert lost.params["last_seen"].endswith("Z")
    await pool.execute("UPDATE workers SET seen_at = now()")
    assert await phase(pool, run_id) == wire.Coded(code="working")
    await pool.execute("UPDATE workers SET goodbye_at = now()")
    lost = await phase(pool, run_id)
    assert lost is not None
    assert lost.code == "worker_lost"


async def test_a_run_that_waits_says_until_when_and_why(pool: Pool) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=1)
    run_id = await rows.add_run(pool, retry_at=soon, last_error_code="rate_limited")
    waits = {"next_at": wire.timestamp(soon), "last_error": "rate_limited"}
    assert await phase(pool, run_id) == wire.Coded(code="waiting_retry", params=waits)
    await pool.execute("UPDATE runs SET last_error_code = 'bucket'")
    ours = wire.Coded(code="rate_limited", params={"next_at": wire.timestamp(soon)})
    assert await phase(pool, run_id) == ours
    await pool.execute("UPDATE runs SET retry_at = now() - interval '1 s'")
    assert await phase(pool, run_id) == wire.Coded(code="queued", params={"ahead": 0})


async def test_work_of_an_older_epoch_is_stopping_and_other_statuses_have_no_phase(
    pool: Pool,
) -> None:
    resumed = await rows.add_run(pool, epoch=2)
    await rows.add_step(pool, resumed, epoch=1)
    assert await phase(pool, resumed) == wire.Coded(code="stopping")
    held = await rows.add_run(pool, status="INTERRUPTED", reason_code="operator")
    await rows.add_step(pool, held)
    found = await read(pool, held)
    assert found.phase is None
    assert found.stopping
    assert found.reason == wire.Coded(code="operator")
    assert found.active_step is not None
    await pool.execute(
        "UPDATE steps SET status = 'FAILED', reason_code = 'interrupted', ended_at = now() "
        "WHERE run_id = $1",
        held,
    )
    assert not (await read(pool, held)).stopping


async def test_a_run_is_stopping_while_a_call_is_still_open(pool: Pool) -> None:
    run_id = await rows.add_run(pool, status="INTERRUPTED")
    step = await rows.add_step(
        pool, run_id, status="FAILED", reason_code="interrupted", ended_at=datetime.now(UTC)
    )
    await rows.add_call(pool, run_id, step)
    assert (await read(pool, run_id)).stopping


async def test_money_is_a_decimal_string_and_null_while_unknown(pool: Pool) -> None:
    run_id = await rows.add_run(pool)
    assert (await read(pool, run_id)).cost is None
    await pool.execute("UPDATE runs SET cost = $1", Decimal("0.012300000"))
    assert (await read(pool, run_id)).cost == "0.0123"
    await pool.execute("UPDATE runs SET cost = 0")
    assert (await read(pool, run_id)).cost == "0"


async def test_a_run_counts_open_issues_and_tells_a_due_signal_and_its_link(pool: Pool) -> None:
    run_id = await rows.add_run(pool, event_seq=4, move_seq=4, signalled_seq=2)
    for number, status in enumerate(("open", "reopened", "fixed", "waived"), start=1):
        await rows.add_issue(pool, run_id, number, status=status)
    web = queries.TemporalWeb(base="http://web:8233/", namespace="red draft")
    found = await queries.run(pool, run_id, web=web)
    assert found is not None
    assert found.open_issues == 2
    assert found.signal_due
    link = f"http://web:8233/namespaces/red%20draft/workflows/redraft-run-{run_id}"
    assert found.temporal_url == link
    assert (await read(pool, run_id)).temporal_url is None


async def test_what_does_not_exist_is_none_whatever_was_asked_for(pool: Pool) -> None:
    for id_ in (new_id(), "x", "", "' OR 1", "{}", "\0"):
        assert await queries.run(pool, id_) is None
        assert await queries.steps_page(pool, id_) is None
        assert await queries.items_page(pool, id_) is None
        assert await queries.calls_page(pool, id_) is None
        assert await queries.issues_page(pool, id_) is None
        assert await queries.events_page(pool, id_) is None
        assert await queries.document(pool, id_) is None
        assert await queries.revisions_page(pool, id_) is None
        assert await queries.revision(pool, id_, 0) is None
        assert await queries.source(pool, id_, id_) is None
        assert await queries.call(pool, id_) is None


async def test_pages_of_runs_hold_each_run_once_newest_first(pool: Pool) -> None:
    same = datetime.now(UTC)  # equal times: the id decides
    expected = [await rows.add_run(pool, created_at=same) for _ in range(7)]
    expected.sort(reverse=True)
    seen: list[str] = []
    cursor = None
    while True:
        page = await queries.runs_page(pool, queries.RunFilter(), 3, cursor)
        seen += [run.id for run in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == expected


async def test_a_filter_of_runs_finds_exactly_what_it_names(pool: Pool) -> None:
    running = await rows.add_run(pool, tags=["a", "b"], actor="ana")
    failed = await rows.add_ended_run(pool, "FAILED", kind="itinerary")
    old = await rows.add_run(
        pool, status="INTERRUPTED", created_at=datetime(2025, 1, 1, tzinfo=UTC)
    )

    async def ids(**wanted: object) -> set[str]:
        page = await queries.runs_page(pool, queries.RunFilter(**wanted))  # type: ignore[arg-type]
        return {run.id for run in page.items}

    assert await ids(statuses=("RUNNING",)) == {running}
    assert await ids(statuses=("RUNNING", "FAILED")) == {running, failed}
    assert await ids(kinds=("itinerary",)) == {failed}
    assert await ids(phases=("queued",)) == {running}
    assert await ids(phases=("working",)) == set()
    assert await ids(tags=("b",)) == {running}
    assert await ids(tags=("b", "c")) == set()
    assert await ids(actors=("ana",)) == {running}
    assert await ids(from_=datetime(2025, 6, 1, tzinfo=UTC)) == {running, failed}
    assert await ids(to=datetime(2025, 6, 1, tzinfo=UTC)) == {old}
    assert await ids(ids=(old, failed)) == {old, failed}
    document_id = (await read(pool, failed)).document_id
    assert await ids(document_id=document_id) == {failed}


async def test_search_finds_words_of_titles_and_texts_also_chinese_and_takes_them_literally(
    pool: Pool,
) -> None:
    by_title = await rows.add_run(pool, await rows.add_document(pool, title="质量评审 100%"))
    by_text = await rows.add_run(pool, await rows.add_document(pool, "# Notes\n\nBudget_A 预算\n"))
    both = await rows.add_run(pool, await rows.add_document(pool, "质量", title="质量"))

    async def found(q: str) -> list[str]:
        page = await queries.runs_page(pool, queries.RunFilter(q=q), 50, None, True)
        assert page.total == len(page.items)
        return [run.id for run in page.items]

    assert await found("质量") == [both, by_title]
    assert await found("预算") == [by_text]
    assert await found("budget_a") == [by_text]
    assert await found("100%") == [by_title]
    assert await found("1%") == []
    assert await found("budgetxa") == []
    for same in ("bUDGET_a 预算", "_A 预算", "NOTES\n\nb", " 预", "_"):
        assert await found(same) == [by_text], same
    for other in ("budget_a  预算", "budget-a 预算", "notes b", "_预", "%"):
        assert by_text not in await found(other), other


async def test_a_search_counts_what_it_finds_in_each_status(pool: Pool) -> None:
    for _ in range(2):
        await rows.add_run(pool, await rows.add_document(pool, title="budget"))
    await rows.add_ended_run(pool, "CONFIRMED", await rows.add_document(pool, "a budget"))
    counts = await queries.counts_by_status(pool, queries.RunFilter(q="BUDGET"))
    assert {status: number for status, number in counts.items() if number} == {
        "RUNNING": 2,
        "CONFIRMED": 1,
    }


async def test_counts_by_status_leave_the_status_filter_out(pool: Pool) -> None:
    await rows.add_run(pool)
    await rows.add_run(pool)
    await rows.add_ended_run(pool, "CONFIRMED")
    wanted = queries.RunFilter(statuses=("RUNNING",))
    page = await queries.runs_page(pool, wanted, 1, None, True)
    assert page.total == 2
    assert page.by_status is not None
    assert page.by_status["CONFIRMED"] == 1
    assert page.by_status["FAILED"] == 0
    plain = await queries.runs_page(pool, wanted, 1)
    assert set(plain.model_dump(mode="json")) == {"items", "next_cursor"}


async def test_rows_of_a_run_come_in_order_and_page_without_loss(pool: Pool) -> None:
    run_id = await rows.add_run(pool)
    ended = {"status": "FAILED", "reason_code": "interrupted", "ended_at": datetime.now(UTC)}
    first = await rows.add_step(pool, run_id, **ended)
    second = await rows.add_step(pool, run_id, seq=2, attempt=2)
    call = await rows.add_call(pool, run_id, first, status="LOST", ended_at=datetime.now(UTC))
    await rows.add_call(pool, run_id, second, number=2)
    for number in range(3):
        await rows.insert(
            pool,
            "step_items",
            id=new_id(),
            plan_id=first[1],
            part="all",
            key=f"k{number}",
            position=number,
            payload={"n": number},
            step_id=first[0],
            call_id=call,
        )
        await rows.add_issue(pool, run_id, number + 1)
    await rows.add_events(pool, run_id, 3)
    steps = await queries.steps_page(pool, run_id, count=True)
    assert steps is not None
    assert [(step.seq, step.status) for step in steps.items] == [(1, "FAILED"), (2, "RUNNING")]
    assert steps.items[0].reason == wire.Coded(code="interrupted")
    assert steps.items[0].parts == wire.Parts(done=0, total=1)
    assert steps.by_status == {"FAILED": 1, "RUNNING": 1}
    calls = await queries.calls_page(pool, run_id)
    assert calls is not None
    assert [c.number for c in calls.items] == [1, 2]
    items = [(await queries.items_page(pool, run_id, 1)), None, None]
    for place in (1, 2):
        before = items[place - 1]
        assert before is not None
        items[place] = await queries.items_page(pool, run_id, 1, before.next_cursor)
    assert [page and page.items[0].key for page in items] == ["k0", "k1", "k2"]
    assert items[2] is not None
    assert items[2].next_cursor is None
    issues = await queries.issues_page(pool, run_id, 2)
    assert issues is not None
    rest = await queries.issues_page(pool, run_id, 2, issues.next_cursor)
    assert rest is not None
    assert [issue.number for issue in issues.items + rest.items] == [1, 2, 3]
    events = await queries.events_page(pool, run_id, 1, 1)
    assert events is not None
    last = await queries.events_page(pool, run_id, 1, 5, cursor=events.next_cursor)
    assert last is not None
    assert [event.seq for event in events.items + last.items] == [2, 3]


async def test_an_event_carries_its_facts_beside_the_fixed_fields(pool: Pool) -> None:
    run_id = await rows.add_run(pool)
    await rows.add_events(pool, run_id)
    await pool.execute("""UPDATE run_events SET data = '{"seq": 99, "reason": "operator"}'""")
    page = await queries.events_page(pool, run_id)
    assert page is not None
    sent = page.items[0].model_dump(mode="json")
    assert sent["seq"] == 1
    assert sent["reason"] == "operator"
    assert set(sent) == {"seq", "type", "at", "actor", "request_id", "reason"}


async def test_documents_revisions_and_sources_are_listed_without_their_texts(pool: Pool) -> None:
    document_id = await rows.add_document(pool, "one")
    await rows.add_revision(pool, document_id, 1, "two 二", comment="mine")
    for position in range(2):
        await rows.insert(
            pool,
            "sources",
            id=new_id(),
            document_id=document_id,
            name="t",
            media_type="text/plain",
            text="Ana: hello",
            sha256="x",
            position=position,
            actor="local",
        )
    found = await queries.document(pool, document_id)
    assert found is not None
    assert (found.newest_revision, found.active_run) == (1, None)
    run_id = await rows.add_run(pool, document_id)
    listed = await queries.documents_page(pool, count=True)
    assert [d.active_run for d in listed.items] == [run_id]
    assert listed.total == 1
    revisions = await queries.revisions_page(pool, document_id, 1)
    assert revisions is not None
    assert "body" not in revisions.items[0].model_dump()
    rest = await queries.revisions_page(pool, document_id, 1, revisions.next_cursor)
    assert rest is not None
    assert [(r.number, r.characters, r.comment) for r in rest.items] == [(1, 5, "mine")]
    body = await queries.revision(pool, document_id, 1)
    assert body is not None
    assert body.body == "two 二"
    assert await queries.revision(pool, document_id, 2**40) is None
    sources = await queries.sources_page(pool, document_id, 1)
    assert sources is not None
    more = await queries.sources_page(pool, document_id, 1, sources.next_cursor)
    assert more is not None
    assert [s.position for s in more.items] == [1]
    text = await queries.source(pool, document_id, sources.items[0].id)
    assert text is not None
    assert text.text == "Ana: hello"


async def test_the_call_log_is_newest_first_and_one_call_shows_its_kept_reply(pool: Pool) -> None:
    run_id = await rows.add_run(pool)
    step = await rows.add_step(pool, run_id)
    older = await rows.add_call(pool, run_id, step)
    newer = await rows.add_call(pool, run_id, step, number=2, model="other")
    await rows.insert(pool, "model_call_bodies", call_id=older, reply="{}", recipe={"revision": 0})
    log = await queries.calls_all_page(pool, None, 1)
    assert [c.id for c in log.items] == [newer]
    rest = await queries.calls_all_page(pool, None, 1, log.next_cursor, True)
    assert [c.id for c in rest.items] == [older]
    assert (rest.total, rest.by_status) == (2, {"STARTED": 2})
    only = await queries.calls_all_page(pool, queries.CallFilter(model="other"))
    assert [c.id for c in only.items] == [newer]
    kept, gone = await queries.call(pool, older), await queries.call(pool, newer)
    assert kept is not None
    assert gone is not None
    assert (kept.reply, kept.recipe, gone.reply) == ("{}", {"revision": 0}, None)


async def test_profiles_show_their_newest_version_and_never_the_name_of_a_key(
    pool: Pool,
) -> None:
    for name, version in (("default", 1), ("default", 2), ("fast", 1)):
        await rows.insert(
            pool, "profiles", name=name, version=version, model="m", actor="x", key_env="HOME"
        )
    page = await queries.profiles_page(pool, 1, None, True)
    assert [(p.name, p.version, p.key_set) for p in page.items] == [("default", 2, True)]
    assert page.total == 2
    assert "key_env" not in page.items[0].model_dump()
    rest = await queries.profiles_page(pool, 1, page.next_cursor)
    assert [p.name for p in rest.items] == ["fast"]
    versions = await queries.profile_versions(pool, "default", 1)
    assert versions is not None
    assert [p.version for p in versions.items] == [2]
    assert await queries.profile_versions(pool, "none") is None
    run_id = await rows.add_run(pool)
    assert (await read(pool, run_id)).profile == wire.ProfileRef(name="default", version=2)


async def test_workers_and_switches_are_read_as_they_are(pool: Pool) -> None:
    assert not (await queries.switches(pool)).draining
    await rows.insert(pool, "switches", name="draining", value=True, note="upgrade", actor="ana")
    found = await queries.switches(pool)
    assert (found.draining, found.note) == (True, "upgrade")
    await rows.add_worker(pool, "here")
    await rows.add_worker(pool, "gone", silent_for=60)
    assert {w.id: w.alive for w in await queries.workers(pool)} == {"here": True, "gone": False}
