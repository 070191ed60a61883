"""Chinese days named from where the speaker stands: 下周三之前, 月底, 两周后."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from workflows.kinds.facts.chinese import numeral_values
from workflows.kinds.facts.day_spans import (
    Expression,
    about,
    between,
    later,
    monday,
    month,
    month_end,
    one_of,
    week,
)

_N = r"(?P<n>\d{1,2}|半|[一二两三四五六七八九十]{1,3})"
_WEEK = "(?:周|星期|礼拜)"
_OFFSETS = {
    "今": 0, "明": 1, "后": 2, "大后": 3, "昨": -1, "前": -2,
}  # fmt: skip


def _offset(found: re.Match[str], today: date) -> Expression:
    return one_of(found, [today + timedelta(days=_OFFSETS[found["day"]])])


def _weekday(found: re.Match[str], today: date) -> Expression:
    """下周三 is Wednesday of next week; a bare 周三 is this week's or the coming one."""
    weekday = "一二三四五六日".index(found["day"].replace("天", "日")) + 1
    which = found["which"] or ""
    weeks = which.count("下") - which.count("上")
    day = monday(today, weeks) + timedelta(days=weekday - 1)
    coming = today + timedelta(days=(weekday - today.isoweekday()) % 7 or 7)
    return one_of(found, [day] if which else [coming, day], weekday)


def _week(found: re.Match[str], today: date) -> Expression:
    weeks = found["which"].count("下") - found["which"].count("上")
    if found["end"] == "末":
        saturday = monday(today, weeks) + timedelta(days=5)
        return between(found, saturday - timedelta(days=1), saturday + timedelta(days=1))
    return week(found, today, weeks)


def _weekend(found: re.Match[str], today: date) -> Expression:
    friday = monday(today) + timedelta(days=4)
    return between(found, friday, friday + timedelta(days=9))


def _some_later(found: re.Match[str], today: date) -> Expression | None:
    """两周后, 三天内, 一个月之后, 半个月内."""
    unit = found["unit"]
    if found["n"] == "半":
        if "月" not in unit:
            return None
        day = today + timedelta(days=15)
    else:
        number = found["n"]
        values = {float(number)} if number.isdigit() else numeral_values(number)
        if not values:
            return None
        day = later(today, min(values), unit)
    return between(found, today, day) if "内" in found.group() else about(found, day, unit)


def _month(found: re.Match[str], today: date) -> Expression:
    """月底, 下个月, 下月初, 本月中旬."""
    which = found["which"] or ""
    first, last = month(today, which.count("下") - which.count("上"))
    edge = found["edge"] or ""
    if edge[:1] == "初":
        return between(found, first, first + timedelta(days=9))
    if edge[:1] in ("中", "上"):
        return between(found, first, first + timedelta(days=21))
    return month_end(found, last) if edge else between(found, first, last)


def _named_month(found: re.Match[str], today: date) -> Expression:
    """12月底: of this year, or of the next one when it is over."""
    number = found["month"]
    ahead = int(number if number.isdigit() else min(numeral_values(number))) - today.month
    return month_end(found, month(today, ahead % 12)[1])


def _year_end(found: re.Match[str], today: date) -> Expression:
    year = today.year + int(found.group().startswith("明"))
    return between(found, date(year, 12, 1), date(year, 12, 31))


CHINESE: Mapping[re.Pattern[str], Callable[[re.Match[str], date], Expression | None]] = {
    re.compile(pattern): meaning
    for pattern, meaning in {
        r"(?P<day>今|明|大后|后|昨|前)[天日]": _offset,
        rf"(?P<which>下下|下|上|本|这)?个?{_WEEK}(?P<day>[一二三四五六日天])"
        r"(?![年月次期届个天])": _weekday,
        rf"(?P<which>下下|下|上|本|这)个?{_WEEK}(?P<end>末?)(?![一二三四五六日天])": _week,
        r"(?<![下上本这个])周末": _weekend,
        rf"{_N}个?(?P<unit>天|日|周|星期|礼拜|个月|月)(?:之|以)?[后内]": _some_later,
        r"(?P<which>下下|下|本|这)个?月(?P<edge>底|末|初|中旬|上旬|下旬)?": _month,
        r"(?P<which>)(?<![一二三四五六七八九十\d下本这个])月(?P<edge>底|末)": _month,
        r"(?P<month>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?P<edge>底|末)": _named_month,
        r"(?:今年|明年)?年[底末]|明年底|今年底": _year_end,
    }.items()
}
