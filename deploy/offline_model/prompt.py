"""Reads the data blocks of a prompt: sources, document, issues, kept items, an itinerary's request.

Blocks stand between `<<<NAME token name=label>>>` and `<<<END NAME token>>>`, where the system
message announces the token as `Delimiter: token`. Data can hold anything, also lines that look like
delimiters or orders; so only delimiters with the announced token count, and nothing is obeyed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_ANNOUNCED = re.compile(r"^\s*Delimiter:\s*`?([A-Za-z0-9_-]+)`?\s*$", re.MULTILINE)
_PART = re.compile(r"^\s*Part:\s*(\S.*?)\s*$", re.MULTILINE)
_LINE = re.compile(r"^\s*T(\d+)\s*[:.|]\s?(.*)$")
_ISSUE = re.compile(r"^\s*(I\d+)\s*\|\s*(\w+)\s*\|\s*([^|]*?)\s*\|\s*quote:\s*(.*)$", re.DOTALL)
_NEXT_ISSUE = re.compile(r"^(?=\s*I\d+\s*\|)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Block:
    """One delimited piece of data: NAME in capitals, its label (`name=…`), its text."""

    name: str
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class SourceLine:
    """A numbered line of a source: T12 and what it says, the speaker apart when there is one."""

    number: int
    speaker: str
    text: str


@dataclass(frozen=True, kw_only=True)
class OpenIssue:
    """One line of the ISSUES block. The suggestion is None when nobody knows one, "" to drop it."""

    id: str
    severity: str
    category: str
    quote: str
    problem: str
    suggestion: str | None


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt taken apart. Everything missing is empty."""

    system: str
    text: str
    delimiter: str
    blocks: Sequence[Block]

    @cached_property
    def document(self) -> str:
        return self._joined("DOCUMENT")

    @cached_property
    def sources(self) -> Sequence[Block]:
        return [block for block in self.blocks if block.name == "SOURCE"]

    @cached_property
    def lines(self) -> Sequence[SourceLine]:
        """The numbered lines of all sources, in order."""
        return [line for source in self.sources for line in source_lines(source.text)]

    @cached_property
    def issues(self) -> Sequence[OpenIssue]:
        return parse_issues(self._joined("ISSUES"))

    @cached_property
    def already(self) -> Sequence[Mapping[str, Any]]:
        """The items that are kept and must not be answered again."""
        kept: list[Mapping[str, Any]] = []
        for block in self.blocks:
            value = _json(block.text) if block.name == "ALREADY" else None
            if isinstance(value, dict):
                value = value.get("items", [])
            if isinstance(value, list):
                kept += [item for item in value if isinstance(item, dict)]
        return kept

    @cached_property
    def wanted(self) -> Sequence[Mapping[str, Any]]:
        """The sections of a draft: key, heading, what it is about."""
        return _objects(self._joined("SECTIONS"))

    @cached_property
    def notes(self) -> Sequence[Sequence[Mapping[str, Any]]]:
        """What was noted from each window of a long source, in order."""
        return [_objects(block.text) for block in self.blocks if block.name == "NOTES"]

    @cached_property
    def locks(self) -> Sequence[str]:
        """Passages that must stay as they are."""
        value = _json(self._joined("LOCKED"))
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    @cached_property
    def about(self) -> str:
        """What is known of the document besides its sources, as text."""
        return "\n".join(block.text for block in self.blocks if block.name in ("ABOUT", "REQUEST"))

    @cached_property
    def request(self) -> Mapping[str, Any]:
        """The JSON object of an itinerary's request."""
        value = _json(self._joined("REQUEST"))
        return value if isinstance(value, dict) else {}

    @cached_property
    def part(self) -> str:
        """What the system message, or the task below the data, says after `Part:`; else empty."""
        found = _PART.search(self.system) or _PART.search(self.task)
        return found.group(1) if found else ""

    @cached_property
    def task(self) -> str:
        """What stands below the last block: no data, so what it says is the caller's."""
        end = f"<<<END {self.blocks[-1].name} {self.delimiter}>>>" if self.blocks else ""
        return self.text.rpartition(end)[2] if end and self.delimiter else ""

    def _joined(self, name: str) -> str:
        return "\n".join(block.text for block in self.blocks if block.name == name)


def read_prompt(messages: object) -> Prompt:
    """Take a chat request's `messages` apart. Never raises: what cannot be read is left out."""
    system, everything = [], []
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict):
            continue
        text = content_text(message.get("content"))
        everything.append(text)
        if message.get("role") in ("system", "developer"):
            system.append(text)
    head, whole = "\n".join(system), "\n".join(everything)
    announced = _ANNOUNCED.search(head)
    token = announced.group(1) if announced else ""
    blocks = find_blocks(whole, token)
    # A prompt that announces a token and does not use it is read without one.
    return Prompt(
        system=head,
        text=whole,
        delimiter=token,
        blocks=blocks if blocks or not token else find_blocks(whole, ""),
    )


def content_text(content: object) -> str:
    """The text of a message, which is a string or a list of text pieces."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        pieces = [piece.get("text") for piece in content if isinstance(piece, dict)]
        return "\n".join(piece for piece in pieces if isinstance(piece, str))
    return ""


def find_blocks(text: str, token: str) -> Sequence[Block]:
    """All blocks that carry `token` (empty: those that carry none), in order."""
    mark = rf"[ \t]+{re.escape(token)}" if token else ""
    label = r"(?:[ \t]+[a-z_]+=(?P<label>[^\n]*?))?"
    opening = re.compile(
        rf"^[ \t]*<<<(?P<name>[A-Z]+){mark}{label}[ \t]*>>>[ \t]*\n?", re.MULTILINE
    )
    blocks, at = [], 0
    while found := opening.search(text, at):
        end = re.compile(
            rf"\n?^[ \t]*<<<END {found['name']}{mark}[ \t]*>>>[ \t]*$", re.MULTILINE
        ).search(text, found.end())
        stop = end.start() if end else len(text)
        blocks.append(
            Block(name=found["name"], label=found["label"] or "", text=text[found.end() : stop])
        )
        at = end.end() if end else len(text)
    return blocks


def source_lines(text: str) -> Sequence[SourceLine]:
    """The lines of a source by their own numbers, else by counting; unnumbered ones continue."""
    lines: list[SourceLine] = []
    numbered = any(_LINE.match(line) for line in text.splitlines())
    for count, line in enumerate(text.splitlines(), start=1):
        found = _LINE.match(line)
        if numbered and not found:
            if lines and line.strip():
                last = lines[-1]
                joined = f"{last.text} {line.strip()}"
                lines[-1] = SourceLine(number=last.number, speaker=last.speaker, text=joined)
            continue
        number, said = (int(found.group(1)), found.group(2)) if found else (count, line)
        speaker, words = split_speaker(said)
        lines.append(SourceLine(number=number, speaker=speaker, text=words))
    return lines


def split_speaker(said: str) -> tuple[str, str]:
    """`[00:05] Ana: we ship` -> ("Ana", "we ship"); a line without a speaker has the speaker ""."""
    stamp = re.match(r"^\[\d{1,3}:\d{2}(?::\d{2})?\]\s+", said)
    said = said[stamp.end() :] if stamp else said
    found = re.match(r"^([^:：\n]{1,40})[:：]\s*(.*)$", said, re.DOTALL)
    # After a stamp comes a speaker, also `Speaker 1`; else the digit may be that of `at 10:30`.
    numbered = found is not None and found.group(1)[-1].isdigit() and stamp is None
    if not found or re.search(r"[.!?。！？，,；;]", found.group(1)) or numbered:
        plain = re.match(r"^(\d{1,3})[:：]\s+(.*)$", said, re.DOTALL)
        return (plain.group(1), plain.group(2)) if plain else ("", said)
    return found.group(1).strip(), found.group(2)


def parse_issues(text: str) -> Sequence[OpenIssue]:
    """The issues of an ISSUES block. Quotes may be JSON strings or stand as they are."""
    issues = []
    for chunk in _NEXT_ISSUE.split(text):
        found = _ISSUE.match(chunk.rstrip())
        if not found:
            continue
        rest, _, suggestion = found.group(4).rpartition("| suggestion:")
        if not rest:
            rest, suggestion = found.group(4), ""
        quote, _, problem = rest.rpartition("| problem:")
        issues.append(
            OpenIssue(
                id=found.group(1),
                severity=found.group(2),
                category=found.group(3),
                quote=_unquoted(quote or rest),
                problem=problem.strip(),
                suggestion=_suggestion(suggestion.strip()),
            )
        )
    return issues


def _suggestion(text: str) -> str | None:
    return None if text in ("", "none", "null", "-") else _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        value = _json(text)
        return value if isinstance(value, str) else text[1:-1]
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _objects(text: str) -> list[Mapping[str, Any]]:
    value = _json(text)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
