"""What client commands print: tables and one run, as plain text or with colours on a terminal.

The same rows as the pages; nothing here asks the API.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.language import field_sentence, head, next_line
from api.cli.language import sentence as localized
from api.cli.words import (
    STATUS_STYLES,
    clean,
    next_act,
    one_line,
    phase_sentence,
    reason_sentence,
    status_word,
    status_words,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

Json = Mapping[str, Any]
SHORT_ID = 13
"""The time in an id of version 7, to the millisecond: 8 characters are the same for a minute."""
OPEN = ("open", "reopened")
_NUMBERS = frozenset(
    {
        "ROUND",
        "SCORE",
        "OPEN",
        "N",
        "PARTS",
        "IN",
        "CACHED",
        "OUT",
        "COST",
        "KEPT",
        "VERSION",
        "REV",
    }
)
_COLUMNS = ("ID", "STATUS", "ROUND", "SCORE", "OPEN", "AGE", "TITLE")


def say(text: str = "") -> None:
    """A line of output that a person or a pipe reads."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    sys.stderr.write(text + "\n")


def say_json(value: object) -> None:
    """One JSON document on one line."""
    say(json.dumps(value, ensure_ascii=False))


def console() -> Console:
    """Rich is imported only by the commands that draw."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """The shortest beginnings (13 characters or more) that tell these ids apart."""
    found = {}
    ordered = sorted(set(ids))
    for index, one in enumerate(ordered):
        length = SHORT_ID
        for other in ordered[max(0, index - 1) : index + 2]:
            while other != one and other.startswith(one[:length]):
                length += 1
        found[one] = one[:length].rstrip("-")
    return found


def ago(at: str | None, now: datetime | None = None) -> str:
    """Age of a time of the API; empty for none."""
    if not at:
        return ""
    seconds = ((now or datetime.now(UTC)) - _time(at)).total_seconds()
    return f"{_length(max(0.0, seconds))} ago"


def duration(start: str | None, end: str | None, now: datetime | None = None) -> str:
    if not start:
        return ""
    last = _time(end) if end else (now or datetime.now(UTC))
    return _length(max(0.0, (last - _time(start)).total_seconds()))


def _time(at: str) -> datetime:
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def _length(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str = "nothing"
) -> None:
    """Columns on a terminal, which give way from the right; lines with tabs in a pipe."""
    if not sys.stdout.isatty():
        say("\t".join(columns))
        for row in rows:
            say("\t".join(row))
        return
    if not rows:
        say(empty)
        return
    from rich.text import Text

    table = _table(*columns)
    for row in rows:
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    console().print(table)


def print_runs(runs: Sequence[Json]) -> None:
    """A table on a terminal; lines with tabs, whole ids and statuses as the API's in a pipe."""
    if not sys.stdout.isatty():
        say("\t".join(_COLUMNS))
        for run in runs:
            say("\t".join(_run_cells(run, str(run["id"]))))
        return
    if not runs:
        say("no runs")
        return
    table = _table(*_COLUMNS)
    shorts = short_ids([str(run["id"]) for run in runs])
    for run in runs:
        table.add_row(*_styled(_run_cells(run, shorts[str(run["id"])]), str(run["status"])))
    console().print(table)


def _run_cells(run: Json, identity: str) -> list[str]:
    return [
        identity,
        str(run["status"]),
        f"{run.get('current_round', 0)}/{run.get('max_rounds', '')}",
        _number(run.get("score")),
        _number(run.get("open_issues")),
        ago(run.get("created_at")),
        one_line(run.get("title") or "", 60),
    ]


def _styled(cells: Sequence[str], status: str) -> list[RenderableType]:
    from rich.text import Text

    style = STATUS_STYLES.get(status, "")
    short = [cells[0], status_word(status), *cells[2:]]
    return [
        # The last column gives way where the terminal is narrow, and stays on its line.
        Text(cell, style=style if index == 1 else "", no_wrap=True, overflow="ellipsis")
        for index, cell in enumerate(short)
    ]


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        right = name in _NUMBERS
        table.add_column(
            head(name),
            justify="right" if right else "left",
            no_wrap=name not in ("PROBLEM", "TITLE"),
        )
    return table


def run_lines(run: Json) -> list[str]:
    """A run in words; the first line is its status."""
    status = str(run["status"])
    why = phase_sentence(run) if status == "RUNNING" else reason_sentence(run)
    lines = [f"{status_words(status)}{': ' + why if why else ''}"]
    if run.get("stopping"):
        lines.append("the step under way is still being stopped")
    if heard := run.get("progress"):
        lines.append(_heard(heard))
    best, offered = run.get("best_revision"), run.get("offered_revision")
    noun = "issue" if run.get("open_issues") == 1 else "issues"
    facts = [
        f"round {run.get('current_round', 0)} of {run.get('max_rounds')}",
        f"score {_number(run.get('score'))} (pass {run.get('pass_score')})",
        f"{_number(run.get('open_issues'))} open {noun}",
    ]
    lines.append(", ".join(facts))
    revisions = [f"working {_number(run.get('working_revision'))}", f"best {_number(best)}"]
    if offered is not None:
        revisions.append(f"offered {offered}")
    lines.append("revision: " + ", ".join(revisions))
    lines.append(cost_line(run))
    return lines


def _heard(progress: Json) -> str:
    """How far a recording is transcribed."""
    done, total = _length(progress["done_seconds"]), _length(progress["total_seconds"])
    rest = progress.get("rest_seconds")
    left = "" if rest is None else f", about {_length(rest)} left"
    return f"recording: {done} of {total} heard{left}"


def cost_line(run: Json) -> str:
    """Before the first call has ended nothing is known of money, not even that it is unknown."""
    tokens = run.get("tokens") or {}
    read, made = tokens.get("input") or 0, tokens.get("output") or 0
    cost = run.get("cost")
    price = ", price unknown" if read or made else ""
    if cost is not None:
        about = "about " if run.get("cost_is_estimate") else ""
        price = f", {about}{cost} {run.get('currency') or ''}".rstrip()
    return f"{run.get('calls', 0)} calls, {read} tokens in, {made} out{price}"


def print_moved(run: Json, *, as_json: bool) -> int:
    """The run after a move of a person, and what comes next; always 0."""
    if as_json:
        say_json(run)
        return 0
    say(f"{run['id']}  {run_lines(run)[0]}")
    if act := next_act(run):
        say(next_line(act))
    return 0


def steps_table(steps: Sequence[Json]) -> RenderableType:
    from rich.text import Text

    table = _table("N", "STEP", "ROUND", "STATUS", "PARTS", "SCORE", "TOOK")
    for step in steps:
        parts = step.get("parts") or {}
        reason = step.get("reason")
        reason = reason.get("code") if isinstance(reason, Mapping) else reason
        attempt = f" #{step['attempt']}" if int(step.get("attempt") or 1) > 1 else ""
        table.add_row(
            str(step.get("seq", "")),
            f"{step['name']}{attempt}",
            str(step.get("round", "")),
            Text(f"{step['status']}{f' ({reason})' if reason else ''}"),
            f"{parts.get('done', 0)}/{parts.get('total', 0)}" if parts else "",
            _number(step.get("score")),
            duration(step.get("started_at"), step.get("ended_at")),
        )
    return table


def issues_table(issues: Sequence[Json], limit: int = 20) -> RenderableType:
    """The gravest first; a last row says how many are left out."""
    from rich.text import Text

    weight = {"blocker": 0, "major": 1, "minor": 2}
    ordered = sorted(issues, key=lambda issue: weight.get(str(issue.get("severity")), 3))
    table = _table("ISSUE", "SEVERITY", "PROBLEM")
    styles = {"blocker": "bold red", "major": "yellow", "minor": "dim"}
    for number, issue in enumerate(ordered[:limit], 1):
        severity = str(issue.get("severity") or "")
        problem = one_line(issue.get("problem") or "", 160)
        if quote := issue.get("quote"):
            problem = f"“{one_line(quote, 60)}”: {problem}"
        name = f"I{issue.get('number', number)}"
        table.add_row(name, Text(severity, styles.get(severity, "")), Text(problem))
    if ordered[limit:]:
        table.add_row("…", "", f"{len(ordered) - limit} more")
    return table


def print_refusal(code: str, problem: Json, act: str) -> None:
    """Code, sentence, the fields at fault, the next act: on standard error."""
    sentence = clean(problem.get("detail") or problem.get("title") or "refused")
    told = localized("refusal", code, problem.get("params"))
    complain(f"redraft: {code}: {told or sentence}")
    for error in problem.get("errors") or []:
        detail = field_sentence(error, problem.get("params") or {})
        line = f"{clean(error.get('pointer', ''))}: {clean(detail)}"
        if line not in sentence:
            complain(f"  {line}")
    run = problem.get("run")
    if isinstance(run, Mapping) and str(run.get("status")) not in sentence:
        complain(f"  the run is {run.get('status')} now")
    if act:
        complain(next_line(act))
    if code == "internal" and problem.get("request_id"):
        complain(f"request id: {clean(problem['request_id'])}")


def _number(value: object) -> str:
    return "–" if value is None else str(value)
