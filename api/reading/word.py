"""DOCX, opened with bounds: to HTML by mammoth, which names what it does not understand.

Before anything is unpacked the directory is looked at: how many parts, how large, how much each
grows. Parts that declare a document type are refused, so no entity is ever expanded.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from api.reading.parsed import LeftOut, Unreadable, Why

LARGEST_XML = 12_000_000
LARGEST_WHOLE = 60_000_000
MOST_PARTS = 3000
_MAIN = "word/document.xml"
_BESIDE = (("word/header", "header"), ("word/footer", "footer"), ("word/comments", "comments"))
_SHOWN = 200
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError)
_CHUNK = 1_000_000


def is_docx(data: bytes) -> bool:
    """Whether this is a Word document: a ZIP with its main part."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _MAIN in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def refuse_broken(data: bytes, *, named: bool) -> None:
    """A Word file by its name, or by what is left of it, whose directory is damaged or cut off.
    Raises Unreadable."""
    if not data.startswith(b"PK\x03\x04") or not (named or _MAIN.encode() in data):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)):
            return
    except _BROKEN as error:
        raise _damaged(error) from None


def _damaged(error: Exception) -> Unreadable:
    detail = "is a damaged DOCX file; open it in Word and save it again, or bring it anew"
    return Unreadable(Why.DOCX_BROKEN, detail, error=type(error).__name__)


def to_html(data: bytes) -> tuple[str, list[LeftOut]]:
    """(HTML of the document's main part, what is not in it). Raises Unreadable."""
    left_out = _inspect(data)
    import mammoth

    no_images = mammoth.images.img_element(lambda image: {})
    try:
        result = mammoth.convert_to_html(
            io.BytesIO(data), convert_image=no_images, include_embedded_style_map=False
        )
    except Exception as error:  # whatever a broken or hostile part makes of a parser
        detail = (
            "is no Word document that can be read; open it in Word and save it again, or save it "
            "as plain text"
        )
        raise Unreadable(Why.DOCX_BROKEN, detail, error=type(error).__name__) from None
    left_out += [
        LeftOut(at=0, what="not_understood", text=str(message.message)[:_SHOWN])
        for message in result.messages
        if not str(message.message).startswith("Unrecognised paragraph style")
        and not str(message.message).startswith("Unrecognised run style")
    ]
    return result.value, left_out


def _inspect(data: bytes) -> list[LeftOut]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _check(archive)
    except _BROKEN as error:
        raise _damaged(error) from None
    except RuntimeError:
        detail = "is protected by a password; save it without one"
        raise Unreadable(Why.DOCX_LOCKED, detail) from None


def _check(archive: zipfile.ZipFile) -> list[LeftOut]:
    parts = archive.infolist()
    whole = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or whole > LARGEST_WHOLE:
        raise _bomb(whole, LARGEST_WHOLE)
    left_out = []
    for part in parts:
        if part.filename.endswith((".xml", ".rels")):
            _check_xml(archive, part)
        elif part.filename.startswith("word/media/"):
            name = part.filename.rpartition("/")[2][:_SHOWN]
            left_out.append(LeftOut(at=0, what="image", text=name))
        for start, what in _BESIDE:
            if part.filename.startswith(start) and part.filename.endswith(".xml"):
                left_out.append(LeftOut(at=0, what=what, text=part.filename[:_SHOWN]))
    return left_out


def _check_xml(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """The part is unpacked in pieces (a reader gives no more than was declared) and not kept."""
    if part.file_size > LARGEST_XML:
        raise _bomb(part.file_size, LARGEST_XML)
    before = b""
    with archive.open(part) as stream:
        while piece := stream.read(_CHUNK):
            seen = before + piece.replace(b"\0", b"")  # UTF-16 is ASCII with zero bytes
            if b"<!DOCTYPE" in seen or b"<!ENTITY" in seen:
                detail = (
                    "holds XML that declares a document type or entities, as no word processor "
                    "writes it; open it in Word and save it again"
                )
                raise Unreadable(Why.XML_ENTITIES, detail)
            before = seen[-16:]


def _bomb(size: int, limit: int) -> Unreadable:
    detail = (
        f"would unpack to {size // 1_000_000} MB, at most {limit // 1_000_000} MB are read; save "
        "the text without pictures, or as plain text"
    )
    return Unreadable(Why.ZIP_BOMB, detail, limit=limit, size=size)
