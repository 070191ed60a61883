"""Finds the comparable values of a text: amounts with their unit, money, percent, dates, weekdays.

A value is only ever compared with one of the same kind and unit, so what is found here decides what
the review can see. What might be a list number, an identifier, a range or an estimate is left out.
"""

from collections.abc import Sequence

from deploy.offline_model.amounts_en import amounts_en, ordinals
from deploy.offline_model.amounts_zh import amounts_zh, special_zh
from deploy.offline_model.dates import dates, weekdays
from deploy.offline_model.measures import Value

FINDERS = (dates, weekdays, special_zh, amounts_zh, ordinals, amounts_en)


def values(text: str) -> Sequence[Value]:
    """All values of a text in order of place; none overlaps another."""
    found: list[Value] = []
    taken = bytearray(len(text))
    for value in (value for finder in FINDERS for value in finder(text)):
        if not any(taken[value.start : value.end]):
            found.append(value)
            taken[value.start : value.end] = b"\x01" * (value.end - value.start)
    return sorted(found, key=lambda value: value.start)
