"""/healthz, /readyz and /metrics of a worker, and Temporal's own metrics beside ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx2
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from temporalio.client import Client
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from activities.tools import Tools
from deploy.database import AWAY

log = logging.getLogger("redraft.telemetry")

Send = Callable[[dict[str, Any]], Awaitable[None]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def make_runtime(metrics_port: int) -> Runtime:
    """Temporal's metrics on a loopback port of their own; `/metrics` shows both together."""
    core = logging.getLogger("temporalio.core")
    core.addFilter(_expected)
    words = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger=core, append_target_to_name=False),
    )
    if not metrics_port:
        return Runtime(telemetry=TelemetryConfig(logging=words))
    prometheus = PrometheusConfig(bind_address=f"127.0.0.1:{metrics_port}")
    return Runtime(telemetry=TelemetryConfig(logging=words, metrics=prometheus))


def _expected(record: logging.LogRecord) -> bool:
    """An attempt that Temporal has given up may still end in order: no news for anybody."""
    return "Activity not found on completion" not in record.getMessage()


class Health:
    """What the process knows about itself. `tools` and `client` come when they are connected."""

    def __init__(self, sdk_port: int) -> None:
        self.sdk_port = sdk_port
        self.tools: Tools | None = None
        self.client: Client | None = None
        self.started = time.monotonic()
        self.registry = CollectorRegistry()
        self.in_flight = Gauge(
            "redraft_activities_in_flight", "Rounds and drafts at work", registry=self.registry
        )

    async def ready(self) -> tuple[bool, dict[str, str]]:
        """Red while rows cannot be read or Temporal cannot be polled."""
        facts: dict[str, str] = {}
        if self.tools is None:
            facts["database"] = "connecting"
        else:
            try:
                await self.tools.pool.fetchval("SELECT 1", timeout=2.0)
                facts["database"] = "ok"
            except AWAY as error:
                facts["database"] = type(error).__name__
        facts["temporal"] = "connecting"
        if self.client is not None:
            try:
                up = await self.client.service_client.check_health(timeout=timedelta(seconds=2))
                facts["temporal"] = "ok" if up else "not serving"
            except Exception as error:
                facts["temporal"] = type(error).__name__
        return all(fact == "ok" for fact in facts.values()), facts

    async def metrics(self) -> bytes:
        self.in_flight.set(len(self.tools.in_flight.watches) if self.tools else 0)
        own: bytes = generate_latest(self.registry)
        if not self.sdk_port:
            return own
        try:
            async with httpx2.AsyncClient(timeout=2.0) as client:
                theirs = await client.get(f"http://127.0.0.1:{self.sdk_port}/metrics")
            return own + theirs.content
        except httpx2.HTTPError:
            return own

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            return
        status, kind, body = await self._answer(scope["path"])
        headers = [(b"content-type", kind), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, path: str) -> tuple[int, bytes, bytes]:
        if path == "/healthz":
            return 200, b"application/json", b'{"status":"ok"}'
        if path == "/readyz":
            ok, facts = await self.ready()
            return (200 if ok else 503), b"application/json", json.dumps(facts).encode()
        if path == "/metrics":
            return 200, b"text/plain; version=0.0.4", await self.metrics()
        return 404, b"application/json", b'{"status":"not_found"}'


@contextlib.asynccontextmanager
async def serving(health: Health, port: int) -> AsyncIterator[None]:
    """Serves on loopback while the block runs; nothing when the port is 0."""
    if not port:
        yield
        return
    import uvicorn

    config = uvicorn.Config(
        health,
        host="127.0.0.1",
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )

    class Quiet(uvicorn.Server):
        """Signals belong to the worker."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    server = Quiet(config)
    task = asyncio.create_task(server.serve())
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.wait({task}, timeout=2.0)
