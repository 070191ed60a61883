"""What the model server saw of one run among several: runs are known by their titles."""

from __future__ import annotations

import copy
from collections import defaultdict
from itertools import pairwise

from tests.fake_llm import FakeLLM, Request
from tests.stack import Json

ONE_LOOK = 0.1
"""Seconds within which a connection's end and the next one's begin may be seen in either order."""


def of_run(llm: FakeLLM, run: Json) -> FakeLLM:
    """The same server, as if it had served this run alone."""
    seen = copy.copy(llm)
    seen.requests = [r for r in llm.requests if f'"title":"{run["title"]}"' in r.prompt.about]
    return seen


def side_by_side(requests: list[Request]) -> list[tuple[int, int]]:
    """Pairs of requests of one part that were open at the same time."""
    by_part: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_part[request.part].append(request)
    return [
        (first.number, second.number)
        for of_part in by_part.values()
        for first, second in pairwise(of_part)
        if (first.done_at or first.gone_at or second.at + 1) > second.at + ONE_LOOK
    ]
