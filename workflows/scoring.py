"""Score, pass, rank and progress, as pure functions of issues.

Score = 100 - 25 per open blocker - 10 per major - 2 per minor, at least 0.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from workflows.kinds.kind import Finding
from workflows.vocabulary import Reason, Severity

WEIGHT = {Severity.BLOCKER: 25, Severity.MAJOR: 10, Severity.MINOR: 2}


@dataclass(frozen=True, kw_only=True, order=True)
class Standing:
    """How a revision stands; smaller is better (blockers, then majors, then score)."""

    blockers: int
    majors: int
    penalty: int
    minors: int

    @property
    def score(self) -> int:
        return max(0, 100 - self.penalty)


def standing(severities: Iterable[Severity]) -> Standing:
    count = Counter(severities)
    return Standing(
        blockers=count[Severity.BLOCKER],
        majors=count[Severity.MAJOR],
        penalty=sum(WEIGHT[severity] * n for severity, n in count.items()),
        minors=count[Severity.MINOR],
    )


def passes(now: Standing, pass_score: int) -> bool:
    return now.score >= pass_score and not now.blockers and not now.majors


@dataclass(frozen=True, kw_only=True)
class ReviewHistory:
    """What earlier reviews since the last baseline found, oldest first."""

    found: tuple[frozenset[str], ...] = ()
    penalties: tuple[int, ...] = ()
    revisions: tuple[int, ...] = ()


def loop_end(
    now: Standing,
    *,
    revision: int,
    found: frozenset[str],
    reopened: bool,
    history: ReviewHistory,
    pass_score: int,
) -> Reason | None:
    """Why the loop ends after this review, or None when a refine follows.

    No progress: the same issues as in the review before; an issue that was fixed came back and the
    document is not better than it was; only minor ones are left after at least one refine. A
    revision that is read again, because what was made of it was worse, gets one more refine.
    """
    if passes(now, pass_score):
        return Reason.PASSED
    if not history.found:
        return None
    before = history.revisions.count(revision)
    if before > 1 or (not before and found == history.found[-1]):
        return Reason.NO_PROGRESS
    if reopened and now.penalty >= min(history.penalties):
        return Reason.NO_PROGRESS
    if not now.blockers and not now.majors:
        return Reason.NO_PROGRESS
    return None


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip().casefold()


def fingerprint(finding: Finding) -> str:
    """Equal for the same problem in another round: the quote, not its place or the wording.

    The category is left out on purpose: a verifier and a reviewer name it differently.
    """
    return hashlib.sha256(_plain(finding.quote).encode()).hexdigest()[:24]
