"""A Chinese name of two characters is never taken together with the character behind it."""

import itertools

import pytest

from deploy.offline_model.review import findings
from tests.unit.kind_material import material, meetings
from tests.unit.test_offline_model import corrected, prompt
from workflows.kinds import load_kinds
from workflows.kinds.kind import Finding
from workflows.vocabulary import Severity

NAMES = ("张伟", "金鑫", "向明")
DOES = (
    *("下周五之前写说明", "先写说明", "在会上写了说明", "说下周写说明", "要写说明", "会写说明"),
    *("也写说明", "将写说明", "把说明写好", "和大家写说明", "与大家写说明", "对预算写说明"),
    *("从预算写起", "给大家写说明", "向大家写说明", "让大家写说明", "就预算写说明", "还写说明"),
    *("已写说明", "应写说明", "可写说明", "需写说明", "负责写说明", "提出写说明", "表示写说明"),
    *("认为写说明", "建议写说明", "等大家写说明", "上周写了说明", "今天写说明", "明天写说明"),
    *("昨天写了说明", "周五写说明", "月底写说明", "年底写说明", "本周写说明", "这周写说明"),
    *("来写说明", "去写说明", "再写说明", "又写说明", "都写说明", "只写说明", "不写说明"),
    *("没写说明", "想写说明", "能写说明", "得写说明", "写说明", "做说明", "交说明", "发说明"),
    *("拿说明", "看说明", "问说明", "答应写说明", "同意写说明", "希望写说明", "准备写说明"),
    *("完成说明", "整理说明", "明确说明", "继续写说明", "强调说明", "介绍了说明", "汇报了说明"),
    *("总结了说明", "回应了说明", "补充了说明", "确认说明", "决定写说明", "计划写说明"),
    *("打算写说明", "安排写说明", "带来说明", "及时写说明", "并写说明", "或写说明", "则写说明"),
    *("的说明写好了", "了解说明", "是写说明的人", "有说明", "用说明", "到月底写好", "因预算写说明"),
    *("由预算写起", "以预算写起", "为预算写说明", "跟大家写说明", "被要求写说明", "请大家写说明"),
    *("叫大家写说明", "最后写说明", "后天写说明", "当天写说明", "每周写说明", "第二天写说明"),
    *("一周写说明", "两天写说明", "马上写说明", "立即写说明", "尽快写说明", "正在写说明"),
    *("必须写说明", "主要写说明", "亲自写说明", "另外写说明", "首先写说明", "随后写说明"),
)
"""What may follow a name, by its first character."""


def found_names(document: str, source: str) -> list[str]:
    return [
        f"{document[one.start : one.end]} -> {one.right}"
        for one in findings(prompt(document, source))
        if one.category in ("wrong_name", "wrong_owner")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_follows_a_known_name_is_no_part_of_it(name: str) -> None:
    others = itertools.islice(itertools.cycle(DOES), 7, None)
    wrong = []
    replies = itertools.cycle(("李工：好的。", f"{name}：我来写说明，下周五之前给你。"))
    for does, other, reply in zip(DOES, others, replies, strict=False):
        source = f"T1: 王总：我们说一下预算。\nT2: 王总：{name}{other}。\nT3: {reply}"
        wrong += found_names(f"- {name}{does}。\n", source)
    assert wrong == []


def test_a_true_deadline_stays_where_the_source_orders_its_words_otherwise() -> None:
    draft = "张伟下周五之前写一份预算说明。\n"
    assert corrected(draft, "T1: 王芳：张伟先写一份说明，下周五之前给我。") == draft


@pytest.mark.parametrize(
    ("wrong", "right"), [("王晓红", "王晓明"), ("张健国", "张建国"), ("张健国先", "张建国先")]
)
def test_another_name_of_three_characters_is_still_put_right(wrong: str, right: str) -> None:
    source = (
        "T1: 王总：王晓明写预算说明。\nT2: 王晓明：好的，我来写预算说明。\n"
        "T3: 李工：张建国先写预算说明。"
    )
    assert corrected(f"- {wrong}写预算说明。\n", source) == f"- {right}写预算说明。\n"


@pytest.mark.parametrize("document", ["- 李娜汇总数据，员工分工。\n", "- 小李先写说明。\n"])
def test_words_that_end_like_a_title_are_nobody(document: str) -> None:
    lines = [
        "王总来了。",
        "王总写说明，陈工写说明。",
        "王总看数据，陈工看数据。",
        "陈工、王总、小李。",
    ]
    source = "\n".join(f"T{at}: 李娜：{line}" for at, line in enumerate(lines, 1))
    assert found_names(document, source) == []


def test_true_minutes_of_real_meetings_name_nobody_wrong() -> None:
    for meeting in meetings():
        # The longest one, in which nothing is found either, takes as long as both others.
        if meeting.name in ("086", "146"):
            said = meeting.material.sources[0].text.splitlines()
            source = "\n".join(f"T{at}: {line}" for at, line in enumerate(said, 1))
            assert found_names("\n".join(f"- {one}" for one in meeting.statements), source) == []


def grave(body: str) -> list[Finding]:
    said = "王芳：大家好。\n张伟：我来写说明。\n李总：好的，小李也说。"
    found = load_kinds()["minutes"].verify(material(said, language="zh"), body)
    return [one for one in found if one.severity is not Severity.MINOR]


@pytest.mark.parametrize(
    "text",
    [
        *("由张伟先负责说明", "由王芳去跟进说明", "张伟先负责说明", "王芳汇总数据", "张伟总结说明"),
        *("向张伟经理汇报", "向总经理汇报", "向老师请教", "许多老师同意", "任何同学都来"),
        *("班主任老师同意", "方案总体可行"),
    ],
)
def test_the_verifiers_take_no_word_beside_a_name_for_part_of_it(text: str) -> None:
    assert grave(f"## 行动项\n\n- {text}\n") == []


@pytest.mark.parametrize("text", ["由孟晓燕负责说明", "崔建国负责说明", "请孙老师写说明"])
def test_the_verifiers_still_see_strangers(text: str) -> None:
    assert grave(f"## 行动项\n\n- {text}\n") != []
