"""`kinds check FOLDER`: what is wrong with a folder that wants to be a kind.

Each problem is one English sentence; an empty list means that the engine can work with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workflows.kinds import from_folder
from workflows.kinds.checked import PromptMissing
from workflows.kinds.kind import (
    FOLLOWS,
    Item,
    Kind,
    Material,
    PartPlan,
    Payload,
    Refused,
    SourceText,
    Work,
)
from workflows.vocabulary import StepName

_SOURCE = SourceText(
    id="source-1", name="check.txt", media_type="text/plain", text="Ana: The price is 25 Euros."
)
_BODY = "# Check\n\n- The price is 25 Euros.\n"


def check(folder: Path) -> list[str]:
    """Problems of a third party's kind folder; nothing is written and nothing is asked for."""
    if not (folder / "__init__.py").is_file():
        return [f"{folder.name}: there is no __init__.py."]
    try:
        kind = from_folder(folder)
    except Exception as error:  # whatever a stranger's module raises is the finding
        return [f"{folder.name}: it cannot be imported ({type(error).__name__}: {error})."]
    return problems_of(kind)


def problems_of(kind: Kind) -> list[str]:
    """What of it the engine cannot work with."""
    problems: list[str] = []
    for examine in (_names, _attributes, _schemas, _sample, _steps, _draft, _verifiers):
        try:
            problems += examine(kind)
        except PromptMissing as missing:
            problems.append(f"prompts: {missing}.")
        except Exception as error:
            name = examine.__name__.strip("_")
            problems.append(f"{name}: raised {type(error).__name__}: {error}.")
    return problems


def _names(kind: Kind) -> Iterator[str]:
    if not kind.name or kind.name != kind.name.strip().lower():
        yield "name: it must be a word in lower case."
    if not kind.version:
        yield "version: it is empty."
    if not kind.languages:
        yield "languages: name at least one."


def _attributes(kind: Kind) -> Iterator[str]:
    if kind.check_attributes({}):
        yield "attributes: a document without attributes must be fine; they are all optional."
    if not kind.check_attributes({"no_such_attribute_": 1}):
        yield "attributes: an unknown attribute must be refused."


def _schemas(kind: Kind) -> Iterator[str]:
    for step in ("review", "refine", *(["draft"] if kind.drafts_without_body() else [])):
        schema = kind.schemas.get(step)
        if schema is None:
            yield f"schemas: there is none for {step}."
            continue
        json.dumps(schema)
        items = schema.get("properties", {}).get("items", {})
        if schema.get("type") != "object" or items.get("type") != "array":
            yield f"schemas: {step} must be an object with a list `items`."


def _sample(kind: Kind) -> Iterator[str]:
    sample = kind.sample()
    if sample is None:
        return
    if sample.get("kind") != kind.name:
        yield "sample: it must be of this kind."
    for pointer, problem in kind.check_attributes(sample.get("attributes") or {}):
        yield f"sample: /attributes{pointer}: {problem}"
    if not sample.get("body") and not kind.drafts_without_body():
        yield "sample: it needs a body, this kind makes no draft."


def _steps(kind: Kind) -> Iterator[str]:
    steps = [StepName.REVIEW, StepName.REFINE]
    if kind.drafts_without_body():
        steps.insert(0, StepName.DRAFT)
    for step in steps:
        work = Work(
            step=step, round=1, material=_material(), body="" if step is StepName.DRAFT else _BODY
        )
        parts = kind.parts(work)
        names = [part.part for part in parts]
        if not names or len(set(names)) != len(names):
            yield f"{step.value}: it needs at least one part, and their names must differ."
        if parts != kind.parts(work):
            yield f"{step.value}: the same work must be cut in the same way each time."
        for part in parts:
            yield from _part(kind, work, part)
    yield from _refine(kind)


def _prompt(step: StepName, user: str, schema: Payload) -> Iterator[str]:
    json.dumps(schema)
    if _SOURCE.text not in user:
        yield f"{step.value}: the source is not in the prompt."
    elif step is not StepName.DRAFT:
        if _BODY.strip() not in user:
            yield f"{step.value}: the document is not in the prompt."
        elif user.index(_SOURCE.text) > user.rindex(_BODY.strip()):
            yield f"{step.value}: the source must stand before the document."


def _part(kind: Kind, work: Work, part: PartPlan) -> Iterator[str]:
    step = work.step
    prompt = kind.prompt(work, part, [])
    yield from _prompt(step, prompt.user, prompt.schema)
    if prompt != kind.prompt(work, part, []):
        yield f"{step.value}: the same work must make the same prompt each time."
    if kind.ask_again(work, part, []):
        yield f"{step.value}: nothing was refused, so nothing is to be asked again."
    if kind.settles(work, part, [], 0):
        yield f"{step.value}: where nothing was answered, nothing is done."
    for nonsense in ({}, {"items": 1}, {"quote": 5, "find": None, "day": "x"}):
        accepted = kind.accept(work, part, nonsense, [])
        if isinstance(accepted, Item) or not isinstance(accepted, Refused):
            yield f"{step.value}: an item without its fields must be refused."


def _draft(kind: Kind) -> Iterator[str]:
    """What a run that begins without a body needs of its kind."""
    if not kind.drafts_without_body():
        return
    work = Work(step=StepName.DRAFT, round=0, material=_material())
    for part in kind.parts(work):
        keys = kind.expected(work, part)
        if keys is not None and (not keys or len(set(keys)) != len(keys)):
            yield "draft: the keys of its items must differ, and there must be one."
    if not isinstance(kind.draft(work, []), str):
        yield "draft: a draft of no items must be a text too."
    yield from _windows(kind)


def _windows(kind: Kind) -> Iterator[str]:
    """A long source is in the prompts of its parts whole, however small they are cut."""
    said = [f"Ana: line {number} is about the price of 25 Euros." for number in range(400)]
    long = replace(_SOURCE, text="\n".join(said))
    work = Work(
        step=StepName.DRAFT,
        round=0,
        material=replace(_material(), sources=(long,)),
        prompts={"window_tokens": 1000},
    )
    parts = kind.parts(work)
    shown = "".join(kind.prompt(work, part, []).user for part in parts)
    if any(line not in shown for line in said):
        yield "draft: lines of a long source are in no prompt."
    last = [part for part in parts if part.spec.get(FOLLOWS)]
    if len(last) == len(parts):
        yield "draft: a part that follows needs others before it."
    gathered = tuple((part, ()) for part in parts if part not in last)
    for part in last:
        kind.prompt(replace(work, gathered=gathered), part, [])


def _refine(kind: Kind) -> Iterator[str]:
    work = Work(step=StepName.REFINE, round=1, material=_material(), body=_BODY)
    if kind.refine(work, []).body != _BODY:
        yield "refine: without edits the body must stay as it is."


def _verifiers(kind: Kind) -> Iterator[str]:
    for body in (_BODY, "", "x", "一"):
        for finding in kind.verify(_material(), body):
            if finding.quote not in body:
                yield f"verify: {finding.raised_by} quotes what is not in the body."
            if not finding.raised_by.startswith("verifier:"):
                yield "verify: raised_by must be `verifier:NAME`."


def _material() -> Material:
    return Material(title="Check", language="en", attributes={}, sources=(_SOURCE,))
