"""What a step came to is told in numbers and codes, by the API and on the page."""

from __future__ import annotations

from datetime import UTC, datetime

from tests import read_rows as rows
from tests.api.harness import Api

REVIEW = {
    "found": ["f1", "f2"],
    "majors": 2,
    "scope": "changes",
    "dropped": {"main:1": 2, "main:2": 1},
    "unfounded": ["main:2"],
}


async def test_what_a_review_dropped_and_a_refine_refused_is_seen(api: Api) -> None:
    run = await api.run()
    for seq, name, result in (
        (1, "review", REVIEW),
        (2, "refine", {"resolved": [1], "refused": {"not_found": 1, "locked": 1}}),
    ):
        await rows.add_step(
            api.pool,
            run["id"],
            seq=seq,
            name=name,
            status="SUCCEEDED",
            ended_at=datetime.now(UTC),
            result=result,
        )
    review, refine = (await api.get(f"/api/runs/{run['id']}/steps")).json["items"]
    assert review["result"] == {**REVIEW, "found": 2}
    assert refine["result"]["refused"] == {"not_found": 1, "locked": 1}
    page = (await api.client.get(f"/runs/{run['id']}")).text
    for words in (
        "looked at changes and open issues",
        "3 unfounded or repeated items dropped",
        "nothing that main:2 said could be kept",
        "2 edits refused",
    ):
        assert words in page
