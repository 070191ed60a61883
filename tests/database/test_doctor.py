"""The doctor's findings over a real Postgres: schema, rights, poolers; and over none."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from deploy.poolers import is_pooled
from deploy.settings import Settings
from tests.attempts import standing_still
from tests.fake_llm import FakeLLM
from tests.services import PostgresServer
from tests.transaction_pooler import TransactionPooler
from worker import doctor_database
from worker.doctor import examine
from worker.doctor_database import check_database, check_sessions
from worker.doctor_findings import Finding, Level
from worker.doctor_machine import check_stack
from worker.doctor_services import check_model, check_temporal

GONE = "127.0.0.1:9"


@pytest_asyncio.fixture
async def pooler(database_url: str) -> AsyncIterator[TransactionPooler]:
    async with TransactionPooler(database_url) as pooler:
        yield pooler


def named(findings: list[Finding], area: str) -> Finding:
    return next(one for one in findings if one.area == area)


async def test_a_migrated_database_has_no_failure(settings: Settings) -> None:
    found = await check_database(settings)
    assert [one for one in found if one.level is Level.FAIL] == []
    assert {one.area for one in found} == {
        "database", "writable", "schema", "role", "locks", "clock", "sessions"
    }  # fmt: skip


async def test_a_transaction_that_keeps_runs_from_all_others_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_database, "HELD_SECONDS", 0.2)
    async with standing_still(settings) as holder:
        pid = await holder.fetchval("SELECT pg_backend_pid()")
        await holder.execute("SELECT count(*) FROM runs")
        assert named(await check_database(settings), "locks").level is Level.OK
        await holder.execute("SELECT id FROM runs FOR NO KEY UPDATE")
        found = named(await check_database(settings), "locks")
        assert found.level is Level.WARN
        assert f"session {pid} " in found.text
        assert f"pg_terminate_backend({pid})" in found.act
    assert named(await check_database(settings), "locks").level is Level.OK


async def test_the_owner_of_the_schema_is_warned_of(settings: Settings) -> None:
    assert named(await check_database(settings), "role").level is Level.WARN


async def test_an_empty_database_is_sent_to_migrate(
    postgres: PostgresServer, settings: Settings
) -> None:
    name = f"t_{uuid.uuid4().hex[:12]}"
    await postgres.run(f"CREATE DATABASE {name}")
    url = postgres.url(name)
    empty = replace(settings, database_url=url, database_direct_url=url)
    schema = named(await check_database(empty), "schema")
    await postgres.drop(url)
    assert (schema.level, schema.act) == (Level.FAIL, "./redraft migrate")


async def test_a_transaction_pooler_is_seen_and_a_direct_address_repairs_it(
    settings: Settings, pooler: TransactionPooler
) -> None:
    assert await is_pooled(pooler.url)
    assert not await is_pooled(settings.database_url)
    only = replace(settings, database_url=pooler.url, database_direct_url=pooler.url)
    (found,) = await check_sessions(only)
    assert found.level is Level.FAIL
    assert "REDRAFT_DATABASE_DIRECT_URL" in found.act
    (found,) = await check_sessions(replace(settings, database_url=pooler.url))
    assert found.level is Level.OK
    away = replace(only, database_direct_url=f"postgresql://u:secret@{GONE}/x")
    (found,) = await check_sessions(away)
    assert found.level is Level.FAIL
    assert "cannot be proved" in found.text
    assert "REDRAFT_DATABASE_DIRECT_URL" in found.act
    assert "secret" not in found.text


async def test_a_direct_address_of_another_database_is_refused(
    postgres: PostgresServer, settings: Settings
) -> None:
    other = await postgres.clone()
    (found,) = await check_sessions(replace(settings, database_direct_url=other))
    await postgres.drop(other)
    assert found.level is Level.FAIL


async def test_services_that_are_away_are_named_with_what_to_do() -> None:
    gone = Settings(database_url=f"postgresql://u:secret@{GONE}/x", temporal_address=GONE)
    (database,) = await check_database(gone)
    (temporal,) = await check_temporal(gone, {})
    assert {database.level, temporal.level} == {Level.FAIL}
    assert "secret" not in database.text + database.act
    assert database.act
    assert temporal.act


async def test_the_model_is_asked_once_and_refusals_name_the_variable(
    settings: Settings, llm: FakeLLM
) -> None:
    asked = replace(settings, model="fake", openai_base_url=llm.base_url)
    found = await check_model(asked, {"OPENAI_API_KEY": "sk-1"})
    assert found.level is Level.OK, found
    no_server = replace(asked, openai_base_url=f"http://{GONE}/v1")
    found = await check_model(no_server, {})
    assert found.level is Level.FAIL
    assert (await check_model(settings, {})).act.startswith("set REDRAFT_MODEL")


async def test_faults_of_settings_are_told_all_together(tmp_path: Path) -> None:
    found = await examine({"REDRAFT_API_PORT": "x", "REDRAFT_LOG_FORMAT": "loud"}, tmp_path)
    faults = [one.text for one in found if one.area == "settings"]
    assert len(faults) == 3
    for name in ("REDRAFT_API_PORT", "REDRAFT_LOG_FORMAT", "REDRAFT_DATABASE_URL"):
        assert any(name in fault for fault in faults)


async def test_the_stacks_variables_are_found_in_its_data_directory(tmp_path: Path) -> None:
    text = f"REDRAFT_DATABASE_URL=postgresql://a:b@{GONE}/x\nTEMPORAL_ADDRESS={GONE}\n"
    (tmp_path / "env").write_text(text, encoding="utf-8")
    found = await examine({}, tmp_path)
    assert named(found, "settings").level is Level.OK
    assert GONE in named(found, "database").text


async def test_a_stack_that_is_down_is_named_before_the_variable_that_is_missing(
    tmp_path: Path,
) -> None:
    data = tmp_path / "redraft"
    found = await examine({"XDG_DATA_HOME": str(tmp_path)}, data)
    failed = [one.area for one in found if one.level is Level.FAIL]
    assert failed[:2] == ["stack", "settings"]
    stack = named(found, "stack")
    assert f"default data folder {data}" in stack.text
    assert "./redraft up" in stack.act
    assert check_stack({"REDRAFT_DATABASE_URL": "postgresql://h/d"}, data) == []


@pytest.mark.parametrize(("name", "level"), [("glibc", Level.OK), ("", Level.WARN)])
def test_a_machine_without_glibc_is_warned(name: str, level: Level) -> None:
    from worker.doctor_machine import check_libc

    assert check_libc(name).level is level


def test_an_old_processor_and_a_wrong_python_are_named() -> None:
    from worker.doctor_machine import check_processor, check_python

    assert check_processor("flags : sse2 avx2\n").level is Level.WARN
    assert check_python((3, 10, 1)).level is Level.FAIL
    assert check_python((3, 13, 0)).level is Level.OK
