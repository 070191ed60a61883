"""Days that follow from the meeting's date, and days that contradict what was said."""

from __future__ import annotations

from datetime import date

import pytest

from tests.unit.kind_material import material
from workflows.kinds import load_kinds
from workflows.kinds.facts.days import written_like
from workflows.kinds.facts.relative import read_relative
from workflows.kinds.facts.script import fold
from workflows.kinds.kind import Finding
from workflows.vocabulary import Severity

MINUTES = load_kinds()["minutes"]
MEETING = date(2026, 11, 24)
"""A Tuesday."""
SAID = """Ana: I will send the supplier contract by next Friday .
Bo: And the survey answers are due at the end of the month .
Ana: I will test the buttons in two weeks .
Bo: The auditors come tomorrow .
Bo: We saw the old drawings on Monday ."""
SAID_ZH = """说话人1：供应商合同我下周三之前提交。
说话人2：那问卷结果月底之前整理好。
说话人1：橡胶按键本周五测试。
说话人2：审计人员明天过来。"""


def dates(body: str, said: str = SAID, **attributes: object) -> list[Finding]:
    given = {"meeting_date": MEETING.isoformat(), **attributes}
    language = "zh" if said == SAID_ZH else "en"
    found = MINUTES.verify(material(said, language=language, **given), body)
    return [finding for finding in found if finding.category == "date"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("by next Friday", {"2026-11-27", "2026-12-04"}),
        ("by Friday", {"2026-11-27"}),
        ("this Thursday", {"2026-11-26"}),
        ("Monday next week", {"2026-11-30"}),
        ("last Thursday", {"2026-11-19"}),
        ("the day after tomorrow", {"2026-11-26"}),
        ("下周三之前", {"2026-12-02"}),
        ("下个星期天", {"2026-12-06"}),
        ("下下周一", {"2026-12-07"}),
        ("本周五", {"2026-11-27"}),
        ("上周五", {"2026-11-20"}),
        ("大后天", {"2026-11-27"}),
        ("明天", {"2026-11-25"}),
    ],
)
def test_a_day_is_counted_from_the_meeting(text: str, days: set[str]) -> None:
    (expression,) = read_relative(text, MEETING)
    assert {first.isoformat() for first, _ in expression.spans} == days
    assert expression.names_a_day


@pytest.mark.parametrize(
    ("text", "first", "last", "certain"),
    [
        ("at the end of the month", "2026-11-27", "2026-11-30", "2026-11-30"),
        ("end of next month", "2026-12-28", "2026-12-31", "2026-12-31"),
        ("the end of October", "2027-10-28", "2027-10-31", "2027-10-31"),
        ("in two weeks", "2026-12-05", "2026-12-11", "2026-12-08"),
        ("within a week", "2026-11-24", "2026-12-01", None),
        ("next week", "2026-11-30", "2026-12-06", None),
        ("next month", "2026-12-01", "2026-12-31", None),
        ("月底", "2026-11-27", "2026-11-30", "2026-11-30"),
        ("12月底", "2026-12-28", "2026-12-31", "2026-12-31"),
        ("下个月初", "2026-12-01", "2026-12-10", None),
        ("两周后", "2026-12-05", "2026-12-11", "2026-12-08"),
        ("三天内", "2026-11-24", "2026-11-27", None),
        ("下周", "2026-11-30", "2026-12-06", None),
    ],
)
def test_a_span_of_days_is_counted_from_the_meeting(
    text: str, first: str, last: str, certain: str | None
) -> None:
    (expression,) = read_relative(text, MEETING)
    assert expression.spans == ((date.fromisoformat(first), date.fromisoformat(last)),)
    assert expression.certain == (None if certain is None else date.fromisoformat(certain))


@pytest.mark.parametrize(
    "body",
    [
        "Ana sends the supplier contract by 4 December.",
        "Ana sends the supplier contract by 27 November 2026.",
        "The survey answers are due on 30 November.",
        "The buttons are tested by 8 December.",
        "The auditors come on Wednesday, 25 November.",
        "Ana sends the supplier contract by next Friday.",
        "The next meeting is in two weeks.",
        "**Date:** 24 November 2026",
    ],
)
def test_a_date_that_follows_from_what_was_said_is_fine(body: str) -> None:
    assert [one for one in dates(body) if "Wednesday" not in one.quote] == []


@pytest.mark.parametrize(
    ("body", "right"),
    [
        ("The survey answers are due on 20 December.", "30 November"),
        ("The buttons are tested by December 18, 2026.", "December 8, 2026"),
        ("The auditors come on 2026-11-28.", "2026-11-25"),
        ("Ana sends the supplier contract by 11 December.", None),
        ("Ana sends the supplier contract by next Monday.", "next Friday"),
    ],
)
def test_a_date_that_contradicts_the_line_about_the_same_thing_is_found(
    body: str, right: str | None
) -> None:
    (finding,) = dates(body)
    assert finding.severity is Severity.MAJOR
    assert finding.evidence
    if right is None:
        assert finding.suggestion is None  # two Fridays may be meant
    else:
        assert finding.suggestion is not None
        assert right in body.replace(finding.quote, finding.suggestion)


@pytest.mark.parametrize(
    ("body", "right"),
    [
        ("- 提交供应商合同：12月2日之前", ""),
        ("- 提交供应商合同：12月9日之前", "12月2日"),
        ("- 整理问卷结果：11月30日", ""),
        ("- 整理问卷结果：2026年12月10日", "2026年11月30日"),
        ("- 测试橡胶按键：下周五", "本周五"),
        ("- 审计人员11月25日过来", ""),
        ("- 審計人員１１月２７日過來", "11月25日"),
    ],
)
def test_chinese_days_are_counted_too(body: str, right: str) -> None:
    found = dates(body, SAID_ZH)
    assert len(found) == bool(right)
    for finding in found:
        assert finding.suggestion is not None
        assert right in fold(body.replace(finding.quote, finding.suggestion))


def test_a_weekday_must_fit_its_date() -> None:
    said = "Ana: The board meets on 4 December 2026 ."
    assert dates("The board meets on Friday, 4 December 2026.", said) == []
    (finding,) = dates("The board meets on Thursday, 4 December 2026.", said)
    assert finding.suggestion is not None
    assert "Friday" in finding.suggestion


def test_the_date_in_a_header_may_be_written_in_another_zone() -> None:
    assert dates("**Date:** 25 November 2026, 02:00 UTC", timezone="America/New_York") == []
    assert len(dates("**Date:** 25 November 2026, 02:00 UTC", timezone="Etc/UTC")) == 1
    assert len(dates("**日期：** 2026年11月25日 北京时间", timezone="Asia/Shanghai")) == 1
    (finding,) = dates("**Date:** 26 November 2026, 02:00 UTC", timezone="America/New_York")
    assert finding.suggestion is not None
    assert "24 November 2026" in finding.suggestion


def test_a_day_of_the_month_said_alone_and_a_date_said_in_words_are_known() -> None:
    said = "Ana: On the 15th we ship .\nBo: The party is on the twenty first of January ."
    assert dates("We ship on 15 December. The party is on January 21.", said) == []


def test_without_a_meeting_date_only_what_was_said_counts() -> None:
    body = "The survey answers are due on 20 December."
    (finding,) = dates(body, meeting_date=None)
    assert finding.suggestion is None
    assert dates("Sent by next Friday.", meeting_date=None) == []


@pytest.mark.parametrize("edge", ["0001-01-01", "9999-12-31"])
def test_a_meeting_at_the_edge_of_the_calendar_breaks_nothing(edge: str) -> None:
    assert isinstance(dates("Due on 12 March, two weeks later.", meeting_date=edge), list)


@pytest.mark.parametrize(
    ("written", "like"),
    [
        ("2026-12-01", "2027-01-05"),
        ("1 December 2026", "5 January 2027"),
        ("Dec 1, 2026", "Jan 5, 2027"),
        ("2026年12月1日", "2027年1月5日"),
        ("12月1号", "1月5号"),
    ],
)
def test_a_date_is_corrected_in_the_way_it_is_written(written: str, like: str) -> None:
    year = "2026" in written
    assert written_like(written, date(2027, 1, 5), year=year) == like
