"""Runs of five rounds with three reviewers side by side, whose text at the end is known."""

from __future__ import annotations

from tests.fake_llm.players import FAMILIES
from tests.stack import Json, Stack, minutes

REVIEWERS = "three"
ROUNDS = 5
PER_ROUND = 6
"""Errors of a round: two for each reviewer."""


async def three_reviewers(stack: Stack) -> None:
    """A profile of that name."""
    await stack.sql(
        """
        INSERT INTO profiles (name, version, model, prompts, actor)
        VALUES ($1, 1, 'fake', $2, 'local') ON CONFLICT DO NOTHING
        """,
        REVIEWERS,
        {"reviewers": list(FAMILIES)},
    )


def _word(round_: int, at: int) -> str:
    return f"E{10 * round_ + at + 1}x"


def replanted() -> list[tuple[str, str]]:
    """Errors whose correction is the error of the next round, as `good_reviewer` takes them."""
    return [
        (_word(round_, at), _word(round_ + 1, at))
        for round_ in range(ROUNDS)
        for at in range(PER_ROUND)
    ]


def five_rounds(**more: object) -> Json:
    """The body of a `POST /api/runs` that holds those of the first round."""
    return minutes(errors=PER_ROUND, profile=REVIEWERS, max_rounds=ROUNDS, **more)


def corrected() -> str:
    """The text after the last round."""
    body = str(minutes(errors=PER_ROUND)["body"])
    for at in range(PER_ROUND):
        body = body.replace(f"{_word(0, at)} ", f"{_word(ROUNDS, at)} ")
    return body


async def all_five_rounds(stack: Stack, run_id: str) -> None:
    """The text of every round is there, and each was made from what all three reviewers found."""
    rows = await stack.sql(
        "SELECT round, body FROM revisions WHERE run_id = $1 ORDER BY number", run_id
    )
    assert [row["round"] for row in rows] == list(range(1, ROUNDS + 1))
    assert rows[-1]["body"] == corrected()
    found = await stack.rows(run_id, "issues")
    assert len(found) == ROUNDS * PER_ROUND
    assert {issue["raised_by"] for issue in found} == {f"model:{name}" for name in FAMILIES}
