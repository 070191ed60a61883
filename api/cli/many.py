"""Client commands about rows of runs and about many runs: `calls`, `waive`, `bulk`."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from datetime import datetime
from typing import Any

from api.cli.client import OK, REFUSED, Client, Refused, UsageError
from api.cli.find import find
from api.cli.language import problem_of, sentence, tell
from api.cli.limits import MOST_ROWS, between
from api.cli.show import SHORT_ID, cell, duration, print_table, say, say_json
from api.cli.words import clean, one_line
from api.texts.codes import N_
from workflows.vocabulary import RunStatus

Json = dict[str, Any]
Command = Callable[[Client, Namespace], int]
Add = Callable[[str, Command, str], ArgumentParser]
_CALL_COLUMNS = (
    *("CALL", "STEP", "ROUND", "PART", "N", "STATUS", "END", "IN", "CACHED", "OUT", "COST"),
    *("KEPT", "TOOK", "MODEL", "AT", "ITEMS", "DROPPED"),
)
_NEWEST = 50


def add_commands(add: Add) -> None:
    one = add("calls", calls, "model calls of a run, or without ID the newest of all runs")
    one.add_argument("id", nargs="?")
    one.add_argument(
        "--limit", type=between(1, MOST_ROWS), metavar="N", help="without ID: 1 to 200 (default 50)"
    )
    one = add("waive", waive, "take an issue of a run out, with a reason; --undo opens it again")
    one.add_argument("id")
    one.add_argument("issue", metavar="ISSUE", help="as ./redraft show prints it, for example I3")
    one.add_argument("--reason", help="why it is none; kept with the issue")
    one.add_argument("--undo", action="store_true", help="the issue stands again")
    one = add("bulk", bulk, "interrupt, resume or cancel many runs, by ids or by a filter")
    one.add_argument("action", choices=["interrupt", "resume", "cancel"])
    one.add_argument("ids", nargs="*", metavar="ID", help="whole ids, or their beginnings")
    one.add_argument("--all", action="store_true", help="every run that the action can move")
    codes = ", ".join(RunStatus)
    one.add_argument("--status", choices=list(RunStatus), metavar="STATUS", help=codes)
    for name, help_ in _FILTERS.items():
        one.add_argument(f"--{name}", help=help_)
    one.add_argument("--reason", help="kept with each run")
    one.add_argument("--yes", action="store_true", help="do not ask before cancelling")


_FILTERS = {"kind": "only this kind", "tag": "only with this tag", "q": "words in title or text"}


def calls(client: Client, given: Namespace) -> int:
    """All calls of one run in order, or the newest of the log."""
    if given.id:
        rows = list(client.pages(f"/api/runs/{find(client, given.id)}/calls", limit=200))
    else:
        rows = list(client.get("/api/calls", limit=given.limit or _NEWEST)["items"])
    if given.json:
        say_json({"items": rows, "next_cursor": None})
        return OK
    columns = _CALL_COLUMNS if given.id else ("RUN", *_CALL_COLUMNS)
    cells = [_call_cells(row) if given.id else [_run(row), *_call_cells(row)] for row in rows]
    print_table(columns, cells, empty=N_("no calls"))
    if given.id and rows:
        say(_sums(rows))
    return OK


def _run(row: Json) -> str:
    identity = str(row["run_id"])
    return identity[:SHORT_ID] if sys.stdout.isatty() else identity


def _call_cells(row: Json) -> list[str]:
    tokens = row.get("tokens") or {}
    guessed = "≈" if row.get("usage_source") == "estimated" else ""
    made = {name: _count(tokens.get(name), guessed) for name in ("input", "cached", "output")}
    cost = "–" if row.get("ended_at") is None else cell("unknown")
    if row.get("cost") is not None:
        cost = f"{guessed}{row['cost']} {row.get('currency') or ''}".rstrip()
    identity = str(row["id"])
    return [
        identity[:SHORT_ID] if sys.stdout.isatty() else identity,
        str(row["step"]),
        str(row.get("round", "")),
        one_line(row.get("part") or "", 30),
        str(row.get("number", "")),
        str(row["status"]),
        clean(row.get("end_cause") or row.get("finish_reason") or "–"),
        made["input"],
        made["cached"],
        made["output"],
        cost,
        str(row.get("items_kept", "")),
        duration(row.get("started_at"), row.get("ended_at"), cell),
        one_line(row.get("model") or "", 40),
        _moment(row.get("started_at")),
        *_ledger(row),
    ]


def _moment(at: str | None) -> str:
    """As the API has it in a pipe, by this terminal's clock on one."""
    if not at or not sys.stdout.isatty():
        return at or ""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}"


def _ledger(row: Json) -> tuple[str, str]:
    """What a call of a draft brought (of a trip its days), and what of any was dropped, by code."""
    kept = row.get("kept_keys") or [] if row["step"] == "draft" else []
    named = row.get("dropped_keys") or {}
    lost = [
        f"{code} {','.join(named[code]) if named.get(code) else f'({count})'}"
        for code, count in sorted((row.get("dropped") or {}).items())
    ]
    return one_line(",".join(kept), 60), one_line("; ".join(lost), 80)


def _count(value: int | None, guessed: str) -> str:
    return "–" if value is None else f"{guessed}{value}"


def _sums(rows: list[Json]) -> str:
    read, made = (
        sum((row.get("tokens") or {}).get(name) or 0 for row in rows)
        for name in ("input", "output")
    )
    told = N_("{calls} calls, {read} tokens in, {made} out; ≈ is estimated")
    return tell(told, calls=len(rows), read=read, made=made)


def waive(client: Client, given: Namespace) -> int:
    """A reason is wanted: it is what the next reader finds instead of the issue."""
    if not given.undo and not (given.reason or "").strip():
        raise UsageError(tell("say why: --reason TEXT (or --undo to open it again)"))
    if not re.fullmatch(r"[Ii]?[1-9]\d{0,8}", given.issue):
        raise UsageError(tell("{given} is no issue; write it as I3", given=repr(given.issue)))
    identity, number = find(client, given.id), int(given.issue.lstrip("Ii"))
    path = f"/api/runs/{identity}/issues"
    found = next((row for row in client.pages(path, limit=200) if row["number"] == number), None)
    if found is None:
        detail = tell("The run has no issue I{number}.", number=number)
        raise Refused(404, {"code": "not_found", "detail": detail, "told": True})
    body = {"status": "open" if given.undo else "waived"}
    if given.reason:
        body["reason"] = given.reason
    issue = client.patch(f"{path}/{found['id']}", body)
    if given.json:
        say_json(issue)
    else:
        severity, status = str(issue["severity"]), str(issue["status"])
        say(
            tell(
                "I{number} ({severity}) is {status}: {problem}",
                number=number,
                severity=sentence("severity", severity) or severity,
                status=sentence("issue_status", status) or status,
                problem=one_line(problem_of(issue)),
            )
        )
    return OK


def bulk(client: Client, given: Namespace) -> int:
    """One request for ids, as many as it takes for a filter; exit 3 when a run refused."""
    body: Json = {"action": given.action}
    if given.reason:
        body["reason"] = given.reason
    chosen = {name: value for name in ("status", *_FILTERS) if (value := getattr(given, name))}
    if sum((bool(given.ids), bool(chosen), given.all)) != 1:
        raise UsageError(
            tell("choose the runs: ids, or a filter (--status, --kind, --tag, --q), or --all")
        )
    if given.ids:
        body["ids"] = [find(client, one) for one in given.ids]
    else:
        body["filter"] = chosen
    if given.action == "cancel" and not given.yes and not _agreed(given):
        return OK
    rows = _moved(client, body)
    if given.json:
        say_json({"items": rows, "more": False})
    else:
        for row in rows:
            say(f"{row['id']}  {'ok' if row['ok'] else clean(row.get('code') or '–')}")
        done = sum(bool(row["ok"]) for row in rows)
        counts = {"done": done, "refused": len(rows) - done}
        say(tell("{action}: {done} done, {refused} refused", action=given.action, **counts))
    return OK if all(row["ok"] for row in rows) else REFUSED


def _moved(client: Client, body: Json) -> list[Json]:
    """A filter that matches more than one request moves is sent again, while it moves any."""
    rows: dict[str, Json] = {}
    while True:
        answer = client.post("/api/runs/bulk", body)
        rows |= {row["id"]: row for row in answer["items"]}
        if not answer.get("more") or not any(row["ok"] for row in answer["items"]):
            return list(rows.values())


def _agreed(given: Namespace) -> bool:
    """A cancelled run cannot be resumed."""
    what = tell("all runs that the filter finds")
    if given.ids:
        what = tell("the runs that were named ({count})", count=len(given.ids))
    if not sys.stdin.isatty():
        raise UsageError(tell("this ends {what} for good; add --yes", what=what))
    say(tell("Cancel {what} for good? Type yes: ", what=what))
    if sys.stdin.readline().strip().lower() in ("yes", "y"):
        return True
    say(tell("nothing cancelled"))
    return False
