"""A text that is checked against sources: what the built-in kinds share.

Review and refine are the same for all of them; prompts, attributes, verifiers and the first draft
are the kind's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from workflows.kinds import reviewers, schemas, scopes
from workflows.kinds.attributes import Check, ListCheck, Type, check_fields, types_of
from workflows.kinds.edits import apply_edits
from workflows.kinds.founded import (
    accept_edit,
    accept_issue,
    asks_rewrite,
    ground_of,
    worth_telling,
)
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
from workflows.kinds.lines import number_lines
from workflows.kinds.problems_zh import in_chinese, is_chinese
from workflows.kinds.prompting import (
    Block,
    asides,
    compact,
    issues_text,
    render,
    source_blocks,
    token_for,
)
from workflows.kinds.windows import excerpt_of
from workflows.vocabulary import StepName

Verifier = Callable[[Material, str], Sequence[Finding]]


class PromptMissing(LookupError):
    """A kind's folder has no text of this name; the message names the file."""


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

    @property
    def attribute_types(self) -> Mapping[str, Type]:
        """What each attribute holds, in the order in which forms ask for them."""
        return types_of(self.fields, self.lists)

    def check_attributes(self, attributes: Payload) -> list[tuple[str, str]]:
        return check_fields(attributes, self.fields, self.lists)

    def drafts_without_body(self) -> bool:
        return False

    @cached_property
    def _reviewers(self) -> tuple[str, ...]:
        return reviewers.offered(self.texts)

    @property
    def prompt_names(self) -> frozenset[str]:
        return frozenset({*self.texts, *scopes.TEXTS})

    def check_prompts(self, prompts: Payload) -> list[tuple[str, str]]:
        return [*reviewers.problems(prompts, self._reviewers), *scopes.problems(prompts)]

    def parts(self, work: Work) -> tuple[PartPlan, ...]:
        names = reviewers.choose(work.prompts, self._reviewers)
        return scopes.plan(work, names, self.limits.window_tokens)

    def recut(self, work: Work, part: PartPlan) -> tuple[PartPlan, ...]:
        return scopes.recut(work, part, self.limits.window_tokens)

    def expected(self, work: Work, part: PartPlan) -> tuple[str, ...] | None:
        return None

    def settles(self, work: Work, part: PartPlan, kept: Sequence[Item], added: int) -> bool:
        return False

    def prompt(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> Prompt:
        step = work.step.value
        sources = work.material.sources
        lines = number_lines(sources)
        blocks = [
            *source_blocks(sources, lines, excerpt_of(part.spec, lines)),
            *self.about(work),
            *_blocks_of(work, part, kept),
        ]
        token = token_for(sources, blocks)
        task = [self._text(work, f"{step}_task"), *scopes.task_lines(work, part, self._told(work))]
        if work.refused:
            task.append(self.again(work, part, kept))
        elif kept:
            task.append(self.rest(work, part, kept))
        return Prompt(
            system=f"{self._text(work, step)}\nDelimiter: {token}",
            user="\n\n".join((render(blocks, token), "\n".join(task))),
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

    def again(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> str:
        """What a part is asked whose answer could not be kept, or not all of it."""
        if work.step is StepName.REVIEW:
            return (
                "None of the items in REFUSED could be kept: code says why. Answer with those that "
                "hold, each quote copied from DOCUMENT, evidence naming lines of SOURCE; or with "
                "no items."
            )
        if asks_rewrite(work, kept):
            return (
                "None of the edits in REFUSED could be made: code says why. Answer with one item: "
                "find is an empty text, replace is the whole of DOCUMENT as it should read, with "
                "nothing changed but what ISSUES ask for; resolves names the issues."
            )
        return (
            "The edits in ALREADY are made; those in REFUSED could not be: code says why. Answer "
            "only with edits in place of those, that can be made, or with no items."
        )

    def ask_again(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> bool:
        return worth_telling(work, kept)

    def _text(self, work: Work, name: str) -> str:
        override = work.prompts.get(name)
        if isinstance(override, str) and override:
            return override
        if name not in self.texts:
            raise PromptMissing(f"prompts/{name}.md is not there")
        return self.texts[name]

    def _told(self, work: Work) -> Mapping[str, str]:
        known = {**scopes.TEXTS, **self.texts}
        return known | {name: text for name, text in work.prompts.items() if name in known and text}

    def accept(
        self, work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
    ) -> Item | Refused:
        accepted = (
            accept_issue(work, payload)
            if work.step is StepName.REVIEW
            else accept_edit(work, payload, kept)
        )
        if isinstance(accepted, Item) and any(item.key == accepted.key for item in kept):
            return Refused(code="duplicate")
        return accepted

    def verify(self, material: Material, body: str) -> tuple[Finding, ...]:
        worded = in_chinese if is_chinese(material, body) else str
        return tuple(
            Finding(
                category=finding.category,
                severity=finding.severity,
                quote=finding.quote,
                problem=worded(finding.problem),
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
        return apply_edits(ground_of(work), [item.payload for item in items])

    def sample(self) -> Payload | None:
        return None


def folder_hash(folder: Path) -> str:
    """A short hash over what decides what a kind does: its folder and the shared modules."""
    shared = Path(__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file()]
    files += [*shared.glob("*.py"), *shared.glob("facts/*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\x00" + path.read_bytes() + b"\x00")
    return digest.hexdigest()[:16]


def _blocks_of(work: Work, part: PartPlan, kept: Sequence[Item]) -> list[Block]:
    """What changes between rounds; blocks with nothing in them are left out."""
    blocks = []
    if work.step is not StepName.DRAFT:
        blocks.append(Block(name="DOCUMENT", text=work.body))
    if work.locks:
        blocks.append(Block(name="LOCKED", text=compact(list(work.locks))))
    if scopes.reviewer_of(part) == scopes.CHANGES and work.reviewed is not None:
        passages = scopes.changed(work.reviewed, work.body)
        blocks.append(Block(name="CHANGED", text=compact(passages)))
    if work.issues:
        blocks.append(Block(name="ISSUES", text=issues_text(work.issues)))
    return [*blocks, *asides(work, kept)]


def _recipe(work: Work, part: PartPlan, kept: Sequence[Item]) -> dict[str, Any]:
    return {
        "step": work.step.value,
        "round": work.round,
        "part": part.part,
        "sources": [source.id for source in work.material.sources],
        "issues": [issue.number for issue in work.issues],
        "kept": len(kept),
        "refused": len(work.refused),
        **{name: part.spec[name] for name in ("window", "ranges") if name in part.spec},
        "instructions": work.instructions is not None,
    }
