"""Token counts by a real tokenizer whose vocabulary ships in its wheel; no download, no network.

Imported by the API too: nothing heavy happens before the first count (0.1 s, then 5 MB of text a
second). Long texts belong in a thread: counting lets the others run. Counts are those of
o200k_base; other vocabularies differ by some percent: what is counted here is an estimate.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflows.kinds.kind import Prompt

ENCODING = "o200k_base"
MESSAGE_TOKENS = 4
"""What the chat format adds to each message: role, begin and end marks."""
REPLY_TOKENS = 3
_BACKEND = "bpe_openai._bindings"
_PIECE = re.compile(r"(?<=\n)(?=[^\s/])")
"""Where no token goes on: between a line's end and a line that begins with a letter or a mark."""
_PIECES_FROM = 2_000
_KNOWN_PIECES = 100_000
_counts: dict[tuple[int, int], int] = {}


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of one call; `cached` is a share of `input`, `reasoning` a share of `output`."""

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0


def count(text: str) -> int:
    """Tokens of a text. Never fails: what no encoder can hold counts as U+FFFD."""
    if len(text) < _PIECES_FROM:
        return _count(text)
    return sum(map(_count_piece, _PIECE.split(text)))


def _count_piece(piece: str) -> int:
    """Prompts of one run share nearly all their lines. Only numbers are kept, never texts."""
    key = (hash(piece), len(piece))
    known = _counts.get(key)
    if known is None:
        if len(_counts) >= _KNOWN_PIECES:
            _counts.clear()
        known = _counts[key] = _count(piece)
    return known


def count_prompt(prompt: Prompt) -> int:
    """Input tokens of a request as far as they can be known before it is sent."""
    return count_messages([text for text in (prompt.system, prompt.user) if text])


def count_messages(texts: Sequence[str]) -> int:
    """Tokens of the messages of a chat with these contents."""
    return sum(count(text) + MESSAGE_TOKENS for text in texts) + REPLY_TOKENS


def _count(text: str) -> int:
    try:
        return _counter()(text)
    except UnicodeEncodeError:
        return _counter()(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


@functools.cache
def _counter() -> Callable[[str], int]:
    counter: Callable[[str], int] = _backend().tokenizer_for_encoding(ENCODING).count
    return counter


def _backend() -> Any:
    """The compiled part of the package alone.

    The package itself reads the tables of all its vocabularies into Python when imported, which
    takes ten times as long and 80 MB; only its counter is needed here.
    """
    if _BACKEND in sys.modules:
        return sys.modules[_BACKEND]
    package = importlib.util.find_spec("bpe_openai")
    places = (package.submodule_search_locations if package else None) or []
    for place in places:
        for path in sorted(Path(place).glob("_bindings*")):
            spec = importlib.util.spec_from_file_location(_BACKEND, path)
            if path.suffix in (".so", ".pyd") and spec and spec.loader:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                sys.modules[_BACKEND] = module
                return module
    return importlib.import_module(_BACKEND)
