"""What the doctor says: one line a check, with the next act where something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`area` is what was looked at, `text` what was found, `act` what to do about it."""

    level: Level
    area: str
    text: str
    act: str = ""


def ok(area: str, text: str) -> Finding:
    return Finding(level=Level.OK, area=area, text=text)


def warn(area: str, text: str, act: str) -> Finding:
    return Finding(level=Level.WARN, area=area, text=text, act=act)


def fail(area: str, text: str, act: str) -> Finding:
    return Finding(level=Level.FAIL, area=area, text=text, act=act)
