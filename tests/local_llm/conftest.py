"""The model's server, once a session, and what the command prints at its end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.local_llm.parts import VARIABLE, LocalModel
from tests.local_llm.server import LocalServer
from tests.local_llm.telling import WHAT_IT_IS, Telling
from tests.local_llm.witness import Witness

_TELLING = pytest.StashKey[Telling]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TELLING] = Telling()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    lines = config.stash[_TELLING].lines
    for line in [*lines, "", WHAT_IT_IS] if lines else ():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def telling(pytestconfig: pytest.Config) -> Telling:
    return pytestconfig.stash[_TELLING]


@pytest_asyncio.fixture(scope="session")
async def starting() -> AsyncIterator[LocalServer]:
    """The server from its first moment: it may still be loading the model."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip("only ./redraft test --local-llm fetches the model")
    server = LocalServer(LocalModel.of(Path(folder)))
    server.start()
    yield server
    await server.stop()


@pytest_asyncio.fixture(scope="session")
async def server(starting: LocalServer) -> LocalServer:
    await starting.ready()
    return starting


@pytest_asyncio.fixture
async def witness(server: LocalServer) -> AsyncIterator[Witness]:
    async with Witness(server.port) as witness:
        yield witness
