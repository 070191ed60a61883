"""Times of day: what is said in one way and written in another, and what nobody says."""

from __future__ import annotations

import pytest

from tests.unit.kind_material import material
from workflows.kinds import load_kinds
from workflows.kinds.facts.clock import clocks_of
from workflows.kinds.kind import Finding
from workflows.kinds.lines import number_lines, split_speaker

MINUTES = load_kinds()["minutes"]


def found(said: str, body: str, *, language: str = "en", **attributes: object) -> list[Finding]:
    findings = MINUTES.verify(material(said, language=language, **attributes), body)
    return [one for one in findings if one.raised_by == "verifier:times"]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("at 3 pm", [15]),
        ("at 3:30", [3.5, 15.5]),
        ("at 15:30", [15.5]),
        ("at half past four", [4.5, 16.5]),
        ("quarter to nine", [8.75, 20.75]),
        ("at nine thirty a m", [9.5]),
        ("by noon", [12]),
        ("下午三点", [15]),
        ("晚上十点半", [22.5]),
        ("下午3:15", [15.25]),
        ("中午12点", [12]),
        ("16:9, 3.5 pm-lists and 12:30:15", []),
    ],
)
def test_a_time_is_all_that_it_may_mean(text: str, hours: list[float]) -> None:
    read = [minute / 60 for one in clocks_of(text) for minute in sorted(one.minutes)]
    assert read == hours


@pytest.mark.parametrize("text", ["我说三点建议", "第三点", "有一点贵", "三点五倍"])
def test_three_points_are_no_time(text: str) -> None:
    assert not any(one.strong for one in clocks_of(text))


@pytest.mark.parametrize(
    ("said", "body", "right"),
    [
        ("The courier is at half past three pm.", "The courier comes at 3:30 pm.", None),
        ("The courier comes at 3 pm.", "The courier comes at 4 pm.", "at 3 pm"),
        ("The courier comes at 15:30.", "The courier comes at 14:30.", "15:30"),
        ("The courier comes at three.", "The courier comes at 3 pm.", None),
        ("We close the doors.", "The meeting ended at 16:40.", None),
        ("The courier comes at 3 pm.", "- 10:00 opening\n- The courier comes at 3 pm.", None),
        ("The courier comes at 3 pm.", "The courier comes at 14:00 UTC.", None),
    ],
)
def test_a_time_that_nobody_says_is_found(said: str, body: str, right: str | None) -> None:
    findings = found(f"Ana: {said}", body)
    assert [one.suggestion for one in findings] == ([] if right is None else [right])


def test_a_time_that_is_said_of_something_else_is_left_to_the_reader() -> None:
    rest = "说话人1：好的。\n" * 15
    said = f"说话人1：快递员下午三点到。\n{rest}说话人2：电工上午十点到。"
    assert found(said, "- 快递员15:00到。\n- 电工上午10点到。", language="zh") == []
    [one] = found(said, "- 快递员10:00到。", language="zh")
    assert (one.suggestion, one.evidence) == (None, ("T1",))


def test_a_time_in_the_title_or_the_attributes_is_known() -> None:
    body = "The courier comes at 5 pm."
    assert found("Ana: the courier comes.", body)
    assert found("Ana: the courier comes.", body, agenda=["17:00 courier"]) == []


def test_numbers_do_not_read_the_minutes_of_a_time() -> None:
    said = "说话人1：快递员下午五点半到，带30个箱子。"
    assert MINUTES.verify(material(said, language="zh"), "- 快递员：下午5点30到。") == ()


def test_a_heading_with_a_colon_is_nobody_who_speaks() -> None:
    said = "### Next meeting on: Friday\n### Moderator: Tim\nAna: we ship\n**Bo:** yes"
    lines = number_lines(material(said).sources)
    assert [line.speaker for line in lines] == ["", "", "Ana", "Bo"]
    assert [line.spoken for line in lines] == ["Friday", "Tim", "we ship", "yes"]
    heading = said.splitlines()[0]
    assert split_speaker(heading) == ("", heading)
