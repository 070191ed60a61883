"""Numbers as people say and write them, in English and Chinese, and back."""

import re
from collections.abc import Sequence

UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SMALL = {
    **{word: at for at, word in enumerate(UNITS)},
    **{word: 20 + 10 * at for at, word in enumerate(TENS)},
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
WORDS = frozenset({*SMALL, *SCALES})
DIGITS_ZH = {char: at for at, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
SCALES_ZH = {"十": 10, "百": 100, "千": 1000}
BIG_ZH = {"万": 10**4, "亿": 10**8}
NUMERAL_ZH = "零〇一二两三四五六七八九十百千万亿"


def read_english(spoken: Sequence[str]) -> frozenset[float]:
    """What a run of number words can mean: "twelve fifty" is 12.5 or 1250. Empty: nothing sure."""
    if "point" in spoken:
        return _with_point(spoken)
    total, group, parts = 0.0, 0.0, 0
    last = ""
    juxtaposed: list[float] = []
    for word in spoken:
        if word == "and":
            continue
        if word in SCALES:
            scale = SCALES[word]
            if scale == SCALES["hundred"]:
                group = max(group, 1) * scale
            else:
                total, group = total + max(group, 1) * scale, 0
        elif last in SMALL and not (last in TENS and 0 < SMALL[word] < SMALL["ten"]):
            juxtaposed.append(total + group)
            total, group, parts = 0, SMALL[word], parts + 1
        else:
            group += SMALL[word]
        last = word
    value = total + group
    if not parts:
        return frozenset({value})
    first = juxtaposed[0]
    if parts == 1 and first < SCALES["hundred"] and SMALL["ten"] <= value < SCALES["hundred"]:
        return frozenset({first + value / 100, first * 100 + value})
    return frozenset()


def _with_point(spoken: Sequence[str]) -> frozenset[float]:
    at = list(spoken).index("point")
    whole = read_english(spoken[:at]) if at else frozenset({0.0})
    digits = [SMALL.get(word, -1) for word in spoken[at + 1 :]]
    if len(whole) != 1 or not digits or not all(0 <= digit <= SMALL["nine"] for digit in digits):
        return frozenset()
    return frozenset({next(iter(whole)) + float("0." + "".join(map(str, digits)))})


def read_chinese(numeral: str) -> float | None:
    """The value of a Chinese numeral, digits read out (八八) too; None for what is no number."""
    if all(char in DIGITS_ZH for char in numeral):
        if len(numeral) == 1 or "零" in numeral or "〇" in numeral or _same_length_year(numeral):
            return float("".join(str(DIGITS_ZH[char]) for char in numeral))
        return None  # 七八 is "seven or eight"
    total, section, digit = 0.0, 0.0, 0.0
    for char in numeral:
        if char in DIGITS_ZH:
            if digit:
                return None
            digit = DIGITS_ZH[char]
        elif char in SCALES_ZH:
            section, digit = section + (digit or 1) * SCALES_ZH[char], 0
        else:
            total, section, digit = total + (section + digit or 1) * BIG_ZH[char], 0, 0
    return total + section + digit


def number_zh(text: str) -> float | None:
    """A number in digits or Chinese numerals."""
    return float(text) if text[0].isdigit() else read_chinese(text)


def _same_length_year(numeral: str) -> bool:
    """八八, 一九八八: digits read out as a year; neighbours like 七八 are an estimate instead."""
    if len(numeral) == len("一九八八"):
        return True
    first, second = (DIGITS_ZH[char] for char in numeral[:2])
    return len(numeral) == len("八八") and second != first + 1


def write_plain(value: float) -> str:
    """12.5 -> "12.5", 25.0 -> "25"."""
    return str(int(value)) if value == int(value) else f"{value:.4f}".rstrip("0")


def write_english(value: float) -> str:
    """Words up to ninety-nine, digits beyond."""
    if value != int(value) or not 0 <= value < SCALES["hundred"]:
        return write_plain(value)
    number = int(value)
    if number < len(UNITS):
        return UNITS[number]
    tens, rest = divmod(number, 10)
    return TENS[tens - 2] + (f"-{UNITS[rest]}" if rest else "")


def write_chinese(value: float, *, liang: bool = False) -> str:
    """Chinese numeral up to ninety-nine, digits beyond; `liang` writes 两 before a measure word."""
    if value != int(value) or not 0 <= value < SCALES["hundred"]:
        return write_plain(value)
    tens, rest = divmod(int(value), 10)
    digits = "零一二三四五六七八九"
    if not tens:
        return "两" if liang and rest == len("两两") else digits[rest]
    return ("" if tens == 1 else digits[tens]) + "十" + (digits[rest] if rest else "")


def write_like(value: float, sample: str) -> str:
    """Write a value the way `sample` is written: digits (with its separators), words, Chinese."""
    if re.search(r"[A-Za-z]", sample):
        written = write_english(value)
        return written[0].upper() + written[1:] if sample[0].isupper() else written
    if re.search(r"\d", sample):
        if "," in sample and value == int(value):
            return f"{int(value):,}"
        decimals = re.search(r"\.(\d+)$", sample)
        if decimals and len(decimals.group(1)) == len("50") and value != int(value):
            return f"{value:.2f}"
        return write_plain(value)
    return write_chinese(value, liang="两" in sample or sample in DIGITS_ZH)
