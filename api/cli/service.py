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
from api.cli.show import ago, cell, complain, print_table, say, say_json
from api.cli.words import clean, one_line
from api.texts.codes import N_

Json = dict[str, Any]
Command = Callable[[Client, Namespace], int]
Say = Callable[..., str]
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
            told = N_("profiles list takes no name; try: profiles show {name}")
            raise UsageError(tell(told, name=given.what))
        return _list(client, given)
    if not given.what:
        told = N_("profiles {action} needs a JSON file, or -")
        if given.action == "show":
            told = N_("profiles show needs the name of a profile")
        raise UsageError(tell(told, action=given.action))
    return {"show": _show, "check": _check, "add": _add}[given.action](client, given)


def _list(client: Client, given: Namespace) -> int:
    rows = list(client.pages("/api/profiles", limit=200))
    if given.json:
        say_json({"items": rows, "next_cursor": None})
        return OK
    print_table(_COLUMNS, [_cells(row) for row in rows], empty=N_("no profiles"))
    return OK


def _fallback(row: Json, say: Say) -> str:
    fallback = row.get("fallback") or {}
    if not fallback:
        return "–"
    told = {"name": clean(fallback["profile"]), "count": fallback["after"]}
    return say(N_("{name} after {count}"), **told)


def _cells(row: Json, say: Say = cell) -> list[str]:
    """`say`: in a line of words `tell`; cells in a pipe stay English."""
    return [
        clean(row["name"]),
        str(row["version"]),
        one_line(row["model"], 40),
        one_line(row.get("base_url") or say(N_("as the environment says")), 60),
        say(N_("set")) if row.get("key_set") else say(N_("not set")),
        price_words(row.get("prices"), say),
        _fallback(row, say),
        ago(row.get("created_at"), say=say),
    ]


def price_words(prices: Mapping[str, Any] | None, say: Say = tell) -> str:
    """Per million tokens and per minute of sound: the table of today with its first day, and how
    many others there are."""
    if not prices:
        return say(N_("unknown"))
    tables: list[Mapping[str, Any]] = sorted(
        prices.get("tables", [prices]), key=lambda one: str(one.get("from", ""))
    )
    today = datetime.now(UTC).date().isoformat()
    table = next((one for one in reversed(tables) if str(one.get("from", "")) <= today), tables[0])
    amounts = []
    if "input" in table:
        by_token = {"read": table["input"], "made": table.get("output")}
        amounts.append(say(N_("{read} in, {made} out"), **by_token))
    if "minute" in table:
        amounts.append(say(N_("{price} a minute of sound"), price=table["minute"]))
    told = f"{say(N_(', ')).join(amounts)} {prices.get('currency', 'USD')}"
    if table.get("from"):
        told += say(N_(" from {day}"), day=table["from"])
    if tables[1:]:
        told += say(N_(" ({count} of other days)"), count=len(tables) - 1)
    return clean(told)


def _show(client: Client, given: Namespace) -> int:
    """The newest version whole, and the history."""
    rows = list(client.pages(f"/api/profiles/{quote(given.what, safe='')}/versions", limit=200))
    newest = rows[0]
    if given.json:
        say_json(newest)
        return OK
    cells = dict(zip(map(str.lower, _COLUMNS), _cells(newest, tell), strict=True))
    say(tell("{name}  version {version}, model {model}", **cells))
    say(tell("address: {address}, key: {key} where the API runs", **cells))
    say(tell("price per million tokens: {price}", **cells))
    for name in _OBJECTS:
        if newest.get(name):
            say(f"{name}: {clean(json.dumps(newest[name], ensure_ascii=False))}")
    for row in rows:
        facts = {"number": row["version"], "age": ago(row["created_at"])}
        say("  " + tell("version {number}: {age} by {who}", who=clean(row["actor"]), **facts))
    return OK


def _body(name: str) -> Json:
    """The file as a JSON object. Raises UsageError."""
    try:
        found = json.loads(read_text(name))
    except ValueError as error:
        raise UsageError(tell("{name} is no JSON: {why}", name=name, why=error)) from error
    if not isinstance(found, dict):
        told = N_("{name} must hold one JSON object, with name and model at least")
        raise UsageError(tell(told, name=name))
    return found


def _check(_: Client, given: Namespace) -> int:
    """By the API's own rules, without asking it: exit 3 when something is wrong."""
    body = _body(given.what)
    # The API's own modules, which only this command needs and which take a second to load.
    from api.http.bodies import fit
    from api.http.errors import Refusal
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
        facts = {"name": clean(wanted.name), "price": price_words(wanted.prices)}
        say(tell("{name} can be added; price: {price}", **facts))
        if wanted.fallback:
            told_of = N_("its fallback {name} must be there already")
            say(tell(told_of, name=clean(wanted.fallback["profile"])))
        say(next_line(f"./redraft profiles add {given.what}"))
    return REFUSED if faults else OK


def _add(client: Client, given: Namespace) -> int:
    """The next version of that name; the newest holds from the next step on."""
    row = client.post("/api/profiles", _body(given.what))
    if given.json:
        say_json(row)
        return OK
    cells = dict(zip(map(str.lower, _COLUMNS), _cells(row, tell), strict=True))
    say(tell("{name} version {version}: model {model}, price {price}", **cells))
    if not row.get("key_set"):
        say(tell("its key is not set where the API runs; the workers need it"))
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
    say(next_line("./redraft drain off"))
    return OK
