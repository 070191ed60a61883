"""True statements of real meetings, each set with the material it is true of.

Half of the sets are `tuned`: what the verifiers were made by. The other half is only measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.unit.kind_material import DATA, material, meetings
from workflows.kinds.kind import Material

_TUNED = {"ES2004a", "TS3004d", "education_17", "146", "086", "EL 129"}


@dataclass(frozen=True, kw_only=True)
class Truths:
    """A source and statements that hold; `cased` is False for texts in lower case throughout."""

    name: str
    material: Material
    statements: tuple[str, ...]
    tuned: bool
    cased: bool = True
    minutes: str = ""

    @property
    def body(self) -> str:
        """All statements in one text: minutes as they are, or a paragraph for each."""
        return self.minutes or "\n\n".join(self.statements)


@cache
def truths() -> tuple[Truths, ...]:
    """All sets, always in the same order."""
    return tuple(_all())


def _all() -> Iterator[Truths]:
    for meeting in meetings():
        yield Truths(
            name=meeting.name,
            material=meeting.material,
            statements=meeting.statements,
            tuned=meeting.name in _TUNED,
        )
    yield from _labelled_sentences()
    yield from _labelled_summaries()
    yield from _project_minutes()


def _labelled_sentences() -> Iterator[Truths]:
    """Reference summaries and the model sentences in which people found no error."""
    raw = json.loads((DATA / "diasumfact" / "annotations_qmsum.json").read_text(encoding="utf-8"))
    for at, (name, entry) in enumerate(raw.items()):
        statements = sentences(entry["target_summary"])
        for model in entry["annotations"].values():
            for labelled in model["sentence_annotations"]:
                if all(one["error_class"] == "No Error" for one in labelled["annotation"]):
                    statements.append(labelled["sentence"])
        yield Truths(
            name=f"passage {name}",
            material=material("\n".join(entry["utterances"])),
            statements=tuple(dict.fromkeys(statements)),
            tuned=at % 2 == 0,
            cased=False,
        )


def _labelled_summaries() -> Iterator[Truths]:
    """Summaries of passages of which people say that they are consistent."""
    folder = DATA / "summedits"
    documents = json.loads((folder / "qmsumm_docs.json").read_text(encoding="utf-8"))
    lines = (folder / "qmsumm_rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for at, (name, text) in enumerate(documents.items()):
        right = [row["summary"] for row in rows if row["doc"] == name and row["label"] == 1]
        statements = [sentence for summary in right for sentence in sentences(summary)]
        yield Truths(
            name=f"summary {name}",
            material=material(text),
            statements=tuple(dict.fromkeys(statements)),
            tuned=at % 2 == 0,
        )


def _project_minutes() -> Iterator[Truths]:
    """Minutes in Markdown with their transcript in the same file: the part above, checked by it."""
    for name, file, border in (
        ("EL 129", "AllCoreDevs-EL-Meetings__Meeting_129.md", "# Meeting begins"),
        ("Fee-Market 04", "Breakout-Room-Meetings__Fee-Market__Meeting_04.md", "---------\n"),
    ):
        text = (DATA / "ethereum-pm-minutes" / file).read_text(encoding="utf-8")
        body, _, transcript = text.partition(border)
        yield Truths(
            name=name,
            material=material(transcript),
            statements=tuple(line for line in body.splitlines() if re.search(r"\w{4}", line)),
            tuned=name in _TUNED,
            minutes=body,
        )


def labelled_texts() -> Iterator[tuple[str, Material, str, bool]]:
    """Name of the set, material, a text of a model, and whether people found it right."""
    raw = json.loads((DATA / "diasumfact" / "annotations_qmsum.json").read_text(encoding="utf-8"))
    for entry in raw.values():
        said = material("\n".join(entry["utterances"]))
        for model in entry["annotations"].values():
            for one in model["sentence_annotations"]:
                right = all(each["error_class"] == "No Error" for each in one["annotation"])
                yield "sentences", said, one["sentence"], right
    folder = DATA / "summedits"
    documents = json.loads((folder / "qmsumm_docs.json").read_text(encoding="utf-8"))
    for line in (folder / "qmsumm_rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield "summaries", material(documents[row["doc"]]), row["summary"], row["label"] == 1


def sentences(text: str) -> list[str]:
    return [piece for piece in re.split(r"(?<=[.!?])\s+", text) if piece.strip()]
