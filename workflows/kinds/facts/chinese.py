"""Numbers in Chinese text: digits with Chinese units, and numerals as people write and say them."""

from __future__ import annotations

import re

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.mentions import CURRENCIES, SPANS, Mention, values_of

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
           "八": 8, "九": 9}  # fmt: skip
_SCALES = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}
_NUMERAL = re.compile(
    r"(百分之)?([零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+)?)"
)
_ARABIC = re.compile(
    r"(百分之)?(?<![A-Za-z0-9_.#/:-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?([万亿千百]?)"
    r"(?![A-Za-z_:/-]|\.?\d)"
)
LONGEST_NUMBER = 20
"""Characters; what is longer counts nothing."""
_NAMED_BEFORE = frozenset("第初高大小周期老")
"""初三, 第二, 周三 are names, not amounts."""


def chinese_numbers(text: str) -> list[Mention]:
    """Numbers beside Chinese characters; others are the English reader's."""
    mentions = [
        mention for found in _ARABIC.finditer(text) if (mention := _arabic(text, found)) is not None
    ]
    for found in _NUMERAL.finditer(text):
        mention = _numeral(text, found)
        if mention is not None:
            mentions.append(mention)
    return sorted(mentions, key=lambda mention: mention.start)


def _arabic(text: str, found: re.Match[str]) -> Mention | None:
    if len(found.group(2)) > LONGEST_NUMBER:
        return None
    value = float(found.group(2).replace(",", ""))
    value *= {"百": 100, "千": 1000, **_LARGE}.get(found.group(3), 1)
    near = text[max(0, found.start() - 2) : found.start()] + text[found.end() : found.end() + 3]
    if not re.search(r"[\u4e00-\u9fff]", near) and not found.group(1):
        return None
    end = found.end() if found.group(3) else found.end(2)
    values = {value}
    if re.fullmatch(r"\d\d", found.group(2)) and re.match(r"\s?年", text[end:]):
        values.add(value + (1900 if value >= 50 else 2000))
    return _with_unit(text, found.start(), end, values, "digits", percent=bool(found.group(1)))


def _numeral(text: str, found: re.Match[str]) -> Mention | None:
    if not re.search(r"[零〇一二两三四五六七八九十]", found.group(2)):
        return None
    values = numeral_values(found.group(2)) if len(found.group(2)) <= LONGEST_NUMBER else set()
    if not values:
        return None
    mention = _with_unit(
        text, found.start(), found.end(), values, "numerals", percent=bool(found.group(1))
    )
    named = found.start() > 0 and text[found.start() - 1] in _NAMED_BEFORE
    counted = bool(mention.unit or mention.nouns)
    if named or not counted:
        return Mention(
            start=mention.start,
            end=mention.end,
            number_end=mention.number_end,
            values=mention.values,
            unit=mention.unit,
            style="numerals",
        )
    return mention


def numeral_values(text: str) -> set[float]:
    """二十五 -> 25; 八八 -> 88 and 1988; 三点五 -> 3.5; 十几 is left to its 10."""
    whole, _, decimals = text.partition("点")
    fraction = "".join(str(_DIGITS[character]) for character in decimals)
    if all(character in _DIGITS for character in whole):
        if not whole:
            return set()
        number = float("".join(str(_DIGITS[character]) for character in whole))
        values = {number + (float(f"0.{fraction}") if fraction else 0.0)}
        if len(whole) == 2:
            values |= {1900.0 + number, 2000.0 + number}
        return values
    total = section = digit = 0
    last = 1
    for character in whole:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _SCALES:
            last = _SCALES[character]
            section += (digit or 1) * last
            digit = 0
        else:
            last = _LARGE[character]
            total = (total + section + digit or 1) * last
            section = digit = 0
    values = {float(total + section + digit) + (float(f"0.{fraction}") if fraction else 0.0)}
    if digit and last > 10:
        values.add(float(total + section + digit * last // 10))
    return values


def _with_unit(
    text: str, start: int, end: int, values: set[float], style: str, *, percent: bool
) -> Mention:
    number_end, unit, nouns, seconds = end, "", tuple[str, ...](), frozenset[float]()
    after = text[end : end + 8]
    skipped = len(after) - len(after.lstrip(" 多余来几"))
    rest = after[skipped:]
    if text[start - 1 : start] in ("¥", "￥", "$", "€", "£"):
        start -= 1
        unit = CURRENCIES[text[start]]
    elif percent:
        unit = "%"
    else:
        for name in lexicon.CHINESE_UNITS:
            if rest.startswith(name):
                end += skipped + len(name)
                unit, nouns, seconds = _unit(name, values, rest[len(name) :])
                break
    large = max(values) >= 10 or any(value != int(value) for value in values)
    money = unit in ("%", *CURRENCIES.values())
    return Mention(
        start=start,
        end=end,
        number_end=number_end,
        values=values_of(values),
        unit=unit,
        nouns=nouns,
        strong=money or (large and (bool(unit or nouns) or style == "digits")),
        seconds=seconds,
        style=style,
    )


def _unit(
    name: str, values: set[float], rest: str
) -> tuple[str, tuple[str, ...], frozenset[float]]:
    if name in CURRENCIES:
        return CURRENCIES[name], (), frozenset()
    if name in "%％":
        return "%", (), frozenset()
    if name in SPANS:
        return "s", (name,), values_of(value * SPANS[name] for value in values)
    if name == "个":
        counted = re.match(r"[\u4e00-\u9fff]{2}", rest)
        return "", (counted.group(),) if counted else (), frozenset()
    return "", (name,), frozenset()


def numeral(value: int) -> str:
    """1..99 as numerals."""
    ones = "零一二三四五六七八九"
    if value < 10:
        return ones[value]
    tens, rest = divmod(value, 10)
    return ("" if tens == 1 else ones[tens]) + "十" + (ones[rest] if rest else "")
