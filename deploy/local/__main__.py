"""Command line of the stack: `up`, `down`, `status`, `reset`, `backup`, `restore`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy import terminal
from deploy.local.data import DataDirectory
from deploy.local.errors import PartFailed, Refused, UsageError
from deploy.local.options import Options
from deploy.settings import default_root

_OFFLINE = (
    "Without a key the offline model answers. REDRAFT_OFFLINE_TOKENS_PER_SECOND sets its pace; "
    "OFFLINE_STOP_AFTER_ITEMS=2 lets it end each answer to a draft after two days or sections, so "
    "that the continuation can be seen."
)


def _parser() -> argparse.ArgumentParser:
    parser = terminal.Parser(prog="./redraft", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = terminal.Parser(add_help=False, allow_abbrev=False)
    shared.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="where everything is kept (default: REDRAFT_DATA_DIR, else ~/.local/share/redraft or "
        "$XDG_DATA_HOME/redraft; root: /var/lib/redraft)",
    )
    shared.add_argument("--lang", help="en or zh (default: as LC_ALL or LANG says)")

    up = commands.add_parser(
        "up", parents=[shared], help="start the stack", allow_abbrev=False, epilog=_OFFLINE
    )
    up.add_argument("--host", default="127.0.0.1", help="address the pages bind")
    up.add_argument("--port", type=int, metavar="N", help="port of the pages (8430, or next free)")
    up.add_argument("--workers", type=int, default=1, metavar="N", help="worker processes (1)")
    up.add_argument("--no-worker", action="store_true", help="start none")
    up.add_argument("--no-api", action="store_true", help="start neither API nor pages")
    up.add_argument("--no-sample", action="store_true", help="load no sample meeting")
    up.add_argument("--database-url", metavar="URL", help="a Postgres that exists")
    up.add_argument("--temporal-address", metavar="HOST:PORT", help="a Temporal that exists")
    up.add_argument(
        "--speech", action="store_true", help="recognise speech here (English; installs more)"
    )

    commands.add_parser("down", parents=[shared], help="stop the stack")
    status = commands.add_parser(
        "status", parents=[shared], help="what runs, and whether it answers"
    )
    status.add_argument("--json", action="store_true", help="for programs")
    reset = commands.add_parser("reset", parents=[shared], help="delete all data")
    reset.add_argument("--yes", action="store_true", help="do not ask")
    backup = commands.add_parser("backup", parents=[shared], help="write all data to one file")
    backup.add_argument("file", type=Path, metavar="FILE")
    backup.add_argument("--force", action="store_true", help="replace a file that is there")
    backup.add_argument("--database-url", metavar="URL", help="a Postgres that is not embedded")
    restore = commands.add_parser("restore", parents=[shared], help="read it back")
    restore.add_argument("file", type=Path, metavar="FILE")
    restore.add_argument("--force", action="store_true", help="replace the data that is there")
    return parser


def _options(given: argparse.Namespace, data: Path, environment: Mapping[str, str]) -> Options:
    temporal = given.temporal_address or environment.get("TEMPORAL_ADDRESS", "")
    return Options(
        data=data,
        host=given.host,
        port=given.port,
        workers=0 if given.no_worker else given.workers,
        api=not given.no_api,
        sample=not given.no_sample,
        database_url=given.database_url or environment.get("REDRAFT_DATABASE_URL", ""),
        database_owner_url=environment.get("REDRAFT_DATABASE_OWNER_URL", ""),
        temporal_address=temporal,
        # The embedded server has the one namespace; the variable is about the caller's own.
        temporal_namespace=(temporal and environment.get("TEMPORAL_NAMESPACE")) or "redraft",
        openai_base_url=environment.get("OPENAI_BASE_URL", ""),
        openai_api_key=bool(environment.get("OPENAI_API_KEY")),
        speech=given.speech,
        environment=environment,
    ).checked()


def _without_joined(data: DataDirectory, environment: Mapping[str, str]) -> dict[str, str]:
    """Without what a stack of this or of the joined folder put into this terminal: addresses of
    its own services, which are no choice of the caller's. Leaves them out of `os.environ` too."""
    folders = [data]
    if named := environment.get("REDRAFT_DATA_DIR", ""):
        folders.append(DataDirectory(Path(named).expanduser().absolute()))
    joined = {name for folder in folders for name in folder.joined(environment)}
    for name in joined:
        os.environ.pop(name, None)
    return {name: value for name, value in environment.items() if name not in joined}


def _run(given: argparse.Namespace, environment: Mapping[str, str]) -> int:
    root = given.data_dir.expanduser() if given.data_dir else default_root(environment)
    data = DataDirectory(root.absolute())
    environment = _without_joined(data, environment)
    if given.command == "up":
        from deploy.local.up import up

        return up(_options(given, data.root, environment))
    if given.command in ("backup", "restore"):
        from deploy.local import backup

        if given.command == "restore":
            return backup.restore(data, given.file, force=given.force)
        return backup.backup(data, given.file, given.database_url or "", force=given.force)
    from deploy.local import control

    if given.command == "status":
        return control.status(data, as_json=given.json)
    return control.down(data) if given.command == "down" else control.reset(data, sure=given.yes)


def main(words: list[str] | None = None) -> int:
    """Exit codes: 0 ok, 1 a part failed, 2 usage, 3 refused, 5 nothing is up."""
    given_words, made = sys.argv[1:] if words is None else words, _parser()
    if terminal.speak(given_words, os.environ):
        terminal.say_in_chinese(made)
    given = made.parse_args(given_words)
    os.umask(0o077)
    try:
        return _run(given, dict(os.environ))
    except UsageError as error:
        print(f"redraft: {terminal.told(str(error))}", file=sys.stderr)
        return 2
    except Refused as error:
        print(f"redraft: {terminal.told(str(error))}", file=sys.stderr)
        return 3
    except PartFailed as error:
        print(f"redraft: {terminal.told(str(error))}", file=sys.stderr)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"redraft: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
