"""`./redraft up`: runs the stack in the foreground until Ctrl-C, `down`, or a part that fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

from deploy import terminal
from deploy.local import sample
from deploy.local.data import DataDirectory, write_whole
from deploy.local.errors import PartFailed
from deploy.local.options import Options
from deploy.local.stack import Stack
from deploy.settings import default_root


def say(line: str) -> None:
    """To the terminal, which may be gone by now; that must not stop the stack."""
    with contextlib.suppress(OSError):
        terminal.say(line)


def up(options: Options) -> int:
    """Exit code 0 after a clean stop, 1 when a part failed. Raises Refused."""
    data = DataDirectory(options.data)
    with data.held("up"):
        return asyncio.run(_run(options, data))


async def _run(options: Options, data: DataDirectory) -> int:
    stop, hurry = asyncio.Event(), asyncio.Event()
    with _signals(stop, hurry):
        stack = Stack(options, data, say)
        work = asyncio.create_task(_serve(stack))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if stop.is_set():
                say("Stopping … (Ctrl-C again to hurry)")
        finally:
            stopped.cancel()
            work.cancel()
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
            await stack.stop(hurry)
        if isinstance(outcome, PartFailed):
            say(f"\n{outcome}\n\nThe stack was stopped.")
            return 1
        if isinstance(outcome, Exception):
            raise outcome
        say("Stopped. The data stays; ./redraft up goes on where it was.")
        return 0


async def _serve(stack: Stack) -> None:
    await stack.start()
    stack.data.note_joined(stack.wiring.made_here())
    write_whole(stack.data.environment_file, stack.wiring.environment_text())
    options = stack.options
    page, trouble = "", ""
    if options.sample and options.api and options.workers:
        page, trouble = await sample.load(stack.data, stack.wiring)
    for line in _summary(stack, page):
        say(line)
    if trouble:
        say(trouble)
    if options.api:
        _open_page(page or stack.wiring.url)
    await stack.serve()


def _summary(stack: Stack, page: str) -> Iterator[str]:
    options, wiring = stack.options, stack.wiring
    yield ""
    yield "Redraft is ready."
    if options.api:
        yield f"  Pages         {wiring.url}"
    if page:
        yield f"  Sample        {page}"
    if wiring.temporal:
        yield f"  Temporal Web  {wiring.web_url}/namespaces/{options.temporal_namespace}/workflows"
    yield f"  Model         {options.model_named}"
    if options.speech:
        yield f"  Speech        {options.speech_named}"
    if wiring.postgres and wiring.postgres.account:
        yield f"  Postgres      runs as {wiring.postgres.account.name} (never as root)"
    yield f"  Data          {stack.data.root} (logs in logs/)"
    yield from _other_terminals(stack)
    if options.offline_model:
        yield "For a real model set OPENAI_API_KEY (and OPENAI_BASE_URL, REDRAFT_MODEL)."
    if options.api and wiring.api_key:
        yield (
            "Pages and API ask for a key: any name, and as password REDRAFT_API_KEY of "
            f"{stack.data.environment_file}. Put a proxy that speaks TLS before other networks."
        )


def _other_terminals(stack: Stack) -> Iterator[str]:
    """How commands elsewhere find this stack; that in the default folder they find themselves."""
    root = stack.data.root
    # That a variable names this folder holds for this terminal only.
    if root == default_root({**os.environ, "REDRAFT_DATA_DIR": ""}):
        yield "Stop with Ctrl-C, or with ./redraft down in another terminal."
        return
    folder, file = shlex.quote(str(root)), shlex.quote(str(stack.data.environment_file))
    yield f"  Join it       set -a; . {file}; set +a   (then ./redraft submit, runs, status …)"
    yield f"Stop with Ctrl-C, or with ./redraft down --data-dir {folder} in another terminal."


def _open_page(address: str) -> None:
    screen = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if screen and opener and sys.stdout.isatty():
        with contextlib.suppress(OSError):
            subprocess.Popen(
                [opener, address],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )


@contextlib.contextmanager
def _signals(stop: asyncio.Event, hurry: asyncio.Event) -> Iterator[None]:
    """First signal: stop; second: at once. `nohup` keeps its meaning."""
    loop = asyncio.get_running_loop()

    def asked() -> None:
        (hurry if stop.is_set() else stop).set()

    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        wanted.append(signal.SIGHUP)
    for number in wanted:
        loop.add_signal_handler(number, asked)
    try:
        yield
    finally:
        for number in wanted:
            loop.remove_signal_handler(number)
