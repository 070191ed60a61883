"""`./redraft bench peers [--measures …] [--reps N] [--size N] [--peers …] [--json FILE]`: Redraft
beside its peers, in the shared harness, all in the same run and in turn.

Prints the harness' table, medians with ratios against `--reference` in brackets. Exit code 0 also
when a peer does badly (the table says so), 1 when a measure broke, 2 when nothing can be measured.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.local.accounts import for_postgres
from deploy.local.errors import Refused
from deploy.local.processes import _tie_to_parent
from tests.bench import report
from tests.bench.peers.described import NAME, with_redraft
from tests.bench.peers.environment import Impossible, clean, default_folder, python_of
from tests.bench.peers.figures import MEASURES, broken, figures
from tests.services import ROOT, free_port

GROUPS = {
    "kill": ("crash", "crash50"),
    "outage": ("pgdown", "serverdown"),
    "interrupt": ("interrupt",),
}
FILES = ("harness.py", "report.py", "peers.json", "requirements.txt")


def main(arguments: Sequence[str]) -> int:
    given = _parse(arguments)
    try:
        harness = find_harness(given.harness)
        specs = with_redraft(harness, adapter_port=free_port())
        check_peers(given.peers, specs)
        python = python_of(given.venv, harness / "requirements.txt")
        return _in_a_folder(given, specs, harness, python)
    except (Impossible, Refused) as error:
        print(f"redraft bench peers: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _in_a_folder(
    given: argparse.Namespace, specs: Mapping[str, Any], harness: Path, python: Path
) -> int:
    """Removes the folder only when all went well and nobody asked to keep it."""
    folder = Path(tempfile.mkdtemp(prefix="redraft-peers-"))
    folder.chmod(0o711)  # the account of Postgres must pass
    (folder / "peers.json").write_text(json.dumps(specs, indent=1), encoding="utf-8")
    keep = True
    try:
        code = _measure(given, harness, python, folder)
        keep = bool(code or given.keep)
        return code
    finally:
        if keep:
            print(f"logs and results: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def find_harness(given: Path | None) -> Path:
    """The folder of the harness. Raises Impossible."""
    folder = (given or ROOT.parent / "shared" / "bench").resolve()
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise Impossible(
            f"{folder} is not the harness of the peers ({missing[0]} is not there). "
            "Put it there, or name its folder with --harness DIR."
        )
    return folder


def check_peers(names: Sequence[str], known: Collection[str]) -> None:
    """Raises Impossible for a name that the harness does not have."""
    for name in names:
        if name not in known:
            raise Impossible(f"there is no peer {name!r}; there are {', '.join(known)}.")


def measures_of(words: str) -> list[str]:
    """Names of the harness, a group's name standing for its own. Raises ValueError."""
    found: list[str] = []
    for word in words.split(","):
        if word not in GROUPS and word not in MEASURES:
            known = ", ".join(dict.fromkeys((*GROUPS, *MEASURES)))
            raise ValueError(f"no measure {word!r}; there are {known}")
        found += GROUPS.get(word, (word,))
    return list(dict.fromkeys(found))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="redraft bench peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"measures: {', '.join(MEASURES)}; kill, outage stand for two each",
    )
    default = ",".join(GROUPS)
    parser.add_argument("--measures", default=default, help=f"by comma (default {default})")
    parser.add_argument("--reps", type=int, default=3, help="repetitions (3)")
    parser.add_argument("--size", type=int, help="runs or trials of each, to try it out")
    parser.add_argument("--peers", default=f"{NAME},langgraph,dbos", help="by comma")
    parser.add_argument("--reference", default="langgraph", help="whom ratios are against")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--harness", type=Path, metavar="DIR", help="(../shared/bench)")
    parser.add_argument(
        "--venv",
        type=Path,
        metavar="DIR",
        default=default_folder(os.environ),
        help="for its packages",
    )
    parser.add_argument("--keep", action="store_true", help="keep logs and results")
    given = parser.parse_args(arguments)
    given.peers = given.peers.split(",")
    try:
        given.measures = measures_of(given.measures)
    except ValueError as error:
        parser.error(str(error))
    return given


def _measure(given: argparse.Namespace, harness: Path, python: Path, folder: Path) -> int:
    facts, results = report.machine(), folder / "all.jsonl"
    print(", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    entries: list[dict[str, Any]] = []
    for one in turns(given.reps, given.measures, given.peers):
        entries.append(_one(one, given.size, [str(python), str(harness / "harness.py")], folder))
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entries[-1]) + "\n")
    print(flush=True)
    table = [str(python), str(harness / "report.py"), str(results), "--reference", given.reference]
    subprocess.run(table, env=clean(os.environ), check=False)
    if given.json is not None:
        report.write_json(given.json, facts, figures(entries, given.reference))
    for line in broken(entries):
        print(f"broke: {line}", file=sys.stderr)
    return 1 if broken(entries) else 0


@dataclass(frozen=True, kw_only=True)
class One:
    """One measurement of one peer."""

    rep: int
    measure: str
    peer: str


def turns(reps: int, measures: Sequence[str], peers: Sequence[str]) -> Iterator[One]:
    """Peer by peer within a measure, and another one first in the next repetition."""
    for rep in range(reps):
        first = rep % len(peers)
        for measure in measures:
            for peer in (*peers[first:], *peers[:first]):
                yield One(rep=rep, measure=measure, peer=peer)


def _one(one: One, size: int | None, harness: Sequence[str], folder: Path) -> dict[str, Any]:
    """A start of the harness for each: what one has left behind is not measured with the next."""
    out = folder / "results.jsonl"
    out.unlink(missing_ok=True)
    words = ["--measures", one.measure, "--peers", one.peer, "--reps", "1", "--out", str(out)]
    words += ["--specs", str(folder / "peers.json")]
    if size is not None:
        words += ["--size", str(size)]
    code = _run([*harness, *words], folder)
    if not out.exists():
        raise Impossible(
            f"the harness could not start (it ended with {code}, its words are above; its logs: "
            f"{folder / 'logs'}). Its ports are fixed: does something else listen on 18080, "
            "18100, 18233 to 18235 or 18432?"
        )
    entry: dict[str, Any] = json.loads(out.read_text(encoding="utf-8").splitlines()[-1])
    return {**entry, "rep": one.rep}


def _run(words: list[str], folder: Path) -> int:
    """The harness, which stops all it has started when it is interrupted; but not a peer that
    never became ready."""
    environment = {**clean(os.environ), "BENCH_DIR": str(folder)}
    # Nothing is written beside the harness; its peers' packages are compiled by pip.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    if account := for_postgres(folder / "pg"):
        environment["BENCH_PG_USER"] = account.name
    process = subprocess.Popen(
        words,
        env=environment,
        start_new_session=True,
        preexec_fn=_interruptible(),  # noqa: PLW1509
    )
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _interruptible() -> Callable[[], None]:
    """What the harness does before it starts: SIGINT when we die, also where a shell ignores it."""
    tie = _tie_to_parent(signal.SIGINT)

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if tie is not None:
            tie()

    return prepare
