"""Times of day in a text: `3 pm`, `15:30`, `half past four`, 下午三点, 两点半.

A time is given as all minutes of the day that it may mean: `3:30` is 3:30 or 15:30.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from workflows.kinds.facts.blocks import KEPT
from workflows.kinds.facts.chinese import numeral_values

HALF_DAY, DAY = 720, 1440
_HOUR_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_HOURS = _HOUR_WORDS.split()
_HOUR = rf"\d{{1,2}}|{'|'.join(_HOURS)}"
_MINUTES = {
    "five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "twenty five": 25,
    "thirty": 30, "forty": 40, "forty-five": 45, "forty five": 45, "fifty": 50,
    "fifty-five": 55, "fifty five": 55, "a quarter": 15, "quarter": 15, "half": 30,
}  # fmt: skip
_SPOKEN = "|".join(sorted(_MINUTES, key=len, reverse=True))
_HALF = r"(?P<half{0}>[ap])(?:\.\s?m\b\.?|[\s_]?m(?![a-z]))"
_ENGLISH = re.compile(
    r"(?<![A-Za-z0-9_:.,/#$€£-])(?:"
    rf"(?P<h1>\d{{1,2}}):(?P<m1>[0-5]\d)(?![\d%]|[:.,/]\d)(?:\s?{_HALF.format(1)})?"
    rf"|(?P<h2>\d{{1,2}})\.(?P<m2>[0-5]\d)\s?{_HALF.format(2)}"
    rf"|(?P<h3>{_HOUR})(?:\s(?P<m3>{_SPOKEN}))?\s?{_HALF.format(3)}"
    rf"|(?P<h4>{_HOUR})\s?o(?:['’_ ]\s?|\sof\sthe\s)?clock\b"
    rf"|(?P<m5>{_SPOKEN}|\d{{1,2}})(?:\sminutes)?\s(?P<way>past|to)\s(?P<h5>{_HOUR})\b(?!\s?[%\d])"
    r"|(?P<word>noon|midday|midnight)\b"
    r")",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<part>凌晨|清晨|早晨|早上|明早|上午|中午|午后|下午|傍晚|今晚|晚上|夜里)?\s?"
    r"(?<![\d.:第])(?P<hour>\d{1,2}|(?<![零一二两三四五六七八九十百千万几])"
    r"(?:二?十[一二三四]?|[零一二两三四五六七八九]))\s?"
    r"(?:点钟?|[:：](?=[0-5]\d(?![:\d]))|时(?![间候期代刻常机而有会装效段差限速]))"
    r"(?P<tail>整|半|一刻|三刻|过?(?:[0-5]\d|[二三四五]?十[一二三四五六七八九]?)分?|"
    r"[零〇][一二三四五六七八九]分?|五分)?"
)
_AFTERNOON = frozenset({"下午", "午后", "傍晚"})
_NIGHT = frozenset({"今晚", "晚上", "夜里"})
_MAY_HAVE = re.compile(
    r"\d\s?[:.]\s?\d\d|\b[ap][.\s_]{0,2}m\b|clock|\bpast\b|\bto\b|noon|midday|midnight|点|时", re.I
)


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A time at [start, end). `minutes`: all it may mean, from midnight. `strong`: surely a time
    of day, where 三点 alone may be three points."""

    start: int
    end: int
    minutes: frozenset[int]
    strong: bool = True

    @property
    def hours(self) -> frozenset[int]:
        return frozenset(minute // 60 for minute in self.minutes)


@lru_cache(maxsize=KEPT)
def clocks_of(text: str) -> tuple[Clock, ...]:
    """In order of their places."""
    if not _MAY_HAVE.search(text):
        return ()
    found = [_english(one) for one in _ENGLISH.finditer(text)]
    if not text.isascii():
        own = [_chinese(one) for one in _CHINESE.finditer(text) if _is_clock(one)]
        taken = [(one.start, one.end) for one in own if one is not None]
        rest = [
            one
            for one in found
            if one is not None and not any(a < one.end and one.start < b for a, b in taken)
        ]
        found = [*rest, *own]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.start))


def _is_clock(found: re.Match[str]) -> bool:
    """With a colon only behind a part of the day; else it is read as in English."""
    return bool(found["part"]) or not re.search("[:：]", found.group())


def _english(found: re.Match[str]) -> Clock | None:
    if found["word"]:
        minutes = {0} if found["word"].lower() == "midnight" else {HALF_DAY}
        return Clock(start=found.start(), end=found.end(), minutes=frozenset(minutes))
    hour = _number(found["h1"] or found["h2"] or found["h3"] or found["h4"] or found["h5"])
    minute = _number(found["m1"] or found["m2"] or found["m3"] or found["m5"] or "0")
    half = (found["half1"] or found["half2"] or found["half3"] or "").lower()
    written = found["h1"] or ""
    exact = hour > 12 or written.startswith("0")
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12) or (found["h4"] and hour > 12):
        return None
    if found["way"]:
        if not 1 <= hour <= 12 or (found["m5"].isdigit() and "minutes" not in found.group()):
            return None
        minute = minute if found["way"].lower() == "past" else -minute
    at = hour % 12 * 60 + minute
    if half:
        at += HALF_DAY if half == "p" else 0
        minutes = {at}
    else:
        minutes = {hour * 60 + minute} if exact else {at % DAY, (at + HALF_DAY) % DAY}
    return Clock(start=found.start(), end=found.end(), minutes=frozenset(minutes))


def _chinese(found: re.Match[str]) -> Clock | None:
    part, tail = found["part"] or "", found["tail"] or ""
    hour = int(found["hour"]) if found["hour"].isdigit() else _numeral(found["hour"])
    minute = _tail(tail)
    if hour > 24 or minute > 59:
        return None
    surely = bool(part) or "点钟" in found.group() or tail in ("整", "半", "一刻", "三刻")
    exact = hour > 12 or bool(part)
    if hour <= 12:
        if part in _AFTERNOON or (part in _NIGHT and hour >= 5) or (part == "中午" and hour < 11):
            hour = hour % 12 + 12
        elif part and part != "中午":
            hour %= 12
        hour = 24 if part in _NIGHT and hour in (0, 24) else hour
    at = (hour * 60 + minute) % DAY
    minutes = {at} if exact else {at % HALF_DAY, at % HALF_DAY + HALF_DAY}
    start = found.start() + (len(found.group()) - len(found.group().lstrip()))
    surely = surely or tail.endswith("分") or (bool(tail) and tail[0].isdigit())
    return Clock(start=start, end=found.end(), minutes=frozenset(minutes), strong=surely)


def _tail(tail: str) -> int:
    plain = tail.strip("过分整零〇")
    if plain in ("半", "一刻", "三刻"):
        return {"半": 30, "一刻": 15, "三刻": 45}[plain]
    if not plain:
        return 0
    return int(plain) if plain.isdigit() else _numeral(plain)


def _numeral(text: str) -> int:
    return int(max(numeral_values(text.replace("两", "二")), default=0))


def _number(text: str) -> int:
    low = text.lower()
    if low.isdigit():
        return int(low)
    return _MINUTES[low] if low in _MINUTES and low not in _HOURS else _HOURS.index(low) + 1


_WITH_HALF = re.compile(
    r"\d{1,2}(?P<minute>[:.]\d\d)?(?P<space>\s?)(?P<half>[AaPp])(?P<m>\.?\s?[Mm]\.?)"
)


def written_like(written: str, minutes: frozenset[int], *, exact: bool) -> str | None:
    """A time of these minutes as another one is written; None where its style is another, or
    where it is `exact` and these are not."""
    if len(minutes) > 1 and exact:
        return None
    at = min(minutes, key=lambda one: abs(one - 13 * 60))
    hour, minute = divmod(at, 60)
    if re.fullmatch(r"\d{1,2}:\d\d", written):
        hour = hour if exact or len(minutes) == 1 else hour % 12 or 12
        return f"{hour:02d}:{minute:02d}" if written[0] == "0" else f"{hour}:{minute:02d}"
    half = _WITH_HALF.fullmatch(written)
    if half is None:
        return None
    letter = "a" if hour < 12 else "p"
    letter = letter.upper() if half["half"].isupper() else letter
    tail = f"{(half['minute'] or ':')[0]}{minute:02d}" if minute else ""
    return f"{hour % 12 or 12}{tail}{half['space']}{letter}{half['m']}"
