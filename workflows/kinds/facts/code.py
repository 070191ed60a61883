"""Program code in a text: it states nothing that a source could say."""

from __future__ import annotations

import re

from workflows.kinds.kept import kept_by_text

_FENCED = re.compile(
    r"^[ ]{0,3}(```|~~~)[^\n]*\n(?:(?![ ]{0,3}\1)[^\n]*\n)*(?:[ ]{0,3}\1[^\n]*|[^\n]+\Z)?",
    re.MULTILINE,
)
_SIGNS = re.compile(r"[{}();=<>\[\]_]")
_STATEMENT = re.compile(
    r"^[ \t]*(?:(?:async )?(?:def|class|function|func|fn)\b|import |from \S+ import|return\b|"
    r"(?:if|for|while|else|elif|try|except|switch|with)\b[^\n]*[:{]$|#include|(?:const|let|var|"
    r"public|private|static)\b|SELECT\b|[}\])];?$|@\w|await\b|"
    r"[\w.\[\]]{1,60} ?[-+]?= ?\S|[\w.]{1,60}\()"
    r"|[;{]$",
    re.MULTILINE,
)
FEWEST_CHARACTERS = 20
SURELY, LIKELY = 0.15, 0.05
"""Share of signs that prose does not have; the second is enough when lines look like code."""


@kept_by_text
def without_code(text: str) -> str:
    """The text with blanks in place of fenced code; of the same length."""
    if "```" not in text and "~~~" not in text:
        return text
    return _FENCED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


@kept_by_text
def is_code(text: str) -> bool:
    """Whether a text is nothing but code, fenced or not."""
    rest = without_code(text)
    if not rest.strip():
        return bool(text.strip())
    size = len(re.sub(r"\s+", "", rest))
    share = len(_SIGNS.findall(rest)) / size
    if size < FEWEST_CHARACTERS or share < LIKELY:
        return False
    lines = [line for line in rest.splitlines() if line.strip()]
    alike = sum(_STATEMENT.search(line) is not None for line in lines)
    return share >= SURELY or alike * 2 >= len(lines)
