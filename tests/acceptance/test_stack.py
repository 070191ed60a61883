"""`./redraft up` and its companions as a user runs them: real services, real kills, few starts.

The tests of this file share one data directory and run in the order in which they stand.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import psutil
import pytest

from deploy.blobs import BlobStore
from deploy.database import new_id
from deploy.local.data import FORMAT, DataDirectory
from deploy.local.options import ROOT
from tests import sounds
from tests.eventually import eventually
from tests.promised import Part, require
from tests.services import free_port

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]

_OURS = ("REDRAFT_", "TEMPORAL_", "OPENAI_", "XDG_")


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
    return {**kept, "REDRAFT_OFFLINE_TOKENS_PER_SECOND": "0"}


def redraft(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "redraft"), *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        timeout=150,
    )


class Up:
    """One `./redraft up` over a data directory."""

    def __init__(self, data: DataDirectory, *words: str, joined: dict[str, str] | None = None):
        self.data = data
        self.output = data.root.with_name(f"up-{time.monotonic_ns()}.log")
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [str(ROOT / "redraft"), "up", "--data-dir", str(data.root), *words],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment(), **(joined or {})},
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self.output.read_text(errors="replace")

    async def ready(self) -> Up:
        async def says_so() -> bool:
            if self.process.poll() is not None:
                raise RuntimeError(self.said)
            return "is ready" in self.said

        await eventually(says_so, seconds=150, what="a stack that is up")
        return self

    def children(self) -> dict[str, dict[str, Any]]:
        return {child["name"]: child for child in self.data.read("live.json")["children"]}

    async def end(self, number: int) -> None:
        """Sends the signal and waits until no process of the stack is left."""
        every = psutil.Process(self.process.pid).children(recursive=True)
        assert len(every) >= 2
        os.kill(self.process.pid, number)
        await asyncio.to_thread(self.process.wait, 16)

        async def all_gone() -> bool:
            assert not [process for process in every if alive(process)]
            return True

        await eventually(all_gone, seconds=5, what="the end of every child")


def alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def joined(data: DataDirectory) -> dict[str, str]:
    lines = data.environment_file.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataDirectory:
    """Inside a private folder: as root, the account of Postgres cannot pass through it."""
    require(Part.POSTGRES, Part.TEMPORAL)
    folder = tmp_path_factory.mktemp("stack")
    folder.chmod(0o700)
    return DataDirectory(folder / "data")


BODY = ("draft.html", b"<h1>Minutes</h1><p>The price is 25.</p>", "text/html")
TALK = (
    "talk.vtt",
    b"\xef\xbb\xbfWEBVTT\r\n\r\n00:05.000 --> 00:08.000\r\nHi there\r\n",
    "text/vtt",
)
RECORDING = ("talk.wav", sounds.wav([(0.6, True)]), "audio/wav")


@pytest.fixture(scope="module")
async def up(data: DataDirectory) -> AsyncIterator[Up]:
    stack = await Up(data, "--no-sample", "--port", str(free_port())).ready()
    yield stack
    with contextlib.suppress(ProcessLookupError):
        os.killpg(stack.process.pid, signal.SIGKILL)
    stack.process.wait(10)


@pytest.fixture(scope="module")
def archive(up: Up) -> Path:
    """A backup of the running stack, which holds a recording and the files of two texts; beside
    them lie a file that no row names and one that is half written."""
    answer = httpx2.post(
        f"{joined(up.data)['REDRAFT_URL']}/api/documents",
        data={"kind": "minutes", "title": "With files"},
        files=[("body", BODY), ("source", TALK), ("audio", RECORDING)],
    )
    assert answer.status_code == 201, answer.text
    for name in ("ff/unnamed", "incoming/half"):
        path = up.data.blobs / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"no row names it")
    file = up.data.root.with_name("backup.tar")
    written = redraft("backup", str(file), "--data-dir", str(up.data.root))
    assert (written.returncode, written.stderr) == (0, "")
    assert "4 files of documents" in written.stdout
    return file


async def test_environment_file_joins_the_stack_with_the_application_role(up: Up) -> None:
    variables = joined(up.data)
    assert stat.S_IMODE(up.data.environment_file.stat().st_mode) == 0o600
    assert get(f"{variables['REDRAFT_URL']}/healthz")["status"] == "ok"
    assert variables["TEMPORAL_NAMESPACE"] == "redraft"
    assert variables["OPENAI_API_KEY"] == variables["REDRAFT_MODEL"] == "offline"
    connection = await asyncpg.connect(variables["REDRAFT_DATABASE_URL"])
    try:
        await connection.execute(
            "INSERT INTO documents (id, kind, title, actor)"
            " VALUES ($1, 'minutes', 'Kept', 'local')",
            new_id(),
        )
        assert await connection.fetchval("SELECT similarity('质量保证体系', '质量保证')") > 0.3
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("CREATE TABLE mine (id int)")
    finally:
        await connection.close()


def test_status_shows_every_part_answering(up: Up) -> None:
    shown = redraft("status", "--json", "--data-dir", str(up.data.root))
    assert shown.returncode == 0
    parts = {part["name"]: part["health"] for part in json.loads(shown.stdout)["parts"]}
    wanted = ("Postgres", "Temporal", "Offline model", "API", "Worker")
    assert parts == dict.fromkeys(wanted, "answers")


def test_second_up_over_the_same_data_says_who_holds_it(up: Up) -> None:
    second = redraft("up", "--data-dir", str(up.data.root))
    assert second.returncode == 3
    assert f"process {up.process.pid}" in second.stderr
    assert joined(up.data)["REDRAFT_URL"] in second.stderr


def test_taken_port_is_an_error_that_names_it(up: Up, tmp_path: Path) -> None:
    port = joined(up.data)["REDRAFT_URL"].rpartition(":")[2]
    refused = redraft("up", "--no-worker", "--data-dir", str(tmp_path / "new"), "--port", port)
    assert refused.returncode == 3
    assert f"Port {port}" in refused.stderr


async def test_killed_worker_is_started_again_and_said_goodbye_for(up: Up) -> None:
    worker = up.children()["Worker"]["pid"]

    async def repaired() -> dict[str, Any] | None:
        found = up.children().get("Worker", {})
        return found if found.get("pid", worker) != worker else None

    connection = await asyncpg.connect(joined(up.data)["REDRAFT_DATABASE_URL"])
    try:
        os.kill(worker, signal.SIGKILL)
        again = await eventually(repaired, seconds=60, what="another worker")
        assert again["restarts"] == 1
        gone = await connection.fetchval(
            "SELECT goodbye_at IS NOT NULL FROM workers WHERE pid = $1", worker
        )
        assert gone is True
    finally:
        await connection.close()
    assert "Worker was ended by SIGKILL" in up.said


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux sends a death signal")
async def test_killed_supervisor_leaves_nothing_running(up: Up, archive: Path) -> None:
    await up.end(signal.SIGKILL)
    assert redraft("status", "--data-dir", str(up.data.root)).returncode == 5


async def test_second_start_goes_on_and_runs_the_sample_once(data: DataDirectory, up: Up) -> None:
    """From a terminal that was joined: its variables are of the dead stack, no choice of anybody.
    They hold the folder too."""
    variables = joined(data)
    assert variables["REDRAFT_DATA_DIR"] == str(data.root)
    again = await Up(data, "--port", str(free_port()), joined=variables).ready()
    url = joined(data)["REDRAFT_URL"]
    titles = {document["title"] for document in get(f"{url}/api/documents")["items"]}
    assert titles >= {"Kept", "With files"}
    assert len(titles) == 3
    assert data.read("state.json")["sample"] in again.said
    began = time.monotonic()
    await again.end(signal.SIGINT)
    assert time.monotonic() - began < 15
    assert again.process.returncode == 0
    assert not data.environment_file.exists()


async def test_backup_is_restored_into_an_empty_folder_only(
    data: DataDirectory, archive: Path, tmp_path: Path
) -> None:
    assert redraft("restore", str(archive), "--data-dir", str(data.root)).returncode == 3
    target = DataDirectory(tmp_path / "restored")
    restored = redraft("restore", str(archive), "--data-dir", str(target.root))
    assert restored.returncode == 0, restored.stderr
    stack = await Up(target, "--no-api", "--no-worker", "--temporal-address", "127.0.0.1:1").ready()
    connection = await asyncpg.connect(joined(target)["REDRAFT_DATABASE_URL"])
    try:
        rows = await connection.fetch("SELECT title FROM documents ORDER BY title")
        assert [row["title"] for row in rows] == ["Kept", "With files"]
        rows = await connection.fetch("SELECT name, uri FROM blobs")
        store = BlobStore(target.blobs.as_uri())
        assert {row["name"]: store.path(row["uri"]).read_bytes() for row in rows} == {
            name: data for name, data, _ in (BODY, TALK, RECORDING)
        }
        assert len([path for path in target.blobs.rglob("*") if path.is_file()]) == len(rows)
    finally:
        await connection.close()
        stopped = redraft("down", "--data-dir", str(target.root))
    assert stopped.returncode == stack.process.wait(16) == 0


def test_a_backup_whose_file_is_not_what_was_stored_is_refused(
    archive: Path, tmp_path: Path
) -> None:
    damaged, target = tmp_path / "damaged.tar", DataDirectory(tmp_path / "restored")
    damaged.write_bytes(archive.read_bytes().replace(TALK[1], TALK[1].replace(b"Hi", b"Ho")))
    refused = redraft("restore", str(damaged), "--data-dir", str(target.root))
    assert refused.returncode == 3
    assert "not what was stored" in refused.stderr
    assert not target.used


def test_newer_data_and_newer_backups_are_refused(data: DataDirectory, archive: Path) -> None:
    data.write("version.json", {**data.read("version.json"), "format": FORMAT + 1})
    refused = redraft("up", "--data-dir", str(data.root))
    assert refused.returncode == 3
    assert "newer Redraft" in refused.stderr
    with archive.open("r+b") as file:
        head = file.read(2048)
        place = head.index(b'"format": ')
        file.seek(place)
        file.write(b'"format":9')
    refused = redraft("restore", str(archive), "--data-dir", str(data.root), "--force")
    assert refused.returncode == 3
    assert "newer Redraft" in refused.stderr
    assert data.cluster.exists()
