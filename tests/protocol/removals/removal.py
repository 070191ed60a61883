"""One protection of the code, as an edit that takes it away."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Removal:
    """In the file `path` (from the root) `old`, which stands there exactly once, becomes `new`.

    All removals of one `rule` are applied together. The program must still start and its statements
    must still be accepted, so that a test fails for what is missing: a parameter no longer used
    becomes for example `$3::integer IS NOT NULL`. `why` says what is not plain from the texts.
    """

    rule: str
    path: str
    old: str
    new: str
    why: str = ""

    def problem(self, root: Path) -> str:
        """Why it cannot be applied below `root`, or nothing."""
        file = root / self.path
        if not file.is_file():
            return f"{self.rule}: there is no {self.path}"
        times = file.read_text(encoding="utf-8").count(self.old)
        if times != 1:
            return f"{self.rule}: in {self.path} the text stands {times} times: {self.old!r}"
        return ""

    def apply(self, root: Path) -> None:
        file = root / self.path
        file.write_text(
            file.read_text(encoding="utf-8").replace(self.old, self.new), encoding="utf-8"
        )


def apply_all(root: Path, removals: Iterable[Removal]) -> list[str]:
    """Edits the tree below `root`; returns what hinders, also a file that is no Python any more."""
    for removal in removals:
        if problem := removal.problem(root):
            return [problem]
        removal.apply(root)
    return [
        f"{removal.rule}: {removal.path} is no Python any more: {error}"
        for removal in removals
        if removal.path.endswith(".py") and (error := _syntax_error(root / removal.path))
    ]


def _syntax_error(file: Path) -> str:
    try:
        ast.parse(file.read_text(encoding="utf-8"))
    except SyntaxError as error:
        return str(error)
    return ""
