"""Who asks for the same at once gets one rendering, each with form keys of its own."""

from __future__ import annotations

import asyncio

import pytest

from api.pages.renderings import MOST, Pieces, Renderings


class _Making:
    def __init__(self) -> None:
        self.times = 0
        self.may_end = asyncio.Event()

    async def __call__(self) -> Pieces:
        self.times += 1
        await self.may_end.wait()
        return (f"<{self.times} ", " ", ">")


async def test_many_who_ask_at_once_share_one_rendering_and_no_key() -> None:
    kept, make = Renderings(), _Making()
    asked = [asyncio.create_task(kept.html("v1", make)) for _ in range(10)]
    asked[0].cancel()  # a reader who leaves takes nothing from the others
    make.may_end.set()
    shown = (await asyncio.gather(*asked, return_exceptions=True))[1:]
    assert make.times == 1
    keys = [key for html in shown for key in str(html).strip("<>").split()[1:]]
    assert len(keys) == len(set(keys)) == 2 * 9


async def test_another_version_is_another_rendering_and_few_are_kept() -> None:
    kept, make = Renderings(), _Making()
    make.may_end.set()
    for number in range(3 * MOST):
        await kept.html(number, make)
    assert make.times == 3 * MOST
    assert len(kept._entries) == MOST
    await kept.html(0, make)
    assert make.times == 3 * MOST + 1


async def test_what_is_too_old_is_made_anew() -> None:
    kept, make = Renderings(seconds=0), _Making()
    make.may_end.set()
    assert (await kept.html("v1", make))[:2] == "<1"
    assert (await kept.html("v1", make))[:2] == "<2"


async def test_a_rendering_that_failed_is_nobodys() -> None:
    kept, make = Renderings(), _Making()
    make.may_end.set()

    async def fails() -> Pieces:
        raise RuntimeError("the rows are away")

    with pytest.raises(RuntimeError):
        await kept.html("v1", fails)
    assert (await kept.html("v1", make))[:2] == "<1"
