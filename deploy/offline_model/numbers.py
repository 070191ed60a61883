"""The rule about values: amounts, dates, weekdays that the source gives otherwise."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from deploy.offline_model.compare import comparable, corrected, rival
from deploy.offline_model.findings import Category, Finding
from deploy.offline_model.measures import Value
from deploy.offline_model.quantities import values
from deploy.offline_model.sources import Source

DATES = frozenset(("month", "monthday", "weekday", "year", "zh-year"))

_LABEL = re.compile(
    r"^\W*(?!.{0,20}(?:next|deadline|due|下次|下一次|截止))[^:：\n]{0,20}"
    r"(?:date|time|when|held|日期|时间)[^:：\n]{0,12}[:：]",
    re.IGNORECASE,
)
MOST = 1000
"""Values compared in one document: each is held against all of the source."""


def wrong_values(
    source: Source,
    document: str,
    spans: Sequence[tuple[int, int]],
    *,
    granted: Sequence[Value] = (),
) -> Iterable[Finding]:
    """Values of the document that have a clear rival in the source.

    What is known of the document from elsewhere (its date, its participants) is `granted`.
    """
    left = MOST
    for span in spans:
        for found in values(document[span[0] : span[1]])[:left]:
            left -= 1
            value = replace(
                found,
                start=span[0] + found.start,
                end=span[0] + found.end,
                phrase_end=span[0] + found.phrase_end,
            )
            if value.kind in DATES and _own_date(document, value.start):
                continue
            if any(comparable(value, one) and one.scaled & value.scaled for one in granted):
                continue
            other = rival(source, document, span, value)
            if other is None:
                continue
            mention = document[value.start : value.end]
            phrase = document[value.start : value.phrase_end]
            length, right = corrected(value, mention, phrase, other.said)
            if right != document[value.start : value.start + length]:
                yield Finding(
                    category=Category.WRONG_DATE if value.kind in DATES else Category.WRONG_NUMBER,
                    start=value.start,
                    end=value.start + length,
                    right=right,
                    evidence=[other.line],
                    score=other.score,
                )


def _own_date(document: str, at: int) -> bool:
    """Whether a date is that of the document: in a heading, the first line, or after "Date:".

    Nobody in a meeting says when it is held; what they say is when the next one is.
    """
    start = document.rfind("\n", 0, at) + 1
    line = document[start : at + 1]
    return line.startswith("#") or not document[:start].strip() or _LABEL.match(line) is not None
