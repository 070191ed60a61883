"""Words of English and Chinese text with their places: what comparing by shared words needs."""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# Spoken filler counts as empty: in transcripts it is half of all words, and all lines share it.
_STOP = """
    a an the and or but if then than so as of at by for from in into on onto to up down with about
    over under out off is are was were be been being am do does did done have has had having will
    would shall should can could may might must i you he she it we they me him her us them my your
    his its our their this that these those there here what which who whom whose when where why
    how not no nor yes yeah yep okay ok right well um uh hmm mm mmm hm ah oh eh like just really
    very quite maybe perhaps also too only more most much many some any all both each every other
    another such same own s t re ve ll d m don didn doesn isn gonna wanna gotta kind sort thing
    things stuff lot bit one ones get got go going went come know think mean say said see look
    want let make vocalsound disfmarker gap cause because now actually basically guess sure fine
    good
"""
_STOP_ZH = """
    的 了 是 在 我 你 他 她 它 们 我们 你们 他们 咱们 这 那
    这个 那个 这些 那些 这样 那样 就 就是 也 都 和 与 及 或 而 但
    但是 所以 因为 如果 那么 然后 其实 可能 比如 比较 非常 特别 可以 能 会 要
    有 没 没有 不 不是 很 更 最 还 还是 又 再 已经 一个 一些 一样
    一下 一定 什么 怎么 哪 哪些 谁 吗 吧 呢 啊 对 好 说 觉得 现在
    时候 自己 大家 东西 事情 这件 到 从 把 被 让 给 对于 关于 通过 进行
    以及 上 下 中 里 个 为 之 等 并 则 将 以 其 该 此
    各 每 某 做 去 来 看 想 讲 听 刚才 今天 当时 里面 方面 作为
    应该 需要
"""
STOP = frozenset(_STOP.split())
STOP_ZH = frozenset(_STOP_ZH.split())
_PIECE = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)*|[\u3400-\u9fff]+")
_SENTENCE = re.compile(r"[^\n.!?。！？；;]+(?:[.](?=\S)[^\n.!?。！？；;]*)*[.!?。！？；;]*")
_SUFFIXES = ("ations", "ation", "ingly", "ings", "ing", "edly", "ed", "ies", "es", "s", "ly", "e")
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Word:
    """A content word: its stem and where it stands in its text."""

    stem: str
    start: int
    end: int


def is_chinese(text: str) -> bool:
    """Whether at least a fifth of the letters at its beginning are Han characters."""
    head = text[:2000]
    letters = len(re.findall(r"[^\W\d_]", head))
    return letters > 0 and len(_HAN.findall(head)) * 5 >= letters


def stem(word: str) -> str:
    """A crude stem; enough for `priced`, `prices` and `price` to meet."""
    low = word.lower()
    for suffix in _SUFFIXES:
        if low.endswith(suffix) and len(low) - len(suffix) >= 3:
            return low[: -len(suffix)]
    return low


def words(text: str, *, keep_stop: bool = False) -> Sequence[Word]:
    """The content words of a text, in order; numbers are words too."""
    found: list[Word] = []
    plain = _joined_letters(text)
    for piece in _PIECE.finditer(plain):
        part = piece.group()
        if _HAN.match(part):
            found += _chinese(part, piece.start(), keep_stop=keep_stop)
        elif keep_stop or (part.lower() not in STOP and (len(part) > 1 or part.isdigit())):
            found.append(Word(stem(part), piece.start(), piece.end()))
    return found


def _joined_letters(text: str) -> str:
    """`L_C_D_` is how transcripts spell LCD; blanks after it keep all offsets."""

    def joined(match: re.Match[str]) -> str:
        return match.group().replace("_", "").ljust(len(match.group()))

    return re.sub(r"\b(?:[A-Za-z]_){2,}", joined, text)


def _chinese(run: str, offset: int, *, keep_stop: bool) -> Iterable[Word]:
    at = 0
    for part in cutter()(run):
        start, at = at, at + len(part)
        if keep_stop or (part not in STOP_ZH and len(part) > 1):
            yield Word(part, offset + start, offset + at)


@functools.cache
def cutter() -> Callable[[str], Sequence[str]]:
    """The word segmenter; loaded at first use, since its dictionary takes a third of a second."""
    from rjieba import cut

    return lambda run: list(cut(run, False))


def sentences(text: str) -> Sequence[tuple[int, int]]:
    """(start, end) of each sentence; a line end always ends one."""
    spans = []
    for match in _SENTENCE.finditer(text):
        raw = match.group()
        start = match.start() + len(raw) - len(raw.lstrip())
        if raw.strip():
            spans.append((start, match.start() + len(raw.rstrip())))
    return spans
