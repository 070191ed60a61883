"""Chinese names by surname and title, and owners after their labels."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.context import (
    Facts,
    clear_winner,
    context_weights,
    line_score,
    unique_quote,
)
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

MOST_FINDINGS = 100
MOST_ALIKE = 8
"""Names that may begin alike; what goes on in more ways is a name of its own."""
SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈"
    "姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
    "康施洪耿焦俞柳祝舒阮柯凌毕裴霍翁冉骆靳柴鲍喻祁滕饶牟尤卓甘童梅纪"
)
TITLES = (
    "老师|校长|总监|总裁|总|经理|先生|女士|同学|爸爸|妈妈|主任|教授|博士|院长|部长|学长|局长|处长|"
    "科长|工程师"
)
_HAN = "[\u4e00-\u9fff]"
_TITLED = re.compile(rf"({_HAN}{{1,3}})({TITLES})(?!(?<=总)[结体之共额数量计价统支收值和括产目])")
"""方案总体 and 张伟总结 name no 总."""
_NEVER_LAST = frozenset(
    "下先在说要会也将把和与对从给向让就还已应可需来去再又都只不没想能得写做交发拿看问讲谈听找请的了吗呢吧啊是有到"
)
"""Characters behind a name that end none, also where a mark follows."""
_TOWARDS = frozenset("向于")
"""Surnames that, before another name, are no name."""
_OWNER = re.compile(
    r"(?:负责人|责任人|执行人|跟进人|由)[:：\s]*([\u4e00-\u9fff]{2,3})"
    r"(?=[，。；、,;\s）)]|负责|跟进|完成|$)"
)


def chinese_strangers(material: Material, facts: Facts, body: str) -> list[Finding]:
    """Names that no source, title or attribute has, in any length they may be cut to."""
    if not re.search(r"[\u4e00-\u9fff]", body):
        return []
    text = "\n".join(line.text for line in facts.lines)
    extra = [material.title]
    for value in material.attributes.values():
        extra += [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
    whole = text + "\n" + "\n".join(extra)
    findings = []
    for start, name, title in _names(body):
        if _is_told(name, title, whole) or body[max(0, start - 1) : start] + name == "主任":
            continue
        # 江校长 of 康新江校长: what is before belongs to the name when the whole is known.
        longer = (body[start - more : start + len(name)] for more in (1, 2) if start >= more)
        if any(one[0] in SURNAMES and one in whole for one in longer):
            continue
        findings.append(_finding(facts, body, start, name, title))
        if len(findings) == MOST_FINDINGS:
            break
    return findings


def _is_told(name: str, title: str, whole: str) -> bool:
    """Whether the texts have this name, in any length it may be cut to."""
    if name + title in whole or (len(name) > 1 and name in whole):
        return True
    if any(name.startswith(word) for word in lexicon.NO_NAMES) or goes_on(name, whole):
        return True
    if title and name in _TOWARDS:
        return True  # 向老师请教: to a teacher, not one of this name
    rest = name[1:]
    cut = name[0] in _TOWARDS or len(rest) > 1
    return cut and rest[:1] in SURNAMES and _is_told(rest, title, whole)


def goes_on(name: str, whole: str) -> bool:
    """Whether the texts know 张伟 of 张伟先, and not only as the beginning of longer names."""
    head = name[:-1]
    if len(head) < 2 or head not in whole:
        return False
    following = {whole[at.end() : at.end() + 1] for at in re.finditer(re.escape(head), whole)}
    return len(following) > MOST_ALIKE or any(not _is_whole(head + one, whole) for one in following)


def _is_whole(name: str, whole: str) -> bool:
    """Whether a name of three characters stands alone or before a title."""
    if len(name) < 3 or name[-1] in _NEVER_LAST:
        return False
    return re.search(rf"(?<!{_HAN}){name}(?!{_HAN})|{name}(?:{TITLES})", whole) is not None


def _names(body: str) -> Iterator[tuple[int, str, str]]:
    """Place, name and title ('' for a labelled owner)."""
    for found in _TITLED.finditer(body):
        before = found.group(1)
        for length in range(len(before), 0, -1):
            name = before[len(before) - length :]
            if name[0] in SURNAMES:
                yield found.start(1) + len(before) - length, name, found.group(2)
                break
    for found in _OWNER.finditer(body):
        name = found.group(1)
        if name[0] in SURNAMES:
            yield found.start(1), name, ""


def _finding(facts: Facts, body: str, start: int, name: str, title: str) -> Finding:
    end = start + len(name) + len(title)
    quote = unique_quote(body, start, end, least=2)
    right, line = _likely(facts, body, start, name, title)
    return Finding(
        category="name",
        severity=Severity.MAJOR,
        quote=quote,
        problem=f"会议中没有“{name}{title}”。",
        suggestion=None if right is None else quote.replace(name + title, right, 1),
        evidence=() if line is None else (line,),
    )


def _likely(
    facts: Facts, body: str, start: int, name: str, title: str
) -> tuple[str | None, str | None]:
    """Who has the same title in the line that clearly speaks of the same thing."""
    if not title:
        return None, None
    weights = context_weights(body, start, start + len(name) + len(title))
    best: dict[str, tuple[float, int]] = {}
    often = Counter(other for line in facts.lines for _, other, same in _names(line.text))
    for at, line in enumerate(facts.lines):
        for _, other, same in _names(line.text):
            if same == title:
                score = line_score(facts, weights, at) * (1 + math.log(often[other]))
                person = other + title
                best[person] = max(best.get(person, (0.0, at)), (score, at))
    if len(best) == 1:
        ((person, (_, at)),) = best.items()
        return person, facts.lines[at].name
    winner = clear_winner(best.values(), least=3.0, lead=1.3)
    if winner is None:
        return None, None
    person = next(person for person, (_, at) in best.items() if at == winner)
    return person, facts.lines[winner].name
