"""Limits and guardrails at the door: what a start may name, what a resume must bring."""

from __future__ import annotations

from typing import Any

import pytest

from activities import record
from tests.api.harness import MINUTES, Api
from tests.pages.forms import Browser
from workflows.vocabulary import EventType, Reason, RunStatus

PRICES = {"input": "1", "output": "4"}


async def priced(api: Api, name: str = "priced") -> str:
    await api.pool.execute(
        "INSERT INTO profiles (name, version, model, prices, actor) VALUES ($1, 1, 'm', $2, 'ana')",
        name,
        PRICES,
    )
    return name


async def stopped(api: Api, reason: Reason, limits: dict[str, Any], **used: Any) -> dict[str, Any]:
    """A run that the engine stopped; `used` are columns of its row."""
    run = await api.run(limits=limits, profile=await priced(api))
    for column, value in used.items():
        await api.pool.execute(
            f"UPDATE runs SET {column} = $2 WHERE id = $1",  # noqa: S608
            run["id"],
            value,
        )
    await api.engine_move(run["id"], EventType.RUN_INTERRUPTED, reason)
    return run


async def resumed(api: Api, run: dict[str, Any], body: dict[str, Any]) -> tuple[int, str | None]:
    answer = await api.post(f"/api/runs/{run['id']}/resume", body)
    return answer.status, answer.code


async def test_a_run_keeps_the_limits_it_was_started_with(api: Api) -> None:
    limits = {"max_calls": 20, "max_tokens": 90_000, "max_cost": "1.50", "max_seconds": 600}
    wanted = {**MINUTES, "limits": limits, "profile": await priced(api)}
    answer = await api.post("/api/runs", wanted)
    assert (answer.status, answer.json["limits"]) == (201, limits)
    await api.post(f"/api/runs/{answer.json['id']}/cancel")
    below = await api.post("/api/runs", {**MINUTES, "limits": {"max_cost": "-1"}})
    assert "give an amount as text" in below.json["detail"]
    again = await api.post(
        f"/api/documents/{answer.json['document_id']}/runs",
        {"limits": {"max_calls": 3, "max_cost": None}},
    )
    assert (again.status, again.json["limits"]) == (201, {"max_calls": 3})


@pytest.mark.parametrize(
    ("prices", "status"),
    [(None, 422), ({**PRICES, "currency": "EUR"}, 422), ({"input": "9", "output": "9"}, 201)],
)
async def test_a_cost_limit_needs_the_fallbacks_price_too(
    api: Api, prices: dict[str, Any] | None, status: int
) -> None:
    """Else the run would stop in the middle, when the first provider is away."""
    await api.pool.execute(
        """
        INSERT INTO profiles (name, version, model, prices, fallback, actor)
        VALUES ('both', 1, 'm', $1, $2, 'ana'), ('spare', 1, 'm', $3, NULL, 'ana')
        """,
        *(PRICES, {"profile": "spare", "after": 2}, prices),
    )
    wanted = {**MINUTES, "limits": {"max_cost": "2"}, "profile": "both"}
    answer = await api.post("/api/runs", wanted)
    assert answer.status == status
    if status == 422:
        assert (answer.code, answer.pointers()) == ("unpriced_profile", ["/limits/max_cost"])
        assert answer.json["detail"].startswith("spare, the fallback of both")


async def test_a_cost_limit_keeps_the_money_it_was_meant_in(api: Api) -> None:
    """Before anything was paid too: a thousand yen are no thousand dollars."""
    yen = {**PRICES, "currency": "JPY"}
    await api.pool.execute(
        "INSERT INTO profiles (name, version, model, prices, actor) VALUES "
        "('yen', 1, 'm', $1, 'ana'), ('dollars', 1, 'm', $2, 'ana')",
        *(yen, PRICES),
    )
    run = await api.run(limits={"max_cost": "1000"}, profile="yen")
    assert run["currency"] == "JPY"
    path = f"/api/runs/{run['id']}"
    await api.post(f"{path}/interrupt")
    refused = await api.post(f"{path}/resume", {"profile": "dollars"})
    assert (refused.status, refused.code) == (409, "unpriced_profile")
    assert refused.json["params"]["paid"] == "JPY"
    again = {"profile": "dollars", "limits": {"max_cost": "7"}}
    resumed = await api.post(f"{path}/resume", again)
    assert (resumed.status, resumed.json["currency"]) == (202, "USD")


async def test_on_resume_a_named_limit_replaces_null_removes_and_the_event_says_so(
    api: Api,
) -> None:
    run = await api.run(limits={"max_calls": 5, "max_tokens": 100}, profile=await priced(api))
    await api.post(f"/api/runs/{run['id']}/interrupt")
    wanted = {"max_calls": 9, "max_tokens": None, "max_cost": "2"}
    body = {"limits": wanted, "max_rounds": 7}
    answer = await api.post(f"/api/runs/{run['id']}/resume", body)
    assert (answer.status, answer.json["limits"]) == (202, {"max_calls": 9, "max_cost": "2"})
    [told] = [e for e in await api.events(run["id"]) if e["type"] == "limits_raised"]
    assert {name: told[name] for name in (*wanted, "max_rounds")} == {
        "max_calls": {"from": 5, "to": 9},
        "max_tokens": {"from": 100, "to": None},
        "max_cost": {"from": None, "to": "2"},
        "max_rounds": {"from": 5, "to": 7},
    }


TOKENS_USED = {"tokens_input": 90, "tokens_output": 40}
STOPS: dict[str, tuple[Reason, dict[str, Any], dict[str, Any]]] = {
    "calls": (Reason.LIMIT_CALLS, {"max_calls": 2}, {"calls": 2}),
    "tokens": (Reason.LIMIT_TOKENS, {"max_tokens": 100}, TOKENS_USED),
    "cost": (Reason.LIMIT_COST, {"max_cost": "0.5"}, {}),
    "seconds": (Reason.LIMIT_SECONDS, {"max_seconds": 60}, {"seconds_running": 60.5}),
}


@pytest.mark.parametrize(
    ("stop", "too_little", "enough"),
    [
        ("calls", {"max_calls": 2}, {"max_calls": 3}),
        ("tokens", {"max_tokens": 120}, {"max_tokens": 131}),
        ("cost", {"max_tokens": 10**6}, {"max_cost": "0.51"}),
        ("seconds", {"max_seconds": 60}, {"max_seconds": None}),
    ],
)
async def test_after_a_limit_a_resume_must_raise_that_one(
    api: Api, stop: str, too_little: dict[str, Any], enough: dict[str, Any]
) -> None:
    reason, limits, used = STOPS[stop]
    run = await stopped(api, reason, limits, **used)
    assert await resumed(api, run, {}) == (409, "limit_required")
    before = (await api.get(f"/api/runs/{run['id']}")).json
    assert await resumed(api, run, {"limits": too_little}) == (409, "limit_required")
    assert (await api.get(f"/api/runs/{run['id']}")).json == before, "a refusal has no effect"
    assert await resumed(api, run, {"limits": enough}) == (202, None)


async def test_after_an_unknown_price_a_resume_brings_one_or_drops_the_limit(api: Api) -> None:
    run = await stopped(api, Reason.PRICE_UNKNOWN, {"max_cost": "1"})
    await api.pool.execute("UPDATE profiles SET prices = NULL WHERE name = 'priced'")
    assert await resumed(api, run, {}) == (409, "unpriced_profile")
    assert await resumed(api, run, {"profile": "default"}) == (409, "unpriced_profile")
    assert await resumed(api, run, {"limits": {"max_cost": "9"}}) == (409, "unpriced_profile")
    assert await resumed(api, run, {"profile": await priced(api, "other")}) == (202, None)

    await api.engine_move(run["id"], EventType.RUN_INTERRUPTED, Reason.PRICE_UNKNOWN)
    await api.pool.execute("UPDATE profiles SET prices = NULL WHERE name = 'other'")
    assert await resumed(api, run, {"limits": {"max_cost": None}}) == (202, None)


async def test_a_resume_may_not_bring_a_cost_limit_without_a_price(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    path = f"/api/runs/{run['id']}/resume"
    answer = await api.post(path, {"limits": {"max_cost": "1"}})
    assert (answer.status, answer.code, answer.pointers()) == (
        422,
        "unpriced_profile",
        ["/limits/max_cost"],
    )
    wanted = {"limits": {"max_cost": "1"}, "profile": await priced(api)}
    assert (await api.post(path, wanted)).status == 202
    await api.post(f"/api/runs/{run['id']}/interrupt")
    answer = await api.post(path, {"profile": "default"})
    assert (answer.status, answer.pointers()) == (422, ["/profile"])


async def guarded(api: Api, reason: Reason, params: dict[str, Any]) -> dict[str, Any]:
    """A run that a guardrail stopped in the part `a`; beside it `b`, and `c` of another step."""
    run = await api.run()
    for name, parts in (("review", ["a", "b"]), ("refine", ["c"])):
        await api.pool.execute(
            """
            WITH plan AS (
                INSERT INTO step_plans (id, run_id, round, name)
                VALUES (gen_random_uuid(), $1, 1, $2) RETURNING id)
            INSERT INTO step_parts (plan_id, part, key, position, calls, early_ends, barren,
                reply_hashes, stop)
            SELECT id, p, p, 0, 19, 5, 3, ARRAY['h'], $4 FROM plan, unnest($3::text[]) p
            """,
            run["id"],
            name,
            parts,
            str(reason),
        )
    async with api.pool.acquire() as connection, connection.transaction():
        await record.move(
            connection,
            run["id"],
            record.Move(
                event=EventType.RUN_FAILED,
                actor="worker",
                from_=RunStatus.RUNNING,
                epoch=1,
                reason=reason,
                params=params,
            ),
        )
    return run


UNTOUCHED = (19, 5, 3, ["h"])


@pytest.mark.rule("override_once")
@pytest.mark.parametrize(
    ("reason", "left"),
    [
        (Reason.CALL_LIMIT, (0, 0, 3, ["h"])),
        (Reason.SPINNING, (19, 5, 0, [])),
        (Reason.REFUSAL, UNTOUCHED),
    ],
)
async def test_an_override_gives_room_to_the_stopped_part_for_that_stop_and_no_other(
    api: Api, reason: Reason, left: tuple[Any, ...]
) -> None:
    run = await guarded(api, reason, {"step": "review", "round": 1, "part": "a"})
    assert await resumed(api, run, {}) == (409, "guardrail_override_required")
    answer = await api.post(f"/api/runs/{run['id']}/resume", {"override_guardrail": True})
    assert (answer.status, answer.json["guardrail"]) == (202, None)
    rows = await api.pool.fetch(
        "SELECT part, stop, calls, early_ends, barren, reply_hashes FROM step_parts ORDER BY part"
    )
    assert [(row["part"], row["stop"], tuple(row)[2:]) for row in rows] == [
        ("a", None, left),
        ("b", str(reason), UNTOUCHED),
        ("c", str(reason), UNTOUCHED),
    ]
    [told] = [e for e in await api.events(run["id"]) if e["type"] == "run_resumed"]
    assert told["override_guardrail"] == reason


async def test_a_limit_is_given_at_the_start_and_raised_or_dropped_on_the_page_of_the_run(
    api: Api,
) -> None:
    browser = Browser(api.client)
    form = await browser.form("/runs/new", "/runs/new")
    fields = {"title": "Weekly", "body": "# Minutes", "max_calls": "4", "max_cost": "1"}
    refused = await browser.send(form, **fields)
    assert refused.status_code == 422
    assert "A cost limit needs a profile with a price." in refused.text
    form = await browser.form("/runs/new", "/runs/new")
    started = await browser.send(form, **{**fields, "max_cost": ""})
    assert started.status_code == 303
    path = started.headers["location"]
    run = (await api.get(f"/api{path}")).json
    assert run["limits"] == {"max_calls": 4}
    assert "of at most 4" in (await browser.open(path)).text
    await api.engine_move(run["id"], EventType.RUN_INTERRUPTED, Reason.LIMIT_CALLS)
    form = await browser.form(path, f"{path}/resume")
    refused = await browser.send(form)
    assert refused.status_code == 409
    assert "Raise that limit to resume" in refused.text
    form = await browser.form(path, f"{path}/resume")
    assert (await browser.send(form, no_limit="max_calls")).status_code == 303
    assert (await api.get(f"/api{path}")).json["limits"] == {}
