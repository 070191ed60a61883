"""Where a Chinese name ends: the segmenter takes what follows a name of two characters for its
third (张伟下周五, 张伟先写). A third character counts only where the texts give reason to."""

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from deploy.offline_model.names import BODIES, SURNAMES, TITLES, Name

FOLLOWING = frozenset(
    "下先在说要会也将把和与对从给向让就还已应可需负提表认等上今昨周月年日来去再又都只不没想能得写做交发拿看问"
    "讲谈听找请叫使最后前当每第一两二三四五六七八九十马立即尽按正曾必须主亲另首随然及并或则的了吗呢吧啊着过是有"
    "用到因由以为跟同被而但且才刚更很太便却似像若如待拟仅均未别该至往比据经"
)
"""Characters that often stand behind a name, and hardly ever end one."""
MOST = 8
"""Names that may begin alike; what goes on in more ways is a name of its own."""
_HAN = "[\u3400-\u9fff]"
_NICK = frozenset("小老阿")
_LONG_TITLES = "|".join(title for title in TITLES if len(title) > 1)


def may_run_on(name: Name) -> bool:
    """Whether the end of the name is the segmenter's guess: no kind of body closes it."""
    return name.sort not in BODIES and (name.sort == "person" or name.text[0] in SURNAMES)


def is_whole(name: str, text: str, labels: AbstractSet[str]) -> bool:
    """Whether the last character belongs to the name: a speaker is called so, or it stands alone
    or before a title somewhere in `text`."""
    if name in labels:
        return True
    if len(name) < 3 or name[-1] in FOLLOWING:
        return False
    alone = rf"(?<!{_HAN}){name}(?!{_HAN})|{name}(?:{_LONG_TITLES})"
    return re.search(alone, text) is not None


def runs_on(name: Name, before: str, text: str, whole: Callable[[str], bool]) -> bool:
    """Whether the name is one that `text` knows, and the character behind it.

    `before` is the character in front of it: the segmenter cuts 小李先 into 小 and 李先.
    `whole` tells whether a name is whole.
    """
    if not may_run_on(name):
        return False
    if len(name.text) > 2 and _is_known(name.text[:-1], text, whole):
        return True
    front = before in SURNAMES or before in _NICK
    return len(name.text) > 1 and front and before + name.text[:-1] in text


def _is_known(head: str, text: str, whole: Callable[[str], bool]) -> bool:
    """Whether the text has this name, and not only as the beginning of longer ones."""
    following = {
        text[found.end() : found.end() + 1] for found in re.finditer(re.escape(head), text)
    }
    return len(following) > MOST or any(not whole(head + one) for one in following)


def without_following(name: str) -> str:
    """张伟 of 张伟先: a last character that hardly ever ends a name is none of it."""
    return name[:-1] if len(name) == 3 and name[-1] in FOLLOWING else name
