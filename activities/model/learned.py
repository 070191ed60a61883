"""What a profile's calls taught about its model: how it counts tokens, how it wants to be asked.

Our tokenizer has one vocabulary, servers have others: of 49,000 entries one counts a tenth more in
English and twice as much in Chinese. Where calls had their usage reported, the median of reported
by estimated corrects what has to be estimated: reservations, windows, calls whose usage nobody
said. Learned from rows, so all workers know the same, of the newest calls only, and apart for text
in scripts without spaces. Reported usage is never touched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from activities.model import tokens
from workflows.kinds.kind import Prompt
from workflows.kinds.sizes import WIDE

RECENT = 200
"""Newest calls of a profile that are looked at."""
SAMPLES = 3
"""Fewer teach nothing: one call may have been counted in any way."""
LEAST, MOST = 0.7, 5.0
"""Ratios beyond are no vocabulary's: a prompt that was cut, reasoning nobody showed, a fault."""
LEAST_INPUT, LEAST_OUTPUT = 200, 40
"""Tokens of a sample; what a chat format adds weighs too much in shorter ones."""
LONGEST_SAMPLE = 12_000
"""Characters of a reply that are counted as a sample: it happens between last byte and commit."""
SHORT_PROMPT, CONTEXT_AT_LEAST = 3_000, 1_000
"""Tokens; a shorter prompt fits every context."""
SURELY_CUT = 0.4
"""Of what was sent; no vocabulary and no rule of thumb is so far from what it counted before."""
SAME_END, ENDS = 0.02, 2
"""So close together, and so many before it, are counts that end where a context does."""
OTHER_PROMPT = 1.05
_WIDE_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Reported by estimated tokens."""

    input: float = 1.0
    output: float = 1.0
    taught: bool = False
    """Whether its server was seen to count prompts about as we do, or evenly more or less."""


@dataclass(frozen=True, kw_only=True)
class Learned:
    """Of one model of one profile. `manner`: how it took requests, as `Manner.code` has it."""

    narrow: Ratio = Ratio()
    wide: Ratio = Ratio()
    longest: int = 0
    """Tokens of the longest prompt that its server counted since it last found one too long."""
    newest: Sequence[Sequence[int]] = ()
    """Of its newest long prompts: estimated and counted tokens, the newest first."""
    manner: str | None = None

    def input(self, estimated: int, *, wide: bool) -> int:
        return math.ceil(estimated * self.ratio(wide=wide).input)

    def ratio(self, *, wide: bool) -> Ratio:
        return self.wide if wide else self.narrow

    def surely_cut(self, counted: int, *, sent: int, wide: bool) -> bool:
        """Of a server that counts as we do (a gateway that divides characters by four does not),
        far too little, and never a prompt of about this length, or not any more."""
        if not self.ratio(wide=wide).taught or not may_be_cut(counted, sent=sent):
            return False
        whole_before = self.longest >= sent * LEAST
        less_now = whole_before and self._same_end(counted, sent=sent, wide=wide)
        return counted < sent * SURELY_CUT and (not whole_before or less_now)

    def _same_end(self, counted: int, *, sent: int, wide: bool) -> bool:
        """It was started again with less context: its newest prompts were of different lengths and
        all end at the same count. What a cache left out differs as the prompts do."""
        newest = self.newest[:ENDS]
        sizes = [sent, *(self.input(estimated, wide=wide) for estimated, _ in newest)]
        same = all(abs(count - counted) <= counted * SAME_END for _, count in newest)
        return len(newest) == ENDS and same and max(sizes) > min(sizes) * OTHER_PROMPT

    def output(self, text: str) -> int:
        """Tokens of what a model wrote. For a long text not on the loop."""
        return round(tokens.count(text) * self.ratio(wide=is_wide(text)).output)

    def count(self, text: str) -> int:
        """Tokens of a piece of a prompt."""
        return self.input(tokens.count(text), wide=is_wide(text))


UNTAUGHT = Learned()


def may_be_cut(counted: int, *, sent: int) -> bool:
    """Some servers cut a prompt, from the front and without a word, when it is longer than the
    context they were started with. A sign, no proof: others leave out what they had in their
    cache, or count in a way of their own."""
    return sent >= SHORT_PROMPT and CONTEXT_AT_LEAST < counted < sent * LEAST


def is_wide(text: str) -> bool:
    """Whether much of it is in a script without spaces: a character there weighs like a word."""
    if text.isascii():
        return False
    return sum(map(len, WIDE.findall(text))) >= len(text) * _WIDE_SHARE


@dataclass(frozen=True, kw_only=True)
class Size:
    """A prompt as our tokenizer counts it."""

    tokens: int
    wide: bool


def size_of(prompt: Prompt) -> Size:
    """For a long prompt not on the loop."""
    return Size(tokens=tokens.count_prompt(prompt), wide=is_wide(prompt.user))


def sample_of(text: str) -> int | None:
    """Our count of a reply whose usage is reported, None where it would take too long."""
    return tokens.count(text) if len(text) <= LONGEST_SAMPLE else None


def read(rows: Sequence[Mapping[str, Any]] | None, manner: str | None) -> Learned:
    """From one row a script: wide, inputs, input, outputs, output (medians), longest, newest."""
    found = {bool(row["wide"]): row for row in rows or ()}
    newest = sorted((one for row in found.values() for one in row["newest"] or ()), reverse=True)
    return Learned(
        narrow=_ratio(found.get(False)),
        wide=_ratio(found.get(True)),
        longest=max((row["longest"] or 0 for row in found.values()), default=0),
        newest=tuple(tuple(sizes) for _, *sizes in newest[:ENDS]),
        manner=manner,
    )


def _ratio(row: Mapping[str, Any] | None) -> Ratio:
    if row is None:
        return Ratio()
    return Ratio(
        input=row["input"] if row["inputs"] >= SAMPLES else 1.0,
        output=row["output"] if row["outputs"] >= SAMPLES else 1.0,
        taught=row["inputs"] >= SAMPLES,
    )
