"""The rule about values: amounts, dates, weekdays that the source gives otherwise."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from deploy.offline_model.compare import comparable, corrected, rival
from deploy.offline_model.findings import Category, Finding
from deploy.offline_model.measures import Value
from deploy.offline_model.quantities import values
from deploy.offline_model.sources import Source

DATES = frozenset(("month", "monthday", "weekday", "year", "zh-year"))

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
                    evidence=[other.said.place.line.number],
                    score=other.score,
                )
