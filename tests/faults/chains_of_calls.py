"""Chains of deaths around calls and steps: each worker goes on with what the last one left."""

from __future__ import annotations

from tests.fake_llm import Items, Reply, errors, good_reviewer
from tests.faults.dying import Chain, Dying
from tests.faults.kit import PATIENT, issues, planted
from tests.stack import Json, minutes

QUICK = {"REDRAFT_HEARTBEAT_TIMEOUT": "4"}
"""Before a claim nobody is known to have the work: only the missing heartbeat tells."""

DAYS = 5
SLOW = 60.0
"""Seconds that a busy machine may add to a limit of the product."""


async def _run(workers: Dying, wrong: int) -> Json:
    workers.llm.script(good_reviewer(errors=planted(wrong)))
    workers.llm.pace(per_chunk=0.01)
    return await workers.stack.create(minutes(errors=wrong))


async def _goes_on(workers: Dying, wrong: int) -> None:
    run = await _run(workers, wrong)
    await workers.dies(workers.kills)
    await workers.lives()
    await workers.all_is_well(run)
    await workers.nothing_repaid(run)


async def review(workers: Dying) -> None:
    await _goes_on(workers, 4)
    unproved = workers.deaths["claim.written"] - workers.deaths["prepare.after"]
    assert unproved < 4 + 2 + SLOW, "the next claim waits for the heartbeat's timeout, not longer"


async def refine(workers: Dying) -> None:
    await _goes_on(workers, 4)


async def take_over(workers: Dying) -> None:
    """The heartbeat is not waited for here, or a claim would be faster than the reaper."""
    await _goes_on(workers, 0)
    proved = workers.deaths["tell_workflow.before"] - workers.deaths["request.before"]
    assert proved < 3 + SLOW, "who died is known within seconds"


async def end(workers: Dying) -> None:
    await _goes_on(workers, 0)


async def stopped(workers: Dying) -> None:
    """Dies while an interrupt is carried out, twice; and while what it left is closed."""
    run = await _run(workers, 2)
    for asked in (1, 2):
        workers.llm.queue(Reply(items=issues(2), stall_after=Items(1)), schema="redraft_review")
        process = workers.begins()
        await workers.asked(asked)
        await workers.command(run, "interrupt")
        await workers.died(process)
        if asked == 1:
            await workers.dies(2)
            assert (await workers.stack.run(run["id"]))["status"] == "INTERRUPTED"
        await workers.command(run, "resume")
    await workers.lives()
    await workers.all_is_well(run)
    await workers.nothing_repaid(run)


async def days(workers: Dying) -> None:
    """Dies as soon as a day of a trip is stored, at each of five; no day is asked for again."""
    llm, trip = workers.llm, {"to": "Rockford", "days": DAYS}
    llm.script(good_reviewer())
    llm.queue(*[_days_from(n) for n in range(1, DAYS + 1)], schema="redraft_itinerary")
    run = await workers.stack.create({"kind": "itinerary", "title": "A trip", "attributes": trip})
    await workers.dies(workers.kills)
    await workers.lives()
    await workers.all_is_well(run)
    await workers.nothing_repaid(run)
    asked = llm.of("redraft_itinerary")
    assert [sorted(one.already_keys("day")) for one in asked] == [
        list(range(1, n + 1)) for n in range(DAYS)
    ]
    calls = await workers.stack.rows(run["id"], "calls")
    assert [call["end_cause"] for call in calls[:DAYS]] == ["worker_lost"] * DAYS


def _days_from(first: int) -> Reply:
    """The rest of the days; it stands still behind the first of them."""
    entry = {"start": "09:00", "end": "11:00", "kind": "visit", "cost": 10}
    items = [
        {"day": day, "city": "Rockford", "entries": [{**entry, "name": f"Place {day}"}]}
        for day in range(first, DAYS + 1)
    ]
    return Reply(items=items, stall_after=Items(1))


async def failing_call(workers: Dying) -> None:
    workers.llm.queue(*[errors.server_error()] * 4)
    await _goes_on(workers, 1)


async def failed_for_good(workers: Dying) -> None:
    """Dies before and after the run became FAILED, which it does once."""
    run = await _run(workers, 1)
    workers.llm.script(errors.bad_key())
    await workers.dies(2)
    await workers.lives()
    failed = await workers.stack.until(run["id"], "FAILED", seconds=1)
    assert failed["reason"]["code"] == "provider_refused"
    await workers.settled(run)
    workers.llm.script(good_reviewer(errors=planted(1)))
    await workers.command(run, "resume")
    await workers.all_is_well(run, failed=1)
    await workers.nothing_repaid(run)


async def fault_of_ours(workers: Dying) -> None:
    """The profile is gone: nobody's fault but a fault. Dies before and after it is written."""
    stack = workers.stack
    await stack.sql(
        "INSERT INTO profiles (name, version, model, actor) VALUES ('gone', 1, 'fake', 'local')"
    )
    workers.llm.script(good_reviewer(errors=planted(1)))
    run = await stack.create(minutes(errors=1, profile="gone"))
    await stack.sql("UPDATE profiles SET name = 'away' WHERE name = 'gone'")
    await workers.dies(2)
    [now] = await stack.sql("SELECT status, retry_at, last_error_code FROM runs")
    assert (now["status"], now["last_error_code"]) == ("RUNNING", "internal")
    assert now["retry_at"] is not None, "shown as waiting until then"
    await stack.sql("UPDATE profiles SET name = 'gone' WHERE name = 'away'")
    await workers.lives()
    await workers.all_is_well(run)


async def limits(workers: Dying) -> None:
    """Dies around a place in the rate limit, and around the end of the run's time."""
    stack = workers.stack
    await stack.sql(
        """
        INSERT INTO profiles (name, version, model, rate_limits, actor)
        VALUES ('few', 1, 'fake', '{"requests_per_minute": 600}', 'local')
        """
    )
    workers.llm.script(errors.rate_limited(retry_after=3600))
    run = await stack.create(minutes(errors=1, profile="few", limits={"max_seconds": 3600}))
    await workers.dies(2)
    process = workers.begins()
    await workers.asked(1)
    await workers.settled(run)  # or the next attempt may be the one that finds its time up
    await stack.sql("UPDATE runs SET running_since = now() - interval '1 h'")
    await workers.died(process)
    await workers.dies()
    await workers.lives()
    stopped = await stack.until(run["id"], "INTERRUPTED", seconds=1)
    assert stopped["reason"]["code"] == "limit_seconds"
    await workers.settled(run)
    assert len(workers.llm.requests) == 1


async def complete(workers: Dying) -> None:
    """All parts are committed and the step is not closed: it is closed without a call."""
    stack = workers.stack
    run = await _run(workers, 1)
    workers.llm.queue(Reply(hang=True))
    begun = workers.begins()
    await workers.asked(1)
    await workers.command(run, "interrupt")
    await workers.settled(run)
    stack.kill(begun)
    await stack.sql("UPDATE step_parts SET done_at = now(), result = '{}'")
    await workers.command(run, "resume")
    await workers.dies(2)
    await workers.lives()
    await workers.all_is_well(run)
    assert len(workers.llm.requests) == 1


CHAINS = [
    Chain(
        play=review,
        environment=QUICK,
        points=[
            "prepare.before",
            "prepare.after",
            "claim.written",
            "claim.committed",
            "open_call.written",
            "open_call.committed",
            "request.before",
            "items.written",
            "items.committed",
            "request.after",
            "settle.written",
            "settle.committed",
        ],
    ),
    Chain(
        play=refine,
        environment=QUICK,
        points=[
            "settle.committed",
            "items.committed",
            "request.after",
            "settle.written",
            "settle.committed",
        ],
    ),
    Chain(
        play=take_over,
        environment=PATIENT,
        points=[
            "request.before",
            "tell_workflow.before",
            "tell_workflow.after",
            "take_over.written",
            "take_over.committed",
        ],
    ),
    Chain(
        play=end,
        environment=QUICK,
        points=["conclude.written", "conclude.committed"],
    ),
    Chain(
        play=stopped,
        environment=QUICK,
        points=[
            "stopped.written",
            "close_dead.written",
            "close_dead.committed",
            "stopped.committed",
        ],
    ),
    Chain(play=days, environment=PATIENT, points=["items.committed"] * DAYS),
    Chain(
        play=failing_call,
        environment=QUICK,
        points=["later.written", "later.committed", "release.written", "release.committed"],
    ),
    Chain(play=failed_for_good, environment=QUICK, points=["fail.written", "fail.committed"]),
    Chain(play=fault_of_ours, environment=QUICK, points=["fault.written", "fault.committed"]),
    Chain(
        play=limits,
        environment=QUICK,
        points=["take.written", "take.committed", "overdue.written", "overdue.committed"],
    ),
    Chain(
        play=complete,
        environment=PATIENT,
        points=["complete.written:9", "complete.written", "complete.committed"],
    ),
]
