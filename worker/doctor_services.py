"""The doctor's look at Temporal and at the model server, with one real call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import openai
import temporalio.api.operatorservice.v1 as operator_api
import temporalio.api.workflowservice.v1 as workflow_api
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError, RPCStatusCode

from activities.model.profile import Profile, newest
from deploy.poolers import connected
from deploy.settings import Settings
from worker.doctor_database import AWAY
from worker.doctor_findings import Finding, fail, ok, warn
from worker.provision import ATTRIBUTES, RETENTION
from workflows.vocabulary import DEFAULT_PROFILE

PATIENCE = timedelta(seconds=5)
MODEL_SECONDS = 30.0


async def check_temporal(settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """Reachable, namespace, pushed cancels, retention, search attributes."""
    given: dict[str, Any] = dict(
        ClientConfig.load_client_connect_config(
            disable_file=True, override_env_vars=dict(environment)
        )
    )
    given |= {"target_host": settings.temporal_address, "namespace": settings.temporal_namespace}
    try:
        client = await Client.connect(**given, lazy=True)
        namespace = await client.workflow_service.describe_namespace(
            workflow_api.DescribeNamespaceRequest(namespace=settings.temporal_namespace),
            timeout=PATIENCE,
        )
    except (RPCError, RuntimeError, ValueError, OSError) as error:
        return [_temporal_fault(settings, error)]
    found = [ok("temporal", f"{settings.temporal_address}, namespace {client.namespace}")]
    found.append(_commands(namespace))
    found.append(_retention(namespace))
    found.append(await _attributes(client))
    return found


def _temporal_fault(settings: Settings, error: Exception) -> Finding:
    address, name = settings.temporal_address, settings.temporal_namespace
    status = error.status if isinstance(error, RPCError) else None
    if status is RPCStatusCode.NOT_FOUND:
        return fail(
            "temporal",
            f"{address} answers, but has no namespace {name}",
            f"temporal operator namespace create -n {name}, or set TEMPORAL_NAMESPACE",
        )
    if status in (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED):
        return fail(
            "temporal", f"{address} refuses the key", "set TEMPORAL_API_KEY or the TLS variables"
        )
    return fail(
        "temporal",
        f"{address} does not answer",
        "start it (./redraft up brings one), or set TEMPORAL_ADDRESS (host:port); runs wait",
    )


def _commands(namespace: workflow_api.DescribeNamespaceResponse) -> Finding:
    if namespace.namespace_info.capabilities.worker_commands:
        return ok("cancel", "Temporal pushes cancels to workers")
    return warn(
        "cancel",
        "this Temporal does not push cancels (worker_commands): they come with heartbeats",
        "interrupts still arrive through the database; to have both, switch on "
        "frontend.WorkerCommandsEnabled and system.enableCancelActivityWorkerCommand",
    )


def _retention(namespace: workflow_api.DescribeNamespaceResponse) -> Finding:
    kept = namespace.config.workflow_execution_retention_ttl.ToTimedelta()
    text = f"closed workflows are kept {kept.days} days"
    if kept >= RETENTION:
        return ok("retention", text)
    return warn("retention", text, "a worker sets 30 days when it may; links to Temporal die first")


async def _attributes(client: Client) -> Finding:
    try:
        answer = await client.operator_service.list_search_attributes(
            operator_api.ListSearchAttributesRequest(namespace=client.namespace), timeout=PATIENCE
        )
    except RPCError as error:
        return warn(
            "attributes",
            f"search attributes cannot be listed ({error.status.name.lower()})",
            "on Temporal Cloud look in its settings for " + ", ".join(sorted(ATTRIBUTES)),
        )
    missing = sorted(ATTRIBUTES.keys() - set(answer.custom_attributes))
    if not missing:
        return ok("attributes", "all search attributes are there")
    return warn(
        "attributes", f"missing: {', '.join(missing)}", "start a worker: it makes them when it may"
    )


async def check_model(settings: Settings, environment: Mapping[str, str]) -> Finding:
    """One call of the newest version of the profile `default`, answered with one token."""
    profile = await _default_profile(settings)
    name = profile.model if profile else settings.model or environment.get("REDRAFT_MODEL", "")
    base = (profile.base_url if profile else None) or settings.openai_base_url or None
    variable = profile.key_env if profile else "OPENAI_API_KEY"
    if not name:
        return fail("model", "no model is named", "set REDRAFT_MODEL, then start Redraft once")
    where = f"{name} at {urlsplit(base).netloc if base else 'the provider of the client library'}"
    key = environment.get(variable, "")
    if not key and not base:
        return fail("model", f"{where}: no key", f"set {variable} for the worker and here")
    client = openai.AsyncOpenAI(
        api_key=key or "none", base_url=base, max_retries=0, timeout=MODEL_SECONDS
    )
    try:
        answered = await _one_token(client, name)
    except openai.OpenAIError as error:
        return _model_fault(where, variable, error)
    finally:
        await client.close()
    return ok(
        "model", f"{where} answers, as {answered}" if answered != name else f"{where} answers"
    )


async def _default_profile(settings: Settings) -> Profile | None:
    try:
        async with connected(settings.database_url) as connection:
            return await newest(connection, DEFAULT_PROFILE)
    except AWAY:
        return None


async def _one_token(client: openai.AsyncOpenAI, model: str) -> str:
    """The model that answered. Newer models refuse `max_tokens`, older servers know no other."""
    question: list[Any] = [{"role": "user", "content": "Answer with one word: ready?"}]
    try:
        answer = await client.chat.completions.create(model=model, messages=question, max_tokens=1)
    except openai.BadRequestError as error:
        if "max_tokens" not in str(error) and "max_completion_tokens" not in str(error):
            raise
        answer = await client.chat.completions.create(
            model=model, messages=question, max_completion_tokens=16
        )
    return str(answer.model or model)


def _model_fault(where: str, variable: str, error: openai.OpenAIError) -> Finding:
    """Never the provider's own words: they may repeat a key."""
    if isinstance(error, openai.APITimeoutError):
        return fail("model", f"{where} is silent for {MODEL_SECONDS:.0f} s", "see whether it runs")
    if isinstance(error, openai.APIConnectionError):
        return fail("model", f"{where} does not answer", "start it, or correct the base URL")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return fail("model", f"{where} refuses the key in {variable}", f"set {variable} anew")
    if isinstance(error, openai.NotFoundError):
        return fail("model", f"{where}: no such model there", "correct REDRAFT_MODEL or base URL")
    if isinstance(error, openai.RateLimitError):
        return warn("model", f"{where} limits us now (429)", "look at the quota; runs will wait")
    if isinstance(error, openai.APIStatusError):
        return fail("model", f"{where} answers {error.status_code}", "look at the provider's log")
    return fail("model", f"{where} cannot be used ({type(error).__name__})", "see the base URL")
