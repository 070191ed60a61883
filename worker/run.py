"""Starts a worker: connects, registers, polls the queues, ends in order at SIGTERM."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.runtime import Runtime
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkerDeploymentConfig

from activities.checkpoint import Checkpoint
from activities.model.client import ModelClient
from activities.owning.death import Witness, say_goodbye
from activities.owning.presence import Presence
from activities.reconcile import Sweep
from activities.round import Rounds
from activities.tools import Tools
from deploy.database import AWAY, open_pool
from deploy.poolers import behind_pooler
from deploy.settings import Settings
from deploy.temporal import connect
from worker.identity import own_identity
from worker.interrupts import listen, watch_rows
from worker.presence import keep_present, life_lock
from worker.provision import provision
from worker.reaper import Reaper
from worker.telemetry import Health, free_port, make_runtime, serving
from workflows.kinds import load_kinds
from workflows.kinds.templates import BadTemplate
from workflows.reconcile import Reconcile
from workflows.review_run import ReviewRun
from workflows.vocabulary import MEDIA_QUEUE, MODEL_QUEUE, QUEUE

log = logging.getLogger("redraft.worker")

STICKY = timedelta(seconds=1)
WORKFLOW_TASKS = 20
"""At once; more would run into their timeout together when a restarted worker replays them all."""
RECORDINGS = 4
"""Heard at once by a worker: each has a decoder of its own, and minutes of sound in memory."""
LOCK_WAIT = 0.25
"""Seconds for which a transaction waits for a run that somebody holds before its turn and its
connection are others'. As many held runs as either has would stop all of this worker's."""
CLOSE_SECONDS = 6.0
"""After the grace for running calls: time in which hand-overs are stored."""


async def run(settings: Settings) -> int:
    """Until SIGTERM or SIGINT. Returns the exit code: 1 when a part of it ended by itself."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    sdk_port = free_port() if settings.worker_health_port else 0
    health = Health(sdk_port)
    async with serving(health, settings.worker_health_port):
        tools = await _tools(settings)
        health.tools = tools
        try:
            return await _connected(tools, health, make_runtime(sdk_port), stop)
        finally:
            await _leave(tools)


async def _tools(settings: Settings) -> Tools:
    identity = own_identity()
    build = settings.worker_build_id or None
    return Tools(
        settings=settings,
        pool=await open_pool(
            settings,
            name="redraft-worker",
            lock_wait=LOCK_WAIT,
            pooled=await behind_pooler(settings),
        ),
        kinds=load_kinds(settings.kinds_dir, settings.templates_dir, _leave_out),
        model=ModelClient(settings, os.environ),
        presence=Presence(identity=identity, build=build, slots=settings.worker_slots),
        witness=Witness(identity),
    )


def _leave_out(problem: BadTemplate) -> None:
    log.error("template left out", extra={"problem": str(problem)})


async def _connected(tools: Tools, health: Health, runtime: Runtime, stop: asyncio.Event) -> int:
    lock = life_lock(tools)
    lock.start()
    aside = [asyncio.create_task(keep_present(tools), name="presence")]
    try:
        client = await _reach(tools.settings, runtime, stop)
        if client is None:
            return 0
        health.client = client
        await _provision(tools, client)
        aside += [
            _task(watch_rows(tools), "interrupts"),
            _task(listen(tools), "listen"),
            _task(Reaper(tools, client).run(), "reaper"),
        ]
        return await _poll(tools, client, stop, aside)
    finally:
        for task in aside:
            task.cancel()
        lock.stop()


def _task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name)


async def _reach(settings: Settings, runtime: Runtime, stop: asyncio.Event) -> Client | None:
    """A worker that starts before Temporal waits for it; None when told to stop meanwhile."""
    while not stop.is_set():
        try:
            return await connect(settings, runtime=runtime)
        except RuntimeError:
            log.warning("Temporal away, waiting", extra={"address": settings.temporal_address})
            try:
                await asyncio.wait_for(stop.wait(), 1.0)
            except TimeoutError:
                continue
    return None


async def _provision(tools: Tools, client: Client) -> None:
    try:
        tools.searchable = await provision(client, tools.settings)
    except RPCError as error:
        log.warning("namespace not provisioned", extra={"error": error.status})


async def _poll(
    tools: Tools, client: Client, stop: asyncio.Event, aside: list[asyncio.Task[None]]
) -> int:
    workers = _workers(tools, client)
    gc.freeze()  # looking through all that is loaded stops every stream and commit for 60 ms
    polling = [asyncio.create_task(worker.run()) for worker in workers]
    stopping = asyncio.create_task(stop.wait())
    log.info("worker polls", extra={"worker": tools.worker, "slots": tools.settings.worker_slots})
    done, _ = await asyncio.wait({*polling, *aside, stopping}, return_when=asyncio.FIRST_COMPLETED)
    failed = [task for task in done if task is not stopping]
    for task in failed:
        log.error("part of the worker ended", exc_info=task.exception())
    await asyncio.gather(*(worker.shutdown() for worker in workers))
    await asyncio.gather(*polling, return_exceptions=True)
    stopping.cancel()
    return 1 if failed else 0


def _workers(tools: Tools, client: Client) -> list[Worker]:
    settings = tools.settings
    checkpoint, rounds = Checkpoint(tools), Rounds(tools)
    grace = timedelta(seconds=settings.shutdown_grace + CLOSE_SECONDS)
    shared: dict[str, Any] = {
        "graceful_shutdown_timeout": grace,
        "identity": tools.worker,
        "sticky_queue_schedule_to_start_timeout": STICKY,
    }
    if settings.worker_build_id:
        shared["deployment_config"] = WorkerDeploymentConfig(
            version=WorkerDeploymentVersion(
                deployment_name="redraft", build_id=settings.worker_build_id
            ),
            use_worker_versioning=True,
            default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
        )
    else:
        # Versions nothing; without it the SDK hashes all modules: a third of the time of a start.
        shared["build_id"] = "redraft"
    short: list[Callable[..., Any]] = [
        checkpoint.load,
        checkpoint.conclude,
        checkpoint.move_by_hand,
        checkpoint.cancel_run,
        checkpoint.take_over,
        Sweep(tools, client).reconcile,
    ]
    beat = timedelta(seconds=min(10.0, settings.heartbeat_timeout / 3))
    beating = {
        **shared,
        "max_heartbeat_throttle_interval": beat,
        "default_heartbeat_throttle_interval": beat,
    }
    return [
        Worker(
            client,
            task_queue=QUEUE,
            workflows=[ReviewRun, Reconcile],
            activities=short,
            workflow_runner=UnsandboxedWorkflowRunner(),  # tests run it inside: DECISIONS 37
            max_concurrent_workflow_tasks=WORKFLOW_TASKS,
            max_concurrent_local_activities=200,
            **shared,
        ),
        Worker(
            client,
            task_queue=MODEL_QUEUE,
            activities=[rounds.round, rounds.draft],
            max_concurrent_activities=settings.worker_slots,
            **beating,
        ),
        Worker(
            client,
            task_queue=MEDIA_QUEUE,
            activities=[rounds.transcribe],
            max_concurrent_activities=RECORDINGS,
            **beating,
        ),
    ]


async def _leave(tools: Tools) -> None:
    """Orderly end: nobody has to prove this worker's death."""
    await tools.model.close()
    try:
        await asyncio.wait_for(say_goodbye(tools.pool, tools.worker), 2.0)
    except AWAY:
        log.warning("no goodbye, the database is away")
    try:
        await asyncio.wait_for(tools.pool.close(), 2.0)
    except TimeoutError:
        tools.pool.terminate()
