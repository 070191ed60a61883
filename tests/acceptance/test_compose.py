"""The containers' commands and variables, started as processes beside the services of the tests.

Nothing is built or fetched: the compose file is read, its addresses are led to the test's own
Postgres and Temporal, and its script for the roles is run as the image of Postgres would.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest
import pytest_asyncio
import yaml
from temporalio.client import Client

from deploy.database import new_id
from deploy.settings import Settings, variable
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, good_reviewer
from tests.services import (
    ROOT,
    PostgresServer,
    TemporalServer,
    end,
    free_port,
    make_namespace,
    spawn,
)
from tests.stack import minutes

pytestmark = pytest.mark.timeout(120)

COMPOSE = ROOT / "deploy" / "compose.yaml"
OURS = ("migrate", "api", "worker")
SECRETS = {
    "POSTGRES_PASSWORD": "p0",
    "REDRAFT_OWNER_PASSWORD": "p1",
    "REDRAFT_APP_PASSWORD": "p2",
    "TEMPORAL_DATABASE_PASSWORD": "p3",
    "REDRAFT_API_KEY": "k" * 40,
    "REDRAFT_MODEL": "fake",
}
_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::([?-])([^}]*))?\}")


def substituted(text: str, given: Mapping[str, str]) -> str:
    """`${NAME:?}` and `${NAME:-default}`, as compose reads them."""

    def value(match: re.Match[str]) -> str:
        name, operator, default = match.groups()
        if operator == "?":
            return given[name]
        return given.get(name) or default or ""

    return _VARIABLE.sub(value, text)


def services(given: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(substituted(COMPOSE.read_text(encoding="utf-8"), given))
    return dict(found["services"])


def variables_of(service: Mapping[str, Any], shell: Mapping[str, str]) -> dict[str, str]:
    """One without a value is taken over from the shell, where it is set."""
    found = {
        name: shell.get(name) if v is None else v for name, v in service["environment"].items()
    }
    return {name: str(value) for name, value in found.items() if value is not None}


@pytest_asyncio.fixture
async def database(postgres: PostgresServer) -> AsyncIterator[str]:
    """Roles and database, made by the script that the image of Postgres runs."""
    environment = {
        "PATH": f"{postgres.programs}:{os.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(postgres.port),
        "POSTGRES_USER": "redraft",
        **SECRETS,
    }
    script = ROOT / "deploy" / "compose" / "roles.sh"
    made = await asyncio.to_thread(
        subprocess.run, ["bash", str(script)], env=environment, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    yield f"127.0.0.1:{postgres.port}"
    await postgres.run("DROP DATABASE redraft WITH (FORCE)")
    await postgres.run("DROP ROLE redraft_app, redraft_owner, temporal")


async def test_the_commands_of_the_containers_bring_a_run_to_its_person(
    database: str, temporal: TemporalServer, temporal_client: Client, llm: FakeLLM, tmp_path: Path
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    shell = {**SECRETS, "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": llm.base_url}
    api_port, health_port = free_port(), free_port()
    elsewhere = {
        "postgres:5432": database,
        "temporal:7233": temporal.address,
        "file:///data": tmp_path.as_uri(),
    }
    changed = {
        "TEMPORAL_NAMESPACE": await make_namespace(temporal_client),
        "REDRAFT_API_PORT": str(api_port),
        "REDRAFT_WORKER_HEALTH_PORT": str(health_port),
    }
    compose = services(shell)
    started: dict[str, subprocess.Popen[bytes]] = {}

    def start(name: str) -> subprocess.Popen[bytes]:
        environment = variables_of(compose[name], shell)
        for host, there in elsewhere.items():
            environment = {k: v.replace(host, there) for k, v in environment.items()}
        environment |= {k: v for k, v in changed.items() if k in environment}
        started[name] = spawn(
            [sys.executable, *compose[name]["command"][1:]],
            log=tmp_path / f"{name}.log",
            environment={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        )
        return started[name]

    def said() -> str:
        return "\n".join(path.read_text(errors="replace") for path in tmp_path.glob("*.log"))

    key = {"Authorization": f"Bearer {SECRETS['REDRAFT_API_KEY']}"}
    client = httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{api_port}", headers=key, trust_env=False, timeout=20
    )
    try:
        assert await asyncio.to_thread(start("migrate").wait, 60) == 0, said()
        start("worker")
        start("api")
        await eventually(lambda: _answers(client), seconds=60, what=f"the API\n{said()}")
        made = await client.post("/api/runs", json=minutes(), headers={"Idempotency-Key": new_id()})
        assert made.status_code == 201, made.text
        path = f"/api/runs/{made.json()['id']}"

        async def waiting() -> bool:
            return bool((await client.get(path)).json()["status"] == "AWAITING_CONFIRMATION")

        await eventually(waiting, seconds=40, what="the run")
        assert (await client.get(path, headers={"Authorization": "Bearer no"})).status_code == 401
    finally:
        await client.aclose()
        for process in started.values():
            end(process)
    await _application_role_cannot_change_the_schema(database)


async def _answers(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/readyz")).status_code == 200
    except httpx2.HTTPError:
        return False


async def _application_role_cannot_change_the_schema(database: str) -> None:
    connection = await asyncpg.connect(f"postgresql://redraft_app:p2@{database}/redraft")
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("CREATE TABLE public.mine (id integer)")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("UPDATE audit_events SET action = 'x'")
    finally:
        await connection.close()


def test_every_variable_of_the_containers_is_a_setting() -> None:
    known = {
        variable(name, field.metadata) for name, field in Settings.__dataclass_fields__.items()
    }
    for name in OURS:
        ours = {v for v in services(SECRETS)[name]["environment"] if v.startswith("REDRAFT_")}
        assert ours <= known, name


def test_only_migrate_has_the_password_of_the_owner() -> None:
    for name, service in services(SECRETS).items():
        says_it = "redraft_owner" in str(service.get("environment"))
        assert says_it == (name == "migrate")


def test_every_port_of_the_containers_is_opened_on_loopback_only() -> None:
    for service in services(SECRETS).values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", []))


def test_the_image_holds_what_the_commands_need_and_nothing_of_the_tests() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY ([a-z]+) \1$", dockerfile, re.MULTILINE)
    assert set(copied) == {"deploy", "workflows", "activities", "worker", "api"}
    assert "USER redraft" in dockerfile
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    for name in (*copied, "pyproject.toml", "uv.lock"):
        assert f"!{name}\n" in ignored
