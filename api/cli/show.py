"""What client commands print: tables and one run, as plain text or with colours on a terminal.

The same rows as the pages; nothing here asks the API.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.language import field_sentence, head, next_line, page_sentence, problem_of, tell, word
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
from api.texts.codes import N_

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

Json = Mapping[str, Any]
_STOPS = ("interrupted", "handed_over", "superseded")
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


def cell(msgid: str, /, **facts: object) -> str:
    """A sentence in a cell of a table: in the chosen language on a terminal, else in English."""
    return tell(msgid, **facts) if sys.stdout.isatty() else msgid.format_map(facts)


def ago(at: str | None, now: datetime | None = None, say: Callable[..., str] = tell) -> str:
    """Age of a time of the API; empty for none."""
    if not at:
        return ""
    seconds = ((now or datetime.now(UTC)) - _time(at)).total_seconds()
    return say(N_("{length} ago"), length=_length(max(0.0, seconds), say))


def age(at: str | None) -> str:
    """The same as a cell of a table."""
    return ago(at, say=cell)


def duration(start: str | None, end: str | None, say: Callable[..., str] = tell) -> str:
    if not start:
        return ""
    last = _time(end) if end else datetime.now(UTC)
    return _length(max(0.0, (last - _time(start)).total_seconds()), say)


def _time(at: str) -> datetime:
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def _length(seconds: float, say: Callable[..., str] = tell) -> str:
    units = ((N_("{count} d"), 86400), (N_("{count} h"), 3600), (N_("{count} min"), 60))
    for unit, size in units:
        if seconds >= 2 * size:
            return say(unit, count=int(seconds // size))
    return say(N_("{count} s"), count=int(seconds))


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str = N_("nothing")
) -> None:
    """Columns on a terminal, which give way from the right; lines with tabs in a pipe."""
    if not sys.stdout.isatty():
        say("\t".join(columns))
        for row in rows:
            say("\t".join(row))
        return
    if not rows:
        say(tell(empty))
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
        say(tell("no runs"))
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
        f"{at_round(run)}/{run.get('max_rounds', '')}",
        _number(run.get("score")),
        _number(run.get("open_issues")),
        age(run.get("created_at")),
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


def at_round(run: Json) -> int:
    """The round at work or next, as on the pages; `current_round` counts reviews that are done."""
    step = run.get("active_step") or run.get("next_step") or {}
    return int(step["round"] if "round" in step else run.get("current_round") or 0)


def run_lines(run: Json) -> list[str]:
    """A run in words; the first line is its status."""
    status = str(run["status"])
    why = phase_sentence(run) if status == "RUNNING" else reason_sentence(run)
    lines = [f"{status_words(status)}{': ' + why if why else ''}"]
    if run.get("stopping"):
        lines.append(tell("the step under way is still being stopped"))
    if heard := run.get("progress"):
        lines.append(_heard(heard))
    best, offered = run.get("best_revision"), run.get("offered_revision")
    one = run.get("open_issues") == 1
    facts = [
        tell("round {at} of {most}", at=at_round(run), most=run.get("max_rounds")),
        _score_line(run),
        tell("1 open issue")
        if one
        else tell("{count} open issues", count=_number(run.get("open_issues"))),
    ]
    lines.append(word(N_(", ")).join(facts))
    revisions = [tell("working {number}", number=_number(run.get("working_revision")))]
    revisions.append(tell("best {number}", number=_number(best)))
    if offered is not None:
        revisions.append(tell("offered {number}", number=offered))
    lines.append(tell("revision: {which}", which=word(N_(", ")).join(revisions)))
    lines.append(cost_line(run))
    return lines


def _score_line(run: Json) -> str:
    """It may be that of an earlier text than the one that is offered or worked on."""
    facts = {"score": _number(run.get("score")), "least": run.get("pass_score")}
    shown = run.get("offered_revision")
    shown = run.get("working_revision") if shown is None else shown
    scored = run.get("scored_revision")
    if run.get("score") is None or scored is None or scored == shown:
        return tell("score {score} (pass {least})", **facts)
    return tell("score {score} of revision {number} (pass {least})", number=scored, **facts)


def _heard(progress: Json) -> str:
    """How far a recording is transcribed."""
    done, total = _length(progress["done_seconds"]), _length(progress["total_seconds"])
    rest = progress.get("rest_seconds")
    if rest is None:
        return tell("recording: {done} of {total} heard", done=done, total=total)
    left = _length(rest)
    return tell(
        "recording: {done} of {total} heard, about {left} left", done=done, total=total, left=left
    )


def cost_line(run: Json) -> str:
    """Before the first call has ended nothing is known of money, not even that it is unknown."""
    tokens = run.get("tokens") or {}
    read, made = tokens.get("input") or 0, tokens.get("output") or 0
    cost = run.get("cost")
    calls = run.get("calls", 0)
    counted = N_("{calls} calls, {read} tokens in, {made} out")
    counted = N_("1 call, {read} tokens in, {made} out") if calls == 1 else counted
    used = tell(counted, calls=calls, read=read, made=made)
    price = tell("price unknown") if read or made else ""
    if cost is not None or run.get("costs"):
        price = tell("about {price}", price=money(run)) if _guessed(run) else money(run)
    return word(N_(", ")).join(part for part in (used, price) if part)


def _guessed(run: Json) -> bool:
    """Nothing is nothing, also by an estimate."""
    return bool(run.get("cost_is_estimate")) and float(run.get("cost") or 1) != 0


def money(run: Json) -> str:
    """What a run cost, in each currency: amounts in several are never added."""
    if run.get("cost") is not None:
        return f"{run['cost']} {run.get('currency') or ''}".rstrip()
    known = [f"{cost} {currency}" for currency, cost in (run.get("costs") or {}).items()]
    return " + ".join([*known, *([tell("unknown")] if run.get("unpriced_calls") else [])])


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
        attempt = f" #{step['attempt']}" if int(step.get("attempt") or 1) > 1 else ""
        table.add_row(
            str(step.get("seq", "")),
            f"{step_name(step['name'])}{attempt}",
            str(step.get("round") or "–"),
            Text(_step_status(step)),
            f"{parts.get('done', 0)}/{parts.get('total', 0)}" if parts else "",
            _number(step.get("score")),
            duration(step.get("started_at"), step.get("ended_at")),
        )
    return table


def step_name(name: str) -> str:
    """The code in English, else its word in the chosen language."""
    return localized("step", name) or name


def _step_status(step: Json) -> str:
    """In the words of the pages: what a person or a limit stopped has not failed."""
    reason = step.get("reason")
    code = str(reason.get("code")) if isinstance(reason, Mapping) else reason
    if code in _STOPS:
        told = tell("Stopped")
        return told if code == "interrupted" else f"{told} ({_because(code)})"
    told = page_sentence("status", str(step["status"]), {}) or str(step["status"])
    return f"{told} ({_because(code)})" if code else told


def _because(code: str) -> str:
    return (localized("reason", code) or code.replace("_", " ")).rstrip("。")


def issues_table(issues: Sequence[Json], limit: int = 20) -> RenderableType:
    """The gravest first; a last row says how many are left out."""
    from rich.text import Text

    weight = {"blocker": 0, "major": 1, "minor": 2}
    ordered = sorted(issues, key=lambda issue: weight.get(str(issue.get("severity")), 3))
    table = _table("ISSUE", "SEVERITY", "PROBLEM")
    styles = {"blocker": "bold red", "major": "yellow", "minor": "dim"}
    for number, issue in enumerate(ordered[:limit], 1):
        severity = str(issue.get("severity") or "")
        problem = one_line(problem_of(issue), 160)
        if quote := issue.get("quote"):
            problem = f"“{one_line(quote, 60)}”: {problem}"
        name = f"I{issue.get('number', number)}"
        named = localized("severity", severity) or severity
        table.add_row(name, Text(named, styles.get(severity, "")), Text(problem))
    if ordered[limit:]:
        table.add_row("…", "", tell("{count} more", count=len(ordered) - limit))
    return table


def print_refusal(code: str, problem: Json, act: str) -> None:
    """Code, sentence, the fields at fault, the next act: on standard error."""
    sentence = clean(problem.get("detail") or problem.get("title") or "refused")
    told = None if problem.get("told") else localized("refusal", code, problem.get("params"))
    if told and (file := problem.get("of_file")):
        told = f"{clean(file)}: {told}"
    said = told or sentence
    complain(f"redraft: {code}: {said}")
    for error in problem.get("errors") or []:
        detail = field_sentence(error, problem.get("params") or {})
        line = f"{clean(error.get('pointer', ''))}: {clean(detail)}"
        if line not in said and not said.endswith(clean(detail)):
            complain(f"  {line}")
    run = problem.get("run")
    if isinstance(run, Mapping) and str(run.get("status")) not in said:
        complain(f"  {tell('the run is {status} now', status=run.get('status'))}")
    if act:
        complain(next_line(act))
    if code == "internal" and problem.get("request_id"):
        complain(tell("request id: {id}", id=clean(problem["request_id"])))


def _number(value: object) -> str:
    return "–" if value is None else str(value)
