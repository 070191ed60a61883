"""Names of people, places and organisations, in English and Chinese, and which the source knows."""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from deploy.offline_model.measures import CURRENCIES, DAYS, MONTHS
from deploy.offline_model.words import STOP, is_chinese

TITLES = (
    *("老师", "爸爸", "妈妈", "同学", "学长", "学姐", "经理", "主任", "校长", "教授", "博士"),
    *("先生", "女士", "院长", "书记", "部长", "局长", "老板", "主持人", "总监", "总", "工"),
)
BODIES = (
    *("大学", "中学", "小学", "学院", "学校", "公司", "集团", "医院", "银行", "研究所", "委员会"),
    *("俱乐部", "酒店", "商场", "车站", "机场"),
)
SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁韦马方俞任袁柳鲍史唐费廉岑薛"
    "雷贺倪汤罗毕郝安常傅齐康伍余顾孟黄萧尹姚邵汪毛戴宋庞熊纪舒项祝董梁杜阮蓝席季贾路江童郭梅林钟徐邱骆"
    "高夏蔡田樊胡凌霍万柯卢莫房解应丁邓洪包左石崔吉程邢裴陆荣翁曲封储靳段巫焦谷车侯全班仰仇甘厉祖武符刘"
    "景龙叶司黎薄印白蒲赖卓乔闻党谭贡姬申冉牛温庄柴阎连欧向古易廖终居衡步耿满匡文寇广东沃利越隆师巩聂"
    "曾沙丰关查红游权盖益桓公肖付代祁"
)
_GRADE = re.compile("[高初大小研][一二三四五六]")
"""高三 is the last year of school, whoever is called 高敏."""
_CAPITAL = re.compile(r"\b[A-Z][A-Za-z'’]*[a-z][A-Za-z'’]*\b")
_NOT_NAMES = frozenset((*DAYS, *MONTHS, *CURRENCIES, "euros", "pounds", "dollars"))
_NAME_TAGS = ("nr", "nrt", "nrfg", "ns", "nt", "nz")


@dataclass(frozen=True, kw_only=True)
class Name:
    """A name in a text. sort: "name" (English), "person", "place", or a title or body (老师, 大学).

    For a title or body only the part before it is the name: `start:end` is 赵静 of 赵静老师.
    """

    text: str
    sort: str
    start: int
    end: int


def names(text: str) -> Sequence[Name]:
    """The names of a text, in order; which rule applies goes by the language of the text."""
    return list(chinese_names(text) if is_chinese(text) else english_names(text))


def english_names(text: str) -> Iterable[Name]:
    """Capitalised words that are not so only for standing first in a sentence."""
    for match in _CAPITAL.finditer(text):
        word = match.group()
        low = re.sub(r"['’]s$", "", word.lower())
        if low in STOP or low in _NOT_NAMES or len(low) < 3:
            continue
        yield Name(
            text=word[: len(low)],
            sort="first" if _opens_sentence(text, match.start()) else "name",
            start=match.start(),
            end=match.start() + len(low),
        )


def _opens_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t*_\"'“‘([|-")
    return not before or before[-1] in ".!?:\n#>"


def chinese_names(text: str) -> Iterable[Name]:
    """What the segmenter tags as a name, and what stands before a title or a body's kind."""
    parts = list(_tagged(text))
    taken = -1
    for at, (word, tag, start) in enumerate(parts):
        if start < taken or _GRADE.fullmatch(word):
            continue
        ending = next((end for end in (*TITLES, *BODIES) if word.endswith(end)), "")
        name = word[: len(word) - len(ending)] if ending else ""
        if len(ending) == 1 and (tag not in _NAME_TAGS or name[:1] not in SURNAMES):
            ending = "" if name else ending  # 汇总 and 员工 are nobody
        if ending and name:
            yield Name(text=name, sort=ending, start=start, end=start + len(name))
        elif ending:
            joined = _before(parts, at)
            if joined and not _GRADE.fullmatch(joined[1]):
                begin, text_before = joined
                yield Name(text=text_before, sort=ending, start=begin, end=start)
        elif tag in _NAME_TAGS and len(word) > 1 and not _titled(parts, at):
            sort = "place" if tag in ("ns", "nt", "nz") else "person"
            yield Name(text=word, sort=sort, start=start, end=start + len(word))
            taken = start + len(word)


def _titled(parts: Sequence[tuple[str, str, int]], at: int) -> bool:
    following = parts[at + 1][0] if at + 1 < len(parts) else ""
    return following in TITLES or following in BODIES


def _before(parts: Sequence[tuple[str, str, int]], at: int) -> tuple[int, str] | None:
    """The name before a title: one to three words that together have at most four characters."""
    begin, text = parts[at][2], ""
    for word, tag, start in reversed(parts[max(0, at - 3) : at]):
        if not re.fullmatch(r"[\u3400-\u9fff]+", word) or len(word + text) > 4:
            break
        if start + len(word) != begin or tag[0] in "pcudvrf" or (tag[0] == "m" and text):
            break
        begin, text = start, word + text
        if tag in _NAME_TAGS or word[0] in SURNAMES:
            break
    return (begin, text) if text else None


def _tagged(text: str) -> Iterable[tuple[str, str, int]]:
    at = 0
    for word, tag in tagger()(text):
        at = text.find(word, at)
        yield word, tag, at
        at += len(word)


@functools.cache
def tagger() -> Callable[[str], Sequence[tuple[str, str]]]:
    """The tagger of the segmenter; loaded at first use like the segmenter itself."""
    from rjieba import tag

    return lambda text: list(tag(text, True))
