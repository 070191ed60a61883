"""A text that is checked against sources: what the built-in kinds share.

Review and refine are the same for all of them; prompts, attributes, verifiers and the first draft
are the kind's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from workflows.kinds import reviewers, schemas
from workflows.kinds.attributes import Check, ListCheck, check_fields
from workflows.kinds.edits import Ground, RefusedEdit, apply_edits, read_edit
from workflows.kinds.kind import (
    Finding,
    Item,
    KindLimits,
    Material,
    PartPlan,
    Payload,
    Prompt,
    Refined,
    Refused,
    Work,
)
from workflows.kinds.lines import evidence_lines, number_lines
from workflows.kinds.passages import first_span
from workflows.kinds.prompting import (
    Block,
    compact,
    issues_text,
    render,
    source_blocks,
    token_for,
)
from workflows.scoring import fingerprint
from workflows.vocabulary import Severity, StepName

Verifier = Callable[[Material, str], Sequence[Finding]]
_LONGEST_FIELD = 4000


@dataclass(frozen=True, kw_only=True)
class CheckedText:
    """A `Kind` made of a folder: prompts/*.md, attribute fields, verifiers by name."""

    name: str
    folder: Path
    languages: tuple[str, ...]
    verifiers: Mapping[str, Verifier]
    fields: Mapping[str, Check] = field(default_factory=dict)
    lists: Mapping[str, ListCheck] = field(default_factory=dict)
    limits: KindLimits = field(default_factory=KindLimits)
    output_tokens: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Files are read at import, so that nothing reads them inside a workflow's sandbox.
        assert self.texts
        assert self.version

    @cached_property
    def version(self) -> str:
        return folder_hash(self.folder)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Prompt texts by name; a profile may override each of them."""
        return {
            path.stem: path.read_text(encoding="utf-8").strip()
            for path in sorted((self.folder / "prompts").glob("*.md"))
        }

    @property
    def schemas(self) -> Mapping[str, Payload]:
        return {"review": schemas.REVIEW, "refine": schemas.REFINE}

    @property
    def attribute_names(self) -> frozenset[str]:
        return frozenset(self.fields) | frozenset(self.lists)

    def check_attributes(self, attributes: Payload) -> list[tuple[str, str]]:
        return check_fields(attributes, self.fields, self.lists)

    def drafts_without_body(self) -> bool:
        return False

    @cached_property
    def _reviewers(self) -> tuple[str, ...]:
        return reviewers.offered(self.texts)

    def check_prompts(self, prompts: Payload) -> list[tuple[str, str]]:
        return reviewers.problems(prompts, self._reviewers)

    def parts(self, work: Work) -> tuple[PartPlan, ...]:
        names: tuple[str, ...] = (reviewers.MAIN,)
        if work.step is StepName.REVIEW:
            names = reviewers.choose(work.prompts, self._reviewers)
        covered = [source.id for source in work.material.sources]
        return tuple(
            PartPlan(part=name, key=_hash(work.step.value, name, *covered), spec={"part": name})
            for name in names
        )

    def expected(self, work: Work, part: PartPlan) -> tuple[str, ...] | None:
        return None

    def prompt(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> Prompt:
        step = work.step.value
        sources = work.material.sources
        blocks = [
            *source_blocks(sources, number_lines(sources)),
            *self.about(work),
            *_blocks_of(work, kept),
        ]
        token = token_for(sources, blocks)
        task = self._text(work, f"{step}_task")
        if work.step is StepName.REVIEW and part.part != reviewers.MAIN:
            own = self._text(work, f"review_{part.part}")
            task = f"{task}\n{reviewers.only(part.part, own)}"
        if kept:
            task = f"{task}\n{self.rest(work, part, kept)}"
        return Prompt(
            system=f"{self._text(work, step)}\nDelimiter: {token}",
            user=f"{render(blocks, token)}\n\n{task}",
            schema_name=self.schema_name(step),
            schema=self.schemas[step],
            max_output_tokens=self.output_tokens.get(step, 8000),
            recipe=_recipe(work, part, kept),
        )

    def schema_name(self, step: str) -> str:
        return schemas.SCHEMA_NAMES[step]

    def about(self, work: Work) -> list[Block]:
        """What is known of the document besides sources and body."""
        known: dict[str, Any] = {"title": work.material.title}
        if work.material.language:
            known["language"] = work.material.language
        return [Block(name="ABOUT", text=compact({**known, **work.material.attributes}))]

    def rest(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> str:
        """What a continuation asks for."""
        return (
            f"{len(kept)} items are in the ALREADY block; they are kept. "
            "Answer only with the items that are still missing, and repeat none of them."
        )

    def _text(self, work: Work, name: str) -> str:
        override = work.prompts.get(name)
        return override if isinstance(override, str) and override else self.texts[name]

    def accept(
        self, work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
    ) -> Item | Refused:
        accepted = (
            accept_issue(work, payload)
            if work.step is StepName.REVIEW
            else accept_edit(work, payload)
        )
        if isinstance(accepted, Item) and any(item.key == accepted.key for item in kept):
            return Refused(code="duplicate")
        return accepted

    def verify(self, material: Material, body: str) -> tuple[Finding, ...]:
        return tuple(
            Finding(
                category=finding.category,
                severity=finding.severity,
                quote=finding.quote,
                problem=finding.problem,
                suggestion=finding.suggestion,
                evidence=finding.evidence,
                raised_by=f"verifier:{name}",
            )
            for name, verifier in self.verifiers.items()
            for finding in verifier(material, body)
        )

    def draft(self, work: Work, items: Sequence[Item]) -> str:
        """Sections as they came, each under its heading."""
        return "\n\n".join(
            f"## {item.payload['heading']}\n\n{item.payload['markdown']}".rstrip() for item in items
        )

    def refine(self, work: Work, items: Sequence[Item]) -> Refined:
        return apply_edits(_ground(work), [item.payload for item in items])

    def sample(self) -> Payload | None:
        return None


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


def accept_edit(work: Work, payload: Payload) -> Item | Refused:
    """An edit that can be made in the body as it is."""
    find, replace, resolves = (payload.get(name) for name in ("find", "replace", "resolves"))
    if not (find and _storable(find) and _storable(replace) and isinstance(resolves or [], list)):
        return Refused(code="invalid")
    assert isinstance(find, str)
    assert isinstance(replace, str)
    plain = {"find": find, "replace": replace, "resolves": [str(name) for name in resolves or []]}
    edit = read_edit(_ground(work), plain)
    if isinstance(edit, RefusedEdit):
        return Refused(code=edit.code)
    payload = {
        "find": edit.find,
        "replace": edit.replace,
        "resolves": [f"I{number}" for number in edit.resolves],
    }
    return Item(key=_hash(edit.find, edit.replace), payload=payload)


def folder_hash(folder: Path) -> str:
    """A short hash over what decides what a kind does: its folder and the shared modules."""
    shared = Path(__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file()]
    files += [*shared.glob("*.py"), *shared.glob("facts/*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\x00" + path.read_bytes() + b"\x00")
    return digest.hexdigest()[:16]


def _blocks_of(work: Work, kept: Sequence[Item]) -> list[Block]:
    """What changes between rounds; blocks with nothing in them are left out."""
    blocks = []
    if work.step is not StepName.DRAFT:
        blocks.append(Block(name="DOCUMENT", text=work.body))
    if work.locks:
        blocks.append(Block(name="LOCKED", text=compact(list(work.locks))))
    if work.issues:
        blocks.append(Block(name="ISSUES", text=issues_text(work.issues)))
    if kept:
        blocks.append(Block(name="ALREADY", text=compact([dict(item.payload) for item in kept])))
    if work.instructions:
        blocks.append(Block(name="INSTRUCTIONS", text=work.instructions))
    return blocks


def _recipe(work: Work, part: PartPlan, kept: Sequence[Item]) -> dict[str, Any]:
    return {
        "step": work.step.value,
        "round": work.round,
        "part": part.part,
        "sources": [source.id for source in work.material.sources],
        "issues": [issue.number for issue in work.issues],
        "kept": len(kept),
        "instructions": work.instructions is not None,
    }


def _ground(work: Work) -> Ground:
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
