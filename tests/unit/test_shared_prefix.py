"""From the second round on providers know most of a prompt already: the long source comes first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fake_llm import FakeLLM, Reply
from tests.model_caller import Caller
from tests.unit.kind_material import Meeting, meetings
from workflows.kinds import load_kinds
from workflows.kinds.kind import Finding, OpenIssue, Prompt, Work
from workflows.vocabulary import Severity, StepName

CHOSEN = ("ES2004a", "146")
ENOUGH = 0.8


def prompts_of(meeting: Meeting, round_: int) -> Iterator[Prompt]:
    """Review (every reviewer) and refine of one round; each round has another text."""
    kind = load_kinds()["minutes"]
    said = [*meeting.statements[:30], f"Changed in round {round_}."]
    body = "# Minutes\n\n" + "\n".join(f"- {statement.strip()}" for statement in said[round_:])
    finding = Finding(
        category="number",
        severity=Severity.MAJOR,
        quote=said[-1],
        problem="not said",
        evidence=("T3",),
    )
    for step in (StepName.REVIEW, StepName.REFINE):
        issues = (OpenIssue(number=round_, finding=finding),) if step is StepName.REFINE else ()
        work = Work(step=step, round=round_, material=meeting.material, body=body, issues=issues)
        for part in kind.parts(work):
            yield kind.prompt(work, part, ())


@pytest.mark.parametrize("name", CHOSEN)
async def test_of_a_real_meeting_most_input_is_a_prefix_the_provider_knows(name: str) -> None:
    meeting = next(one for one in meetings() if one.name == name)
    async with FakeLLM() as llm:
        caller = Caller(llm)
        for round_ in (1, 2, 3):
            first = len(llm.requests)
            for prompt in prompts_of(meeting, round_):
                await caller.ask(Reply(items=[]), prompt=prompt)
            asked = llm.requests[first:]
            known = sum(llm.known_share(request) * request.billed.input for request in asked)
            share = known / sum(request.billed.input for request in asked)
            assert round_ == 1 or share >= ENOUGH, (round_, share)
        await caller.client.close()
