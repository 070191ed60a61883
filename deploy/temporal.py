"""The client of the workflow engine, made from settings and TEMPORAL_* variables."""

from __future__ import annotations

from typing import Any

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.runtime import Runtime

from deploy.settings import Settings


async def connect(
    settings: Settings, *, lazy: bool = False, runtime: Runtime | None = None
) -> Client:
    """TLS and API keys come from the variables Temporal's own tools read.

    Raises RuntimeError when the server does not answer, unless `lazy` (then at the first call).
    """
    given: dict[str, Any] = dict(ClientConfig.load_client_connect_config(disable_file=True))
    given |= {
        "target_host": settings.temporal_address,
        "namespace": settings.temporal_namespace,
        "lazy": lazy,
    }
    if runtime is not None:
        given["runtime"] = runtime
    return await Client.connect(**given)
