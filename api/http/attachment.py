"""Names of files that are sent: RFC 6266, with names in any script, whatever they were called."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"\\/:*?<>|\u2028\u2029]+')
_LONGEST = 80
_ENDING = re.compile(r"[A-Za-z0-9]{1,10}")
_JOINS_EMOJI = "\u200d"


def safe_stem(text: str, instead: str = "document") -> str:
    """A name no system stumbles over and no eye misreads: no separators, no control signs or marks
    that turn the direction of writing, no dot at its ends."""
    shown = "".join(
        sign for sign in text if unicodedata.category(sign) != "Cf" or sign == _JOINS_EMOJI
    )
    words = " ".join(_UNSAFE.sub(" ", shown).split())
    return words.strip(" .")[:_LONGEST].strip(" .") or instead


def safe_name(name: str) -> str:
    """The same of a whole file name; its ending stays."""
    stem, dot, ending = name.rpartition(".")
    if not dot or not _ENDING.fullmatch(ending):
        return safe_stem(name)
    return f"{safe_stem(stem)}.{ending}"


def disposition(name: str) -> str:
    """The header's value; programs that know no UTF-8 get what of the name is ASCII."""
    stem, dot, ending = name.rpartition(".")
    stem, ending = (stem, f".{ending}") if dot else (name, "")
    plain_stem = stem.encode("ascii", "ignore").decode().strip(" -.") or "document"
    plain = f"{plain_stem}{ending.encode('ascii', 'ignore').decode()}"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
