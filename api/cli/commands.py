"""What each client command does: one or a few requests and what is printed of the answer."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from typing import Any

from api.cli.client import OK, Client, Refused, UsageError
from api.cli.files import read_text
from api.cli.find import find
from api.cli.language import tell
from api.cli.limits import limits
from api.cli.sending import check_all, start
from api.cli.show import complain, print_moved, print_runs, say, say_json
from api.cli.wanted import wanted
from api.cli.watch import watch
from api.cli.words import one_line
from api.texts.codes import N_

Json = dict[str, Any]
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def submit(client: Client, given: Namespace) -> int:
    """One document and run for each file, or without a file one from what is asked for."""
    if given.title and len(given.files) > 1:
        raise UsageError(tell("--title names one document; leave it out for several files"))
    if [*given.files, *given.source, given.request].count("-") > 1:
        raise UsageError(tell("standard input (-) can be read only once"))
    asks = given.files or given.request is not None or given.attribute or given.source
    if not (asks or given.audio):
        raise UsageError(
            tell(
                "name a FILE to be made right; or say what is to be written: --request TEXT, "
                "--field NAME=VALUE (for example --kind itinerary --request '3 days in Rome')"
            )
        )
    _check_language(given.language)
    if given.audio and len(given.files) > 1:
        raise UsageError(tell("--audio is of one document; name one FILE, or none"))
    asked = list(wanted(client, given))
    check_all(client, asked)
    worst = OK
    started = [start(client, given, one) for one in asked]
    if given.files and not (given.source or given.request or given.audio):
        told = tell("no --source: there is nothing to check the document against")
        complain(f"redraft: {told}")
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


def _check_language(language: str | None) -> None:
    """Said here in words; the API would answer with its pattern."""
    if language is not None and (not _LANGUAGE.fullmatch(language) or len(language) > 35):
        raise UsageError(
            tell(
                "--language {given} is no code of a language; give one like en, zh or zh-CN",
                given=repr(language),
            )
        )


def runs(client: Client, given: Namespace) -> int:
    query = {"status": given.status, "kind": given.kind, "q": given.q, "limit": given.limit}
    page = client.get("/api/runs", **{k: v for k, v in query.items() if v is not None})
    if given.json:
        say_json(page)
        return OK
    print_runs(page["items"])
    if page.get("next_cursor") and sys.stdout.isatty():
        say(tell("more: --limit (up to 200), or narrow it with --status, --kind, --q"))
    return OK


def watch_run(client: Client, given: Namespace) -> int:
    return watch(client, find(client, given.id), as_json=given.json)


def interrupt(client: Client, given: Namespace) -> int:
    body = {"reason": given.reason} if given.reason else {}
    if not given.all:
        if not given.id:
            raise UsageError(tell("name a run, or give --all"))
        run = client.post(f"/api/runs/{find(client, given.id)}/interrupt", body)
        return print_moved(run, as_json=given.json)
    if given.id:
        raise UsageError(tell("give either a run or --all"))
    stopped = []
    for run in list(client.pages("/api/runs", status="RUNNING", limit=200)):
        try:
            stopped.append(client.post(f"/api/runs/{run['id']}/interrupt", body))
        except Refused as refused:
            # It ended, waits or was deleted meanwhile: not running is what was asked for.
            if refused.code not in ("status_changed", "final_status", "not_found", "deleted"):
                raise
    for run in stopped:
        print_moved(run, as_json=given.json)
    if not given.json:
        say(tell("{count} interrupted", count=len(stopped)))
    return OK


def resume(client: Client, given: Namespace) -> int:
    identity = find(client, given.id)
    body, before = Json(), Json()
    if given.body:
        text = read_text(given.body, given.encoding)
        before = client.get(f"/api/runs/{identity}")
        base = given.base if given.base is not None else before["working_revision"]
        body = {"body": text, "base_revision": base}
    if given.override:
        body["override_guardrail"] = True
    if given.limit:
        body["limits"] = limits(given.limit)
    for name in ("profile", "max_rounds", "note"):
        if (value := getattr(given, name)) is not None:
            body[name] = value
    run = client.post(f"/api/runs/{identity}/resume", body)
    code = print_moved(run, as_json=given.json)
    most = before.get("max_rounds", run.get("max_rounds"))
    if run.get("max_rounds") != most and given.max_rounds is None and not given.json:
        told = N_("your text gets one round more: at most {now} instead of {most}")
        say(tell(told, now=run["max_rounds"], most=most))
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
        body["body"] = read_text(given.body, given.encoding)
    if given.comment:
        body["comment"] = given.comment
    if given.override:
        body["override_offered"] = True
    confirmed = client.post(f"/api/runs/{run['id']}/confirm", body)
    if given.json:
        say_json(confirmed)
    else:
        told = N_("confirmed revision {number} of “{title}”")
        if given.body:
            told = N_("confirmed your text, based on revision {number}, of “{title}”")
        elif revision == offered:
            told = N_("confirmed revision {number} (the offered one) of “{title}”")
        say(tell(told, number=revision, title=one_line(run.get("title") or "")))
    return OK


def reject(client: Client, given: Namespace) -> int:
    body = {"comment": given.comment} if given.comment else {}
    run = client.post(f"/api/runs/{find(client, given.id)}/reject", body)
    return print_moved(run, as_json=given.json)


def rework(client: Client, given: Namespace) -> int:
    """The offered text goes back; each --comment becomes an issue that the next round answers."""
    body: Json = {
        "comments": [{"text": text} for text in given.comment or ()],
        "locks": [{"quote": quote} for quote in given.lock or ()],
    }
    for name in ("instructions", "extra_rounds"):
        if (value := getattr(given, name)) is not None:
            body[name] = value
    if not (given.comment or given.lock or given.instructions or given.extra_rounds):
        raise UsageError(
            tell("say what to change: --comment, --lock, --instructions or --extra-rounds")
        )
    identity = find(client, given.id)
    code = print_moved(client.post(f"/api/runs/{identity}/rework", body), as_json=given.json)
    return max(code, watch(client, identity, as_json=given.json) if given.watch else OK)


def cancel(client: Client, given: Namespace) -> int:
    run = client.post(f"/api/runs/{find(client, given.id)}/cancel")
    return print_moved(run, as_json=given.json)
