"""Client commands: `python -m api.cli COMMAND …`, dispatched by the launcher `redraft`.

Exit codes: 0 ok, 2 usage, 3 refused, 4 the run failed, 5 unreachable. Whatever a page shows or
does, these can too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from api.cli import commands, documents, language
from api.cli import cost as cli_cost
from api.cli import many as cli_many
from api.cli import service as cli_service
from api.cli.client import (
    REFUSED,
    UNREACHABLE,
    USAGE,
    Client,
    Refused,
    Unreachable,
    UsageError,
    find_address,
)
from api.cli.kinds import kinds
from api.cli.language import tell, word
from api.cli.limits import MOST_ROUNDS, MOST_ROWS, add_limits, between
from api.cli.show import complain, print_refusal
from api.cli.words import NEXT_BY_CODE, clean, next_act, status_words
from deploy import terminal
from workflows.vocabulary import RunStatus

Command = Callable[[Client, argparse.Namespace], int]
Parsers = "argparse._SubParsersAction[argparse.ArgumentParser]"
_INTERRUPTED_BY_KEY = 130
_WATCHED = (
    "Watching ends with 0 when the run waits for a person, also when a limit or somebody stopped "
    "it (the last lines say what comes next, --json has its status), with 4 when it failed."
)
_ROUNDS, _SCORE, _ROWS = between(1, MOST_ROUNDS), between(0, 100), between(1, MOST_ROWS)


def _common() -> terminal.Parser:
    common = terminal.Parser(add_help=False)
    common.add_argument("--url", help="address of the API (REDRAFT_URL)")
    common.add_argument("--json", action="store_true", help="print JSON")
    common.add_argument("--lang", help="en or zh (default: as LC_ALL or LANG says)")
    return common


def parser() -> argparse.ArgumentParser:
    """The whole command line; `./redraft COMMAND --help` shows a part of it."""
    root = terminal.Parser(
        prog="./redraft",
        description="Commands that talk to a running Redraft.",
        epilog="The key is read from REDRAFT_API_KEY. An ID may be its beginning, "
        "for example as ./redraft runs prints it.",
    )
    commands_of = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common = _common()

    def add(name: str, run: Command, help_: str) -> argparse.ArgumentParser:
        # Without `help` a word is known and not listed.
        listed: dict[str, Any] = {"help": help_} if help_ else {}
        one = commands_of.add_parser(name, parents=[common], description=help_, **listed)
        one.set_defaults(run=run)
        return one

    _add_submit(
        add("submit", commands.submit, "make documents from files, or from a request, and run them")
    )
    _add_runs(add("runs", commands.runs, "list runs, newest first"))
    one = add(
        "show",
        documents.show,
        "a run: status, limits, revisions, steps, issues; or a document's runs",
    )
    one.add_argument("id", help="of a run or a document")
    one = add("watch", commands.watch_run, "follow a run until it waits or ends")
    one.add_argument("id")
    one.epilog = _WATCHED
    _add_moves(add)
    _add_results(add)
    cli_many.add_commands(add)
    cli_cost.add_command(add)
    cli_service.add_commands(add)
    one = add("kinds", kinds, "check FOLDER: is it a usable kind? show NAME: its fields")
    one.add_argument("action", choices=["check", "show"])
    one.add_argument("folder", metavar="FOLDER|NAME")
    return root


def _add_submit(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="Markdown, text, DOCX, HTML; - is stdin. None: the run begins with a draft",
    )
    one.add_argument("--kind", default="minutes", help="kind of document (default: minutes)")
    one.add_argument(
        "--request",
        metavar="TEXT",
        help="what is to be written, in your own words: a trip from this; - is stdin",
    )
    one.add_argument(
        "--source",
        "--reference",
        action="append",
        default=[],
        metavar="F",
        help="transcript or notes (also VTT, SRT), or reference data (JSON), to check against; "
        "may be repeated",
    )
    one.add_argument(
        "--audio",
        metavar="F",
        help="recording that is heard first (wav, mp3, m4a, ogg, flac, the sound of mp4 or webm)",
    )
    _add_encoding(one)
    one.add_argument("--title", help="default: the first heading, else the file's name")
    one.add_argument("--language", help="language of the document, for example en or zh")
    one.add_argument("--max-rounds", type=_ROUNDS, metavar="N", help="1 to 20 (default 5)")
    one.add_argument("--pass-score", type=_SCORE, metavar="N", help="0 to 100 (default 90)")
    one.add_argument("--profile", help="model profile (default: default)")
    add_limits(one)
    one.add_argument("--tag", action="append", default=[], help="may be repeated")
    one.add_argument(
        "--field",
        "--attribute",
        dest="attribute",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a field of the kind, for example days=5 or cuisine=Thai,Greek; may be repeated; "
        "./redraft kinds show itinerary lists them",
    )
    one.add_argument(
        "--template",
        metavar="NAME",
        help="of a draft: general, project-meeting, decision-log, one of the service's own, or a "
        "Markdown file with the headings",
    )
    _add_watch(one)


def _add_encoding(one: argparse.ArgumentParser) -> None:
    one.add_argument("--encoding", help="of the files, when it is not found out (big5, …)")


def _add_watch(one: argparse.ArgumentParser) -> None:
    one.add_argument("--watch", action="store_true", help="follow until it waits or ends")
    one.epilog = _WATCHED


def _add_runs(one: argparse.ArgumentParser) -> None:
    codes = [str(status) for status in RunStatus]
    one.add_argument("--status", choices=codes, metavar="STATUS", help=", ".join(_named(codes)))
    one.add_argument("--kind", help="only this kind")
    one.add_argument("--q", help="words in title or text")
    one.add_argument("--limit", type=_ROWS, metavar="N", help="1 to 200 (default 50)")


def _named(codes: Sequence[str]) -> list[str]:
    return [status_words(code) for code in codes]


def _add_moves(add: Callable[[str, Command, str], argparse.ArgumentParser]) -> None:
    one = add("interrupt", commands.interrupt, "stop a running run; it can be resumed")
    one.add_argument("id", nargs="?")
    one.add_argument("--all", action="store_true", help="every running run")
    one.add_argument("--reason", help="shown to whoever resumes it")
    one = add("resume", commands.resume, "go on with an interrupted or failed run")
    one.add_argument("id")
    one.add_argument("--body", metavar="FILE", help="go on with this edited text")
    _add_encoding(one)
    one.add_argument("--base", type=int, metavar="N", help="the revision it is an edit of")
    one.add_argument("--override", action="store_true", help="past this guardrail stop, once")
    one.add_argument("--profile", help="go on with another profile")
    add_limits(one)
    one.add_argument(
        "--max-rounds", type=_ROUNDS, metavar="N", help="1 to 20, counted from the start"
    )
    one.add_argument("--note", help="kept with the event")
    _add_watch(one)
    one = add("confirm", commands.confirm, "take the offered revision as the result")
    one.add_argument("id")
    one.add_argument("--revision", type=int, metavar="N", help="default: the offered one")
    one.add_argument("--body", metavar="FILE", help="confirm this text instead")
    _add_encoding(one)
    one.add_argument("--comment")
    one.add_argument("--override", action="store_true", help="another than the offered one")
    one = add("reject", commands.reject, "refuse the result")
    one.add_argument("id")
    one.add_argument("--comment")
    one = add("rework", commands.rework, "send the offered text back for more rounds")
    one.add_argument("id")
    one.add_argument("--comment", action="append", help="an issue to be answered; repeatable")
    one.add_argument("--lock", action="append", metavar="QUOTE", help="a passage that must stay")
    one.add_argument("--instructions", help="for all later rounds, no issue")
    one.add_argument(
        "--extra-rounds",
        type=_ROUNDS,
        metavar="N",
        help="1 to 20 more at most after those done (default 2); the first that passes is the last",
    )
    _add_watch(one)
    add("cancel", commands.cancel, "end a run for good").add_argument("id")


def _add_results(add: Callable[[str, Command, str], argparse.ArgumentParser]) -> None:
    one = add("fork", documents.fork, "a new document from a revision of a run")
    one.add_argument("id")
    one.add_argument("--revision", type=int, required=True, metavar="N")
    one.add_argument("--start", action="store_true", help="start a run of the new document")
    one = add("locks", documents.locks, "passages that no round may change; --remove frees one")
    one.add_argument("id", help="of a run or a document")
    one.add_argument("--remove", metavar="LOCK", help="its id, or the end of it")
    one = add("export", documents.export, "the text of a run or document")
    one.add_argument("id", help="of a run or a document")
    one.add_argument("--format", help="md, docx, html, json or ics (default: by the file)")
    one.add_argument("--revision", type=int, metavar="N", help="default: the offered or best")
    one.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    one = add("delete", documents.delete, "delete a document with everything that belongs to it")
    one.add_argument("id", help="of a document, or of one of its runs")
    one.add_argument("--yes", action="store_true", help="do not ask")


_WHOLE = ("run", "document")
_NAMED_BY = {"unknown_kind": "/api/kinds", "unknown_profile": "/api/profiles"}


def _next(client: Client, refused: Refused, given: argparse.Namespace) -> str:
    """The next act after a refusal, with the names there are and the id that was given."""
    if path := _NAMED_BY.get(refused.code):
        # A key without the right to read them, or an API that just went: the sentence stays.
        with contextlib.suppress(Refused, Unreachable):
            names = sorted({clean(row["name"]) for row in client.pages(path)})
            return tell("choose one of: {names}", names=", ".join(names))
    run = refused.problem.get("run")
    if refused.code == "limit_required" and isinstance(run, Mapping):
        return next_act(run)
    params = refused.problem.get("params") or {}
    what = params.get("what")
    if refused.code == "not_found" and (refused.problem.get("of_id") or what in _WHOLE):
        # An id that nothing has: a command with the same id would answer the same.
        return word(NEXT_BY_CODE["deleted"])
    if refused.code == "unknown_revision" and params.get("run"):
        return f"./redraft show {params['run']}"
    act = word(NEXT_BY_CODE.get(refused.code, ""))
    identity = getattr(given, "id", None)
    return act.replace(" ID", f" {identity}") if identity else act


def _report(client: Client, refused: Refused, given: argparse.Namespace) -> int:
    if given.json:
        complain(json.dumps(refused.problem, ensure_ascii=False))
    else:
        print_refusal(refused.code, refused.problem, _next(client, refused, given))
    return (
        REFUSED
        if refused.status < 500 or refused.code in ("not_built", "draining")
        else UNREACHABLE
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses, runs, and turns every refusal into its exit code."""
    words, made = sys.argv[1:] if arguments is None else list(arguments), parser()
    if terminal.wants_chinese(words, os.environ):
        terminal.say_in_chinese(made)
    given = made.parse_args(words)
    client: Client | None = None
    try:
        language.use(given.lang, os.environ)
        client = Client(find_address(given.url, os.environ))
        command: Command = given.run
        return command(client, given)
    except (UsageError, language.NoSuchLanguage) as error:
        complain(f"redraft {given.command}: {error}")
        return USAGE
    except Refused as refused:
        assert client is not None
        return _report(client, refused, given)
    except Unreachable as error:
        act = tell("start it with ./redraft up, or name it with --url")
        complain(f"redraft: {error}\n{language.next_line(act)}")
        return UNREACHABLE
    except KeyboardInterrupt:
        if given.command in ("watch", "submit", "resume"):
            complain("\n" + tell("The run goes on; ./redraft watch follows it again."))
        return _INTERRUPTED_BY_KEY
    except BrokenPipeError:
        # The reader of our output left (`redraft runs | head`): no fault, and nothing to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    finally:
        if client is not None:
            with contextlib.suppress(Exception):
                client.close()


if __name__ == "__main__":
    sys.exit(main())
