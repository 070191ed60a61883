"""Whether a reply says again what an earlier one said: white space, the order of items and of what
they list, and numbering make no difference.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_NUMBERED = frozenset({"day", "id", "index", "key", "number", "position"})
"""Fields that say which item it is: their digits are numbering."""
_NUMBERING = re.compile(
    r"^[ \t]*(?:[-*#(\[]+[ \t]*)?(?:\d{1,4}|[ivx]{1,5}|[a-z])[.):\]、．)][ \t]*"
    r"|^[ \t]*第[ \t]*[\d一二三四五六七八九十]{1,4}[ \t]*[天日条章节项点][ \t]*[:：、.]?",
    re.I | re.M,
)
_SPACE = re.compile(r"[\s\u200b\ufeff]+")
_DIGITS = re.compile(r"\d+")


def fingerprint(text: str, items: Sequence[Mapping[str, Any]]) -> str:
    """Equal for replies that say the same. `items` are those that satisfied the schema; without
    any the text counts as it is."""
    said = sorted(_said(item) for item in items) if items else [_SPACE.sub("", text)]
    told = json.dumps(said, ensure_ascii=True)
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def repeats(known: Sequence[str], mark: str, items: int, fresh: int) -> bool:
    """Whether a reply of so many items, of which `fresh` were new, repeats one that is known.

    New by their numbers alone are several items that were all said before. One item may be like an
    earlier one, as two days of rest are; one that is said a third time is not meant.
    """
    return mark in known and (not fresh or items > 1 or _again(mark) in known)


def noted(known: Sequence[str], mark: str) -> str:
    """What a part keeps of a reply: its mark, or that it came again."""
    return _again(mark) if mark in known else mark


def _again(mark: str) -> str:
    return f"{mark}:2"


def _said(value: Any, name: str = "") -> str:
    if isinstance(value, Mapping):
        fields = {key: _said(inner, key) for key, inner in value.items()}
        return json.dumps(fields, sort_keys=True)
    if isinstance(value, list | tuple):
        return json.dumps(sorted(_said(inner) for inner in value))
    if isinstance(value, str):
        return _SPACE.sub("", _DIGITS.sub("", value) if name in _NUMBERED else _plain(value))
    return "" if name in _NUMBERED else json.dumps(value)


def _plain(text: str) -> str:
    """Lines without their numbers, also without two of them."""
    return _NUMBERING.sub("", _NUMBERING.sub("", text))
