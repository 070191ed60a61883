"""A body as blocks that are read alone, so that what a round left as it was is not read again.

Nothing a reader looks for goes on from one block into the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BORDER = re.compile(r"\n(?=[ \t]*(?:[-*+#>|\n]|\d{1,3}[.)、]|\r))")
KEPT = 32768
"""Blocks whose reading is kept: a few dozen documents."""


def blocks(body: str) -> Iterator[tuple[int, str]]:
    """Each paragraph, list item, heading or table row, line end included, and where it begins."""
    at = 0
    for border in _BORDER.finditer(body):
        yield at, body[at : border.end()]
        at = border.end()
    if at < len(body):
        yield at, body[at:]
