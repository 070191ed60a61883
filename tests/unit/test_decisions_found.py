"""A decision is looked for where its rarest words stand, with the verdict of reading every line."""

from __future__ import annotations

import pytest

from tests.unit.kind_material import material, meetings
from workflows.kinds.facts import lexicon
from workflows.kinds.facts.context import RAREST, Facts, facts_of, stems
from workflows.kinds.minutes.decisions import (
    DOUBTFUL,
    FEWEST_STEMS,
    UNKNOWN,
    WINDOW,
    support,
    verify_decisions,
)

MEETINGS = {one.name: one for one in meetings()}
OTHERS = {"ES2004a": "TS3004d", "086": "146"}
EMPTY = {stem for word in lexicon.DECISION_WORDS for stem in stems(word)}


@pytest.mark.parametrize("name", OTHERS)
def test_the_quick_search_gives_the_verdict_of_a_search_through_every_line(name: str) -> None:
    facts = facts_of(MEETINGS[name].material.sources)
    texts = MEETINGS[name].statements[:12] + MEETINGS[OTHERS[name]].statements[:12]
    verdicts = [_verdict(support(facts, text)) for text in texts]
    assert verdicts == [_verdict(_through_every_line(facts, text)) for text in texts]
    assert len(set(verdicts)) > 1


def test_words_that_only_stand_far_apart_are_no_decision() -> None:
    words = ("budget", "doubled", "carpenter", "painted", "lighthouse", "yellow")
    lines = [
        f"Ana: the {word} was nice." if at % 40 == 0 else "Ana: so it goes on."
        for at in range(240)
        for word in [words[at // 40]]
    ]
    said = material("\n".join(lines))
    body = "## Decisions\n\n- The budget doubled, the carpenter painted the lighthouse yellow.\n"
    assert [one.category for one in verify_decisions(said, body)] == ["invented"]
    near = material("\n".join([*lines, f"Ana: {' '.join(words)}."]))
    assert verify_decisions(near, body) == []


def _verdict(share: float) -> str:
    return "unknown" if share < UNKNOWN else "doubtful" if share < DOUBTFUL else "said"


def _through_every_line(facts: Facts, text: str) -> float:
    wanted = [word for word in dict.fromkeys(stems(text)) if word not in EMPTY]
    if len(wanted) < FEWEST_STEMS:
        return 1.0
    rarity = {word: facts.rarity.get(word, RAREST) for word in wanted}
    places = {word: set(facts.places.get(word, ())) for word in wanted}
    best = 0.0
    for first in range(len(facts.lines)):
        window = range(first, first + WINDOW + 1)
        there = [word for word in wanted if not places[word].isdisjoint(window)]
        rare = sum(rarity[word] for word in there) / sum(rarity.values())
        best = max(best, rare, len(there) / len(wanted))
    return best
