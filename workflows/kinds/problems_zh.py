"""What verifiers and doors say, in Chinese: their sentences by pattern, both ways.

They word a problem once, in English. A finding in a Chinese document is stored in Chinese, as the
model that puts it right reads it; every reader gets it in the own language. A test holds that every
sentence of theirs stands here and finds its way back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
    (
        "This text has hardly a word: there is nothing in it to check.",
        "这份文本几乎没有文字：其中没有可核对的内容。",
    ),
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
    (
        "The text is in a language that is not read here ({0}): "
        "numbers, dates and names were not checked by rule.",
        "正文的语言（{0}）无法读取：未按规则核对数字、日期和名称。",
    ),
    (
        "The text is program code: numbers, dates and names were not checked by rule.",
        "正文是程序代码：未按规则核对数字、日期和名称。",
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
    # Wishes that no plan can meet, or that contradict each other.
    (
        "The request contradicts itself: days is {0} in one place and {1} in another.",
        "需求自相矛盾：天数一处为 {0}，另一处为 {1}。",
    ),
    (
        "The request contradicts itself: people is {0} in one place and {1} in another.",
        "需求自相矛盾：人数一处为 {0}，另一处为 {1}。",
    ),
    (
        "The request contradicts itself: budget is {0} in one place and {1} in another.",
        "需求自相矛盾：预算一处为 {0}，另一处为 {1}。",
    ),
    (
        "The request contradicts itself: start_date is {0} in one place and {1} in another.",
        "需求自相矛盾：出发日期一处为 {0}，另一处为 {1}。",
    ),
    (
        "The request contradicts itself: {0} is {1} in one place and {2} in another.",
        "需求自相矛盾：{0} 一处为 {1}，另一处为 {2}。",
    ),
    ("The reference data knows no {0}; it has {1}.", "参考数据中没有{0}；其中有：{1}。"),
    ("No restaurant of the reference data serves {0}.", "参考数据中没有提供{0}的餐馆。"),
    (
        "No plan fits the budget of {0}: ways and nights alone cost {1}.",
        "任何行程都无法满足 {0} 的预算：仅交通和住宿就要 {1}。",
    ),
    ("No stay of the reference data fits the wish {0}.", "参考数据中没有符合“{0}”这一要求的住宿。"),
    ("No stay of the reference data is of the type {0}.", "参考数据中没有类型为“{0}”的住宿。"),
    (
        "Every stay of the reference data asks for more than {0} nights.",
        "参考数据中的每处住宿都要求住 {0} 晚以上。",
    ),
    (
        "No stay of the reference data fits all wishes for rooms and nights together.",
        "参考数据中没有同时满足房间和晚数全部要求的住宿。",
    ),
    (
        "Nothing in the reference data leaves {0} with {1}.",
        "参考数据中没有从{0}出发且符合“{1}”的交通。",
    ),
    (
        "The trip begins on {0}; the reference data has flights and trains from {1} on {2} only.",
        "行程于 {0} 开始；参考数据中从{1}出发的航班和火车只有 {2} 的。",
    ),
    (
        "The trip ends on {0}; the reference data has flights and trains to {1} on {2} only.",
        "行程于 {0} 结束；参考数据中返回{1}的航班和火车只有 {2} 的。",
    ),
    (
        "The trip is from {0} to {1}; the flights and trains of the reference data are on {2} "
        "only.",
        "行程为 {0} 至 {1}；参考数据中的航班和火车只有 {2} 的。",
    ),
    (
        "The trip is asked for in month {0}; the flights and trains of the reference data are on "
        "{1} only.",
        "要求在 {0} 月出行；参考数据中的航班和火车只有 {1} 的。",
    ),
    # Beside the fields of a form.
    (
        "A calendar needs dates: give the document a start_date, or write the date of each day in "
        "its heading, as in {0}.",
        "日历需要日期：请给文档填写 start_date，或在每天的标题中写明日期，例如 {0}。",
    ),
    ("There is no reviewer {0}; there are {1}.", "没有审阅者 {0}；可用的有 {1}。"),
    ("This must be a list of at least one reviewer.", "此项须为至少含一名审阅者的列表。"),
    ("This must be a number of at least {0} tokens.", "此项须为不少于 {0} 的 token 数。"),
    ("This must be a text.", "此项须为文字。"),
    ("At most {0} characters.", "最多 {0} 个字符。"),
    ("This must be a date like 2026-11-29.", "此项须为日期，例如 2026-11-29。"),
    ("This must be a time zone like Europe/Berlin.", "此项须为时区，例如 Europe/Berlin。"),
    ("There is no such time zone; one is Europe/Berlin.", "没有这个时区；例如 Europe/Berlin。"),
    ("This must be a whole number from 1 to {0}.", "此项须为 1 至 {0} 的整数。"),
    ("This must be a whole number of days from 1 to {0}.", "天数须为 1 至 {0} 的整数。"),
    ("This must be an amount that is not negative.", "此项须为不小于零的金额。"),
    ("This must be a currency like EUR.", "此项须为货币代码，例如 EUR。"),
    ("This must be a list of texts.", "此项须为文字列表。"),
    ("At most {0} entries.", "最多 {0} 项。"),
    ("This kind has no such attribute.", "此类型没有这个字段。"),
    ("There is no word in this source.", "此来源中没有任何文字。"),
    (
        "There is nothing to draft from: send a transcript or notes.",
        "没有可据以起草的内容：请提供会议转写稿或记录。",
    ),
    (
        "The budget must be more than 0; leave it out when there is none.",
        "预算须大于 0；没有预算请留空。",
    ),
    ("This day is too far away; give one up to {0}.", "日期太远；请给出不晚于 {0} 的日期。"),
    ("From {0} to {1} are {2} days, not {3}.", "{0} 至 {1} 共 {2} 天，而不是 {3} 天。"),
    (
        "The trip would end on {0}, before it begins on {1}; say later.",
        "行程于 {0} 结束，早于开始的 {1}；请给出更晚的日期。",
    ),
    (
        "The trip would end before it begins; give a later day.",
        "行程结束早于开始；请给出更晚的日期。",
    ),
    ("These are {0} days; a trip has at most {1}.", "共 {0} 天；行程最多 {1} 天。"),
    ("A trip has 1 to {0} days; this asks for {1}.", "行程为 1 至 {0} 天；此处要求 {1} 天。"),
    (
        "This reference data is empty: it names no place, no flight and no road. Leave it out, or "
        "give data as in the sample of this kind.",
        "此参考数据为空：其中没有地点、航班或道路。请去掉它，或按此类型的示例提供数据。",
    ),
    (
        "The trip would begin on {0}, which is past; give one from today on.",
        "行程于 {0} 开始，该日期已过；请给出今天或之后的日期。",
    ),
    ("A template has at most {0} characters.", "模板最多 {0} 个字符。"),
    ("This is no text.", "此项不是文字。"),
    (
        "A template needs sections: lines like `## Decisions`.",
        "模板须有章节：形如“## Decisions”的行。",
    ),
    ("A template has at most {0} sections.", "模板最多 {0} 个章节。"),
    (
        "Two sections have the key {0}; give one `{1}`.",
        "有两个章节的键为 {0}；请给其中一个写上“{1}”。",
    ),
    ("Section {0} has no heading.", "第 {0} 个章节没有标题。"),
    (
        "Section {0}: a heading has at most {1} characters.",
        "第 {0} 个章节：标题最多 {1} 个字符。",
    ),
    (
        "Section {0}: what belongs there is said in at most {1} characters.",
        "第 {0} 个章节：内容说明最多 {1} 个字符。",
    ),
    (
        "Section {0}: a key has small letters, digits and - only.",
        "第 {0} 个章节：键只能有小写字母、数字和 -。",
    ),
    ("There is no template {0}; there are {1}.", "没有模板 {0}；可用的有 {1}。"),
)


LANGUAGES = {
    "Arabic": "阿拉伯语",
    "Cyrillic": "使用西里尔字母的语言",
    "Dutch": "荷兰语",
    "French": "法语",
    "German": "德语",
    "Greek": "希腊语",
    "Hebrew": "希伯来语",
    "Indic": "印度诸语言",
    "Indonesian": "印度尼西亚语",
    "Italian": "意大利语",
    "Japanese": "日语",
    "Korean": "韩语",
    "Polish": "波兰语",
    "Portuguese": "葡萄牙语",
    "Spanish": "西班牙语",
    "Swedish": "瑞典语",
    "Thai": "泰语",
    "Turkish": "土耳其语",
    "Vietnamese": "越南语",
}
"""Those that the rules can tell and do not read; filled into the sentences that say so."""
_IN_ENGLISH = {chinese: english for english, chinese in LANGUAGES.items()}


def _fill(sentence: str, places: Sequence[str], names: Mapping[str, str]) -> str:
    """A quotation may be the name of a language; it stays as it is."""
    names_one = "language that is not read" in sentence or "的语言（" in sentence
    return sentence.format(*(names.get(one, one) if names_one else one for one in places))


def _pattern(sentence: str) -> re.Pattern[str]:
    """Of a sentence whose places are filled, the longest fillings last."""
    parts = re.split(r"\{\d\}", sentence)
    return re.compile("(.+?)".join(re.escape(part) for part in parts), re.DOTALL)


def _back(chinese: str) -> re.Pattern[str]:
    """Of a Chinese sentence whose places are filled, each named by its number."""
    parts = re.split(r"\{(\d)\}", chinese)
    known = [f"(?P<p{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)]
    return re.compile("".join(known), re.DOTALL)


_PATTERNS = tuple((_pattern(english), chinese) for english, chinese in SENTENCES)
_BACK = tuple(
    (_back(chinese), english)
    for english, chinese in sorted(SENTENCES, key=lambda pair: -len(re.sub(r"\{\d\}", "", pair[1])))
)
"""Sentences with the most words of their own first: another's place could hold the rest of them."""


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
            return _fill(chinese, found.groups(), LANGUAGES)
    return problem


def in_english(problem: str) -> str:
    """What `in_chinese` made, in English again; anything else as it is."""
    for pattern, english in _BACK:
        found = pattern.fullmatch(problem)
        if found is not None:
            places = found.groupdict()
            named = [places[f"p{at}"] for at in range(len(places))]
            return _fill(english, named, _IN_ENGLISH)
    return problem
