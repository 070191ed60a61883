"""Amounts in Chinese text: a numeral with a measure word, grades, sums, percent."""

import re
from collections.abc import Iterable

from deploy.offline_model.dates import years
from deploy.offline_model.measures import CURRENCIES, DURATIONS, PEOPLE, Value, value_of
from deploy.offline_model.numerals import DIGITS_ZH, NUMERAL_ZH, number_zh

_MEASURES = """
    个月 小时 分钟 秒钟 秒 星期 周 天 日 号 年 月份 月 届 岁 块钱 块 元 欧元 美元
    英镑 人民币 人 位 名 本 分 次 门 科 级 倍 公里 平方米 平方 米 家 间 套 台
    件 款 条 页 章 期 轮 组 篇 所 座 瓶 杯 项 种 成 折 班 层 楼
    路 亩 吨 斤 公斤 点 % ％ 个小时 个星期 个
"""
MEASURES = frozenset(_MEASURES.split())
_DISCOURSE = frozenset(("个", "点", "次", "方面", "天", "年", "位", "名", "种", "件"))


_ZH_AMOUNT = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?|[{NUMERAL_ZH}]+)\s*(?P<big>[万亿]?)(?P<vague>[多余几来]?)\s*"
    rf"(?P<unit>{'|'.join(sorted(map(re.escape, MEASURES), key=len, reverse=True))})"
)
_ZH_SUM = re.compile(r"(?P<number>[\d一二三四五六]\s*(?:加|\+|＋)\s*[\d一二三四五六])")
_ZH_GRADE = re.compile(r"(?P<stage>[初高大])(?P<number>[一二三四])(?![个年月天次点些样起直定])")
_ZH_PERCENT = re.compile(rf"百分之(?P<number>\d+(?:\.\d+)?|[{NUMERAL_ZH}]+)")
_HALF_HOUR = re.compile(r"\bhalf an hour\b|\bhalf-hour\b|(?<!个)半个?(?:小时|钟头)", re.I)
_ZH_HALF_YEAR = re.compile(r"(?P<number>半)年")


def special_zh(text: str) -> Iterable[Value]:
    for match in _ZH_SUM.finditer(text):
        first, second = match["number"][0], match["number"][-1]
        pair = [
            float(char) if char.isdigit() else float(DIGITS_ZH[char]) for char in first + second
        ]
        yield value_of("sum", match.span("number"), pair[0] * 10 + pair[1])
    for match in _ZH_GRADE.finditer(text):
        grade = DIGITS_ZH[match["number"]]
        yield value_of("grade", match.span("number"), grade, unit=match["stage"])
    for match in _ZH_PERCENT.finditer(text):
        number = number_zh(match["number"])
        if number is not None:
            yield value_of("percent", match.span("number"), number)
    for match in _HALF_HOUR.finditer(text):
        yield value_of("minutes", match.span(), 30)
    for match in _ZH_HALF_YEAR.finditer(text):
        yield value_of("zh-year", match.span("number"), 0.5, phrase_end=match.end())


def amounts_zh(text: str) -> Iterable[Value]:
    for match in _ZH_AMOUNT.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        if before == "第" and match["unit"] in _DISCOURSE:
            continue
        if match["vague"] or before in ("几", ".", "/", "-", "~", "至", "到", "、", "每"):
            continue
        number = number_zh(match["number"])
        if number is None or not _sure(match["number"], match["unit"]):
            continue
        if match["big"]:
            number *= 10**4 if match["big"] == "万" else 10**8
        end = match.end("big") if match["big"] else match.end("number")
        yield _amount_zh(text, match, number, end)


def _sure(number: str, unit: str) -> bool:
    """一 is "a" more often than a count; 三点 and 一点 are points and bits."""
    if number[0].isdigit():
        return True
    if number == "一":
        return unit in ("年", "个月")
    return unit not in ("点", "分", "号", "成", "路", "种", "楼", "名", "层")


def _amount_zh(text: str, match: re.Match[str], number: float, end: int) -> Value:
    unit = match["unit"]
    follows = re.match(r"\s*([\u3400-\u9fff]{2})", text[match.end() :])
    kind, name, factor = "count-zh", unit, 1
    numbers: tuple[float, ...] = (number,)
    if unit in ("%", "％"):
        kind, name = "percent", ""
    elif unit in CURRENCIES:
        kind, name = "money", CURRENCIES[unit]
    elif unit in PEOPLE:
        kind, name = "people", ""
    elif unit == "年":
        kind, name = "zh-year", ""
        numbers = years(number) if len(match["number"]) > 1 else numbers
    elif unit in DURATIONS:
        kind, name, factor = DURATIONS[unit][0], "", DURATIONS[unit][1]
    elif unit == "个" and follows:
        name = follows.group(1)
    return Value(
        kind=kind,
        units=frozenset({name} if name else ()),
        numbers=frozenset(numbers),
        start=match.start("number"),
        end=end,
        phrase_end=match.end(),
        factor=factor,
    )
