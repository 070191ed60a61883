"""What a comparable value is, and the units that values come in."""

from dataclasses import dataclass

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CURRENCIES = {
    **dict.fromkeys(("euro", "euros", "eur", "€", "欧元"), "EUR"),
    **dict.fromkeys(("pound", "pounds", "gbp", "£", "quid", "英镑"), "GBP"),
    **dict.fromkeys(("dollar", "dollars", "usd", "$", "bucks", "美元", "美金"), "USD"),
    **dict.fromkeys(("yuan", "rmb", "cny", "¥", "元", "块", "块钱", "人民币"), "CNY"),
}
# Each in the smallest of its family, so that "half an hour" meets "30 minutes".
DURATIONS = {
    **dict.fromkeys(("minute", "minutes", "min", "mins", "分钟"), ("minutes", 1)),
    **dict.fromkeys(("hour", "hours", "小时", "个小时", "钟头"), ("minutes", 60)),
    **dict.fromkeys(("second", "seconds", "secs", "秒", "秒钟"), ("seconds", 1)),
    **dict.fromkeys(("day", "days", "天"), ("days", 1)),
    **dict.fromkeys(("week", "weeks", "星期", "周", "个星期"), ("days", 7)),
    **dict.fromkeys(("month", "months", "个月"), ("months", 1)),
    **dict.fromkeys(("year", "years"), ("months", 12)),
}
FAMILIES = frozenset(family for family, _ in DURATIONS.values())
PEOPLE = frozenset(("people", "persons", "participants", "attendees", "人", "位", "名"))


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value in a text. `start:end` is the number or name alone, `phrase_end` is behind its unit.

    kind: what it may be compared with; units: words, one of which both must have (empty: any);
    numbers: what it can mean (weekdays and months count from 1); factor: of its unit.
    """

    kind: str
    units: frozenset[str]
    numbers: frozenset[float]
    start: int
    end: int
    phrase_end: int
    factor: float = 1

    @property
    def scaled(self) -> frozenset[float]:
        return frozenset(round(number * self.factor, 6) for number in self.numbers)


def value_of(
    kind: str, match_span: tuple[int, int], *numbers: float, unit: str = "", phrase_end: int = 0
) -> Value:
    return Value(
        kind=kind,
        units=frozenset({unit} if unit else ()),
        numbers=frozenset(numbers),
        start=match_span[0],
        end=match_span[1],
        phrase_end=max(phrase_end, match_span[1]),
    )
