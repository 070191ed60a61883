"""A profile that names reviewers is looked at where a run starts or goes on with it."""

from __future__ import annotations

from typing import Any

from tests.api.harness import MINUTES, Api
from workflows.vocabulary import RunStatus


async def _profile(api: Api, name: str, reviewers: Any) -> None:
    await api.pool.execute(
        """
        INSERT INTO profiles (name, version, model, prompts, actor)
        VALUES ($1, 1, 'm', $2, 'local')
        """,
        name,
        {"reviewers": reviewers},
    )


async def test_a_run_does_not_start_with_a_reviewer_its_kind_does_not_have(api: Api) -> None:
    await _profile(api, "odd", ["facts", "style"])
    answer = await api.post("/api/runs", {**MINUTES, "profile": "odd"})
    assert (answer.status, answer.pointers()) == (422, ["/profile"])
    assert "no reviewer 'style'" in str(answer.json)
    assert await api.pool.fetchval("SELECT count(*) FROM runs") == 0


async def test_a_run_starts_with_the_reviewers_its_kind_has(api: Api) -> None:
    await _profile(api, "three", ["facts", "claims", "gaps"])
    answer = await api.post("/api/runs", {**MINUTES, "profile": "three"})
    assert answer.status == 201, answer.json
    trip = {"kind": "itinerary", "title": "Trip", "profile": "three"}
    assert (await api.post("/api/runs", trip)).pointers() == ["/profile"]


async def test_a_run_does_not_go_on_with_a_reviewer_its_kind_does_not_have(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    await _profile(api, "odd", ["style"])
    answer = await api.post(f"/api/runs/{run['id']}/resume", {"profile": "odd"})
    assert (answer.status, answer.pointers()) == (422, ["/profile"])
    assert (await api.get(f"/api/runs/{run['id']}")).json["status"] == "INTERRUPTED"
