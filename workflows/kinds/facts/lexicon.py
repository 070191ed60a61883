"""Lists of words that the verifiers go by."""

from __future__ import annotations


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ONES = _list(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """
)

TENS = _list(
    """
    twenty thirty forty fifty sixty seventy eighty ninety
    """
)

NO_NOUNS = frozenset(
    _list(
        """
    the a an of in on at to for and or but is are was were be been with by from as it that this
    these those than more less about around per each every which who will would can could should
    if so then there here we you they he she i not no only just also per out over under up down
    between into within after before during have has had do does did
    """
    )
)
"""Words after a number that are not what is counted."""

NO_CONTEXT = frozenset(
    _list(
        """
    the and for that this with you are was were not but have has had they them their there then
    what which who will would can could should from about into over also just some any all our
    your his her its been being than too very more most one two per each out off said say says
    like yeah okay right think know going gonna get got really
    """
    )
)
"""Words that say nothing of what a sentence is about."""

MONTHS = _list(
    """
    january february march april may june july august september october november december
    """
)

WEEKDAYS = _list(
    """
    monday tuesday wednesday thursday friday saturday sunday
    """
)

KNOWN_TO_ALL = frozenset(
    _list(
        """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday english chinese german french spanish dutch
    welsh british american european asian western latin i mr mrs ms dr prof q1 q2 q3 q4 euro euros
    pound pounds dollar dollars ok okay todo tbd fixme xxx internet web email
    """
    )
)
"""Capitalised words that need not be said in the meeting."""

OPENERS = frozenset(
    _list(
        """
    however later then first firstly second secondly third thirdly last lastly next finally also
    meanwhile although though while after before because since when if in on at for but and so as
    besides moreover furthermore otherwise therefore nevertheless instead still thus hence the a
    an this that these those there they it he she we you who what which where why how both each
    every everyone everybody nobody someone somebody nothing none all some most many several
    members participants action actions decision decisions owner open due note no not yes agreed
    to by from with without during until once only even please let either neither another other
    others new their its our his her your my plus per
    """
    )
)
"""Words that are capitalised only because a sentence begins with them."""

BEFORE_TO = frozenset(
    _list(
        """
    talk speak listen reply return need want agree plan try aim move switch go come get continue
    refer add due according subject prior thanks related similar look write send give report
    respond relate change lead point turn stick proceed present explain apply belong attend limit
    """
    )
)
"""Words that stand before `to` without being somebody."""

FINE_DOUBLED = frozenset(
    _list(
        """
    that had blah bye very ha no yes many so really far long bora walla
    """
    )
)
"""Words that people double on purpose."""

CHINESE_UNITS = _list(
    """
    个小时 小时 分钟 钟头 个星期 星期 个月 秒钟 秒 块钱 人民币 欧元 英镑
    美元 美金 元 块 % ％ 天 周 年 月 日 号 届 本 科 分 岁 次 倍 人 家 层 条
    项 款 种 期 点 名 位 所 门 套 台 件 页 公里 米 平米 间 个 步 轮 场 节
    课时 班 级 度
    """
)
"""Units and measure words right after a number, longer ones first."""
