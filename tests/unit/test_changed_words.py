"""Changed words as HTML: said as well as coloured, marked where an issue quotes them."""

from __future__ import annotations

import pytest

from api import differences
from api.pages import change, render
from api.pages.review_text import Marks, sheet
from tests.unit.test_review_text import NEW, OLD, an_issue, passages

INS = '<ins><span class="hidden">inserted: </span>{}<span class="hidden">; </span></ins>'
DEL = '<del><span class="hidden">deleted: </span>{}<span class="hidden">; </span></del>'


def _rendered(template: str, **values: object) -> str:
    return render.environment("en").from_string(template).render(**values)


def test_a_passage_says_what_is_new_in_it_and_what_is_quoted() -> None:
    made = sheet(OLD, NEW, Marks(issues=[an_issue("12 euro")]))
    (changed,) = [one for one in passages(made) if one.hunk is not None]
    shown = _rendered("{{ one.lines | changed_lines(one.op) }}", one=changed)
    marked = INS.format("<mark>12</mark>")
    assert shown == (
        f'<p class="line item">- The budget is {DEL.format(15)}{marked}<mark> euro</mark>.</p>'
    )


def test_blank_lines_that_changed_are_said_and_others_are_not() -> None:
    shown = [_rendered("{{ () | changed_lines(op) }}", op=op) for op in ("insert", "equal")]
    assert shown == ['<p class="line muted small">only blank lines</p>', ""]


@pytest.mark.parametrize("hostile", ["<img src=x>", "&lt;b&gt;", '"><script>'])
def test_hostile_words_stay_words(hostile: str) -> None:
    (changed,) = passages(sheet("one\n", f"one {hostile}\n", Marks()))
    lines = _rendered("{{ one.lines | changed_lines(one.op) }}", one=changed)
    found = change.shown(differences.difference("one\n", f"one {hostile}\n"))
    (hunk,) = found["hunks"]
    words = _rendered("{{ pieces | changed_words }}", pieces=hunk["pieces"])
    for html in (lines, words):
        assert _rendered("{{ text }}", text=hostile) in html
        assert hostile not in html
