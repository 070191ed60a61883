"""Texts are looked up once, when a template is compiled: each environment has one language. A list
of fifty rows asks for hundreds of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from jinja2 import Environment
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup, escape

_SHAPES = (("name", "lparen", "string", "rparen"), ("name", "lparen", "string", "comma"))
_PLACE = re.compile(r"%(?:\((\w+)\)s|%)")


class FoldedTexts(Extension):
    """Writes `("Wording" | safe)` where a template says `_("Text")`, and `filled("Wording", …)`
    where the text has places: what the extension i18n makes of them at each look."""

    wording: Callable[[str], str] = staticmethod(str)

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        held: list[Token] = []
        for token in stream:
            held.append(token)
            if not _begins(held):
                yield from held[:-1]
                held = [token] if _begins([token]) else []
                if not held:
                    yield token
            elif len(held) == len(_SHAPES[0]):
                fold = self._folded if held[-1].type == "rparen" else self._to_fill
                yield from fold(held[0].lineno, held[2].value)
                held = []
        yield from held

    def _folded(self, line: int, msgid: str) -> Iterator[Token]:
        wording = str(Markup(self.wording(msgid)) % {})  # as i18n does: %% is %
        for kind, value in (
            ("lparen", "("),
            ("string", wording),
            ("pipe", "|"),
            ("name", "safe"),
            ("rparen", ")"),
        ):
            yield Token(line, kind, value)

    def _to_fill(self, line: int, msgid: str) -> Iterator[Token]:
        for kind, value in (
            ("name", "filled"),
            ("lparen", "("),
            ("string", self.wording(msgid)),
            ("comma", ","),
        ):
            yield Token(line, kind, value)


@lru_cache(maxsize=2048)
def _pieces(wording: str) -> tuple[tuple[str, str | None], ...]:
    """Stretches of the wording, each with the name of the place after it; there are as many as
    templates have."""
    found, at = list[tuple[str, str | None]](), 0
    for place in _PLACE.finditer(wording):
        found.append((wording[at : place.start()] + ("" if place[1] else "%"), place[1]))
        at = place.end()
    return (*found, (wording[at:], None))


def filled(wording: str, /, **values: Any) -> Markup:
    """`Markup(wording) % values`, read once. Raises KeyError for a place without a value."""
    said = []
    for plain, name in _pieces(wording):
        said.append(plain)
        if name is not None:
            said.append(escape(values[name]))
    return Markup("".join(said))


def fold_texts(environment: Environment, wording: Callable[[str], str]) -> None:
    """From now on templates are compiled with these words."""
    environment.add_extension(FoldedTexts)
    environment.globals["filled"] = filled
    added = environment.extensions[FoldedTexts.identifier]
    assert isinstance(added, FoldedTexts), "it was added under its name"
    added.wording = wording


def _begins(held: list[Token]) -> bool:
    """Whether these may become a text that is folded."""
    return held[0].value == "_" and any(
        all(token.type == kind for token, kind in zip(held, shape, strict=False))
        for shape in _SHAPES
    )
