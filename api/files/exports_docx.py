"""Markdown as a Word document: headings, lists, tables, emphasis, code, quotes and web links."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from api.markdown import is_web_link, tokens_of
from workflows.exporting import Exportable

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BULLET = "-"
_INDENT_CM = 0.75
_DEEPEST = 8


@dataclass(kw_only=True)
class _List:
    """A list being written: the next number, None for bullets."""

    number: int | None


@dataclass(kw_only=True)
class _Writer:
    document: Any
    lists: list[_List] = field(default_factory=list)
    marker: str = ""
    quoted: int = 0

    def write(self, tokens: Sequence[Token]) -> None:
        index = 0
        while index < len(tokens):
            index = self._block(tokens, index)

    def _block(self, tokens: Sequence[Token], index: int) -> int:
        token = tokens[index]
        if token.type == "heading_open":
            level = min(int(token.tag[1]), 9)
            _inline(self.document.add_heading("", level=level), tokens[index + 1])
            return index + 3
        if token.type == "paragraph_open":
            _inline(self._paragraph(), tokens[index + 1])
            return index + 3
        if token.type == "table_open":
            end = next(at for at in range(index, len(tokens)) if tokens[at].type == "table_close")
            self._table(tokens[index:end])
            return end + 1
        if token.type in ("fence", "code_block"):
            for row in token.content.rstrip("\n").split("\n"):
                _run(self._paragraph(), row, frozenset({"code"}))
        elif token.type == "hr":
            self.document.add_paragraph("⁂")
        else:
            self._nest(token)
        return index + 1

    def _nest(self, token: Token) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            first = int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None
            self.lists.append(_List(number=first))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif token.type == "list_item_open":
            innermost = self.lists[-1]
            self.marker = _BULLET if innermost.number is None else f"{innermost.number}. "
            if innermost.number is not None:
                innermost.number += 1
        elif token.type == "list_item_close":
            self.marker = ""
        elif token.type in ("blockquote_open", "blockquote_close"):
            self.quoted += 1 if token.type.endswith("open") else -1

    def _paragraph(self) -> Any:
        from docx.shared import Cm

        if self.marker == _BULLET:
            self.marker = ""
            level = min(len(self.lists), 3)
            return self.document.add_paragraph(
                style="List Bullet" if level == 1 else f"List Bullet {level}"
            )
        style = "Quote" if self.quoted and not self.lists else None
        paragraph = self.document.add_paragraph(style=style)
        depth = min(len(self.lists) + max(0, self.quoted - 1), _DEEPEST)
        if depth:
            paragraph.paragraph_format.left_indent = Cm(_INDENT_CM * depth)
        if self.marker:
            # Numbers stand as text: Word would count on from one list to the next.
            paragraph.paragraph_format.first_line_indent = Cm(-_INDENT_CM / 2)
            paragraph.add_run(self.marker)
            self.marker = ""
        return paragraph

    def _table(self, tokens: Sequence[Token]) -> None:
        rows = list(_rows(tokens))
        columns = max(len(row) for row in rows)
        table = self.document.add_table(rows=0, cols=columns)
        table.style = "Table Grid"
        for row in rows:
            cells = table.add_row().cells
            for cell, inline in zip(cells, row, strict=False):
                _inline(cell.paragraphs[0], inline)


def _rows(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    row: list[Token] = []
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token)
        elif token.type == "tr_close":
            yield row


_MARKS = {"strong": "bold", "em": "italic", "s": "strike"}


def _inline(paragraph: Any, token: Token) -> None:
    marks: set[str] = set()
    holder, parent = paragraph, paragraph
    for child in token.children or ():
        name, _, edge = child.type.rpartition("_")
        if name in _MARKS:
            (marks.add if edge == "open" else marks.discard)(_MARKS[name])
        elif child.type == "link_open":
            holder = _link(parent, str(child.attrs.get("href", "")))
        elif child.type == "link_close":
            holder = parent
        elif child.type == "code_inline":
            _run(holder, child.content, frozenset({*marks, "code"}))
        elif child.type == "hardbreak":
            _run(holder, "\n", frozenset(marks))
        else:
            _run(holder, " " if child.type == "softbreak" else child.content, frozenset(marks))


def _link(paragraph: Any, href: str) -> Any:
    """A web link; any other place is left out and its text stays."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml.ns import qn
    from docx.oxml.parser import OxmlElement
    from docx.text.hyperlink import Hyperlink

    if not is_web_link(href):
        return paragraph
    element: Any = OxmlElement("w:hyperlink")
    link_id = paragraph.part.relate_to(
        _NO_XML.sub("", href), RELATIONSHIP_TYPE.HYPERLINK, is_external=True
    )
    element.set(qn("r:id"), link_id)
    paragraph._p.append(element)
    return Hyperlink(element, paragraph)


def _run(holder: Any, text: str, marks: frozenset[str]) -> None:
    from docx.oxml.parser import OxmlElement
    from docx.text.run import Run

    text = _NO_XML.sub("\ufffd", text)
    element = getattr(holder, "_hyperlink", None)
    if element is None:
        run = holder.add_run(text)
    else:
        new: Any = OxmlElement("w:r")
        element.append(new)
        run = Run(new, holder)
        run.text = text
        run.font.underline = True
    for mark in marks - {"code"}:
        setattr(run.font, mark, True)
    if "code" in marks:
        run.font.name = "Courier New"


def document(given: Exportable) -> bytes:
    """The bytes of a .docx file."""
    import docx

    made = docx.Document()
    made.core_properties.title = _NO_XML.sub("", given.title)[:255]
    made.core_properties.author = ""
    made.core_properties.comments = ""
    made.core_properties.created = made.core_properties.modified = given.made_at
    _Writer(document=made).write(tokens_of(given.body))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()
