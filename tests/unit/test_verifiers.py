"""Verifiers, case by case: what they see, what they leave alone, what they suggest."""

from __future__ import annotations

import pytest

from tests.unit.kind_material import material
from workflows.kinds import load_kinds
from workflows.kinds.facts.chinese import chinese_numbers
from workflows.kinds.facts.english import english_numbers
from workflows.kinds.kind import Finding
from workflows.kinds.problems_zh import SENTENCES, in_chinese
from workflows.vocabulary import Severity

MINUTES = load_kinds()["minutes"]
MEETING = """Project Manager: I'm Sarah and the selling price is at twenty five Euros .
Marketing: that is about seventeen Pounds .
Project Manager: production cost's at twelve fifty , profit aim is fifty million Euros .
User Interface: we had three videos , a T_V_ and an L_C_D_ screen .
Industrial Designer: I can put the drawing into the shared folder on Thursday .
Marketing: half an hour until lunch , and fifty per cent like it .
Marketing: two vulnerabilities , in twenty twenty , three vulnerabilities before ."""
MEETING_ZH = """说话人1：欢迎赵老师，还有 90 天就高考了，价格是二十五块。
说话人2：我是八八年出国的，我们下周三之前完成方案，大概百分之六十的家长同意。
说话人3：刘柏旭同学得了 36 届金牌。"""


def findings(body: str, source: str = MEETING, **attributes: object) -> tuple[Finding, ...]:
    language = "zh" if source is MEETING_ZH else "en"
    return MINUTES.verify(material(source, language=language, **attributes), body)


def only(body: str, source: str = MEETING, **attributes: object) -> Finding:
    (finding,) = findings(body, source, **attributes)
    assert body.count(finding.quote) == 1
    return finding


@pytest.mark.parametrize(
    "body",
    [
        "The selling price is 25 Euros, about 17 pounds.",
        "It sells at €25 and costs 12.50 Euros, a 12.5-Euro production.",
        "The profit aim is 50 million Euros (€50m).",
        "They have 3 videos, a TV and an LCD.",
        "In 30 minutes there is lunch; half like it, 50%.",
        "Sarah, the Project Manager (PM), spoke. The drawing is due on Thursday.",
        "1. First point\n2. Second point\n12. Twelfth point",
        "- [ ] **Industrial Designer**: put the drawing into the shared folder",
        "## 3.2 Any Heading With Words\n\nSee https://example.org/2024/77 and `code 88`.",
        "Later Marketing agreed. Nobody objected. Everyone will think about it.",
        "The market's view is that that is fine.",
        "There are two vulnerabilities. In twenty twenty it was so.",
    ],
)
def test_a_true_statement_is_left_alone(body: str) -> None:
    assert findings(body) == ()


@pytest.mark.parametrize(
    "body",
    [
        "离高考还有90天，价格25元，60%的家长同意。",
        "赵老师1988年出国，刘柏旭同学是第36届金牌。",
        "方案在下周三之前完成。",
        "一个问题，两种方法，三年级。",
    ],
)
def test_a_true_chinese_statement_is_left_alone(body: str) -> None:
    assert findings(body, MEETING_ZH) == ()


@pytest.mark.parametrize(
    ("body", "suggestion", "evidence"),
    [
        ("The selling price is 35 Euros.", "25 Euros", "T1"),
        ("It sells at a price of €35.", "€25", "T1"),
        ("Marketing said about thirty-seven pounds.", "seventeen pounds", "T2"),
        ("The production cost is 15.50 Euros.", "12.50 Euros", "T3"),
        ("The profit aim is 5 million Euros.", "50 million Euros", "T3"),
        ("They had four videos and a TV.", "three videos", "T4"),
        ("The selling price is 25 pounds.", "25 euros", "T1"),
    ],
)
def test_a_wrong_number_is_major_and_names_the_line_that_has_the_right_one(
    body: str, suggestion: str, evidence: str
) -> None:
    finding = only(body)
    assert (finding.category, finding.severity) == ("number", Severity.MAJOR)
    assert finding.raised_by == "verifier:numbers"
    assert finding.evidence == (evidence,)
    assert finding.suggestion is not None
    assert suggestion in body.replace(finding.quote, finding.suggestion)


@pytest.mark.parametrize(
    ("body", "right"),
    [
        ("离高考还有70天。", "90天"),
        ("价格是三十五块。", "二十五块"),
        ("大概百分之八十的家长同意。", "百分之六十"),
        ("他在1998年出国。", "1988年"),
        ("刘柏旭同学得了第26届金牌。", "第36届"),
        ("孙老师参加了论坛。", "赵老师"),
    ],
)
def test_a_wrong_chinese_fact_is_found_and_corrected(body: str, right: str) -> None:
    finding = only(body, MEETING_ZH)
    assert finding.severity is Severity.MAJOR
    assert finding.suggestion is not None
    assert right in body.replace(finding.quote, finding.suggestion)


def test_an_amount_that_was_said_without_its_unit_has_no_other_value() -> None:
    """Of "36,000 and a used Wachtel" the rule took the words behind for what was counted."""
    said = "Priya: Two offers. Miwe at 36,000 and a used Wachtel at 21,500.\nTom: The used one?"
    body = "# Ovens\n\n- The Miwe costs 36,000 euros and the used Wachtel 21,500 euros.\n"
    assert findings(body, said) == ()


def test_a_verb_behind_a_number_is_no_unit_of_it() -> None:
    finding = only("Of the pallets, 2,100 are going to the warehouse.")
    assert finding.quote == "2,100"
    assert "“2,100”" in finding.problem


def test_a_number_that_nothing_resembles_has_no_suggestion() -> None:
    finding = only("The warehouse covers 4,000 square metres.")
    assert finding.suggestion is None
    assert finding.evidence == ()


@pytest.mark.parametrize(
    ("body", "suggestion"),
    [
        ("The drawing is in the shared folder on Tuesday.", "Thursday"),
        ("Put the drawing there by 3 March 2027.", None),
    ],
)
def test_a_day_that_nobody_named_is_found(body: str, suggestion: str | None) -> None:
    finding = only(body)
    assert finding.category == "date"
    if suggestion is None:
        assert finding.suggestion is None
    else:
        assert finding.suggestion is not None
        assert suggestion in finding.suggestion


def test_a_date_that_follows_from_the_meeting_and_what_was_said_is_fine() -> None:
    meeting = "2026-11-24"  # a Tuesday
    assert findings("Meeting of 24 November 2026.", meeting_date=meeting) == ()
    assert findings("The drawing is due on 26 November.", meeting_date=meeting) == ()
    assert only("The drawing is due on 27 November.", meeting_date=meeting).category == "date"


def test_a_header_with_another_date_than_the_meetings_is_corrected() -> None:
    finding = only("**Date:** 25 November 2026\n\nText.", meeting_date="2026-11-24")
    assert finding.suggestion is not None
    assert "24 November 2026" in finding.suggestion
    assert findings("**Date:** 25 November 2026\n\nText.") == ()


@pytest.mark.parametrize(
    ("body", "category", "suggestion"),
    [
        ("- **Karen Whitfield**: book the room", "owner", None),
        ("Karen will put the drawing into the shared folder.", "owner", "Industrial Designer"),
        ("As Tomasz said, it is late.", "owner", None),
        ("The plan came from Tomasz Novak.", "name", None),
        ("- **Quality Manager**: book the room", "owner", "Project Manager"),
        ("The Industrial Desinger spoke.", "name", "Industrial Designer"),
        ("- Book the room (owner: Priya)", "owner", None),
    ],
)
def test_a_stranger_is_found_and_a_likely_person_suggested(
    body: str, category: str, suggestion: str | None
) -> None:
    finding = only(body)
    assert (finding.category, finding.severity) == (category, Severity.MAJOR)
    if suggestion is None:
        assert finding.suggestion is None
    else:
        assert finding.suggestion is not None
        assert suggestion in body.replace(finding.quote, finding.suggestion)


def test_participants_and_agenda_count_as_known() -> None:
    body = "- **Karen Whitfield**: book the room\n- Talk to Acme about it"
    assert findings(body, participants=["Karen Whitfield"], agenda=["Visit of Acme"]) == ()


def test_doubled_words_and_placeholders_are_minor() -> None:
    body = "The the price is fine. TODO\n\nWe had had enough. 这是我的的方案。"
    found = findings(body)
    assert {finding.severity for finding in found} == {Severity.MINOR}
    assert [finding.suggestion is not None for finding in found] == [True, True, False]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "body",
    [
        " " * 30_000 + "x",
        "*" * 30_000,
        "| a | 1.2 |\n" * 3_000,
        "王老师和李校长" * 4_000,
        "Karen Foo said 77 " * 1_500,
        "x=[1,2,3];foo(bar);" * 1_500,
        "# \n" * 10_000,
        "一二三四五六七八九十" * 3_000,
        "",
        "x",
    ],
)
def test_a_body_like_no_minutes_is_answered_soon_and_quoted_as_it_is(body: str) -> None:
    found = findings(body)
    assert len(found) <= 300
    assert all(finding.quote in body for finding in found)


def test_without_sources_nothing_is_claimed_about_facts() -> None:
    assert findings("It costs 77 Euros, says Karen Whitfield, on Friday.", "") != ()
    assert all(finding.category == "date" for finding in findings("On Friday, 77 Euros.", ""))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twenty five", 25), ("twenty - five", 25), ("twelve point three", 12.3),
        ("twelve dot fifty", 12.5), ("twelve Euros and f fifty", 12.5), ("twelve fifty", 12.5),
        ("nineteen ninety eight", 1998), ("one hundred and two", 102), ("a hundred", 100),
        ("fifty million", 50_000_000), ("two and a half", 2.5), ("half", 0.5), ("1,200.50", 1200.5),
        ("50m", 50_000_000), ("twenty first", 21), ("three hundred thousand", 300_000),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_say_it(text: str, value: float) -> None:
    (mention, *_) = english_numbers(text)
    assert value in mention.values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("二十五块", 25), ("百分之五十", 50), ("三点五倍", 3.5), ("八八年", 1988), ("88 年", 1988),
        ("两千年", 2000), ("一百零二个", 102), ("三万五千元", 35_000), ("3.5万元", 35_000),
        ("一百五个", 150), ("十二个", 12),
    ],
)  # fmt: skip
def test_a_chinese_number_is_read_as_people_say_it(text: str, value: float) -> None:
    (mention, *_) = chinese_numbers(text)
    assert value in mention.values


@pytest.mark.parametrize("text", ["EIP-4844", "ES2004a", "v1.2.3", "T12", "A4", "x_12"])
def test_an_identifier_is_no_number(text: str) -> None:
    assert english_numbers(f"See {text} there.") == []


WEEKLY = """Ana: Three things today , the budget , the supplier contract and the test report .
Bo: The budget stays at three hundred thousand euros , finance says .
Ana: Good . Bo , please submit the budget sheet by Friday .
Bo: Sure . And the supplier contract , I confirm it with Carla by next Wednesday .
Carla: The test report , from Jira , has a hundred and twenty cases , ninety five percent pass .
Ana: The API docs go to Confluence , Carla , by the end of the month ."""
RIGHT = """# Weekly meeting

**Date:** Tuesday, 24 November 2026, 14:00
**Present:** Ana, Bo, Carla

## Discussion

Finance keeps the budget at EUR 300,000. The test report covers 120 cases; 95% of them pass.

## Decisions

- The budget stays at 300k euros.
- The API documentation goes to Confluence.

## Action items

| # | Action | Owner | Due |
|---|--------|-------|-----|
| 1 | Submit the budget sheet | Bo | 27 Nov |
| 2 | Confirm the supplier contract | Bo & Carla | Wed 2 December |

- **Carla**: finish the API docs by 30 November.
"""


def weekly(body: str) -> tuple[Finding, ...]:
    agenda = ["Budget", "Supplier contract", "Test report"]
    given = material(WEEKLY, meeting_date="2026-11-24", agenda=agenda)
    return MINUTES.verify(given, body)


def test_minutes_as_people_write_them_raise_no_finding() -> None:
    assert weekly(RIGHT) == ()


@pytest.mark.parametrize(
    ("right", "wrong", "corrected"),
    [
        ("27 Nov", "26 Nov", True),
        ("2 December", "9 December", False),
        ("Tuesday, 24", "Monday, 24", True),
        ("95%", "85%", True),
        ("EUR 300,000", "EUR 500,000", True),
        ("Bo & Carla", "Zoe & Carla", False),
        ("**Carla**", "**Carlos Mendes**", False),
        ("Confluence", "SharePoint", False),
        ("120 cases", "150 cases", True),
        ("30 November", "15 December", True),
    ],
)
def test_one_wrong_fact_in_such_minutes_is_found(right: str, wrong: str, corrected: bool) -> None:
    body = RIGHT.replace(right, wrong)
    grave = [finding for finding in weekly(body) if finding.severity is Severity.MAJOR]
    word = wrong.split(maxsplit=1)[0].strip("*,")
    assert any(word in finding.quote for finding in grave)
    if corrected:
        bodies = [body.replace(one.quote, one.suggestion) for one in grave if one.suggestion]
        assert RIGHT in bodies


def test_problems_of_a_chinese_text_are_worded_in_chinese() -> None:
    found = findings("价格是二十六块，预计 97 人参加。", MEETING_ZH)
    assert found
    for finding in found:
        assert finding.problem.endswith("。"), finding.problem


@pytest.mark.parametrize(("english", "chinese"), SENTENCES)
def test_each_chinese_sentence_keeps_what_the_english_one_names(english: str, chinese: str) -> None:
    filled = english.format("A", "B", "C", "D")
    told = in_chinese(filled)
    assert told == chinese.format("A", "B", "C", "D")
