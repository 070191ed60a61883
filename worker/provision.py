"""Makes sure that the namespace has what Redraft needs: search attributes, retention, schedule.

Done by API at start and before each sweep, because flags of a server do not apply to an existing
store, and a store may be lost.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)
from temporalio.service import RPCError

from deploy.settings import Settings
from workflows.vocabulary import QUEUE, RECONCILE_WORKFLOW

log = logging.getLogger("redraft.provision")

RETENTION = timedelta(days=30)
SCHEDULE_ID = "redraft-reconcile"
EVERY = timedelta(minutes=5)
_KEYWORD, _INT = (
    IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    IndexedValueType.INDEXED_VALUE_TYPE_INT,
)
ATTRIBUTES = {
    "RedraftStatus": _KEYWORD,
    "RedraftKind": _KEYWORD,
    "RedraftDocument": _KEYWORD,
    "RedraftRound": _INT,
    "RedraftScore": _INT,
}


async def provision(client: Client, settings: Settings) -> bool:
    """Whether the search attributes are there. A refusal is logged: an administrator made the
    namespace then, and runs go on without them."""
    searchable = await _search_attributes(client, settings.temporal_namespace)
    await _retention(client, settings.temporal_namespace)
    await _schedule(client)
    return searchable


async def _search_attributes(client: Client, namespace: str) -> bool:
    try:
        there = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=namespace), timeout=RPC
        )
        missing = {k: v for k, v in ATTRIBUTES.items() if k not in there.custom_attributes}
        if missing:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(namespace=namespace, search_attributes=missing),
                timeout=RPC,
            )
        return True
    except RPCError as error:
        log.warning("search attributes not there", extra={"error": error.status})
        return False


RPC = timedelta(seconds=5)


async def _retention(client: Client, namespace: str) -> None:
    """Raised to 30 days where it is shorter, or links to Temporal Web die after a day."""
    try:
        described = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=namespace), timeout=RPC
        )
        now = described.config.workflow_execution_retention_ttl.ToTimedelta()
        if now >= RETENTION:
            return
        wanted = Duration()
        wanted.FromTimedelta(RETENTION)
        await client.workflow_service.update_namespace(
            UpdateNamespaceRequest(
                namespace=namespace,
                config=NamespaceConfig(workflow_execution_retention_ttl=wanted),
            ),
            timeout=RPC,
        )
    except RPCError as error:
        log.info("retention not changed", extra={"error": error.status})


async def _schedule(client: Client) -> None:
    try:
        await client.create_schedule(
            SCHEDULE_ID,
            Schedule(
                action=ScheduleActionStartWorkflow(
                    RECONCILE_WORKFLOW, id=SCHEDULE_ID, task_queue=QUEUE
                ),
                spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=EVERY)]),
                policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
            ),
            rpc_timeout=RPC,
        )
    except ScheduleAlreadyRunningError:
        return
    except RPCError as error:
        log.info("schedule not made", extra={"error": error.status})
