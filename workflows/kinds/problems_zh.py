"""What verifiers say, in Chinese: their sentences by pattern, for documents in Chinese.

Verifiers word a problem once, in English; a sentence that is not listed here stays as it is.
"""

from __future__ import annotations

import re

from workflows.kinds.kind import Material

SENTENCES: tuple[tuple[str, str], ...] = (
    ("“{0}” is neither in the meeting nor mentioned in it.", "“{0}”既不在会议中，也未被提到。"),
    ("“{0}” stands nowhere in the sources.", "来源中没有“{0}”。"),
    ("“{0}” is said nowhere in the sources.", "来源中没有说过“{0}”。"),
    ("{0} has another value than “{1}”.", "{0} 中的数值与“{1}”不同。"),
    ("Nobody says the time “{0}”.", "没有人说过时间“{0}”。"),
    ("{0} has another time than “{1}”.", "{0} 中的时间与“{1}”不同。"),
    ("The meeting was on {0}, not on {1}.", "会议日期为 {0}，而不是 {1}。"),
    ("{0} says “{1}” on {2}, which is not “{3}”.", "{0} 于 {2} 说的是“{1}”，与“{3}”不符。"),
    ("{0} says “{1}”, which is not “{2}”.", "{0} 说的是“{1}”，与“{2}”不符。"),
    ("{0} says “{1}”, not “{2}”.", "{0} 说的是“{1}”，而不是“{2}”。"),
    ("{0} is not a “{1}”.", "{0} 不是“{1}”。"),
    ("Sections of the template that are missing: {0}.", "缺少模板中的章节：{0}。"),
    ("This section is empty.", "此章节为空。"),
    ("There are two sections “{0}”.", "有两个“{0}”章节。"),
    ("This block of code is not closed.", "此代码块没有结束。"),
    ("This stands in the section already.", "此内容在本章节中已经出现过。"),
    ("“{0}” stands twice.", "“{0}”重复出现。"),
    ("“{0}” is a placeholder.", "“{0}”是占位符。"),
    ("Entries of the agenda that are missing: {0}.", "缺少议程条目：{0}。"),
    ("Nobody is named who does this (one of {0} actions).", "没有写明由谁负责（共 {0} 项待办）。"),
    ("{0} says when: “{1}”. The action names no day.", "{0} 说明了时间：“{1}”。此待办没有写日期。"),
    ("The source never speaks of this decision.", "来源中从未提到这项决定。"),
    ("The source hardly speaks of this decision.", "来源中几乎没有提到这项决定。"),
    (
        "Text and source are in different languages: names and terms were not checked.",
        "正文与来源的语言不同：未核对名称和术语。",
    ),
    (
        "The source is in a language that is not read here ({0}): "
        "numbers, dates and names were not checked by rule.",
        "来源的语言（{0}）无法读取：未按规则核对数字、日期和名称。",
    ),
    ("Days missing from the plan: {0}.", "行程缺少这些天：{0}。"),
    ("Day {0} stands in the plan twice.", "第 {0} 天在行程中出现了两次。"),
    ("The trip has {0} days; this is none.", "行程共 {0} 天，此天不在其中。"),
    ("Day {0} stands behind a later day of the trip.", "第 {0} 天排在了更晚的一天之后。"),
    ("Day {0} is {1}, not {2}.", "第 {0} 天是 {1}，而不是 {2}。"),
    ("Day {0} ends without a stay for the night.", "第 {0} 天没有安排住宿。"),
    (
        "The trip ends on this day; no night follows that needs a stay.",
        "行程于当天结束，无需再住宿。",
    ),
    ("This entry ends before it begins.", "此条目的结束时间早于开始时间。"),
    ("This entry begins before the one above it.", "此条目的开始时间早于上一条。"),
    ("This entry begins while the one above it lasts.", "此条目开始时上一条尚未结束。"),
    ("On that day {0} is open: closed.", "{0}当天不营业。"),
    ("On that day {0} is open: {1}.", "{0}当天的营业时间：{1}。"),
    ("The reference data has no such {0}.", "参考数据中没有这一交通安排（{0}）。"),
    ("The reference data has no {0}.", "参考数据中没有{0}。"),
    ("{0} is in {1}; nobody is there on this day.", "{0}位于{1}，当天行程不在那里。"),
    ("The reference data has a price for this: {0}.", "参考数据中有此项价格：{0}。"),
    ("By the reference data this costs {0} for the whole party.", "按参考数据，全体费用为 {0}。"),
    ("The entries add up to {0}.", "各项合计为 {0}。"),
    ("{0} was on day {1} already.", "{0}在第 {1} 天已经去过。"),
    ("This leg does not begin where the one before it ended.", "此段行程的起点不是上一段的终点。"),
    ("Nothing in the plan leads to {0}.", "行程中没有前往{0}的安排。"),
    ("The trip does not lead back to {0}.", "行程没有返回{0}。"),
    ("This cannot be reached in time from the one above it.", "从上一处无法按时到达。"),
    ("By the reference data it goes {0}.", "按参考数据，时间为 {0}。"),
    ("This takes about {0} minutes.", "此段大约需要 {0} 分钟。"),
    ("The plan costs {0}, the budget is {1}.", "行程费用为 {0}，预算为 {1}。"),
    ("At least {0} nights, the plan has {1}.", "至少需住 {0} 晚，行程只有 {1} 晚。"),
    ("No meal of the plan is {0}.", "行程中没有{0}菜。"),
    ("{0} cities were asked for, the plan stays in {1}.", "要求 {0} 个城市，行程住在 {1} 个。"),
    ("The plan does not go to {0}.", "行程没有去{0}。"),
    ("Asked for: {0}. The house says: {1}.", "要求：{0}。房屋规定：{1}。"),
    ("Asked for: {0}. This is: {1}.", "要求：{0}。此处为：{1}。"),
    ("Asked for, and not to be seen in the plan: {0}.", "要求中有、行程中看不到：{0}。"),
    ("Asked for: {0}. This is not.", "要求：{0}。此处不符。"),
)


def _pattern(sentence: str) -> re.Pattern[str]:
    """Of a sentence whose places are filled, the longest fillings last."""
    parts = re.split(r"\{\d\}", sentence)
    return re.compile("(.+?)".join(re.escape(part) for part in parts), re.DOTALL)


_PATTERNS = tuple((_pattern(english), chinese) for english, chinese in SENTENCES)


def is_chinese(material: Material, body: str) -> bool:
    """By the language that was given, else by the letters of the text."""
    if material.language:
        return material.language.lower().startswith("zh")
    letters = [mark for mark in body if mark.isalpha()]
    return 2 * sum("\u3400" <= mark <= "\u9fff" for mark in letters) > len(letters)


def in_chinese(problem: str) -> str:
    """The sentence of a verifier in Chinese."""
    for pattern, chinese in _PATTERNS:
        found = pattern.fullmatch(problem)
        if found is not None:
            return chinese.format(*found.groups())
    return problem
