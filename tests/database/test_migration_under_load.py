"""A migration of a busy database: nobody queues behind it for long, and it can be run again
(scenario 22).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from pathlib import Path

import asyncpg

from api import queries
from deploy.database import Pool
from tests import read_rows as rows
from tests.eventually import eventually
from tests.services import ROOT

CALLS = 5_000
NEXT = '''"""The next revision, of this test alone."""

from alembic import op

revision = "0002_of_a_test"
down_revision = "{head}"
branch_labels = depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE model_calls ADD COLUMN remark text")
'''


def _next_release(folder: Path, head: str) -> Path:
    """The same program with one revision more."""
    shutil.copytree(ROOT / "deploy", folder / "deploy", ignore=shutil.ignore_patterns("*.pyc"))
    revision = folder / "deploy" / "migrations" / "versions" / "r9999_of_a_test.py"
    revision.write_text(NEXT.format(head=head), encoding="utf-8")
    return folder


async def _migrate(folder: Path, url: str) -> tuple[int, str]:
    environment = {**os.environ, "REDRAFT_DATABASE_URL": url}
    argv = (sys.executable, "-m", "deploy.migrations")
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=folder, env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


class Traffic:
    """Reads and writes as they are of code that knows nothing of the new column."""

    def __init__(self, pool: Pool, run_id: str, call_id: str) -> None:
        self.pool, self.run_id, self.call_id = pool, run_id, call_id
        self.reads: list[float] = []
        self.over = asyncio.Event()

    async def read(self) -> None:
        while not self.over.is_set():
            began = time.monotonic()
            await queries.calls_page(self.pool, self.run_id, 10, None, False)
            self.reads.append(time.monotonic() - began)
            await asyncio.sleep(0.03)

    async def write(self) -> None:
        while not self.over.is_set():
            await self.pool.execute(
                "UPDATE model_calls SET partial_length = partial_length + 1 WHERE id = $1",
                self.call_id,
            )
            await asyncio.sleep(0.01)

    def p99(self) -> float:
        return sorted(self.reads)[int(len(self.reads) * 0.99)]


async def test_a_migration_waits_shortly_fails_cleanly_and_is_run_again(
    pool: Pool, database_url: str, tmp_path: Path
) -> None:
    head = await pool.fetchval("SELECT version_num FROM alembic_version")
    release = _next_release(tmp_path, head)
    run_id = await rows.add_run(pool)
    step = await rows.add_step(pool, run_id)
    call = await rows.add_call(pool, run_id, step)
    await _many_calls(pool, call)
    traffic = Traffic(pool, run_id, call)
    moving = [asyncio.create_task(work()) for work in (traffic.read, traffic.read, traffic.write)]
    idle = await asyncpg.connect(database_url)
    try:
        await idle.execute("BEGIN")
        await idle.fetchval("SELECT count(*) FROM model_calls")  # and then it does nothing
        code, said = await _migrate(release, database_url)
        assert code == 1
        assert "another session held a table's lock" in said
        assert "run it again" in said
        assert await pool.fetchval("SELECT version_num FROM alembic_version") == head
        assert not await _has_column(pool)
        assert traffic.p99() < 1.0, traffic.p99()
        await idle.execute("ROLLBACK")
        assert await _migrate(release, database_url) == (0, "")
        assert await _has_column(pool)
        done = len(traffic.reads)

        async def went_on() -> bool:
            return len(traffic.reads) > done + 5

        await eventually(went_on, what="reads after it")
    finally:
        traffic.over.set()
        await idle.close()
    await asyncio.gather(*moving)  # nothing of theirs failed, before or after


async def _many_calls(pool: Pool, like: str) -> None:
    await pool.execute(
        """
        INSERT INTO model_calls (id, run_id, step_id, plan_id, step_name, round, part, number,
            status, model, profile, profile_version, kind_version, prompt_hash, ended_at)
        SELECT gen_random_uuid(), run_id, step_id, plan_id, step_name, round, part, number + n,
            'SUCCEEDED', model, profile, profile_version, kind_version, prompt_hash, now()
        FROM model_calls, generate_series(1, $2::int) AS n WHERE id = $1
        """,
        like,
        CALLS,
    )


async def _has_column(pool: Pool) -> bool:
    return bool(
        await pool.fetchval(
            """
            SELECT true FROM information_schema.columns
            WHERE table_name = 'model_calls' AND column_name = 'remark'
            """
        )
    )
