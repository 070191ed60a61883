"""What an entry of a day is: its sort, by the word that stands before it, in both languages."""

from __future__ import annotations

import re
from enum import StrEnum


class Sort(StrEnum):
    """FLIGHT to TRANSPORT go from one city to another or through one."""

    FLIGHT = "flight"
    TRAIN = "train"
    DRIVE = "drive"
    TAXI = "taxi"
    TRANSPORT = "transport"
    MEAL = "meal"
    SIGHT = "sight"
    STAY = "stay"
    OTHER = "other"


ROADS = frozenset({Sort.DRIVE, Sort.TAXI})
LEGS = frozenset({Sort.FLIGHT, Sort.TRAIN, Sort.DRIVE, Sort.TAXI, Sort.TRANSPORT})

_WORDS = {
    Sort.FLIGHT: r"flights?|fly(?:ing)?|plane|air|airplane|航班|飞机|乘飞机",
    Sort.TRAIN: r"trains?|rail|high-speed rail|火车|高铁|动车|列车",
    Sort.DRIVE: r"(?:self[- ])?driv(?:e|ing)|car|自驾|开车|驾车",
    Sort.TAXI: r"taxi|cab|打车|出租车|的士",
    Sort.TRANSPORT: r"transport(?:ation)?|transfer|travel|leg|trip|bus|coach|metro|subway|ferry"
    r"|walk|交通|大巴|公交|地铁|步行|轮渡|接送",
    Sort.MEAL: r"meals?|breakfast|brunch|lunch|dinner|supper|food|snack|restaurant"
    r"|餐饮|用餐|早餐|午餐|晚餐|早饭|午饭|晚饭|美食|小吃",
    Sort.SIGHT: r"sights?|sightseeing|visit|attractions?|activity|tour|museum"
    r"|景点|游览|参观|活动|游玩",
    Sort.STAY: r"stay|hotel|accommodation|lodging|room|night|hostel|check-?in"
    r"|住宿|酒店|旅馆|入住|民宿",
}
_SORTS = {sort: re.compile(rf"(?:{words})", re.IGNORECASE) for sort, words in _WORDS.items()}
_CHINESE = {
    "flight": "航班",
    "train": "火车",
    "drive": "自驾",
    "self-driving": "自驾",
    "taxi": "出租车",
    "transport": "交通",
    "breakfast": "早餐",
    "lunch": "午餐",
    "dinner": "晚餐",
    "meal": "用餐",
    "sight": "景点",
    "visit": "景点",
    "attraction": "景点",
    "stay": "住宿",
    "hotel": "住宿",
    "other": "其他",
}


def sort_of(word: str) -> Sort:
    """The sort that a word names; OTHER for words nobody knows."""
    bare = word.strip()
    return next((sort for sort, words in _SORTS.items() if words.fullmatch(bare)), Sort.OTHER)


def in_language(word: str, *, chinese: bool) -> str:
    """The word for an entry as a Chinese plan writes it; others keep theirs."""
    return _CHINESE.get(word.strip().lower(), word) if chinese else word
