"""Meetings of tests/data as material, and errors planted in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflows.kinds.kind import Finding, Material, OpenIssue, SourceText, Work
from workflows.vocabulary import Severity, StepName

DATA = Path(__file__).parent.parent / "data"
SAMPLE = DATA.parent.parent / "workflows" / "kinds" / "minutes" / "sample" / "document.json"
ENGLISH = ("ES2004a", "IS1003d", "TS3004d", "Bmr006", "education_17")
CHINESE = ("086", "146", "208")


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """A real meeting and the statements of its reference summaries, which are true."""

    name: str
    material: Material
    statements: tuple[str, ...]


def meetings() -> Iterator[Meeting]:
    for name in ENGLISH:
        raw = json.loads((DATA / "qmsum" / f"{name}.json").read_text(encoding="utf-8"))
        lines = [f"{turn['speaker']}: {turn['content']}" for turn in raw["meeting_transcripts"]]
        answers = [q["answer"] for q in raw["general_query_list"] + raw["specific_query_list"]]
        statements = tuple(s for answer in answers for s in re.split(r"(?<=[.!?])\s+", answer))
        yield Meeting(name=name, material=material("\n".join(lines)), statements=statements)
    for name in CHINESE:
        raw = json.loads((DATA / "vcsum" / f"meeting_{name}.json").read_text(encoding="utf-8"))
        turns = [turn for segment in raw["segments"] for turn in segment["turns"]]
        lines = [f"说话人{turn['speaker']}：{turn['text']}" for turn in turns]
        texts = [raw["summary"], *(segment["discussion"] for segment in raw["segments"])]
        statements = tuple(s for text in texts for s in re.findall(r"[^。；]+[。；]?", text))
        yield Meeting(
            name=name, material=material("\n".join(lines), language="zh"), statements=statements
        )


def material(text: str, *, language: str = "en", **attributes: Any) -> Material:
    return Material(
        title="A meeting",
        language=language,
        attributes=attributes,
        sources=(SourceText(id="s1", name="source.txt", media_type="text/plain", text=text),),
    )


def document(path: Path) -> tuple[Material, str]:
    """Material and body of a `POST /api/runs` kept in a file."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    sources = tuple(SourceText(id=str(at), **source) for at, source in enumerate(raw["sources"]))
    return (
        Material(
            title=raw["title"],
            language=raw["language"],
            attributes=raw["attributes"],
            sources=sources,
        ),
        raw["body"],
    )


def planted(name: str) -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = json.loads(
        (DATA / "planted" / f"{name}.json").read_text(encoding="utf-8")
    )
    return errors


def work(step: StepName, source: str, body: str = "", **rest: Any) -> Work:
    return Work(step=step, round=1, material=material(source), body=body, **rest)


def issue(number: int, quote: str, *, suggestion: str | None = None) -> OpenIssue:
    finding = Finding(
        category="number",
        severity=Severity.MAJOR,
        quote=quote,
        problem="wrong",
        suggestion=suggestion,
    )
    return OpenIssue(number=number, finding=finding)
