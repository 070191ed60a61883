"""What a run would ask of a model before it starts: the kind's own plans and prompts, counted.

Prompts are made and counted as the engine would; how long replies are, nobody knows before: they
are ranges, of what a profile's calls were like or of what is assumed. The most has room for calls
that are made again: those that are cut, that bring only some of their items, or whose answer could
not be kept. What a server that fails for an hour costs, and what its cache takes off, is not in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workflows import cutting
from workflows.kinds.kind import (
    FOLLOWS,
    Finding,
    Kind,
    Material,
    OpenIssue,
    PartPlan,
    Prompt,
    SourceText,
    Work,
)
from workflows.kinds.lines import number_lines
from workflows.kinds.passages import sentence_around
from workflows.kinds.sizes import WIDE, rough_count
from workflows.vocabulary import Severity, StepName

MOST_ISSUES = 12
"""As many as a first review of a poor draft finds."""
_SPOKEN = (
    "Speaker 1: We talked about this point and somebody said what is to be done about it next."
)
_TURN_SECONDS = {False: 12.0, True: 5.0}
"""How long such a line lasts, by whether much is said."""
_LOOKED_AT, _WIDE_SHARE = 20_000, 0.2
_SOME, _QUOTED = 40, 600
"""Characters of a sentence, at least; the rest of it is looked for on both sides."""
_BY_ITEM = {"sections": (40, 600), "days": (150, 500)}
_BY_STEP = {StepName.REVIEW: (15, 1500), StepName.REFINE: (60, 1500)}
_AGAIN = {
    StepName.TRANSCRIBE: 0.1,
    StepName.DRAFT: 0.5,
    StepName.REVIEW: 0.5,
    StepName.REFINE: 1.0,
}
"""Calls made again, at most, for each that is planned. What a refine could not place is answered
once."""
_AGAIN_AT_LEAST = 0.1
_CONTINUED = 4
"""Further calls of a draft by days: models often write only some of them, and five is the cap."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """From the least to the most, both whole numbers."""

    low: int
    high: int

    def __add__(self, other: Range) -> Range:
        return Range(low=self.low + other.low, high=self.high + other.high)

    def times(self, other: Range) -> Range:
        return Range(low=self.low * other.low, high=self.high * other.high)

    def scaled(self, low: float, high: float) -> Range:
        return Range(low=math.floor(self.low * low), high=math.ceil(self.high * high))

    def over(self, other: Range) -> Range:
        """What both cover."""
        return Range(low=min(self.low, other.low), high=max(self.high, other.high))


NOTHING = Range(low=0, high=0)


def exactly(number: int) -> Range:
    return Range(low=number, high=number)


@dataclass(frozen=True, kw_only=True)
class Habit:
    """What the calls of a profile for one step were like: output tokens, reported by estimated
    input tokens, and how many were made again."""

    output: Range | None = None
    input_ratio: float | None = None
    again: float | None = None
    """Calls beyond the first of a part, for each part."""


@dataclass(frozen=True, kw_only=True)
class StepEstimate:
    """All executions of one step. `parts` are the calls of one of them, `repeats` those made again
    in all; `shared` tokens of the least input stand in an earlier call of the same step too;
    `measured`: reply lengths are those of the profile's calls."""

    name: StepName
    times: Range
    parts: Range
    input: Range = NOTHING
    output: Range = NOTHING
    repeats: Range = NOTHING
    shared: int = 0
    measured: bool = False

    @property
    def planned(self) -> Range:
        return self.parts.times(self.times)

    @property
    def calls(self) -> Range:
        return self.planned + self.repeats

    def with_repeats(self, most: int) -> StepEstimate:
        """The same with so many calls at most made again, each as long as the longest is on the
        average."""
        planned = max(1, self.planned.high)
        return replace(
            self,
            repeats=Range(low=0, high=most),
            input=self.input.scaled(1, 1 + most / planned),
            output=self.output.scaled(1, 1 + most / planned),
        )

    def over(self, other: StepEstimate) -> StepEstimate:
        return replace(
            self,
            times=self.times.over(other.times),
            parts=self.parts.over(other.parts),
            input=self.input.over(other.input),
            output=self.output.over(other.output),
            repeats=self.repeats.over(other.repeats),
            shared=min(self.shared, other.shared),
        )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A run that may be started. `recorded_seconds`: of a recording that has no transcript yet."""

    kind: Kind
    material: Material
    body: str | None
    max_rounds: int
    prompts: Mapping[str, Any] = field(default_factory=dict)
    habits: Mapping[str, Habit] = field(default_factory=dict)
    recorded_seconds: float | None = None
    part_seconds: float = cutting.LONGEST
    """Of a recording, at most heard at once."""
    count: Callable[[str], int] = rough_count

    def measure(self, prompt: Prompt) -> int:
        """Tokens of a request; the marks of its two messages are a handful more."""
        return self.count(prompt.system) + self.count(prompt.user) + 11


def estimate(asked: Asked) -> list[StepEstimate]:
    """The steps that the run may take, in their order."""
    if asked.recorded_seconds is None:
        return _steps(asked)
    little, much = (_steps(_heard(asked, much=much)) for much in (False, True))
    heard = [one.over(other) for one, other in zip(little, much, strict=True)]
    return [_hearing(asked.recorded_seconds, asked.part_seconds), *heard]


def _hearing(seconds: float, longest: float) -> StepEstimate:
    """A part ends at the quietest place between the longest and a share of it; nobody is asked
    for one in which nobody speaks."""
    shortest = longest * cutting.SHORTEST
    parts = Range(
        low=max(1, math.ceil(seconds / longest)), high=max(1, math.ceil(seconds / shortest))
    )
    heard = StepEstimate(name=StepName.TRANSCRIBE, times=exactly(1), parts=parts)
    return heard.with_repeats(_repeats(heard, Habit()))


def _repeats(step: StepEstimate, habit: Habit) -> int:
    """Twice as many as in the profile's calls, or as is assumed."""
    share = _AGAIN[step.name] if habit.again is None else 2 * habit.again + _AGAIN_AT_LEAST
    return math.ceil(step.planned.high * min(share, _CONTINUED))


def _heard(asked: Asked, *, much: bool) -> Asked:
    """With a transcript as long as the recording lets one expect."""
    turns = max(1, round((asked.recorded_seconds or 0) / _TURN_SECONDS[much]))
    text = "\n".join([_SPOKEN] * turns)
    heard = SourceText(id="recording", name="recording", media_type="text/plain", text=text)
    material = replace(asked.material, sources=(heard, *asked.material.sources))
    return replace(asked, material=material)


def _steps(asked: Asked) -> list[StepEstimate]:
    steps, length = [], exactly(0)
    if asked.body is None:
        draft, length = _draft(asked)
        steps.append(draft)
    rounds = asked.max_rounds
    steps.append(_later(asked, StepName.REVIEW, length, Range(low=1, high=rounds)))
    steps.append(_later(asked, StepName.REFINE, length, Range(low=0, high=rounds)))
    return steps


def _work(asked: Asked, step: StepName, issues: Sequence[OpenIssue] = ()) -> Work:
    return Work(
        step=step,
        round=0 if step is StepName.DRAFT else 1,
        material=asked.material,
        body=asked.body or "",
        prompts=asked.prompts,
        issues=tuple(issues),
        count=asked.count,
    )


def _draft(asked: Asked) -> tuple[StepEstimate, Range]:
    """The draft, and how many tokens the text has that comes of it."""
    work, habit = _work(asked, StepName.DRAFT), asked.habits.get(StepName.DRAFT, Habit())
    plans = asked.kind.parts(work)
    first = [plan for plan in plans if not plan.spec.get(FOLLOWS)]
    last = [plan for plan in plans if plan.spec.get(FOLLOWS)]
    inputs, outputs, written = NOTHING, NOTHING, NOTHING
    for plan in first:
        prompt = asked.kind.prompt(work, plan, ())
        reply = _reply(asked, work, plan, prompt)
        inputs, outputs = inputs + exactly(asked.measure(prompt)), outputs + reply
        written = written + reply
    if last:
        noted, written = written, NOTHING
        composing = replace(work, gathered=tuple((plan, ()) for plan in first))
        for plan in last:
            prompt = asked.kind.prompt(composing, plan, ())
            reply = _reply(asked, composing, plan, prompt)
            share = noted.scaled(1 / len(last), 1 / len(last))
            inputs = inputs + exactly(asked.measure(prompt)) + share
            outputs, written = outputs + reply, written + reply
    made = StepEstimate(
        name=StepName.DRAFT,
        times=exactly(1),
        parts=exactly(len(plans)),
        input=_as_counted(asked, inputs, habit),
        output=outputs,
        measured=habit.output is not None,
    )
    most = _repeats(made, habit)
    if habit.again is None and _by_days(asked.kind.prompt(work, plans[0], ())):
        days = asked.kind.expected(work, plans[0])
        most = _CONTINUED if days is None else min(_CONTINUED, len(days) - 1)
    made = made.with_repeats(most)
    return made, written.scaled(0.6, 1.0)  # without keys, quotes and what is written twice


def _later(asked: Asked, step: StepName, length: Range, times: Range) -> StepEstimate:
    """A review or a refine. `length`: tokens of a body that is not there yet."""
    few = many = _of_issues(asked, step, length, 1)
    if step is StepName.REFINE:  # a review is asked for without any
        many = _of_issues(asked, step, length, MOST_ISSUES)
    habit = asked.habits.get(step, Habit())
    once = few.over(many)
    made = replace(
        once,
        times=times,
        input=_as_counted(asked, once.input, habit).times(times),
        output=once.output.times(times),
        shared=once.shared * times.low,
        measured=habit.output is not None,
    )
    return made.with_repeats(_repeats(made, habit))


def _of_issues(asked: Asked, step: StepName, length: Range, issues: int) -> StepEstimate:
    work = _work(asked, step, _issues(asked, issues) if step is StepName.REFINE else ())
    plans = asked.kind.parts(work)
    inputs, outputs, least = NOTHING, NOTHING, 0
    for plan in plans:
        prompt = asked.kind.prompt(work, plan, ())
        size = exactly(asked.measure(prompt)) + length + _unseen(asked, work, plan)
        inputs, outputs = inputs + size, outputs + _reply(asked, work, plan, prompt)
        least = max(least, size.low)
    return StepEstimate(
        name=step,
        times=exactly(1),
        parts=exactly(len(plans)),
        input=inputs,
        output=outputs,
        shared=inputs.low - least if step is StepName.REVIEW else 0,
    )


def _unseen(asked: Asked, work: Work, plan: PartPlan) -> Range:
    """Lines of a long source that are chosen by a text which is not there yet."""
    if asked.body is not None or plan.spec.get("ranges") != []:
        return NOTHING
    given = work.prompts.get("window_tokens")
    budget = given if isinstance(given, int) else asked.kind.limits.window_tokens
    return Range(low=0, high=budget)


def _issues(asked: Asked, count: int) -> list[OpenIssue]:
    """As a review might raise them: at sentences of the text, with lines of the sources."""
    body = asked.body or ""
    lines, found = len(number_lines(asked.material.sources)), []
    for at in range(count):
        start = len(body) * at // count
        start, end = sentence_around(body, start, min(len(body), start + _SOME))
        line = 1 + lines * at // count
        found.append(
            OpenIssue(
                number=at + 1,
                finding=Finding(
                    category="number",
                    severity=Severity.MAJOR,
                    quote=body[start:end].strip()[:_QUOTED],
                    problem="It says another thing than the source, which names a number here.",
                    suggestion=body[start:end].strip()[:_QUOTED],
                    evidence=(f"T{line}",) if lines else (),
                ),
            )
        )
    return found


def _reply(asked: Asked, work: Work, plan: PartPlan, prompt: Prompt) -> Range:
    habit = asked.habits.get(work.step, Habit())
    if habit.output is not None:
        return habit.output
    most = prompt.max_output_tokens
    if work.step is not StepName.DRAFT:
        low, high = _BY_STEP[work.step]
        return Range(low=min(low, most), high=min(high, most))
    keys = asked.kind.expected(work, plan) or ("",)
    low, high = _BY_ITEM["days" if _by_days(prompt) else "sections"]
    return Range(low=min(low * len(keys), most), high=min(high * len(keys), most))


def _by_days(prompt: Prompt) -> bool:
    return prompt.schema_name == "redraft_itinerary"


def _as_counted(asked: Asked, size: Range, habit: Habit) -> Range:
    """Servers count in other vocabularies: as they reported before, else what is known of those in
    use, which differ most in scripts without spaces."""
    if habit.input_ratio is not None:
        return size.scaled(habit.input_ratio * 0.97, habit.input_ratio * 1.03)
    texts = [
        (asked.body or "")[:_LOOKED_AT],
        *(source.text[:_LOOKED_AT] for source in asked.material.sources),
    ]
    wide = sum(sum(map(len, WIDE.findall(text))) for text in texts)
    is_wide = wide > _WIDE_SHARE * sum(map(len, texts))
    return size.scaled(0.9, 2.0 if is_wide else 1.3)
