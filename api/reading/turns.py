"""Transcripts as text: who speaks and when stands above, or before, what is said.

Shapes, as the products export them (public parsers of these files describe the same):

- 飞书妙记 TXT: `2026年6月2日 下午 5:51|14分钟 43秒`, `关键词:` and words, `文字记录:`, then
  for each turn `说话人 1 00:05` and its text, a blank line between turns.
- 腾讯会议 TXT and DOCX: `张三(00:00:05): 文字`, `张三（00:12:34）：` with the text below, or
  `说话人1 00:05` with the text below.
- Zoom, saved captions (`meeting_saved_closed_caption.txt`): `[Ana Ruiz] 10:02:11`, text below.
- Zoom, saved chat: `10:02:11 From Ana Ruiz to Everyone: text`, or the text below, after a tab; who
  wrote to one person stays `Ana Ruiz to Bo`.
- Teams DOCX: title, `15 June 2026, 03:35am`, `27m 42s`, `Nick started transcription`, then
  `David Mulholland   0:03` and the text.
- Others: `[00:12] Ana: text`, `00:00:12 Ana: text`, `00:12:34 Ana` with the text below.

What stands before the first turn is kept as lines of nobody: titles, dates, who was there.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from api.reading.parsed import FileFormat, Line, Parsed, spoken
from api.reading.times import STAMP, milliseconds
from workflows.kinds.lines import split_speaker

_NAME = r"(?P<name>[^\n:：\[\]()（）|]{1,60}?)"
_TIME = rf"(?P<time>{STAMP}(?:[ \t]?[AaPp][Mm])?)"
_ABOVE = (
    re.compile(rf"^\[{_NAME}\][ \t]*{_TIME}[ \t]*$"),
    re.compile(rf"^{_NAME}[ \t]*[(（]{_TIME}[)）][ \t]*[:：]?(?P<text>[^\n]*)$"),
    re.compile(rf"^\*{{0,2}}{_NAME}\*{{0,2}}[ \t]+{_TIME}[ \t]*$"),
    re.compile(rf"^(?P<time>\d{{1,3}}:\d{{2}}:\d{{2}})[ \t]+{_NAME}[ \t]*$"),
)
_BEFORE = re.compile(rf"^(?:\[{_TIME}\]|{_TIME.replace('time', 'bare')})[ \t]+(?P<rest>\S[^\n]*)$")
_CHAT = re.compile(
    rf"^(?P<time>\d{{1,2}}:\d{{2}}:\d{{2}})[ \t]+From[ \t]+{_NAME}"
    r"(?:[ \t]+to[ \t]+(?:Everyone|所有人))?[ \t]*[:：][ \t]*(?P<text>[^\n]*)$"
)
_MARKS = (
    (re.compile(r"^文字记录[:：]?\s*$", re.M), "feishu"),
    (re.compile(r"腾讯会议"), "tencent"),
    (re.compile(r"\b(?:started|stopped) transcription\s*$", re.M), "teams"),
)
_CALLED = re.compile(r"^(?:说话人|发言人|Speaker)\s*\w{1,3}$", re.I)
_HEAD = 2000


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """A row that begins a turn; `said` is what of its text stands in the same row."""

    speaker: str
    start: int
    said: str
    above: bool


def _turn(row: str) -> _Turn | None:
    row = row.strip()
    for shape in (*_ABOVE, _CHAT):
        found = shape.match(row)
        start = milliseconds(found.group("time")) if found else None
        if found is None or start is None or not _is_name(found.group("name")):
            continue
        said = (found.groupdict().get("text") or "").strip()
        return _Turn(speaker=found.group("name").strip(" \t*"), start=start, said=said, above=True)
    return _stamped(row)


def _stamped(row: str) -> _Turn | None:
    found = _BEFORE.match(row)
    start = milliseconds(found.group("time") or found.group("bare")) if found else None
    if found is None or start is None:
        return None
    speaker, said = split_speaker(found.group("rest"))
    if not speaker and found.group("time") is None:
        return None  # `10:30 lunch` in notes is no turn
    return _Turn(speaker=speaker, start=start, said=said, above=False)


def _is_name(text: str) -> bool:
    """A name is short, has a letter and no end of a sentence."""
    words = text.split()
    return (
        0 < len(words) <= 6
        and any(sign.isalpha() for sign in text)
        and not re.search(r"[。！？!?;；,，]|\.$", text)
        and not re.search(r"\d{4}\D*\d{1,2}\D", text)
    )


def vendor_of(text: str) -> str:
    head = text[:_HEAD]
    if re.search(rf"^\[[^\]\n]{{1,60}}\][ \t]*{STAMP}[ \t]*$", head, re.M):
        return "zoom"
    if any(_CHAT.match(row.strip()) for row in head.split("\n")):
        return "zoom"
    return next((name for mark, name in _MARKS if mark.search(head)), "")


def read_turns(text: str, file_format: FileFormat) -> Parsed | None:
    """The transcript of a text with line ends `\\n`, or None when it has no turns like these."""
    rows = [(number, row) for number, row in enumerate(text.split("\n"), start=1) if row.strip()]
    turns = {number: turn for number, row in rows if (turn := _turn(row)) is not None}
    vendor = vendor_of(text)
    if not _is_transcript(turns, rows, vendor):
        return None
    repairs: Counter[str] = Counter()
    lines = _lines(rows, turns, repairs)
    return spoken(file_format, lines, [], repairs, vendor=vendor or "turns")


def _is_transcript(turns: dict[int, _Turn], rows: Sequence[tuple[int, str]], vendor: str) -> bool:
    """One row that looks like a turn may be chance, and rows without a text between them are an
    agenda (`Lunch 12:30`); a file full of turns is neither."""
    if not turns:
        return False
    first = next(iter(turns.values()))
    if vendor in ("feishu", "teams", "zoom") or (first.above and _CALLED.match(first.speaker)):
        return True
    if len(turns) < 2 or len(turns) * 8 < len(rows):
        return False
    numbers = [number for number, _ in rows]
    after = dict(itertools.pairwise(numbers))
    above = [number for number, turn in turns.items() if turn.above and not turn.said]
    told = sum(after.get(number, 0) not in turns and number in after for number in above)
    return told * 2 >= len(above)


def _lines(
    rows: Sequence[tuple[int, str]], turns: dict[int, _Turn], repairs: Counter[str]
) -> list[Line]:
    """A line for each row that says something; a turn without a text stays as one without."""
    lines: list[Line] = []
    open_turn: tuple[int, _Turn] | None = None
    turn: _Turn | None = None
    newest = 0
    for number, row in rows:
        found = turns.get(number)
        if found is None:
            lines.append(_line(number, row.strip(), turn))
            open_turn = None
            continue
        if open_turn is not None:
            lines.append(_empty(open_turn, repairs))
        repairs["out_of_order"] += found.start < newest
        newest, turn, open_turn = max(newest, found.start), found, (number, found)
        if found.said:
            lines.append(_line(number, found.said, found))
            open_turn = None
    if open_turn is not None:
        lines.append(_empty(open_turn, repairs))
    return lines


def _line(number: int, text: str, turn: _Turn | None) -> Line:
    if turn is None or re.search(r"\b(?:started|stopped) transcription$", text):
        return Line(text=text, at=number)
    return Line(text=text, at=number, speaker=turn.speaker, start=turn.start)


def _empty(found: tuple[int, _Turn], repairs: Counter[str]) -> Line:
    repairs["empty_turn"] += 1
    number, turn = found
    return Line(text="", at=number, speaker=turn.speaker, start=turn.start)
