"""What a fault is, and the list of all of them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from tests.faults.kit.place import Place

Act: TypeAlias = Callable[[Place, Random], AsyncIterator[str]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`async with fault.done(place, dice) as what:` does it, says to whom, undoes it at the end.

    `touches`: two faults that touch the same thing are never done at once. `lasts`: seconds it
    stays done when nobody says otherwise. `costly`: it may cost calls that are under way (a kill,
    a freeze beyond 15 s, an orderly end); one that is not must cost none. `weight`: how often it
    is drawn. Every choice is made by the dice it is given.
    """

    name: str
    about: str
    undone: str
    touches: frozenset[str]
    lasts: tuple[float, float]
    costly: bool
    weight: float
    act: Act
    lacking: Callable[[Place], str | None]

    def done(self, place: Place, dice: Random) -> AbstractAsyncContextManager[str]:
        return contextlib.asynccontextmanager(self.act)(place, dice)


FAULTS: dict[str, Fault] = {}


def fault(
    *,
    about: str,
    undone: str,
    touches: set[str],
    lasts: tuple[float, float],
    costly: bool = False,
    weight: float = 1.0,
    lacking: Callable[[Place], str | None] = lambda _: None,
) -> Callable[[Act], Act]:
    """Puts a generator into the list; its name is the function's, with hyphens. What stands before
    the `yield` does the fault, what is yielded says to whom, what follows undoes it."""

    def listed(act: Act) -> Act:
        name = act.__name__.replace("_", "-")
        FAULTS[name] = Fault(
            name=name,
            about=about,
            undone=undone,
            touches=frozenset(touches),
            lasts=lasts,
            costly=costly,
            weight=weight,
            act=act,
            lacking=lacking,
        )
        return act

    return listed
