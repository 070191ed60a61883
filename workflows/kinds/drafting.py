"""First drafts by sections of a template: each section is an item with the lines it rests on.

A source that fits one window is drafted at once. A longer one is read in windows, which together
cover every line: each is a part that notes what belongs into each section, and the part `main`
follows them and composes the sections from all notes. So everything that was paid is an item of
its part, and a call that ended early is asked again for the sections that are missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from workflows.kinds import schemas, scopes, sections, windows
from workflows.kinds.checked import CheckedText, folder_hash
from workflows.kinds.kind import FOLLOWS, Item, Material, PartPlan, Payload, Prompt, Refused, Work
from workflows.kinds.lines import number_lines
from workflows.kinds.prompting import Block, asides, compact, render, source_blocks, token_for
from workflows.kinds.templates import (
    BadTemplate,
    LeaveOut,
    Template,
    find,
    from_kept,
    from_spec,
    names,
    read_folder,
    written_out,
)
from workflows.kinds.windows import excerpt_of
from workflows.vocabulary import StepName

MAIN, NOTES = "main", "notes"
WINDOWS_COMPOSED = 8
"""The notes of more windows than this are composed by several parts, each for some sections."""
Told = Mapping[str, Any]
"""A section as a plan holds it: key, heading, about, and `at`, its place in the template."""
DEFAULT = "general"

TEXTS = {
    "draft_notes_task": (
        "SOURCE holds only the lines T{first} to T{last} of {count}; others read the rest. Note "
        "from these lines what belongs into each section of SECTIONS, complete rather than short: "
        "each decision, task, number and date, one a bullet, with its lines behind it as [T12]. "
        "Somebody composes the minutes from all notes. Answer with the sections as JSON."
    ),
    "draft_notes_task_zh": (
        "SOURCE 只有 {count} 行中的 T{first} 到 T{last} 行；其余由别人读。按 SECTIONS 的各节记下"
        "这些行里的内容，宁全勿短：每项决定、任务、数字、日期单列一条，行末注明所在行，如 [T12]。"
        "之后有人根据全部笔记写成纪要。用 JSON 回答各节。"
    ),
    "draft_compose_task": (
        "Compose the sections in SECTIONS from NOTES: put together what belongs together, say what "
        "stands in two notes once, and where a later note changes an earlier one, say what holds "
        "in the end. Leave out no decision and no task. evidence names the lines that the notes "
        "name. Answer with the sections as JSON."
    ),
    "draft_compose_task_zh": (
        "根据 NOTES 写成 SECTIONS 中的各节：相关的合在一起，重复的只写一次，后面的笔记改变了前面"
        "的，写最终结果。不遗漏任何决定和任务。evidence 写笔记注明的行。用 JSON 回答各节。"
    ),
    "draft_rest": "The sections in ALREADY are kept. Answer only with the sections {missing}.",
    "draft_rest_zh": "ALREADY 中的各节已经保留。只回答以下各节：{missing}。",
    "draft_again": (
        "The items in REFUSED could not be kept: code says why. Answer with these sections again, "
        "evidence naming only lines that are shown."
    ),
    "draft_again_zh": (
        "REFUSED 中的各项未能保留，code 说明原因。请重写这些节，evidence 只写给出的行。"
    ),
}
"""Texts that a kind's folder or a profile may word in its own way, under these names."""


@dataclass(frozen=True, kw_only=True)
class SectionDraft(CheckedText):
    """A checked text that is drafted from its sources by the templates in `templates/`."""

    own_templates: tuple[Template, ...] = field(default=())
    """Of the operator, before those of the folder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.built_in_templates:
            raise BadTemplate(f"{self.folder.name}/templates: there is no template.")

    @cached_property
    def version(self) -> str:
        """Templates of the operator change what is written, so they count."""
        own = folder_hash(self.folder)
        if not self.own_templates:
            return own
        return hashlib.sha256(f"{own}{self.own_templates!r}".encode()).hexdigest()[:16]

    @cached_property
    def built_in_templates(self) -> tuple[Template, ...]:
        return read_folder(self.folder / "templates")

    @property
    def templates(self) -> tuple[Template, ...]:
        """An own one of the same name is in the place of a built-in one."""
        own = {template.name for template in self.own_templates}
        kept = [one for one in self.built_in_templates if one.name not in own]
        return (*self.own_templates, *kept)

    def with_templates(self, folder: Path, leave_out: LeaveOut | None = None) -> SectionDraft:
        """This kind with the templates of a folder too. Raises BadTemplate or OSError."""
        return replace(self, own_templates=read_folder(folder, leave_out))

    def templates_for(self, attributes: Payload) -> tuple[Template, ...]:
        wanted = self._wanted(attributes, self.templates)
        if written_out(wanted):
            return ()
        name = find(self.templates, wanted, "").name
        return tuple(one for one in self.templates if one.name == name)

    @property
    def schemas(self) -> dict[str, Payload]:
        return {**super().schemas, "draft": schemas.SECTIONS}

    def drafts_without_body(self) -> bool:
        return True

    def draft_problems(self, material: Material) -> list[tuple[str, str]]:
        """What keeps a draft from being made, as (JSON pointer, English sentence)."""
        try:
            self.template_of(material)
        except BadTemplate as problem:
            return [("/attributes/template", str(problem))]
        for at, source in enumerate(material.sources):
            if not any(character.isalnum() for character in source.text):
                return [(f"/sources/{at}/text", "There is no word in this source.")]
        if not material.sources:
            return [("/sources", "There is nothing to draft from: send a transcript or notes.")]
        return []

    def template_of(self, material: Material) -> Template:
        """One of those its run keeps, else of those there are now. Raises BadTemplate."""
        known = from_kept(material.templates) or self.templates
        language = "zh" if sections.is_chinese(material) else (material.language or "en")[:2]
        return find(known, self._wanted(material.attributes, known), language)

    def _wanted(self, attributes: Payload, known: Sequence[Template]) -> str:
        wanted = attributes.get("template")
        if isinstance(wanted, str) and wanted.strip():
            return wanted
        named = names(known)
        return DEFAULT if DEFAULT in named else named[0]

    def parts(self, work: Work) -> tuple[PartPlan, ...]:
        if work.step is not StepName.DRAFT:
            return super().parts(work)
        sections_of = self.template_of(work.material).sections
        told = [{**section.told(), "at": at} for at, section in enumerate(sections_of)]
        lines = number_lines(work.material.sources)
        budget = scopes.budget_of(work, self.limits.window_tokens)
        cuts = windows.cut(lines, budget, work.count)
        return _plan(work, told, cuts)

    def recut(self, work: Work, part: PartPlan) -> tuple[PartPlan, ...]:
        if work.step is not StepName.DRAFT:
            return super().recut(work, part)
        if part.spec.get(FOLLOWS):
            return _halves(work, part)
        lines = number_lines(work.material.sources)
        budget = scopes.budget_of(work, self.limits.window_tokens)
        window = part.spec.get("window")
        before = windows.Window(**window) if window else None
        cuts = windows.cut_again(lines, before, budget, work.count)
        if len(cuts) <= 1:
            return (part,)
        told = part.spec["sections"]
        if before is None:
            plan = _plan(work, told, cuts)
            first = next(one for one in plan if one.part == MAIN)
            return (first, *(one for one in plan if one is not first))
        pieces = [_noting(work, told, cut, part.part) for cut in cuts]
        rest = [replace(one, part=f"{part.part}.{at}") for at, one in enumerate(pieces[1:], 2)]
        return (pieces[0], *rest)

    def expected(self, work: Work, part: PartPlan) -> tuple[str, ...] | None:
        if work.step is not StepName.DRAFT:
            return super().expected(work, part)
        return tuple(section["key"] for section in part.spec["sections"])

    def settles(self, work: Work, part: PartPlan, kept: Sequence[Item], added: int) -> bool:
        """A model that was asked for missing sections and has nothing to say of them, or that
        chose sections of its own, is done: what it wrote is a draft."""
        if work.step is not StepName.DRAFT:
            return super().settles(work, part, kept, added)
        known = set(self.expected(work, part) or ())
        return bool(kept) and (not added or not any(item.key in known for item in kept))

    def prompt(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> Prompt:
        if work.step is not StepName.DRAFT:
            return super().prompt(work, part, kept)
        sources = work.material.sources
        lines = number_lines(sources)
        shown = (
            []
            if part.spec.get(FOLLOWS)
            else source_blocks(sources, lines, excerpt_of(part.spec, lines))
        )
        blocks = [*shown, *_notes(work, part), *self.about(work), *_told(work, part, kept)]
        token = token_for(sources, blocks)
        return Prompt(
            system=f"{self._text(work, 'draft')}\nDelimiter: {token}",
            user="\n\n".join((render(blocks, token), "\n".join(self._task(work, part, kept)))),
            schema_name=schemas.SCHEMA_NAMES["draft"],
            schema=self.schemas["draft"],
            max_output_tokens=self.output_tokens.get("draft", 8000),
            recipe=_recipe(work, part, kept),
        )

    def _task(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> list[str]:
        window, composes = part.spec.get("window"), part.spec.get(FOLLOWS)
        name = "draft_compose_task" if composes else "draft_notes_task" if window else "draft_task"
        have = {item.key for item in kept}
        missing = [key for key in self.expected(work, part) or () if key not in have]
        task = [name]
        if work.refused:
            task.append("draft_again")
        if (kept or work.refused) and missing:
            task.append("draft_rest")
        facts = {
            **(window or {}),
            "count": len(number_lines(work.material.sources)),
            "missing": ", ".join(missing),
        }
        told = [_filled(self._text(work, name), facts) for name in task]
        return told if part.part == MAIN else [*told, f"Part: {part.part}"]

    def _text(self, work: Work, name: str) -> str:
        override, known = work.prompts.get(name), {**TEXTS, **self.texts}
        if isinstance(override, str) and override:
            return override
        chinese = f"{name}_zh"
        if chinese in known and sections.is_chinese(work.material):
            return known[chinese]
        return known[name] if name in known else super()._text(work, name)

    @property
    def prompt_names(self) -> frozenset[str]:
        return super().prompt_names | frozenset(TEXTS)

    def accept(
        self, work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
    ) -> Item | Refused:
        if work.step is not StepName.DRAFT:
            return super().accept(work, part, payload, kept)
        return sections.accept_section(work, part, payload, kept)

    def ask_again(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> bool:
        if work.step is not StepName.DRAFT:
            return super().ask_again(work, part, kept)
        return any(one.code == sections.NO_SUCH_LINE for one in work.refused)

    def draft(self, work: Work, items: Sequence[Item]) -> str:
        try:
            wanted = self.template_of(work.material).sections
        except BadTemplate:  # a run of an older version keeps none; its plan has the sections
            wanted = ()
        return sections.body_of(work.material, wanted, items)


def _filled(text: str, facts: Mapping[str, object]) -> str:
    """Whatever else stands in braces in a text of somebody's own is left as it is."""
    for name, value in facts.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _plan(work: Work, told: Sequence[Told], cuts: Sequence[windows.Window]) -> tuple[PartPlan, ...]:
    if len(cuts) <= 1:
        return (_part(work, MAIN, {"part": MAIN, "sections": list(told)}),)
    noting = [_noting(work, told, cut, f"{NOTES}:{at}") for at, cut in enumerate(cuts, start=1)]
    groups = min(len(told), -(-len(cuts) // WINDOWS_COMPOSED))
    borders = [len(told) * at // groups for at in range(groups + 1)]
    composing = [
        _composing(work, told[first:last], MAIN if first == 0 else f"{MAIN}:{at}")
        for at, (first, last) in enumerate(pairwise(borders), start=1)
    ]
    return (*noting, *composing)


def _halves(work: Work, part: PartPlan) -> tuple[PartPlan, ...]:
    """Notes that did not fit are composed by fewer sections at once."""
    told = part.spec["sections"]
    middle = len(told) // 2
    if not middle:
        return (part,)
    first = _composing(work, told[:middle], part.part)
    return (first, _composing(work, told[middle:], f"{part.part}.2"))


def _composing(work: Work, told: Sequence[Told], name: str) -> PartPlan:
    return _part(work, name, {"part": MAIN, "sections": list(told), FOLLOWS: True})


def _noting(work: Work, told: Sequence[Told], cut: windows.Window, name: str) -> PartPlan:
    return _part(work, name, {"part": NOTES, "sections": list(told), "window": cut.spec()})


def _part(work: Work, name: str, spec: dict[str, Any]) -> PartPlan:
    covered = [source.id for source in work.material.sources]
    seed = "\x00".join((work.step.value, *covered, repr(sorted(spec.items()))))
    key = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return PartPlan(part=name, key=key, spec=spec)


def _notes(work: Work, part: PartPlan) -> list[Block]:
    """What the windows noted for these sections, in the order of the source; what they noted beside
    the template is the first part's."""
    mine = {section["key"] for section in part.spec["sections"]}
    others = {key for plan, _ in work.gathered for key in _keys(plan)} - mine
    unwanted = others if part.part == MAIN else None
    ordered = sorted(
        work.gathered,
        key=lambda one: (one[0].spec["window"]["first"], one[0].spec["window"]["start"]),
    )
    return [
        Block(
            name="NOTES",
            text=compact(
                [
                    dict(item.payload)
                    for item in items
                    if (item.key in mine if unwanted is None else item.key not in unwanted)
                ]
            ),
            label=f"T{plan.spec['window']['first']}-T{plan.spec['window']['last']}",
        )
        for plan, items in ordered
    ]


def _keys(plan: PartPlan) -> list[str]:
    return [section["key"] for section in plan.spec["sections"]]


def _told(work: Work, part: PartPlan, kept: Sequence[Item]) -> list[Block]:
    wanted = [section.told() for section in from_spec(part.spec["sections"])]
    blocks = [Block(name="SECTIONS", text=compact(wanted))]
    return [*blocks, *asides(work, kept)]


def _recipe(work: Work, part: PartPlan, kept: Sequence[Item]) -> dict[str, Any]:
    return {
        "step": work.step.value,
        "round": work.round,
        "part": part.part,
        "sources": [source.id for source in work.material.sources],
        "sections": _keys(part),
        "kept": len(kept),
        "refused": len(work.refused),
        "notes": [plan.part for plan, _ in work.gathered],
        **{name: part.spec[name] for name in ("window",) if name in part.spec},
        "instructions": work.instructions is not None,
    }
