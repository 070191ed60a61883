"""What looks like a key of a model server or of another service, where a name or address belongs.

Profiles are read by whoever may read status, so a key that was typed into the wrong field must not
be stored. Names of models and variables are recognised by their words: they have separators, and
letters that stand together.
"""

from __future__ import annotations

import re
from itertools import pairwise

_MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk)[-_](?:proj|live|test|svcacct|admin|ant-api\d+|or-v1)[-_][\w-]{8,}"
    r"|(?i:key|token|secret|bearer) ?[:= ] ?(?=[\w.~%-]*\d)[\w.~%-]{16,}"
    r"|(?:hf|gsk|gh[pousr]|glpat|xox[abprs]|r8|nvapi|pplx|fw|tgp)[-_](?=[\w-]*\d)[\w-]{16,}"
    r"|xai-(?=[\w-]*\d)\w{16,}|github_pat_\w{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{16,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}"  # a signed token
    r")"
)
_PREFIXED = re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_]([\w-]{12,})")
_WORD = re.compile(r"v?\d{1,8}[a-z]?|(?:[A-Z]?[a-z]{1,16}|[A-Z]{1,12}){1,3}(?:v?\d{1,4}[a-z]?)?")
"""A piece of a model's name: `instruct`, `DeepSeek`, `llama3`, `70b`, `20250514`."""
_RUN = re.compile(r"(?<!sha256:)(?<![A-Za-z0-9])[A-Za-z0-9]{20,}")
_ODD = 6
_LONG = 24
_TURNS = 8


def is_marked(text: str) -> bool:
    """Whether it holds what only keys begin with. Says nothing of plain numbers of accounts."""
    return _MARKED.search(text) is not None or any(map(_is_key, _PREFIXED.findall(text)))


def _is_key(rest: str) -> bool:
    """What follows `sk-`: made of words and numbers it is a name; one odd piece is let pass if it
    is short, as `8x7b` is."""
    odd = [piece for piece in re.split("[-_]", rest) if piece and not _WORD.fullmatch(piece)]
    return len(odd) > 1 or any(len(piece) > _ODD for piece in odd)


def looks_secret(text: str) -> bool:
    """Whether some part of the text is a key rather than words."""
    return is_marked(text) or any(map(_is_random, _RUN.findall(text)))


def _is_random(run: str) -> bool:
    """Letters and digits without a separator: 24 and longer, or 20 in which they take turns."""
    digits = sum(map(str.isdigit, run))
    if not digits or digits == len(run):
        return False
    turns = sum(_sort(one) != _sort(two) for one, two in pairwise(run))
    return turns >= _TURNS or (len(run) >= _LONG and digits > 1)


def _sort(letter: str) -> int:
    return 2 if letter.isdigit() else int(letter.isupper())
