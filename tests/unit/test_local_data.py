"""The data directory: one holder, versions that are refused, secrets that stay."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from deploy.local.backup import backup
from deploy.local.control import down, reset, status
from deploy.local.data import FORMAT, DataDirectory, check_versions, write_versions
from deploy.local.errors import Refused, UsageError
from deploy.local.options import ROOT, Options
from deploy.local.temporal import move_other_version_aside
from deploy.settings import default_root


@pytest.fixture
def data(tmp_path: Path) -> DataDirectory:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    return directory


def test_named_data_home_wins_over_the_default_of_the_account() -> None:
    assert default_root({"XDG_DATA_HOME": "/x", "HOME": "/h"}) == Path("/x/redraft")
    expected = "/var/lib/redraft" if os.geteuid() == 0 else "/h/.local/share/redraft"
    assert default_root({"HOME": "/h"}) == Path(expected)
    assert default_root({"XDG_DATA_HOME": "relative", "HOME": "/h"}) == Path(expected)
    assert default_root({"REDRAFT_DATA_DIR": "/d", "XDG_DATA_HOME": "/x"}) == Path("/d")


def test_second_holder_is_told_who_has_the_data(data: DataDirectory) -> None:
    holding = (
        "import sys; from pathlib import Path; from deploy.local.data import DataDirectory\n"
        "with DataDirectory(Path(sys.argv[1])).held('up'): print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(data.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Refused, match=f"process {other.pid}"), data.held("up"):
            pass
        with pytest.raises(Refused, match="in use"):
            reset(data, sure=True)
        other.kill()
    with data.held("up"):
        holder = data.holder()
    assert holder is not None
    assert holder["pid"] == os.getpid()
    assert data.holder() is None


def test_holder_of_another_container_is_not_signalled(data: DataDirectory) -> None:
    lock = data.root / "lock"
    lock.write_text(json.dumps({"what": "up", "pid": os.getpid(), "boot": "another"}))
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Refused, match="cannot be stopped from here"):
            down(data)


def test_newer_data_format_is_refused_with_what_to_do(data: DataDirectory) -> None:
    write_versions(data)
    check_versions(data)
    data.write("version.json", {"format": FORMAT + 1, "postgres": 18})
    with pytest.raises(Refused, match="newer Redraft"):
        check_versions(data)


def test_other_postgres_major_is_refused_with_what_to_do(data: DataDirectory) -> None:
    data.cluster.mkdir()
    (data.cluster / "PG_VERSION").write_text("17\n")
    with pytest.raises(Refused, match=r"Postgres 17.*backup FILE.*restore FILE"):
        check_versions(data)


def test_temporal_file_of_another_version_is_moved_aside_whole(data: DataDirectory) -> None:
    write_versions(data)
    data.temporal_file.write_bytes(b"rows")
    assert move_other_version_aside(data) is None
    data.write("version.json", {**data.read("version.json"), "temporal": "0.1"})
    data.temporal_file.with_name("temporal.db-wal").write_bytes(b"more rows")
    aside = move_other_version_aside(data)
    assert aside is not None
    assert sorted(file.name for file in aside.iterdir()) == ["temporal.db", "temporal.db-wal"]
    assert not data.temporal_file.exists()


def test_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(Refused, match="holds no data of Redraft"):
        DataDirectory(tmp_path).create()


def test_secrets_stay_and_are_readable_by_their_owner_only(data: DataDirectory) -> None:
    assert data.secret("postgres") == data.secret("postgres") != data.secret("redraft_app")
    assert stat.S_IMODE((data.root / "secrets.json").stat().st_mode) == 0o600


def test_reset_asks_and_deletes_only_what_is_ours(data: DataDirectory) -> None:
    write_versions(data)
    (data.root / "mine.txt").touch()
    with pytest.raises(UsageError, match="--yes"):
        reset(data, sure=False)
    assert reset(data, sure=True) == 0
    assert sorted(path.name for path in data.root.iterdir()) == ["lock", "mine.txt"]


@pytest.mark.parametrize("name", ["holiday.jpg", ""])
def test_reset_of_a_foreign_folder_deletes_nothing_and_does_not_ask(
    tmp_path: Path, name: str
) -> None:
    if name:
        (tmp_path / name).touch()
    with pytest.raises(Refused, match="is not a data folder of Redraft; name the right one"):
        reset(DataDirectory(tmp_path), sure=False)
    assert [path.name for path in tmp_path.iterdir()] == ([name] if name else [])


def test_backup_replaces_no_file_and_says_where_it_cannot_write(
    data: DataDirectory, tmp_path: Path
) -> None:
    write_versions(data)
    (tmp_path / "kept.tar").write_text("mine")
    with pytest.raises(Refused, match="--force"):
        backup(data, tmp_path / "kept.tar")
    with pytest.raises(Refused, match="There is no folder"):
        backup(data, tmp_path / "nowhere" / "b.tar")
    with pytest.raises(Refused, match="is a folder"):
        backup(data, tmp_path)
    assert (tmp_path / "kept.tar").read_text() == "mine"


def test_status_names_the_port_of_temporal_that_clients_use(
    data: DataDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    temporal = {"address": "127.0.0.1:8432", "web_port": 8431, "http_port": 8433}
    live = {"url": "", "web_url": "", "model": "m", "ports": {}, "temporal": temporal}
    data.write("live.json", live)
    with data.held("up"):
        assert status(data, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "127.0.0.1:8432 (gRPC" in shown
    assert "web 8431, HTTP 8433" in shown


class _Recogniser(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


def test_status_asks_the_recogniser_where_it_answers_and_keeps_its_columns_apart(
    data: DataDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Recogniser) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        ports = {"Speech recogniser": server.server_port}
        live = {"url": "", "web_url": "", "model": "m", "ports": ports, "children": []}
        data.write("live.json", live)
        try:
            with data.held("up"):
                assert status(data, as_json=False) == 0
        finally:
            server.shutdown()
    assert "Speech recogniser  answers" in capsys.readouterr().out


def test_status_of_nothing_is_five(
    data: DataDirectory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDRAFT_URL", raising=False)
    assert status(data, as_json=False) == 5
    assert "--data-dir" not in capsys.readouterr().out
    monkeypatch.setenv("REDRAFT_URL", "http://127.0.0.1:8644")
    assert status(data, as_json=False) == 5
    assert "http://127.0.0.1:8644: to see the stack behind it" in capsys.readouterr().out


def test_options_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    for wrong in (
        Options(data=tmp_path, port=70000),
        Options(data=tmp_path, workers=-1),
        Options(data=tmp_path, database_url="mysql://h/d"),
        Options(data=tmp_path, temporal_address="somewhere"),
    ):
        with pytest.raises(UsageError):
            wrong.checked()


def test_offline_model_answers_only_where_no_model_server_is_named(tmp_path: Path) -> None:
    assert Options(data=tmp_path).offline_model
    assert not Options(data=tmp_path, openai_api_key=True).offline_model
    named = Options(data=tmp_path, openai_base_url="https://user:secret@models.example/v1")
    assert not named.offline_model
    assert named.model_named.endswith("at models.example")
