"""Times in transcripts: `0:03`, `00:05`, `1:02:03`, `00:00:05.250`, `00:00:05,250`."""

from __future__ import annotations

import re

STAMP = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
"""A time inside a larger pattern; without a group."""
_TIME = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2})(?:[.,](\d{1,3}))?")
LONGEST = 1000 * 3600 * 1000


def milliseconds(text: str) -> int | None:
    """The time, or None for what is none (`00:99`); two fields are minutes and seconds, and with
    `PM` hours and minutes of the afternoon."""
    text, half = text.strip(), ""
    if text[-2:].upper() in ("AM", "PM"):
        text, half = text[:-2].rstrip(), text[-2:].upper()
        text = f"{text}:00" if text.count(":") == 1 else text
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.group(1, 2, 3))
    if seconds > 59 or (found.group(1) is not None and minutes > 59):
        return None
    if half and hours <= 12:
        hours = hours % 12 + (12 if half == "PM" else 0)
    thousandths = int((found.group(4) or "0").ljust(3, "0"))
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths


def clock(value: int) -> str:
    """Whole seconds as `hh:mm:ss`."""
    seconds = value // 1000
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
