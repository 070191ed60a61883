"""What each client command does: one or a few requests and what is printed of the answer."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from api.cli_client import OK, Client, Refused, UsageError
from api.cli_files import TEXT_TYPES, read_text, title_of
from api.cli_show import print_run, print_runs, run_lines, say, say_json
from api.cli_watch import watch
from api.cli_words import next_act, one_line

Json = dict[str, Any]
WHOLE_ID = 36
LEAST_PREFIX = 4


def submit(client: Client, given: Namespace) -> int:
    """One document and run for each file."""
    if given.title and len(given.files) > 1:
        raise UsageError("--title names one document; leave it out for several files")
    if [*given.files, *given.source].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    sources = [
        {
            "name": "stdin" if name == "-" else Path(name).name,
            "media_type": TEXT_TYPES.get(Path(name).suffix.lower(), "text/plain"),
            "text": read_text(name),
        }
        for name in given.source
    ]
    bodies = [(name, read_text(name)) for name in given.files]
    worst = OK
    started = [client.post("/api/runs", _wanted(given, n, b, sources)) for n, b in bodies]
    for run in started:
        if given.json:
            say_json(run)
        else:
            say(f"{run['id']}  {one_line(run.get('title') or '')}")
            say(f"  {client.url}/runs/{run['id']}")
    if given.watch:
        for run in started:
            worst = max(worst, watch(client, run["id"], as_json=given.json))
    return worst


def _wanted(given: Namespace, name: str, body: str, sources: list[Json]) -> Json:
    optional = {
        "language": given.language,
        "max_rounds": given.max_rounds,
        "pass_score": given.pass_score,
        "profile": given.profile,
        "tags": given.tag or None,
        "attributes": dict(_attribute(text) for text in given.attribute) or None,
    }
    return {
        "kind": given.kind,
        "title": given.title or title_of(name, body),
        "body": body,
        "sources": sources,
        **{key: value for key, value in optional.items() if value is not None},
    }


def _attribute(text: str) -> tuple[str, object]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"--attribute {text!r}: write it NAME=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def runs(client: Client, given: Namespace) -> int:
    query = {"status": given.status, "kind": given.kind, "q": given.q, "limit": given.limit}
    page = client.get("/api/runs", **{k: v for k, v in query.items() if v is not None})
    if given.json:
        say_json(page)
        return OK
    print_runs(page["items"])
    if page.get("next_cursor") and sys.stdout.isatty():
        say("more: --limit (up to 200), or narrow it with --status, --kind, --q")
    return OK


def show(client: Client, given: Namespace) -> int:
    run = client.get(f"/api/runs/{find(client, given.id)}")
    if given.json:
        say_json(run)
        return OK
    path = f"/api/runs/{run['id']}"
    steps = client.get(f"{path}/steps", limit=200)["items"]
    issues = client.get(f"{path}/issues", limit=200)["items"]
    print_run(run, steps, issues)
    return OK


def watch_run(client: Client, given: Namespace) -> int:
    return watch(client, find(client, given.id), as_json=given.json)


def interrupt(client: Client, given: Namespace) -> int:
    body = {"reason": given.reason} if given.reason else {}
    if not given.all:
        if not given.id:
            raise UsageError("name a run, or give --all")
        run = client.post(f"/api/runs/{find(client, given.id)}/interrupt", body)
        return _moved(run, given)
    if given.id:
        raise UsageError("give either a run or --all")
    stopped = []
    for run in list(client.pages("/api/runs", status="RUNNING", limit=200)):
        try:
            stopped.append(client.post(f"/api/runs/{run['id']}/interrupt", body))
        except Refused as refused:
            # It ended, waits or was deleted meanwhile: not running is what was asked for.
            if refused.code not in ("status_changed", "final_status", "not_found", "deleted"):
                raise
    for run in stopped:
        _moved(run, given)
    if not given.json:
        say(f"{len(stopped)} interrupted")
    return OK


def resume(client: Client, given: Namespace) -> int:
    identity = find(client, given.id)
    body: Json = {}
    if given.body:
        text = read_text(given.body)
        base = given.base
        if base is None:
            base = client.get(f"/api/runs/{identity}")["working_revision"]
        body = {"body": text, "base_revision": base}
    if given.override:
        body["override_guardrail"] = True
    for name in ("profile", "max_rounds", "note"):
        if (value := getattr(given, name)) is not None:
            body[name] = value
    code = _moved(client.post(f"/api/runs/{identity}/resume", body), given)
    return max(code, watch(client, identity, as_json=given.json) if given.watch else OK)


def confirm(client: Client, given: Namespace) -> int:
    """Without --revision the offered one, which is named before and after."""
    run = client.get(f"/api/runs/{find(client, given.id)}")
    offered = run.get("offered_revision")
    revision = given.revision if given.revision is not None else offered
    if revision is None:
        # Nothing is offered: let the API say why, with the run's status as it is now.
        revision = run.get("best_revision") or run.get("working_revision") or 0
    body: Json = {"revision": revision}
    if given.body:
        body["body"] = read_text(given.body)
    if given.comment:
        body["comment"] = given.comment
    if given.override:
        body["override_offered"] = True
    confirmed = client.post(f"/api/runs/{run['id']}/confirm", body)
    if given.json:
        say_json(confirmed)
    else:
        text = "your text, based on revision" if given.body else "revision"
        mark = " (the offered one)" if revision == offered else ""
        say(f"confirmed {text} {revision}{mark} of “{one_line(run.get('title') or '')}”")
    return OK


def reject(client: Client, given: Namespace) -> int:
    body = {"comment": given.comment} if given.comment else {}
    return _moved(client.post(f"/api/runs/{find(client, given.id)}/reject", body), given)


def rework(client: Client, given: Namespace) -> int:
    body: Json = {"comments": [{"text": text} for text in given.comment]}
    if given.instructions:
        body["instructions"] = given.instructions
    if given.extra_rounds is not None:
        body["extra_rounds"] = given.extra_rounds
    return _moved(client.post(f"/api/runs/{find(client, given.id)}/rework", body), given)


def cancel(client: Client, given: Namespace) -> int:
    return _moved(client.post(f"/api/runs/{find(client, given.id)}/cancel"), given)


def fork(client: Client, given: Namespace) -> int:
    body = {"revision": given.revision}
    document = client.post(f"/api/runs/{find(client, given.id)}/fork", body)
    if given.json:
        say_json(document)
    else:
        say(f"{document['id']}  new document from revision {given.revision}")
    return OK


def export(client: Client, given: Namespace) -> int:
    """The offered, else the best, else the working revision of a run; the newest of a document."""
    document, run = find_document(client, given.id)
    revision = given.revision
    if revision is None and run is not None:
        ranked = (run.get(f"{name}_revision") for name in ("offered", "best", "working"))
        revision = next((number for number in ranked if number is not None), None)
    query = {"format": given.format, "revision": revision}
    path = f"/api/documents/{document}/export"
    answer = client.get_raw(path, **{k: v for k, v in query.items() if v is not None})
    if given.output and given.output != "-":
        try:
            Path(given.output).write_bytes(answer.content)
        except OSError as error:
            raise UsageError(f"{given.output} cannot be written: {error.strerror}") from error
        return OK
    sys.stdout.flush()
    sys.stdout.buffer.write(answer.content)
    sys.stdout.buffer.flush()
    return OK


def delete(client: Client, given: Namespace) -> int:
    document, run = find_document(client, given.id)
    if not given.yes:
        title = one_line(run.get("title") or "") if run else document
        if not sys.stdin.isatty():
            raise UsageError(f"this deletes “{title}” with all its runs; add --yes")
        say(f"Delete “{title}” with its sources, revisions and runs? Type yes: ")
        if sys.stdin.readline().strip().lower() not in ("yes", "y"):
            say("nothing deleted")
            return OK
    client.delete(f"/api/documents/{document}")
    if not given.json:
        say(f"deleted {document}")
    return OK


def _moved(run: Mapping[str, Any], given: Namespace) -> int:
    if given.json:
        say_json(run)
        return OK
    say(f"{run['id']}  {run_lines(run)[0]}")
    if act := next_act(run):
        say(f"next: {act}")
    return OK


def find(client: Client, given: str) -> str:
    """The whole id of a run from a unique beginning of it."""
    return _complete(client, "/api/runs", given)


def find_document(client: Client, given: str) -> tuple[str, Json | None]:
    """The document, and the run if it was a run that was named."""
    try:
        run = client.get(f"/api/runs/{find(client, given)}")
        return str(run["document_id"]), run
    except Refused as refused:
        if refused.code != "not_found":
            raise
    return _complete(client, "/api/documents", given), None


def _complete(client: Client, path: str, given: str) -> str:
    wanted = given.strip().lower()
    if not set(wanted) <= set("0123456789abcdef-"):
        raise UsageError(f"{given!r} is no id; redraft runs lists them")
    if len(wanted) >= WHOLE_ID:
        return wanted
    if len(wanted) < LEAST_PREFIX:
        raise UsageError(
            f"{given!r} is too short: give {LEAST_PREFIX} characters of the id or more"
        )
    ids = (str(row["id"]) for row in client.pages(path, limit=200))
    found = [identity for identity in ids if identity.startswith(wanted)]
    if not found:
        word = path.rsplit("/", 1)[1].rstrip("s")
        raise Refused(404, {"code": "not_found", "detail": f"No {word} begins with {wanted}."})
    if len(found) > 1:
        shown = ", ".join(found[:4]) + (", …" if found[4:] else "")
        raise UsageError(f"{wanted} is the beginning of several: {shown}")
    return found[0]
