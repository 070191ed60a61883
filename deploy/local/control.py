"""`status`, `down` and `reset`: what another terminal does about a stack."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from typing import Any

from deploy.local.ask import health_of, request
from deploy.local.data import DataDirectory, same_processes
from deploy.local.errors import Refused, UsageError
from deploy.terminal import say, told

_DOWN = 5
_STOP_SECONDS = 20.0


def status(data: DataDirectory, *, as_json: bool) -> int:
    """0 when all parts answer, 1 when one does not, 5 when nothing runs over this data."""
    holder = data.holder()
    live = data.read("live.json") if holder is not None else {}
    if not live:
        what = f" (./redraft {holder['what']} works on it)" if holder and "what" in holder else ""
        if as_json:
            print(json.dumps({"data": str(data.root), "up": False}))
        else:
            say(f"No stack is up over {data.root}{what}.")
            if url := os.environ.get("REDRAFT_URL", ""):
                say(elsewhere(url))
        return _DOWN
    answers = asyncio.run(_ask_all(live))
    rows = [_row(name, port, answers[name], live) for name, port in live["ports"].items() if port]
    if as_json:
        print(json.dumps({"data": str(data.root), "up": True, **live, "parts": rows}, indent=1))
    else:
        say(f"Pages         {live['url'] or 'not started (--no-api)'}")
        say(f"Temporal Web  {live['web_url'] or 'not ours'}")
        say(f"Temporal      {_temporal_words(live)}")
        say(f"Model         {live['model']}")
        say(f"Data          {data.root}\n")
        wide = max([14, *(len(row["name"]) + 2 for row in rows)])
        for row in rows:
            again = f", started again {row['restarts']} times" if row["restarts"] else ""
            health = told(row["health"])
            say(f"{row['name']:{wide}}{health:12}port {row['port']}, pid {row['pid']}{again}")
    return 0 if all(row["health"] == "answers" for row in rows) else 1


def elsewhere(url: str) -> str:
    """An address says nothing of the folder behind it, which may be on another machine."""
    return (
        f"REDRAFT_URL is {url}: to see the stack behind it, name its folder with --data-dir DIR, "
        "the one that its ./redraft up was started with."
    )


def _temporal_words(live: dict[str, Any]) -> str:
    """The address that clients use, and what its other ports are for."""
    known = live.get("temporal") or {}
    address = known.get("address", "?")
    if not known.get("http_port"):
        return f"{address} (gRPC, for TEMPORAL_ADDRESS; not ours)"
    others = f"web {known['web_port']}, HTTP {known['http_port']}"
    return f"{address} (gRPC, for TEMPORAL_ADDRESS); other ports: {others}"


async def _ask_all(live: dict[str, Any]) -> dict[str, bool]:
    names = [name for name, port in live["ports"].items() if port]
    found = await asyncio.gather(*(_answers(name, live["ports"][name]) for name in names))
    return dict(zip(names, found, strict=True))


async def _answers(name: str, port: int) -> bool:
    try:
        if name == "Postgres":
            _, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5.0)
            writer.close()
            return True
        found, _ = await request("GET", "127.0.0.1", port, health_of(name))
    except (OSError, ValueError, TimeoutError):
        return False
    return found == 200


def _row(name: str, port: int, answers: bool, live: dict[str, Any]) -> dict[str, Any]:
    child: dict[str, Any] = next((child for child in live["children"] if child["name"] == name), {})
    return {
        "name": name,
        "port": port,
        "health": "answers" if answers else "no answer",
        "pid": child.get("pid"),
        "restarts": child.get("restarts", 0),
    }


def down(data: DataDirectory) -> int:
    """Asks the holder to stop and waits for it. Nothing up is no error."""
    holder = data.holder()
    if holder is None:
        say(f"No stack is up over {data.root}.")
        return 0
    if holder.get("what") != "up" or not same_processes(holder):
        raise Refused(
            f"{data.root} is held by ./redraft {holder.get('what', '?')}, process "
            f"{holder.get('pid', '?')}, which cannot be stopped from here."
        )
    os.kill(int(holder["pid"]), signal.SIGTERM)
    end = time.monotonic() + _STOP_SECONDS
    while data.holder() is not None:
        if time.monotonic() > end:
            raise Refused(f"Process {holder['pid']} still runs after {_STOP_SECONDS:.0f} s.")
        time.sleep(0.1)
    say("Stopped.")
    return 0


def reset(data: DataDirectory, *, sure: bool) -> int:
    """Deletes all data of a stack that is down."""
    if not data.root.exists():
        say(f"{data.root} does not exist; nothing to delete.")
        return 0
    data.check_ours()
    if not sure:
        if not sys.stdin.isatty():
            raise UsageError(f"reset deletes everything in {data.root}: say so with --yes")
        answer = input(told(f"Delete all documents, runs and logs in {data.root}? Type yes: "))
        if answer.strip().lower() != "yes":
            raise Refused(f"Nothing was deleted in {data.root}.")
    with data.held("reset"):
        data.forget()
    say(f"The data in {data.root} is deleted.")
    return 0
