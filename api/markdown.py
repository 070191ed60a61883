"""Markdown of documents as safe HTML: raw HTML off, then a sanitiser without images.

Model text is hostile: links keep only web and mail addresses, nothing loads from another host.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_TAGS = frozenset(
    {"p", "br", "hr", "strong", "em", "s", "del", "ins", "code", "pre", "blockquote", "a"}
    | {"ul", "ol", "li", "h2", "h3", "h4", "h5", "h6", "sup", "sub"}
    | {"table", "thead", "tbody", "tr", "th", "td"}
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "th": {"scope"}}
_LINK_SCHEMES = frozenset({"http", "https", "mailto"})


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    return parser.enable(["table", "strikethrough"]).disable(["image"])


def _shift_headings(text: str) -> str:
    """The highest heading becomes h3: the page has its own h1, and h2 names the section."""
    parser = _parser()
    tokens = parser.parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    down = 3 - min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{max(3, min(6, int(token.tag[1]) + down))}"
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered


def tokens_of(text: str) -> list[Token]:
    """The tokens of the text, for other forms than HTML."""
    return _parser().parse(text)


def is_web_link(link: str) -> bool:
    return urlsplit(link).scheme.lower() in _LINK_SCHEMES


def document_html(text: str) -> str:
    """The text as HTML that cannot run or load anything, headings as they are."""
    return nh3.clean(
        _parser().render(text),
        tags={*_TAGS, "h1"},
        attributes=_ATTRIBUTES,
        url_schemes=set(_LINK_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )


@lru_cache(maxsize=64)
def render(text: str) -> Markup:
    """The text as HTML that cannot run or load anything; headings begin at h3."""
    cleaned = nh3.clean(
        _shift_headings(text),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        url_schemes=set(_LINK_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(cleaned)
