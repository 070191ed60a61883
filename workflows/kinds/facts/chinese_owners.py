"""Chinese owners of tasks: `**张三**：…`, 由张三负责, @张三, a cell under 负责人."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.chinese_names import SURNAMES, TITLES, goes_on

_HAN = "[\u4e00-\u9fff]"
_ITEM_OWNERS = re.compile(
    rf"^(?:\*\*)?(?P<names>{_HAN}{{2,4}}(?:[、，,和及/ ]{{1,2}}{_HAN}{{2,4}}){{0,4}})(?:\*\*)?[:：]"
)
_NAME = re.compile(rf"{_HAN}{{2,4}}")
_IN_TEXT = re.compile(
    rf"(?:(?:负责人|责任人|执行人|跟进人|牵头人)[:：\s]*|由|@)(?P<name>{_HAN}{{2,3}}?)"
    r"(?=[，。；、,;\s）)|]|来?负责|跟进|完成|牵头|整理|提交|准备|$)"
)
_DOES = re.compile(rf"^(?:\*\*)?(?P<name>{_HAN}{{2,3}}?)(?:\*\*)?(?:来|将)?负责")
_TWO = ("欧阳", "上官", "司马", "诸葛", "夏侯", "皇甫", "尉迟", "公孙", "慕容", "令狐", "司徒")


def looks_like_a_name(text: str) -> bool:
    """A surname and one or two characters, and no word that only begins like one."""
    if text in lexicon.NO_NAMES or any(
        text.startswith(word) for word in lexicon.NO_NAMES if len(word) > 2
    ):
        return False
    if text[:2] in _TWO:
        return 3 <= len(text) <= 4
    return text[0] in SURNAMES and 2 <= len(text) <= 3


def owners_of(text: str) -> Iterator[tuple[int, str]]:
    """Place and name of each owner that an item's text begins with or names after a label."""
    spans = []
    head = _ITEM_OWNERS.match(text)
    if head is not None:
        spans = [
            (head.start("names") + one.start(), one.group())
            for one in _NAME.finditer(head["names"])
        ]
    does = _DOES.match(text)
    if does is not None:
        spans.append((does.start("name"), does["name"]))
    spans += [(found.start("name"), found["name"]) for found in _IN_TEXT.finditer(text)]
    seen = set()
    for at, name in spans:
        if at not in seen and looks_like_a_name(name):
            seen.add(at)
            yield at, name


def may_be_known(name: str, whole: str) -> bool:
    """Whether the name, its given name, its beginning where a name ends there, or its surname with
    a title or 小/老 is in the texts."""
    if name in whole or (len(name) > 2 and name[1:] in whole) or goes_on(name, whole):
        return True
    surname = name[:2] if name[:2] in _TWO else name[0]
    return re.search(rf"[小老阿]{surname}|{surname}(?:{TITLES})", whole) is not None
