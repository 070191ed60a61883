"""A draft that is stopped behind each of its sections and resumed asks for none of them twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.round import Rounds
from activities.tools import Tools
from deploy.database import new_id
from tests import read_rows
from tests.attempts import HERE, Shop
from tests.fake_llm import Items, Reply, Request, draft_items
from workflows.contract import Outcome, WorkInput
from workflows.kinds.kind import KindLimits
from workflows.vocabulary import EventType

SECTIONS = ("decisions", "rejected", "actions")
LINES = 60


def said(what: str) -> str:
    return "\n".join(f"Ana: line {n}, we decided to ship {what} {n} today." for n in range(LINES))


async def drafted_run(shop: Shop) -> str:
    """A run without a text, whose transcript is two windows long."""
    attributes = {"template": "decision-log"}
    document = await read_rows.add_document(shop.pool, attributes=attributes)
    await shop.pool.execute("DELETE FROM revisions WHERE document_id = $1", document)
    await shop.pool.execute("UPDATE documents SET revision_seq = -1 WHERE id = $1", document)
    row = {"name": "t", "media_type": "text/plain", "sha256": "", "position": 0, "actor": "local"}
    row |= {"id": new_id(), "document_id": document, "text": said("box")}
    await read_rows.insert(shop.pool, "sources", **row)
    await shop.pool.execute(
        """
        INSERT INTO profiles (name, version, model, base_url, prompts, actor)
        VALUES ('default', 1, 'fake', $1, '{"window_tokens": 700}', 'local')
        """,
        shop.llm.base_url,
    )
    nothing = dict.fromkeys(("base_revision", "working_revision"))
    row = {"queued_at": datetime.now(UTC), "stage": "draft", **nothing}
    return await read_rows.add_run(shop.pool, document, **row)


def attempt(tools: Tools, run_id: str, epoch: int = 1) -> asyncio.Task[Outcome]:
    given = WorkInput(run_id=run_id, epoch=epoch)
    return asyncio.create_task(ActivityEnvironment().run(Rounds(tools).draft, given))


async def stored(shop: Shop) -> int:
    [[count]] = await shop.told("SELECT count(*) FROM step_items")
    return int(count)


async def test_a_draft_stopped_behind_each_section_asks_for_none_of_them_twice(shop: Shop) -> None:
    def one_more(request: Request) -> Reply:
        items = draft_items(request)
        return Reply(items=items, stall_after=Items(1) if len(items) > 1 else None)

    shop.llm.script({"redraft_draft": one_more})
    run_id = await drafted_run(shop)
    tools, epoch = shop.worker(), 0
    while True:
        epoch += 1
        task = attempt(tools, run_id, epoch)
        before = await stored(shop)

        async def moved_on(task: asyncio.Task[Outcome] = task, before: int = before) -> bool:
            parts = 2 if before < 2 * len(SECTIONS) else 1
            return task.done() or await stored(shop) >= before + parts

        await shop.until(moved_on, seconds=40, what=f"a section more than {before}")
        if not task.done() and await stored(shop) < 3 * len(SECTIONS):
            await shop.move(run_id, EventType.RUN_INTERRUPTED)
            for watch in tools.in_flight.of_run(run_id):
                watch.look.set()
        outcome = await asyncio.wait_for(task, 40)
        if outcome.code == "done":
            break
        await shop.move(run_id, EventType.RUN_RESUMED)
        assert epoch < 2 * len(SECTIONS) + 2
    for part in ("notes:1", "notes:2", ""):
        asked = [one for one in shop.llm.of("redraft_draft") if one.part == part]
        told = dict.fromkeys(tuple(one.already_keys("key")) for one in asked)
        assert list(told) == [SECTIONS[:count] for count in range(len(SECTIONS))], part
    [[status, revision]] = await shop.told("SELECT status, working_revision FROM runs")
    assert (status, revision) == ("RUNNING", 0)
    [[body]] = await shop.told("SELECT body FROM revisions")
    assert all(f"ship box {n} today" in body for n in range(LINES))


async def corrected(shop: Shop) -> str:
    """The transcript has a new version, as a person's while the run is at work; its id."""
    new = new_id()
    await shop.pool.execute("UPDATE sources SET replaced_by = $1", new)
    [[document, old]] = await shop.told("SELECT document_id, id FROM sources")
    source = {"name": "t", "media_type": "text/plain", "sha256": "", "position": 0, "version": 2}
    text = f"Bo: we begin.\n{said('crate')}"
    row = {**source, "text": text, "replaces": old, "actor": "ana"}
    await read_rows.insert(shop.pool, "sources", id=new, document_id=document, **row)
    return new


async def test_a_draft_whose_worker_died_goes_on_by_the_transcript_it_was_planned_with(
    shop: Shop,
) -> None:
    """Though it was corrected meanwhile: its windows are lines of the old one."""

    def slow(request: Request) -> Reply:
        return Reply(items=draft_items(request), stall_after=Items(1))

    shop.llm.script({"redraft_draft": slow})
    run_id = await drafted_run(shop)
    lost = attempt(shop.worker(replace(HERE, pid=2**22 + 1)), run_id)

    async def both_noted() -> bool:
        return await stored(shop) == 2

    await shop.until(both_noted, seconds=40, what="a section of each window")
    new = await corrected(shop)
    shop.llm.script({"redraft_draft": lambda request: Reply(items=draft_items(request))})
    assert (await asyncio.wait_for(attempt(shop.worker(), run_id), 40)).code == "done"
    lost.cancel()
    drafting = shop.llm.of("redraft_draft")
    shown = {line.number: line.text for one in drafting for line in one.prompt.lines}
    assert sorted(shown) == list(range(1, LINES + 1))
    assert not any("crate" in text for text in shown.values())
    [[body]] = await shop.told("SELECT body FROM revisions")
    assert all(f"ship box {n} today" in body for n in range(LINES))
    assert "crate" not in body
    done = await shop.attempt(shop.worker(), run_id).ends(40)
    assert done.code == "done"
    [[planned]] = await shop.told("SELECT sources FROM step_plans WHERE name = 'review'")
    assert planned == [new], "the next step sees the correction"
    assert any("crate 7" in one.text for one in shop.llm.of("redraft_review"))


async def template_goes(shop: Shop) -> None:
    """The document names one that is in no folder; its run, older than that, keeps none."""
    await shop.pool.execute("""UPDATE documents SET attributes = '{"template": "council"}'""")


async def test_an_old_run_whose_template_is_gone_fails_at_once_and_says_so(shop: Shop) -> None:
    run_id, tools = await drafted_run(shop), shop.worker()
    await template_goes(shop)
    with pytest.raises(ApplicationError) as raised:
        await attempt(tools, run_id)
    assert raised.value.__cause__ is None, "no word of the document comes into the history"
    [told] = await shop.told("SELECT status, reason_code, reason_params ->> 'code' FROM runs")
    assert told == ("FAILED", "internal", "template_missing")
    assert not shop.llm.requests
    await shop.pool.execute("""UPDATE documents SET attributes = '{"template": "general"}'""")
    await shop.move(run_id, EventType.RUN_RESUMED)
    assert (await attempt(tools, run_id, epoch=2)).code == "done"


async def test_a_run_whose_kind_is_not_installed_fails_at_once_and_says_so(shop: Shop) -> None:
    """As after a restore on a machine without the folder; it looked like a fault of ours."""
    run_id, tools = await drafted_run(shop), shop.worker()
    await shop.pool.execute("UPDATE runs SET kind = 'protocol'")
    with pytest.raises(ApplicationError):
        await attempt(tools, run_id)
    [told] = await shop.told("SELECT status, reason_code, reason_params ->> 'code' FROM runs")
    assert told == ("FAILED", "internal", "kind_missing")
    await shop.pool.execute("UPDATE runs SET kind = 'minutes'")
    await shop.move(run_id, EventType.RUN_RESUMED)
    assert (await attempt(tools, run_id, epoch=2)).code == "done"


async def test_an_old_run_that_was_planned_before_its_template_went_is_drafted_by_its_plan(
    shop: Shop,
) -> None:
    run_id, tools = await drafted_run(shop), shop.worker()
    shop.llm.script(Reply(hang=True))
    stopped = attempt(tools, run_id)

    async def both_asked() -> bool:
        return len(shop.llm.requests) == 2

    await shop.until(both_asked, seconds=40, what="a request for each window")
    await shop.move(run_id, EventType.RUN_INTERRUPTED)
    for watch in tools.in_flight.of_run(run_id):
        watch.look.set()
    assert (await stopped).code == "stopped"
    await template_goes(shop)
    shop.llm.script({"redraft_draft": lambda request: Reply(items=draft_items(request))})
    await shop.move(run_id, EventType.RUN_RESUMED)
    assert (await attempt(tools, run_id, epoch=2)).code == "done"
    [[body]] = await shop.told("SELECT body FROM revisions")
    assert all(f"ship box {n} today" in body for n in range(LINES))


async def test_sections_that_a_document_has_no_room_for_are_left_out_and_counted(
    shop: Shop,
) -> None:
    def runs_away(request: Request) -> Reply:
        long = {"markdown": "- and so on\n" * 1_000}
        items = draft_items(request)
        return Reply(
            items=[{**item, **long} if item["key"] == "rejected" else item for item in items]
        )

    shop.llm.script({"redraft_draft": runs_away})
    run_id, tools = await drafted_run(shop), shop.worker()
    kind: Any = tools.kinds["minutes"]
    tools.kinds["minutes"] = replace(kind, limits=KindLimits(body_characters=9_000))
    assert (await attempt(tools, run_id)).code == "done"
    [[body]] = await shop.told("SELECT body FROM revisions")
    assert len(body) <= 9_000
    assert "and so on" not in body
    assert all(f"ship box {n} today" in body for n in range(LINES))
    [[refused]] = await shop.told("SELECT result -> 'refused' FROM steps WHERE name = 'draft'")
    assert refused == {"too_large": 1}
    [[kept]] = await shop.told(
        "SELECT count(*) FROM step_items WHERE part = 'main' AND key = 'rejected'"
    )
    assert kept == 1, "what was paid for stays in the ledger"
