"""A transcript as JSON. The shape:

    {"segments": [{"speaker": "Ana Ruiz", "start": 5.0, "end": 8.0, "text": "We ship."}, …]}

or the list alone. `start` and `end` are seconds, or text like `00:00:05.250`; only `text` must be
there. Other fields, and entries that are no segment, are listed. The verbose answer of a speech
server has this shape. JSON of another shape is data, and kept as it stands.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from api.reading.parsed import FileFormat, LeftOut, Line, Parsed, Unreadable, Why, spoken
from api.reading.times import LONGEST, milliseconds

_KNOWN = frozenset({"speaker", "start", "end", "text"})
_SHOWN = 200


def read_json(text: str) -> Parsed:
    """A transcript, or data. Raises Unreadable when it is no JSON."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        detail = (
            f"is broken JSON: {error.msg} in line {error.lineno}, character {error.colno}; "
            "correct it there, or give the file another extension to have it read as text"
        )
        raise Unreadable(Why.JSON_BROKEN, detail, line=error.lineno) from None
    except (RecursionError, ValueError):
        raise Unreadable(Why.JSON_BROKEN, "is JSON that is nested too deeply") from None
    entries = value.get("segments") if isinstance(value, Mapping) else value
    if not isinstance(entries, list) or not any(_is_segment(entry) for entry in entries):
        rows = enumerate(text.split("\n"), start=1)
        lines = tuple(Line(text=row, at=number) for number, row in rows if row.strip())
        return Parsed(format=FileFormat.DATA, text=text, given=len(lines), lines=lines)
    return _read(entries, value)


def _is_segment(entry: Any) -> bool:
    """`text` alone may be any list of notes; with a speaker or a time it is a transcript."""
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("text"), str)
        and ("start" in entry or "speaker" in entry)
    )


def _read(entries: list[Any], value: Any) -> Parsed:
    lines: list[Line] = []
    repairs: Counter[str] = Counter()
    further: Counter[str] = Counter()
    left_out: list[LeftOut] = []
    newest = 0
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            shown = " ".join(json.dumps(entry, ensure_ascii=False).split())
            lines.append(Line(text=shown, at=number, understood=False))
            continue
        line = _line(number, entry, repairs, left_out)
        lines.append(line)
        further.update(str(name) for name in entry if name not in _KNOWN)
        repairs["out_of_order"] += (line.start or newest) < newest
        newest = max(newest, line.start or 0)
    left_out += [
        LeftOut(at=0, what="field", text=f"{count} × {name}"[:_SHOWN])
        for name, count in sorted(further.items())
    ]
    if isinstance(value, Mapping):
        names = sorted(str(name) for name in value if name != "segments")
        left_out += [LeftOut(at=0, what="field", text=name[:_SHOWN]) for name in names]
    return spoken(FileFormat.JSON, lines, left_out, repairs)


def _line(
    number: int, entry: Mapping[str, Any], repairs: Counter[str], left_out: list[LeftOut]
) -> Line:
    text = " ".join(entry["text"].split())
    speaker = entry.get("speaker")
    who = " ".join(str(speaker).split()) if isinstance(speaker, str | int) else ""
    start, end = (_time(entry.get(name)) for name in ("start", "end"))
    for name, found in (("start", start), ("end", end)):
        if found is None and entry.get(name) is not None:
            left_out.append(LeftOut(at=number, what=name, text=str(entry[name])[:_SHOWN]))
    if start is not None and end is not None and end < start:
        repairs["ends_before_it_begins"] += 1
        end = None
    return Line(text=text, at=number, speaker=who, start=start, end=end)


def _time(value: Any) -> int | None:
    """Seconds or a clock as milliseconds; None for what is neither."""
    if isinstance(value, str):
        return milliseconds(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LONGEST:
        return round(value * 1000)
    return None
