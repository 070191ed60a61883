"""The few HTTP requests a supervisor makes, without a client library and without threads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

HEALTH = {
    "Temporal": "/api/v1/namespaces/redraft",
    "Offline model": "/v1/models",
    "Speech recogniser": "/v1/models",
}
"""Where a part says that it is well, when not at /healthz: for the start and for `status`."""


def health_of(name: str) -> str:
    return HEALTH.get(name, "/healthz")


async def request(
    method: str,
    host: str,
    port: int,
    path: str,
    *,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    seconds: float = 5.0,
) -> tuple[int, bytes]:
    """Status and body of one request. Raises OSError, TimeoutError or ValueError (no HTTP)."""
    data = b"" if body is None else json.dumps(body).encode()
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {f'[{host}]' if ':' in host else host}:{port}",
        "Connection: close",
        "Accept: application/json",
        "User-Agent: redraft-up",
    ]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
            await writer.drain()
            return await _answer(reader)
        finally:
            writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise ValueError("no HTTP answer") from error
    status_line, *fields = head.decode("latin-1").split("\r\n")
    named = dict(field.lower().split(": ", 1) for field in fields if ": " in field)
    rest = await reader.read() if "content-length" not in named else b""
    if "content-length" in named:
        rest = await reader.readexactly(int(named["content-length"]))
    elif named.get("transfer-encoding") == "chunked":
        rest = _joined(rest)
    return int(status_line.split(" ")[1]), rest


def _joined(chunked: bytes) -> bytes:
    out, rest = b"", chunked
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        count = int(size.split(b";")[0] or b"0", 16)
        if count == 0:
            break
        out, rest = out + rest[:count], rest[count + 2 :]
    return out


async def expect_ok(port: int, path: str, host: str = "127.0.0.1") -> None:
    """Raises unless the answer is 200."""
    status, _ = await request("GET", host, port, path)
    if status != 200:
        raise ValueError(f"answers {status} to {path}")
