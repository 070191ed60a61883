"""`python -m deploy.offline_model --port N [--host 127.0.0.1] [--tokens-per-second R]`.

The pace is `REDRAFT_OFFLINE_TOKENS_PER_SECOND` (30; 0 = at once) unless given. Only loopback
addresses are served. Exit codes: 2 for a wrong option, 1 for a port that is taken.
"""

import argparse
import asyncio
import ipaddress
import os
import signal
import sys

from deploy.offline_model.server import OfflineModel


def loopback(host: str) -> str:
    """An address of this machine's loopback; anything else is refused."""
    if host == "localhost":
        return host
    try:
        if ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise argparse.ArgumentTypeError("the offline model listens on loopback addresses only")


def pace(text: str) -> float:
    """Tokens a second, 0 or more."""
    try:
        rate = float(text)
    except ValueError:
        rate = -1
    if not 0 <= rate < float("inf"):
        raise argparse.ArgumentTypeError("tokens per second must be 0 or a positive number")
    return rate


async def serve(host: str, port: int, rate: float) -> None:
    model = OfflineModel(rate=rate)
    await model.start(host=host, port=port)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    await model.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.offline_model")
    parser.add_argument("--host", type=loopback, default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--tokens-per-second",
        type=pace,
        default=os.environ.get("REDRAFT_OFFLINE_TOKENS_PER_SECOND") or "30",
    )
    given = parser.parse_args()
    try:
        asyncio.run(serve(given.host, given.port, given.tokens_per_second))
    except OSError as error:
        sys.stderr.write(f"offline model: port {given.port}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
