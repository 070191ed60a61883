"""Client commands about a document as a whole: `show` of one, `fork`, `export`, `delete`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from api.cli.client import OK, Client, Refused, UsageError
from api.cli.find import find, find_document
from api.cli.language import next_line, tell
from api.cli.rest import rest_line
from api.cli.run import print_run
from api.cli.show import OPEN, ago, print_moved, print_runs, print_table, say, say_json
from api.cli.words import clean, one_line
from api.texts.codes import N_

Json = dict[str, Any]
_MOST_RUNS = 50
_LONGEST_QUOTE, _LEAST_ID = 120, 4
_LOCKS = ("ID", "BY", "AGE", "PASSAGE")
FORMATS = ("md", "docx", "html", "json", "ics")


def show(client: Client, given: Namespace) -> int:
    """A run; or a document with its runs, when the id is that of a document."""
    document, run = find_document(client, given.id)
    if run is None:
        return _show_document(client, _document(client, document), given)
    if given.json:
        say_json(run)
        return OK
    path = f"/api/runs/{run['id']}"
    rows = {name: list(client.pages(f"{path}/{name}", limit=200)) for name in ("steps", "issues")}
    events = client.pages(f"{path}/events", limit=200)
    revisions = client.pages(f"/api/documents/{document}/revisions", limit=200)
    rows["items"] = _kept(client, path, rows["steps"])
    rows["locks"] = _in_the_way(client, run, rows["issues"])
    print_run(
        run,
        **rows,
        said=[event for event in events if event.get("comment")],
        revisions=list(revisions),
        rest=rest_line(client, run),
    )
    return OK


def _kept(client: Client, path: str, steps: Sequence[Json]) -> list[Json]:
    """What the newest step has brought so far; of a step that is done its revision tells it."""
    if not steps or steps[-1].get("status") == "SUCCEEDED":
        return []
    of = (steps[-1]["name"], steps[-1].get("round"))
    items = client.pages(f"{path}/items", limit=200)
    return [item for item in items if (item.get("step"), item.get("round")) == of]


def _in_the_way(client: Client, run: Json, issues: Sequence[Json]) -> list[Json]:
    """The locks of a document, where a loop ended because nothing changed and issues are open."""
    ended = (run.get("reason") or {}).get("code") == "no_progress"
    if not ended or not any(issue.get("status") in OPEN for issue in issues):
        return []
    return list(client.pages(f"/api/documents/{run['document_id']}/locks", limit=200))


def _document(client: Client, identity: str) -> Json:
    try:
        return client.get(f"/api/documents/{identity}")
    except Refused as refused:
        if refused.code != "not_found":
            raise
        detail = tell("No run and no document has the id {id}.", id=identity)
        told = {"detail": detail, "told": True, "of_id": True}
        raise Refused(404, {**refused.problem, **told}) from None


def _show_document(client: Client, document: Json, given: Namespace) -> int:
    if given.json:
        say_json(document)
        return OK
    identity = document["id"]
    say(f"{one_line(document.get('title') or '', 100)}  ({document['kind']}, {identity})")
    newest = document.get("newest_revision")
    text = N_("a document, newest revision {number}")
    say(tell("a document, without a text") if newest is None else tell(text, number=newest))
    say(f"{client.url}/documents/{identity}\n")
    runs = client.get("/api/runs", document_id=identity, limit=_MOST_RUNS)["items"]
    print_runs(runs)
    say(f"\n{next_line(f'./redraft export {identity}')}" if newest is not None else "")
    return OK


def fork(client: Client, given: Namespace) -> int:
    """A new document; with `--start` a run of it, else where to start one."""
    body = {"revision": given.revision}
    document = client.post(f"/api/runs/{find(client, given.id)}/fork", body)
    identity = document["id"]
    if not given.json:
        say(f"{identity}  {tell('new document from revision {number}', number=given.revision)}")
        say(f"  {client.url}/documents/{identity}")
    if given.start:
        run = client.post(f"/api/documents/{identity}/runs")
        if not given.json:
            say(f"  {client.url}/runs/{run['id']}")
        return print_moved(run, as_json=given.json)
    if given.json:
        say_json(document)
    else:
        say(next_line(tell("start a run on that page (fork with --start does both)")))
    return OK


def locks(client: Client, given: Namespace) -> int:
    """Passages that no round may change; with `--remove` one of them is free again."""
    document, _ = find_document(client, given.id)
    path = f"/api/documents/{document}/locks"
    rows = list(client.pages(path, limit=200))
    if given.remove is None:
        if given.json:
            say_json(rows)
        else:
            cells = [[row["id"], clean(row["actor"]), ago(row["created_at"])] for row in rows]
            quotes = [one_line(row["quote"], _LONGEST_QUOTE) for row in rows]
            print_table(_LOCKS, [[*cell, quote] for cell, quote in zip(cells, quotes, strict=True)])
        return OK
    found = [row for row in rows if row["id"].endswith(given.remove.strip().lower())]
    if len(found) != 1 or len(given.remove.strip()) < _LEAST_ID:
        told = N_("--remove {given}: give the whole id of a lock, or its last 4 letters or more")
        raise UsageError(tell(told, given=repr(given.remove)))
    client.delete(f"{path}/{found[0]['id']}")
    if not given.json:
        say(tell("no longer locked: “{quote}”", quote=one_line(found[0]["quote"], _LONGEST_QUOTE)))
    return OK


def export(client: Client, given: Namespace) -> int:
    """The offered, else the best, else the working revision of a run; the newest of a document."""
    document, run = find_document(client, given.id)
    revision = given.revision
    if revision is None and run is not None:
        ranked = (run.get(f"{name}_revision") for name in ("offered", "best", "working"))
        revision = next((number for number in ranked if number is not None), None)
    query = {"format": given.format or _format_of(given.output), "revision": revision}
    path = f"/api/documents/{document}/export"
    answer = client.get_raw(path, **{k: v for k, v in query.items() if v is not None})
    if given.output and given.output != "-":
        try:
            Path(given.output).write_bytes(answer.content)
        except OSError as error:
            told = N_("{name} cannot be written: {why}")
            raise UsageError(tell(told, name=given.output, why=error.strerror)) from error
        return OK
    sys.stdout.flush()
    sys.stdout.buffer.write(answer.content)
    sys.stdout.buffer.flush()
    return OK


def _format_of(output: str | None) -> str:
    """By the ending of the file that is written; Markdown when that says nothing."""
    ending = Path(output or "").suffix.lower().lstrip(".")
    return {"htm": "html", "markdown": "md"}.get(ending, ending if ending in FORMATS else "md")


def delete(client: Client, given: Namespace) -> int:
    """Names the document by its title and id before and after, whichever id was given."""
    document, run = find_document(client, given.id)
    known = run or _document(client, document)
    title = one_line(known.get("title") or "")
    what = tell("the document “{title}” ({id})", title=title, id=document)
    if not given.yes:
        if not sys.stdin.isatty():
            raise UsageError(tell("this deletes {what} with all its runs; add --yes", what=what))
        say(tell("Delete {what} with its sources, revisions and runs? Type yes: ", what=what))
        if sys.stdin.readline().strip().lower() not in ("yes", "y"):
            say(tell("nothing deleted"))
            return OK
    client.delete(f"/api/documents/{document}")
    if not given.json:
        told = N_("deleted {what} with all its runs")
        if run:
            told = N_("deleted {what} with all its runs, named by its run {run}")
        say(tell(told, what=what, run=(run or {}).get("id")))
    return OK
