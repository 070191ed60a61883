"""What a run would take: counted from the same plans and prompts that the engine makes."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from activities.model.tokens import count, count_prompt
from tests.unit import kind_material
from workflows.estimating import Asked, Habit, Range, StepEstimate, estimate
from workflows.kinds import load_kinds
from workflows.kinds.kind import Material, SourceText, Work
from workflows.kinds.lines import number_lines
from workflows.kinds.windows import nearest
from workflows.vocabulary import StepName

KINDS = load_kinds()
MEETING = next(iter(kind_material.meetings()))


def asked(body: str | None, material: Material = MEETING.material, **rest: object) -> Asked:
    base = Asked(kind=KINDS["minutes"], material=material, body=body, max_rounds=3, count=count)
    return replace(base, **rest)  # type: ignore[arg-type]


def by_name(steps: list[StepEstimate]) -> dict[str, StepEstimate]:
    return {step.name: step for step in steps}


def test_a_text_is_reviewed_once_at_least_and_refined_in_each_round_at_most() -> None:
    steps = by_name(estimate(asked("# M\n\n- We ship on Friday.\n")))
    assert list(steps) == ["review", "refine"]
    assert steps["review"].times == Range(low=1, high=3)
    assert steps["refine"].times == Range(low=0, high=3)
    assert steps["refine"].input.low == steps["refine"].output.low == 0


def test_the_prompt_of_a_review_is_counted_as_it_will_be_sent() -> None:
    short = kind_material.material("Ana: We ship on Friday.")
    body = "# M\n\n- We ship on Monday.\n"
    [step] = [s for s in estimate(asked(body, short, max_rounds=1)) if s.name == "review"]
    work = Work(step=StepName.REVIEW, round=1, material=short, body=body, count=count)
    kind = KINDS["minutes"]
    sent = sum(count_prompt(kind.prompt(work, part, ())) for part in kind.parts(work))
    assert step.input == Range(low=int(sent * 0.9), high=2 * -(-sent * 13 // 10))
    assert step.repeats == Range(low=0, high=1), "the most has it sent twice"


def test_a_long_source_is_planned_in_its_windows() -> None:
    long = kind_material.material("\n".join(f"Ana: point {n} is settled." for n in range(4500)))
    steps = by_name(estimate(asked(None, long)))
    kind = KINDS["minutes"]
    work = Work(step=StepName.DRAFT, round=0, material=long, count=count)
    parts = len(kind.parts(work))
    assert parts > 2
    assert steps["draft"].planned == Range(low=parts, high=parts)
    assert steps["draft"].calls == Range(low=parts, high=parts + -(-parts // 2))
    assert steps["draft"].input.low > count(long.sources[0].text) * 0.9
    assert steps["review"].parts.low > 2
    assert steps["refine"].input.high < 3 * steps["review"].input.high


@pytest.mark.parametrize("seconds", [0.5, 60.0, 7200.0])
def test_a_recording_is_heard_in_parts_and_drafted_from_what_may_be_said(seconds: float) -> None:
    nothing = replace(MEETING.material, sources=())
    steps = by_name(estimate(asked(None, nothing, recorded_seconds=seconds)))
    assert list(steps) == ["transcribe", "draft", "review", "refine"]
    heard = steps["transcribe"].planned
    assert 1 <= heard.low <= seconds / 300 + 1
    assert heard.low <= heard.high <= seconds / 180 + 1
    assert steps["draft"].input.low < steps["draft"].input.high


def test_habits_of_the_profile_stand_for_assumptions() -> None:
    habit = Habit(output=Range(low=200, high=300), input_ratio=2.0, again=0.0)
    body = "# M\n\n- We ship on Friday.\n"
    plain = by_name(estimate(asked(body)))["review"]
    taught = by_name(estimate(asked(body, habits={"review": habit})))["review"]
    parts = taught.parts.low
    assert (taught.measured, plain.measured) == (True, False)
    again = taught.repeats.high
    assert again == -(-3 * parts // 10), "nearly none was made again"
    assert taught.output == Range(low=200 * parts, high=300 * (3 * parts + again))
    assert taught.input.low > plain.input.low * 2


def test_a_trip_is_planned_by_its_days() -> None:
    sample = json.loads(
        Path("workflows/kinds/itinerary/sample/document.json").read_text(encoding="utf-8")
    )
    material = Material(
        title=sample["title"],
        language=None,
        attributes=sample.get("attributes") or {},
        sources=tuple(
            SourceText(id=str(at), **source) for at, source in enumerate(sample["sources"])
        ),
    )
    steps = by_name(estimate(asked(None, material, kind=KINDS["itinerary"])))
    assert steps["draft"].planned == Range(low=1, high=1)
    assert steps["draft"].repeats == Range(low=0, high=4), "models stop after some days"
    assert 5 * 150 <= steps["draft"].output.low < steps["draft"].output.high <= 5 * 5 * 500


def test_every_kind_can_be_planned_without_any_text() -> None:
    nothing = Material(title="", language=None, attributes={}, sources=())
    for kind in KINDS.values():
        body = None if kind.drafts_without_body() else "x"
        for step in estimate(asked(body, nothing, kind=kind)):
            for span in (step.calls, step.input, step.output):
                assert 0 <= span.low <= span.high


def test_a_book_against_a_long_meeting_is_planned_in_seconds_and_not_in_minutes() -> None:
    """Each sentence was held against each line: here 200 million looks, which nobody waits for."""
    line = "Ana said on Friday that the budget of 25,000 euros is enough and Bo agreed with her"
    said = "\n".join(f"Speaker {at % 7}: {line}." for at in range(4_000))
    body = "\n".join(f"- {line}. That was point {at}." for at in range(7_000))
    source = SourceText(id="long", name="long.txt", media_type="text/plain", text=said)
    began = time.process_time()
    steps = by_name(estimate(asked(body, replace(MEETING.material, sources=(source,)))))
    assert time.process_time() - began < 30
    assert steps[StepName.REVIEW].parts.low > 2, "windows, and what nobody said"


def test_passages_are_looked_at_only_as_far_as_lines_are_wanted() -> None:
    lines = number_lines(
        tuple(
            SourceText(id=str(at), name="s", media_type="text/plain", text=f"number{at} was said")
            for at in range(100)
        )
    )
    looked_at = list[int]()

    class Passages(list[str]):
        def __iter__(self) -> Iterator[str]:
            for at in range(100):
                looked_at.append(at)
                yield f"number{at}"

    found = list(itertools.islice(nearest(lines, Passages()), 5))
    assert (found, looked_at) == ([1, 2, 3, 4, 5], [0, 1, 2, 3, 4])
