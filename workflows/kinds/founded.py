"""Which items of a reply are kept: issues and edits that stand on the texts they speak of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from workflows.kinds.edits import Edit, Ground, RefusedEdit, read_edit, read_rewrite
from workflows.kinds.kind import Finding, Item, Payload, Refused, Work
from workflows.kinds.lines import evidence_lines, number_lines
from workflows.kinds.passages import first_span, overlaps
from workflows.scoring import fingerprint
from workflows.vocabulary import Severity, StepName

_LONGEST_FIELD = 4000
LONGEST_REWRITE = 16_000
"""Characters of a body that a model is asked to write out whole when its edits cannot be made."""
UNFOUNDED = frozenset({"quote_not_found", "evidence_not_found", "severity_unknown", "invalid"})
NOT_MADE = frozenset({"not_found", "ambiguous", "overlap", "locked", "unasked", "lost_content"})


def accept_issue(work: Work, payload: Payload) -> Item | Refused:
    """An issue whose quote stands in the body and whose evidence stands in the sources."""
    texts = [payload.get(name) for name in ("category", "quote", "problem")]
    suggestion, evidence = payload.get("suggestion"), payload.get("evidence") or []
    if not _are_texts(texts) or not (suggestion is None or _storable(suggestion)):
        return Refused(code="invalid")
    if not isinstance(evidence, list) or not all(isinstance(name, str) for name in evidence):
        return Refused(code="invalid")
    try:
        severity = Severity(str(payload.get("severity", "")).strip().lower())
    except ValueError:
        return Refused(code="severity_unknown")
    span = first_span(work.body, payload["quote"])
    if span is None:
        return Refused(code="quote_not_found")
    lines = evidence_lines(evidence, len(number_lines(work.material.sources)))
    if lines is None:
        return Refused(code="evidence_not_found")
    finding = Finding(
        category=payload["category"].strip()[:80],
        severity=severity,
        quote=work.body[span[0] : span[1]],
        problem=payload["problem"].strip(),
        suggestion=suggestion,
        evidence=lines,
    )
    return Item(key=fingerprint(finding), payload=finding_payload(finding))


def finding_payload(finding: Finding) -> dict[str, Any]:
    return {
        "category": finding.category,
        "severity": finding.severity.value,
        "quote": finding.quote,
        "problem": finding.problem,
        "suggestion": finding.suggestion,
        "evidence": list(finding.evidence),
    }


def accept_edit(work: Work, payload: Payload, kept: Sequence[Item] = ()) -> Item | Refused:
    """An edit that can be made in the body as it is, beside those that are kept."""
    find, replace, resolves = (payload.get(name) for name in ("find", "replace", "resolves"))
    if not (_storable(find) and _storable(replace) and isinstance(resolves or [], list)):
        return Refused(code="invalid")
    assert isinstance(find, str)
    assert isinstance(replace, str)
    plain = {"find": find, "replace": replace, "resolves": [str(name) for name in resolves or []]}
    ground = ground_of(work)
    if not find:
        return _accept_rewrite(work, ground, plain, kept)
    edit = read_edit(ground, plain)
    if isinstance(edit, RefusedEdit):
        return Refused(code=edit.code)
    if any(overlaps(edit.span, other.span) for other in _made(ground, kept) if other != edit):
        return Refused(code="overlap")
    payload = {
        "find": edit.find,
        "replace": edit.replace,
        "resolves": [f"I{number}" for number in edit.resolves],
    }
    return Item(key=_hash(edit.find, edit.replace), payload=payload)


def _accept_rewrite(
    work: Work, ground: Ground, plain: dict[str, Any], kept: Sequence[Item]
) -> Item | Refused:
    """The whole body anew, only where it was asked for: what it changes and may change is made."""
    if not asks_rewrite(work, kept):
        return Refused(code="invalid")
    edits, refused = read_rewrite(ground, plain)
    if not edits:
        return Refused(code=next(iter(refused), "no_change"))
    return Item(key=_hash("", plain["replace"]), payload=plain)


def _made(ground: Ground, kept: Sequence[Item]) -> list[Edit]:
    read = (read_edit(ground, item.payload) for item in kept if item.payload.get("find"))
    return [edit for edit in read if isinstance(edit, Edit)]


def asks_rewrite(work: Work, kept: Sequence[Item]) -> bool:
    """Whether the answer to refused edits may be the whole body: none could be made at all."""
    return (
        work.step is StepName.REFINE
        and bool(work.refused)
        and not any(item.payload.get("find") for item in kept)
        and len(work.body) <= LONGEST_REWRITE
    )


def worth_telling(work: Work, kept: Sequence[Item]) -> bool:
    """Whether a model is told what was refused (`work.refused`) and asked once more: edits whose
    issues no kept edit resolves; of a review only when nothing it said could be kept."""
    if work.step is StepName.REVIEW:
        return not kept and any(one.code in UNFOUNDED for one in work.refused)
    if work.step is not StepName.REFINE:
        return False
    resolved = {name for item in kept for name in item.payload.get("resolves", ())}
    return any(one.code in NOT_MADE and not _names(one.payload) <= resolved for one in work.refused)


def _names(payload: Payload) -> set[str]:
    """The issues an edit names; what names none is about one that nothing else resolves."""
    given = payload.get("resolves")
    return {str(name) for name in given} if isinstance(given, list) and given else {""}


def ground_of(work: Work) -> Ground:
    return Ground(
        body=work.body, issues=work.issues, locks=work.locks, free=bool(work.instructions)
    )


def _are_texts(values: Sequence[object]) -> bool:
    return all(
        isinstance(value, str) and 0 < len(value) <= _LONGEST_FIELD and _storable(value)
        for value in values
    )


def _storable(value: object) -> bool:
    """A text without NUL and lone surrogates, which no row can hold."""
    return isinstance(value, str) and re.search("[\x00\ud800-\udfff]", value) is None


def _hash(*pieces: str) -> str:
    return hashlib.sha256("\x00".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()[:24]
