"""What a part of a step looks at: which reviewer, which lines of the sources, all or what changed.

A review is cut into reviewers times windows. Whether anybody said a statement at all, no window
can tell; so on a long source there is one part more, `invented`, over the lines nearest to the
sentences of the document. A later review that cannot pass, because of what is still open, looks
only at that and at what changed; one that may pass looks at everything again. A refine of a
document with a long source is shown the lines around its issues.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from workflows.kinds import reviewers, windows
from workflows.kinds.kind import PartPlan, Payload, Work
from workflows.kinds.lines import SourceLine, number_lines
from workflows.kinds.passages import sentences_of
from workflows.vocabulary import StepName

CHANGES = "changes"
INVENTED = "invented"
WINDOW_TOKENS = "window_tokens"
"""In a profile's prompts: the most tokens of a source that one part is shown."""
SMALLEST_WINDOW = 500
_MOST_COMPARED = 4000
_MOST_PASSAGES = 400

TEXTS: Mapping[str, str] = {
    "review_changes": (
        "This is a later round. Report only problems of the passages in CHANGED, and of ISSUES "
        "those that still hold, with the same quote. The rest of DOCUMENT is not looked at in "
        "this round."
    ),
    "review_invented": (
        "Others look for the rest side by side with you. Report only what is invented: statements "
        "of DOCUMENT for which SOURCE gives no ground at all."
    ),
    "window": (
        "SOURCE holds only the lines T{first} to T{last} of {count}; others read the rest. What "
        "these lines do not mention may be said there: never report a statement because these "
        "lines are silent about it. Report what they contradict{gaps}."
    ),
    "excerpt": (
        "SOURCE holds only lines of {count}: those that share most words with {with_what}. The "
        "numbers are those of the whole source."
    ),
}
"""Texts that a kind's folder or a profile may word in its own way, under these names."""


def problems(prompts: Payload) -> list[tuple[str, str]]:
    """What is wrong with a profile's size of windows as (JSON pointer, English sentence)."""
    size = prompts.get(WINDOW_TOKENS)
    if size is None or _is_size(size):
        return []
    return [(f"/{WINDOW_TOKENS}", f"This must be a number of at least {SMALLEST_WINDOW} tokens.")]


def _is_size(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= SMALLEST_WINDOW


def plan(work: Work, names: Sequence[str], default_budget: int) -> tuple[PartPlan, ...]:
    """The cut of a review (by `names`, its reviewers) or of a step of one part. A draft that its
    kind does not cut is made from everything: what a model cannot hold it refuses."""
    budget = budget_of(work, default_budget)
    lines = number_lines(work.material.sources)
    cuts = windows.cut(lines, budget, work.count)
    if work.step is not StepName.REVIEW:
        cuttable = work.step is StepName.REFINE and len(cuts) > 1
        ranges = _around_issues(work, lines, budget) if cuttable else []
        return (_part(work, reviewers.MAIN, {"ranges": ranges} if ranges else {}),)
    if work.reviewed is not None and not work.can_pass:
        names = (CHANGES,)
    if len(cuts) <= 1:
        return tuple(_part(work, name, {}) for name in names)
    parts = [
        _part(work, name, {"window": window.spec()}, at)
        for name in names
        if name != INVENTED
        for at, window in enumerate(cuts, start=1)
    ]
    if _LOOK_FOR_INVENTED & set(names):
        parts.append(_invented(work, lines, budget))
    return tuple(parts)


def recut(work: Work, part: PartPlan, default_budget: int) -> tuple[PartPlan, ...]:
    """The part in pieces of at most today's budget. The first keeps its name; lines are nowhere
    left out, so what was one window becomes several, and what was an excerpt a shorter one."""
    budget = budget_of(work, default_budget)
    if work.step is not StepName.REVIEW:
        return plan(work, (), default_budget)
    lines, name = number_lines(work.material.sources), reviewer_of(part)
    if "ranges" in part.spec:
        return (_invented(work, lines, budget),)
    whole = "window" not in part.spec
    before = None if whole else windows.Window(**part.spec["window"])
    cuts = windows.cut_again(lines, before, budget, work.count)
    if len(cuts) <= 1:
        return (part,)
    if whole and name == INVENTED:
        return (_invented(work, lines, budget),)
    pieces = [_part(work, name, {"window": window.spec()}) for window in cuts]
    named = [replace(pieces[0], part=part.part)]
    named += [replace(one, part=f"{part.part}.{at}") for at, one in enumerate(pieces[1:], start=2)]
    if whole and name in _LOOK_FOR_INVENTED:
        named.append(_invented(work, lines, budget))
    return tuple(named)


_LOOK_FOR_INVENTED = frozenset({INVENTED, "claims", reviewers.MAIN})


def budget_of(work: Work, default: int) -> int:
    """The most tokens of a source that one part is shown."""
    given = work.prompts.get(WINDOW_TOKENS)
    return given if _is_size(given) and isinstance(given, int) else default


def _invented(work: Work, lines: Sequence[SourceLine], budget: int) -> PartPlan:
    """The document against the lines nearest to its sentences, as far as the budget goes."""
    spans = sentences_of(work.body)
    # Of a book some of its sentences, spread over all of it: no budget has room for more.
    chosen = spans[:: -(-len(spans) // _MOST_PASSAGES)] if spans else []
    passages = [work.body[start:end] for start, end in chosen]
    ranked = (
        windows.around([number], len(lines), before=2, after=3)
        for number in windows.nearest(lines, passages)
    )
    ranges = windows.within(lines, ranked, budget, work.count)
    return _part(work, INVENTED, {"ranges": ranges})


def _part(work: Work, name: str, shown: Mapping[str, object], number: int = 0) -> PartPlan:
    """The key says what is covered: reviewer, source versions, lines."""
    covered = [source.id for source in work.material.sources]
    if shown:
        covered.append(repr(sorted(shown.items())))
    return PartPlan(
        part=f"{name}:{number}" if number else name,
        key=_hash(work.step.value, name, *covered),
        spec={"part": name, **({"scope": CHANGES} if name == CHANGES else {}), **shown},
    )


def reviewer_of(part: PartPlan) -> str:
    return str(part.spec.get("part") or part.part)


def task_lines(work: Work, part: PartPlan, texts: Mapping[str, str]) -> list[str]:
    """What a part is told below the task that all share."""
    name, count = reviewer_of(part), len(number_lines(work.material.sources))
    told = []
    if work.step is StepName.REVIEW and name != reviewers.MAIN:
        told.append(reviewers.only(name, texts[f"review_{name}"]))
    window = part.spec.get("window")
    if window:
        gaps = ", and what they decide or agree to do and DOCUMENT leaves out"
        told.append(
            texts["window"].format(
                first=window["first"],
                last=window["last"],
                count=count,
                gaps=gaps if name in (reviewers.MAIN, "gaps") else "",
            )
        )
    elif "ranges" in part.spec:
        what = "DOCUMENT" if work.step is StepName.REVIEW else "ISSUES, and those they name"
        told.append(texts["excerpt"].format(count=count, with_what=what))
    return told


def changed(before: str, now: str) -> list[str]:
    """Sentences of `now` that `before` does not have in this place, neighbours together."""
    old = [before[start:end].strip() for start, end in sentences_of(before)]
    spans = sentences_of(now)
    new = [now[start:end].strip() for start, end in spans]
    matcher = SequenceMatcher(None, old, new, autojunk=len(new) > _MOST_COMPARED)
    return [
        now[spans[first][0] : spans[last - 1][1]].strip()
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag != "equal" and last > first
    ]


def _around_issues(work: Work, lines: Sequence[SourceLine], budget: int) -> list[list[int]]:
    """The evidence of each issue with its neighbours, then what is nearest to issues, as fits."""
    named = [
        int(name[1:])
        for issue in work.issues
        for name in issue.finding.evidence
        if name[1:].isdigit() and 1 <= int(name[1:]) <= len(lines)
    ]
    wanted = [
        " ".join((issue.finding.quote, issue.finding.problem, issue.finding.suggestion or ""))
        for issue in work.issues
    ]
    close = (windows.around([number], len(lines), before=3, after=6) for number in named)
    like = (
        windows.around([number], len(lines), before=1, after=2)
        for number in windows.nearest(lines, [*wanted, *filter(None, [work.instructions])])
    )
    return windows.within(lines, [*close, *like], budget // 2, work.count)


def _hash(*pieces: str) -> str:
    return hashlib.sha256("\x00".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()[:24]
