"""`python -m deploy.recogniser --port N [--model FOLDER]`: recognises speech until SIGTERM.

Without a folder it takes the English model of the extra `speech`. Only loopback is served. Exit
codes: 2 for a wrong option, 1 for a model that cannot be loaded or a port that is taken.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from deploy.recogniser.server import Broken, RecogniserServer

OWN_NAME = "whisper-tiny.en"


def name_of(folder: str) -> str:
    """What the model is called where it is asked for."""
    return Path(folder).name if folder else OWN_NAME


async def serve(port: int, folder: str) -> None:
    server = RecogniserServer(folder or "-", name_of(folder))
    await server.start("127.0.0.1", port)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    await server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.recogniser")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", default="", metavar="FOLDER")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        asyncio.run(serve(given.port, given.model))
    except Broken:
        sys.stderr.write("recogniser: the model cannot be loaded (its words are above)\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"recogniser: port {given.port}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
