"""Lines of a transcript out of what a recogniser returned for one part of a recording.

Recognisers invent stock phrases where nobody speaks and repeat themselves in loops. Such lines are
marked, never deleted: they stay in the transcript and are no evidence. Times are seconds from the
start of the recording.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Any

from workflows.cutting import Span, silent

LOOP_LINES = 4
"""So many equal lines in a row are a loop; the first of them stays unmarked."""
LOOP_SHARE, LOOP_TIMES = 0.6, 5
"""Or one phrase so often within a line, covering this share of it."""
NO_SPEECH = 0.6
"""Above this the recogniser itself says that nobody speaks."""

STOCK = frozenset(
    {
        "thankyou",
        "thankyouforwatching",
        "thanksforwatching",
        "thankyouverymuch",
        "pleasesubscribe",
        "likeandsubscribe",
        "seeyounexttime",
        "bye",
        "you",
        "谢谢",
        "谢谢大家",
        "谢谢观看",
        "感谢观看",
        "请订阅",
        "下期再见",
    }
)
"""What people do say, so it counts as invented only where nothing is heard."""
CREDITS = re.compile(
    r"amara\.?org|subtitles? by|subtitled by|transcribed by|字幕由|字幕志愿者|点赞.{0,4}订阅"
)
"""What nobody says in a meeting."""
_NOT_LETTER = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"(?<![.!?。！？])[.!?。！？]++(?:(?=\s|$)|(?<=[。！？]))")
"""A run of marks is looked at once, or a reply of many would keep the process for minutes."""


class Mark(StrEnum):
    """Why a line is no evidence."""

    INVENTED = "invented"
    LOOP = "loop"


@dataclass(frozen=True, kw_only=True)
class Line:
    """`estimated`: the server gave no times, so they are spread over the part by length."""

    start: float
    end: float
    text: str
    speaker: str | None = None
    mark: Mark | None = None
    estimated: bool = False

    def payload(self) -> dict[str, object]:
        """As an item is stored; what says nothing is left out."""
        found: dict[str, object] = {"start": self.start, "end": self.end, "text": self.text}
        if self.speaker is not None:
            found["speaker"] = self.speaker
        if self.mark is not None:
            found["mark"] = str(self.mark)
        if self.estimated:
            found["estimated"] = True
        return found


def lines_of(reply: Mapping[str, Any], span: Span, levels: Sequence[int]) -> list[Line]:
    """What was heard in `span`, whose own levels are given. No time lies outside of it, so times
    never go back from part to part."""
    given = reply.get("segments")
    if isinstance(given, list) and given:
        lines = [line for entry in given if (line := _line(entry, span)) is not None]
    else:
        lines = _spread(str(reply.get("text") or ""), span)
    ordered, earliest = [], span.start
    for line in lines:
        start = min(max(line.start, earliest), span.end)
        end = min(max(line.end, start), span.end)
        earliest = start
        ordered.append(replace(line, start=round(start, 3), end=round(end, 3)))
    return _without_loops([_heard(line, span, levels) for line in ordered])


def evidence(lines: Sequence[Line]) -> list[Line]:
    """What a draft may rest on."""
    return [line for line in lines if line.mark is None]


def line_of(payload: Mapping[str, Any]) -> Line:
    """The line as it was stored."""
    mark = payload.get("mark")
    return Line(
        start=payload["start"],
        end=payload["end"],
        text=payload["text"],
        speaker=payload.get("speaker"),
        mark=None if mark is None else Mark(mark),
        estimated=bool(payload.get("estimated")),
    )


def transcript(lines: Sequence[Line]) -> str:
    """One line for each thing said: `[00:00:05] Ana Ruiz: We ship.` What is no evidence says why
    behind the time; `workflows.kinds.lines` knows it by that."""
    return "\n".join(_written(line) for line in lines)


def _written(line: Line) -> str:
    mark = f"[{line.mark}] " if line.mark is not None else ""
    who = f"{' '.join(line.speaker.split())}: " if line.speaker else ""
    return f"[{clock(line.start)}] {mark}{who}{' '.join(line.text.split())}"


def clock(seconds: float) -> str:
    """Whole seconds as `hh:mm:ss`."""
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _line(entry: object, span: Span) -> Line | None:
    if not isinstance(entry, Mapping):
        return None
    text = str(entry.get("text") or "").strip()
    if not text:
        return None
    start, end = _seconds(entry.get("start")), _seconds(entry.get("end"))
    speaker = entry.get("speaker")
    doubtful = (_seconds(entry.get("no_speech_prob")) or 0.0) > NO_SPEECH
    return Line(
        start=span.start + (start or 0.0),
        end=span.start + (end if end is not None else start or 0.0),
        text=text,
        speaker=str(speaker)[:100] if isinstance(speaker, str | int) else None,
        mark=Mark.INVENTED if doubtful and _bare(text) in STOCK else None,
        estimated=start is None,
    )


def _seconds(value: object) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e9 else None


def _spread(text: str, span: Span) -> list[Line]:
    """Sentences of a reply without times, each as long as its share of the letters."""
    ends = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    sentences = [said for at, end in pairwise(ends) if (said := text[at:end].strip())]
    letters, at, lines = sum(map(len, sentences)), span.start, []
    for sentence in sentences:
        end = at + span.seconds * len(sentence) / letters
        lines.append(Line(start=at, end=end, text=sentence, estimated=True))
        at = end
    return lines


def _bare(text: str) -> str:
    return _NOT_LETTER.sub("", text).lower()


def _heard(line: Line, span: Span, levels: Sequence[int]) -> Line:
    if line.mark is not None:
        return line
    if CREDITS.search(line.text.lower()):
        return replace(line, mark=Mark.INVENTED)
    if not line.estimated and silent(levels, line.start - span.start, line.end - span.start):
        return replace(line, mark=Mark.INVENTED)
    return replace(line, mark=Mark.LOOP) if _repeats(line.text) else line


def _repeats(text: str) -> bool:
    """One phrase over and over within the line. An honest "no, no, no" is shorter."""
    words = text.split() if " " in text.strip() else list(text)
    for size in range(1, 9):
        for start in range(size):
            row = 1
            for at in range(start, len(words) - 2 * size + 1, size):
                same = words[at : at + size] == words[at + size : at + 2 * size]
                row = row + 1 if same else 1
                if row >= LOOP_TIMES and row * size >= LOOP_SHARE * len(words):
                    return True
    return False


def _without_loops(lines: Sequence[Line]) -> list[Line]:
    """Marks all but the first of equal lines in a row."""
    found: list[Line] = []
    for _, same in groupby(lines, key=lambda line: _bare(line.text)):
        first, *others = same
        loops = len(others) >= LOOP_LINES - 1
        found.append(first)
        found += (replace(one, mark=one.mark or Mark.LOOP) if loops else one for one in others)
    return found
