"""Log set-up: a fixed phrase and fields; one line of text in development, JSON in production.

Never a document, a prompt, a reply or a key: sizes and hashes are enough.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_NOISY = {
    "temporalio.activity": logging.ERROR,
    "temporalio.worker": logging.WARNING,
    "httpx2": logging.WARNING,
    "openai": logging.WARNING,
    "asyncio": logging.WARNING,
    "uvicorn.access": logging.WARNING,
    "alembic": logging.WARNING,
}


def _facts(record: logging.LogRecord) -> dict[str, object]:
    return {k: v for k, v in vars(record).items() if k not in _PLAIN and not k.startswith("__")}


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        facts = " ".join(
            f"{k}={v}" for k, v in _facts(record).items() if not k.startswith("temporal_")
        )
        line = f"{at}Z {record.levelname:7} {record.name}: {record.getMessage()} {facts}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configure(*, style: str, level: str) -> None:
    """Sets the root logger up, once a process, writing to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if style == "json" else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, least in _NOISY.items():
        logging.getLogger(name).setLevel(max(least, root.level))
