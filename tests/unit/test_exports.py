"""Documents as files: Markdown as Word and HTML and back, and what a kind brings itself."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.files.exports import exporter
from api.reading.drafts import read_draft
from workflows.exporting import Exportable, Exported

BODY = (
    "# 周会 Minutes\n\n"
    "We ship on **Friday**, *perhaps* ~~never~~, see [the plan](https://example.org/p) "
    "or [this](javascript:alert(1)).\n\n"
    "## Decisions\n\n"
    "- one\n- two\n  - deeper `code`\n\n"
    "3. three\n4. four\n\n"
    "> quoted\n\n"
    "| Who | What |\n| --- | --- |\n| Ana | ships 25 € |\n| 张三 | 测试 |\n\n"
    "```\na <b>\n```\n\n"
    "<script>alert(2)</script>\n"
)


def revision(body: str = BODY, title: str = "Weekly <b>") -> Exportable:
    return Exportable(
        document_id="d",
        title=title,
        language="zh",
        attributes={},
        body=body,
        revision=3,
        made_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


def made(name: str, body: str = BODY, kind: object = None) -> bytes:
    found = exporter(kind, name)
    assert found is not None
    return found(revision(body)).content


def _relations(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("word/_rels/document.xml.rels")


def test_word_holds_all_of_the_text_and_reads_back_as_markdown() -> None:
    text = read_draft(made("docx"), name="out.docx").text
    for row in (
        "# 周会 Minutes",
        "We ship on **Friday**, *perhaps* ~~never~~, see [the plan](https://example.org/p) or",
        "## Decisions",
        "- one",
        "3. three",
        "4. four",
        "| Ana | ships 25 € |",
        "| 张三 | 测试 |",
        "a <b>",
        "<script>alert(2)</script>",
    ):
        assert row in text, text
    assert b"javascript" not in _relations(made("docx"))


def test_html_is_one_page_that_runs_and_loads_nothing() -> None:
    page = made("html").decode()
    assert "<h1>周会 Minutes</h1>" in page
    assert "<title>Weekly &lt;b&gt;</title>" in page
    assert '<html lang="zh">' in page
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
    assert read_draft(made("html"), name="out.html").text.startswith("# 周会 Minutes\n")


def test_markdown_is_the_text_byte_for_byte() -> None:
    assert made("md", "a\r\n") == b"a\r\n"


def test_a_kind_takes_over_a_format_and_adds_one() -> None:
    def mine(given: Exportable) -> Exported:
        return Exported(content=f"{given.revision}".encode(), media_type="text/x")

    kind = SimpleNamespace(exporters={"ics": mine, "html": mine})
    assert made("ics", kind=kind) == made("html", kind=kind) == b"3"
    assert exporter(None, "ics") is None
    assert exporter(kind, "md") is exporter(None, "md")


@pytest.mark.parametrize("body", ["", "\x0b\x00\ud7ff\x1f", "- \n\n1. \n", "[a]()", "|a|\n|-|\n"])
def test_any_text_can_be_exported(body: str) -> None:
    for name in ("md", "docx", "html"):
        assert made(name, body) is not None


@settings(max_examples=3, deadline=None)
@given(
    rows=st.lists(
        st.sampled_from(
            ["# a", "- b", "  - c", "1. f", "> g", "```", "---", "", "*x* `y`", "    z"]
        ),
        max_size=12,
    )
)
def test_no_word_is_lost_in_word(rows: list[str]) -> None:
    body = "\n".join(rows)
    text = read_draft(made("docx", f"{body}\n\nend"), name="a.docx").text
    body_text = text.removesuffix("end\n")
    for word in "abcfgxyz":
        assert body_text.count(word) == sum(word in row for row in rows), text
