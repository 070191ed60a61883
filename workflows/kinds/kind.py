"""What differs between kinds of document, behind one interface.

The engine knows no kind: it plans parts, asks for prompts, offers each item that arrives, runs the
verifiers and assembles the result, all through `Kind`. Everything here is pure: no clock, file,
network or row. Texts come in as values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from workflows.kinds.sizes import rough_count
from workflows.vocabulary import Severity, StepName

Payload = Mapping[str, Any]
"""One JSON object as a model wrote it, or the attributes of a document."""
FOLLOWS = "follows"
"""In the spec of a part that begins when all others are done, with their items as `gathered`."""


@dataclass(frozen=True, kw_only=True)
class SourceText:
    """One source in force. `lines` are numbered T1.. in prompts, per kind's own splitting."""

    id: str
    name: str
    media_type: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a document is made from; the same at every step of a run."""

    title: str
    language: str | None
    attributes: Payload
    sources: tuple[SourceText, ...]
    templates: tuple[Payload, ...] = ()
    """Of the run's first draft, as they were when it was created (`Template.kept`)."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One problem as a verifier or a reviewer sees it. `evidence` names source lines: T12."""

    category: str
    severity: Severity
    quote: str
    problem: str
    suggestion: str | None = None
    evidence: tuple[str, ...] = ()
    raised_by: str = ""


@dataclass(frozen=True, kw_only=True)
class OpenIssue:
    """An issue of the run as prompts show it: `number` 3 is I3."""

    number: int
    finding: Finding


@dataclass(frozen=True, kw_only=True)
class RefusedItem:
    """An item of a reply that was dropped, and why."""

    payload: Payload
    code: str


@dataclass(frozen=True, kw_only=True)
class PartPlan:
    """A piece of a step that is asked for, stored and continued alone.

    `key` is made from what the part covers (reviewer, window range, source version): equal keys
    mean equal cuts. `spec` holds what `prompt` needs to make the same cut again (JSON values); of
    it the engine reads `part`, the reviewer that issues name, `follows`, and `scope`, there when a
    review does not look at everything: such a one lets no run pass.
    """

    part: str
    key: str
    spec: Payload = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Item:
    """The smallest piece that is kept when the rest is lost."""

    key: str
    payload: Payload


@dataclass(frozen=True, kw_only=True)
class Work:
    """Everything a step is made from. `body` is the plan's input revision, '' for a draft."""

    step: StepName
    round: int
    material: Material
    body: str = ""
    issues: tuple[OpenIssue, ...] = ()
    locks: tuple[str, ...] = ()
    instructions: str | None = None
    prompts: Payload = field(default_factory=dict)
    """Overrides of prompt texts by name, from the profile, which `reviewers` look, and how many
    `window_tokens` of a long source each is shown."""
    reviewed: str | None = None
    """In a review: the body as the run's review before this one read it; None in the first."""
    can_pass: bool = True
    """False where open issues stand in the body that keep this review from passing it."""
    refused: tuple[RefusedItem, ...] = ()
    """What the call of this part before this one answered and could not be kept."""
    gathered: tuple[tuple[PartPlan, tuple[Item, ...]], ...] = ()
    """To a part that follows the others of its step: what is kept of each of them."""
    count: Callable[[str], int] = rough_count
    """Tokens of a text."""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """An item that is dropped and counted, with a code that says why; `key` is the one it would
    have had, where it has one, for whoever wants to know what was dropped."""

    code: str
    key: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One request. `recipe` tells how it was made (ids and numbers, no text)."""

    system: str
    user: str
    schema_name: str
    schema: Payload
    max_output_tokens: int
    recipe: Payload = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Refined:
    """A new body and what became of the edits. `resolved` are issue numbers."""

    body: str
    resolved: tuple[int, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    """How many edits were refused, by code: not_found, ambiguous, locked, lost_content, ..."""


@dataclass(frozen=True, kw_only=True)
class KindLimits:
    """Sizes a kind is made for."""

    body_characters: int = 1_000_000
    source_characters: int = 5_000_000
    items: int = 500
    window_tokens: int = 20_000
    """Sources longer than this are shown in windows of at most this size."""


class Kind(Protocol):
    """A folder of knowledge: prompts, reply schemas, verifiers, limits, sample."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Hash over the folder's files; recorded with each call."""
        ...

    @property
    def languages(self) -> tuple[str, ...]: ...

    @property
    def limits(self) -> KindLimits: ...

    @property
    def schemas(self) -> Mapping[str, Payload]:
        """Reply schema by step name."""
        ...

    @property
    def attribute_names(self) -> frozenset[str]:
        """Attributes a document of this kind may have; others are refused."""
        ...

    def check_attributes(self, attributes: Payload) -> list[tuple[str, str]]:
        """Problems as (JSON pointer below /attributes, English sentence); [] = fine."""
        ...

    @property
    def prompt_names(self) -> frozenset[str]:
        """Texts that a profile's prompts may word in another way."""
        ...

    def check_prompts(self, prompts: Payload) -> list[tuple[str, str]]:
        """Problems of a profile's prompts as (JSON pointer below them, English sentence)."""
        ...

    def drafts_without_body(self) -> bool:
        """Whether a run may begin with a draft when the document has no body."""
        ...

    def parts(self, work: Work) -> tuple[PartPlan, ...]:
        """The cut of this step; at least one part, names unique."""
        ...

    def recut(self, work: Work, part: PartPlan) -> tuple[PartPlan, ...]:
        """A part that did not fit, in pieces as small as parts are now: together they cover what
        it covered, and the first has its name, with what is kept of it."""
        ...

    def prompt(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> Prompt:
        """The request for what `kept` does not have yet; unchanging source first."""
        ...

    def expected(self, work: Work, part: PartPlan) -> tuple[str, ...] | None:
        """Keys this part must have when it is done, or None when a normal end says so."""
        ...

    def settles(self, work: Work, part: PartPlan, kept: Sequence[Item], added: int) -> bool:
        """Whether a part is done by a normal end though expected keys are missing; the call that
        ended brought `added` of what is kept."""
        ...

    def accept(
        self, work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
    ) -> Item | Refused:
        """The item under its key, or why it is dropped (unfounded, duplicate, out of range)."""
        ...

    def ask_again(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> bool:
        """Whether a part whose call ended normally is told what was refused of it
        (`work.refused`) and asked once more. The engine does so once a part."""
        ...

    def verify(self, material: Material, body: str) -> tuple[Finding, ...]:
        """All verifiers on one body. `raised_by` is `verifier:NAME`."""
        ...

    def draft(self, work: Work, items: Sequence[Item]) -> str:
        """The body made of a draft's items, in the kind's own order."""
        ...

    def refine(self, work: Work, items: Sequence[Item]) -> Refined:
        """The body after a refine's items (edits)."""
        ...

    def sample(self) -> Payload | None:
        """The body of a `POST /api/runs` that shows this kind, or None."""
        ...
