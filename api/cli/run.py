"""What `./redraft show` prints of a run: status and why, limits with what is used, revisions,
steps, issues, people's words, and the next act."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from api.cli.language import next_line, sentence, tell, word
from api.cli.show import (
    OPEN,
    age,
    cell,
    console,
    issues_table,
    money,
    print_table,
    run_lines,
    say,
    step_name,
    steps_table,
)
from api.cli.words import clean, event_line, next_act, one_line
from api.texts.codes import N_

Json = Mapping[str, Any]
_LIMITS = {
    "max_calls": N_("calls {used} of {limit}"),
    "max_tokens": N_("tokens {used} of {limit}"),
    "max_cost": N_("cost {used} of {limit}"),
    "max_seconds": N_("time {used} of {limit}"),
}
_LONGEST = 100
_SEVERITIES = ("blocker", "major", "minor")
_MARKS = {
    "base": N_("base"),
    "working": N_("working"),
    "best": N_("best"),
    "offered": N_("offered"),
}
_COLUMNS = ("REV", "FROM", "BASE", "SCORE", "MARKS", "CHARACTERS", "AGE")


def print_run(
    run: Json,
    *,
    steps: Sequence[Json],
    issues: Sequence[Json],
    items: Sequence[Json] = (),
    locks: Sequence[Json] = (),
    said: Sequence[Json] = (),
    revisions: Sequence[Json] = (),
    rest: str = "",
) -> None:
    """`items` are those of an unfinished step, `said` events with people's words, `revisions` those
    of the document, `rest` a line about what a limit would have to be."""
    say(f"{one_line(run.get('title') or '', 100)}  ({run['kind']}, {run['id']})")
    still_open = [issue for issue in issues if issue.get("status") in OPEN]
    for line in [*run_lines(run), *limit_lines(run), *_severities(still_open)]:
        say(line)
    if revisions:
        say()
        print_table(_COLUMNS, revision_rows(run, steps, revisions))
    if steps:
        say()
        console().print(steps_table(steps))
    if items:
        step = step_name(str(items[0].get("step")))
        say(tell("kept of {step} so far: {keys}", step=step, keys=_keys(items)))
    if still_open:
        say()
        console().print(issues_table(still_open))
        for line in _locked(run, still_open, locks):
            say(line)
    if said:
        say()
        for event in said:
            say(event_line(event))
    if act := next_act(run):
        say(f"\n{rest}" if rest else "")
        say(next_line(act))


def _locked(run: Json, still_open: Sequence[Json], locks: Sequence[Json]) -> list[str]:
    """Which open issues are about a passage that no round may change."""
    quotes = [str(lock["quote"]) for lock in locks]
    return [
        tell(
            "I{number} is about a locked passage, which no round may change: ./redraft locks {id}",
            number=issue["number"],
            id=run["id"],
        )
        for issue in still_open
        if (about := issue.get("quote"))
        and any(about in quote or quote in about for quote in quotes)
    ]


def _keys(items: Sequence[Json]) -> str:
    """How many, and of which names as long as they are a line."""
    keys = sorted({str(item.get("key") or "") for item in items}, key=lambda key: (len(key), key))
    return one_line(f"{len(items)} ({', '.join(keys)})", _LONGEST)


def limit_lines(run: Json, now: datetime | None = None) -> list[str]:
    """One line: what each limit is and what is used of it, or that there is none."""
    limits = run.get("limits") or {}
    given = [name for name in _LIMITS if limits.get(name) is not None]
    if not given:
        return [tell("limits: none (submit and resume take --limit)")]
    used = _used(run, now or datetime.now(UTC))
    told = [
        tell(_LIMITS[name], used=used[name], limit=_shown(name, limits[name], run))
        for name in given
    ]
    return [tell("limits: {which}", which=word(N_(", ")).join(told))]


def _used(run: Json, now: datetime) -> dict[str, str]:
    tokens, running = run.get("tokens") or {}, run.get("running") or {}
    seconds = float(running.get("seconds") or 0)
    if since := running.get("since"):
        seconds += max(0.0, (now - datetime.fromisoformat(since)).total_seconds())
    return {
        "max_calls": str(run.get("calls", 0)),
        "max_tokens": str((tokens.get("input") or 0) + (tokens.get("output") or 0)),
        "max_cost": str(run["cost"]) if run.get("cost") is not None else money(run) or "0",
        "max_seconds": str(int(seconds)),
    }


def _shown(name: str, limit: object, run: Json) -> str:
    units = {"max_seconds": "s", "max_cost": run.get("currency") or ""}
    return f"{limit} {units.get(name, '')}".rstrip()


def _severities(still_open: Sequence[Json]) -> list[str]:
    if not still_open:
        return []
    count = Counter(str(issue.get("severity")) for issue in still_open)
    told = [f"{count[name]} {sentence('severity', name) or name}" for name in _SEVERITIES]
    return [tell("open issues: {which}", which=word(N_(", ")).join(told))]


def revision_rows(
    run: Json, steps: Sequence[Json], revisions: Sequence[Json]
) -> list[Sequence[str]]:
    """Each revision of the document: who made it, from which, its score in this run, its marks."""
    scores = {
        step.get("input_revision"): step["score"]
        for step in steps
        if step.get("name") == "review" and step.get("score") is not None
    }
    return [
        (
            str(one["number"]),
            _origin(one, str(run["id"])),
            _or_dash(one.get("base")),
            _or_dash(scores.get(one["number"])),
            ", ".join(_marks(run, one)) or "–",
            str(one.get("characters", "")),
            age(one.get("created_at")),
        )
        for one in revisions
    ]


def _marks(run: Json, revision: Json) -> list[str]:
    found = [
        cell(one)
        for name, one in _MARKS.items()
        if run.get(f"{name}_revision") == revision["number"]
    ]
    return [*found, cell("stale: a source was corrected since")] if revision.get("stale") else found


def _origin(revision: Json, run_id: str) -> str:
    made = revision.get("made_by")
    if not made:
        return clean(revision.get("author") or "")
    step = str(made.get("step") or "")
    told = (sys.stdout.isatty() and sentence("step", step)) or step or cell("run")
    if made.get("round"):
        told = cell("{step} round {round}", step=told, round=made["round"])
    return told if made.get("run") == run_id else cell("{step} of an earlier run", step=told)


def _or_dash(value: object) -> str:
    return "–" if value is None else str(value)
