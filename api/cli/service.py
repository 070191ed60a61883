"""Client commands about the service: `profiles` (list, show, check, add) and `drain`."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from api.cli.client import OK, REFUSED, Client, UsageError
from api.cli.files import read_text
from api.cli.language import next_line, tell
from api.cli.show import age, ago, complain, print_table, say, say_json
from api.cli.words import clean, one_line

Json = dict[str, Any]
Command = Callable[[Client, Namespace], int]
Add = Callable[[str, Command, str], ArgumentParser]
_COLUMNS = ("NAME", "VERSION", "MODEL", "ADDRESS", "KEY", "PRICE", "FALLBACK", "AGE")
_OBJECTS = ("parameters", "prices", "rate_limits", "fallback", "prompts")


def add_commands(add: Add) -> None:
    one = add("profiles", profiles, "model profiles: list them, show one, check or add one")
    one.add_argument("action", nargs="?", choices=["list", "show", "check", "add"], default="list")
    one.add_argument(
        "what",
        nargs="?",
        metavar="NAME|FILE",
        help="show: a profile; check, add: a JSON file as /docs has it, - is standard input",
    )
    one = add("drain", drain, "before a deploy: nothing starts or resumes, what runs goes on")
    one.add_argument("action", nargs="?", choices=["on", "off", "show"], default="show")
    one.add_argument("--note", help="shown to everybody who is refused, for example “back at nine”")


def profiles(client: Client, given: Namespace) -> int:
    if given.action == "list":
        if given.what:
            raise UsageError(f"profiles list takes no name; try: profiles show {given.what}")
        return _list(client, given)
    if not given.what:
        word = "the name of a profile" if given.action == "show" else "a JSON file, or -"
        raise UsageError(f"profiles {given.action} needs {word}")
    return {"show": _show, "check": _check, "add": _add}[given.action](client, given)


def _list(client: Client, given: Namespace) -> int:
    rows = list(client.pages("/api/profiles", limit=200))
    if given.json:
        say_json({"items": rows, "next_cursor": None})
        return OK
    print_table(_COLUMNS, [_cells(row) for row in rows], empty="no profiles")
    return OK


def _cells(row: Json) -> list[str]:
    fallback = row.get("fallback") or {}
    return [
        clean(row["name"]),
        str(row["version"]),
        one_line(row["model"], 40),
        one_line(row.get("base_url") or "as the environment says", 60),
        "set" if row.get("key_set") else "not set",
        price_words(row.get("prices")),
        f"{clean(fallback['profile'])} after {fallback['after']}" if fallback else "–",
        age(row.get("created_at")),
    ]


def price_words(prices: Mapping[str, Any] | None) -> str:
    """Per million tokens and per minute of sound: the table of today with its first day, and how
    many others there are."""
    if not prices:
        return "unknown"
    tables: list[Mapping[str, Any]] = sorted(
        prices.get("tables", [prices]), key=lambda one: str(one.get("from", ""))
    )
    today = datetime.now(UTC).date().isoformat()
    table = next((one for one in reversed(tables) if str(one.get("from", "")) <= today), tables[0])
    amounts = [f"{table['input']} in, {table.get('output')} out"] if "input" in table else []
    amounts += [f"{table['minute']} a minute of sound"] if "minute" in table else []
    told = f"{', '.join(amounts)} {prices.get('currency', 'USD')}"
    more = f" ({len(tables) - 1} of other days)" if len(tables) > 1 else ""
    since = f" from {table['from']}" if table.get("from") else ""
    return clean(told + since + more)


def _show(client: Client, given: Namespace) -> int:
    """The newest version whole, and the history."""
    rows = list(client.pages(f"/api/profiles/{quote(given.what, safe='')}/versions", limit=200))
    newest = rows[0]
    if given.json:
        say_json(newest)
        return OK
    cells = dict(zip(_COLUMNS, _cells(newest), strict=True))
    say(f"{cells['NAME']}  version {cells['VERSION']}, model {cells['MODEL']}")
    say(f"address: {cells['ADDRESS']}, key: {cells['KEY']} where the API runs")
    say(f"price per million tokens: {cells['PRICE']}")
    for name in _OBJECTS:
        if newest.get(name):
            say(f"{name}: {clean(json.dumps(newest[name], ensure_ascii=False))}")
    for row in rows:
        say(f"  version {row['version']}: {ago(row['created_at'])} by {clean(row['actor'])}")
    return OK


def _body(name: str) -> Json:
    """The file as a JSON object. Raises UsageError."""
    try:
        found = json.loads(read_text(name))
    except ValueError as error:
        raise UsageError(f"{name} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{name} must hold one JSON object, with name and model at least")
    return found


def _check(_: Client, given: Namespace) -> int:
    """By the API's own rules, without asking it: exit 3 when something is wrong."""
    body = _body(given.what)
    # The API's own modules, which only this command needs and which take a second to load.
    from api.bodies import fit
    from api.errors import Refusal
    from api.profiles import NewProfile, problems
    from workflows.kinds import load_kinds

    try:
        wanted = fit(NewProfile, body)
        kinds = load_kinds(os.environ.get("REDRAFT_KINDS_DIR", ""))
        faults = [(at, detail) for at, _, detail in problems(wanted, kinds)]
    except Refusal as refusal:
        faults = [(str(one["pointer"]), str(one["detail"])) for one in refusal.errors]
    if given.json:
        told = [{"pointer": at, "detail": detail} for at, detail in faults]
        say_json({"name": body.get("name"), "faults": told})
    elif faults:
        for at, detail in faults:
            complain(f"{clean(at) or '/'}: {clean(detail)}")
    else:
        say(f"{clean(wanted.name)} can be added; price: {price_words(wanted.prices)}")
        if wanted.fallback:
            say(f"its fallback {clean(wanted.fallback['profile'])} must be there already")
        say(next_line(f"./redraft profiles add {given.what}"))
    return REFUSED if faults else OK


def _add(client: Client, given: Namespace) -> int:
    """The next version of that name; the newest holds from the next step on."""
    row = client.post("/api/profiles", _body(given.what))
    if given.json:
        say_json(row)
        return OK
    cells = _cells(row)
    say(f"{cells[0]} version {cells[1]}: model {cells[2]}, price {cells[5]}")
    if not row.get("key_set"):
        say("its key is not set where the API runs; the workers need it")
    return OK


def drain(client: Client, given: Namespace) -> int:
    """Draining is asked for or ended by a word; without one it is shown."""
    if given.note is not None and given.action != "on":
        raise UsageError(tell("--note goes with drain on"))
    if given.action == "show":
        found = client.get("/api/switches")
    else:
        wanted: Json = {"draining": given.action == "on"}
        if given.note:
            wanted["note"] = given.note
        found = client.put("/api/switches", wanted)
    if given.json:
        say_json(found)
        return OK
    if not found["draining"]:
        say(tell("not draining: runs start and resume"))
        return OK
    who, since = clean(found.get("actor") or "?"), ago(found.get("updated_at"))
    if found.get("note"):
        note = one_line(found["note"])
        say(tell("draining: “{note}” (by {who}, {since})", note=note, who=who, since=since))
    else:
        say(tell("draining (by {who}, {since})", who=who, since=since))
    say(tell("nothing starts or resumes; runs in flight go on, interrupt --all stops them"))
    say("next: ./redraft drain off")
    return OK
