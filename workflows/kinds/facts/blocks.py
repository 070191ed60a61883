"""A body as blocks that are read alone, so that what a round left as it was is not read again.

Nothing a reader looks for goes on from one block into the next one.
"""

from __future__ import annotations

import re
from itertools import pairwise

from workflows.kinds.kept import kept_by_text

_BORDER = re.compile(r"\n(?=[ \t]*(?:[-*+#>|\n]|\d{1,3}[.)、]|\r))")
KEPT = 32768
"""Blocks whose reading is kept: a few dozen documents."""


@kept_by_text
def blocks(body: str) -> tuple[tuple[int, str], ...]:
    """Each paragraph, list item, heading or table row, line end included, and where it begins."""
    ends = [0, *(border.end() for border in _BORDER.finditer(body)), len(body)]
    return tuple((at, body[at:end]) for at, end in pairwise(ends) if at < end)
