"""Names of downloads, whatever somebody called a file or a document."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from api.http.attachment import disposition, safe_name, safe_stem


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\u202efdp.exe", "afdp.exe"),
        ('"; evil="x".html', "; evil= x.html"),
        ("\u200f\u2067x.txt", "x.txt"),
        ("x" * 250 + ".docx", "x" * 80 + ".docx"),
        (".htaccess", "document.htaccess"),
        ("../../etc/passwd", "etc passwd"),
        ("a\r\nSet-Cookie: b.txt", "a Set-Cookie b.txt"),
        ("会议 2026.06.02 纪要.docx", "会议 2026.06.02 纪要.docx"),
        ("\u2028", "document"),
    ],
)
def test_a_hostile_name_is_made_harmless(name: str, shown: str) -> None:
    assert safe_name(name) == shown


def test_a_header_holds_any_name_and_is_one_line_of_ascii() -> None:
    for name in ("会议.docx", "naïve “plan”.md", "\x7f\x85.txt", "😀.ics", 'a"b\\c.txt'):
        header = disposition(safe_name(name))
        assert header.isascii()
        assert header.isprintable()
        assert header.count('"') == 2
        assert unquote(header.partition("UTF-8''")[2]) == safe_name(name)
    assert disposition("会议.docx").startswith('attachment; filename="document.docx"; ')


def test_a_title_is_no_file_name_with_an_ending() -> None:
    assert safe_stem("Release v1.5 / plan.") == "Release v1.5 plan"
