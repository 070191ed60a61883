"""HTML to Markdown, or to plain lines: sanitised first, and what was taken out is counted.

Scripts, styles, frames, forms, pictures and links that are none (`javascript:`) never get into a
text. Headings, lists, tables, emphasis and web links stay.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import urlsplit

import nh3

from api.reading.parsed import LeftOut, Unreadable, Why

_TAGS = frozenset(
    {"p", "br", "hr", "strong", "b", "em", "i", "s", "del", "code", "pre", "blockquote", "a"}
    | {"ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "sup", "sub", "div"}
    | {"table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"}
)
_SILENT = frozenset(
    {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"}
)
_NAMED = (_SILENT - {"title"}) | {"embed", "img", "video", "audio", "form", "input", "textarea"}
_BREAKS = frozenset({"p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre"})
_OPEN = frozenset(
    {"p", "br", "hr", "li", "td", "th", "tr", "dt", "dd", "img", "input", "meta", "link", "col"}
    | {"option", "thead", "tbody", "embed", "source", "wbr", "area", "base"}
)
"""Tags that need no end."""
DEEPEST = 300
"""Open tags in each other; readers of HTML take quadratic time for more."""
_SCHEMES = frozenset({"http", "https", "mailto"})


class _Inventory(HTMLParser):
    """What the sanitiser will take out: tags by name, handlers and links that run something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.places: dict[str, int] = {}
        self.unsafe = 0
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag not in _OPEN
        if self.depth > DEEPEST:
            raise _too_deep()
        if tag in _NAMED:
            self.tags[tag] += 1
            self.places.setdefault(tag, self.getpos()[0])
        for name, value in attrs:
            self.unsafe += name.startswith("on") or (name == "href" and not _is_web(value or ""))

    def handle_endtag(self, tag: str) -> None:
        self.depth = max(0, self.depth - (tag not in _OPEN))


def _too_deep() -> Unreadable:
    detail = "holds HTML nested too deeply to be a text; save it as Markdown or plain text"
    return Unreadable(Why.HTML_BROKEN, detail)


def _is_web(link: str) -> bool:
    try:
        return urlsplit(link.strip()).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def clean(text: str) -> tuple[str, list[LeftOut], int]:
    """(safe HTML, what was left out by kind of tag, how many unsafe attributes were removed)."""
    inventory = _Inventory()
    inventory.feed(text)
    inventory.close()
    safe = nh3.clean(
        text,
        tags=set(_TAGS),
        clean_content_tags=set(_SILENT),
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes=set(_SCHEMES),
        link_rel=None,
    )
    left_out = [
        LeftOut(at=inventory.places[tag], what=tag, text=f"{count} × <{tag}>")
        for tag, count in sorted(inventory.tags.items())
    ]
    return safe, left_out, inventory.unsafe


def to_markdown(safe: str) -> str:
    """Markdown of sanitised HTML. Raises Unreadable for what is nested beyond all use."""
    from markdownify import ATX, markdownify

    try:
        text = markdownify(safe, heading_style=ATX, bullets="-", escape_underscores=False)
    except RecursionError:
        raise _too_deep() from None
    return re.sub(r"\n{3,}", "\n\n", text.replace("\xa0", " ")).strip() + "\n"


class _Lines(HTMLParser):
    """The text of blocks as lines; cells of a table row are joined by a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = []
        self.pieces: list[str] = []

    def flush(self) -> None:
        row = " ".join("".join(self.pieces).replace("\xa0", " ").split(" ")).strip(" \t|")
        self.pieces.clear()
        self.rows += [part for part in row.split("\n") if part.strip()]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag in _BREAKS and not self._in_cell(tag):
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        if tag in _BREAKS and not self._in_cell(tag):
            self.flush()

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    def _in_cell(self, tag: str) -> bool:
        """Paragraphs of a cell stay in its row."""
        if tag == "p" and any(piece == " | " for piece in self.pieces):
            self.pieces.append(" ")
            return True
        return False


def to_lines(safe: str) -> list[str]:
    """The lines of sanitised HTML that say something, in order."""
    parser = _Lines()
    parser.feed(safe)
    parser.close()
    parser.flush()
    return parser.rows
