"""Reading a text that is to be made right: Markdown and plain text as they stand, DOCX and HTML as
Markdown."""

from __future__ import annotations

from dataclasses import replace

from api.reading import markup, sniff, word
from api.reading.encodings import decode
from api.reading.parsed import FileFormat, LeftOut, Parsed, Unreadable, Why
from api.reading.sources import check_size, unify_line_ends


def read_draft(
    data: bytes, *, name: str = "", media_type: str = "", encoding: str | None = None
) -> Parsed:
    """The file as Markdown, without lines. `encoding` is what a person named. Raises Unreadable."""
    check_size(data)
    named = sniff.named_format(name, media_type)
    if word.is_docx(data):
        html, left_out = word.to_html(data)
        return _markdown(html, FileFormat.DOCX, left_out, "")
    word.refuse_broken(data, named=named is FileFormat.DOCX)
    sniff.refuse_foreign(data)
    decoded = decode(data, encoding)
    text = unify_line_ends(decoded.text)
    if named is FileFormat.HTML or sniff.looks_like_html(text):
        return _markdown(text, FileFormat.HTML, [], decoded.encoding)
    rows = sum(bool(row.strip()) for row in text.split("\n"))
    plain = FileFormat.TEXT if named is FileFormat.TEXT else FileFormat.MARKDOWN
    parsed = Parsed(format=plain, text=text, given=rows, encoding=decoded.encoding)
    if named is FileFormat.DOCX:
        return replace(parsed, repairs={"other_format_than_named": 1})
    return parsed


def _markdown(html: str, file_format: FileFormat, left_out: list[LeftOut], encoding: str) -> Parsed:
    safe, dropped, unsafe = markup.clean(html)
    text = markup.to_markdown(safe)
    if not text.strip():
        raise Unreadable(Why.NOTHING_SAID, "holds no text; look whether it is the right file")
    gone = (*left_out, *dropped)
    rows = sum(bool(row.strip()) for row in text.split("\n"))
    return Parsed(
        format=file_format,
        text=text,
        encoding=encoding,
        given=rows + len(gone),
        left_out=gone,
        repairs={"unsafe_attribute": unsafe} if unsafe else {},
    )
