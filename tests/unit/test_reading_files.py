"""DOCX and HTML as people have them, and as somebody who means harm makes them."""

from __future__ import annotations

import io
import time
import zipfile

import docx
import pytest

from api.reading.drafts import read_draft
from api.reading.parsed import FileFormat, Unreadable, Why
from api.reading.sources import LARGEST, read_source
from api.texts.text import catalogue

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="xml" ContentType="application/xml"/><Override '
    'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def document(*paragraphs: str, heading: str = "") -> bytes:
    made = docx.Document()
    if heading:
        made.add_heading(heading, level=1)
    for text in paragraphs:
        made.add_paragraph(text)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def package(main: str | bytes, **further: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("word/document.xml", main)
        for name, content in further.items():
            archive.writestr(f"word/{name}.xml", content)
    return out.getvalue()


def why(data: bytes, name: str = "file.docx") -> Why:
    found = []
    for read in (read_source, read_draft):
        with pytest.raises(Unreadable) as refused:
            read(data, name=name)
        assert len(refused.value.detail) > 20
        found.append(refused.value.why)
    assert found[0] is found[1]
    return found[0]


def test_a_teams_transcript_in_docx() -> None:
    """Title, date, length, who began, then name and time above the text, in one paragraph."""
    data = document(
        "Weekly-20260615_133555-Meeting Transcript",
        "15 June 2026, 03:35am",
        "27m 42s",
        "Nick Miller started transcription",
        "David Mulholland   0:03\nWe ship on Friday.",
        "Nick Miller   1:02:05\nFine.\nAnd the price?",
        "Nick Miller stopped transcription",
    )
    parsed = read_source(data, name="weekly.docx")
    assert (parsed.format, parsed.vendor) == (FileFormat.DOCX, "teams")
    assert parsed.text.splitlines()[4:] == [
        "[00:00:03] David Mulholland: We ship on Friday.",
        "[01:02:05] Nick Miller: Fine.",
        "[01:02:05] Nick Miller: And the price?",
        "Nick Miller stopped transcription",
    ]


def test_a_tencent_transcript_in_docx() -> None:
    """`姓名(时间): 文字`, one paragraph for each turn."""
    data = document("腾讯会议", "张三(00:00:05): 我们周五上线。", "李四(00:00:09): 好的。")
    parsed = read_source(data)
    assert parsed.text.splitlines()[1:] == [
        "[00:00:05] 张三: 我们周五上线。",
        "[00:00:09] 李四: 好的。",
    ]


def test_a_draft_in_docx_becomes_markdown() -> None:
    made = docx.Document()
    made.add_heading("Minutes", level=1)
    paragraph = made.add_paragraph("We ship on ")
    paragraph.add_run("Friday").bold = True
    made.add_paragraph("one", style="List Bullet")
    table = made.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Who", "What", "Ana", "ships"], strict=True):
        cell.text = text
    out = io.BytesIO()
    made.save(out)
    parsed = read_draft(out.getvalue(), name="minutes.docx")
    for row in ("# Minutes", "We ship on **Friday**", "- one", "| Ana | ships |"):
        assert row in parsed.text.splitlines(), parsed.text


def test_deleted_text_is_gone_and_inserted_text_is_there() -> None:
    body = (
        f'<w:document xmlns:w="{_WORD}"><w:body><w:p><w:r><w:t>We ship</w:t></w:r>'
        "<w:del><w:r><w:delText> never</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t> on Friday</w:t></w:r></w:ins></w:p></w:body></w:document>"
    )
    assert read_draft(package(body)).text == "We ship on Friday\n"


def test_what_a_docx_holds_besides_its_text_is_listed() -> None:
    head = f'<w:hdr xmlns:w="{_WORD}"/>'.encode()
    said = "<w:p><w:r><w:t>Hi</w:t></w:r></w:p>"
    body = f'<w:document xmlns:w="{_WORD}"><w:body>{said}</w:body></w:document>'
    parsed = read_draft(package(body, header1=head))
    assert [out.what for out in parsed.left_out] == ["header"]
    assert parsed.given == 2


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = package(b"<w:document>" + b" " * 13_000_000)
    assert len(bomb) < 200_000
    began = time.monotonic()
    assert why(bomb) is Why.ZIP_BOMB
    assert time.monotonic() - began < 5
    small = f'<w:document xmlns:w="{_WORD}"/>'
    many = package(small, **{f"part{n}": b"" for n in range(3000)})
    assert why(many) is Why.ZIP_BOMB


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_declares_entities_is_refused(encoding: str) -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">'
        '<!ENTITY c SYSTEM "file:///etc/hostname">]><x>&b;&c;</x>'
    )
    assert why(package(text.encode(encoding))) is Why.XML_ENTITIES


def test_broken_word_files_are_refused() -> None:
    whole = document("Hello")
    assert why(whole[: len(whole) // 2]) is Why.DOCX_BROKEN
    assert why(whole[:60], "minutes.docx") is Why.DOCX_BROKEN
    assert why(b"PK\x03\x04 and then nothing of Word", "archive.zip") is Why.UNSUPPORTED
    assert why(package("<w:document")) is Why.DOCX_BROKEN
    assert why(package("<w:a>" * 20_000)) is Why.DOCX_BROKEN
    damaged = bytearray(whole)
    at = whole.index(b"word/document.xml") + 60
    damaged[at : at + 40] = bytes(40)
    assert why(bytes(damaged)) in (Why.DOCX_BROKEN, Why.UNSUPPORTED)
    assert why(document()) is Why.NOTHING_SAID


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"%PDF-1.7 ...", "minutes.docx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "minutes.doc"),
        (b"RIFF....WAVEfmt ", "talk.txt"),
        (b"ID3\x04", "talk.mp3"),
        (b"\0\0\0\x20ftypM4A ", "talk.m4a"),
        (b"PK\x05\x06" + bytes(18), "empty.zip"),
        (b"{\\rtf1 hello}", "a.rtf"),
    ],
)
def test_other_files_are_refused_with_what_to_send_instead(data: bytes, name: str) -> None:
    assert why(data, name) is Why.UNSUPPORTED


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n....", "What is in this file is a picture, which is not read here."),
        (b"RIFF....WEBPVP8 ", "What is in this file is a picture,"),
        (b"\0\0\0\x18ftypheic", "What is in this file is a picture,"),
        (b"%PDF-1.7 ...", "What is in this file is a PDF,"),
        (b"ID3\x04", "What is in this file is a recording,"),
    ],
)
def test_a_page_says_what_a_file_is_that_has_the_name_of_another(data: bytes, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_draft(data, name="minutes.docx")
    error = refused.value
    told = catalogue("en").sentence("field", str(error.why), error.params)
    assert told.startswith(said)


def test_a_file_without_anything_or_with_too_much_is_refused() -> None:
    assert why(b"", "a.txt") is Why.EMPTY
    assert why(b" \n" * 10, "a.txt") is Why.EMPTY
    assert why(b"x" * 10_000_000, "a.txt") is Why.TOO_LARGE


@pytest.mark.parametrize(
    "line",
    ["x", "<v ", "[", "(00:05)", "- ", "**", "&amp;", "<v.a", "Ana: ", "00:05 ", "{\\an8}"],
)
def test_one_endless_line_is_read_in_linear_time(line: str) -> None:
    size = LARGEST // 10
    text = line * (size // len(line))
    began = time.process_time()
    read_source(text.encode(), name="a.txt")
    cue = f"WEBVTT\n\n00:01.000 --> 00:02.000\nAna: {text}\n"
    read_source(cue.encode(), name="a.vtt")
    assert time.process_time() - began < 10


def test_html_with_scripts_becomes_markdown_without_them() -> None:
    page = (
        "<html><head><title>t</title><style>p{}</style></head><body onload='steal()'>"
        "<script>alert(1)</script><h1>Minutes</h1><p>We <b>ship</b> "
        "<a href='javascript:alert(2)'>here</a> or <a href='https://example.org/a'>there</a></p>"
        "<img src=x onerror=alert(3)><iframe src='https://example.org'>frame</iframe>"
        "<ul><li>one<ul><li>two</li></ul></li></ul><p>1 &lt; 2 &amp; 3</p></body></html>"
    )
    parsed = read_draft(page.encode(), name="minutes.html")
    assert "# Minutes" in parsed.text
    assert "We **ship** here or [there](https://example.org/a)" in parsed.text
    assert "1 < 2 & 3" in parsed.text
    for gone in ("alert", "steal", "javascript", "frame", "onerror", "p{}"):
        assert gone not in parsed.text
    assert [out.text for out in parsed.left_out] == [
        "1 × <iframe>",
        "1 × <img>",
        "1 × <script>",
        "1 × <style>",
    ]
    assert parsed.repairs == {"unsafe_attribute": 3}


def test_html_nested_beyond_all_use_is_refused() -> None:
    assert why(b"<div>" * 100_000 + b"hi", "a.html") is Why.HTML_BROKEN
    assert "hi" in read_draft(b"<div>" * 250 + b"hi", name="a.html").text
    assert "hi" in read_draft(b"<p>" * 2000 + b"hi", name="a.html").text


def test_markdown_and_text_drafts_stay_as_they_are() -> None:
    text = "# Minutes\n\n- [ ] a_b *c*\n<b>raw</b>\n"
    assert read_draft(text.encode(), name="m.md").text == text
    assert read_draft(("\ufeff" + text).encode("utf-16-le"), name="m.txt").text == text
