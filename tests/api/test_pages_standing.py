"""Pages say of a run's text and of what is kept of it what its rows say now."""

from __future__ import annotations

import pytest

from deploy.database import new_id
from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_call, add_run, add_step, insert


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def test_what_was_kept_of_a_text_that_a_person_edited_is_not_promised(
    api: Api, browser: Browser
) -> None:
    """Items of the old text are asked for again."""
    run_id = await add_run(api.pool)
    step = await add_step(api.pool, run_id, input_revision=0)
    call = await add_call(api.pool, run_id, step)
    place = {"plan_id": step[1], "part": "all", "key": "k", "position": 0}
    made = {"payload": {"problem": "wrong"}, "step_id": step[0], "call_id": call}
    await insert(api.pool, "step_items", id=new_id(), **place, **made)
    kept = "1 item is kept and will not be asked for again."
    assert kept in (await browser.open(f"/runs/{run_id}")).text
    await api.pool.execute(
        """
        WITH mine AS (INSERT INTO revisions (document_id, number, base, body, sha256, author)
            SELECT document_id, 1, 0, 'mine', 'x', 'local' FROM runs WHERE id = $1)
        UPDATE runs SET working_revision = 1 WHERE id = $1
        """,
        run_id,
    )
    assert kept not in (await browser.open(f"/runs/{run_id}")).text


async def test_a_rejected_revision_is_not_said_to_be_offered(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    offered = "This revision is offered for confirmation."
    assert offered in (await browser.open(f"/runs/{run['id']}")).text
    assert (await api.post(f"/api/runs/{run['id']}/reject")).status == 200
    text = (await browser.open(f"/runs/{run['id']}")).text
    assert "This revision was rejected." in text
    assert offered not in text
