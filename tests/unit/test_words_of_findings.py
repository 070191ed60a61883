"""Everything that verifiers, doors and model servers say by code or sentence has its Chinese."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.model.outcomes import CUT_BY_LENGTH, FILTERED, NORMAL, REFUSED
from api.texts import codes, findings, text
from deploy.offline_model.findings import Category
from tests.architecture.sources import ROOT, parsed
from workflows.kinds.facts import languages
from workflows.kinds.problems_zh import LANGUAGES, SENTENCES, in_chinese, in_english

KINDS = ROOT / "workflows" / "kinds"
FOR_MODELS_OR_LOGS = {"check.py", "checked.py", "scopes.py", "drafting.py", "problems_zh.py"}
NOT_FOR_READERS = {
    "Nothing noted.",
    "The days in the ALREADY block are kept. Answer only with the days X.",
    "X: there is no such folder of templates.",
    "X: call it NAME.md or NAME.LANGUAGE.md, in small letters and digits.",
    "X: it is not UTF-8 text.",
}
COMPOSED = {
    "X says “X”X, which is not “X”.": "T1 says “Monday” on 2026-03-02, which is not “Friday”.",
    "X: numbers, dates and names were not checked by rule.": (
        "The text is program code: numbers, dates and names were not checked by rule."
    ),
    "The source X of this decision.": "The source never speaks of this decision.",
}
UNREAD = (
    "The source is in a language that is not read here ({}): "
    "numbers, dates and names were not checked by rule."
)
WORDS = text.catalogue("zh_Hans")
HAN = re.compile("[\u3400-\u9fff]")


def sentences(path: Path) -> Iterator[str]:
    """Texts of a module that read like sentences for a person; each place is an X."""
    tree = parsed(path)
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    apart |= {id(part) for one in joined for part in ast.walk(one) if part is not one}
    for node in ast.walk(tree):
        said = None
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "X" for p in node.values)
            said = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            said = node.value
        if said and id(node) not in apart and re.fullmatch(r"[A-Z“].* .*\.", said, re.DOTALL):
            yield said


MODULES = [path for path in sorted(KINDS.rglob("*.py")) if path.name not in FOR_MODELS_OR_LOGS]


def test_every_sentence_about_a_document_or_a_field_has_its_chinese() -> None:
    found = {said for path in MODULES for said in sentences(path)} - NOT_FOR_READERS
    assert len(found) > 80
    english = [said for said in found if not HAN.search(in_chinese(COMPOSED.get(said, said)))]
    assert english == []


FILLED = ("T12", "航班 3", "x — y", "4")


@pytest.mark.parametrize("english", [pair[0] for pair in SENTENCES])
def test_what_a_rule_said_in_chinese_is_read_in_english_too(english: str) -> None:
    said = english.format(*FILLED)
    assert in_chinese(said) != said
    assert in_english(in_chinese(said)) == said
    assert text.catalogue("en").told(in_chinese(said)) == said
    assert WORDS.told(said) == in_chinese(said)


def test_a_language_that_is_not_read_is_named_in_the_readers_language() -> None:
    assert set(LANGUAGES) == languages.TOLD
    said = UNREAD.format("Turkish")
    assert in_chinese(said) == "来源的语言（土耳其语）无法读取：未按规则核对数字、日期和名称。"
    for name in LANGUAGES:
        named = UNREAD.format(name)
        assert in_english(in_chinese(named)) == named
        assert name not in in_chinese(named)
    assert "“Turkish”" in in_chinese("“Turkish” is a placeholder.")


def test_what_nobody_of_ours_said_stays_as_it_is() -> None:
    for said in ("第三段与会议内容不符。", "The third paragraph is wrong."):
        assert (in_english(said), in_chinese(said)) == (said, said)


def test_every_category_that_a_rule_names_has_its_word() -> None:
    named = {str(category) for category in Category}
    for path in KINDS.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call):
                continue
            given = [k.value for k in node.keywords if k.arg == "category"]
            if isinstance(node.func, ast.Name) and node.func.id == "issue":
                given += node.args[:1]
            for one in given:
                found = [c.value for c in ast.walk(one) if isinstance(c, ast.Constant)]
                named |= {word for word in found if isinstance(word, str) and word.islower()}
    assert {"missing_day", "number", "invented", "placeholder", "unchecked"} <= named
    assert named - {"category"} <= set(findings.CATEGORY)


def test_every_way_in_which_a_reply_ends_has_its_word() -> None:
    assert set(findings.FINISH) >= NORMAL | CUT_BY_LENGTH | FILTERED | REFUSED


@pytest.mark.parametrize("family", sorted(codes.WORDINGS))
def test_every_code_has_chinese_words(family: str) -> None:
    """But for names that are the same in every language, and texts that are all place."""
    same = {"Markdown", "WebVTT", "SRT", "HTML", "Zoom", "Teams", "tokens", "a PDF"}
    for code, wordings in codes.WORDINGS[family].items():
        for wording in wordings:
            plain = re.sub(r"\{\w+\}", "", wording).strip()
            assert not plain or plain in same or HAN.search(WORDS.text(wording)), (code, wording)


def test_an_unknown_category_is_shown_as_the_model_wrote_it() -> None:
    assert WORDS.sentence("category", "逻辑错误") == "逻辑错误"
    assert WORDS.sentence("category", "Tone of voice") == "Tone of voice"
    assert WORDS.sentence("raised_by", "verifier", {"name": "sums"}) == "规则（sums）"
