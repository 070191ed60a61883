"""Tasks with deadlines, said in a real meeting and minuted with a date that is right or wrong.

The calendar is worked out here once more, from a table of words and rules, and not by the verifier.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from tests.evaluate.corruptions import Wrong
from tests.unit.kind_material import material, meetings
from workflows.kinds.kind import Material

MEETING_DAYS = tuple(date(2026, 1, 5) + timedelta(days=23 * at) for at in range(16))
TASKS = (
    "send the supplier contract", "test the rubber buttons", "collect the survey answers",
    "book the training room", "renew the domain licence", "translate the user manual",
    "count the returned samples", "paint the display model", "invite the auditors",
    "archive the old drawings", "order the solar cells", "publish the press release",
)  # fmt: skip
TASKS_ZH = (
    "提交供应商合同", "测试橡胶按键", "整理问卷结果", "预订培训教室", "更新域名许可",
    "翻译用户手册", "清点退货样品", "喷涂展示模型", "邀请审计人员", "归档旧图纸",
    "采购太阳能电池", "发布新闻通稿",
)  # fmt: skip


def _weekday(day: date, number: int, weeks: int) -> date:
    """That weekday of the week `weeks` from the day's; Monday is 0."""
    return day - timedelta(days=day.weekday()) + timedelta(days=7 * weeks + number)


def _last(day: date) -> date:
    following = (day.replace(day=28) + timedelta(days=4)).replace(day=1)
    return following - timedelta(days=1)


def _coming(day: date, number: int) -> date:
    return day + timedelta(days=(number - day.weekday()) % 7 or 7)


Rule = Callable[[date], date]
WORDS: dict[str, Rule] = {
    "tomorrow": lambda day: day + timedelta(days=1),
    "by the end of the month": _last,
    "in two weeks": lambda day: day + timedelta(days=14),
    "on Monday next week": lambda day: _weekday(day, 0, 1),
    "in three days": lambda day: day + timedelta(days=3),
    "by next Friday": lambda day: _weekday(day, 4, 1),
    "the day after tomorrow": lambda day: day + timedelta(days=2),
    "by Thursday": lambda day: _coming(day, 3),
}
WORDS_ZH: dict[str, Rule] = {
    "明天": lambda day: day + timedelta(days=1),
    "月底之前": _last,
    "两周后": lambda day: day + timedelta(days=14),
    "下周三之前": lambda day: _weekday(day, 2, 1),
    "三天后": lambda day: day + timedelta(days=3),
    "下周五": lambda day: _weekday(day, 4, 1),
    "后天": lambda day: day + timedelta(days=2),
    "下周一": lambda day: _weekday(day, 0, 1),
}


@dataclass(frozen=True, kw_only=True)
class Deadline:
    """A meeting with its tasks: the body with every date or time right, and each wrong one."""

    material: Material
    right: str
    wrong: tuple[Wrong, ...]
    tuned: bool


def deadlines(seed: int = 1) -> Iterator[Deadline]:
    """A meeting for each day and language; the odd ones are held out."""
    english = next(one for one in meetings() if one.name == "ES2004a").material
    chinese = next(one for one in meetings() if one.name == "146").material
    for at, day in enumerate(MEETING_DAYS):
        yield _deadline(english, day, tuned=at % 2 == 0, seed=seed, language="en")
        yield _deadline(chinese, day, tuned=at % 2 == 0, seed=seed, language="zh")


def _deadline(real: Material, day: date, *, tuned: bool, seed: int, language: str) -> Deadline:
    dice = random.Random(f"{seed}{day}{language}")
    chinese = language == "zh"
    tasks = dice.sample(TASKS_ZH if chinese else TASKS, 5)
    words = dice.sample(list((WORDS_ZH if chinese else WORDS).items()), 5)
    lines = real.sources[0].text.splitlines()
    for task, (when, _) in zip(tasks, words, strict=True):
        said = f"说话人1：那我{when}{task}。" if chinese else f"Marketing: I will {task} {when} ."
        lines.insert(dice.randrange(len(lines)), said)
    source = material("\n".join(lines), language=language, meeting_date=day.isoformat())
    dates = [rule(day) for _, rule in words]
    items = [_item(task, due, language) for task, due in zip(tasks, dates, strict=True)]
    wrong = []
    for at, (task, due) in enumerate(zip(tasks, dates, strict=True)):
        off = due + timedelta(days=dice.choice((10, 11, 12, 19, 33)))
        others = [*items[:at], _item(task, off, language), *items[at + 1 :]]
        wrong.append(
            Wrong(
                fact="date",
                name=f"deadlines {language} {day}",
                material=source,
                body="\n".join(others),
                what=_written(off, language),
                right=_written(due, language),
                tuned=tuned,
            )
        )
    return Deadline(material=source, right="\n".join(items), wrong=tuple(wrong), tuned=tuned)


def _item(task: str, due: date, language: str) -> str:
    if language == "zh":
        return f"- {task}：{_written(due, language)}"
    return f"- Marketing will {task} by {_written(due, language)}."


def _written(day: date, language: str) -> str:
    return f"{day.month}月{day.day}日" if language == "zh" else f"{day.day} {day:%B}"
