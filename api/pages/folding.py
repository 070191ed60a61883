"""Texts without places are looked up once, when a template is compiled: each environment has one
language. A list of fifty rows asks for hundreds of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from jinja2 import Environment
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup

_SHAPE = ("name", "lparen", "string", "rparen")


class FoldedTexts(Extension):
    """Writes `("Wording" | safe)` where a template says `_("Text")`: what the extension i18n makes
    of it at each look. Texts with places are left to that."""

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
            elif len(held) == len(_SHAPE):
                yield from self._folded(held[0].lineno, held[2].value)
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


def fold_texts(environment: Environment, wording: Callable[[str], str]) -> None:
    """From now on templates are compiled with these words."""
    environment.add_extension(FoldedTexts)
    added = environment.extensions[FoldedTexts.identifier]
    assert isinstance(added, FoldedTexts), "it was added under its name"
    added.wording = wording


def _begins(held: list[Token]) -> bool:
    """Whether these may become a text without places."""
    return held[0].value == "_" and all(
        token.type == kind for token, kind in zip(held, _SHAPE, strict=False)
    )
