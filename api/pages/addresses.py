"""The address of the list of runs: its filters read one by one, links that change one of them.

What cannot be understood is named, and then nothing is shown: a list under a filter that was left
out would say something else than its address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from api.filters import run_filter
from api.http.errors import Refusal
from api.queries import RunFilter
from api.texts.text import Catalogue

NAMES = ("status", "phase", "kind", "q", "tag", "actor", "document_id", "from", "to")
PLACES = frozenset({"cursor", "before", "limit", "count"})
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Misread:
    """A piece of the address that means nothing here."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Address:
    """The filters as they stand in the address, as the API would be asked (`meant`: a day is a
    moment), and as they are looked for."""

    pairs: Pairs = ()
    meant: Pairs = ()
    wanted: RunFilter = field(default_factory=RunFilter)
    misread: tuple[Misread, ...] = ()

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(value for one, value in self.pairs if one == name)

    def first(self, name: str) -> str:
        return next(iter(self.values(name)), "")

    @property
    def query(self) -> str:
        return urlencode(self.pairs)

    def link(self, **more: str | None) -> str:
        """The same list with further words, such as a cursor."""
        given = tuple((name, value) for name, value in more.items() if value)
        return _path((*self.pairs, *given))

    def only(self, name: str, value: str | None) -> str:
        """With this one value of the filter, or without the filter."""
        kept = tuple(pair for pair in self.pairs if pair[0] != name)
        return _path((*kept, (name, value)) if value else kept)

    def without(self, name: str, value: str) -> str:
        return _path(tuple(pair for pair in self.pairs if pair != (name, value)))

    def relaxed(self) -> Sequence[tuple[str, str, RunFilter]]:
        """Each filter left out once: its name, the address then, what is looked for then."""
        found = []
        for left_out in dict.fromkeys(name for name, _ in self.pairs):
            kept = QueryParams([pair for pair in self.meant if pair[0] != left_out])
            found.append((left_out, self.only(left_out, None), run_filter(kept)))
        return found


def _path(pairs: Pairs) -> str:
    return f"/runs?{urlencode(pairs)}" if pairs else "/runs"


def read(params: QueryParams) -> Address:
    """Each piece by itself, so that one that is wrong is named."""
    pairs: list[tuple[str, str]] = []
    meant: list[tuple[str, str]] = []
    misread: list[Misread] = []
    for name, value in params.multi_items():
        if name in PLACES or not value.strip():
            continue
        exact = _moment(name, value.strip())
        try:
            if name not in NAMES:
                raise ValueError(name)
            run_filter(QueryParams([(name, exact)]))
        except (Refusal, ValueError):
            misread.append(Misread(name=name[:40], value=value[:80]))
            continue
        if (name, value.strip()) not in pairs:
            pairs.append((name, value.strip()))
            meant.append((name, exact))
    return Address(
        pairs=tuple(pairs),
        meant=tuple(meant),
        wanted=run_filter(QueryParams(meant)),
        misread=tuple(misread),
    )


def _moment(name: str, value: str) -> str:
    """A day stands for its beginning, or as `to` for its end, both of UTC."""
    if name not in ("from", "to") or len(value) != 10:
        return value
    try:
        day = date.fromisoformat(value)
        return f"{day + timedelta(days=1) if name == 'to' else day}T00:00:00Z"
    except (ValueError, OverflowError):
        return value


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A filter in force, in words, and the address without it."""

    name: str
    value: str
    href: str


def chips(address: Address, words: Catalogue) -> list[Chip]:
    names = filter_names(words)
    return [
        Chip(name=names[name], value=in_words(name, value, words),
             href=address.without(name, value))
        for name, value in address.pairs
    ]  # fmt: skip


def filter_names(words: Catalogue) -> Mapping[str, str]:
    return {
        "status": words.text("Status"),
        "phase": words.text("Phase"),
        "kind": words.text("Kind"),
        "q": words.text("Words"),
        "tag": words.text("Tag"),
        "actor": words.text("Started by"),
        "document_id": words.text("Document"),
        "from": words.text("From day"),
        "to": words.text("To day"),
    }


def in_words(name: str, value: str, words: Catalogue) -> str:
    if name in ("status", "phase", "kind"):
        parts = [words.sentence(name, part.strip()) for part in value.split(",")]
        return ", ".join(parts)
    return value
