"""The measured comparison with the naive loop, small: one meeting, as fast as it goes."""

from __future__ import annotations

from tests.bench.loop import cases, measure, naive, ours


async def test_edits_cost_a_fraction_of_a_rewrite_and_damage_nothing() -> None:
    case = cases()[0]
    mine = await measure(case, ours, 1e6)
    other = await measure(case, naive, 1e6)
    assert mine.refine_tokens <= other.refine_tokens / 5
    assert (mine.damaged, mine.left) == (0, 0)
    assert other.damaged > 0
    assert mine.shared >= 0.8
