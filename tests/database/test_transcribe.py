"""The step that hears a recording: parts, stops, what is stored, and what nobody said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.round import Rounds
from deploy.blobs import BlobStore
from deploy.database import Connection, new_id, transaction
from tests import read_rows, sounds
from tests.attempts import Shop
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from workflows.contract import Outcome, WorkInput
from workflows.vocabulary import EventType


class Recordings:
    """Runs that begin with a recording, cut in short parts, and attempts to hear them."""

    def __init__(self, shop: Shop, folder: Path, heard: FakeRecogniser) -> None:
        self.shop, self.heard = shop, heard
        self.store = BlobStore(folder.as_uri())
        self.tools = shop.worker()
        self.attempts: list[tuple[ActivityEnvironment, asyncio.Task[Outcome]]] = []

    async def run(
        self, sound: bytes, *, prices: dict[str, Any] | None = None, **values: Any
    ) -> str:
        """A run whose document has a text and this recording, unheard; `prices` of who hears."""
        document = await read_rows.add_document(self.shop.pool)
        source = await self._source(document, sound, 0)
        await self.profile(prices)
        row = {"unheard_source": source, "queued_at": datetime.now(UTC), **values}
        return await read_rows.add_run(self.shop.pool, document, **row)

    async def add(self, run_id: str, sound: bytes) -> None:
        """A second recording of the run's document."""
        [[document]] = await self.shop.told("SELECT document_id FROM runs WHERE id = $1", run_id)
        await self._source(document, sound, 1)

    async def _source(self, document: str, sound: bytes, position: int) -> str:
        incoming = self.store.receive()
        incoming.write(sound)
        incoming.keep()
        blob, source = new_id(), new_id()
        row = {"uri": incoming.uri, "name": "a", "media_type": "audio/wav", "bytes": 1}
        await read_rows.insert(
            self.shop.pool, "blobs", id=blob, document_id=document, sha256="", **row
        )
        row = {"name": "talk.wav", "media_type": "audio/wav", "text": "", "actor": "local"}
        await read_rows.insert(
            self.shop.pool,
            "sources",
            id=source,
            document_id=document,
            blob_id=blob,
            sha256="",
            position=position,
            **row,
        )
        return source

    async def profile(self, prices: dict[str, Any] | None = None) -> None:
        await self.shop.pool.execute(
            """
            INSERT INTO profiles (name, version, model, base_url, prices, actor)
            SELECT 'speech', 1 + count(*), 'fake', $1, $2, 'local' FROM profiles
            """,
            self.heard.base_url,
            prices,
        )

    def attempt(self, run_id: str, *, epoch: int = 1) -> asyncio.Task[Outcome]:
        given = WorkInput(run_id=run_id, epoch=epoch)
        environment = ActivityEnvironment()
        task = asyncio.create_task(environment.run(Rounds(self.tools).transcribe, given))
        self.attempts.append((environment, task))
        return task

    async def close(self) -> None:
        for environment, task in self.attempts:
            environment.worker_shutdown()
            task.cancel()
        tasks = [task for _, task in self.attempts]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def sources(self, run_id: str) -> list[tuple[int, str, bool]]:
        """(version, text, in force)"""
        return [
            (row[0], row[1], row[2])
            for row in await self.shop.told(
                """
                SELECT s.version, s.text, s.replaced_by IS NULL
                FROM sources s JOIN runs r ON r.document_id = s.document_id
                WHERE r.id = $1 ORDER BY s.version
                """,
                run_id,
            )
        ]

    async def run_row(self, run_id: str) -> tuple[Any, ...]:
        """(status, reason, what is still unheard)"""
        [row] = await self.shop.told(
            "SELECT status, reason_code, unheard_source FROM runs WHERE id = $1", run_id
        )
        return row


@pytest.fixture
async def recordings(shop: Shop, tmp_path: Path) -> AsyncIterator[Recordings]:
    shop.settings = replace(shop.settings, blob_url=tmp_path.as_uri(), speech_part_seconds=3.0)
    async with FakeRecogniser() as heard:
        made = Recordings(shop, tmp_path, heard)
        yield made
        await made.close()


def talk(parts: int) -> bytes:
    """Each part is 2.5 s long: it ends in a silence."""
    return sounds.wav([(2.3, True), (0.2, False)] * parts)


def stored_in(folder: Path) -> Path:
    [file] = folder.glob("??/*")
    return file


def stamps(text: str) -> list[str]:
    return [line[1:9] for line in text.splitlines()]


async def test_parts_become_one_transcript_and_the_run_goes_on(recordings: Recordings) -> None:
    run_id = await recordings.run(talk(4))
    assert (await recordings.attempt(run_id)).code == "done"
    assert await recordings.shop.steps(run_id) == [("transcribe", "SUCCEEDED", None)]
    assert await recordings.shop.calls(run_id) == [("SUCCEEDED", None)] * 4
    (_, unheard, _), (version, text, in_force) = await recordings.sources(run_id)
    assert (unheard, version, in_force) == ("", 2, True)
    assert stamps(text) == sorted(stamps(text)) == ["00:00:00", "00:00:02", "00:00:04", "00:00:07"]
    assert await recordings.run_row(run_id) == ("RUNNING", None, None)
    [spent] = await recordings.shop.told("SELECT cost, cost_is_estimate, tokens_input FROM runs")
    assert spent == (None, False, 0), "what nobody counts is no amount"
    assert sum(asked.seconds for asked in recordings.heard.asked) == pytest.approx(10, abs=0.1)
    told = await recordings.shop.told(
        """
        SELECT data ->> 'done_seconds' FROM run_events WHERE run_id = $1 AND type = 'progress'
        ORDER BY seq
        """,
        run_id,
    )
    assert float(told[-1][0]) == pytest.approx(10, abs=0.1)
    assert len(told) == 4


async def test_each_recording_of_a_document_is_heard_before_the_run_goes_on(
    recordings: Recordings,
) -> None:
    run_id = await recordings.run(talk(2))
    await recordings.add(run_id, talk(1))
    recordings.heard.script = _said
    assert (await recordings.attempt(run_id)).code == "done"
    assert await recordings.shop.steps(run_id) == [("transcribe", "SUCCEEDED", None)] * 2
    assert await recordings.shop.calls(run_id) == [("SUCCEEDED", None)] * 3
    heard = [text for version, text, _ in await recordings.sources(run_id) if version == 2]
    assert sorted(len(text.splitlines()) for text in heard) == [1, 2]
    assert await recordings.run_row(run_id) == ("RUNNING", None, None)


async def test_an_interrupt_lets_go_of_the_server_and_a_resume_asks_for_what_is_missing(
    recordings: Recordings,
) -> None:
    stands = {3}
    recordings.heard.script = lambda asked: (
        Says(body={}, wait=None) if asked.number in stands else _said(asked)
    )
    run_id = await recordings.run(talk(5))
    attempt = recordings.attempt(run_id)

    async def waits() -> bool:
        rows = await recordings.shop.told(
            "SELECT count(*) FROM step_parts WHERE done_at IS NOT NULL"
        )
        return len(recordings.heard.asked) >= 3 and rows[0][0] >= 3

    await recordings.shop.until(waits, what="a request that stands still")
    await recordings.shop.move(run_id, EventType.RUN_INTERRUPTED)
    for watch in recordings.tools.in_flight.of_run(run_id):
        watch.look.set()
    async with asyncio.timeout(2):
        await recordings.heard.gone.wait()
    assert (await attempt).code == "stopped"
    stands.clear()
    asked_before = len(recordings.heard.asked)
    done = await recordings.shop.told("SELECT count(*) FROM step_parts WHERE done_at IS NOT NULL")
    await recordings.shop.move(run_id, EventType.RUN_RESUMED)
    assert (await recordings.attempt(run_id, epoch=2)).code == "done"
    assert len(recordings.heard.asked) - asked_before == 5 - done[0][0]
    text = (await recordings.sources(run_id))[-1][1]
    assert len(text.splitlines()) == 5


async def test_each_request_to_a_server_without_times_has_its_row(
    recordings: Recordings,
) -> None:
    def plain(asked: Asked) -> Says:
        if asked.fields["response_format"] != "json":
            return Says(status="422 Unprocessable", body={"error": {"message": "verbose_json"}})
        return Says(body={"text": "We ship on Friday."})

    recordings.heard.script = plain
    run_id = await recordings.run(talk(1))
    assert (await recordings.attempt(run_id)).code == "done"
    calls = await recordings.shop.told("SELECT status, http_status FROM model_calls ORDER BY id")
    assert calls == [("FAILED", 422), ("SUCCEEDED", 200)]
    assert len(recordings.heard.asked) == 2


async def test_where_nothing_is_said_the_run_says_so(recordings: Recordings) -> None:
    credits = {"text": "Subtitles by the Amara.org community"}
    recordings.heard.script = lambda _asked: Says(body=credits)
    run_id = await recordings.run(talk(2))
    await recordings.attempt(run_id)
    assert (await recordings.run_row(run_id))[:2] == ("FAILED", "invalid_reply")
    assert len(await recordings.sources(run_id)) == 1
    [row] = await recordings.shop.told("SELECT reason_params ->> 'code' FROM runs")
    assert row == ("nothing_heard",)


async def test_minutes_of_sound_cost_what_the_profile_says_and_are_held_against_the_limit(
    recordings: Recordings,
) -> None:
    """10 s of sound at 0.06 a minute are 0.010; the third of four parts does not fit."""
    limits = {"max_cost": "0.0060"}
    run_id = await recordings.run(talk(4), prices={"minute": "0.06"}, limits=limits)
    await recordings.attempt(run_id)
    assert (await recordings.run_row(run_id))[:2] == ("INTERRUPTED", "limit_cost")
    assert len(recordings.heard.asked) == 2
    spent = "SELECT cost, currency, cost_is_estimate FROM runs"
    [(cost, currency, estimate)] = await recordings.shop.told(spent)
    assert float(cost) == pytest.approx(0.005, abs=3e-4)
    assert (currency, estimate) == ("USD", True), "nobody said what was billed"
    await recordings.shop.pool.execute("UPDATE runs SET limits = '{}'")
    await recordings.shop.move(run_id, EventType.RUN_RESUMED)
    recordings.heard.script = lambda asked: Says(
        body={"text": "We ship.", "usage": {"type": "duration", "seconds": 60}}
    )
    assert (await recordings.attempt(run_id, epoch=2)).code == "done"
    [(cost, _, _)] = await recordings.shop.told(spent)
    assert float(cost) == pytest.approx(0.125, abs=3e-4), "as the server counts"


async def test_a_cost_limit_stops_before_sound_that_has_no_price(recordings: Recordings) -> None:
    tokens_only = {"input": "1", "output": "1"}
    run_id = await recordings.run(talk(1), prices=tokens_only, limits={"max_cost": "5"})
    await recordings.attempt(run_id)
    assert (await recordings.run_row(run_id))[:2] == ("INTERRUPTED", "price_unknown")
    assert recordings.heard.asked == []


async def test_what_is_free_leaves_the_run_its_own_money(recordings: Recordings) -> None:
    run_id = await recordings.run(talk(1), prices={"minute": 0}, limits={"max_cost": "5"})
    assert (await recordings.attempt(run_id)).code == "done"
    [told] = await recordings.shop.told("SELECT cost, currency, cost_is_estimate FROM runs")
    assert told == (0, None, False)


async def test_a_silent_part_is_not_asked_for(recordings: Recordings) -> None:
    run_id = await recordings.run(sounds.wav([(2.9, True), (6.0, False), (0.5, True)]))
    assert (await recordings.attempt(run_id)).code == "done"
    parts = await recordings.shop.told("SELECT count(*) FROM step_parts WHERE done_at IS NOT NULL")
    assert len(recordings.heard.asked) < parts[0][0]
    assert all(asked.seconds > 0 for asked in recordings.heard.asked)


async def test_a_refused_key_fails_the_run_and_an_overloaded_server_waits(
    recordings: Recordings,
) -> None:
    recordings.heard.script = lambda _asked: Says(body={}, status="401 Unauthorized")
    run_id = await recordings.run(talk(1))
    await recordings.attempt(run_id)
    assert (await recordings.run_row(run_id))[:2] == ("FAILED", "provider_refused")
    recordings.heard.script = lambda _asked: Says(body={}, status="503 Service Unavailable")
    run_id = await recordings.run(talk(1))
    with pytest.raises(ApplicationError):
        await recordings.attempt(run_id)
    assert (await recordings.run_row(run_id))[0] == "RUNNING"
    recordings.heard.script = _said
    await recordings.shop.pool.execute("UPDATE runs SET retry_at = NULL")
    assert (await recordings.attempt(run_id)).code == "done"


async def test_a_recording_whose_file_is_gone_fails_the_run_at_once_and_is_heard_when_it_is_back(
    recordings: Recordings, tmp_path: Path
) -> None:
    run_id = await recordings.run(talk(1))
    file = stored_in(tmp_path)
    away = file.rename(tmp_path / "away")
    with pytest.raises(ApplicationError):
        await recordings.attempt(run_id)
    [told] = await recordings.shop.told("SELECT status, reason_params ->> 'code' FROM runs")
    assert told == ("FAILED", "recording_missing")
    away.rename(file)
    await recordings.shop.move(run_id, EventType.RUN_RESUMED)
    assert (await recordings.attempt(run_id, epoch=2)).code == "done"


async def test_a_deletion_while_parts_are_heard_leaves_no_row(recordings: Recordings) -> None:
    async def delete(connection: Connection) -> None:
        for table in ("documents", "runs"):  # in the order in which the API locks
            await connection.execute(f"SELECT id FROM {table} FOR UPDATE")  # noqa: S608
        await connection.execute("DELETE FROM documents")

    recordings.heard.script = lambda _asked: Says(body={}, wait=None)
    run_id = await recordings.run(talk(3))
    attempt = recordings.attempt(run_id)
    async with asyncio.timeout(15):
        await recordings.heard.arrived.wait()
    await transaction(recordings.shop.pool, delete)
    for watch in recordings.tools.in_flight.of_run(run_id):
        watch.look.set()
    assert (await attempt).code in ("stopped", "deleted")
    assert recordings.heard.left >= 1
    assert await recordings.shop.told("SELECT id FROM model_calls") == []


def _said(asked: Asked) -> Says:
    return Says(body={"text": f"Part {asked.number} says something."})
