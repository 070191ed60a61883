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
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
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

NO_NAMES = frozenset(
    _list(
        """
    任务 任务一 任务二 方案 方向 方法 方式 方面 时间 时长 成本 成果 程序 周期 周一
    周二 周三 周四 周五 周六 周日 周末 周边 金额 万一 石油 马上 常规 安全 安排
    于是 高层 高管 高中 高校 白天 白板 江苏 钱款 龙头 雷达 黄金 林业 汤料 温度
    项目 项目组 项目部 项目经理 应用 应急 史料 谈话 谈判 万元 余下 余额 余款 何时
    何地 何人 罗列 常委 常务 管理 管理层 管理员 管控 全体 全员 全部 武汉 江西 江北
    关于 关键 关注 关系 计划 计算 平台 平时 章程 章节 华南 华东 华北 华中 党委
    党员 党支部 车间 车辆 文档 文件 文案 广告 广州 明确 明细 连接 单位 解决 容量
    路线 路径 师傅 师资 冷链 习惯 包装 包括 查询 查看 房产 左右 后勤 后期 后续
    金融 金融部 高一 高二 高三 万科 程度 成员 成立 钟头 段落 侯任 汤姆 陈述 陈列
    许可 许多 何必 郑重 严格 严重 钱包 戴尔 孔雀 向上 向下 向总 任何 任课 尤其
    """
    )
)
"""Words that begin like a surname: labels of an item, groups, days."""

COMMON_TERMS = frozenset(
    _list(
        """
    ok tv pc uk us usa eu un uae id it hr pr vp ceo cto cfo coo cio pm am faq pdf html url www http
    https api app ui ux ai qa asap eta fyi tba tbc tbd todo aob na cc dr mr ms phd mba bsc msc ba ma
    vs etc eg ie cm mm km kg mg ml gb mb kb tb ghz mhz hz kwh mw kw utc gmt cet bst est pst pdt edt
    kpi okr roi q1 q2 q3 q4 h1 h2 fy usd eur gbp cny rmb dvd cd sms usb wifi pin atm gps vat gdp ngo
    youtube github linkedin facebook whatsapp powerpoint javascript iphone ipad wechat email excel
    word ppt bug demo deadline kickoff review email team leader vip diy logo offline online note
    notes action actions present date time owner due status next and the for with minutes agenda
    a4 a3 t1 b2b b2c p1 p2 p3 v1 v2 v3 covid19 mp3 mp4 3d 2d no yes all
    """
    )
)
"""Terms that need not be said in the meeting."""

AGENDA_WORDS = _list(
    """
    discussion discuss review update updates overview introduction presentation report status next
    steps project meeting item items general plans planning open questions topics 讨论 分享 看法
    情况 介绍 汇报 方法 经验 设想 价值 问题 总结 安排 议题 内容 说明 的看 的方 的设
    """
)
"""Words of an agenda's entries that say nothing of what they are about."""

TIME_WORDS = _list(
    """
    next last coming day days week weeks month months year tomorrow tonight today yesterday weekend
    until till before after later end due deadline within 之前 以前 下周 本周 月底 明天 后天 今天
    下个 个月 周后 天后 年底 周末 截止 前完 完成
    """
)
"""Words that tell when, and not what."""

DECISION_WORDS = _list(
    """
    decided decision decisions agreed agree agreement approved approve confirmed confirm accepted
    adopted rejected resolved team group meeting everybody everyone all members participants
    unanimously vote voted 决定 同意 通过 一致 大家 会议 与会 讨论 批准 确认 采用
    """
)
"""Words in which minutes tell of a decision and nobody spoke in it."""
