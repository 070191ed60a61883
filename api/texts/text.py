"""The catalogue: every string a person reads, found by msgid or by code, in the reader's language.

Stored and sent are codes and parameters; sentences are made here. English is the source text, so
its catalogue is empty; other languages are `locale/XX/LC_MESSAGES/messages.po`.
"""

from __future__ import annotations

import gettext as gettext_module
import io
import string
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import Any

from babel import Locale, dates, numbers
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from api.http.times import in_zone
from api.texts import codes
from workflows.kinds.problems_zh import in_chinese, in_english

LOCALES = Path(__file__).parent.parent / "locale"
DEFAULT = "en"


def available() -> tuple[str, ...]:
    """Languages the pages have, the source language first."""
    found = sorted(p.parent.parent.name for p in LOCALES.glob("*/LC_MESSAGES/messages.po"))
    return (DEFAULT, *(name for name in found if name != DEFAULT))


@lru_cache(maxsize=8)
def _translations(locale: str) -> gettext_module.NullTranslations:
    path = LOCALES / locale / "LC_MESSAGES" / "messages.po"
    if not path.is_file():
        return gettext_module.NullTranslations()
    compiled = io.BytesIO()
    with path.open("rb") as source:
        write_mo(compiled, read_po(source, locale=locale))
    compiled.seek(0)
    return gettext_module.GNUTranslations(compiled)


@lru_cache(maxsize=4096)
def _names(sentence: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in string.Formatter().parse(sentence) if name)


# Formatting a number costs more than all else that a cell of a table needs, and a list shows the
# same ones over and over.
@lru_cache(maxsize=8)
def _rules(locale: str) -> Locale:
    return Locale.parse(locale)


@lru_cache(maxsize=4096, typed=True)
def _decimal(locale: str, value: int | float) -> str:
    return str(numbers.format_decimal(value, locale=_rules(locale)))


@lru_cache(maxsize=4096)
def _compact(locale: str, value: int) -> str:
    return str(numbers.format_compact_decimal(value, locale=_rules(locale), fraction_digits=1))


@lru_cache(maxsize=4096)
def _money(locale: str, value: Decimal, currency: str | None) -> str:
    digits = "0" * (2 if value == 0 or abs(value) >= 1 else 4)
    rules = _rules(locale)
    if not currency:
        return str(numbers.format_decimal(value, format=f"0.{digits}", locale=rules))
    pattern = f"¤#,##0.{digits}"
    return str(
        numbers.format_currency(
            value, currency, format=pattern, locale=rules, currency_digits=False
        )
    )


@lru_cache(maxsize=4096)
def _away(locale: str, seconds: int) -> str:
    gap = timedelta(seconds=seconds)
    return str(
        dates.format_timedelta(gap, add_direction=True, threshold=1.2, locale=_rules(locale))
    )


def _offset(gap: timedelta) -> str:
    minutes = round(gap.total_seconds() / 60)
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours}" + (f":{rest:02}" if rest else "")


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Texts, numbers and times in one language."""

    locale: str

    @property
    def tag(self) -> str:
        """As in HTML: zh-Hans."""
        return self.locale.replace("_", "-")

    @property
    def translations(self) -> gettext_module.NullTranslations:
        return _translations(self.locale)

    def text(self, msgid: str) -> str:
        """Nothing stays nothing: under the empty string a catalogue keeps its own head."""
        return self.translations.gettext(msgid) if msgid else ""

    def sentence(
        self, family: str, code: str | None, params: Mapping[str, Any] | None = None
    ) -> str:
        """The sentence of a code: the first wording whose named places are all known.

        An unknown code is shown as it is, so that a newer worker is never silent on an older page.
        Round 0 is none: a draft comes before the first.
        """
        if not code:
            return ""
        known = {
            key: self._place(value)
            for key, value in (params or {}).items()
            if value is not None and not (key == "round" and value == 0)
        }
        if family == "field" and "found" in known:
            known["found"] = self.sentence("found", known["found"])
        for wording in codes.WORDINGS[family].get(str(code), ()):
            if _names(wording) <= known.keys():
                return self.text(wording).format_map(known)
        return str(code).replace("_", " ")

    def told(self, problem: str) -> str:
        """A sentence of a verifier or a kind's door, which words them in English (of a Chinese
        document in Chinese), for this reader."""
        return in_chinese(problem) if self.locale.startswith("zh") else in_english(problem)

    def _place(self, value: Any) -> str:
        """One value as it stands in a sentence; a number gets the language's grouping."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        return _decimal(self.locale, value)

    def number(self, value: int | float | None) -> str:
        return "–" if value is None else _decimal(self.locale, value)

    def compact(self, value: int | None) -> str:
        """12,345 as 12.3K; small numbers as they are."""
        if value is None:
            return "–"
        if abs(value) < 10_000:
            return self.number(value)
        return _compact(self.locale, value)

    def money(self, amount: str | Decimal | None, currency: str | None) -> str:
        """A decimal string as money; small amounts keep four digits. Unknown is never 0."""
        if amount is None:
            return self.text("unknown")
        try:
            value = Decimal(amount)
        except InvalidOperation:
            return self.text("unknown")
        return _money(self.locale, value, currency)

    def moneys(self, costs: Mapping[str, str | None]) -> str:
        """Amounts in several currencies, which have no sum; '' for none."""
        return " + ".join(self.money(cost, currency) for currency, cost in costs.items())

    def moment(self, at: datetime | None, zone: tzinfo = UTC) -> str:
        """Date and time in a zone, with its distance from UTC: names such as CST mean several."""
        if at is None:
            return "–"
        there = in_zone(at, zone)
        return f"{there:%Y-%m-%d %H:%M:%S} {_offset(there.utcoffset() or timedelta())}"

    def ago(self, at: datetime, now: datetime) -> str:
        """ "3 minutes ago", or "in 3 minutes"."""
        gap = at - now
        if abs(gap) < timedelta(seconds=5):
            return self.text("just now")
        return _away(self.locale, round(gap.total_seconds()))

    def duration(self, seconds: float | None) -> str:
        """Clock form: 0:07, 12:05, 1:02:05."""
        if seconds is None:
            return "–"
        whole = max(0, int(seconds))
        hours, rest = divmod(whole, 3600)
        minutes, left = divmod(rest, 60)
        return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


@lru_cache(maxsize=8)
def catalogue(locale: str = DEFAULT) -> Catalogue:
    """The catalogue of a language; English when the pages do not have it."""
    return Catalogue(locale=locale if locale in available() else DEFAULT)
