"""What was read out of a text, kept while room lasts: bodies and sources are read again at every
step of a run, and by every verifier.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Read = TypeVar("Read")

CHARACTERS = 1_500_000
"""Of all texts whose reading a function keeps: some 150 short meetings, or 15 of three hours, in
110 MB. With fewer than run at once each step reads all of its texts anew."""
_SMALLEST = 2_000
"""What an entry counts at least: what was read is larger than a tiny text."""


def kept_by_text(read: Callable[Given, Read]) -> Callable[Given, Read]:
    """Of a pure function of texts and of what else is hashable. What was not asked for longest goes
    first."""
    known: OrderedDict[Hashable, tuple[int, Read]] = OrderedDict()
    lock, used = threading.Lock(), 0

    @wraps(read)
    def once(*given: Given.args, **named: Given.kwargs) -> Read:
        nonlocal used
        asked = (given, tuple(named.items()))
        with lock:
            if asked in known:
                known.move_to_end(asked)
                return known[asked][1]
        found = read(*given, **named)
        size = max(_SMALLEST, characters(asked))
        with lock:
            if asked not in known:
                known[asked] = size, found
                used += size
            while used > CHARACTERS and len(known) > 1:
                used -= known.popitem(last=False)[1][0]
        return found

    return once


def characters(given: object) -> int:
    """Of all strings in it, however deep."""
    if isinstance(given, str):
        return len(given)
    if isinstance(given, (tuple, frozenset)):
        return sum(map(characters, given))
    text = getattr(given, "text", "")
    return len(text) if isinstance(text, str) else 0
