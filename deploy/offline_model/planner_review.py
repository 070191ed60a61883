"""Reviews and refines plans of trips by rule.

The rules for minutes compare every number and name with what was said, which means nothing over
tables of prices. The kind's verifiers check a plan against its data exactly; so here only slips of
the pen are reported, and only issues that bring their correction are resolved.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deploy.offline_model import refine as refining
from deploy.offline_model import review as reviewing
from deploy.offline_model.prompt import Prompt
from deploy.offline_model.slips import doubled_words, placeholders


def review(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_review`, of a trip or of any other text."""
    if not prompt.request:
        return reviewing.review(prompt)
    document = prompt.document
    kept = {str(one.get("quote")) for one in prompt.already}
    found = [*doubled_words(document), *placeholders(document)]
    items = [reviewing.item(document, one) for one in found[: reviewing.MOST]]
    fresh = [one for one in items if one["quote"] not in kept][: reviewing.PER_CALL]
    score = max(0, 100 - sum(reviewing.PENALTY[one.severity] for one in found))
    return {"items": fresh, "score": score}


def refine(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_refine`, of a trip or of any other text."""
    if not prompt.request:
        return refining.refine(prompt)
    bare = [block for block in prompt.blocks if block.name != "SOURCE"]
    return refining.refine(replace(prompt, blocks=bare))
