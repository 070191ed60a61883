"""Bytes to text, in a strict order, and refused with a hint rather than guessed wrong.

1. What a byte order mark says: UTF-8, UTF-16; UTF-16 without one is refused by its zero bytes, for
either order can read like text. 2. UTF-8. 3. GB18030, when what comes out reads like Chinese. 4.
Latin-1 (with the quotes and dashes of Windows-1252), when what comes out reads like a Western text
and like none of its neighbours (Latin-2, Latin-5). What passes as neither, or both, is refused.
"""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata
from dataclasses import dataclass

from api.reading.parsed import Unreadable, Why

HINT = "save it as UTF-8, or name its encoding (charset=…; --encoding NAME)"
_NAMED = re.compile(
    r"ascii|utf-8(-sig)?|utf-(16|32)(-[bl]e)?|gb18030|gbk|gb2312|hz|big5(hkscs)?|cp950"
    r"|shift_jis(x0213|_2004)?|cp932|euc_(jp|jis_2004|jisx0213|kr)|iso2022_(jp|kr)|cp949|johab"
    r"|iso8859-\d+|cp125\d|cp437|cp775|cp85\d|cp86\d|cp87\d|koi8-[rtu]|kz1048|ptcp154|tis-620"
    r"|mac-(roman|cyrillic|greek|iceland|latin2|turkish)"
)
"""Encodings of texts, by the names that Python gives them. It knows others, which are none, or are
read so slowly that one file keeps a process for hours."""
_MARKS = (
    (codecs.BOM_UTF32_LE, ""),
    (codecs.BOM_UTF32_BE, ""),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 200_000
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_ASCII = bytes(range(128))
_WORDS = re.compile(r"[^\W\d_]+")
# The signs that any longer Chinese text is full of: what another encoding yields by chance is not.
_COMMON = frozenset(
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对"
    "小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动"
    "方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感见明问力理尔点文几定"
    "本公特做外孩相西果走将月十实向声车全信重三机工物气每并别真打太新比才便夫再书部水像眼等体却加电主界门"
    "利海受听表德少克代员许先口由死安写性马光白或住难望教命花结乐色更拉东神记处让母父应直字场平报友关放至"
    "议项目周五四六七八九零元万布完需计划价格请讨论决告组产品客户负责确认下午上午二会好说"
)
_TYPOGRAPHY = frozenset("€‚„…‘’“”•–—™Œœ")
_SIGNS = frozenset("\xa0¡¢£¥§©ª«®°±²³´µ¶·¹º»¼½¾¿×÷")
_NEIGHBOUR = re.compile(
    r"[ÞþÐðÝý]|[õÕ](?![eE])"  # letters of Icelandic and Estonian; of Turkish and Hungarian, misread
    r"|[^\W\d_][¡-¬®-¶¸-»¼-¿÷×][^\W\d_]|[^\W\d_][±¿¡¼½¾¦¨¸¯¬¶]|(?<!\d)[¼½¾][^\W\d_]|£[^\W\d_]{2}"
)
"""What a text has that was written in another encoding of the same bytes: signs inside words."""


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """The text without its byte order mark, line ends as they were."""

    text: str
    encoding: str


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """The text of these bytes; `declared` is the encoding a person named. Raises Unreadable."""
    if not data:
        raise Unreadable(Why.EMPTY, "the file is empty; look whether it is the right one")
    found = _declared(data, declared) if declared else _marked(data) or _detected(data)
    position = found.text.find("\0")
    if position >= 0:
        raise Unreadable(
            Why.NUL,
            f"holds NUL at character {position}: it is no text file, or it is damaged",
            position=position,
        )
    if not found.text.replace("\ufeff", "").strip():
        raise Unreadable(
            Why.EMPTY, "the file is empty but for blanks; look whether it is the right one"
        )
    return found


def _declared(data: bytes, name: str) -> Decoded:
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):  # a NUL in it
        detail = f"no encoding has the name {name[:40]!r}; {HINT}"
        raise Unreadable(Why.ENCODING_WRONG, detail) from None
    if not _NAMED.fullmatch(codec.name):
        raise Unreadable(Why.ENCODING_WRONG, f"{name[:40]!r} is no encoding of text; {HINT}")
    try:
        text = data.decode(codec.name)
    except UnicodeError:
        detail = f"is no {codec.name}, though that was named as its encoding; {HINT}"
        raise Unreadable(Why.ENCODING_WRONG, detail, encoding=codec.name) from None
    return Decoded(text=text.removeprefix("\ufeff"), encoding=codec.name)


def _marked(data: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if not data.startswith(mark):
            continue
        if not encoding:
            raise Unreadable(Why.ENCODING_UNKNOWN, "is UTF-32, which is not read; save it as UTF-8")
        try:
            return Decoded(text=data[len(mark) :].decode(encoding), encoding=encoding)
        except UnicodeDecodeError as error:
            raise _mixed(data, len(mark) + error.start, encoding) from None
    return None


def _detected(data: bytes) -> Decoded:
    _refuse_unmarked(data)
    try:
        return Decoded(text=data.decode(), encoding="utf-8")
    except UnicodeDecodeError as error:
        broken = error.start
    if b"\0" in data:
        position = data.index(b"\0")
        detail = f"holds NUL at byte {position}: it is no text file, or it is damaged"
        raise Unreadable(Why.NUL, detail, position=position)
    high = len(data.translate(None, _ASCII))
    covered = sum(len(match) for match in _MULTIBYTE.findall(data))
    if covered * 2 > high:
        raise _mixed(data, broken, "utf-8")
    passing = [found for found in (_chinese(data), _western(data)) if found is not None]
    if len(passing) == 1 and (passing[0].encoding == "gb18030" or not covered):
        return passing[0]
    detail = f"is not UTF-8 at byte {broken} and reads like no other known encoding; {HINT}"
    raise Unreadable(Why.ENCODING_UNKNOWN, detail, position=broken)


def _mixed(data: bytes, position: int, encoding: str) -> Unreadable:
    """Mostly one encoding: naming the place helps more than any guess."""
    line = data.count(b"\n", 0, position) + 1
    detail = (
        f"is {encoding.upper()} but for byte {position} (line {line}): two encodings in one file, "
        "or it is damaged; open it in an editor and save it as UTF-8"
    )
    return Unreadable(Why.ENCODING_MIXED, detail, position=position, line=line, encoding=encoding)


def _refuse_unmarked(data: bytes) -> None:
    """UTF-16 without its mark: which order it has nobody can tell for certain, since the commonest
    sign of Chinese has a zero byte where ASCII has none. Raises Unreadable."""
    sample = data[:_SAMPLE]
    zeros = sample.count(0)
    if len(data) % 2 or not zeros or (zeros * 4 < len(sample) and sample.isascii()):
        return
    likelier = sample[1::2].count(0) >= sample[0::2].count(0)
    both = ("utf-16-le", "utf-16-be") if likelier else ("utf-16-be", "utf-16-le")
    orders = [order for order in both if _reads(sample, order)]
    if not orders:
        return
    names = " or ".join(order.upper() for order in orders)
    detail = (
        f"may be {names} without its mark; save it as UTF-8, or name its encoding "
        f"(charset={orders[0]}; --encoding {orders[0]})"
    )
    raise Unreadable(Why.ENCODING_UNKNOWN, detail, encodings=orders)


def _reads(sample: bytes, encoding: str) -> bool:
    """Hardly anything in it is no letter, digit, blank or punctuation."""
    try:
        text = sample[: len(sample) // 4 * 4].decode(encoding)
    except UnicodeDecodeError:
        return False
    odd = sum(unicodedata.category(sign)[0] in "CSM" and sign not in "\t\r\n" for sign in text)
    return odd * 10 <= len(text)


def _chinese(data: bytes) -> Decoded | None:
    """GB18030 whose signs are mostly Chinese, some of them the commonest ones."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    sample = text[:_SAMPLE]
    wide = [sign for sign in sample if sign > "\x7f"]
    han = [sign for sign in wide if "\u4e00" <= sign <= "\u9fff"]
    punctuation = sum("\u3000" <= sign <= "\u303f" or "\uff00" <= sign <= "\uffef" for sign in wide)
    if not han or (len(han) + punctuation) * 10 < len(wide) * 9:
        return None
    level_one = sum(b"\xb0" <= sign.encode("gb18030")[:1] <= b"\xd7" for sign in han)
    common = sum(sign in _COMMON for sign in han)
    if level_one * 10 < len(han) * 8 or common * 5 < len(han):
        return None
    return Decoded(text=text, encoding="gb18030")


def _western(data: bytes) -> Decoded | None:
    """Latin-1 whose words are mostly ASCII letters, with an accent here and there."""
    has_c1 = re.search(rb"[\x80-\x9f]", data) is not None
    encoding = "windows-1252" if has_c1 else "latin-1"
    try:
        text = data.decode("cp1252" if has_c1 else "latin-1")
    except UnicodeDecodeError:
        return None
    sample = text[:_SAMPLE]
    if any(sign > "\xff" and sign not in _TYPOGRAPHY for sign in sample):
        return None
    if _NEIGHBOUR.search(sample):
        return None
    accented = [word for word in _WORDS.findall(sample) if not word.isascii()]
    if any(len(word) > 1 and _foreign(word) for word in accented):
        return None
    lone = sum(sign in _SIGNS or sign in _TYPOGRAPHY for sign in sample)
    letters = sum(sign.isascii() and sign.isalpha() for sign in sample)
    return Decoded(text=text, encoding=encoding) if letters > 2 * lone else None


def _foreign(word: str) -> bool:
    """A word that no Western language has: mostly accents, or a capital accent after a letter."""
    accents = sum(not sign.isascii() for sign in word)
    inner = any(
        not sign.isascii() and sign.isupper() and before.islower()
        for before, sign in itertools.pairwise(word)
    )
    return accents * 2 > len(word) or inner
