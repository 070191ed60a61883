"""What may be sent, as pydantic models; unknown fields are refused everywhere.

Lengths are in characters unless said otherwise. What needs rows or a kind is checked in
`api.commands` and `api.moves.inserts`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic.functional_validators import AfterValidator
from pydantic_core import PydanticCustomError

from api.http import times

TEXT_BYTES = 5_000_000
"""Largest text (a body or a source), in UTF-8 bytes; also the largest JSON request."""
FORM_BYTES = 50_000_000
LARGEST_NUMBER = 2_147_483_647


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be empty")
    return text


def _in_calendar(at: datetime) -> datetime:
    try:
        return times.within(at)
    except ValueError:
        raise PydanticCustomError("out_of_calendar", f"must be {times.WANTED}") from None


def _not_yet(value: Any) -> Any:
    if value is not None:
        raise PydanticCustomError("not_built", "cannot be set yet; leave it out")
    return value


LANGUAGE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
MEDIA_TYPE = r"^[\w.+-]+/[\w.+-]+(;[ -~]*)?$"
AMOUNT = r"^\d{1,9}(\.\d{1,9})?$"
FORMS = {
    LANGUAGE: "give a code of a language, like en, zh or zh-CN",
    MEDIA_TYPE: "give a media type, like text/plain",
    AMOUNT: 'give an amount as text, like "1.50", not negative',
}
"""What to say instead of a pattern."""
Text: TypeAlias = Annotated[str, AfterValidator(_not_blank)]
Title: TypeAlias = Annotated[str, StringConstraints(max_length=300), AfterValidator(_not_blank)]
Remark: TypeAlias = Annotated[str, StringConstraints(max_length=10_000)]
Tag: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Tags: TypeAlias = Annotated[list[Tag], Field(max_length=20)]
Language: TypeAlias = Annotated[str, StringConstraints(pattern=LANGUAGE, max_length=35)]
MediaType: TypeAlias = Annotated[str, StringConstraints(pattern=MEDIA_TYPE, max_length=127)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Number: TypeAlias = Annotated[int, Field(ge=0, le=LARGEST_NUMBER, strict=True)]
Passage: TypeAlias = Annotated[
    str, StringConstraints(max_length=20_000), AfterValidator(_not_blank)
]
RunId: TypeAlias = Annotated[str, StringConstraints(max_length=64)]
FilterWord: TypeAlias = Annotated[str, StringConstraints(max_length=300)]
FilterName: TypeAlias = Literal[
    "status", "kind", "phase", "tag", "actor", "document_id", "q", "from", "to"
]
Moment: TypeAlias = Annotated[AwareDatetime, Field(strict=False), AfterValidator(_in_calendar)]
"""Kept in UTC."""
Rounds: TypeAlias = Annotated[int, Field(ge=1, le=20, strict=True)]
Score: TypeAlias = Annotated[int, Field(ge=0, le=100, strict=True)]


class StrictRequest(BaseModel):
    """Frozen, no unknown fields, nothing made to fit."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


_Whole: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000_000)]
_Amount: TypeAlias = Annotated[str, StringConstraints(pattern=AMOUNT)]


class Limits(StrictRequest):
    """What a run may use before it is interrupted and asks; null or left out is no limit.

    Tokens are input and output together, `max_cost` is a decimal string in the profile's currency,
    `max_seconds` counts time in RUNNING only.
    """

    max_calls: _Whole | None = None
    max_tokens: _Whole | None = None
    max_cost: _Amount | None = None
    max_seconds: _Whole | None = None

    def named(self) -> dict[str, int | str | None]:
        """The keys that were sent: null removes a limit where there is one."""
        return self.model_dump(exclude_unset=True)


class NewSource(StrictRequest):
    name: Name
    media_type: MediaType
    text: Text


class AddedSource(NewSource):
    """Body of `POST /api/documents/{id}/sources`; `replaces` names the source it corrects."""

    replaces: RunId | None = None


class _DocumentFields(StrictRequest):
    kind: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    title: Title
    language: Language | None = None
    body: Text | None = None
    sources: Annotated[list[NewSource], Field(max_length=50)] = Field(default_factory=list)
    attributes: dict[str, Any] = Field(default_factory=dict)


class _RunFields(StrictRequest):
    max_rounds: Rounds = 5
    pass_score: Score = 90
    profile: Name = "default"
    limits: Limits | None = None
    confirm_by: Moment | None = None
    webhook_url: Annotated[str | None, AfterValidator(_not_yet)] = None


class NewDocument(_DocumentFields):
    """Body of `POST /api/documents`."""

    tags: Tags = Field(default_factory=list)


class NewRun(_RunFields):
    """Body of `POST /api/documents/{id}/runs`."""

    base_revision: Number | None = None
    tags: Tags = Field(default_factory=list)


class NewDocumentRun(_DocumentFields, _RunFields):
    """Body of `POST /api/runs`: document and run at once; `tags` are those of both."""

    tags: Tags = Field(default_factory=list)

    def document(self) -> NewDocument:
        return NewDocument(**{name: getattr(self, name) for name in NewDocument.model_fields})

    def run(self) -> NewRun:
        names = [name for name in NewRun.model_fields if name != "base_revision"]
        return NewRun(**{name: getattr(self, name) for name in names})


class Planned(NewDocumentRun):
    """Body of `POST /api/estimate`: as for `POST /api/runs`, but the title may be missing;
    `audio_seconds` stands for a recording without a transcript."""

    title: Annotated[str, StringConstraints(max_length=300)] = ""
    audio_seconds: Annotated[float, Field(gt=0, le=14_400, strict=False)] | None = None

    def planned(self) -> NewDocument:
        """As a document that may be checked."""
        names = [name for name in NewDocument.model_fields if name != "title"]
        return NewDocument(title=self.title or "-", **{name: getattr(self, name) for name in names})


class DocumentChange(StrictRequest):
    """Body of `PATCH /api/documents/{id}`."""

    title: Title | None = None
    tags: Tags | None = None


class NewRevision(StrictRequest):
    base_revision: Number
    body: Text
    comment: Remark | None = None


class Interrupt(StrictRequest):
    reason: Remark | None = None


class Resume(StrictRequest):
    note: Remark | None = None
    body: Text | None = None
    base_revision: Number | None = None
    profile: Name | None = None
    limits: Limits | None = None
    max_rounds: Rounds | None = None
    override_guardrail: bool = False


class Confirm(StrictRequest):
    revision: Number
    body: Text | None = None
    comment: Remark | None = None
    override_offered: bool = False


class Reject(StrictRequest):
    comment: Remark | None = None


class Cancel(StrictRequest):
    reason: Remark | None = None


class Fork(StrictRequest):
    revision: Number


class ReworkComment(StrictRequest):
    """What a person says of a passage, or without `quote` of the whole."""

    quote: Passage | None = None
    text: Annotated[Remark, AfterValidator(_not_blank)]


class ReworkLock(StrictRequest):
    quote: Passage


class Change(StrictRequest):
    """One hunk of `diff?from=&to=`, counted from 0; `to` is the offered revision. `algorithm` is
    the diff's, by which its hunks were counted: another one than today's is refused."""

    from_: Number = Field(alias="from")
    to: Number
    hunk: Number
    algorithm: Annotated[str, StringConstraints(max_length=64)] | None = None


class ReworkDecision(StrictRequest):
    """Rejected: the older passage comes back, byte for byte. `text` stands in either case instead
    of the passage."""

    change: Change
    accept: Annotated[bool, Field(strict=True)]
    text: Annotated[str, StringConstraints(max_length=100_000)] | None = None


class Rework(StrictRequest):
    comments: Annotated[list[ReworkComment], Field(max_length=100)] = Field(default_factory=list)
    locks: Annotated[list[ReworkLock], Field(max_length=100)] = Field(default_factory=list)
    decisions: Annotated[list[ReworkDecision], Field(max_length=500)] = Field(default_factory=list)
    instructions: Remark | None = None
    extra_rounds: Rounds = 2


class DraftNotes(StrictRequest):
    """What waits beside an unsent edit: the body of a rework, what is said with a decision, and as
    `pending` a comment that was typed but not added yet."""

    comments: Annotated[list[ReworkComment], Field(max_length=100)] = Field(default_factory=list)
    locks: Annotated[list[ReworkLock], Field(max_length=100)] = Field(default_factory=list)
    decisions: Annotated[list[ReworkDecision], Field(max_length=500)] = Field(default_factory=list)
    instructions: Remark | None = None
    extra_rounds: Rounds | None = None
    comment: Remark | None = None
    pending: ReworkComment | None = None


class NewDraft(StrictRequest):
    """Body of `PUT /api/documents/{id}/draft`. `version` is the one that was read, 0 for none;
    a `body` or `notes` that is left out stays, null removes it."""

    base_revision: Number
    version: Number = 0
    body: str | None = None
    notes: DraftNotes | None = None


class IssueChange(StrictRequest):
    status: Literal["waived", "open"]
    reason: Remark | None = None


class Bulk(StrictRequest):
    """Body of `POST /api/runs/bulk`: either `ids` or `filter`, whose names are those of the list's
    query; an empty filter is every run that the action can move."""

    action: Literal["interrupt", "resume", "cancel"]
    ids: Annotated[list[RunId], Field(min_length=1, max_length=1000)] | None = None
    filter: dict[FilterName, FilterWord | list[FilterWord]] | None = None
    reason: Remark | None = None

    @model_validator(mode="after")
    def _one_choice(self) -> Bulk:
        if (self.ids is None) == (self.filter is None):
            raise PydanticCustomError("choice", "give either ids or filter")
        return self


class SwitchesChange(StrictRequest):
    """Body of `PUT /api/switches`."""

    draining: bool
    note: Annotated[str, StringConstraints(max_length=500)] | None = None
