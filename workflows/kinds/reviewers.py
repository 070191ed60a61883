"""Which reviewers look at a document, side by side: chosen by the profile among the kind's own.

A profile's prompts may hold, beside texts, `"reviewers": ["facts", "claims", "gaps"]`. Each looks
for its own family of errors only and is a part of the review; without the list one reviewer,
`main`, looks for everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workflows.kinds.kind import Payload

REVIEWERS = "reviewers"
MAIN = "main"
RESERVED = frozenset({MAIN, "task", "changes"})
"""What may stand behind the prefix in a prompt's name and is nobody to choose."""
_PREFIX = "review_"


def offered(texts: Mapping[str, str]) -> tuple[str, ...]:
    """`main`, and everybody who has a prompt `review_NAME`."""
    own = [name.removeprefix(_PREFIX) for name in texts if name.startswith(_PREFIX)]
    return (MAIN, *(name for name in own if name not in RESERVED))


def problems(prompts: Payload, known: Sequence[str]) -> list[tuple[str, str]]:
    """What is wrong with the list as (JSON pointer below the prompts, English sentence)."""
    chosen = prompts.get(REVIEWERS)
    if chosen is None:
        return []
    if not isinstance(chosen, list) or not chosen:
        return [(f"/{REVIEWERS}", "This must be a list of at least one reviewer.")]
    return [
        (f"/{REVIEWERS}/{at}", f"There is no reviewer {name!r}; there are {', '.join(known)}.")
        for at, name in enumerate(chosen)
        if name not in known
    ]


def choose(prompts: Payload, known: Sequence[str]) -> tuple[str, ...]:
    """Who looks, each once. A run under way is not stopped by a name that came into its profile
    later: who is not known looks at nothing, and of none known it is `main`."""
    chosen = prompts.get(REVIEWERS)
    names = chosen if isinstance(chosen, list) else []
    return tuple(dict.fromkeys(name for name in names if name in known)) or (MAIN,)


def only(part: str, text: str) -> str:
    """What one of several is told below the task they share, so that the long unchanging blocks
    before it are the same for all and read from the provider's cache."""
    return f"Part: {part}\n{text}"
