"""What only minutes have: owners, actions, decisions, an agenda; and terms, repeats and layout."""

from __future__ import annotations

import pytest

from tests.unit.kind_material import material, work
from workflows.kinds import load_kinds
from workflows.kinds.facts.script import fold
from workflows.kinds.kind import Finding, Item, OpenIssue
from workflows.vocabulary import Severity, StepName

KINDS = load_kinds()
MEETING = """Ana: The L_C_D_ screen needs EIP-4844 , PUSH0 3860 , says the GitHub page .
Bo: I will send the supplier contract to everybody by next Friday .
Ana: So we agreed that the case is made of light plastic , easily moulded and cheap .
Bo: The User Interface looks good , the User Interface is simple .
Ana: Then let us talk about the training budget , the budget for training is small .
Bo: The training budget again , please .
Ana: We keep the training budget as it is ."""
MEETING_ZH = """张伟：供应商合同我来负责，下周三之前提交。
李娜：那王总和小陈一起整理 Kubernetes 的文档。
张伟：我们决定外壳用轻质塑料，容易成型，成本也低。"""


def findings(
    name: str, body: str, said: str = MEETING, *, kind: str = "minutes", **attributes: object
) -> list[Finding]:
    """What the verifier of that name says."""
    language = "zh" if said == MEETING_ZH else "en"
    found = KINDS[kind].verify(material(said, language=language, **attributes), body)
    assert all(finding.quote in body for finding in found)
    return [finding for finding in found if finding.raised_by == f"verifier:{name}"]


@pytest.mark.parametrize(
    "body",
    [
        "The LCD screen needs EIP-4844, as GitHub says. Two LCDs.",
        "The UI is simple (User Interface).",
        "The API is described in a PDF, by the CEO.",
        "ALL ACTIONS ARE DONE BY THE TEAM",
        "It does NOT depend on EIP 4844.",
        "Push0 and PUSH 0 are the same.",
        "We ship E1x and read T12, see `LGBM` at https://example.org/XYZ9000.",
    ],
)
def test_a_term_that_is_known_or_that_everybody_knows_is_left_alone(body: str) -> None:
    assert findings("terms", body) == []


@pytest.mark.parametrize(
    ("body", "suggestion"),
    [
        ("The screen needs EIP-4488.", "EIP-4844"),
        ("The OLED screen is fine.", None),
        ("They use PostgreSQL for it.", None),
        ("See the GitHab page.", "GitHub"),
    ],
)
@pytest.mark.parametrize("kind", ["minutes", "text"])
def test_a_term_that_no_source_has_is_major(kind: str, body: str, suggestion: str | None) -> None:
    (finding,) = findings("terms", body, kind=kind)
    assert finding.severity is Severity.MAJOR
    if suggestion is None:
        assert finding.suggestion is None
    else:
        assert finding.suggestion is not None
        assert suggestion in finding.suggestion


def test_a_latin_word_in_chinese_minutes_is_a_term() -> None:
    assert findings("terms", "小陈整理Kubernetes的文档。", MEETING_ZH) == []
    (finding,) = findings("terms", "小陈整理Terraform的文档。", MEETING_ZH)
    assert finding.quote == "Terraform"


@pytest.mark.parametrize(
    "item",
    [
        "- **张伟**：提交供应商合同",
        "- 李娜、张伟：整理文档",
        "- **王总**：确认",
        "- **陈晓明**：整理文档",  # 小陈 may be him
        "- **任务一**：整理文档",
        "- **全体**：阅读文档",
        "- 由李娜负责整理",
        "| 任务 | 负责人 |\n|---|---|\n| 合同 | 张伟 |",
        "- **張偉**：提交供應商合同",
    ],
)
def test_a_chinese_owner_who_takes_part_or_is_named_is_fine(item: str) -> None:
    assert findings("owners", f"## 行动项\n\n{item}\n", MEETING_ZH) == []


@pytest.mark.parametrize(
    ("item", "who"),
    [
        ("- **钱卫东**：提交供应商合同", "钱卫东"),
        ("- 钱卫东：提交供应商合同", "钱卫东"),
        ("- 钱卫东负责提交供应商合同", "钱卫东"),
        ("- 提交合同（负责人：钱卫东）", "钱卫东"),
        ("- 张伟、崔建国：提交合同", "崔建国"),
        ("| 任务 | 负责人 |\n|---|---|\n| 合同 | 钱卫东 |", "钱卫东"),
        ("- **錢衛東**：提交供應商合同", "錢衛東"),
    ],
)
def test_a_chinese_owner_whom_nobody_knows_is_major(item: str, who: str) -> None:
    (finding,) = findings("owners", f"## 行动项\n\n{item}\n", MEETING_ZH)
    assert (finding.category, finding.severity) == ("owner", Severity.MAJOR)
    assert who in finding.quote


def test_an_owner_whose_name_differs_in_one_character_is_corrected() -> None:
    people = ["刘柏旭", "张伟"]
    (finding,) = findings(
        "owners", "## 行动项\n\n- **刘伯旭**：提交合同\n", MEETING_ZH, participants=people
    )
    assert finding.suggestion == "刘柏旭"
    (finding,) = findings("owners", "## 行动项\n\n- **张玮**：提交合同\n", MEETING_ZH)
    assert finding.suggestion is None


def test_a_stranger_in_the_owners_column_of_a_table_is_major() -> None:
    table = "## Actions\n\n| Task | Owner |\n|---|---|\n| contract | {} |\n"
    assert findings("owners", table.format("Bo")) == []
    assert findings("owners", table.format("Everybody")) == []
    assert findings("owners", table.format("Zoe"), participants=["Zoe Hart"]) == []
    (finding,) = findings("owners", table.format("Zoe"))
    assert finding.quote == "Zoe"


@pytest.mark.parametrize(
    "item",
    [
        "Bo: send the supplier contract by next Friday",
        "Everybody reads the contract this week",
        "Marketing to look at the prices",
        "The contract is signed already",
        "None.",
    ],
)
def test_an_action_with_an_owner_is_left_alone(item: str) -> None:
    assert findings("actions", f"## Actions\n\n- {item}\n") == []


def test_an_action_without_an_owner_is_minor_and_said_once_of_many() -> None:
    (finding,) = findings("actions", "## Next steps\n\n- tidy the archive up\n")
    assert finding.severity is Severity.MINOR
    assert finding.suggestion is None
    many = "\n".join(f"- tidy shelf {letter} up" for letter in "abcdefgh")
    assert len(findings("actions", f"## Next steps\n\n{many}\n")) == 1
    assert findings("actions", f"## Summary\n\n{many}\n") == []


def test_an_action_without_the_day_that_was_said_for_it_is_minor() -> None:
    (finding,) = findings(
        "actions", "## Actions\n\n- **Bo**: send the supplier contract to everybody\n"
    )
    assert finding.severity is Severity.MINOR
    assert finding.evidence == ("T2",)
    assert "next Friday" in finding.problem


def test_a_decision_that_nobody_spoke_of_is_major() -> None:
    body = "## Decisions\n\n- {}\n"
    made = "The case is made of light plastic, because it is easily moulded."
    assert findings("decisions", body.format(made)) == []
    invented = "The Danish factory gets a second warehouse near the harbour in spring."
    (finding,) = findings("decisions", body.format(invented))
    assert finding.severity is Severity.MAJOR
    assert findings("decisions", f"## Summary\n\n- {invented}\n") == []
    assert findings("decisions", body.format("Approved.")) == []


def test_a_chinese_decision_that_nobody_spoke_of_is_major() -> None:
    assert findings("decisions", "## 决定\n\n- 外壳用轻质塑料，容易成型\n", MEETING_ZH) == []
    (finding,) = findings("decisions", "## 決定\n\n- 明年在丹麥建設第二座倉庫\n", MEETING_ZH)
    assert finding.severity is Severity.MAJOR


def test_an_agenda_item_that_the_minutes_leave_out_is_found() -> None:
    body = "# Minutes\n\n## Screen\n\nThe screen is an LCD.\n"
    agenda = ["Opening", "Screen", "Training budget", "Any other business"]
    (finding,) = findings("agenda", body, agenda=agenda)
    assert (finding.quote, finding.severity) == ("Screen", Severity.MAJOR)
    assert "Training budget" in finding.problem
    assert "Opening" not in finding.problem
    assert findings("agenda", body + "\nThe training budget stays.\n", agenda=agenda) == []


def test_an_agenda_item_that_nobody_spoke_of_is_minor() -> None:
    (finding,) = findings("agenda", "# Minutes\n\nText.\n", agenda=["Warehouse in Denmark"])
    assert finding.severity is Severity.MINOR
    assert findings("agenda", "# Minutes\n\nText.\n", agenda=[]) == []


@pytest.mark.parametrize("between", ["- Bo sends it.\n", ""])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_statement_that_stands_twice_in_a_section_is_minor_and_goes(
    between: str, line_end: str
) -> None:
    said = "- The case is made of light plastic from now on.\n"
    twice = f"# M\n\n## Decisions\n\n{said}{between}{said}- Done.\n".replace("\n", line_end)
    once = f"# M\n\n## Decisions\n\n{said}{between}- Done.\n".replace("\n", line_end)
    (finding,) = findings("repeats", twice)
    assert finding.severity is Severity.MINOR
    minutes = KINDS["minutes"]
    step = work(StepName.REFINE, MEETING, twice, issues=(OpenIssue(number=1, finding=finding),))
    edit = {"find": finding.quote, "replace": finding.suggestion, "resolves": ["I1"]}
    item = minutes.accept(step, minutes.parts(step)[0], edit, [])
    assert isinstance(item, Item)
    assert minutes.refine(step, [item]).body == once


def test_what_stands_in_two_sections_or_is_short_is_no_repetition() -> None:
    said = "- The case is made of light plastic from now on.\n"
    assert findings("repeats", f"## Decisions\n\n{said}\n## Summary\n\n{said}") == []
    assert findings("repeats", "- None.\n- None.\n- We ship E1x today.\n- We ship E2x today.") == []


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ("# M\n\n## Actions\n\n## Decisions\n\n- One.\n", "## Actions"),
        ("# M\n\n## Decisions\n\n- One.\n\n## Actions\n", "## Actions"),
        ("# M\n\nText.\n\n```\ncode\n", "```"),
        ("# M\n\n## A\n\nOne.\n\n## A\n\nTwo.\n", "## A"),
    ],
)
def test_what_is_out_of_shape_is_minor(body: str, quote: str) -> None:
    (finding,) = findings("layout", body)
    assert finding.severity is Severity.MINOR
    assert finding.quote.startswith(quote)


def test_a_section_that_the_template_wants_is_major() -> None:
    template = "# Minutes\n\n## 1. Decisions\n\n## Actions\n\n## Risks\n"
    body = "# Minutes of May\n\n## Decisions\n\n- One.\n\n## 2) Actions\n\n- Bo: it.\n"
    (finding,) = findings("layout", body, template=template)
    assert finding.severity is Severity.MAJOR
    assert finding.problem.endswith("missing: Risks.")
    assert findings("layout", body, template="weekly") == []
    assert findings("layout", "", template=template) == []


def test_scripts_and_widths_are_compared_alike() -> None:
    said = "說話人1：價格是二十五塊，劉柏旭同學得了 36 屆金牌。"
    assert KINDS["minutes"].verify(material(said), "价格25元，刘柏旭同学是第３６届金牌。") == ()
    (finding,) = KINDS["minutes"].verify(material(fold(said)), "價格是三十五塊。")
    assert finding.suggestion is not None
    assert "二十五塊" in "價格是三十五塊。".replace(finding.quote, finding.suggestion)
    assert len(fold("會議決定２５％　ＡＢ")) == len("會議決定２５％　ＡＢ")


WEEKLY_ZH = """张伟：今天主要说三个事情，预算、供应商合同，还有测试报告。
李娜：预算的话还是三十万，财务那边说不变。
王总：好，那预算就维持三十万不变。张伟你这周五之前把预算表提交一下。
李娜：供应商合同我跟王总下周三之前确认一下。
陈工：测试报告我下周五整理好，有一百二十个用例，通过率百分之九十五。
陈工：API 文档月底前完成，放到 Confluence 上。"""
RIGHT_ZH = """# 项目周会纪要

**时间：** 2026年11月24日 14:00–15:30
**地点：** 3号会议室
**参会人：** 张伟、李娜、王总、陈工

## 讨论

- 财务部门确认预算不变，仍为30万元。
- 测试报告共有120个用例，通过率95%。

## 决定

- 预算维持30万元不变。
- API文档发布到Confluence。

## 行动项

- **张伟**：11月27日前提交预算表
- **李娜、王总**：12月2日前确认供应商合同
- [ ] 陈工：整理测试报告（截止 12月4日）

| 任务 | 负责人 | 截止时间 |
|------|--------|----------|
| 预算表 | 张伟 | 本周五 |
| 合同 | 李娜 | 下周三 |
"""


@pytest.mark.parametrize(
    ("right", "wrong", "corrected"),
    [
        ("", "", True),
        ("11月27日", "11月28日", True),
        ("12月2日", "12月9日", True),
        ("95%", "85%", True),
        ("仍为30万元", "仍为50万元", True),
        ("**李娜、", "**钱卫东、", False),
        ("Confluence", "SharePoint", False),
        ("下周三 |", "下周四 |", True),
        ("2026年11月24日", "2026年11月23日", True),
    ],
)
def test_chinese_minutes_as_people_write_them(right: str, wrong: str, corrected: bool) -> None:
    given = material(
        WEEKLY_ZH,
        language="zh",
        meeting_date="2026-11-24",
        participants=["张伟", "李娜", "王总", "陈工"],
        agenda=["预算", "供应商合同", "测试报告"],
    )
    body = RIGHT_ZH.replace(right, wrong, 1)
    found = KINDS["minutes"].verify(given, body)
    grave = [finding for finding in found if finding.severity is Severity.MAJOR]
    assert bool(grave) == (right != wrong)
    bodies = [body.replace(one.quote, one.suggestion) for one in grave if one.suggestion]
    assert not corrected or right == wrong or RIGHT_ZH in bodies
