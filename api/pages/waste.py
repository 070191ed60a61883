"""What calls of a run were paid in vain, and what a continuation saved, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from api.queries.console import Waste
from api.texts.codes import N_
from api.texts.text import Catalogue

_KINDS = (
    ("replaced", N_("Replaced"), N_("kept, then a person's change began the step anew")),
    ("lost", N_("Lost"), N_("the process died with the call, and nothing of it was kept")),
    ("repeated", N_("Repeated"), N_("ended with nothing kept and was asked again from the start")),
    ("unkept", N_("Not kept"), N_("ended with nothing kept and was not asked again so far")),
    ("saved", N_("Saved"), N_("ended early with items kept: they are not paid a second time")),
)


@dataclass(frozen=True, kw_only=True)
class WasteLine:
    """One kind; `cost` is '' where none can be named."""

    kind: str
    name: str
    what: str
    calls: int
    tokens: str
    cost: str


def waste_lines(found: Mapping[str, Waste], words: Catalogue) -> list[WasteLine]:
    """In their order, `unkept` only where there is one; [] where nothing was wasted or saved."""
    if not found:
        return []
    return [
        _line(_of(found, kind), words.text(name), words.text(what), words)
        for kind, name, what in _KINDS
        if kind != "unkept" or kind in found
    ]


def _of(found: Mapping[str, Waste], kind: str) -> Waste:
    none = Waste(kind=kind, calls=0, tokens=0, costs={}, is_estimate=False)
    return found.get(kind, none)


def _line(waste: Waste, name: str, what: str, words: Catalogue) -> WasteLine:
    about = "≈\N{NO-BREAK SPACE}" if waste.is_estimate else ""
    return WasteLine(
        kind=waste.kind,
        name=name,
        what=what,
        calls=waste.calls,
        tokens=f"{about}{words.compact(waste.tokens)}",
        cost=f"{about}{words.moneys(paid)}" if (paid := _paid(waste)) else "",
    )


def _paid(waste: Waste) -> Mapping[str, str | None]:
    """Nothing is told of a currency in which nothing was paid, unless it is the only one."""
    return {name: cost for name, cost in waste.costs.items() if cost != "0"} or waste.costs
