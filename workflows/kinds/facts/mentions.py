"""What a number in a text is: where it stands, which values it may mean, what it counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

CURRENCIES = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "英镑": "GBP",
    "$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "美元": "USD", "美金": "USD",
    "¥": "CNY", "￥": "CNY", "rmb": "CNY", "yuan": "CNY", "元": "CNY", "块": "CNY",
    "块钱": "CNY", "人民币": "CNY",
}  # fmt: skip
PERCENT = {"%", "％", "percent", "per cent", "percentage"}
SPANS = {
    "second": 1.0, "seconds": 1.0, "秒": 1.0, "秒钟": 1.0,
    "minute": 60.0, "minutes": 60.0, "min": 60.0, "mins": 60.0, "分钟": 60.0,
    "hour": 3600.0, "hours": 3600.0, "小时": 3600.0, "个小时": 3600.0, "钟头": 3600.0,
    "day": 86400.0, "days": 86400.0, "天": 86400.0,
    "week": 604800.0, "weeks": 604800.0, "周": 604800.0, "星期": 604800.0, "个星期": 604800.0,
    "month": 2629800.0, "months": 2629800.0, "个月": 2629800.0,
    "year": 31557600.0, "years": 31557600.0, "年": 31557600.0,
}  # fmt: skip
"""Spans of time in seconds, so that half an hour is thirty minutes."""


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A number at [start, end) of a text, unit included.

    `number_end`: where the number itself ends. `values`: all it may mean (a spoken `twelve fifty`
    is 12.50 or 1250). `unit`: a currency code, `%`, `s` for a span of time, or ''. `nouns`: what is
    counted, singular. `strong`: worth checking by itself. `seconds`: the values of a span of time.
    `whole`: the values that use all of what was said, when others use a part.
    `style`: digits, words or numerals.
    """

    start: int
    end: int
    number_end: int
    values: frozenset[float]
    unit: str = ""
    nouns: tuple[str, ...] = ()
    strong: bool = False
    seconds: frozenset[float] = frozenset()
    whole: frozenset[float] = frozenset()
    style: str = "digits"

    def shifted(self, by: int) -> Mention:
        return replace(
            self, start=self.start + by, end=self.end + by, number_end=self.number_end + by
        )


def values_of(numbers: Iterable[float]) -> frozenset[float]:
    return frozenset(round(number, 4) for number in numbers)


def singular(word: str) -> str:
    """A rough singular, lower case: enough to compare two spellings of one noun."""
    word = word.lower()
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def without_marks(text: str) -> str:
    """A transcript line without marks of sounds, of the same length: `{gap}`, `L_C_D_`."""
    text = re.sub(r"\{[^{}\n]{0,40}\}", lambda found: " " * len(found.group()), text)
    return (
        re.sub(r"(?<=[A-Z])_(?=[A-Z]_)|(?<=[A-Z])_(?![A-Za-z])", " ", text) if "_" in text else text
    )
