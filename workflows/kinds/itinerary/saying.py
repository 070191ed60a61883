"""What a sentence asks of a trip: "a 5-day trip from A to B for 2 people", 我一个人去杭州玩两天.

Only what is said plainly is read; everything else stays with the model and the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_NUMERALS = {
    **{mark: value for value, mark in enumerate("一二三四五六七八九十", start=1)},
    **{"两": 2, "俩": 2},
}
_WORDS = {
    word: value
    for value, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
} | {"single": 1, "a couple of": 2}
_N = r"(\d{1,3}|[一二两三四五六七八九十]|" + "|".join(_WORDS) + ")"
_DAYS = (
    re.compile(r"(?<![\d.])(\d{1,3})[\s-]*(?:days?\b|天|日游)", re.IGNORECASE),
    re.compile(rf"\b{_N}[\s-]days?\b|([一二两三四五六七八九十])(?:天|日游)", re.IGNORECASE),
)
_TRIP_OF_DAYS = re.compile(
    rf"\b{_N}[\s-]days?\s+(?:\w+\s+){{0,2}}?"
    r"(?:trip|travel|plan|itinerary|tour|journey|vacation|holiday)"
    rf"|\b(?:trip|travel|journey|vacation|holiday)\b[^.!?\n]{{0,60}}"
    rf"\b(?:for|of|over|spanning)\s+{_N}\s+days\b"
    rf"|(?:玩|游玩|旅行|旅游){_N}天|{_N}(?:日游|天的?(?:行程|旅行|旅游))",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    rf"\b(?:for|of)\s+(?:a\s+)?(?:group\s+of\s+)?{_N}"
    rf"(?:\s+(?:people|persons?|travell?ers|adults|of us)\b|\s*[.,;?!])|\bgroup\s+of\s+{_N}\b"
    rf"|\b{_N}\s+(?:people|persons|travell?ers|adults)\b|{_N}\s*(?:个?人|位)(?!民币|均)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"和(?:我)?(?:女朋友|男朋友|朋友|老婆|老公|妻子|丈夫|妈妈|爸爸|同事)|夫妻|情侣"
    r"|\bmy (?:wife|husband|partner|girlfriend|boyfriend) and (?:I|me)\b|\bas a couple\b",
    re.IGNORECASE,
)
_BUDGET = re.compile(
    r"budget(?:\s+(?:is|of|at|set|for|to|around|about|up|the|this|trip|stands))*\s*:?\s*"
    r"(?P<mark>[$€£¥])?\s?(?P<en>\d[\d,]*(?:\.\d+)?)(?:\s?(?P<code>[A-Z]{3})\b)?"
    r"|预算(?:为|是|在|约|大概)?\s*(?P<zh>\d[\d,]*(?:\.\d+)?)\s*(?P<wan>万)?",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"\b(?:under|below|within|at most|up to|(?:no more|less) than|with|for|spend|have)\s+"
    r"(?:about\s+|around\s+)?(?:(?P<mark>[$€£])\s?(?P<marked>\d[\d,]*)(?![\d,]*\d)"
    r"|(?P<en>\d[\d,]*)\s?(?P<name>dollars|euros|pounds|USD|EUR|GBP|CHF)\b)"
    r"(?!\s*(?:per|a|an|each|every)\b)"
    r"|(?:最多|至多|不超过|控制在)\s*(?P<most>\d[\d,]*)\s*(?P<wan>万)?\s*(?P<kind>欧元|美元|英镑|元|块)"
    r"|(?<![均个人天晚每\d,])(?P<within>\d[\d,]*)\s*(?P<many>万)?\s*(?P<sort>欧元|美元|英镑|元|块)(?:以内|之内|以下)",
    re.IGNORECASE,
)
_NAMED = {
    **{"dollars": "USD", "euros": "EUR", "pounds": "GBP"},
    **{"欧元": "EUR", "美元": "USD", "英镑": "GBP", "元": "CNY", "块": "CNY"},
}
_MARKS = {"$": "USD", "€": "EUR", "£": "GBP"}
_CITY = (
    r"((?:(?:St|Mt|Ft)\. )?[A-Z][\w'’-]*(?: (?:de|del|la|of|the) [A-Z][\w'’-]*| [A-Z][\w'’-]*)*)"
)
_FROM = re.compile(
    rf"\b(?:from|leaving|starting in|start in|based in)\s+{_CITY}"
    r"|(?:当前位置|从|出发地[是：:]?)\s*([\u3400-\u9fff]{2,6}?)(?=[。，,出去到坐\s]|$)"
)
_AND = re.compile(rf"((?:, {_CITY})*)(?:,? and | & ){_CITY}")
"""After a goal. A name behind a comma alone is where the goal lies: "Austin, Texas"."""
_TO = re.compile(
    rf"\b(?:to|visit(?:ing)?|heading to|explor(?:e|ing)|in)\s+{_CITY}"
    r"|(?:去|到|前往)([\u3400-\u9fff]{2,4}?)(?=玩|旅|游|看|住|[，,。]|[两一二三四五六七八九十\d])"
)
_CITIES = re.compile(rf"\b(?i:{_N}\s+(?:different\s+)?cities\s+(?:in|of|across))\s+{_CITY}")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_NO_PLACES = {*_MONTHS, "I", "We", "The", "Our", "My"}
_MONTH_EN = r"(" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + r")"
_DAY_EN = _MONTH_EN + r"\.?\s+(\d{1,2})"
_SPAN_EN = re.compile(
    rf"{_DAY_EN}(?:st|nd|rd|th)?(?:,?\s+(\d{{4}}))?\s*(?:to|until|till|through|[-–])\s*"
    rf"(?:{_DAY_EN}|(\d{{1,2}}))(?:st|nd|rd|th)?,?\s+(\d{{4}})",
    re.IGNORECASE,
)
_SPAN_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})\s*(?:to|until|till|through|至|到|[-–—~])\s*(\d{4}-\d{2}-\d{2})"
)
_SPAN_ZH = re.compile(
    r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]?\s*(?:至|到|[-–—~])\s*(?:(\d{4})年)?(?:(\d{1,2})月)?(\d{1,2})[日号]"
)
_BEGINS = r"\b(?:from|start(?:s|ing)?(?: on)?|beginning(?: on)?|leaving(?: on)?)\s+(?:the\s+)?"
_START_EN = (
    re.compile(rf"{_BEGINS}{_DAY_EN}(?:st|nd|rd|th)?,?\s+(\d{{4}})", re.IGNORECASE),
    re.compile(
        rf"{_BEGINS}(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH_EN}\.?,?\s+(\d{{4}})",
        re.IGNORECASE,
    ),
)
_START = re.compile(
    rf"{_BEGINS}(\d{{4}}-\d{{2}}-\d{{2}})(?!\d)"
    r"|(\d{4}-\d{2}-\d{2})\s*(?:起|出发|开始)"
    r"|(\d{4})年(\d{1,2})月(\d{1,2})[日号]\s*(?:起|出发|开始)",
    re.IGNORECASE,
)
_IN_MONTH = re.compile(
    rf"\b[Ii]n ({'|'.join(_MONTHS)})\b|(?<![\d年])([1-9]|1[0-2])月(?!\d|[初中下上]旬)"
)
_RULES = "smoking|smoke|parties|party|pets?|visitors|children under 10"
_ALLOWS = re.compile(
    rf"\b(?:allow\w*|permit\w*|welcom\w*|suitable|conducive|friendly|host\w*|accept\w*|bring\w*)"
    rf"\b[^.;]{{0,40}}?\b({_RULES})\b|\b(pet|smoker|party)[- ]friendly",
    re.IGNORECASE,
)
_RULE_NAMES = {"smoke": "smoking", "smoker": "smoking", "party": "parties", "pet": "pets"}
_ROOM = re.compile(
    r"\b(entire (?:room|home|apartment|place)|private room|not shared room|shared room)s?\b",
    re.IGNORECASE,
)
_CUISINES = (
    *("Chinese", "American", "Italian", "Mexican", "Indian", "Mediterranean", "French"),
    *("Japanese", "Thai", "Korean", "Greek", "Spanish", "Vietnamese", "Turkish"),
)
_OF_FOOD = re.compile(r"\b(?:cuisines?|foods?|restaurants?|dishes)\b", re.IGNORECASE)
_TRANSPORT = (
    (
        "no flight",
        r"\b(?:no|not|without|avoid)\b[^.;]{0,30}\b(?:flights?|fly(?:ing)?|planes?)\b|不(?:坐|乘)飞机",
    ),
    (
        "no self-driving",
        r"\b(?:no|not|without|avoid)\b[^.;]{0,30}\b(?:self-)?driv(?:e|ing)\b|不(?:自驾|开车)",
    ),
    ("train", r"\bby train\b|(?:坐|乘)(?:高铁|火车|动车)"),
    ("flight", r"\bby (?:plane|air)\b|(?:坐|乘)飞机"),
    ("self-driving", r"\bby car\b|自驾"),
)


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What may be asked of a trip; None and () where nothing is."""

    start: str | None = None
    to: str | None = None
    others: tuple[str, ...] = ()
    """Places named beside `to`: "to Vienna and Salzburg"."""
    cities: int | None = None
    first: date | None = None
    last: date | None = None
    month: int | None = None
    people: int | None = None
    budget: float | None = None
    currency: str | None = None
    room_rule: str | None = None
    room_type: str | None = None
    cuisine: tuple[str, ...] = ()
    transport: str | None = None


@dataclass(frozen=True, kw_only=True)
class Said(Wishes):
    """What was read. `days` is as said, however many."""

    days: int | None = None
    sure_days: int | None = None
    """Days that are clearly those of the trip."""


def read(text: str) -> Said:
    """The wishes in a text of some sentences."""
    cities, budget = _CITIES.search(text), _BUDGET.search(text)
    room, rule = _ROOM.search(text), _ALLOWS.search(text)
    said_rule = (rule[1] or rule[2]).lower() if rule else None
    first, last = _span(text)
    trip, start = _TRIP_OF_DAYS.search(text), _place(_FROM, text)
    total = None if budget else _SUM.search(text)
    to, others = (cities[2], ()) if cities else _goals(text, but=start)
    return Said(
        days=_days(text),
        sure_days=_count(_given(trip)) if trip else None,
        start=start,
        to=to,
        others=others,
        cities=_count(cities[1]) if cities else None,
        first=first,
        last=last,
        people=_people(text),
        month=_said_month(text),
        budget=_money(budget) if budget else _total(total) if total else None,
        currency=_currency(budget) if budget else _currency_of(total) if total else None,
        room_rule=_RULE_NAMES.get(said_rule, said_rule) if said_rule else None,
        room_type=room[1].lower() if room else None,
        cuisine=_cuisines(text),
        transport=next(
            (name for name, words in _TRANSPORT if re.search(words, text, re.IGNORECASE)), None
        ),
    )


def _days(text: str) -> int | None:
    for pattern in _DAYS:
        if found := pattern.search(text):
            return _count(_given(found))
    return None


def _count(word: str) -> int:
    if word.isdigit():
        return int(word)
    return _NUMERALS.get(word) or _WORDS[word.lower()]


def _people(text: str) -> int | None:
    found = _PEOPLE.search(text)
    if found:
        return _count(_given(found))
    if re.search(r"\b(?:solo|single person|on my own|by myself)\b", text, re.IGNORECASE):
        return 1
    return 2 if _PAIR.search(text) else None


def _said_month(text: str) -> int | None:
    """Of "in May" or 五月 as 5月, without a day."""
    found = _IN_MONTH.search(text)
    if found is None:
        return None
    return int(found[2]) if found[2] else _MONTHS.index(found[1]) + 1


def _total(found: re.Match[str]) -> float:
    names = ("marked", "en", "most", "within")
    written = next(found[name] for name in names if found[name])
    return _in_full(written, found["wan"] or found["many"])


def _currency_of(found: re.Match[str]) -> str:
    if found["mark"]:
        return _MARKS[found["mark"]]
    name = found["name"] or found["kind"] or found["sort"]
    return _NAMED.get(name.lower(), name.upper())


def _money(found: re.Match[str]) -> float:
    return _in_full(found["en"] or found["zh"], found["wan"])


def _in_full(written: str, wan: str | None) -> float:
    value = float(written.replace(",", ""))
    return value * 10_000 if wan else value


def _currency(found: re.Match[str]) -> str | None:
    if found["zh"]:
        return "CNY"
    code = (found["code"] or "").upper()
    return code if code in {"USD", "EUR", "GBP", "CNY", "JPY", "CHF"} else _MARKS.get(found["mark"])


def _given(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group)


def _place(pattern: re.Pattern[str], text: str) -> str | None:
    return next((name for name, _ in _places(pattern, text)), None)


def _places(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int]]:
    """Each with where it ends."""
    for found in pattern.finditer(text):
        name = _given(found).rstrip("'’-")
        if name.split(" ")[0] not in _NO_PLACES:
            yield name, found.end()


def _goals(text: str, but: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Where the trip goes, and what is named in the same breath."""
    to, at = next(((name, end) for name, end in _places(_TO, text) if name != but), (None, 0))
    found = _AND.match(text, at) if to is not None else None
    if found is None:
        return to, ()
    named = [*found[1].split(", ")[1:], found[3]]
    others = (name.rstrip("'’-") for name in named if name.split(" ")[0] not in _NO_PLACES)
    return to, tuple(others)


def _cuisines(text: str) -> tuple[str, ...]:
    told = " ".join(part for part in re.split(r"[.?!]", text) if _OF_FOOD.search(part))
    return tuple(name for name in _CUISINES if re.search(rf"\b{name}\b", told, re.IGNORECASE))


def _span(text: str) -> tuple[date | None, date | None]:
    """The first and the last day of the trip, where they are said with their year; of a day on
    which it starts only the first."""
    try:
        if found := _SPAN_ISO.search(text):
            return date.fromisoformat(found[1]), date.fromisoformat(found[2])
        if found := _SPAN_ZH.search(text):
            year, month, day, other_year, other_month, last = found.groups()
            return date(int(year), int(month), int(day)), date(
                int(other_year or year), int(other_month or month), int(last)
            )
        if found := _SPAN_EN.search(text):
            month, day, year, last_month, last_day, day_alone, last_year = found.groups()
            last = date(int(last_year), _month(last_month or month), int(last_day or day_alone))
            return date(int(year or last_year), _month(month), int(day)), last
        for pattern, day_first in zip(_START_EN, (False, True), strict=True):
            if found := pattern.search(text):
                day, month = (found[1], found[2]) if day_first else (found[2], found[1])
                return date(int(found[3]), _month(month), int(day)), None
        if found := _START.search(text):
            if found[3]:
                return date(int(found[3]), int(found[4]), int(found[5])), None
            return date.fromisoformat(found[1] or found[2]), None
    except ValueError:
        pass
    return None, None


def _month(name: str) -> int:
    return next(
        at for at, month in enumerate(_MONTHS, 1) if month.lower().startswith(name.lower()[:3])
    )
