"""The loop against the naive one: the same model, token rate, meetings and planted errors.

The naive loop asks one reviewer and then for the whole document anew. The model knows the planted
errors, reports a third of them a round, corrects those it is asked about, and each time it writes
it also changes one true word: in an edit more, or in the document it writes out. Requests go over
HTTP at a fixed number of tokens a second, those of parts at the same time, as the engine does.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import mean
from typing import Any

from activities.model import tokens
from activities.model.client import ModelClient
from deploy.settings import Settings
from tests.bench import report
from tests.bench.figures import At, Figure, Target
from tests.fake_llm import FakeLLM, Reply, Request
from tests.fake_llm.players import refine_items, review_items
from tests.loop import Loop
from tests.model_caller import profile
from tests.unit.kind_material import DATA, meetings, planted
from workflows.kinds import load_kinds
from workflows.kinds.kind import Finding, Material, OpenIssue, Prompt, Work
from workflows.vocabulary import Severity, StepName

MEETINGS = ("TS3004d", "education_17", "208")
ROUNDS = 3
CHUNK = 16
Items = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A meeting with its draft: the planted errors among true statements."""

    name: str
    material: Material
    body: str
    errors: Sequence[tuple[str, str]]

    @property
    def right(self) -> str:
        return _put_right(self.body, self.errors)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one loop came to."""

    seconds: float
    refine_tokens: float
    """Output, mean of its refines."""
    left: int
    damaged: int
    input_tokens: int
    shared: float
    """Share of the input from the second round on that was sent before, from the beginning."""


def cases() -> list[Case]:
    """Drafts of some pages: the planted ones with the meeting's reference statements below."""
    found = {meeting.name: meeting for meeting in meetings()}
    made = []
    for name in MEETINGS:
        draft = (DATA / "planted" / f"{name}.md").read_text(encoding="utf-8")
        notes = "".join(f"- {statement}\n" for statement in found[name].statements)
        errors = [(error["wrong"], error["right"]) for error in planted(name)]
        body = f"{draft}\n## Notes\n\n{notes}"
        made.append(Case(name=name, material=found[name].material, body=body, errors=errors))
    return made


def model(case: Case) -> Callable[[Request], Reply]:
    """Plays both loops; which one asks it tells by the last line."""
    written = count(1)

    def play(request: Request) -> Reply:
        if request.schema == "redraft_review":
            most = -(-len(case.errors) // ROUNDS)
            found = review_items(request, case.errors, severity="major", category="fact")[:most]
            return Reply(items=found, extra={"score": 50}, chunk_chars=CHUNK)
        quotes = [issue.quote for issue in request.issues]
        known = [
            (wrong, right)
            for wrong, right in case.errors
            if any(wrong in quote or quote in wrong for quote in quotes)
        ]
        place = _true_word(request.document, case, next(written))
        if request.text.endswith(WHOLE):
            body = _put_right(_changed(request.document, place), known)
            items: Items = [{"find": "", "replace": body, "resolves": []}]
        else:
            line = request.document[place[0] : place[1]]
            slip = {"find": line, "replace": _changed(line, (0, len(line))), "resolves": ["I1"]}
            items = [*refine_items(request, known), slip]
        return Reply(items=items, chunk_chars=CHUNK)

    return play


WHOLE = "Answer with one item: the whole DOCUMENT anew in replace."


def _put_right(body: str, errors: Sequence[tuple[str, str]]) -> str:
    for wrong, right in errors:
        body = body.replace(wrong, right)
    return body


def _true_word(document: str, case: Case, number: int) -> tuple[int, int]:
    """A line of the notes, another one each time."""
    lines = [found.span() for found in re.finditer(r"(?m)^- .+$", document)]
    notes = [span for span in lines if span[0] > document.index("## Notes")]
    return notes[number * 3 % len(notes)]


def _changed(text: str, place: tuple[int, int]) -> str:
    start, end = place
    return f"{text[: end - 4]}{text[end - 4 : end][::-1]}{text[end:]}" if end - start > 8 else text


class Wire:
    """Answers prompts over HTTP for a loop that waits."""

    def __init__(self, llm: FakeLLM) -> None:
        self.llm = llm
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.client = ModelClient(Settings(database_url=""), {"THE_KEY": "k"})

    def __call__(self, prompt: Prompt) -> Items:
        items: list[Mapping[str, Any]] = []

        async def ask() -> None:
            given = profile(self.llm.base_url)
            call = self.client.start(given, prompt, on_item=items.append, on_text=lambda _: None)
            end = await call.run()
            if end.failure is not None:
                raise RuntimeError(f"the model answered {end.failure.code}")

        asyncio.run_coroutine_threadsafe(ask(), self.loop).result(600)
        return items

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)


def ours(case: Case, wire: Wire) -> str:
    kind = load_kinds()["minutes"]
    loop = Loop(
        kind=kind,
        material=case.material,
        answer=wire,
        max_rounds=ROUNDS,
        side_by_side=True,
    )
    return loop.run(case.body)[0]


def naive(case: Case, wire: Wire) -> str:
    """One prompt for everything, over the whole source, and the whole document anew."""
    kind, body = load_kinds()["minutes"], case.body
    whole = {"window_tokens": 1_000_000}
    for round_ in range(1, ROUNDS + 1):
        work = Work(
            step=StepName.REVIEW, round=round_, material=case.material, body=body, prompts=whole
        )
        [part] = kind.parts(work)
        found = wire(kind.prompt(work, part, []))
        issues = tuple(
            OpenIssue(number=number, finding=_finding(item))
            for number, item in enumerate(found, start=1)
        )
        if not found:
            return body
        work = replace(work, step=StepName.REFINE, issues=issues)
        prompt = kind.prompt(work, part, [])
        body = str(wire(replace(prompt, user=f"{prompt.user}\n{WHOLE}"))[0]["replace"])
    return body


def _finding(item: Mapping[str, Any]) -> Finding:
    return Finding(
        category=item["category"],
        severity=Severity(item["severity"]),
        quote=item["quote"],
        problem=item["problem"],
        suggestion=item["suggestion"],
        evidence=tuple(item["evidence"]),
    )


async def measure(case: Case, run: Callable[[Case, Wire], str], rate: float) -> Outcome:
    async with FakeLLM(model(case), count_tokens=tokens.count) as llm:
        llm.pace(per_chunk=CHUNK * tokens.count(case.body) / len(case.body) / rate)
        wire = Wire(llm)
        began = time.monotonic()
        try:
            body = await asyncio.to_thread(run, case, wire)
        finally:
            wire.close()
        seconds = time.monotonic() - began
        refines = [request.billed.output for request in llm.of("redraft_refine")]
        true = set(case.right.splitlines())
        lines = body.splitlines()
        return Outcome(
            seconds=seconds,
            refine_tokens=mean(refines),
            left=sum(wrong in body for wrong, _ in case.errors),
            damaged=sum(
                line not in true and not any(wrong in line for wrong, _ in case.errors)
                for line in lines
            ),
            input_tokens=sum(request.billed.input for request in llm.requests),
            shared=_shared([request.text for request in llm.requests]),
        )


def _shared(texts: Sequence[str]) -> float:
    """Of everything sent after the first review and refine."""
    total = same = 0
    for at, text in enumerate(texts):
        if at < 2:
            continue
        total += tokens.count(text)
        same += max(tokens.count(_prefix(text, other)) for other in texts[:at])
    return same / total if total else 1.0


def _prefix(one: str, other: str) -> str:
    size = min(len(one), len(other))
    while size and one[:size] != other[:size]:  # halves, then back up: prompts are long
        size = size // 2
    step = max(len(one) // 64, 1)
    while step:
        while (
            size + step <= min(len(one), len(other))
            and one[size : size + step] == (other[size : size + step])
        ):
            size += step
        step //= 2
    return one[:size]


async def figures(rate: float) -> list[Figure]:
    tokens_share, wall, damaged, left, shared = [], [], [], [], []
    details: dict[str, Any] = {}
    for case in cases():
        mine = await measure(case, ours, rate)
        other = await measure(case, naive, rate)
        tokens_share.append(mine.refine_tokens / other.refine_tokens)
        wall.append(mine.seconds / other.seconds)
        damaged.append(float(mine.damaged))
        left.append(float(mine.left))
        shared.append(mine.shared)
        details[case.name] = {
            "refine_tokens": mine.refine_tokens,
            "naive_refine_tokens": other.refine_tokens,
            "seconds": round(mine.seconds, 2),
            "naive_seconds": round(other.seconds, 2),
            "input_tokens": mine.input_tokens,
            "naive_input_tokens": other.input_tokens,
            "naive_damaged": other.damaged,
            "naive_left": other.left,
        }
    return [
        Figure(
            name="loop output of a refine / naive",
            unit="share",
            samples=tokens_share,
            targets=(Target(bound=0.2, at=At.MAX),),
            details=details,
        ),
        Figure(
            name=f"loop {ROUNDS} rounds / naive",
            unit="share",
            samples=wall,
            targets=(Target(bound=0.5, at=At.MAX),),
        ),
        Figure(
            name="loop true statements damaged",
            unit="lines",
            samples=damaged,
            targets=(Target(bound=0, at=At.MAX),),
        ),
        Figure(name="loop planted errors left", unit="errors", samples=left),
        Figure(name="loop input seen before, from round 2", unit="share", samples=shared),
    ]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="redraft bench loop", description=__doc__)
    parser.add_argument("--rate", type=float, default=200.0, help="tokens a second (200)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    given = parser.parse_args(arguments)
    facts = report.machine()
    found = asyncio.run(figures(given.rate))
    report.print_head()
    for figure in found:
        report.print_figure(figure)
    if given.json is not None:
        report.write_json(given.json, facts, found)
    return 0
