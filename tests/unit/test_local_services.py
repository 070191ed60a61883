"""What the children of `up` are told, and what `DIR/env` may say."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import ports
from deploy.local.__main__ import _without_joined
from deploy.local.control import reset
from deploy.local.data import DataDirectory, write_versions
from deploy.local.options import Options
from deploy.local.ports import Ports
from deploy.local.services import Wiring
from deploy.local.stack import Stack
from deploy.local.temporal import Temporal
from deploy.settings import default_root
from tests.services import free_port

CALLER = {
    "OPENAI_API_KEY": "sk-mine",
    "REDRAFT_MODEL": "large",
    "REDRAFT_DATABASE_OWNER_URL": "postgresql://owner@elsewhere/db",
    "REDRAFT_WORKER_HEALTH_PORT": "1",
    "TEMPORAL_API_KEY": "of-another-cluster",
    "PATH": "/bin",
    "OFFLINE_STOP_AFTER_ITEMS": "2",
}
DATABASE = "postgresql://app@elsewhere/db"


@pytest.fixture
def data(tmp_path: Path) -> DataDirectory:
    directory = DataDirectory(tmp_path / "with space")
    directory.create()
    return directory


def wiring(data: DataDirectory, **changes: str | bool) -> Wiring:
    options = Options(
        data=data.root,
        database_url=DATABASE,
        environment=CALLER,
        openai_api_key=bool(changes.get("key", True)),
        speech=bool(changes.get("speech", False)),
        host=str(changes.get("host", "127.0.0.1")),
    )
    temporal = Temporal(
        data=data, program=Path("temporal"), port=1, web_port=2, http_port=3, metrics_port=4
    )
    return Wiring(
        options=options,
        data=data,
        postgres=None,
        temporal=temporal,
        api_port=8430,
        model_port=8436,
        speech_port=8437,
        worker_ports=(8440, 8441),
    )


def test_key_of_a_person_reaches_the_children_and_no_file(data: DataDirectory) -> None:
    ours = wiring(data)
    assert ours.python("worker", "worker").environment["OPENAI_API_KEY"] == "sk-mine"
    assert "sk-mine" not in ours.environment_text()
    assert "REDRAFT_MODEL=large\n" in ours.environment_text()


def test_offline_model_is_named_where_no_other_is(data: DataDirectory) -> None:
    text = wiring(data, key=False).environment_text()
    assert "REDRAFT_MODEL=offline\n" in text
    assert "OPENAI_BASE_URL=http://127.0.0.1:8436/v1\n" in text
    assert "REDRAFT_OFFLINE_MODEL=1\n" in text


def test_the_offline_model_is_told_where_to_stop(data: DataDirectory) -> None:
    command = wiring(data, key=False).model().command()
    assert command.environment["OFFLINE_STOP_AFTER_ITEMS"] == "2"


def test_variables_about_services_of_the_caller_stay_outside(data: DataDirectory) -> None:
    child = wiring(data).python("worker", "worker").environment
    assert "TEMPORAL_API_KEY" not in child
    assert child["TEMPORAL_ADDRESS"] == "127.0.0.1:1"
    assert child["PATH"] == "/bin"


def test_only_migrations_get_the_owner_of_the_database(data: DataDirectory) -> None:
    ours = wiring(data)
    commands = [part.command() for part in (*ours.workers(), ours.api(), ours.model())]
    assert all("REDRAFT_DATABASE_OWNER_URL" not in command.environment for command in commands)
    # Given without an owner's address, the one address serves both, and advice names that one.
    assert "REDRAFT_DATABASE_OWNER_URL" not in ours.migrate().environment
    assert ours.migrate().environment["REDRAFT_DATABASE_URL"] == DATABASE


def test_each_worker_has_its_own_port_and_log(data: DataDirectory) -> None:
    commands = [part.command() for part in wiring(data).workers()]
    given = [command.environment["REDRAFT_WORKER_HEALTH_PORT"] for command in commands]
    assert given == ["8440", "8441"]
    assert len({command.log for command in commands}) == 2
    assert "REDRAFT_WORKER_HEALTH_PORT" not in wiring(data).environment_text()


def test_pages_that_other_machines_reach_get_a_key(data: DataDirectory) -> None:
    assert "REDRAFT_API_KEY" not in wiring(data).environment_text()
    open_door = wiring(data, host="0.0.0.0")
    assert len(open_door.api_key) >= 32
    assert f"REDRAFT_API_KEY={open_door.api_key}\n" in open_door.environment_text()
    assert open_door.url == "http://127.0.0.1:8430"
    assert wiring(data, host="::1").url == "http://[::1]:8430"


def test_what_a_joined_terminal_holds_is_told_from_what_a_person_gave(data: DataDirectory) -> None:
    """Also after the stop, which deletes the file, and after a reset; a database elsewhere stays
    one."""
    ours = wiring(data, key=False)
    data.note_joined(ours.made_here())
    terminal = {**CALLER, **ours.joining()}
    theirs = {"REDRAFT_DATABASE_URL", *CALLER} - {"REDRAFT_MODEL", "OPENAI_API_KEY"}
    assert terminal.keys() - data.joined(terminal) == theirs
    write_versions(data)
    assert reset(data, sure=True) == 0
    assert terminal.keys() - data.joined(terminal) == theirs
    other = {"TEMPORAL_ADDRESS": "temporal.example:7233", "REDRAFT_MODEL": "large"}
    assert data.joined({**terminal, **other}).isdisjoint(other)
    assert data.joined({}) == set()


def test_folders_of_kinds_and_templates_go_into_env_from_where_they_were_named(
    data: DataDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker or a command that joins knows the same kinds; a relative path would be another's."""
    monkeypatch.chdir(tmp_path)
    folders = {"REDRAFT_KINDS_DIR": "kinds", "REDRAFT_TEMPLATES_DIR": str(tmp_path / "own")}
    ours = wiring(data)
    ours = replace(ours, options=replace(ours.options, environment={**CALLER, **folders}))
    assert f"REDRAFT_KINDS_DIR={tmp_path / 'kinds'}\n" in ours.environment_text()
    assert f"REDRAFT_TEMPLATES_DIR={tmp_path / 'own'}\n" in ours.environment_text()
    started = ours.python("worker", "worker").environment
    assert started["REDRAFT_KINDS_DIR"] == str(tmp_path / "kinds")
    assert ours.made_here().keys().isdisjoint(folders)
    assert "KINDS" not in wiring(data).environment_text()


def test_a_joined_terminal_starts_and_looks_at_the_stack_it_joined(
    data: DataDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.note_joined(wiring(data, key=False).made_here())
    for name, value in wiring(data, key=False).joining().items():
        monkeypatch.setenv(name, value)
    environment = dict(os.environ)
    assert default_root(environment) == data.root
    for folder in (data, DataDirectory(tmp_path / "another")):
        left = _without_joined(folder, environment)
        assert left["REDRAFT_DATABASE_URL"] == DATABASE
        assert {"TEMPORAL_ADDRESS", "OPENAI_BASE_URL", "OPENAI_API_KEY"}.isdisjoint(left)
    assert "TEMPORAL_ADDRESS" not in os.environ


def test_a_free_port_of_the_last_start_is_kept() -> None:
    chosen = Ports()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy = taken.getsockname()[1]
        assert chosen.next_free(busy, kept=busy) > busy
    free = free_port()
    assert chosen.next_free(free - 1, kept=free) == free
    assert Ports().next_free(free, kept=free) != free or sys.platform != "linux"


@pytest.mark.skipif(sys.platform != "linux", reason="ports are held by names of Linux")
async def test_a_part_gives_way_to_the_port_that_was_asked_for(
    data: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = free_port()
    monkeypatch.setattr(ports, "POSTGRES", wanted)
    options = Options(data=data.root, port=wanted, temporal_address="127.0.0.1:7233")
    wired = Stack(options, data, lambda _: None)._wire()
    assert wired.api_port == wanted
    assert wired.postgres is not None
    assert wired.postgres.port > wanted


def test_the_recogniser_is_named_only_where_it_was_asked_for(data: DataDirectory) -> None:
    """And no key to somebody else's server is sent to it."""
    spoken = wiring(data, speech=True).environment_text()
    assert "REDRAFT_SPEECH_URL=http://127.0.0.1:8437/v1\n" in spoken
    assert "SPEECH_API_KEY=here\n" in spoken
    assert "SPEECH" not in wiring(data).environment_text()
