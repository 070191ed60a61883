"""Appointments with a time of day, said in a real meeting and minuted with it or with another.

How times are said and how they are written differ, and differ between the halves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from tests.evaluate.corruptions import Wrong
from tests.evaluate.deadlines import Deadline
from tests.unit.kind_material import material, meetings
from workflows.kinds.kind import Material

_ENGLISH = "twelve one two three four five six seven eight nine ten eleven"
WORDS = _ENGLISH.split()
_CHINESE = "十二 一 两 三 四 五 六 七 八 九 十 十一"
WORDS_ZH = _CHINESE.split()
Way = Callable[[int, int], str]
"""Hour 0..23 and minute (0 or 30) to words."""


def _half(hour: int) -> str:
    return "am" if hour < 12 else "pm"


def _part(hour: int) -> str:
    return "上午" if hour < 12 else "下午"


SAID: dict[bool, tuple[Way, ...]] = {
    True: (
        lambda h, m: f"at half past {WORDS[h % 12]}" if m else f"at {WORDS[h % 12]} o'clock",
        lambda h, m: f"at {WORDS[h % 12]} {'thirty ' if m else ''}{_half(h)[0]} m",
        lambda h, m: f"around {h % 12 or 12}:{m:02d} {_half(h)}",
    ),
    False: (
        lambda h, m: f"by {h}:{m:02d}",
        lambda h, m: f"at half past {WORDS[h % 12]}" if m else f"at {h % 12 or 12} {_half(h)}",
        lambda h, m: f"at {h % 12 or 12}.{m:02d} {_half(h)[0]}.m.",
    ),
}
WRITTEN: dict[bool, tuple[Way, ...]] = {
    True: (lambda h, m: f"{h:02d}:{m:02d}", lambda h, m: _digital(h, m, " pm", " am")),
    False: (lambda h, m: _digital(h, m, " p.m.", " a.m."), lambda h, m: f"{h}:{m:02d}"),
}
SAID_ZH: dict[bool, tuple[Way, ...]] = {
    True: (lambda h, m: f"{_part(h)}{WORDS_ZH[h % 12]}点{'半' if m else ''}",),
    False: (
        lambda h, m: f"{_part(h)}{WORDS_ZH[h % 12]}点{'三十分' if m else '钟'}",
        lambda h, m: f"{h}点{m or '整'}",
    ),
}
WRITTEN_ZH: dict[bool, tuple[Way, ...]] = {
    True: (lambda h, m: f"{h}:{m:02d}", lambda h, m: f"{_part(h)}{h % 12 or 12}点{m or ''}"),
    False: (
        lambda h, m: f"{_part(h)}{WORDS_ZH[h % 12]}点{'半' if m else ''}",
        lambda h, m: f"{_part(h)}{h % 12 or 12}:{m:02d}",
    ),
}
THINGS = (
    "courier", "electrician", "photographer", "fire drill", "budget review", "plant tour",
    "supplier demo", "press briefing", "training course", "server restart",
)  # fmt: skip
THINGS_ZH = (
    "快递员", "电工", "摄影师", "消防演练", "预算评审", "工厂参观", "供应商演示", "新闻发布",
    "培训课程", "服务器重启",
)  # fmt: skip


def _digital(hour: int, minute: int, after: str, before: str) -> str:
    tail = f":{minute:02d}" if minute else ""
    return f"{hour % 12 or 12}{tail}{before if hour < 12 else after}"


def days(seed: int = 1) -> Iterator[Deadline]:
    """The meetings of the two halves are different ones too."""
    real = {one.name: one.material for one in meetings()}
    halves = {"en": ("TS3004d", "IS1003d"), "zh": ("146", "208")}
    for at in range(16):
        for language, names in halves.items():
            yield _day(real[names[at % 2]], at, seed=seed, language=language)


def _day(real: Material, at: int, *, seed: int, language: str) -> Deadline:
    dice, tuned, chinese = random.Random(f"{seed}{at}{language}"), at % 2 == 0, language == "zh"
    things = dice.sample(THINGS_ZH if chinese else THINGS, 4)
    times = [(hour, dice.choice((0, 30))) for hour in dice.sample(range(8, 19), 6)]
    lines = real.sources[0].text.splitlines()
    said, written = (SAID_ZH, WRITTEN_ZH) if chinese else (SAID, WRITTEN)
    for thing, time in zip(things, times, strict=False):
        words = dice.choice(said[tuned])(*time)
        spoken = f"说话人1：{thing}{words}到。" if chinese else f"Chair: The {thing} is {words} ."
        lines.insert(dice.randrange(len(lines)), spoken)
    source = material("\n".join(lines), language=language)
    way = dice.choice(written[tuned])
    items = [_item(thing, way(*time), language) for thing, time in zip(things, times, strict=False)]
    wrong = []
    for place, thing in enumerate(things):
        # One that is said of something else, or of nothing.
        for fact, other in (
            ("time said elsewhere", times[(place + 1) % 4]),
            ("time", times[4 + place % 2]),
        ):
            others = [*items[:place], _item(thing, way(*other), language), *items[place + 1 :]]
            wrong.append(
                Wrong(
                    fact=fact,
                    name=f"clocks {language} {at}",
                    material=source,
                    body="\n".join(others),
                    what=way(*other),
                    right=way(*times[place]),
                    tuned=tuned,
                )
            )
    return Deadline(material=source, right="\n".join(items), wrong=tuple(wrong), tuned=tuned)


def _item(thing: str, time: str, language: str) -> str:
    return f"- {thing}：{time}到。" if language == "zh" else f"- The {thing} is at {time}."
